//! Resources: a workspace's overview and its nodes, for clients that attach what can be read.
//!
//! They are answers of tools under an address, so they hold what the tools say and no more. A
//! caller sees its own workspace; any other does not exist for it.

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};
use understory_model::{Caller, Code, Fault};

use super::call::{self, Call};

const SCHEME: &str = "understory://";
const JSON: &str = "application/json";

/// The resources that can be named without knowing more than the workspace.
pub fn list(workspace: &str) -> Vec<Resource> {
    let overview = Resource::new(format!("{SCHEME}{workspace}/overview"), "overview")
        .with_title("Overview")
        .with_description("What graph_onboard answers: goal, counts, what was done, what is next")
        .with_mime_type(JSON);
    vec![overview]
}

/// The resources that are named by a handle.
pub fn templates(workspace: &str) -> Vec<ResourceTemplate> {
    let node = ResourceTemplate::new(format!("{SCHEME}{workspace}/graph/{{id}}"), "node")
        .with_title("Graph node")
        .with_description("What graph_context answers: a node and its neighbourhood")
        .with_mime_type(JSON);
    vec![node]
}

/// What answers for a resource.
#[derive(Debug, PartialEq)]
pub struct Found {
    tool: &'static str,
    arguments: Value,
}

impl Found {
    pub fn call(self, caller: Caller, request: String) -> Result<Call, Fault> {
        Ok(Call {
            tool: call::find(self.tool)?,
            arguments: self.arguments,
            caller,
            request,
        })
    }
}

/// What answers for an address, if it is in the workspace.
pub fn find(uri: &str, workspace: &str) -> Result<Found, Fault> {
    let path = uri
        .strip_prefix(SCHEME)
        .and_then(|rest| rest.strip_prefix(workspace))
        .and_then(|rest| rest.strip_prefix('/'));
    match path.and_then(|path| path.split_once('/').or(Some((path, "")))) {
        Some(("overview", "")) => Ok(Found {
            tool: "graph_onboard",
            arguments: json!({}),
        }),
        Some(("graph", id)) if is_handle(id) => Ok(Found {
            tool: "graph_context",
            arguments: json!({ "node_id": id }),
        }),
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
    answer: Result<Value, Fault>,
    uri: &str,
    request: &str,
) -> Result<ReadResourceResult, ErrorData> {
    match answer {
        Ok(value) => {
            let contents = ResourceContents::text(value.to_string(), uri).with_mime_type(JSON);
            Ok(ReadResourceResult::new(vec![contents]))
        }
        Err(fault) => Err(error(&fault, uri, request)),
    }
}

pub fn error(fault: &Fault, uri: &str, request: &str) -> ErrorData {
    let mut data = fault.envelope(request);
    data["uri"] = uri.into();
    let message = fault.message.clone();
    match fault.code {
        Code::NotFound => ErrorData::resource_not_found(message, Some(data)),
        Code::Validation => ErrorData::invalid_params(message, Some(data)),
        _ => ErrorData::internal_error(message, Some(data)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_to_tools_in_the_own_workspace_only() {
        let found = |uri: &str| {
            find(uri, "app")
                .ok()
                .map(|found| (found.tool, found.arguments))
        };
        assert_eq!(
            found("understory://app/overview"),
            Some(("graph_onboard", json!({})))
        );
        let node = Some(("graph_context", json!({"node_id": "TASK-001"})));
        assert_eq!(found("understory://app/graph/TASK-001"), node);
        for none in [
            "understory://other/overview",
            "understory://app2/overview",
            "understory://app",
            "understory://app/",
            "understory://app/overview/x",
            "understory://app/graph/",
            "understory://app/graph/a/b",
            "understory://app/graph/a%2Fb",
            "understory://app/../other/overview",
            "file:///etc/passwd",
            "",
        ] {
            assert_eq!(found(none), None, "{none}");
        }
    }
}
