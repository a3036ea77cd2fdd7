//! Which address leads where. Everything passes `guard` first, what is not found too.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get};

use super::state::AppState;
use super::{entities, guard, health, mcp, openapi, page, pages, v1, wellknown};

pub fn router<A: mcp::Answers>(app: Arc<AppState>) -> Router {
    Router::new()
        .route("/", get(page::home))
        .route(crate::door::PATH, axum::routing::post(page::another_link))
        .route("/login/{code}", get(page::ask_login).post(page::login))
        .route("/logout", axum::routing::post(page::logout))
        .route("/mcp", any(mcp::serve::<A>))
        .route("/v1/openapi.json", get(openapi::document))
        .route("/v1/{tool}", any(v1::call))
        .route("/api/v1/entities/{uuid}", any(entities::serve))
        .route("/healthz", get(health::health))
        .route("/metrics", get(health::metrics))
        .route("/.well-known/jwks.json", get(wellknown::jwks))
        .route(wellknown::RESOURCE, get(wellknown::resource))
        .route(
            &format!("{}/mcp", wellknown::RESOURCE),
            get(wellknown::resource),
        )
        .route("/assets/{file}", get(pages::asset))
        .route("/{workspace}/{*path}", any(pages::serve))
        .fallback(health::nothing)
        .method_not_allowed_fallback(page::only_get)
        .layer(from_fn_with_state(Arc::clone(&app), guard::around))
        .with_state(app)
}
