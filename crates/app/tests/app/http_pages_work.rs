//! The work pages: the picture, the board and the list of tasks, one task with its panel, and every act.

use serde_json::{Value, json};
use understory_model::Role;
use understory_testkit::{Backend, on_both};

use crate::browser;
use crate::http_pages::{HOSTILE, Stage};
use crate::shell::says;
use crate::web::AppState;

/// A plan with a task in each state: TASK-001 is done, 002 in ada's hand, 003 and 004 wait for it and for each
/// other, 005 is ready.
fn planned(backend: Backend) -> Stage {
    let stage = Stage::new(backend);
    let plan = json!({"nodes": [
        {"ref": "api", "summary": "Write the API"},
        {"ref": "store", "summary": "Move the store", "depends_on": ["api"], "properties": {"priority": 2}},
        {"ref": "load", "summary": "Repeat the load test", "depends_on": ["store"]},
        {"ref": "launch", "summary": "Launch", "depends_on": ["load"]},
        {"ref": "guide", "summary": "Translate the guide"},
    ]});
    stage.as_agent("ada", "graph_plan", plan);
    let done = json!({"node_id": "TASK-001", "resolved": true, "add_evidence": [{"type": "git", "ref": "0c77d1e"}]});
    let claim = json!({"node_id": "TASK-002", "claim": true});
    stage.as_agent("ada", "graph_update", json!({"updates": [done, claim]}));
    stage
}

/// Does an act that must succeed; its answer.
fn acted(stage: &Stage, act: &str, fields: &str) -> Value {
    let answer = stage.act(act, fields);
    assert_eq!(answer.status, 200, "{act} {fields}: {}", answer.body);
    answer.json()
}

/// Does what undoes an act.
fn undone(stage: &Stage, said: &Value) {
    let undo = &said["undo"];
    let fields = undo["fields"].as_array().unwrap().iter();
    let fields: Vec<String> = fields
        .map(|pair| {
            format!(
                "{}={}",
                pair[0].as_str().unwrap(),
                pair[1].as_str().unwrap().replace(' ', "+")
            )
        })
        .collect();
    acted(stage, undo["act"].as_str().unwrap(), &fields.join("&"));
}

fn ids(tasks: &Value) -> Vec<&str> {
    tasks
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["id"].as_str().unwrap())
        .collect()
}

fn task(stage: &Stage, id: &str) -> Value {
    stage.data(&format!("work/{id}.json"))
}

