//! The reasoning page: the lineage, two branches in pairs, conflicts, a thought, and the picture.

use serde_json::{Value, json};
use understory_model::Role;
use understory_testkit::{Backend, on_both};

use crate::browser;
use crate::http_pages::{HOSTILE, Stage};
use crate::http_pages_records::read;
use crate::shell::says;
use crate::web::AppState;

fn apply(branch: &str, ops: Value) -> (&'static str, Value) {
    (
        "branchmind_graph_apply",
        json!({"workspace": "garden", "branch": branch, "doc": "graph", "ops": ops}),
    )
}

/// Two branches that both changed one thought, and a third from the second.
fn story() -> Vec<(&'static str, Value)> {
    let node = |id: &str, kind: &str, title: &str, status: &str| json!({"op": "node_upsert", "id": id, "type": kind, "title": title, "status": status});
    let edge = |from: &str, rel: &str, to: &str| json!({"op": "edge_upsert", "from": from, "rel": rel, "to": to});
    let branch = |name: &str, from: &str| {
        (
            "branchmind_branch_create",
            json!({"workspace": "garden", "name": name, "from": from}),
        )
    };
    let note = json!({"workspace": "garden", "branch": "what-if", "content": "Clocks agree, says the test."});
    vec![
        apply(
            "main",
            json!([
                node("q1", "question", "Why do logins fail?", "open"),
                node("h1", "hypothesis", "The clock drifts", "open"),
                node("x", "note", HOSTILE, "open"),
                edge("h1", "about", "q1"),
                edge("x", HOSTILE_WORD, "q1")
            ]),
        ),
        branch("what-if", "main"),
        apply(
            "what-if",
            json!([{"op": "node_update", "id": "h1", "status": "refuted"}, node("h2", "hypothesis", "The key is rotated", "confirmed"),
            node("e1", "evidence", "Clocks agree to 40 ms.", "closed"), edge("h2", "supports", "q1"), edge("e1", "against", "h1")]),
        ),
        ("branchmind_notes_commit", note),
        apply(
            "main",
            json!([{"op": "node_update", "id": "h1", "title": "The clock drifts by hours"}, node("q2", "question", "Do we tell people?", "open")]),
        ),
        branch("deeper", "what-if"),
    ]
}

const HOSTILE_WORD: &str = "<img src=x onerror=alert(1)>";

fn thought(backend: Backend) -> Stage {
    let stage = Stage::new(backend);
    for (tool, asked) in story() {
        stage.as_agent("ada", tool, asked);
    }
    stage
}

fn merged(stage: &Stage) -> Value {
    let asked = json!({"workspace": "garden", "from": "what-if", "into": "main", "doc": "graph"});
    stage.as_agent("ada", "branchmind_graph_merge", asked)
}

fn title(slice: &Value, id: &str) -> Value {
    let nodes = slice["nodes"].as_array().unwrap();
    let node = nodes.iter().find(|node| node["id"] == id);
    node.map_or(Value::Null, |node| node["title"].clone())
}

