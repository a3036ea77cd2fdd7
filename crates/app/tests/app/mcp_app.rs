//! The board as an MCP App: whom it is shown to, what it is, and a client's window in which it lives.

use serde_json::{Value, json};
use understory_model::Role;
use understory_page::{BOARD, BOARD_MIME};
use understory_testkit::{Backend, on_both};

use crate::browser;
use crate::driver::{BOTH, Client, Revision, World};
use crate::http_pages::HOSTILE;
use crate::shell::says;
use crate::web::AppState;

/// What a client says that shows such documents.
fn shows() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": [BOARD_MIME]}}})
}

/// The parameters of a request by a client that can do this.
fn by(capabilities: &Value, mut params: Value) -> Value {
    params["_meta"] = json!({"io.modelcontextprotocol/clientCapabilities": capabilities});
    params
}

/// What a client of a revision is listed, if it says this of itself: tools, and the names of resources.
fn listed(world: &World, revision: Revision, capabilities: &Value) -> (Value, Vec<String>) {
    let mut client = Client::start(world.command(&["mcp", "--tools", "all"]), revision);
    if revision == Revision::Before {
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "test client", "version": "1"}});
        client.ask("initialize", hello);
        client.notify("notifications/initialized", json!({}));
    }
    let tools = client.ask("tools/list", by(capabilities, json!({})));
    let resources = client.ask("resources/list", by(capabilities, json!({})));
    let all = resources["result"]["resources"].as_array().unwrap();
    let uris = all
        .iter()
        .map(|one| one["uri"].as_str().unwrap().to_owned());
    (tools["result"]["tools"].clone(), uris.collect())
}

#[test]
fn only_clients_that_show_apps_are_told_of_the_board() {
    let world = World::new();
    for revision in BOTH {
        let (plain, resources) = listed(&world, revision, &json!({}));
        assert!(!plain.to_string().contains("ui://"), "{plain}");
        assert!(!resources.contains(&BOARD.to_owned()));
        let (mut tools, resources) = listed(&world, revision, &shows());
        assert!(resources.contains(&BOARD.to_owned()), "{resources:?}");
        let mut linked = Vec::new();
        for tool in tools.as_array_mut().unwrap() {
            let name = tool["name"].as_str().unwrap().to_owned();
            let Some(meta) = tool.get_mut("_meta").and_then(Value::as_object_mut) else {
                continue;
            };
            if let Some(ui) = meta.remove("ui") {
                assert_eq!(ui, json!({"resourceUri": BOARD}));
                linked.push(name);
            }
            if meta.is_empty() {
                tool.as_object_mut().unwrap().remove("_meta");
            }
        }
        assert_eq!(linked, ["graph_onboard", "graph_query"]);
        assert_eq!(tools, plain, "nothing else is listed otherwise");
        // One that shows other documents only is told of none.
        let others =
            json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/x"]}}});
        let (tools, resources) = listed(&world, revision, &others);
        assert_eq!(tools, plain);
        assert!(!resources.contains(&BOARD.to_owned()));
    }
}

/// What stands in a document as it is read, with nothing of others in its markup.
fn is_board(read: &Value) -> String {
    let content = &read["result"]["contents"][0];
    assert_eq!(content["uri"], BOARD, "{read}");
    assert_eq!(content["mimeType"], BOARD_MIME);
    let policy = &content["_meta"]["ui"]["csp"];
    for domains in [
        "connectDomains",
        "resourceDomains",
        "frameDomains",
        "baseUriDomains",
    ] {
        assert_eq!(policy[domains], json!([]), "{domains}");
    }
    let text = content["text"].as_str().unwrap();
    assert!(text.starts_with("<!DOCTYPE html>"), "{text}");
    assert_eq!(text.matches("<script").count(), 1);
    for bad in ["<img", "\u{202E}", "src=\"", "href=\"/", "href=\"http"] {
        assert!(!text.contains(bad), "{bad}");
    }
    text.to_owned()
}

#[test]
fn the_board_is_read_over_the_standard_streams() {
    for revision in BOTH {
        let world = World::new();
        let mut client = world.client(revision);
        let plan =
            json!({"nodes": [{"ref": "a", "summary": HOSTILE}, {"ref": "b", "summary": "Sell"}]});
        assert!(!client.call("graph_plan", plan).1);
        let read = client.ask("resources/read", json!({"uri": BOARD}));
        let text = is_board(&read);
        says(
            &text,
            &["Sell", "&lt;script&gt;", "U+202E", "<h2>Work</h2>"],
        );
        let none = client.ask("resources/read", json!({"uri": "ui://understory/other"}));
        assert!(none["error"].is_object(), "{none}");
    }
}

#[on_both]
fn the_board_is_read_over_http_by_its_own_workspace(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve();
    let plan =
        json!({"nodes": [{"ref": "a", "summary": HOSTILE}, {"ref": "b", "summary": "Sell"}]});
    let ada = site.token("ada", "garden", Role::Worker);
    server.ok(&ada, "graph_plan", plan);
    let read = |token: &str| {
        let params = json!({"uri": BOARD, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": shows(),
            "io.modelcontextprotocol/clientInfo": {"name": "test client", "version": "1"}}});
        let ask = server.ask("POST", "/mcp").token(token).mcp();
        let ask = ask
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", "resources/read")
            .header("Mcp-Name", BOARD);
        let message =
            json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params});
        ask.json(&message).send().message()
    };
    says(&is_board(&read(&ada)), &["Sell", "&lt;script&gt;"]);
    let other = site.token("eve", "elsewhere", Role::Operator);
    let text = is_board(&read(&other));
    assert!(!text.contains("Sell"), "another workspace's tasks");
}

#[on_both]
fn the_board_lives_in_a_clients_window(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    browser::own_workspace(&site);
    let ada = site.token("ada", "garden", Role::Worker);
    let plan = json!({"nodes": [{"ref": "a", "summary": HOSTILE}, {"ref": "b", "summary": "Sell"}, {"ref": "c", "summary": "W".repeat(2_000)}]});
    server.ok(&ada, "graph_plan", plan);
    browser::run(&site, &server, "board");
}
