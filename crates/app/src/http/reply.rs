//! Answers: JSON, and one envelope for everything that is refused.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Deserialize;
use serde_json::Value;
use understory_model::answer::Written;
use understory_model::{Code, Fault};

/// An answer of a kind of text.
pub fn text(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// An answer as JSON.
pub fn json(status: StatusCode, value: &Value) -> Response {
    text(status, "application/json", value.to_string())
}

/// What a tool answered.
pub fn written(answer: &Written) -> Response {
    text(
        StatusCode::OK,
        "application/json",
        answer.as_str().to_owned(),
    )
}

/// A refusal with the status that fits its code.
pub fn fault(fault: &Fault, request: &str) -> Response {
    let status = StatusCode::from_u16(fault.code.status());
    with_status(
        status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        fault,
        request,
    )
}

/// A refusal whose status says more than its code does.
pub fn with_status(status: StatusCode, fault: &Fault, request: &str) -> Response {
    let mut answer = json(status, &fault.envelope(request));
    if let Some(wait) = retry_after(fault) {
        let headers = answer.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from(wait));
    }
    answer
}

/// The seconds after which a call that a limiter refused may be retried.
pub fn retry_after(fault: &Fault) -> Option<u64> {
    #[derive(Deserialize)]
    struct Limited {
        retry_after_s: u64,
    }
    let details = fault.details.as_ref();
    let details = details.filter(|_| fault.code == Code::RateLimited)?;
    Some(Limited::deserialize(details).ok()?.retry_after_s)
}

/// A method that the address does not know.
pub fn wrong_method(allowed: &'static str, request: &str) -> Response {
    let fault = Fault::new(Code::Validation, format!("this address takes {allowed}"));
    let mut answer = with_status(StatusCode::METHOD_NOT_ALLOWED, &fault, request);
    let headers = answer.headers_mut();
    headers.insert(header::ALLOW, HeaderValue::from_static(allowed));
    answer
}