#[on_both]
fn two_branches_stand_side_by_side_in_pairs(backend: Backend) {
    let stage = thought(backend);
    let page = stage.get("reasoning?left=main&right=what-if").body;
    assert!(
        !page.contains("<script>alert") && !page.contains("<img"),
        "{page}"
    );
    says(
        &read(&stage, "reasoning?left=main&right=what-if"),
        &[
            "3 branches",
            "not on main",
            "not on what-if",
            "only here",
            "changed here",
            "The clock drifts by hours",
            "U+202E",
            "what-if as a picture",
            "Notes only on what-if",
            "Clocks agree, says the test.",
            "Best next step",
            "Merge into main",
        ],
    );
    let data = stage.data("reasoning.json?left=main&right=what-if");
    assert_eq!(title(&data["left"], "h1"), "The clock drifts by hours");
    assert_eq!(title(&data["right"], "h1"), "The clock drifts");
    let line = data["lineage"].as_array().unwrap();
    let names: Vec<&str> = line
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["main", "what-if", "deeper"],
        "each after what it was made from"
    );
    // Two nodes, two edges and a changed node; of main a changed node and a new one.
    assert_eq!(
        (&line[1]["ahead"], &line[1]["behind"]),
        (&json!(5), &json!(2)),
        "{data}"
    );
    assert_eq!(line[1]["made_by"], "ada");
    assert_eq!(data["merge"]["thoughts"]["conflicts_created"], 1, "{data}");
    // Without being asked: the newest branch and what it was made from.
    let newest = stage.data("reasoning.json");
    assert_eq!(
        (&newest["left"]["branch"], &newest["right"]["branch"]),
        (&json!("what-if"), &json!("deeper"))
    );
    for missing in [
        "reasoning?right=nowhere",
        "reasoning?left=nowhere",
        "reasoning?peek=nothing",
        "reasoning/else",
    ] {
        assert_eq!(stage.get(missing).status, 404, "{missing}");
    }
}

#[on_both]
fn only_main_teaches(backend: Backend) {
    let stage = Stage::new(backend);
    says(
        &stage.get("reasoning").body,
        &["Only main.", "try a thought without touching what is known"],
    );
    assert_eq!(
        stage.act("branch-new", "name=what-if&from=main").status,
        200
    );
    says(&stage.get("reasoning").body, &["2 branches", "what-if"]);
    let again = stage.act("branch-new", "name=what-if&from=main");
    assert_eq!(again.status, 409, "{}", again.body);
}

#[on_both]
fn a_merge_takes_over_what_does_not_conflict_and_asks_for_the_rest(backend: Backend) {
    let stage = thought(backend);
    says(
        &read(&stage, "reasoning?right=what-if&act=merge"),
        &[
            "4 thoughts and edges come",
            "1 note",
            "1 thought both branches changed",
        ],
    );
    let done = stage.act("branch-merge", "from=what-if&into=main&doc=graph&key=m1");
    assert_eq!(done.status, 200, "{}", done.body);
    let data = stage.data("reasoning.json?left=main&right=what-if");
    assert_eq!(title(&data["left"], "h2"), "The key is rotated");
    assert_eq!(
        data["merge"]["notes"]["merged"], 0,
        "the note came over: {data}"
    );
    let conflict = &data["conflicts"][0];
    assert_eq!(
        (&conflict["into"], &conflict["key"]),
        (&json!("main"), &json!("h1"))
    );
    says(
        &read(&stage, "reasoning?right=what-if"),
        &[
            "1 conflict",
            "1 to settle first",
            "merge stopped: 1 conflict",
            "Both changed this one.",
            "It was: The clock drifts, open.",
            "Keep main's",
            "Take what-if's",
        ],
    );
}

#[on_both]
fn a_conflict_is_settled_by_choosing_and_undone(backend: Backend) {
    let stage = thought(backend);
    merged(&stage);
    let id = stage.data("reasoning.json")["conflicts"][0]["conflict_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let was = understory_page::segment(
        r#"{"op":"node_upsert","id":"h1","type":"hypothesis","title":"The clock drifts by hours","text":null,"status":"open"}"#,
    );
    let page = stage.get("reasoning?right=what-if").body;
    says(
        &page,
        &["&quot;title&quot;:&quot;The clock drifts by hours&quot;"],
    );
    let done = stage.act(
        "settle",
        &format!("conflict={id}&keep=use_from&branch=main&doc=graph&op={was}"),
    );
    assert_eq!(done.status, 200, "{}", done.body);
    let now = stage.data("reasoning.json?right=what-if");
    assert_eq!(title(&now["left"], "h1"), "The clock drifts");
    assert_eq!(now["conflicts"], json!([]));
    let undo = done.json()["undo"].clone();
    let fields = undo["fields"].as_array().unwrap().iter();
    let fields: Vec<String> = fields
        .map(|pair| {
            format!(
                "{}={}",
                pair[0].as_str().unwrap(),
                understory_page::segment(pair[1].as_str().unwrap())
            )
        })
        .collect();
    let back = stage.act(undo["act"].as_str().unwrap(), &fields.join("&"));
    assert_eq!(back.status, 200, "{}", back.body);
    assert_eq!(
        title(&stage.data("reasoning.json?right=what-if")["left"], "h1"),
        "The clock drifts by hours"
    );
}

