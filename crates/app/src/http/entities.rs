//! `GET` and `PUT /api/v1/entities/{uuid}`: an entity as a resource.
//!
//! Both are calls of the garden's tools; nothing is decided here. An answer is the entity itself.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use understory_model::Fault;
use understory_model::answer::Written;

use super::state::AppState;
use super::v1::{self, name_of};
use super::{auth, connections, reply};
use crate::call::RequestName;
use crate::call::{self, Asked};
use crate::object::with;

/// Arguments of an update that are not fields of the entity.
const ABOUT_THE_CALL: [&str; 6] = [
    "based_on_hash",
    "based_on_version",
    "reason",
    "project",
    "caused_by",
    "idempotency_key",
];

/// What the description of the interface says of it.
pub fn described(refusals: &Map<String, Value>) -> Value {
    let operation = |id: &str, summary: &str| {
        let mut answers = refusals.clone();
        let entity = json!({ "$ref": "#/components/schemas/Entity" });
        answers.insert(
            "200".into(),
            json!({
                "description": "The entity.",
                "content": { "application/json": { "schema": entity } },
            }),
        );
        json!({
            "operationId": id,
            "summary": summary,
            "tags": ["garden"],
            "parameters": [{
                "name": "uuid", "in": "path", "required": true, "schema": { "type": "string" },
                "description": "entity_<uuid>, or another name of it",
            }],
            "responses": answers,
        })
    };
    let put = operation("put_entity", "Change an entity from the version you saw");
    let about = "Fields to change go beside based_on_hash or under data; a field named data goes \
                 under data. null deletes a field.";
    let body = json!({
        "required": true,
        "content": { "application/json": { "schema": {
            "type": "object",
            "required": ["based_on_hash"],
            "properties": {
                "based_on_hash": { "type": "string" },
                "based_on_version": { "type": "integer" },
                "reason": { "type": "string" },
                "data": { "type": "object" },
            },
        } } },
    });
    let put = with(put, [("description", about.into()), ("requestBody", body)]);
    json!({ "get": operation("get_entity", "Read an entity"), "put": put })
}

/// An entity as it is answered.
pub fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["uuid", "type", "hash", "previous_hash", "version", "data"],
        "properties": {
            "uuid": { "type": "string" },
            "type": { "type": "string" },
            "hash": { "type": "string" },
            "previous_hash": { "type": ["string", "null"] },
            "version": { "type": "integer" },
            "data": { "type": "object" },
        },
    })
}

pub async fn serve(
    State(app): State<Arc<AppState>>,
    Path(uuid): Path<String>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let RequestName(name) = name_of(&parts.extensions);
    let who = match auth::by_token_or_login(&app, &parts.headers).await {
        Ok(who) => who,
        Err(fault) => return auth::denied(&app, &parts.headers, &fault, &name),
    };
    connections::recognised(&parts.extensions, &who.caller);
    let received = match parts.method {
        Method::GET => None,
        Method::PUT => match v1::body(&app, &who.caller, &parts.headers, body, &name).await {
            Ok(received) => Some(received),
            Err(answer) => return *answer,
        },
        _ => return reply::wrong_method("GET, PUT", &name),
    };
    let (body, held) = received
        .map(|received| (received.bytes, received.share))
        .unzip();
    match asked(&parts, uuid, body) {
        Ok(asked) => match v1::run(&app, &who, &parts.headers, asked, held, &name).await {
            Ok(answer) => shown(&answer, &name),
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

fn shown(answer: &Written, name: &str) -> Response {
    /// The part of both tools' answers that is shown.
    #[derive(Deserialize)]
    struct Answer {
        entity: Map<String, Value>,
    }
    match answer.read() {
        Ok(Answer { entity }) => reply::json(StatusCode::OK, &entity.into()),
        Err(_) => {
            let fault = Fault::not_found("this is not an entity").hint("Name it as entity_<uuid>.");
            reply::fault(&fault, name)
        }
    }
}
