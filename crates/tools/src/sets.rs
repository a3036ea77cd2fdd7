//! Tool sets: which tools a client is shown. Listing costs an agent's attention, so it begins with
//! a day's essentials, and `toolset` tells of the rest.
//!
//! A set limits what is listed, never what may be called, and no call changes it: what a client is
//! shown is chosen before it connects.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::Written;
use understory_model::nearest::nearest;
use understory_model::text::quoted;
use understory_model::{Code, Fault};

use crate::answers::output;
use crate::args::{decode, schema};
use crate::registry;
use crate::tool::{Access, Effect, Surface, Tool};

/// The set that is shown unless another is asked for.
pub const DEFAULT: &str = "essentials";
const ALL: &str = "all";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// a set or a tool
    name: Option<String>,
}

pub const TOOLSET: Tool = Tool {
    name: "toolset",
    title: "Tool sets",
    effect: Effect::Nothing,
    surface: Surface::System,
    about: "All tool sets; with a name, the arguments of that set or tool. Unlisted tools can be called too.",
    access: Access::Read,
    essential: true,
    schema: schema::<Input>,
    output: output::<Told>,
    takes: &[],
    example: r#"{"name": "threads"}"#,
    run: |_, args| answer(args),
};

/// The answer of `toolset`.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Told {
    Sets {
        sets: Vec<Set>,
    },
    Tools {
        /// The set or tool that was asked for.
        name: String,
        tools: Vec<Declared>,
    },
}

/// A set and the names of its tools.
#[derive(Serialize, JsonSchema)]
struct Set {
    name: &'static str,
    tools: Vec<&'static str>,
}

/// A tool as a listing would show it.
#[derive(Serialize, JsonSchema)]
struct Declared {
    name: &'static str,
    description: &'static str,
    /// A JSON Schema.
    #[schemars(with = "Map<String, Value>")]
    input_schema: Value,
}

/// What `toolset` answers; it needs no store.
pub fn answer(args: Value) -> Result<Written, Fault> {
    Written::of(&told(decode(args)?)?)
}

fn told(input: Input) -> Result<Told, Fault> {
    let Some(name) = input.name else {
        let sets = allowed().filter(|name| *name != ALL).map(set).collect();
        return Ok(Told::Sets { sets });
    };
    let tools = match registry::find(&name) {
        Some(tool) => vec![declared(tool)],
        None => {
            let set = ToolSet::parse(&name).map_err(|_| neither(&name))?;
            let tools = registry::tools().iter();
            tools
                .filter(|tool| set.has_own(tool))
                .map(declared)
                .collect()
        }
    };
    Ok(Told::Tools { name, tools })
}

fn set(name: &'static str) -> Set {
    let in_set = |tool: &&Tool| match name {
        DEFAULT => tool.essential,
        _ => tool.surface.name() == name,
    };
    let tools = registry::tools().iter().filter(in_set);
    Set {
        name,
        tools: tools.map(|tool| tool.name).collect(),
    }
}

fn declared(tool: &Tool) -> Declared {
    Declared {
        name: tool.name,
        description: tool.about,
        input_schema: tool.input_schema(),
    }
}

/// The fault for a name that neither a set nor a tool has.
fn neither(name: &str) -> Fault {
    let sets: Vec<&str> = allowed().collect();
    let fault = Fault::invalid(
        "name",
        format!("must be a tool or one of {}", sets.join(", ")),
    );
    let known = sets
        .iter()
        .copied()
        .chain(registry::tools().iter().map(|tool| tool.name));
    let near = nearest(name, known, 3);
    let fault = fault.detail("allowed", &sets);
    if near.is_empty() {
        fault
    } else {
        fault.hint(format!("Did you mean {}?", near.join(" or ")))
    }
}

fn allowed() -> impl Iterator<Item = &'static str> {
    [DEFAULT]
        .into_iter()
        .chain(Surface::ALL.map(Surface::name))
        .chain([ALL])
}

/// The tools that are shown, as the sets that were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSet {
    essentials: bool,
    all: bool,
    surfaces: Vec<Surface>,
}

impl Default for ToolSet {
    fn default() -> ToolSet {
        ToolSet {
            essentials: true,
            all: false,
            surfaces: Vec::new(),
        }
    }
}

impl ToolSet {
    /// Reads a list such as `graph,essentials` or `all`.
    pub fn parse(text: &str) -> Result<ToolSet, Fault> {
        let mut set = ToolSet {
            essentials: false,
            all: false,
            surfaces: Vec::new(),
        };
        for name in text.split(',') {
            set.add(name.trim())?;
        }
        Ok(set)
    }

    fn add(&mut self, name: &str) -> Result<(), Fault> {
        match name {
            DEFAULT => self.essentials = true,
            ALL => self.all = true,
            _ => {
                let surface = Surface::ALL
                    .into_iter()
                    .find(|surface| surface.name() == name);
                self.surfaces.push(surface.ok_or_else(|| unknown(name))?);
                self.surfaces.sort_unstable();
                self.surfaces.dedup();
            }
        }
        Ok(())
    }

    /// Whether a tool is shown. `toolset` always is: without it nothing more could be found.
    pub fn contains(&self, tool: &Tool) -> bool {
        tool.name == TOOLSET.name || self.has_own(tool)
    }

    fn has_own(&self, tool: &Tool) -> bool {
        self.all || (self.essentials && tool.essential) || self.surfaces.contains(&tool.surface)
    }
}

fn unknown(name: &str) -> Fault {
    let names: Vec<&str> = allowed().collect();
    let fault = Fault::new(
        Code::Validation,
        format!(
            "there is no tool set {}; there are {}",
            quoted(name),
            names.join(", ")
        ),
    );
    let fault = fault.detail("field", "tools").detail("allowed", &names);
    match nearest(name, names.iter().copied(), 1).first() {
        Some(close) => fault.hint(format!("did you mean `{close}`?")),
        None => fault,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(set: &ToolSet) -> Vec<&'static str> {
        registry::tools()
            .iter()
            .filter(|tool| set.contains(tool))
            .map(|tool| tool.name)
            .collect()
    }

    #[test]
    fn sets_add_up_in_one_order() {
        let set = ToolSet::parse("system, graph").unwrap();
        assert_eq!(set, ToolSet::parse("graph,system,graph").unwrap());
        let all = shown(&ToolSet::parse("all").unwrap());
        assert_eq!(
            all,
            registry::tools()
                .iter()
                .map(|tool| tool.name)
                .collect::<Vec<_>>()
        );
        assert!(all.len() >= shown(&set).len());
        assert!(shown(&set).contains(&"toolset"));
        assert_eq!(ToolSet::default(), ToolSet::parse("essentials").unwrap());
    }

    #[test]
    fn unknown_names_are_refused_with_the_nearest() {
        let fault = ToolSet::parse("grpah").unwrap_err();
        assert_eq!(fault.code, Code::Validation);
        assert_eq!(fault.hint.as_deref(), Some("did you mean `graph`?"));
        let allowed = fault.details.unwrap()["allowed"].clone();
        assert_eq!(
            (&allowed[0], &allowed[1]),
            (&json!("essentials"), &json!("records"))
        );
        assert!(ToolSet::parse("").is_err());
        assert!(ToolSet::parse("graph,,").is_err());
    }

    #[test]
    fn essentials_are_few() {
        let listed = shown(&ToolSet::default());
        assert!(listed.len() <= 13, "{listed:?}");
        assert!(listed.contains(&"toolset"));
    }
}
