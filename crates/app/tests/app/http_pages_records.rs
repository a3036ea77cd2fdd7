//! The record pages: the tree, a record, its forms, its history, and two versions to choose from.

use serde_json::{Value, json};
use understory_testkit::{Backend, on_both};

use crate::browser;
use crate::http_pages::{HOSTILE, Stage};
use crate::shell::says;
use crate::web::AppState;

/// A record's fields as a form sends them.
fn fields(record: &Value, changed: &[(&str, &str)]) -> String {
    let data = &record["record"]["record"];
    let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
    let mut all = vec![
        ("record".to_owned(), text("id")),
        ("seen".to_owned(), record["record"]["version"].to_string()),
    ];
    for name in ["title", "summary", "body"] {
        all.push((format!("was_{name}"), text(name)));
    }
    for (name, value) in changed {
        all.push(((*name).to_owned(), (*value).to_owned()));
    }
    form(&all)
}

fn form(fields: &[(String, String)]) -> String {
    let one =
        |(name, value): &(String, String)| format!("{name}={}", understory_page::segment(value));
    fields.iter().map(one).collect::<Vec<_>>().join("&")
}

/// A page as it is read, without its markup.
pub fn read(stage: &Stage, page: &str) -> String {
    let shown = stage.get(page);
    assert_eq!(shown.status, 200, "{page}: {}", shown.body);
    let mut inside = false;
    let mut text = String::new();
    for sign in shown.body.chars() {
        match sign {
            '<' => inside = true,
            '>' => inside = false,
            sign if !inside => text.push(sign),
            _ => {}
        }
    }
    text
}

/// What undoes an act, as the page sends it.
fn undo(stage: &Stage, done: &Value) -> Value {
    let act = done["undo"]["act"].as_str().unwrap();
    let fields = done["undo"]["fields"].as_array().unwrap();
    let pairs: Vec<(String, String)> = fields
        .iter()
        .map(|pair| (text(&pair[0]), text(&pair[1])))
        .collect();
    ok(stage, act, &form(&pairs))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn ok(stage: &Stage, act: &str, fields: &str) -> Value {
    let done = stage.act(act, fields);
    assert_eq!(done.status, 200, "{act} {fields}: {}", done.body);
    done.json()
}

/// Some records, made by ada.
fn thought(backend: Backend) -> Stage {
    let stage = Stage::new(backend);
    let record = |title: &str, parent: Option<&str>, state: &str| {
        let asked = json!({"title": title, "type": "question", "summary": "In short.", "body": "First words. See R001.",
            "parent_id": parent, "state": state, "reason": (state == "LATER").then_some("not now")});
        stage.as_agent("ada", "create_record", asked);
    };
    record("How do we rotate keys?", None, "OPEN");
    record("How long is an old key accepted?", Some("R001"), "OPEN");
    record("Who may rotate?", Some("R001"), "LATER");
    record(HOSTILE, None, "OPEN");
    stage
}

const TITLE: &str = "How long is an old key accepted?";
const OLD_KEYS: &str = "Old keys live 65 minutes";

/// bob changes R002 without having seen what ada wrote meanwhile.
fn contested(stage: &Stage, now: &str) {
    stage.as_agent("bob", "activate", json!({"id": "R002"}));
    let two = json!({"id": "R002", "body": now});
    stage.as_agent("ada", "update_record", two);
    let other = json!({"id": "R002", "title": "Old keys live 65 minutes", "body": "Accepted for 65 minutes."});
    let refused = stage.as_agent("bob", "update_record", other);
    assert_eq!(refused["conflict"]["by"], "ada", "{refused}");
}

#[on_both]
fn the_tree_opens_one_level_and_is_filtered(backend: Backend) {
    let stage = thought(backend);
    let all = stage.get("records").body;
    says(
        &all,
        &[
            "4 records · 3 open · 1 later",
            "How do we rotate keys?",
            "role=\"tree\"",
            "U+202E",
        ],
    );
    let roots = stage.data("records.json")["tree"]["roots"].clone();
    let ids: Vec<&str> = roots
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["R001", "R004"]);
    assert!(!all.contains("<script>alert"));
    let one = stage.get("records/R001").body;
    says(
        &one,
        &[
            "Who may rotate?",
            "How long is an old key accepted?",
            "aria-expanded=\"true\"",
            "Below it",
        ],
    );
    let later = stage.data("records.json?state=LATER");
    assert_eq!(later["tree"]["found"][0]["id"], "R003", "{later}");
    assert_eq!(later["tree"]["total"], 1);
    let found = stage.data("records.json?text=accepted");
    assert_eq!(found["tree"]["found"][0]["id"], "R002", "{found}");
    says(
        &stage.get("records?text=nowhere").body,
        &["No record matches.", "Take the filter off"],
    );
    for missing in [
        "records/R999",
        "records/R999/history",
        "records/R999/settle",
        "records/R001/else",
        "records/TASK-001",
    ] {
        assert_eq!(stage.get(missing).status, 404, "{missing}");
    }
}

