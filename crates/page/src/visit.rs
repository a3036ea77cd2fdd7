//! Who looks at which page, and the tools that it is made of.

use std::cell::OnceCell;
use std::collections::HashSet;

use serde::de::DeserializeOwned;
use serde_json::Value;
use understory_engine::kernel::search::offer::labels;
use understory_model::refs::parse_lines;
use understory_model::{Code, Fault, Role, Time};
use understory_tools::tool::Common;
use understory_tools::{Context, registry};

use crate::around::Around;
use crate::proof::Care;
use crate::text;

/// What a tool may answer at most, in characters.
const ROOM: usize = 4 << 20;

/// Labels that are looked at to tell names of lines from other words.
const LABELS: i64 = 2_000;

/// A person at a page.
pub struct Visit<'a> {
    pub context: Context<'a>,
    /// The workspace as the address names it.
    pub workspace: &'a str,
    /// The login's other half, which every form sends along.
    pub csrf: &'a str,
    /// What the server knows beside the store.
    pub care: &'a Care,
    pub now: Time,
    pub query: Query,
    around: OnceCell<Around>,
    /// What addresses begin with: within an app they lead nowhere by themselves.
    root: &'static str,
    labels: OnceCell<HashSet<String>>,
}

/// A login, as far as a page needs it.
pub struct Login<'a> {
    /// The workspace as the address names it.
    pub workspace: &'a str,
    /// The login's other half, which every form sends along.
    pub csrf: &'a str,
    /// What the server knows beside the store.
    pub care: &'a Care,
}

impl<'a> Visit<'a> {
    pub fn new(context: Context<'a>, login: Login<'a>, now: Time, query: Query) -> Visit<'a> {
        Visit {
            context,
            workspace: login.workspace,
            csrf: login.csrf,
            care: login.care,
            now,
            query,
            around: OnceCell::new(),
            root: "/",
            labels: OnceCell::new(),
        }
    }

    /// The same inside a client's window, where no address is.
    pub fn in_app(self) -> Visit<'a> {
        Visit { root: "#", ..self }
    }

    /// What every page shows beside itself, asked for once a visit.
    pub fn around(&self) -> Result<&Around, Fault> {
        if let Some(there) = self.around.get() {
            return Ok(there);
        }
        let around = Around::of(self)?;
        Ok(self.around.get_or_init(|| around))
    }

    /// Whether a name such as `goals:3` may be that of a line: told from the labels of the project, asked
    /// for once a visit. With more of them than are asked for, any label may be there.
    pub fn has_label(&self, lines: &str) -> bool {
        let Some(lines) = parse_lines(lines) else {
            return false;
        };
        let labels = self.labels.get_or_init(|| {
            let engine = self.context.engine;
            let found = engine.view(self.context.caller, |view| {
                labels(view, self.project(), LABELS)
            });
            found.unwrap_or_default().into_iter().collect()
        });
        labels.len() as i64 >= LABELS || lines.label.contains('/') || labels.contains(lines.label)
    }

    /// The project whose pages these are, where the address names one; else the caller's own.
    pub fn project(&self) -> Option<&str> {
        self.query.get(PROJECT)
    }
    /// Calls a tool that reads, with more room than an agent has: pages bound what they show by counts.
    pub fn ask<T: DeserializeOwned>(&self, tool: &str, mut arguments: Value) -> Result<T, Fault> {
        let takes = registry::find(tool).is_some_and(|tool| tool.takes.contains(&Common::MaxChars));
        if takes && let Some(fields) = arguments.as_object_mut() {
            fields.insert("max_chars".to_owned(), ROOM.into());
        }
        if let Some(project) = self.project() {
            in_project(tool, &mut arguments, project);
        }
        let answer = registry::call_named(&self.context, tool, arguments)?;
        serde_json::from_value(answer)
            .map_err(|error| Fault::new(Code::Internal, format!("{tool} answered: {error}")))
    }

    /// As [`Visit::ask`], where what is asked for may not be there yet.
    pub fn ask_if_there<T: DeserializeOwned>(
        &self,
        tool: &str,
        arguments: Value,
    ) -> Result<Option<T>, Fault> {
        match self.ask(tool, arguments) {
            Ok(answer) => Ok(Some(answer)),
            Err(fault) if fault.code == Code::NotFound => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// An address below the workspace, in the project of this page.
    pub fn link(&self, place: &str) -> String {
        let base = text::segment(self.workspace);
        let Some(project) = self.project().filter(|_| !place.contains("project=")) else {
            return format!("{}{base}/{place}", self.root);
        };
        let (path, fragment) = match place.split_once('#') {
            Some((path, fragment)) => (path, format!("#{fragment}")),
            None => (place, String::new()),
        };
        let joined = if path.contains('?') { '&' } else { '?' };
        let project = text::segment(project);
        format!(
            "{}{base}/{path}{joined}{PROJECT}={project}{fragment}",
            self.root
        )
    }

    /// The address of this page with some of its query changed; `None` takes a name away.
    pub fn with(&self, place: &str, changed: &[(&str, Option<&str>)]) -> String {
        let kept = self.query.fields().filter(|(name, value)| {
            !value.is_empty() && !changed.iter().any(|(other, _)| other == name)
        });
        let new = changed
            .iter()
            .filter_map(|(name, value)| Some((*name, (*value)?)));
        let query: Vec<String> = kept
            .chain(new)
            .map(|(name, value)| format!("{}={}", text::segment(name), text::segment(value)))
            .collect();
        let base = text::segment(self.workspace);
        match query.is_empty() {
            true => format!("{}{base}/{place}", self.root),
            false => format!("{}{base}/{place}?{}", self.root, query.join("&")),
        }
    }

    /// Whether threads of others are shown, too: not to a worker.
    pub fn sees_all(&self) -> bool {
        self.context.caller.role != Role::Worker
    }

    pub fn person(&self) -> &str {
        &self.context.caller.agent
    }
}

/// The name of a project in addresses and forms.
pub const PROJECT: &str = "project";

/// Adds the project to a tool's arguments, if the tool takes one.
pub fn in_project(tool: &str, arguments: &mut Value, project: &str) {
    let Some(tool) = registry::find(tool) else {
        return;
    };
    let schema = (tool.schema)();
    let field = [PROJECT, "project_id"]
        .into_iter()
        .find(|field| schema["properties"].get(field).is_some());
    if let (Some(field), Some(fields)) = (field, arguments.as_object_mut()) {
        fields.entry(field).or_insert_with(|| project.into());
    }
}

/// The part of an address after `?`.
#[derive(Debug, Clone, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    pub fn parse(query: &str) -> Query {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (text::unescaped(name), text::unescaped(value))
        });
        Query(pairs.collect())
    }

    /// What a name says; empty counts as nothing.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::Query;

    #[test]
    fn what_stands_after_the_question_mark() {
        let query = Query::parse("a=1&b=%C3%A9+x&c&d=&=e&%zz=%");
        assert_eq!(query.get("a"), Some("1"));
        assert_eq!(query.get("b"), Some("é x"));
        assert_eq!(query.get("c"), None);
        assert_eq!(query.get("d"), None);
        assert_eq!(query.get("%zz"), Some("%"));
    }
}
