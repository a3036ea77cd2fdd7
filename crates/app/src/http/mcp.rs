//! `/mcp`: MCP over HTTP, by the same handler as over stdio.
//!
//! Each request is answered as the caller that its own token names. A client of 2026-07-28 has no
//! session; one of an earlier revision has, and it is its own alone.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use rmcp::ServerHandler;
use rmcp::model::{RequestId, SubscriptionFilter};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use understory_model::{Fault, limits};

use super::auth::{self, Who};
use super::hosts::one;
use super::site::Site;
use super::{reply, streams, v1};
use crate::identity::Identity;
use crate::mcp::handler::{Handler, RequestName};
use crate::mcp::message::wrong_number;

const SESSION: &str = "mcp-session-id";
const METHOD: &str = "mcp-method";
const LISTEN: &str = "subscriptions/listen";

/// Who answers what arrives here. The product is one; the suite that judges the protocol brings a
/// server with tools of its own, and so judges the way to a handler and back, which is the same.
pub trait Answers: Send + Sync + 'static {
    type Handler: ServerHandler;

    /// The handler for a caller's message; `waits` for one whose answer is a stream of news.
    fn handler(
        site: &Site,
        who: &Who,
        body: &[u8],
        waits: bool,
    ) -> impl Future<Output = Arc<Self::Handler>> + Send;
}

/// Understory's own answers.
pub struct Product;

impl Answers for Product {
    type Handler = Handler;

    /// For a subscription it has looked at what is to be watched.
    async fn handler(site: &Site, who: &Who, body: &[u8], waits: bool) -> Arc<Handler> {
        let identity = Identity::verified(who.caller.clone());
        let handler = Handler::sharing(identity, site.shared(&who.caller), site.end.clone());
        if waits && let Some((id, wanted)) = subscription(body) {
            let caller = who.caller.clone();
            handler.look_ahead(&wanted, id, caller).await;
        }
        Arc::new(handler)
    }
}

pub async fn serve<A: Answers>(State(site): State<Arc<Site>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let RequestName(name) = v1::name_of(&parts.extensions);
    let who = match auth::by_token(&site, &parts.headers).await {
        Ok(who) => who,
        Err(fault) => return auth::denied(&site, &parts.headers, &fault, &name),
    };
    let body = match parts.method {
        Method::POST => match v1::body(&parts.headers, body, &name).await {
            Ok(body) => body,
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
        if !own.is_some_and(|session| site.sessions.is_of(session, &who.caller)) {
            let text = "Not Found: Session not found";
            return reply::text(StatusCode::NOT_FOUND, "text/plain", text);
        }
    } else if begins(&body)
        && let Err(fault) = site.sessions.make_room(&who.caller).await
    {
        return reply::fault(&fault, &name);
    }
    let ends = parts.method == Method::DELETE;
    let waits = parts.method == Method::GET || listens(&parts.headers);
    let place = match waits.then(|| site.streams.enter(&who.caller)).transpose() {
        Ok(place) => place,
        Err(fault) => return reply::fault(&fault, &name),
    };
    let handler = A::handler(&site, &who, &body, waits).await;
    let (service, headers) = (service(&site, handler), parts.headers.clone());
    let request = Request::from_parts(parts, Body::from(body));
    let answer = tokio::select! {
        answer = service.handle(request) => answer.map(Body::new),
        fault = auth::until_refused(&site, &who) => {
            return auth::denied(&site, &headers, &fault, &name);
        }
    };
    if let (None, Some(begun)) = (&session, one(answer.headers(), SESSION)) {
        site.sessions.begun(begun, &who.caller);
    }
    if ends && answer.status() == StatusCode::ACCEPTED {
        // Clients take this for the end of a session, and anything else for a failure.
        return reply::text(StatusCode::NO_CONTENT, "text/plain", "");
    }
    // In a session an answer comes as a stream too, however long the call takes.
    match answer.status() == StatusCode::OK && (place.is_some() || session.is_some()) {
        true => streams::bounded(answer, place, site, who),
        false => answer,
    }
}

fn service<H: ServerHandler>(
    site: &Site,
    handler: Arc<H>,
) -> StreamableHttpService<Arc<H>, LocalSessionManager> {
    // Where a request came from was checked before it came here, and more strictly.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(limits::HTTP_BODY_BYTES)
        .with_cancellation_token(site.stop.clone());
    StreamableHttpService::new(
        move || Ok(Arc::clone(&handler)),
        Arc::clone(&site.sessions.manager),
        config,
    )
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
    let message: Value = serde_json::from_slice(body).ok()?;
    if message["method"] != LISTEN {
        return None;
    }
    let id = serde_json::from_value(message["id"].clone()).ok()?;
    let wanted = serde_json::from_value(message["params"]["notifications"].clone()).ok()?;
    Some((id, wanted))
}

/// A message that is none, answered as JSON-RPC has it.
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
