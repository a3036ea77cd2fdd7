//! Around every request: a name for it, the check of where it came from, and the headers that
//! every answer has.
//!
//! Its line in the log has no path and no body: both are the caller's.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use understory_model::{Code, Fault, limits};

use super::reply;
use super::state::AppState;
use crate::call::RequestName;
use crate::log::{self, Level};

/// The header with the request's name.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// No script, no frame, no form to elsewhere; pages say what more they need.
const POLICY: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; \
                      form-action 'self'";

/// Counts a request that is being answered, however it ends.
struct Flight(Arc<AppState>);

impl Drop for Flight {
    fn drop(&mut self) {
        self.0.metrics.in_flight.add(-1);
    }
}

pub async fn around(
    State(app): State<Arc<AppState>>,
    mut request: Request,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let name = app.requests.next();
    let route = route(request.uri().path());
    let method = request.method().clone();
    app.metrics.in_flight.add(1);
    let flight = Flight(Arc::clone(&app));
    request.extensions_mut().insert(RequestName(name.clone()));
    let checked = app.hosts.check(request.uri(), request.headers());
    let mut answer = match checked {
        Err(fault) => reply::fault(&fault, &name),
        Ok(()) if head_bytes(&request) > limits::HTTP_HEAD_BYTES => {
            let problem = format!("the head has more than {} bytes", limits::HTTP_HEAD_BYTES);
            let fault = Fault::new(Code::TooLarge, problem);
            reply::with_status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, &fault, &name)
        }
        Ok(()) => next.run(request).await,
    };
    drop(flight);
    let status = answer.status().as_u16();
    app.metrics.request(route, status);
    log::write(
        Level::Info,
        format_args!(
            "{name} {} {route} {status} {:.1} ms",
            short(method.as_str()),
            begun.elapsed().as_secs_f64() * 1e3
        ),
    );
    finish(answer.headers_mut(), &name);
    answer
}

/// What a request's line and headers take; the connection's own limit is a coarse one.
fn head_bytes(request: &Request) -> usize {
    let headers = request.headers().iter();
    let headers: usize = headers
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum();
    let target = request.uri().path_and_query();
    headers + target.map_or(0, |target| target.as_str().len())
}

/// A method of ours by its name; a caller may send any word for one.
fn short(method: &str) -> &str {
    let known = ["GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH"];
    known
        .into_iter()
        .find(|known| *known == method)
        .unwrap_or("other")
}

fn finish(headers: &mut HeaderMap, name: &str) {
    if let Ok(name) = HeaderValue::from_str(name) {
        headers.insert(REQUEST_ID, name);
    }
    let mut unless_said = |name: HeaderName, value: &'static str| {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    };
    unless_said(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    unless_said(header::REFERRER_POLICY, "no-referrer");
    unless_said(header::X_FRAME_OPTIONS, "DENY");
    unless_said(header::CONTENT_SECURITY_POLICY, POLICY);
    unless_said(header::CACHE_CONTROL, "no-store");
}

/// What a path is about, in a word of ours.
fn route(path: &str) -> &'static str {
    match path {
        "/" => "page",
        "/mcp" => "mcp",
        "/healthz" => "healthz",
        "/metrics" => "metrics",
        "/v1/openapi.json" => "openapi",
        _ if path.starts_with("/v1/") => "v1",
        _ if path.starts_with("/login/") => "login",
        _ if path.starts_with("/assets/") => "assets",
        _ if path.starts_with("/.well-known/") => "well-known",
        _ => "other",
    }
}