#[on_both]
fn no_records_are_told_in_words(backend: Backend) {
    let stage = Stage::new(backend);
    says(
        &stage.get("records").body,
        &["Nothing is being thought about."],
    );
    says(
        &stage.get("records?act=new").body,
        &["Body, which must explain itself"],
    );
    assert_eq!(stage.get("records/R001").status, 404);
    ok(
        &stage,
        "record-new",
        "title=First&type=question&summary=&body=",
    );
    says(&stage.get("records").body, &["1 record · 1 open", "First"]);
}

#[on_both]
fn to_look_at_a_record_activates_nothing(backend: Backend) {
    let stage = thought(backend);
    for view in [
        "records/R002",
        "records/R002/history",
        "records/R002/settle",
        "records/R002?act=edit",
    ] {
        assert_eq!(stage.get(view).status, 200, "{view}");
    }
    let data = stage.data("records/R002.json");
    assert_eq!(
        data["record"]["record"]["title"],
        "How long is an old key accepted?"
    );
    assert_eq!(data["record"]["parent"]["id"], "R001");
    let sessions = data["sessions"]["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1, "{data}");
    assert_eq!(sessions[0]["agent"], "ada");
    assert!(sessions[0]["since"].is_string(), "{data}");
    says(
        &stage.get("records/R002").body,
        &["In it now", "href=\"/garden/go/R001\"", "made it"],
    );
    let names =
        json!({"type": "note", "title": "Names it", "summary": "", "body": "As @r001 says."});
    stage.as_agent("ada", "create_record", names);
    says(&stage.get("records/R001").body, &["Mentioned in"]);
    // ada only made it and gave it on; of who looked at it nobody is warned.
    let seen = stage.as_agent("bob", "activate", json!({"id": "R002"}));
    assert_eq!(seen["conflict"], Value::Null, "{seen}");
}

#[on_both]
fn an_edit_is_written_over_what_was_shown_and_undone(backend: Backend) {
    let stage = thought(backend);
    let shown = stage.data("records/R002.json");
    let changed = [
        ("title", "How long is an old key good?"),
        ("summary", "In short."),
        ("body", "First words.\r\nSecond."),
    ];
    let done = ok(&stage, "record-edit", &fields(&shown, &changed));
    let now = stage.data("records/R002.json");
    assert_eq!(now["record"]["record"]["body"], "First words.\nSecond.");
    assert_eq!(now["record"]["version"], 2);
    let change = &now["history"]["history"][0];
    assert_eq!(change["agent"], "ann");
    let names: Vec<&str> = change["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["field"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["body", "title"], "the summary stayed: {change}");
    says(
        &stage.get("records/R002/history").body,
        &[
            "<del>accepted?</del>",
            "<ins>good?</ins>",
            "version 2",
            "in force",
        ],
    );
    // Who edits on a page is not in the record from then on.
    assert_eq!(
        now["sessions"]["sessions"].as_array().unwrap().len(),
        1,
        "{now}"
    );
    undo(&stage, &done);
    let back = stage.data("records/R002.json");
    assert_eq!(
        back["record"]["record"]["title"],
        "How long is an old key accepted?"
    );
    assert_eq!(back["record"]["version"], 3);
    let nothing = stage.act("record-edit", &fields(&back, &[]));
    assert_eq!(nothing.status, 400, "{}", nothing.body);
    let ahead = stage.act("record-edit", "record=R002&seen=99&title=T");
    assert_eq!(ahead.status, 400, "{}", ahead.body);
    says(&ahead.body, &["versions 1 to 3"]);
}

#[on_both]
fn what_somebody_changed_meanwhile_is_not_written_over(backend: Backend) {
    let stage = thought(backend);
    let shown = stage.data("records/R002.json");
    stage.as_agent(
        "ada",
        "update_record",
        json!({"id": "R002", "body": "Accepted for two hours."}),
    );
    let refused = stage.act(
        "record-edit",
        &fields(&shown, &[("body", "Accepted for an hour.")]),
    );
    assert_eq!(refused.status, 409, "{}", refused.body);
    let error = &refused.json()["error"];
    says(
        &error["message"].to_string(),
        &["ada changed it meanwhile. Nothing of yours was written."],
    );
    assert_eq!(error["details"]["place"], "records/R002/settle");
    let now = stage.data("records/R002/settle.json");
    assert_eq!(now["record"]["record"]["body"], "Accepted for two hours.");
    assert_eq!(
        now["view"]["refused"]["proposed"],
        json!({"body": "Accepted for an hour."})
    );
    assert_eq!(now["view"]["base"]["body"], "First words. See R001.");
    assert_eq!(now["view"]["in_force_by"], "ada");
    says(
        &read(&stage, "records/R002/settle"),
        &[
            "Nothing of yours was written over it",
            "Keep ada's",
            "Take ann's",
        ],
    );
    // The state is guarded alike.
    let state = stage.data("records/R003.json");
    stage.as_agent(
        "ada",
        "transition",
        json!({"id": "R003", "to_state": "OPEN"}),
    );
    let refused = stage.act(
        "record-state",
        &(fields(&state, &[]) + "&state=DISCARDED&reason=old"),
    );
    assert_eq!(refused.status, 409, "{}", refused.body);
    says(&refused.body, &["ada changed it meanwhile"]);
    assert_eq!(
        stage.data("records/R003.json")["record"]["record"]["state"],
        "OPEN"
    );
}

#[on_both]
fn two_versions_are_settled_by_choosing_or_writing(backend: Backend) {
    let stage = thought(backend);
    let third = "Accepted for 90 minutes.";
    for (choice, now, ends) in [
        (
            "keep",
            "Accepted for two hours.",
            (TITLE, "Accepted for two hours."),
        ),
        (
            "take",
            "Accepted for 2 hours.",
            (OLD_KEYS, "Accepted for 65 minutes."),
        ),
        ("write", "Accepted for 120 minutes.", (TITLE, third)),
    ] {
        contested(&stage, now);
        let open = stage.data("records.json");
        assert_eq!(open["conflicts"][0]["record"], "R002", "{open}");
        assert_eq!(open["conflicts"][0]["agent"], "bob");
        let needs = stage.data("now.json")["needs_you"].clone();
        assert_eq!(needs[0]["refused"]["record"], "R002", "{needs}");
        let peek = format!("now?peek={}", text(&needs[0]["refused"]["item"]));
        says(
            &stage.get(&peek).body,
            &["wrote different versions of one record", "Compare the two"],
        );
        let shown = stage.data("records/R002/settle.json");
        let page = read(&stage, "records/R002/settle");
        says(
            &page,
            &[
                "ada's version, in force",
                "bob's version, kept aside",
                "Both began from",
                "Tell ada and bob",
                "two versions",
            ],
        );
        let refused = &shown["view"]["refused"];
        let proposed = refused["proposed"].to_string();
        let cause = text(&refused["item"]);
        let body = if choice == "write" { third } else { now };
        let told = [
            ("choice", choice),
            ("caused_by", &cause),
            ("proposed", &proposed),
            ("body", body),
            ("tell", "[\"ada\",\"bob\"]"),
        ];
        let done = ok(&stage, "record-settle", &fields(&shown, &told));
        let now = stage.data("records/R002.json");
        let record = &now["record"]["record"];
        assert_eq!(
            (text(&record["title"]), text(&record["body"])),
            (ends.0.to_owned(), ends.1.to_owned()),
            "{choice}"
        );
        assert_eq!(now["conflicts"], json!([]), "{choice}: {now}");
        assert_eq!(
            stage.data("records.json")["conflicts"],
            json!([]),
            "{choice}"
        );
        says(
            &stage.get("records/R002/settle").body,
            &["There is one version."],
        );
        if choice != "keep" {
            undo(&stage, &done);
        }
        let back = stage.data("records/R002.json");
        assert_eq!(
            back["record"]["record"]["title"], "How long is an old key accepted?",
            "{choice}"
        );
        assert_eq!(
            back["conflicts"],
            json!([]),
            "what is undone is not asked again"
        );
        stage.as_agent("ada", "activate", json!({"id": "R002", "override": true}));
    }
    let threads = stage.as_agent("bob", "list_threads", json!({}));
    assert_eq!(threads["threads"][0]["last_seq"], 3, "{threads}");
    assert!(
        threads.to_string().contains("R002: two versions"),
        "{threads}"
    );
}

#[on_both]
fn who_was_refused_settles_it_by_writing_again(backend: Backend) {
    let stage = thought(backend);
    contested(&stage, "Accepted for two hours.");
    stage.as_agent("bob", "activate", json!({"id": "R002", "override": true}));
    assert_eq!(
        stage.data("records.json")["conflicts"]
            .as_array()
            .unwrap()
            .len(),
        1,
        "to look is not to settle"
    );
    stage.as_agent(
        "bob",
        "update_record",
        json!({"id": "R002", "body": "Accepted for 65 minutes, says bob."}),
    );
    assert_eq!(stage.data("records.json")["conflicts"], json!([]));
    says(
        &read(&stage, "records/R002/history"),
        &["was refused: it had moved on", "This is settled."],
    );
}

#[on_both]
fn records_are_added_moved_and_given_another_state(backend: Backend) {
    let stage = thought(backend);
    let done = ok(
        &stage,
        "record-new",
        "title=Clocks&type=note&summary=&body=They+drift.&parent=R002&seen=1&key=k1",
    );
    // The same form twice adds it once.
    ok(
        &stage,
        "record-new",
        "title=Clocks&type=note&summary=&body=They+drift.&parent=R002&seen=1&key=k1",
    );
    let new = stage.data("records/R005.json");
    assert_eq!(new["record"]["parent"]["id"], "R002", "{new}");
    assert_eq!(stage.get("records/R006").status, 404);
    let moved = ok(
        &stage,
        "record-move",
        "record=R005&seen=1&parent=R003&was_parent=R002",
    );
    assert_eq!(
        stage.data("records/R005.json")["record"]["parent"]["id"],
        "R003"
    );
    undo(&stage, &moved);
    assert_eq!(
        stage.data("records/R005.json")["record"]["parent"]["id"],
        "R002"
    );
    let circle = stage.act(
        "record-move",
        "record=R002&seen=1&parent=R005&was_parent=R001",
    );
    says(&circle.body, &["R005 is below R002"]);
    let top = ok(
        &stage,
        "record-move",
        "record=R005&seen=3&parent=&was_parent=R002",
    );
    assert_eq!(
        stage.data("records/R005.json")["record"]["parent"],
        Value::Null
    );
    undo(&stage, &top);
    let state = "record=R002&seen=1&state=RESOLVED&was_state=OPEN&resolved_by=R005";
    let resolved = ok(&stage, "record-state", state);
    says(&stage.get("records/R002").body, &["resolved", "Clocks"]);
    undo(&stage, &resolved);
    assert_eq!(
        stage.data("records/R002.json")["record"]["record"]["state"],
        "OPEN"
    );
    let later = stage.act(
        "record-state",
        "record=R002&seen=3&state=LATER&was_state=OPEN",
    );
    says(&later.body, &["reason"]);
    let open = "record=R003&seen=1&state=OPEN&was_state=LATER&was_reason=not+now";
    let opened = ok(&stage, "record-state", open);
    undo(&stage, &opened);
    assert_eq!(
        stage.data("records/R003.json")["record"]["record"]["reason"],
        "not now"
    );
    // What was added by mistake is given up.
    ok(
        &stage,
        "record-state",
        "record=R005&seen=5&state=LATER&was_state=OPEN&reason=r",
    );
    assert_eq!(done["undo"]["act"], "record-state");
    let root = ok(
        &stage,
        "record-new",
        "title=Root&type=question&summary=&body=",
    );
    undo(&stage, &root);
    assert_eq!(
        stage.data("records/R006.json")["record"]["record"]["state"],
        "DISCARDED"
    );
}

#[on_both]
fn many_records_are_shown_in_part(backend: Backend) {
    let stage = Stage::new(backend);
    let record = |n: usize| {
        json!({"ref": format!("r{n}"), "type": "note", "title": format!("Thought {n}"), "summary": "", "body": "b",
        "parent_id": (n > 0 && n <= 130).then_some("r0")})
    };
    let records: Vec<Value> = (0..300).map(record).collect();
    for some in records.chunks(150) {
        stage.as_agent("ada", "create_records", json!({"records": some}));
    }
    let page = stage.get("records").body;
    assert_eq!(page.matches("role=\"treeitem\"").count(), 50);
    says(&page, &["50 more of 170"]);
    let one = stage.get("records/R001").body;
    assert_eq!(one.matches("role=\"treeitem\"").count(), 100);
    says(&one, &["50 more of 130", "Show 50 more"]);
    // One that no first page shows stands in its place all the same.
    says(&stage.get("records/R131").body, &["id=\"rec-R131\""]);
    let long =
        json!({"type": "note", "title": "Long", "summary": "", "body": "word ".repeat(2_000)});
    stage.as_agent("ada", "create_record", long);
    says(
        &stage.get("records/R301").body,
        &["Show all 10,000 characters"],
    );
    let found = stage.get("records?state=OPEN").body;
    assert_eq!(found.matches("<li id=\"rec-").count(), 100);
    says(&found, &["Show 100 more"]);
}

#[on_both]
fn a_person_settles_two_versions_in_a_browser(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    // The folder's own workspace, which the tokens below are for.
    site.shell.ok(&[
        "call",
        "graph_open",
        r#"{"project": "default", "goal": "Think"}"#,
    ]);
    let token = |agent: &str| site.token(agent, "garden", understory_model::Role::Worker);
    let make = |title: &str, parent: Option<&str>| {
        let asked = json!({"title": title, "type": "question", "summary": "", "body": "Accepted for an hour.", "parent_id": parent});
        server.ok(&token("ada"), "create_record", asked);
    };
    make(HOSTILE, None);
    make("How long is an old key accepted?", Some("R001"));
    make(&"W".repeat(900), Some("R001"));
    server.ok(&token("bob"), "activate", json!({"id": "R002"}));
    server.ok(
        &token("ada"),
        "update_record",
        json!({"id": "R002", "body": "Accepted for two hours."}),
    );
    server.ok(
        &token("bob"),
        "update_record",
        json!({"id": "R002", "body": "Accepted for 65 minutes."}),
    );
    browser::run(&site, &server, "records");
}
