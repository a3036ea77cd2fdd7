//! `understory tools`: the declarations, in a table, as the reference page, or as JSON.

use std::process::ExitCode;

use serde_json::{Value, json};
use understory_model::Fault;
use understory_model::nearest::nearest;
use understory_tools::{Access, Surface, Tool, registry};

use super::reference;
use super::table::Table;
use super::text::Text;
use super::{Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory tools                      every tool in a line, by set
  understory tools graph_plan           one tool and its arguments
  understory tools --json graph         declarations with their JSON Schemas
  understory tools --markdown graph     the reference page docs/tools/graph.md";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A tool or a surface (default: all)
    name: Option<String>,
    /// Print the reference page
    #[arg(long)]
    markdown: bool,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let tools = chosen(self.name.as_deref())?;
        if self.markdown {
            let surfaces = Surface::ALL
                .into_iter()
                .filter(|surface| tools.iter().any(|tool| tool.surface == *surface));
            let pages: Vec<String> = surfaces
                .map(|surface| reference::page(surface, &tools))
                .collect();
            here.out.bytes(pages.join("\n").as_bytes());
            return Ok(ExitCode::SUCCESS);
        }
        match tools.as_slice() {
            [tool] if !here.out.json && self.name.as_deref() == Some(tool.name) => one(here, tool),
            tools => list(here, tools.iter().copied()),
        }
    }
}

fn chosen(name: Option<&str>) -> Result<Vec<&'static Tool>, Fault> {
    let all = registry::tools();
    let Some(name) = name else {
        return Ok(all.iter().collect());
    };
    let meant = |tool: &&Tool| tool.name == name || tool.surface.name() == name;
    let found: Vec<&Tool> = all.iter().filter(meant).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let names = all.iter().map(|tool| tool.name);
    let names = names.chain(Surface::ALL.map(Surface::name));
    let near = nearest(name, names, 3);
    let shown: String = name.chars().take(80).collect();
    let fault = Fault::not_found(format!("no tool or surface {shown}"));
    Err(match near.as_slice() {
        [] => fault.hint("`understory tools` lists them."),
        near => fault.hint(format!("Did you mean {}?", near.join(" or "))),
    })
}

/// What a call of it may do, in a word.
pub fn access(tool: &Tool) -> &'static str {
    match tool.access {
        Access::Read => "reads",
        Access::Write => "writes",
        Access::ReadOrWrite => "reads or writes",
    }
}

/// One line a tool.
pub fn list<'t>(here: &Here, tools: impl Iterator<Item = &'t Tool>) -> Outcome {
    if here.out.json {
        let tools: Vec<Value> = tools.map(declaration).collect();
        here.out.value(&json!({ "tools": tools }));
        return Ok(ExitCode::SUCCESS);
    }
    let tools: Vec<&Tool> = tools.collect();
    for surface in Surface::ALL {
        let mut table = Table::new(&["tool", "access", "for"]);
        for tool in tools.iter().filter(|tool| tool.surface == surface) {
            let mark = if tool.essential { "*" } else { "" };
            table.row([
                Text::new().name(tool.name).plain(mark),
                Text::from(access(tool)),
                Text::from(tool.about),
            ]);
        }
        if !table.is_empty() {
            here.out.line(Text::new().bold(surface.name()));
            here.out.table(table);
            here.out.blank();
        }
    }
    here.out
        .hint("* is in the set `essentials`. `understory tools <tool>` shows a tool's arguments.");
    Ok(ExitCode::SUCCESS)
}

fn declaration(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "title": tool.title,
        "surface": tool.surface.name(),
        "description": tool.about,
        "access": access(tool).replace(' ', "_"),
        "annotations": tool.hints(),
        "essential": tool.essential,
        "input_schema": tool.input_schema(),
        "example": serde_json::from_str(tool.example).unwrap_or(Value::Null),
    })
}

/// One tool: what it is for, its arguments, and a call that works.
pub fn one(here: &Here, tool: &Tool) -> Outcome {
    let out = &here.out;
    out.line(
        Text::new()
            .bold(tool.name)
            .dim(format!("  {}, {}", tool.title, access(tool))),
    );
    out.line(tool.about);
    out.blank();
    let mut table = Table::new(&["argument", "type", "", "meaning"]);
    for argument in reference::fields(&tool.described_schema()) {
        let required = if argument.required { "required" } else { "" };
        table.row([
            Text::new().name(argument.path),
            Text::from(argument.kind),
            Text::from(required),
            Text::from(argument.meaning),
        ]);
    }
    if table.is_empty() {
        out.line("It takes no arguments.");
    } else {
        out.table(table);
    }
    out.blank();
    let example = format!("understory call {} '{}'", tool.name, tool.example);
    out.written(&Text::from(example));
    Ok(ExitCode::SUCCESS)
}
