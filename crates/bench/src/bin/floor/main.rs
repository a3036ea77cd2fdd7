//! The floor: the least that an MCP server over stdio can do and still keep a row.
//!
//! The same SDK, the same runtime and the same promises to the disk as Understory's, and nothing
//! else: no log, no rules, no index beyond the key. What it takes is what Understory is measured
//! against. `understory-floor <file or postgres://…> [row bytes] [threads]`, or
//! `understory-floor http` for an echo over HTTP.

mod http;
mod store;

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};

use store::{Outcome, Store};

struct Floor {
    store: Arc<Mutex<Store>>,
    /// Hands what waits for the disk to a thread, as a server with more to do would.
    threads: bool,
}

impl Floor {
    async fn run(&self, tool: String, arguments: Value) -> Outcome<Value> {
        let store = Arc::clone(&self.store);
        let work = move || {
            let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
            match tool.as_str() {
                "insert" => Ok(json!({ "id": store.insert(&arguments.to_string())? })),
                "read" => Ok(json!({ "row": store.read(arguments["id"].as_i64().unwrap_or(1))? })),
                _ => Ok(arguments),
            }
        };
        if self.threads {
            return tokio::task::spawn_blocking(work).await?;
        }
        work()
    }
}

impl ServerHandler for Floor {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("floor", "0"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = |name: &'static str, about: &'static str| {
            let mut schema = JsonObject::new();
            schema.insert("type".into(), "object".into());
            Tool::new(name, about, Arc::new(schema))
        };
        Ok(ListToolsResult::with_all_items(vec![
            listed("insert", "Keeps its arguments as one row."),
            listed("read", "Reads one row by its id."),
            listed("echo", "Answers its arguments."),
        ]))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(params.arguments.unwrap_or_default());
        let (value, failed) = match self.run(params.name.to_string(), arguments).await {
            Ok(value) => (value, false),
            Err(error) => (json!({ "error": error.to_string() }), true),
        };
        let mut result = CallToolResult::default();
        result.content = vec![ContentBlock::text(value.to_string())];
        result.structured_content = Some(value);
        result.is_error = failed.then_some(true);
        Ok(result.into())
    }
}

async fn serve(floor: Floor) -> Outcome {
    let running = floor.serve(rmcp::transport::stdio_pipes()).await?;
    running.waiting().await?;
    Ok(())
}

fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let address = arguments
        .next()
        .ok_or("the floor wants a file or an address")?;
    if address == "http" {
        return http::serve();
    }
    let row_bytes = arguments.next().map_or(Ok(600), |bytes| bytes.parse())?;
    let postgres = address.starts_with("postgres");
    let threads = postgres || arguments.next().is_some_and(|word| word == "threads");
    // It outlives the runtime, inside of which PostgreSQL's client must not be dropped.
    let store = Arc::new(Mutex::new(Store::open(&address, row_bytes)?));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let floor = Floor {
        store: Arc::clone(&store),
        threads,
    };
    let served = runtime.block_on(serve(floor));
    drop(runtime);
    served
}
