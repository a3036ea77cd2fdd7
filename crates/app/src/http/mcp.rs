//! `/mcp`: MCP over HTTP, by the same handler as over stdio.
//!
//! Each request is answered as the caller that its own token names. A client of 2026-07-28 has no
//! session; one of an earlier revision has, and it is its own alone.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use rmcp::ServerHandler;
use rmcp::model::{Extensions, RequestId, SubscriptionFilter};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use understory_model::{Fault, limits};
use understory_tools::sets::ToolSet;

use super::auth::{self, Who};
use super::hosts::one;
use super::state::AppState;
use super::{connections, reply, streams, v1};
use crate::call::{Held, RequestName, Transport};
use crate::identity::Identity;
use crate::mcp::handler::{Handler, Shared};
use crate::mcp::message::wrong_number;

const SESSION: &str = "mcp-session-id";
const METHOD: &str = "mcp-method";
const TOOLS: &str = "understory-tools";
const LISTEN: &str = "subscriptions/listen";

/// Who answers what arrives here. The product is one; the suite that judges the protocol brings a
/// server with tools of its own, and so judges the way to a handler and back, which is the same.
pub trait Answers: Send + Sync + 'static {
    type Handler: ServerHandler;

    /// The handler for a caller's message.
    fn handler(
        app: &AppState,
        who: &Who,
        message: Message<'_>,
    ) -> impl Future<Output = Arc<Self::Handler>> + Send;
}

/// A message as it arrived.
pub struct Message<'m> {
    pub body: &'m [u8],
    /// Whether its answer is a stream of news.
    pub waits: bool,
    /// The tools to list, if its address or a header says.
    pub set: Option<ToolSet>,
}

/// Understory's own answers.
pub struct Product;

impl Answers for Product {
    type Handler = Handler;

    /// For a subscription it has looked at what is to be watched.
    async fn handler(app: &AppState, who: &Who, message: Message<'_>) -> Arc<Handler> {
        let identity = Identity::verified(who.caller.clone());
        let shared = Shared {
            store: Arc::clone(&app.store),
            calls: Arc::clone(&app.calls),
            heads: app.calls.heads(&who.caller),
            set: message.set.unwrap_or_else(|| app.set.clone()),
            requests: Arc::clone(&app.requests),
            transport,
        };
        let handler = Handler::sharing(identity, shared, app.end.clone());
        if message.waits
            && let Some((id, wanted)) = subscription(message.body)
        {
            let caller = who.caller.clone();
            handler.look_ahead(&wanted, id, caller).await;
        }
        Arc::new(handler)
    }
}

/// What was put beside a message before it was handed to a handler.
fn transport(extensions: &Extensions) -> Transport {
    let parts: Option<&Parts> = extensions.get();
    Transport {
        name: parts.and_then(|parts| parts.extensions.get().cloned()),
        held: parts.and_then(|parts| parts.extensions.get().cloned()),
    }
}

