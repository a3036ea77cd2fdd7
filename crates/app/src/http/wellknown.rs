//! What others may know of this server's identity: its public keys, and who issues its tokens.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Serialize;
use serde_json::json;

use super::reply;
use super::state::AppState;
use crate::token::keys;

/// Where the protected resource describes itself (RFC 9728).
pub const RESOURCE: &str = "/.well-known/oauth-protected-resource";

/// The metadata of a protected resource, as RFC 9728 names its fields.
#[derive(Serialize)]
struct Metadata<'a> {
    resource: String,
    resource_name: &'static str,
    bearer_methods_supported: [&'static str; 1],
    jwks_uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    authorization_servers: Option<[&'a str; 1]>,
}

/// The public keys.
pub async fn jwks(State(app): State<Arc<AppState>>) -> Response {
    let set = keys::set(&app.verifier.public());
    reply::json(StatusCode::OK, &set)
}

/// What protects `/mcp`, for clients that can get a token by themselves. The store's own issuer is
/// a command, not a server; only another issuer can be named.
pub async fn resource(State(app): State<Arc<AppState>>, headers: HeaderMap) -> Response {
    let base = app.hosts.base(&headers);
    let issuer = app.verifier.issuer_address();
    let about = Metadata {
        resource: format!("{base}/mcp"),
        resource_name: "Understory",
        bearer_methods_supported: ["header"],
        jwks_uri: format!("{base}/.well-known/jwks.json"),
        authorization_servers: issuer.map(|issuer| [issuer]),
    };
    reply::json(StatusCode::OK, &json!(about))
}