fn status(stage: &Stage, id: &str) -> String {
    task(stage, id)["task"]["state"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[on_both]
fn the_picture_shows_what_comes_before_what(backend: Backend) {
    let stage = planned(backend);
    let shown = stage.get("work").body;
    says(
        &shown,
        &[
            "1 ready, 1 in hand, 2 wait, 1 done",
            "id=\"node-TASK-002\"",
            "class=\"node done\"",
            "ada · ",
            "after 1",
            "ready · first",
            "data-before=\"TASK-002\"",
            "data-after=\"TASK-004\"",
            "class=\"line half\"",
            "Show as list",
        ],
    );
    let picture = &stage.data("work.json")["picture"];
    assert_eq!(
        ids(&picture["tasks"]),
        ["TASK-001", "TASK-002", "TASK-003", "TASK-004", "TASK-005"]
    );
    let edges = json!([
        {"first": "TASK-001", "then": "TASK-002", "satisfied": true},
        {"first": "TASK-002", "then": "TASK-003", "satisfied": false},
        {"first": "TASK-003", "then": "TASK-004", "satisfied": false},
    ]);
    assert_eq!(picture["edges"], edges);
    assert_eq!(picture["tasks"][1]["unblocks"], 2, "{picture}");
    assert_eq!(
        picture["tasks"][2]["waits_for"][0]["by"], "ada",
        "{picture}"
    );
    // What is chosen has its lines in ink, and its panel.
    let chosen = stage.get("work?peek=TASK-002").body;
    says(
        &chosen,
        &[
            "node held is-chosen",
            "class=\"line ink\"",
            "id=\"side\"",
            "priority 2",
            "unblocks 2",
            "Take over",
        ],
    );
    assert_eq!(
        stage.data("work.json?peek=TASK-002")["peek"]["task"]["id"],
        "TASK-002"
    );
    assert_eq!(
        stage.get("work?peek=TASK-999").status,
        200,
        "a panel of nothing is left out"
    );
    assert_eq!(stage.get("work/TASK-999").status, 404);
    assert_eq!(stage.get("work?around=TASK-999").status, 404);
    // Who holds it without a sign of life, is silent; who asked the person, waits for them.
    let asks = json!({"to": ["ann"], "title": "Which store?", "body": "Which one?"});
    stage.as_agent("ada", "post_message", asks);
    says(&stage.get("work").body, &["node asks", "ada waits for you"]);
}

#[on_both]
fn parts_come_before_what_they_are_part_of(backend: Backend) {
    let stage = Stage::new(backend);
    let plan = json!({"nodes": [{"ref": "a", "summary": "Whole"}, {"ref": "b", "summary": "Part", "parent_ref": "a"}]});
    stage.as_agent("ada", "graph_plan", plan);
    let picture = &stage.data("work.json")["picture"];
    assert_eq!(
        picture["edges"][0],
        json!({"first": "TASK-002", "then": "TASK-001", "satisfied": false})
    );
    assert_eq!(picture["tasks"][0]["waits"], 1);
    assert_eq!(picture["tasks"][1]["unblocks"], 1);
    says(
        &stage.get("work/TASK-001").body,
        &["Parts", "work/TASK-002"],
    );
}

#[on_both]
fn the_board_and_the_list_show_the_same_tasks(backend: Backend) {
    let stage = planned(backend);
    let board = stage.data("work.json?view=board");
    for (lane, tasks) in [
        ("ready", vec!["TASK-005"]),
        ("in_hand", vec!["TASK-002"]),
        ("waits", vec!["TASK-004", "TASK-003"]),
        ("done", vec!["TASK-001"]),
    ] {
        let mut found = ids(&board[lane]["tasks"]);
        found.sort_unstable();
        let mut wanted = tasks;
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{board}");
        assert_eq!(board[lane]["total"], found.len(), "{board}");
    }
    let shown = stage.get("work?view=board").body;
    says(
        &shown,
        &[
            "Waits for others",
            "Move the store",
            ", <bdi>ada</bdi>",
            "aria-label=\"Take TASK-005\"",
        ],
    );
    let list = |query: &str| stage.data(&format!("work.json?view=list{query}"));
    assert_eq!(list("")["tasks"].as_array().unwrap().len(), 5);
    assert_eq!(ids(&list("&state=ready")["tasks"]), ["TASK-005"]);
    assert_eq!(
        ids(&list("&state=in_hand&text=STORE")["tasks"]),
        ["TASK-002"]
    );
    assert_eq!(ids(&list("&state=in_hand&text=guide")["tasks"]), [""; 0]);
    assert_eq!(ids(&list("&text=load")["tasks"]), ["TASK-003"]);
    assert_eq!(ids(&list("&text=load&state=done")["tasks"]), [""; 0]);
    assert_eq!(ids(&list("&sort=recent")["tasks"])[0], "TASK-002");
    says(
        &stage.get("work?view=list&text=nothing").body,
        &["No task matches."],
    );
    says(
        &stage.get("work?view=odd&rows=-3&steps=x&lane=y").body,
        &["id=\"graph\""],
    );
}

#[on_both]
fn a_task_tells_what_is_around_it(backend: Backend) {
    let stage = planned(backend);
    let said = stage.as_agent(
        "bob",
        "garden_add",
        json!({"type": "Note", "description": "SQLite has one writer"}),
    );
    let plan = json!({"nodes": [{"ref": "n", "summary": "Choose", "depends_on": ["TASK-001"]}], "caused_by": said["item"]["uuid"]});
    stage.as_agent("ada", "graph_plan", plan);
    let note = json!({"workspace": "garden", "target": "TASK-006", "content": "Forty writers, see TASK-002"});
    stage.as_agent("bob", "branchmind_notes_commit", note);
    let card = json!({"workspace": "garden", "target": "TASK-006", "card": {"id": "h1", "type": "hypothesis", "title": "One writer is the limit"}});
    stage.as_agent("bob", "branchmind_think_card", card);
    let shown = stage.get("work/TASK-006").body;
    says(
        &shown,
        &[
            "After",
            "Write the API",
            "Because",
            "SQLite has one writer",
            "Forty writers, see ",
            "/garden/go/TASK-002",
            "One writer is the limit",
            "made it",
            "Comment",
            "Take it",
        ],
    );
    let data = task(&stage, "TASK-006");
    assert_eq!(data["notes"][0]["agent"], "bob", "{data}");
    assert_eq!(data["cards"]["cards"][0]["id"], "h1", "{data}");
    says(
        &stage.get("work/TASK-001").body,
        &["Evidence", "0c77d1e", "Before", "finished it"],
    );
    // The root is the goal: it has a page, but is no task to take.
    let root = stage.get("work/PLAN-001");
    assert_eq!(root.status, 200);
    assert!(!root.body.contains("Take it"), "{}", root.body);
}

#[on_both]
fn every_act_can_be_undone(backend: Backend) {
    let stage = planned(backend);
    let said = acted(&stage, "claim", "node=TASK-005");
    assert_eq!(status(&stage, "TASK-005"), "in_hand");
    undone(&stage, &said);
    assert_eq!(status(&stage, "TASK-005"), "ready");

    let said = acted(&stage, "take_over", "node=TASK-002&from=ada");
    assert_eq!(task(&stage, "TASK-002")["task"]["claim"]["by"], "ann");
    says(&said.to_string(), &["ada had it"]);
    undone(&stage, &said);

    let said = acted(&stage, "prioritise", "node=TASK-005&priority=7.5&was=0");
    assert_eq!(task(&stage, "TASK-005")["task"]["priority"], 7.5);
    undone(&stage, &said);
    assert_eq!(task(&stage, "TASK-005")["task"]["priority"], 0.0);

    let said = acted(
        &stage,
        "rename",
        "node=TASK-005&summary=Translate+it&was=Translate+the+guide",
    );
    assert_eq!(
        task(&stage, "TASK-005")["context"]["node"]["summary"],
        "Translate it"
    );
    undone(&stage, &said);
    assert_eq!(
        task(&stage, "TASK-005")["context"]["node"]["summary"],
        "Translate the guide"
    );

    let said = acted(&stage, "depend", "node=TASK-005&first=TASK-002");
    assert_eq!(status(&stage, "TASK-005"), "waits");
    undone(&stage, &said);
    assert_eq!(status(&stage, "TASK-005"), "ready");

    let said = acted(&stage, "move", "node=TASK-005&parent=TASK-004&was=PLAN-001");
    assert_eq!(
        task(&stage, "TASK-005")["context"]["node"]["parent"],
        "TASK-004"
    );
    undone(&stage, &said);
    assert_eq!(
        task(&stage, "TASK-005")["context"]["node"]["parent"],
        "PLAN-001"
    );

    let said = acted(&stage, "resolve", "node=TASK-005&evidence=test:212+pass");
    let data = task(&stage, "TASK-005");
    assert_eq!(
        data["context"]["node"]["evidence"][0]["type"], "test",
        "{data}"
    );
    undone(&stage, &said);
    assert_eq!(status(&stage, "TASK-005"), "ready");

    let said = acted(&stage, "drop", "node=TASK-005&reason=not+now");
    assert_eq!(status(&stage, "TASK-005"), "dropped");
    undone(&stage, &said);
    assert_eq!(status(&stage, "TASK-005"), "ready");

    let said = acted(&stage, "plan", "summary=Draw&after=TASK-005&priority=3");
    assert_eq!(
        task(&stage, "TASK-006")["task"]["waits_for"][0]["id"],
        "TASK-005"
    );
    undone(&stage, &said);
    assert_eq!(status(&stage, "TASK-006"), "dropped");

    acted(&stage, "note", "node=TASK-005&body=Ask+eve");
    assert_eq!(task(&stage, "TASK-005")["notes"][0]["content"], "Ask eve");
}

#[on_both]
fn a_refusal_says_what_to_do(backend: Backend) {
    let stage = planned(backend);
    let words = |act: &str, fields: &str| {
        let refused = stage.act(act, fields);
        assert!(refused.status >= 400, "{act} {fields}: {}", refused.body);
        refused.json()["error"]["message"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let circle = "That would be a circle: TASK-002 → TASK-004 → TASK-003 → TASK-002.";
    assert_eq!(words("depend", "node=TASK-002&first=TASK-004"), circle);
    says(
        &words("depend", "node=TASK-002&first=TASK-999"),
        &["there is no task TASK-999"],
    );
    says(
        &words("depend", "node=TASK-002&first=TASK-001"),
        &["already"],
    );
    says(
        &words("claim", "node=TASK-002"),
        &["ada has TASK-002, for "],
    );
    says(
        &words("prioritise", "node=TASK-002&priority=high"),
        &["must be a number"],
    );
    // Somebody else changed it since the form was made.
    let rev = task(&stage, "TASK-005")["context"]["node"]["rev"]
        .as_i64()
        .unwrap();
    let change = json!({"updates": [{"node_id": "TASK-005", "properties": {"priority": 1}}]});
    stage.as_agent("bob", "graph_update", change);
    let changed = words("prioritise", &format!("node=TASK-005&priority=9&rev={rev}"));
    says(
        &changed,
        &["bob changed it ", " ago. Nothing of yours was written."],
    );
    assert_eq!(task(&stage, "TASK-005")["task"]["priority"], 1.0);
}

#[on_both]
fn what_others_wrote_is_inert_in_the_picture(backend: Backend) {
    let stage = Stage::new(backend);
    let long = "W".repeat(2_000);
    let plan = json!({"nodes": [
        {"ref": "a", "summary": HOSTILE}, {"ref": "b", "summary": long, "depends_on": ["a"]},
        {"ref": "c", "summary": "שלום עולם", "depends_on": ["a"]}, {"ref": "d", "summary": "🐢🐢🐢", "depends_on": ["b", "c"]},
    ]});
    stage.as_agent("ada", "graph_plan", plan);
    stage.as_agent(
        "ada",
        "branchmind_notes_commit",
        json!({"workspace": "garden", "target": "TASK-001", "content": HOSTILE}),
    );
    acted(
        &stage,
        "resolve",
        "node=TASK-001&evidence=%3Cscript%3Ealert(1)%3C/script%3E",
    );
    for page in [
        "work",
        "work?peek=TASK-001",
        "work?view=board",
        "work?view=list",
        "work/TASK-001",
        "work?around=TASK-001",
    ] {
        let shown = stage.get(page).body;
        assert!(!shown.contains("<script>alert"), "{page}");
        assert!(!shown.contains("<img"), "{page}");
        assert!(!shown.contains('\u{202E}'), "{page}");
    }
    says(
        &stage.get("work").body,
        &["direction=\"rtl\"", "U+202E", "WWW…"],
    );
}

#[on_both]
fn another_project_is_one_click_away(backend: Backend) {
    let stage = planned(backend);
    let alone = stage.get("work").body;
    assert!(
        !alone.contains("id=\"projects\""),
        "one project needs no choice"
    );
    stage.as_agent(
        "ada",
        "graph_open",
        json!({"project": "site", "goal": "Draw the site"}),
    );
    let plan = json!({"project": "site", "nodes": [{"ref": "a", "summary": "Draw"}]});
    stage.as_agent("ada", "graph_plan", plan);
    says(
        &stage.get("work").body,
        &[
            "id=\"projects\"",
            "/garden/work?project=site",
            "Draw the site",
        ],
    );
    let site = stage.data("work.json?project=site");
    assert_eq!(site["counts"]["ready"], 1, "{site}");
    assert_eq!(ids(&site["picture"]["tasks"]), ["TASK-006"]);
    says(
        &stage.get("work?project=site&view=board").body,
        &["project=site", "Take TASK-006"],
    );
    assert_eq!(stage.get("work?project=nothing").status, 404);
}

#[on_both]
fn a_large_plan_is_shown_around_a_focus(backend: Backend) {
    let stage = Stage::new(backend);
    // One thing for which forty wait, each of them with one more behind it, and 200 that nothing joins.
    let mut nodes = vec![json!({"ref": "hub", "summary": "Move the store"})];
    for n in 0..40 {
        nodes.push(
            json!({"ref": format!("a{n}"), "summary": format!("After {n}"), "depends_on": ["hub"]}),
        );
        nodes.push(json!({"ref": format!("b{n}"), "summary": format!("Then {n}"), "depends_on": [format!("a{n}")]}));
    }
    nodes
        .extend((0..200).map(|n| json!({"ref": format!("c{n}"), "summary": format!("Alone {n}")})));
    for some in nodes.chunks(500) {
        stage.as_agent("ada", "graph_plan", json!({"nodes": some}));
    }
    let data = stage.data("work.json");
    let picture = &data["picture"];
    assert_eq!(picture["focus"], "TASK-001", "what unblocks most");
    assert_eq!(picture["steps"], 2);
    assert_eq!(
        picture["folds"],
        json!([{"step": 1, "count": 32}, {"step": 2, "count": 32}])
    );
    assert_eq!(picture["tasks"].as_array().unwrap().len(), 17);
    assert_eq!(data["unblocks_most"][0]["id"], "TASK-001");
    assert_eq!(data["unblocks_most"][0]["unblocks"], 80);
    let shown = stage.get("work").body;
    says(
        &shown,
        &[
            "Unblocks most",
            "32 more right after",
            "32 after those",
            "Two steps around TASK-001",
            "17 of 281 tasks.",
        ],
    );
    says(&shown, &["work?around=TASK-002\"", "work?peek=TASK-001\""]);
    assert!(shown.len() < 150_000, "{}", shown.len());
    let one = stage.data("work.json?around=TASK-003&steps=1");
    assert_eq!(
        ids(&one["picture"]["tasks"]),
        ["TASK-003", "TASK-002"],
        "{one}"
    );
    let whole = stage.data("work.json?steps=all");
    assert!(whole["picture"]["tasks"].as_array().unwrap().len() <= 200);
    let board = stage.data("work.json?view=board");
    assert_eq!(board["ready"]["tasks"].as_array().unwrap().len(), 50);
    assert_eq!(board["ready"]["total"], 201);
    let list = stage.data("work.json?view=list&state=ready");
    assert_eq!(
        (list["tasks"].as_array().unwrap().len(), &list["more"]),
        (100, &json!(true))
    );
    says(
        &stage.get("work?view=list&state=ready").body,
        &["Show 100 more", "rows=200"],
    );
    let more = stage.data("work.json?view=list&state=ready&rows=200");
    assert_eq!(more["tasks"].as_array().unwrap().len(), 200);
}

#[on_both]
fn a_person_walks_takes_and_moves(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    // The folder's own workspace, in which the agents of the script work, too.
    site.shell.ok(&[
        "call",
        "graph_open",
        r#"{"project": "default", "goal": "Sell"}"#,
    ]);
    let ada = site.token("ada", "garden", Role::Worker);
    let plan = json!({"nodes": [
        {"ref": "a", "summary": "Choose the store"}, {"ref": "b", "summary": "Move the store", "depends_on": ["a"]},
        {"ref": "c", "summary": "W".repeat(2_000), "depends_on": ["b"]}, {"ref": "d", "summary": "Translate the guide"},
    ]});
    server.ok(&ada, "graph_plan", plan);
    browser::run(&site, &server, "work");
}
