//! `GET` and `PUT /api/v1/entities/{uuid}`: an entity as a resource.

use crate::web::{Answer, AppState, Server};
use serde_json::{Value, json};
use understory_model::Role;
use understory_testkit::{Backend, on_both};

fn get(server: &Server, token: &str, uuid: &Value) -> Answer {
    let path = format!("/api/v1/entities/{}", uuid.as_str().unwrap());
    server.ask("GET", &path).token(token).send()
}

fn put(server: &Server, token: &str, uuid: &Value, body: &Value) -> Answer {
    let path = format!("/api/v1/entities/{}", uuid.as_str().unwrap());
    server.ask("PUT", &path).token(token).json(body).send()
}

#[on_both]
fn an_entity_is_read_and_changed(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let ada = site.token("ada", "garden", Role::Worker);
    let made = server.ok(
        &ada,
        "garden_entity_create",
        json!({"type": "transaction", "data": {"amount": 10.0}}),
    );
    let (uuid, hash) = (&made["entity"]["uuid"], &made["entity"]["hash"]);
    let read = get(&server, &ada, uuid);
    assert_eq!(read.status, 200, "{}", read.body);
    assert_eq!(
        read.json(),
        made["entity"],
        "once, and as the tools show it"
    );
    assert_eq!(
        (&read.json()["hash"], &read.json()["version"]),
        (hash, &json!(1))
    );
    let change = json!({"amount": 10.5, "based_on_hash": hash, "based_on_version": 1});
    let changed = put(&server, &ada, uuid, &change);
    assert_eq!(changed.status, 200, "{}", changed.body);
    assert_eq!(changed.json()["data"], json!({"amount": 10.5}));
    assert_eq!(changed.json()["previous_hash"], *hash);
    let stale = put(&server, &ada, uuid, &change);
    assert_eq!((stale.status, stale.code()), (409, "CONFLICT".into()));
    assert_eq!(
        stale.json()["error"]["details"],
        json!({
            "current_hash": changed.json()["hash"], "current_version": 2,
            "client_hash": hash, "client_version": 1,
        })
    );
    let as_tool = json!({"data": {"note": "x"}, "based_on_hash": changed.json()["hash"]});
    let third = put(&server, &ada, uuid, &as_tool);
    assert_eq!(
        third.json()["data"],
        json!({"amount": 10.5, "note": "x"}),
        "{}",
        third.body
    );
    let path = format!("/api/v1/entities/{}", uuid.as_str().unwrap());
    let text = r#"{"big": 18446744073709551616, "based_on_hash": "x"}"#;
    let refused = server
        .ask("PUT", &path)
        .token(&ada)
        .header("content-type", "application/json")
        .body(text)
        .send();
    assert_eq!(
        (refused.status, refused.code()),
        (400, "VALIDATION_ERROR".into()),
        "{}",
        refused.body
    );
    assert!(
        refused.body.contains("big: is an integer beyond 64 bits"),
        "{}",
        refused.body
    );
}

#[on_both]
fn it_is_guarded_as_every_tool_is(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let ada = site.token("ada", "garden", Role::Worker);
    let made = server.ok(
        &ada,
        "garden_entity_create",
        json!({"type": "t", "data": {"a": 1}}),
    );
    let (uuid, hash) = (&made["entity"]["uuid"], &made["entity"]["hash"]);
    let path = format!("/api/v1/entities/{}", uuid.as_str().unwrap());
    assert_eq!(server.get(&path).status, 401);
    assert_eq!(server.ask("PUT", &path).json(&json!({})).send().status, 401);
    let eve = site.token("eve", "elsewhere", Role::Operator);
    assert_eq!(get(&server, &eve, uuid).status, 404);
    let change = json!({"a": 2, "based_on_hash": hash});
    assert_eq!(put(&server, &eve, uuid, &change).status, 404);
    let ivy = site.token("ivy", "garden", Role::Auditor);
    assert_eq!(get(&server, &ivy, uuid).status, 200);
    assert_eq!(put(&server, &ivy, uuid, &change).status, 403);
    assert_eq!(put(&server, &ada, uuid, &json!({"a": 2})).status, 400);
    assert_eq!(put(&server, &ada, uuid, &json!([])).status, 400);
    assert_eq!(server.ask("DELETE", &path).token(&ada).send().status, 405);
    assert_eq!(
        server
            .ask("GET", &format!("{path}?x=1"))
            .token(&ada)
            .send()
            .status,
        400
    );
    let item = server.ok(
        &ada,
        "garden_add",
        json!({"type": "Note", "description": "n"}),
    );
    assert_eq!(get(&server, &ada, &item["item"]["uuid"]).status, 404);
    assert_eq!(get(&server, &ada, &json!("entity_x")).status, 404);
    assert_eq!(
        get(&server, &ada, &made["entity"]["uuid"]).json()["version"],
        1
    );
}
