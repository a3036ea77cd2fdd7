//! `POST /v1/<tool>`: a JSON object in, the tool's own object out.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{Extensions, HeaderMap, Method, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use understory_model::number::check_numbers;
use understory_model::{Code, Fault, limits};

use super::hosts::one;
use super::site::Site;
use super::{auth, reply};
use crate::mcp::call::{self, Asked, Call, patience};
use crate::mcp::handler::RequestName;

pub async fn call(
    State(site): State<Arc<Site>>,
    Path(tool): Path<String>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let RequestName(name) = name_of(&parts.extensions);
    let who = match auth::by_token_or_login(&site, &parts.headers).await {
        Ok(who) => who,
        Err(fault) => return auth::denied(&site, &parts.headers, &fault, &name),
    };
    let tool = match call::find(&tool) {
        Ok(tool) => tool,
        Err(fault) => return reply::fault(&fault, &name),
    };
    if parts.method != Method::POST {
        return reply::wrong_method("POST", &name);
    }
    let body = match self::body(&parts.headers, body, &name).await {
        Ok(body) => body,
        Err(answer) => return *answer,
    };
    let arguments = match arguments(&body) {
        Ok(arguments) => arguments,
        Err(fault) => return reply::fault(&fault, &name),
    };
    match run(
        &site,
        &who,
        &parts.headers,
        Asked::Tool(tool, arguments),
        &name,
    )
    .await
    {
        Ok(value @ Value::Object(_)) => reply::json(StatusCode::OK, &value),
        Ok(value) => reply::json(StatusCode::OK, &json!({ "result": value })),
        Err(answer) => *answer,
    }
}

/// What a call is answered, or its refusal; a token that is revoked meanwhile ends it.
pub async fn run(
    site: &Arc<Site>,
    who: &auth::Who,
    headers: &HeaderMap,
    asked: Asked,
    name: &str,
) -> Result<Value, Box<Response>> {
    let _sign = site.signs.enter(&who.caller);
    let call = Call {
        asked,
        caller: who.caller.clone(),
        request: name.to_owned(),
        patience: patience(None, false),
    };
    let work = site.calls.run(call, CancellationToken::new());
    let answer = match auth::guarded(site, who, work).await {
        Ok(answer) => answer,
        Err(fault) => return Err(Box::new(auth::denied(site, headers, &fault, name))),
    };
    answer.map_err(|fault| Box::new(reply::fault(&fault, name)))
}

/// The name that the guard gave to the request.
pub fn name_of(extensions: &Extensions) -> RequestName {
    let named = extensions.get::<RequestName>().cloned();
    named.unwrap_or_else(|| RequestName("req_unnamed".to_owned()))
}

/// A JSON body, whole; the refusal where it is something else, too large or too slow.
pub async fn body(headers: &HeaderMap, body: Body, name: &str) -> Result<Bytes, Box<Response>> {
    let kind = one(headers, header::CONTENT_TYPE).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let fault = Fault::new(Code::Validation, "the body must be application/json")
            .hint("Send `Content-Type: application/json`.");
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Box::new(reply::with_status(status, &fault, name)));
    }
    let declared = one(headers, header::CONTENT_LENGTH).and_then(|text| text.parse::<u64>().ok());
    if declared.is_some_and(|size| size > limits::HTTP_BODY_BYTES as u64) {
        return Err(Box::new(reply::fault(&too_large(), name)));
    }
    let limited = Limited::new(body, limits::HTTP_BODY_BYTES).collect();
    let patience = Duration::from_secs(limits::HTTP_BODY_SECONDS);
    match tokio::time::timeout(patience, limited).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(Box::new(reply::fault(&too_large(), name)))
        }
        Ok(Err(_)) => {
            let fault = Fault::new(Code::Validation, "the body did not arrive whole");
            Err(Box::new(reply::fault(&fault, name)))
        }
        Err(_) => {
            let fault = Fault::new(Code::Validation, "the body took too long to arrive");
            let status = StatusCode::REQUEST_TIMEOUT;
            Err(Box::new(reply::with_status(status, &fault, name)))
        }
    }
}

/// The arguments in a body.
pub fn arguments(body: &[u8]) -> Result<Value, Fault> {
    match serde_json::from_slice(body) {
        Ok(value @ Value::Object(_)) => {
            check_numbers(body)?;
            Ok(value)
        }
        Ok(_) => Err(Fault::invalid("body", "must be a JSON object")),
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            let problem = format!("is not JSON at line {line}, column {column}");
            Err(Fault::invalid("body", problem))
        }
    }
}

fn too_large() -> Fault {
    let problem = format!("the body has more than {} bytes", limits::HTTP_BODY_BYTES);
    Fault::new(Code::TooLarge, problem).hint("Split the call.")
}
