//! Resources: a workspace's overviews, nodes, records, threads, artifacts and causes, for clients
//! that attach what can be read.
//!
//! They are answers of tools under an address, so they hold what the tools say and no more; only a
//! record is read in a way of its own, because a read must not activate it. A caller sees its own
//! workspace; any other does not exist for it.

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};
use understory_model::answer::Written;
use understory_model::{Caller, Code, Fault};

use crate::call::{self, Asked, Call};
use crate::object::with;

const SCHEME: &str = "understory://";
pub const JSON: &str = "application/json";

/// The resources that can be named without knowing more than the workspace.
pub fn list(workspace: &str) -> Vec<Resource> {
    let overview = Resource::new(format!("{SCHEME}{workspace}/overview"), "overview")
        .with_title("Overview")
        .with_description("What graph_onboard answers: goal, counts, what was done, what is next")
        .with_mime_type(JSON);
    let records = Resource::new(format!("{SCHEME}{workspace}/records"), "records")
        .with_title("Records")
        .with_description(
            "What get_project_overview answers: sessions, roots, open and deferred records",
        )
        .with_mime_type(JSON);
    let timeline = Resource::new(format!("{SCHEME}{workspace}/timeline"), "timeline")
        .with_title("Timeline")
        .with_description("What garden_timeline answers: what happened last, newest first")
        .with_mime_type(JSON);
    let changes = Resource::new(format!("{SCHEME}{workspace}/changes"), "changes")
        .with_title("Changes")
        .with_description(
            "Entities and artifacts that changed last, newest first; garden_changes says which \
             you have not acknowledged",
        )
        .with_mime_type(JSON);
    vec![overview, records, timeline, changes]
}

/// What a template's handle stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Node,
    Record,
    Thread,
    Artifact,
    Cause,
}

impl Kind {
    const ALL: [Kind; 5] = [
        Kind::Node,
        Kind::Record,
        Kind::Thread,
        Kind::Artifact,
        Kind::Cause,
    ];

    /// Its place in an address, its name and title, and what is read there.
    fn told(self) -> (&'static str, &'static str, &'static str, &'static str) {
        match self {
            Kind::Node => (
                "graph",
                "node",
                "Graph node",
                "What graph_context answers: a node and its neighbourhood",
            ),
            Kind::Record => (
                "records",
                "record",
                "Record",
                "A record whole, with references to what is around it; activates nothing",
            ),
            Kind::Thread => (
                "threads",
                "thread",
                "Thread",
                "What summarize_thread answers: findings, open items, the last messages",
            ),
            Kind::Artifact => (
                "artifacts",
                "artifact",
                "Artifact",
                "What garden_artifact_show answers: an artifact's lines, each with its origin",
            ),
            Kind::Cause => (
                "why",
                "why",
                "Why",
                "What why answers: the causes of anything that has a handle",
            ),
        }
    }

    fn template(self, workspace: &str) -> String {
        format!("{}/{{id}}", base(workspace, self.told().0))
    }
}

/// The address of all resources of one kind.
pub fn base(workspace: &str, kind: &str) -> String {
    format!("{SCHEME}{workspace}/{kind}")
}

/// The resources that are named by a handle.
pub fn templates(workspace: &str) -> Vec<ResourceTemplate> {
    let each = |kind: Kind| {
        let (_, name, title, about) = kind.told();
        ResourceTemplate::new(kind.template(workspace), name)
            .with_title(title)
            .with_description(about)
            .with_mime_type(JSON)
    };
    Kind::ALL.map(each).to_vec()
}

/// What the handle in a template stands for.
pub fn kind_of(template: &str, workspace: &str) -> Result<Kind, Fault> {
    let found = Kind::ALL
        .into_iter()
        .find(|kind| kind.template(workspace) == template);
    found.ok_or_else(no_template)
}

/// The fault for a reference that nothing completes.
pub fn no_template() -> Fault {
    let problem = "must be a prompt, or a template of resources/templates/list";
    Fault::invalid("ref", problem)
}

/// What answers for a resource.
#[derive(Debug, PartialEq)]
pub enum Found {
    Tool(&'static str, Value),
    Record(String),
}

impl Found {
    /// The handle that the address names, if it names one.
    pub fn named(&self) -> Option<&str> {
        match self {
            Found::Record(handle) => Some(handle),
            Found::Tool(_, arguments) => {
                let mut values = arguments
                    .as_object()
                    .into_iter()
                    .flat_map(|all| all.values());
                values.next().and_then(Value::as_str)
            }
        }
    }

