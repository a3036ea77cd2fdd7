//! Tool sets: which tools a client is shown. Listing costs an agent's attention, so it begins with
//! a day's essentials, and `toolset` names the rest and switches it on.
//!
//! A set limits what is listed, never what may be called.

use serde_json::{Value, json};
use understory_model::nearest::nearest;
use understory_model::{Code, Fault};

use crate::registry;
use crate::tool::{Access, Context, Surface, Tool};

/// The set that is shown unless another is asked for.
pub const DEFAULT: &str = "essentials";
const ALL: &str = "all";

/// The tool that names the sets and switches one on. What a connection lists belongs to that
/// connection, so the edge answers it; elsewhere it only names them.
pub const TOOLSET: Tool = Tool {
    name: "toolset",
    surface: Surface::System,
    about: "Names the tool sets and their tools. `enable` lists one more set from now on.",
    access: Access::Read,
    essential: true,
    schema,
    example: r#"{"enable": "graph"}"#,
    run: name_only,
};

fn schema() -> Value {
    let names: Vec<&str> = allowed().collect();
    json!({"type": "object", "properties": {"enable": {"type": "string", "enum": names}}})
}

fn name_only(_: &Context<'_>, input: Value) -> Result<Value, Fault> {
    let mut set = ToolSet::everything();
    if let Some(name) = wanted(&input)? {
        set.enable(name)?;
    }
    Ok(set.describe())
}

/// The set that a call of `toolset` wants switched on.
pub fn wanted(input: &Value) -> Result<Option<&str>, Fault> {
    if let Some(field) = input
        .as_object()
        .and_then(|fields| fields.keys().find(|key| *key != "enable"))
    {
        return Err(
            Fault::invalid(field, "is not known here").details(json!({"allowed": ["enable"]}))
        );
    }
    match input.get("enable") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name)),
        Some(_) => Err(Fault::invalid("enable", "takes the name of a tool set")
            .details(json!({"allowed": allowed().collect::<Vec<_>>()}))),
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
    fn everything() -> ToolSet {
        ToolSet {
            essentials: false,
            all: true,
            surfaces: Vec::new(),
        }
    }

    /// Reads a list such as `graph,essentials` or `all`.
    pub fn parse(text: &str) -> Result<ToolSet, Fault> {
        let mut set = ToolSet {
            essentials: false,
            all: false,
            surfaces: Vec::new(),
        };
        for name in text.split(',') {
            set.enable(name.trim())?;
        }
        Ok(set)
    }

    /// Shows one more set; says whether that changed anything.
    pub fn enable(&mut self, name: &str) -> Result<bool, Fault> {
        let before = self.clone();
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
        Ok(*self != before)
    }

    /// Whether a tool is shown. `toolset` always is: without it nothing more could be found.
    pub fn contains(&self, tool: &Tool) -> bool {
        self.all
            || tool.name == TOOLSET.name
            || (self.essentials && tool.essential)
            || self.surfaces.contains(&tool.surface)
    }

    /// The sets that are shown, in their own order.
    pub fn names(&self) -> Vec<&'static str> {
        allowed().filter(|name| self.has(name)).collect()
    }

    fn has(&self, name: &str) -> bool {
        match name {
            DEFAULT => self.essentials,
            ALL => self.all,
            _ => self.surfaces.iter().any(|surface| surface.name() == name),
        }
    }

    /// The sets that are shown, and every set with its tools.
    pub fn describe(&self) -> Value {
        let sets: Vec<Value> = allowed()
            .filter(|name| *name != ALL)
            .map(|name| {
                let in_set = |tool: &&Tool| match name {
                    DEFAULT => tool.essential,
                    _ => tool.surface.name() == name,
                };
                let tools: Vec<&str> = registry::tools()
                    .iter()
                    .filter(in_set)
                    .map(|tool| tool.name)
                    .collect();
                json!({"name": name, "tools": tools})
            })
            .collect();
        json!({"enabled": self.names(), "sets": sets})
    }
}

fn unknown(name: &str) -> Fault {
    let names: Vec<&str> = allowed().collect();
    let fault = Fault::new(
        Code::Validation,
        format!("`{}` is no tool set: use {}", short(name), names.join(", ")),
    );
    let fault = fault.details(json!({"field": "tools", "allowed": names}));
    match nearest(name, names.iter().copied(), 1).first() {
        Some(close) => fault.hint(format!("did you mean `{close}`?")),
        None => fault,
    }
}

/// Enough of a name to recognise it by.
fn short(name: &str) -> String {
    name.chars().take(64).collect()
}

#[cfg(test)]
mod tests {
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
        assert_eq!(set.names(), ["graph", "system"]);
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
    fn switching_on_says_whether_it_changed_anything() {
        let mut set = ToolSet::default();
        assert_eq!(set.enable("graph"), Ok(true));
        assert_eq!(set.enable("graph"), Ok(false));
        assert_eq!(set.enable("all"), Ok(true));
        assert_eq!(set.names(), ["essentials", "graph", "all"]);
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
        assert!(ToolSet::default().enable("nope").is_err());
    }

    #[test]
    fn essentials_are_few() {
        let listed = shown(&ToolSet::default());
        assert!(listed.len() <= 12, "{listed:?}");
        assert!(listed.contains(&"toolset"));
    }

    #[test]
    fn a_call_is_checked() {
        assert_eq!(wanted(&json!({})), Ok(None));
        assert_eq!(wanted(&json!({"enable": "graph"})), Ok(Some("graph")));
        assert!(wanted(&json!({"enable": 5})).is_err());
        assert!(
            wanted(&json!({"enabel": "graph"}))
                .unwrap_err()
                .message
                .contains("enabel")
        );
    }
}