pub async fn serve<A: Answers>(State(app): State<Arc<AppState>>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let RequestName(name) = v1::name_of(&parts.extensions);
    let who = match auth::by_token(&app, &parts.headers).await {
        Ok(who) => who,
        Err(fault) => return auth::denied(&app, &parts.headers, &fault, &name),
    };
    connections::recognised(&parts.extensions, &who.caller);
    let body = match parts.method {
        Method::POST => match v1::body(&app, &who.caller, &parts.headers, body, &name).await {
            Ok(received) => {
                // Where the handler finds it, and keeps it for as long as it is at work.
                let held: Held = received.share;
                parts.extensions.insert(held);
                received.bytes
            }
            Err(answer) => return *answer,
        },
        Method::GET | Method::DELETE => Bytes::new(),
        _ => return reply::wrong_method("GET, POST, DELETE", &name),
    };
    if is_batch(&body) {
        return wrong(-32600, "several messages at once are not taken: send one");
    }
    if let Some(problem) = wrong_number(&body) {
        return wrong(-32602, &problem);
    }
    let session = one(&parts.headers, SESSION).map(str::to_owned);
    if parts.headers.contains_key(SESSION) {
        let own = session.as_deref();
        if !own.is_some_and(|session| app.sessions.is_of(session, &who.caller)) {
            let text = "Not Found: Session not found";
            return reply::text(StatusCode::NOT_FOUND, "text/plain", text);
        }
    } else if begins(&body)
        && let Err(fault) = app.sessions.make_room(&who.caller).await
    {
        return reply::fault(&fault, &name);
    }
    let ends = parts.method == Method::DELETE;
    let waits = parts.method == Method::GET || listens(&parts.headers);
    let place = match waits.then(|| app.streams.enter(&who.caller)).transpose() {
        Ok(place) => place,
        Err(fault) => return reply::fault(&fault, &name),
    };
    let set = match chosen(&parts) {
        Ok(set) => set,
        Err(fault) => return reply::fault(&fault, &name),
    };
    let message = Message {
        body: &body,
        waits,
        set,
    };
    let sign = app.signs.enter(&who.caller);
    let handler = A::handler(&app, &who, message).await;
    let (service, headers) = (service(&app, handler), parts.headers.clone());
    let request = Request::from_parts(parts, Body::from(body));
    let answer = match auth::guarded(&app, &who, service.handle(request)).await {
        Ok(answer) => answer.map(Body::new),
        Err(fault) => return auth::denied(&app, &headers, &fault, &name),
    };
    if let (None, Some(begun)) = (&session, one(answer.headers(), SESSION)) {
        app.sessions.begun(begun, &who.caller);
    }
    if ends && answer.status() == StatusCode::ACCEPTED {
        // Clients take this for the end of a session, and anything else for a failure.
        return reply::text(StatusCode::NO_CONTENT, "text/plain", "");
    }
    // In a session an answer comes as a stream too, however long the call takes.
    if answer.status() == StatusCode::OK && (place.is_some() || session.is_some()) {
        streams::bounded(answer, place, sign, app, who)
    } else {
        answer
    }
}

fn service<H: ServerHandler>(
    app: &AppState,
    handler: Arc<H>,
) -> StreamableHttpService<Arc<H>, LocalSessionManager> {
    // Where a request came from was checked before it came here, and more strictly.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(limits::HTTP_BODY_BYTES)
        .with_cancellation_token(app.stop.clone());
    StreamableHttpService::new(
        move || Ok(Arc::clone(&handler)),
        Arc::clone(&app.sessions.manager),
        config,
    )
}

/// The tools to list: `?tools=graph,threads` in the address, else the header.
fn chosen(parts: &Parts) -> Result<Option<ToolSet>, Fault> {
    let query = parts.uri.query().unwrap_or_default().split('&');
    let named = query
        .filter_map(|pair| pair.strip_prefix("tools="))
        .next_back();
    let header = one(&parts.headers, TOOLS);
    // Names of sets hold letters only, so a comma is all that can be written otherwise.
    let named = named.map(|names| names.replace("%2C", ",").replace("%2c", ","));
    let named = named.or_else(|| header.map(str::to_owned));
    named.map(|names| ToolSet::parse(&names)).transpose()
}

fn listens(headers: &HeaderMap) -> bool {
    one(headers, METHOD) == Some(LISTEN)
}

fn is_batch(body: &[u8]) -> bool {
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    first == Some(&b'[')
}

/// Whether a message asks for a session.
fn begins(body: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Message {
        method: String,
    }
    let word = b"\"initialize\"";
    // Most messages are calls: to look for the word is cheaper than to read each of them twice.
    body.windows(word.len()).any(|window| window == word)
        && serde_json::from_slice(body).is_ok_and(|Message { method }| method == "initialize")
}

/// The id of a subscription, and what it wants to watch.
fn subscription(body: &[u8]) -> Option<(RequestId, SubscriptionFilter)> {
    #[derive(serde::Deserialize)]
    struct Message {
        method: String,
        id: RequestId,
        params: Params,
    }
    #[derive(serde::Deserialize)]
    struct Params {
        notifications: SubscriptionFilter,
    }
    let message: Message = serde_json::from_slice(body).ok()?;
    (message.method == LISTEN).then_some((message.id, message.params.notifications))
}

/// The JSON-RPC answer to something that is not a message.
fn wrong(code: i64, problem: &str) -> Response {
    let error = json!({ "code": code, "message": problem });
    let answer = json!({ "jsonrpc": "2.0", "id": null, "error": error });
    reply::json(StatusCode::BAD_REQUEST, &answer)
}

/// The fault of a path below `/mcp`, which has none.
pub fn nothing_here() -> Fault {
    Fault::not_found("there is nothing at this address")
        .hint("MCP is at /mcp, tools at /v1/<tool>, their description at /v1/openapi.json.")
}
