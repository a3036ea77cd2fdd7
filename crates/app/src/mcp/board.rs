//! The board as an MCP App: a document that clients show beside the answers of the tools that it is linked
//! from. Only clients that say that they show such documents are told of it, so that a listing is the same
//! bytes for all others.

use rmcp::ErrorData;
use rmcp::model::{
    JsonObject, ListToolsResult, MetaObject, ReadResourceResult, Resource, ResourceContents,
};
use serde_json::{Value, json};
use understory_model::Fault;
use understory_model::answer::Written;
use understory_page::{BOARD, BOARD_MIME};

use super::handler::Context;
use super::resources;

/// The extension by which a client says that it shows apps.
const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// The tools whose answers the board goes with.
const TOOLS: [&str; 2] = ["graph_onboard", "graph_query"];

/// Whether a client shows such documents.
pub fn is_shown(context: &Context) -> bool {
    let capabilities = context.client_capabilities();
    let extensions = capabilities.and_then(|capabilities| capabilities.extensions);
    let settings = extensions.and_then(|mut extensions| extensions.remove(EXTENSION));
    settings.is_some_and(|settings| takes(&settings))
}

/// A client that says which documents it shows, shows no others.
fn takes(settings: &JsonObject) -> bool {
    match settings.get("mimeTypes").and_then(Value::as_array) {
        Some(kinds) => kinds.iter().any(|kind| kind == BOARD_MIME),
        None => true,
    }
}

/// Links the tools that are listed to the board.
pub fn link(list: &mut ListToolsResult) {
    for tool in &mut list.tools {
        if TOOLS.contains(&tool.name.as_ref()) {
            let meta = tool.meta.get_or_insert_with(MetaObject::new);
            meta.0
                .insert("ui".to_owned(), json!({ "resourceUri": BOARD }));
        }
    }
}

/// The board in a list of resources.
pub fn resource() -> Resource {
    Resource::new(BOARD, "board")
        .with_title("Board")
        .with_description("What needs somebody, who is at work, and the tasks, as a picture")
        .with_mime_type(BOARD_MIME)
}

/// The document as a resource. It loads nothing and speaks with nobody but the client.
pub fn reply(
    answer: Result<Written, Fault>,
    request: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let text: String = answer
        .and_then(|written| written.read())
        .map_err(|fault| resources::error(&fault, BOARD, request))?;
    let nowhere = json!({
        "csp": { "connectDomains": [], "resourceDomains": [], "frameDomains": [], "baseUriDomains": [] },
        "prefersBorder": true,
    });
    let mut meta = MetaObject::new();
    meta.0.insert("ui".to_owned(), nowhere);
    Ok(ReadResourceResult::new(vec![
        ResourceContents::TextResourceContents {
            uri: BOARD.to_owned(),
            mime_type: Some(BOARD_MIME.to_owned()),
            text,
            meta: Some(meta),
        },
    ]))
}