#[on_both]
fn conflicts_of_every_branch_are_shown(backend: Backend) {
    let stage = thought(backend);
    for (branch, text) in [("deeper", "One"), ("what-if", "Other")] {
        let (tool, asked) = apply(
            branch,
            json!([{"op": "node_update", "id": "h2", "title": text}]),
        );
        stage.as_agent("ada", tool, asked);
    }
    let asked = json!({"workspace": "garden", "from": "deeper", "into": "what-if", "doc": "graph"});
    stage.as_agent("ada", "branchmind_graph_merge", asked);
    merged(&stage);
    let page = read(&stage, "reasoning?left=main&right=what-if");
    says(&page, &["2 conflicts", "deeper", "both changed 1 thought"]);
    let data = stage.data("reasoning.json");
    let into: Vec<&str> = data["conflicts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["into"].as_str().unwrap())
        .collect();
    assert_eq!(into, ["main", "what-if"], "the newest first");
}

#[on_both]
fn a_thought_opens_with_what_it_is_joined_to_and_its_history(backend: Backend) {
    let stage = thought(backend);
    let page = stage.get("reasoning?right=what-if&peek=h1&on=what-if").body;
    says(
        &page,
        &[
            "Joined to",
            "against",
            "about",
            "History",
            "changed it",
            "wrote it",
            "<del>open</del>",
            "<ins>refuted</ins>",
            "data-close",
        ],
    );
    let data = stage.data("reasoning.json?right=what-if&peek=h1&on=what-if");
    let past = data["beside"]["past"].as_array().unwrap();
    assert_eq!(past.len(), 2, "{data}");
    assert_eq!(
        (&past[0]["branch"], &past[1]["branch"]),
        (&json!("what-if"), &json!("main"))
    );
    assert_eq!(past[0]["agent"], "ada");
    // What main changed afterwards is not seen on the branch.
    assert!(!data["beside"].to_string().contains("by hours"), "{data}");
}

#[on_both]
fn the_picture_has_each_thought_once_and_a_list(backend: Backend) {
    let stage = thought(backend);
    let page = stage.get("reasoning?right=what-if&view=picture").body;
    says(
        &page,
        &[
            "class=\"thoughts\"",
            "Show as list",
            "Clocks agree to 40 ms.",
        ],
    );
    assert_eq!(
        page.matches("<foreignObject").count(),
        5,
        "q1, h1, x, h2, e1"
    );
    let many: Vec<Value> = (0..300).map(|n| json!({"op": "node_upsert", "id": format!("n{n}"), "type": "note", "title": format!("Thought {n}")})).collect();
    let (tool, asked) = apply("what-if", json!(many));
    stage.as_agent("ada", tool, asked);
    let page = stage.get("reasoning?right=what-if&view=picture").body;
    assert_eq!(page.matches("<foreignObject").count(), 200);
    let pairs = stage.get("reasoning?right=what-if").body;
    assert_eq!(pairs.matches("id=\"pair-").count(), 100);
    says(&pairs, &["Show 100 more", "200+ thoughts"]);
    says(
        &stage.get("reasoning?right=what-if&row=200").body,
        &["newest 200 thoughts of each branch"],
    );
}

#[on_both]
fn a_person_settles_branches_in_a_browser(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    // The folder's own workspace, which the tokens below are for.
    site.shell.ok(&[
        "call",
        "graph_open",
        r#"{"project": "default", "goal": "Think"}"#,
    ]);
    for (tool, asked) in story() {
        server.ok(&site.token("ada", "garden", Role::Worker), tool, asked);
    }
    browser::run(&site, &server, "reasoning");
}
