//! `GET` and `PUT /api/v1/entities/{uuid}`: an entity as a resource.
//!
//! Both are calls of the garden's tools; nothing is decided here. An answer is the entity's own
//! fields, and the whole of it again under `entity`, as the tools answer.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use understory_model::Fault;

use super::site::Site;
use super::v1::{self, name_of};
use super::{auth, reply};
use crate::mcp::call::{self, Asked};
use crate::mcp::handler::RequestName;

/// Arguments of an update that are no fields of the entity.
const ABOUT_THE_CALL: [&str; 6] = [
    "based_on_hash",
    "based_on_version",
    "reason",
    "project",
    "caused_by",
    "idempotency_key",
];

pub async fn serve(
    State(site): State<Arc<Site>>,
    Path(uuid): Path<String>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let RequestName(name) = name_of(&parts.extensions);
    let who = match auth::by_token_or_login(&site, &parts.headers).await {
        Ok(who) => who,
        Err(fault) => return auth::denied(&site, &parts.headers, &fault, &name),
    };
    let body = match parts.method {
        Method::GET => None,
        Method::PUT => match v1::body(&parts.headers, body, &name).await {
            Ok(body) => Some(body),
            Err(answer) => return *answer,
        },
        _ => return reply::wrong_method("GET, PUT", &name),
    };
    match asked(&parts, uuid, body) {
        Ok(asked) => match v1::run(&site, &who, &parts.headers, asked, &name).await {
            Ok(answer) => shown(answer, &name),
            Err(answer) => *answer,
        },
        Err(fault) => reply::fault(&fault, &name),
    }
}

fn asked(parts: &Parts, uuid: String, body: Option<Bytes>) -> Result<Asked, Fault> {
    let (tool, arguments) = match body {
        None => ("garden_get", json!({ "id": uuid })),
        Some(body) => ("garden_entity_update", update(uuid, v1::arguments(&body)?)),
    };
    if parts.uri.query().is_some() {
        return Err(Fault::invalid("query", "is not known here"));
    }
    Ok(Asked::Tool(call::find(tool)?, arguments))
}

/// The fields stand beside what the update is based on, or under `data` as the tool has them.
fn update(uuid: String, body: Value) -> Value {
    let Value::Object(mut body) = body else {
        return json!({ "uuid": uuid });
    };
    let mut arguments = Map::new();
    for name in ABOUT_THE_CALL {
        if let Some(value) = body.remove(name) {
            arguments.insert(name.to_owned(), value);
        }
    }
    let data = match body.remove("data") {
        Some(Value::Object(data)) if body.is_empty() => data,
        Some(data) => {
            body.insert("data".to_owned(), data);
            body
        }
        None => body,
    };
    arguments.insert("data".to_owned(), data.into());
    arguments.insert("uuid".to_owned(), uuid.into());
    arguments.into()
}

fn shown(answer: Value, name: &str) -> Response {
    let Some(Value::Object(entity)) = answer.get("entity") else {
        let fault = Fault::not_found("this is not an entity").hint("Name it as entity_<uuid>.");
        return reply::fault(&fault, name);
    };
    let mut whole = entity.clone();
    whole.insert("entity".to_owned(), answer["entity"].clone());
    reply::json(StatusCode::OK, &Value::Object(whole))
}
