//! `understory search`: words found anywhere in the workspace, best first.

use std::process::ExitCode;

use serde_json::json;
use understory_engine::kernel::checked::Check;
use understory_engine::kernel::search::{Answer, Asked, Hit};
use understory_model::Fault;

use super::table::Table;
use super::text::Text;
use super::{Here, Outcome};
use crate::log;

const EXAMPLES: &str = "\
Examples:
  understory search parser error
  understory search 'what was decided about caching' --limit 5
  understory search r12                 by its id
  understory search TASK-012 --json | jq '.results[].surface'";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The text to search for; there is no query syntax
    #[arg(required = true, value_name = "TEXT")]
    words: Vec<String>,
    /// Maximum number of hits
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(i64).range(1..=200))]
    limit: i64,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let query = self.words.join(" ");
        if query.trim().is_empty() {
            return Err(Fault::invalid("text", "is empty").hint("Give a word to look for."));
        }
        let context = here.context()?;
        if here.out.json {
            let asked = json!({ "query": query, "limit": self.limit });
            here.out.value(&context.call("search", asked)?);
            return Ok(ExitCode::SUCCESS);
        }
        let most = usize::try_from(self.limit).unwrap_or(0);
        let asked = Asked {
            query: query.clone(),
            limit: most,
            ..Asked::default()
        }
        .checked()?;
        let Answer {
            hits,
            truncated,
            note,
        } = context.engine.search(&context.caller, asked)?;
        if let Some(note) = &note {
            log::warn(format_args!("{note}"));
        }
        if hits.is_empty() {
            match context.nothing_yet()? {
                Some(why) => here.out.line(why),
                None => here.out.line(format!("Nothing found for {query:?}.")),
            }
        } else {
            show(here, &hits);
            if truncated {
                here.out.hint("There is more: --limit shows it.");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn show(here: &Here, hits: &[Hit]) {
    // Where all is of one project, naming it tells nothing.
    let mut projects: Vec<&str> = hits
        .iter()
        .filter_map(|hit| hit.project.as_deref())
        .collect();
    projects.sort_unstable();
    projects.dedup();
    let several = projects.len() > 1;
    let mut table = if several {
        Table::new(&["id", "surface", "project", "found"])
    } else {
        Table::new(&["id", "surface", "found"])
    };
    for hit in hits {
        let id = Text::new().name(&hit.handle);
        let surface = Text::new().dim(&hit.surface);
        let project = Text::new().dim(hit.project.as_deref().unwrap_or_default());
        if several {
            table.row([id, surface, project, found(hit)])
        } else {
            table.row([id, surface, found(hit)])
        }
    }
    here.out.table(table);
}

/// Where it was found, after what it is called unless that says the same.
fn found(hit: &Hit) -> Text {
    let snippet = if hit.superseded {
        Text::new()
            .dim("superseded: ")
            .then(highlighted(&hit.snippet))
    } else {
        highlighted(&hit.snippet)
    };
    let title = hit.title.as_deref().unwrap_or_default().trim();
    if hit.snippet.replace("**", "").starts_with(title) {
        return snippet;
    }
    Text::from(title).dim(": ").then(snippet)
}

/// What is between two pairs of asterisks was looked for.
fn highlighted(snippet: &str) -> Text {
    let mut text = Text::new();
    for (at, piece) in snippet.split("**").enumerate() {
        text = if at % 2 == 1 {
            text.bold(piece)
        } else {
            text.plain(piece)
        };
    }
    text
}
