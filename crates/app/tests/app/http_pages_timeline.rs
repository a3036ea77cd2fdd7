//! The timeline page.

use serde_json::{Value, json};
use understory_model::Role;
use understory_testkit::{Backend, on_both};

use crate::http_pages::{HOSTILE, Stage};
use crate::shell::says;
use crate::web::AppState;

/// A chain of causes over three agents; the place of the item in its middle.
fn chain(stage: &Stage) -> i64 {
    tell(|agent, note| stage.as_agent(agent, "garden_add", note));
    let data = stage.data("timeline.json");
    let entries = data["entries"].as_array().unwrap();
    let item = entries
        .iter()
        .find(|one| one["text"].as_str().unwrap().contains("We store"));
    item.unwrap()["seq"].as_i64().unwrap()
}

fn tell(add: impl Fn(&str, Value) -> Value) {
    let mut cause: Option<String> = None;
    for (agent, text) in [
        ("ada", "Can forty people write at once?"),
        ("bob", "It fails at twelve writers"),
        ("bob", "Use PostgreSQL for the team store"),
        ("ada", "We store everything in PostgreSQL"),
        ("cleo", "Read what was decided"),
    ] {
        let mut note = json!({"type": "Note", "description": text});
        if let Some(cause) = &cause {
            note["caused_by"] = json!(cause);
        }
        let added = add(agent, note);
        cause = added["item"]["uuid"].as_str().map(str::to_owned);
    }
}

fn lane<'d>(data: &'d Value, agent: &str) -> &'d Value {
    let lanes = data["lanes"].as_array().unwrap();
    lanes
        .iter()
        .find(|lane| lane["agent"] == agent)
        .unwrap_or_else(|| panic!("no {agent}: {data}"))
}

#[on_both]
fn lanes_marks_claims_and_the_list(backend: Backend) {
    let stage = Stage::filled(backend);
    let shown = stage.get("timeline").body;
    says(
        &shown,
        &[
            "to now",
            "id=\"strip\"",
            "id=\"lane-ada\"",
            "TASK-002 Sell",
            "waits for you",
            "Newest first",
            "Show as list",
            "too close to tell apart, opens",
            "id=\"item-",
        ],
    );
    assert!(!shown.contains("<script>alert") && shown.contains("U+202E"));
    assert!(!shown.contains("style="), "the policy has no inline style");
    let data = stage.data("timeline.json");
    assert_eq!(data["window"]["live"], true);
    assert_eq!(data["lanes"][0]["agent"], "ann", "the person first: {data}");
    assert_eq!(lane(&data, "ada")["claims"][0]["id"], "TASK-002");
    assert_eq!(data["unit"]["shows"], "marks");
    assert_eq!(data["waiting"][0]["agent"], "ada");
    let counted = data["density"]["bars"].as_array().unwrap().iter();
    let counted: i64 = counted.map(|bar| bar["count"].as_i64().unwrap()).sum();
    assert!(counted >= data["total"].as_i64().unwrap());
    let bars = data["density"]["bars"].as_array().unwrap();
    assert!(bars.iter().any(|bar| bar["amber"] == true), "{data}");
}

#[on_both]
fn an_item_is_opened_in_the_list_and_in_the_picture(backend: Backend) {
    let stage = Stage::filled(backend);
    let seq = chain(&stage);
    let shown = stage.get(&format!("timeline?sel={seq}")).body;
    says(
        &shown,
        &[
            "<dt>because</dt>",
            "<dt>led to</dt>",
            "Read what was decided",
            "Can forty people write at once?",
            &format!("· #{seq}"),
            "happened ",
            "written ",
            "/garden/why/item_",
            "has-chosen",
            "<path class=\"because\"",
            "<path class=\"led\"",
            "is-chosen",
        ],
    );
    let data = stage.data(&format!("timeline.json?sel={seq}"));
    assert_eq!(
        data["chosen"]["causes"].as_array().unwrap().len(),
        3,
        "{data}"
    );
    assert_eq!(data["chosen"]["effects"].as_array().unwrap().len(), 1);
    // An item of another time is opened above the list, with the time around it.
    let older = stage
        .get(&format!("timeline?sel={seq}&from=2026-01-01&to=2026-01-02"))
        .body;
    says(
        &older,
        &[
            "We store everything in PostgreSQL",
            "Nothing happened in this time.",
        ],
    );
    assert_eq!(stage.get("timeline?sel=999999").status, 404);
}