    pub fn call(self, caller: Caller, request: String) -> Result<Call, Fault> {
        let asked = match self {
            Found::Tool(name, arguments) => Asked::Tool(call::find(name)?, arguments),
            Found::Record(handle) => Asked::Record(handle),
        };
        Ok(Call {
            asked,
            caller,
            request,
            patience: call::patience(None, false),
            held: None,
        })
    }
}

/// What answers for an address, if it is in the workspace.
pub fn find(uri: &str, workspace: &str) -> Result<Found, Fault> {
    let path = uri
        .strip_prefix(SCHEME)
        .and_then(|rest| rest.strip_prefix(workspace))
        .and_then(|rest| rest.strip_prefix('/'));
    let steps: Vec<&str> = path.unwrap_or_default().split('/').collect();
    match steps.as_slice() {
        ["overview"] => Ok(Found::Tool("graph_onboard", json!({}))),
        ["records"] => Ok(Found::Tool("get_project_overview", json!({}))),
        ["timeline"] => Ok(Found::Tool("garden_timeline", json!({}))),
        // The newest, so that a subscriber hears of each, whatever it has acknowledged.
        ["changes"] => Ok(Found::Tool(
            "garden_timeline",
            json!({ "types": ["EntityDelta", "ArtifactDelta"] }),
        )),
        ["graph", id] if is_handle(id) => {
            Ok(Found::Tool("graph_context", json!({ "node_id": id })))
        }
        ["records", id] if is_handle(id) => Ok(Found::Record((*id).to_owned())),
        ["threads", id] if is_handle(id) => {
            Ok(Found::Tool("summarize_thread", json!({ "thread_id": id })))
        }
        ["artifacts", id] if is_handle(id) => Ok(Found::Tool(
            "garden_artifact_show",
            json!({ "artifact": id }),
        )),
        // A line of an artifact is named with a colon.
        ["why", id] if is_handle(&id.replacen(':', "-", 1)) => {
            Ok(Found::Tool("why", json!({ "id": id })))
        }
        _ => Err(Fault::not_found(
            "there is no such resource in this workspace",
        )),
    }
}

fn is_handle(id: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=64).contains(&id.len()) && id.bytes().all(fits)
}

/// The answer as a resource, or the error that clients understand.
pub fn reply(
    answer: Result<Written, Fault>,
    uri: &str,
    request: &str,
) -> Result<ReadResourceResult, ErrorData> {
    match answer {
        Ok(answer) => {
            let contents = ResourceContents::text(answer.as_str(), uri).with_mime_type(JSON);
            Ok(ReadResourceResult::new(vec![contents]))
        }
        Err(fault) => Err(error(&fault, uri, request)),
    }
}

pub fn error(fault: &Fault, uri: &str, request: &str) -> ErrorData {
    let data = with(fault.envelope(request), [("uri", uri.into())]);
    let message = fault.message.clone();
    match fault.code {
        Code::NotFound | Code::RecordNotFound => ErrorData::resource_not_found(message, Some(data)),
        Code::Validation => ErrorData::invalid_params(message, Some(data)),
        _ => ErrorData::internal_error(message, Some(data)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_to_tools_in_the_own_workspace_only() {
        let found = |uri: &str| find(uri, "app").ok();
        let tool = |name, arguments| Some(Found::Tool(name, arguments));
        assert_eq!(
            found("understory://app/overview"),
            tool("graph_onboard", json!({}))
        );
        let node = tool("graph_context", json!({"node_id": "TASK-001"}));
        assert_eq!(found("understory://app/graph/TASK-001"), node);
        let records = tool("get_project_overview", json!({}));
        assert_eq!(found("understory://app/records"), records);
        let record = Some(Found::Record("R001".to_owned()));
        assert_eq!(found("understory://app/records/R001"), record);
        let thread = tool("summarize_thread", json!({"thread_id": "th_001"}));
        assert_eq!(found("understory://app/threads/th_001"), thread);
        let lines = tool("garden_artifact_show", json!({"artifact": "goals_doc"}));
        assert_eq!(found("understory://app/artifacts/goals_doc"), lines);
        let why = tool("why", json!({"id": "goals_doc:3"}));
        assert_eq!(found("understory://app/why/goals_doc:3"), why);
        let timeline = tool("garden_timeline", json!({}));
        assert_eq!(found("understory://app/timeline"), timeline);
        let changes = json!({"types": ["EntityDelta", "ArtifactDelta"]});
        let changes = tool("garden_timeline", changes);
        assert_eq!(found("understory://app/changes"), changes);
        for none in [
            "understory://other/overview",
            "understory://other/timeline",
            "understory://other/changes",
            "understory://app2/overview",
            "understory://app",
            "understory://app/",
            "understory://app/overview/x",
            "understory://app/overview/",
            "understory://app/graph/",
            "understory://app/records/",
            "understory://app/records/R001/x",
            "understory://app/records/R%30",
            "understory://other/records",
            "understory://app/graph/a/b",
            "understory://app/threads/",
            "understory://app/artifacts/a:3",
            "understory://app/why/a:b:c",
            "understory://app/why/a%3A3",
            "understory://app/graph/a%2Fb",
            "understory://app/../other/overview",
            "file:///etc/passwd",
            "",
        ] {
            assert_eq!(found(none), None, "{none}");
        }
    }
}
