//! `POST /v1/<tool>`: a JSON object in, the tool's own object out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{Extensions, HeaderMap, Method, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use understory_model::answer::Written;
use understory_model::number::check_numbers;
use understory_model::weight::check_weight;
use understory_model::{Caller, Code, Fault, limits};

use super::held::{Full, Share};
use super::hosts::one;
use super::state::AppState;
use super::{auth, connections, reply};
use crate::call::RequestName;
use crate::call::{self, Asked, Call, Held, patience};

pub async fn call(
    State(app): State<Arc<AppState>>,
    Path(tool): Path<String>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let RequestName(name) = name_of(&parts.extensions);
    let who = match auth::by_token_or_login(&app, &parts.headers).await {
        Ok(who) => who,
        Err(fault) => return auth::denied(&app, &parts.headers, &fault, &name),
    };
    connections::recognised(&parts.extensions, &who.caller);
    let tool = match call::find(&tool) {
        Ok(tool) => tool,
        Err(fault) => return reply::fault(&fault, &name),
    };
    if parts.method != Method::POST {
        return reply::wrong_method("POST", &name);
    }
    let received = match self::body(&app, &who.caller, &parts.headers, body, &name).await {
        Ok(received) => received,
        Err(answer) => return *answer,
    };
    let arguments = match arguments(&received.bytes) {
        Ok(arguments) => arguments,
        Err(fault) => return reply::fault(&fault, &name),
    };
    let asked = Asked::Tool(tool, arguments);
    let held = Some(received.share);
    drop(received.bytes);
    match run(&app, &who, &parts.headers, asked, held, &name).await {
        Ok(answer) => reply::written(&answer.into_object()),
        Err(answer) => *answer,
    }
}

/// What a call is answered, or its refusal as an answer; a token that is revoked meanwhile ends it.
pub async fn run(
    app: &Arc<AppState>,
    who: &auth::Who,
    headers: &HeaderMap,
    asked: Asked,
    held: Option<Held>,
    name: &str,
) -> Result<Written, Box<Response>> {
    let call = called(who, asked, held, name);
    let _sign = app.signs.enter(&who.caller);
    let work = app.calls.run(call, CancellationToken::new());
    let answer = match auth::guarded(app, who, work).await {
        Ok(answer) => answer,
        Err(fault) => return Err(Box::new(auth::denied(app, headers, &fault, name))),
    };
    answer.map_err(|fault| Box::new(reply::fault(&fault, name)))
}

/// What a call is answered, or its refusal, as [`run`].
pub async fn answer(
    app: &Arc<AppState>,
    who: &auth::Who,
    asked: Asked,
    held: Option<Held>,
    name: &str,
) -> Result<Written, Fault> {
    let call = called(who, asked, held, name);
    let _sign = app.signs.enter(&who.caller);
    let work = app.calls.run(call, CancellationToken::new());
    auth::guarded(app, who, work).await?
}

fn called(who: &auth::Who, asked: Asked, held: Option<Held>, name: &str) -> Call {
    Call {
        asked,
        caller: who.caller.clone(),
        request: name.to_owned(),
        patience: patience(None, false),
        held,
    }
}

/// The name that the guard gave to the request.
pub fn name_of(extensions: &Extensions) -> RequestName {
    let named = extensions.get::<RequestName>().cloned();
    named.unwrap_or_else(|| RequestName("req_unnamed".to_owned()))
}

/// A body that has arrived, and what it holds of the server's memory.
pub struct Received {
    pub bytes: Bytes,
    pub share: Held,
}

pub const JSON: &str = "application/json";
pub const FORM: &str = "application/x-www-form-urlencoded";

/// A JSON body, whole; the refusal where it is something else, too large, too slow, or one too
/// many.
pub async fn body(
    app: &AppState,
    caller: &Caller,
    headers: &HeaderMap,
    body: Body,
    name: &str,
) -> Result<Received, Box<Response>> {
    body_of(app, caller, headers, body, (JSON, name)).await
}

/// As [`body`], of a kind, for a request of a name.
pub async fn body_of(
    app: &AppState,
    caller: &Caller,
    headers: &HeaderMap,
    body: Body,
    (wanted, name): (&str, &str),
) -> Result<Received, Box<Response>> {
    let kind = one(headers, header::CONTENT_TYPE).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case(wanted) {
        let fault = Fault::new(Code::Validation, format!("the body must be {wanted}"))
            .hint(format!("Send `Content-Type: {wanted}`."));
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Box::new(reply::with_status(status, &fault, name)));
    }
    let declared = one(headers, header::CONTENT_LENGTH).and_then(|text| text.parse::<usize>().ok());
    if declared.is_some_and(|size| size > limits::HTTP_BODY_BYTES) {
        return Err(Box::new(reply::fault(&too_large(), name)));
    }
    let mut share = app.held.share(caller);
    share
        .would_fit(declared.unwrap_or_default())
        .map_err(|full| crowded(full, name))?;
    let patience = Duration::from_secs(limits::HTTP_BODY_SECONDS);
    let arriving = arrive(body, &mut share, name);
    let bytes = match tokio::time::timeout(patience, arriving).await {
        Ok(arrived) => arrived?,
        Err(_) => {
            let fault = Fault::new(Code::Validation, "the body took too long to arrive");
            let status = StatusCode::REQUEST_TIMEOUT;
            return Err(Box::new(reply::with_status(status, &fault, name)));
        }
    };
    app.rates.spend_bytes(caller, bytes.len(), Instant::now());
    let weight = check_weight(&bytes).map_err(|fault| Box::new(reply::fault(&fault, name)))?;
    share.grow(weight).map_err(|full| crowded(full, name))?;
    Ok(Received {
        bytes,
        share: Arc::new(share),
    })
}

/// Collects a body, each piece counted before it is kept.
async fn arrive(body: Body, share: &mut Share, name: &str) -> Result<Bytes, Box<Response>> {
    let mut limited = Limited::new(body, limits::HTTP_BODY_BYTES);
    let mut whole = Vec::new();
    while let Some(frame) = limited.frame().await {
        let frame = frame.map_err(|error| {
            let fault = if error.is::<LengthLimitError>() {
                too_large()
            } else {
                Fault::new(Code::Validation, "the body did not arrive whole")
            };
            Box::new(reply::fault(&fault, name))
        })?;
        if let Ok(piece) = frame.into_data() {
            share
                .grow(piece.len())
                .map_err(|full| crowded(full, name))?;
            whole.extend_from_slice(&piece);
        }
    }
    Ok(whole.into())
}

/// The answer when too many bytes are held: a caller that holds them itself should slow down, and
/// where others do, the server cannot help it just now.
fn crowded(full: Full, name: &str) -> Box<Response> {
    let status = match full {
        Full::Agent | Full::Workspace => StatusCode::TOO_MANY_REQUESTS,
        Full::Server => StatusCode::SERVICE_UNAVAILABLE,
    };
    Box::new(reply::with_status(status, &full.fault(), name))
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
