//! `/healthz`, which asks the store, and `/metrics`.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;
use understory_model::{Caller, Code, Fault, Role};

use super::mcp::nothing_here;
use super::metrics::Now;
use super::state::AppState;
use super::{auth, reply, v1};
use crate::call::RequestName;

/// A store that takes longer to answer does not answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Needs no token, and tells nothing but whether the store can be read.
pub async fn health(State(app): State<Arc<AppState>>) -> Response {
    match readable(&app).await {
        Ok(()) => reply::json(StatusCode::OK, &json!({ "status": "ok" })),
        Err(_) => {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            reply::json(status, &json!({ "status": "store unavailable" }))
        }
    }
}

/// On a server for this machine alone the figures are anybody's here; elsewhere they are for those
/// who look after it.
pub async fn metrics(State(app): State<Arc<AppState>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let RequestName(name) = v1::name_of(&parts.extensions);
    if !app.hosts.is_private()
        && let Err(fault) = may_look(&app, &parts.headers).await
    {
        return auth::denied(&app, &parts.headers, &fault, &name);
    }
    let up = readable(&app).await.is_ok();
    let now = Now {
        sessions: app.sessions.count(),
        held_bytes: app.held.bytes(),
    };
    let page = app.metrics.page(up, now);
    reply::text(
        StatusCode::OK,
        "text/plain; version=0.0.4; charset=utf-8",
        page,
    )
}

async fn may_look(app: &Arc<AppState>, headers: &HeaderMap) -> Result<(), Fault> {
    let who = auth::by_token(app, headers).await?;
    match who.caller.role {
        Role::Operator | Role::Auditor => Ok(()),
        Role::Orchestrator | Role::Worker => Err(Fault::new(
            Code::Forbidden,
            "figures are for an operator or an auditor",
        )),
    }
}

/// Reads something small from the store.
async fn readable(app: &Arc<AppState>) -> Result<(), Fault> {
    // A name that no workspace can have: the answer is that it is not there.
    let nobody = Caller {
        workspace: " ".into(),
        origin: None,
        agent: " ".into(),
        session: " ".into(),
        role: Role::Auditor,
        project: " ".into(),
        via: understory_model::Via::Local,
    };
    let read = app.read(move |engine| engine.head(&nobody).map(|_| ()));
    match tokio::time::timeout(PATIENCE, read).await {
        Ok(read) => read,
        Err(_) => Err(Fault::new(
            Code::StoreUnavailable,
            "the store does not answer",
        )),
    }
}

/// Whatever has no address here.
pub async fn nothing(request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let RequestName(name) = v1::name_of(&parts.extensions);
    reply::fault(&nothing_here(), &name)
}