#[on_both]
fn filters_are_kept_and_can_be_taken_off(backend: Backend) {
    let stage = Stage::filled(backend);
    for agent in ["timeline.json?agent=bob", "timeline.json?by=bob"] {
        let data = stage.data(agent);
        let entries = data["entries"].as_array().unwrap();
        assert!(
            !entries.is_empty() && entries.iter().all(|one| one["actor"] == "bob"),
            "{data}"
        );
        assert_eq!(data["lanes"].as_array().unwrap().len(), 1);
    }
    let of = stage.data("timeline.json?of=TASK-002");
    assert_eq!(
        of["entries"].as_array().unwrap().len(),
        2,
        "made and claimed: {of}"
    );
    let threads = stage.data("timeline.json?surface=threads");
    let entries = threads["entries"].as_array().unwrap();
    assert!(!entries.is_empty() && entries.iter().all(|one| one["surface"] == "threads"));
    let none = stage.get("timeline?agent=dan&surface=work").body;
    says(
        &none,
        &[
            "No item matches.",
            "are hidden by",
            "agent is dan",
            "Take that filter off",
        ],
    );
    // Each filter is kept by the links of the others.
    says(
        &none,
        &["surface=work&amp;agent=", "agent=dan&amp;surface="],
    );
    assert_eq!(stage.get("timeline?of=TASK-999").status, 404);
    assert_eq!(stage.get("timeline?project=nowhere").status, 404);
    assert_eq!(stage.get("timeline?surface=nowhere").status, 400);
    assert_eq!(stage.get("timeline?from=yesterday").status, 400);
    for odd in [
        "agent=%00",
        "type=%00",
        "of=%00",
        "project=%00",
        "sel=x",
        "before=-1",
        "from=0001-01-01",
        "agent=%F0%9F%98%80",
    ] {
        let status = stage.get(&format!("timeline?{odd}")).status;
        assert!([200, 400, 404].contains(&status), "{odd}: {status}");
    }
}

#[on_both]
fn a_long_window_is_in_bars_by_the_hour(backend: Backend) {
    let stage = Stage::filled(backend);
    let week = stage.data("timeline.json?from=2026-01-01");
    assert_eq!(week["unit"]["shows"], "bars", "{week}");
    let shown = stage.get("timeline?from=2026-01-01").body;
    says(
        &shown,
        &[
            "By hour, newest first",
            "id=\"hours\"",
            "class=\"bars\"",
            "class=\"of-time\"",
            "Show items",
        ],
    );
    assert!(!shown.contains("When it happened"), "bars have one clock");
    let counts = week["columns"].as_array().unwrap().iter();
    let counts: i64 = counts.map(|column| column["count"].as_i64().unwrap()).sum();
    assert_eq!(counts, week["total"].as_i64().unwrap());
}

#[on_both]
fn much_is_bounded_and_all_of_it_can_be_reached(backend: Backend) {
    let stage = Stage::new(backend);
    // Only that the person has come.
    says(&stage.get("timeline").body, &["logged in"]);
    for round in 0..50 {
        let node = |n| json!({"ref": format!("n{n}"), "summary": format!("{HOSTILE} {round} {n}")});
        let nodes: Vec<Value> = (0..50).map(node).collect();
        stage.as_agent(
            &format!("agent{round}"),
            "graph_plan",
            json!({"nodes": nodes}),
        );
    }
    let first = stage.data("timeline.json");
    assert_eq!(first["lanes"].as_array().unwrap().len(), 30);
    assert!(
        first["others"]["agents"].as_i64().unwrap() >= 20,
        "{}",
        first["others"]
    );
    assert_eq!(first["entries"].as_array().unwrap().len(), 100);
    let shown = stage.get("timeline").body;
    assert!(shown.matches("class=\"dot").count() + shown.matches("class=\"box").count() <= 601);
    says(&shown, &["Show 100 more", "more who wrote less"]);
    let mut seen = 0;
    let mut address = "timeline.json".to_owned();
    for _ in 0..40 {
        let page = stage.data(&address);
        seen += page["entries"].as_array().unwrap().len();
        match page["next"].as_i64() {
            Some(next) => address = format!("timeline.json?before={next}"),
            None => break,
        }
    }
    assert!(seen >= 2_500, "{seen}");
}

#[test]
fn a_person_at_the_timeline() {
    // The person logs in for themselves.
    let site = AppState::new(Backend::sqlite());
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    // The folder's own workspace, which the tokens below are for.
    let open = r#"{"project": "default", "goal": "Sell"}"#;
    site.shell.ok(&["call", "graph_open", open]);
    let call = |agent: &str, tool: &str, arguments: Value| {
        server.ok(&site.token(agent, "garden", Role::Worker), tool, arguments)
    };
    call(
        "ada",
        "graph_plan",
        json!({"nodes": [{"ref": "a", "summary": HOSTILE}]}),
    );
    tell(|agent, note| call(agent, "garden_add", note));
    crate::browser::run(&site, &server, "timeline");
}
