//! The pages of documents, and why: lines with who wrote them, versions, proposals, what is done with them,
//! and the path of causes.

use serde_json::{Value, json};
use understory_model::Role;
use understory_testkit::{Backend, on_both};

use crate::browser;
use crate::http_pages::{HOSTILE, Stage};
use crate::shell::says;
use crate::web::AppState;

const FOUR: &str =
    "# Goals\nWe store all in SQLite.\nNobody waits.\nA key is changed every year.\n";

/// Calls by agents.
fn agents(stage: &Stage) -> impl Fn(&str, &str, Value) -> Value {
    |agent, tool, arguments| stage.as_agent(agent, tool, arguments)
}

/// A document `shop` of three versions; the second because of a message in a thread.
fn shop(call: &impl Fn(&str, &str, Value) -> Value) -> Value {
    let made = call(
        "ada",
        "garden_artifact_create",
        json!({"label": "shop", "content": FOUR}),
    );
    let head = &made["artifact"]["head"];
    let said = json!({"to": ["ada", "ann"], "title": "Store", "body": "I ran it. SQLite has one writer, and we have forty. See shop:3"});
    let said = call("bob", "post_message", said);
    let message = call("ada", "garden_get", json!({"id": said["message_id"]}));
    let parts = message["item"]["fragments"].as_array().unwrap();
    let cited = parts
        .iter()
        .find(|part| part["content"].as_str().unwrap().contains("one writer"));
    let text = FOUR.replace("SQLite", "PostgreSQL");
    let commit = json!({"artifact": "shop", "based_on": head, "content": text,
        "references": [cited.unwrap()["id"]], "caused_by": said["message_id"]});
    let second = call("ada", "garden_artifact_commit", commit);
    let text = text.replace("Nobody waits.\n", "").replace("year", "month") + "The end.\n";
    let commit = json!({"artifact": "shop", "based_on": second["commit"], "content": text});
    call("bob", "garden_artifact_commit", commit)
}

fn propose(
    call: &impl Fn(&str, &str, Value) -> Value,
    agent: &str,
    line: i64,
    content: &str,
) -> String {
    let wish = json!({"artifact": "shop", "start": line, "end": line, "content": content, "reasoning": "shorter", "confidence": 0.86});
    let made = call(agent, "reader_propose", wish);
    made["proposal"]["id"].as_str().unwrap().to_owned()
}

fn lines(stage: &Stage) -> Vec<String> {
    let data = stage.data("artifacts/shop.json");
    let lines = data["lines"]["lines"].as_array().unwrap().iter();
    lines
        .map(|line| line["content"].as_str().unwrap().to_owned())
        .collect()
}

/// Does an act, and what the page offers to undo it.
fn done(stage: &Stage, act: &str, fields: &str) -> Value {
    let answer = stage.act(act, fields);
    assert_eq!(answer.status, 200, "{act} {fields}: {}", answer.body);
    answer.json()
}

fn undo(stage: &Stage, done: &Value) -> Value {
    let fields = done["undo"]["fields"].as_array().expect("it can be undone");
    let pair = |field: &Value| {
        let text = |at: usize| understory_page::segment(field[at].as_str().unwrap());
        format!("{}={}", text(0), text(1))
    };
    let fields: Vec<String> = fields.iter().map(pair).collect();
    self::done(
        stage,
        done["undo"]["act"].as_str().unwrap(),
        &fields.join("&"),
    )
}

#[on_both]
fn documents_are_listed_with_who_wrote_last_and_what_waits(backend: Backend) {
    let stage = Stage::filled(backend);
    shop(&agents(&stage));
    let list = stage.get("artifacts").body;
    says(
        &list,
        &[
            "2 documents",
            "4 lines · 3 versions · last by <bdi>bob</bdi>",
            "1 proposal",
        ],
    );
    let some = stage.get("artifacts?text=SHO").body;
    says(&some, &["artifacts/shop"]);
    assert!(!some.contains("artifacts/goals\""));
    says(&stage.get("artifacts?text=none").body, &["No label has"]);
    done(
        &stage,
        "document",
        "label=rules&content=Be+kind%0D%0AThe+end",
    );
    let made = stage.data("artifacts/rules.json");
    assert_eq!(made["lines"]["lines"][0]["content"], "Be kind");
    assert_eq!(stage.act("document", "label=rules").status, 409);
    let refused = stage.act("document", "label=no+spaces");
    says(&refused.json()["error"]["message"].to_string(), &["label"]);
}

#[on_both]
fn a_document_shows_its_lines_versions_and_differences(backend: Backend) {
    let stage = Stage::new(backend);
    let third = shop(&agents(&stage));
    let page = stage.get("artifacts/shop").body;
    says(
        &page,
        &[
            "4 lines, 3 versions, 2 authors",
            "Version 3 of 3",
            "artifacts/shop%3A2",
            "artifacts/shop@1\"",
            "data-hotkey=\"ArrowLeft\"",
        ],
    );
    let first = stage.get("artifacts/shop@1").body;
    says(
        &first,
        &[
            "SQLite",
            "Version 1 of 3",
            "is not in force",
            "Nobody waits.",
        ],
    );
    assert!(!first.contains("PostgreSQL"));
    // By the beginning of a commit too; what is not there says so.
    let commit = third["commit"].as_str().unwrap();
    says(
        &stage.get(&format!("artifacts/shop@{}", &commit[..8])).body,
        &["Version 3 of 3"],
    );
    for none in [
        "artifacts/shop@4",
        "artifacts/shop@0",
        "artifacts/shop@fffffff",
        "artifacts/nothing",
        "artifacts/shop:99",
        "artifacts/shop@1..9",
    ] {
        assert_eq!(stage.get(none).status, 404, "{none}");
    }
    let both = stage.get("artifacts/shop@1..3").body;
    says(
        &both,
        &[
            "4 lines differ",
            "<span class=\"word\">SQLite</span>",
            "<span class=\"word\">PostgreSQL</span>",
            "2 versions between them",
            "because bob said",
            "no cause was named",
        ]
        .map(|words| {
            if words == "because bob said" {
                "because <bdi>bob</bdi> said: "
            } else {
                words
            }
        }),
    );
    let data = stage.data("artifacts/shop@1..3.json");
    let told = json!({"old": {"line": 2, "content": "We store all in SQLite."}, "new": {"line": 2, "content": "We store all in PostgreSQL."}});
    assert_eq!(data["rows"][0], told, "{data}");
    assert_eq!(data["between"][1]["lines"], "line 2");
    assert_eq!(
        data["between"][0]["lines"],
        "lines 3 and 4, 1 line taken away"
    );
    says(&stage.get("artifacts/shop@3..3").body, &["no line differs"]);
}

#[on_both]
fn a_line_says_why_what_it_said_and_who_refers_to_it(backend: Backend) {
    let stage = Stage::new(backend);
    shop(&agents(&stage));
    let line = stage.data("artifacts/shop:2.json")["line"].clone();
    assert_eq!(
        line["before"][0]["content"], "We store all in SQLite.",
        "{line}"
    );
    assert_eq!(line["why"]["steps"][1]["actor"], "bob");
    assert_eq!(line["referred_to_by"], json!([]));
    let page = stage.get("artifacts/shop:2").body;
    says(
        &page,
        &[
            "SQLite has one writer, and we have forty.",
            "Open the whole path",
            "Before",
        ],
    );
    // A reference follows its line: what was line 3 is gone, and the line there now is another.
    assert_eq!(
        stage.data("artifacts/shop:3.json")["line"]["referred_to_by"],
        json!([])
    );
    let meant = stage.data("artifacts/shop:3@2.json")["line"].clone();
    assert_eq!(meant["referred_to_by"][0]["about"], "th_001", "{meant}");
    let said = stage.as_agent(
        "eve",
        "post_message",
        json!({"to": ["ann"], "title": "Again", "body": "See shop:2"}),
    );
    let more = json!({"thread_id": said["thread_id"], "body": "I mean shop:2"});
    stage.as_agent("eve", "post_message", more);
    let again = stage.data("artifacts/shop:2.json")["line"]["referred_to_by"].clone();
    assert_eq!(
        (&again[0]["actor"], &again[0]["times"]),
        (&json!("eve"), &json!(2))
    );
    says(
        &stage.get("artifacts/shop:1-2").body,
        &["shop:1-2", "Who refers to it"],
    );
}

#[on_both]
fn proposals_are_decided_where_they_stand(backend: Backend) {
    let stage = Stage::new(backend);
    shop(&agents(&stage));
    let one = propose(&agents(&stage), "ada", 2, "We store all in files.");
    let page = stage.get("artifacts/shop").body;
    says(
        &page,
        &[
            "86% sure",
            "<span class=\"word\">PostgreSQL</span>",
            "<span class=\"word\">files</span>",
            "shorter",
            "data-hotkey=\"a\"",
            "1 proposal",
        ],
    );
    let accepted = done(&stage, "decide", &format!("proposal={one}&accept=true"));
    assert_eq!(lines(&stage)[1], "We store all in files.");
    assert_eq!(stage.data("artifacts/shop.json")["proposals"], json!([]));
    undo(&stage, &accepted);
    assert_eq!(lines(&stage)[1], "We store all in PostgreSQL.");
    // The commit that restores names the one that it takes back.
    let commits = stage.as_agent(
        "ada",
        "garden_timeline",
        json!({"types": ["ArtifactDelta"], "limit": 2}),
    );
    assert_eq!(
        commits["items"][0]["caused_by"], commits["items"][1]["uuid"],
        "{commits}"
    );
    assert_eq!(commits["items"][0]["actor"], "ann");
    // Rejected, and open again.
    let two = propose(&agents(&stage), "ada", 3, "A key lives a month.");
    let rejected = done(&stage, "decide", &format!("proposal={two}&accept=false"));
    assert_eq!(stage.data("artifacts/shop.json")["proposals"], json!([]));
    undo(&stage, &rejected);
    assert_eq!(stage.data("artifacts/shop.json")["proposals"][0]["id"], two);
    // With other words; nothing takes the line away.
    let field = stage.get(&format!("artifacts/shop?edit={two}")).body;
    says(
        &field,
        &["A key lives a month.</textarea>", "name=\"edited\""],
    );
    let edited = done(
        &stage,
        "decide",
        &format!("proposal={two}&accept=true&edited=yes&content=A+key+lives%0D%0Aa+week."),
    );
    assert_eq!(lines(&stage)[2..4], ["A key lives", "a week."]);
    undo(&stage, &edited);
    let three = propose(&agents(&stage), "ada", 4, "The very end.");
    done(
        &stage,
        "decide",
        &format!("proposal={three}&accept=true&edited=yes&content="),
    );
    assert_eq!(lines(&stage).len(), 3);
}

#[on_both]
fn several_proposals_are_decided_at_once_and_undone_at_once(backend: Backend) {
    let stage = Stage::new(backend);
    shop(&agents(&stage));
    let before = lines(&stage);
    let ids = [
        propose(&agents(&stage), "ada", 1, "# Aims"),
        propose(&agents(&stage), "eve", 2, "All is in files."),
        propose(&agents(&stage), "ada", 4, "Finis."),
    ];
    let page = stage.get("artifacts/shop").body;
    says(
        &page,
        &[
            "1 of 3",
            "3 of 3",
            "Accept all 3",
            "form=\"chosen\"",
            "data-hotkey=\"n\"",
            "data-hotkey=\"p\"",
        ],
    );
    let fields: Vec<String> = ids.iter().map(|id| format!("proposal={id}")).collect();
    let fields = format!("{}&accept=true&key=k1", fields.join("&"));
    let accepted = done(&stage, "decide", &fields);
    says(
        &accepted["said"].to_string(),
        &["3 proposals are accepted."],
    );
    let after = lines(&stage);
    assert_eq!(
        after,
        [
            "# Aims",
            "All is in files.",
            "A key is changed every month.",
            "Finis."
        ]
    );
    // A retry of the same form does nothing more.
    assert_eq!(done(&stage, "decide", &fields)["said"], accepted["said"]);
    assert_eq!(lines(&stage), after);
    undo(&stage, &accepted);
    assert_eq!(lines(&stage), before);
    let refused = stage.act("decide", "accept=true");
    says(
        &refused.json()["error"]["message"].to_string(),
        &["choose one"],
    );
}

#[on_both]
fn a_person_proposes_and_takes_it_back(backend: Backend) {
    let stage = Stage::new(backend);
    shop(&agents(&stage));
    let field = stage.get("artifacts/shop?propose=2-3").body;
    says(
        &field,
        &[
            "other words for 2 lines",
            "We store all in PostgreSQL.\nA key is changed every month.</textarea>",
        ],
    );
    says(
        &stage.get("artifacts/shop?propose=3-2").body,
        &["New lines after line 2"],
    );
    says(
        &stage.get("artifacts/shop?propose=99-99").body,
        &["New lines after line 4"],
    );
    let proposed = done(
        &stage,
        "propose",
        "artifact=shop&start=2&end=2&content=Files.&reasoning=Fewer+parts",
    );
    let waiting = stage.data("artifacts/shop.json")["proposals"][0].clone();
    assert_eq!(
        (&waiting["proposed_by"], &waiting["content"]),
        (&json!("ann"), &json!("Files."))
    );
    says(
        &stage.get("artifacts/shop").body,
        &["You propose", "Take back"],
    );
    undo(&stage, &proposed);
    assert_eq!(stage.data("artifacts/shop.json")["proposals"], json!([]));
    let got = stage.as_agent("ada", "garden_get", json!({"id": waiting["id"]}));
    assert_eq!(
        got["proposal"].get("content"),
        None,
        "the words are gone: {got}"
    );
    assert_eq!(
        stage
            .act("propose", "artifact=shop&start=2&end=2&content=x")
            .status,
        400
    );
    // What was changed meanwhile cannot be accepted, and says so.
    let stale = propose(&agents(&stage), "ada", 2, "Files.");
    let other = propose(&agents(&stage), "eve", 2, "All is in files.");
    done(&stage, "decide", &format!("proposal={other}&accept=true"));
    says(
        &stage.get("artifacts/shop").body,
        &["The lines were changed since it was proposed"],
    );
    assert_eq!(
        stage
            .act("decide", &format!("proposal={stale}&accept=true"))
            .status,
        409
    );
}

#[on_both]
fn why_is_a_path_back_to_where_it_began(backend: Backend) {
    let stage = Stage::new(backend);
    shop(&agents(&stage));
    let page = stage.get("why/shop:2").body;
    says(
        &page,
        &[
            "<span class=\"tinted\">SQLite has one writer, and we have forty.</span>",
            "It began here. Nothing is named before it.",
            "said in",
            "message 1",
            "timeline?sel=",
            "Copy as text",
            "because bob said in th_001",
            "Nothing here is guessed.",
            "<span class=\"word\">SQLite</span>",
        ],
    );
    // What led to nothing, and what has no cause.
    says(
        &stage.get("why/shop:2?way=effects").body,
        &["It led to nothing yet."],
    );
    let alone = stage.get("why/shop:1").body;
    says(&alone, &["No cause was named.", "What it led to"]);
    let message = stage.data("why/shop:2.json")["steps"][1]["uuid"]
        .as_str()
        .unwrap()
        .to_owned();
    says(
        &stage.get(&format!("why/{message}?way=effects")).body,
        &["committed", "shop"],
    );
    says(
        &stage.get(&format!("why/shop:2?step={message}")).body,
        &["data-focus", "Open in thread"],
    );
    assert_eq!(stage.get("why/nothing_of_the_kind").status, 404);
}

#[on_both]
fn other_causes_of_a_commit_are_told_beside_the_path(backend: Backend) {
    let stage = Stage::new(backend);
    shop(&agents(&stage));
    let note = |text: &str| {
        let said = stage.as_agent(
            "eve",
            "garden_add",
            json!({"type": "Message", "description": text}),
        );
        said["item"]["fragments"][0]["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (one, two) = (note("Files are enough."), note("A disk is a disk."));
    let head = stage.data("artifacts/shop.json")["lines"]["commit"].clone();
    let commit = json!({"artifact": "shop", "based_on": head, "content": "Files.\n", "references": [one, two]});
    stage.as_agent("ada", "garden_artifact_commit", commit);
    let page = stage.get("why/shop:1").body;
    says(
        &page,
        &[
            "<span class=\"tinted\">Files are enough.</span>",
            "and 1 more cause",
            "A disk is a disk.",
        ],
    );
}

#[on_both]
fn what_is_stored_stays_text_on_these_pages(backend: Backend) {
    let stage = Stage::filled(backend);
    let text = format!(
        "{HOSTILE}\n{}\n\n{HOSTILE} two\n",
        "\u{5D0}\u{5D1} \u{1F333} ".repeat(30)
    );
    let made = stage.as_agent(
        "ada",
        "garden_artifact_create",
        json!({"label": "odd", "content": text}),
    );
    let said = stage.as_agent(
        "eve",
        "garden_add",
        json!({"type": "Note", "description": HOSTILE}),
    );
    let commit = json!({"artifact": "odd", "based_on": made["artifact"]["head"], "content": format!("{HOSTILE}!\n{text}"),
        "reasoning": HOSTILE, "caused_by": said["item"]["uuid"]});
    stage.as_agent("bob", "garden_artifact_commit", commit);
    let wish = json!({"artifact": "odd", "start": 1, "end": 1, "content": format!("{HOSTILE}?"), "reasoning": HOSTILE});
    stage.as_agent("bob", "reader_propose", wish);
    for page in [
        "artifacts/odd",
        "artifacts/odd:1",
        "artifacts/odd@1..2",
        "why/odd:1",
        "why/odd:1?way=effects",
        "artifacts/odd?edit=prop_002",
        "artifacts/odd?propose=1-3",
    ] {
        let shown = stage.get(page);
        assert_eq!(shown.status, 200, "{page}: {}", shown.body);
        assert!(!shown.body.contains("<script>alert"), "{page}");
        assert!(!shown.body.contains("<img"), "{page}");
        // In a field it is what it is, so that it can be sent back.
        assert!(
            page.contains('?') || !shown.body.contains('\u{202E}'),
            "{page}"
        );
    }
    assert_eq!(stage.get("artifacts/odd%22%3E%3Cscript%3E").status, 404);
}

#[on_both]
fn a_large_document_of_many_versions_is_shown_in_parts(backend: Backend) {
    let stage = Stage::new(backend);
    let text = |n: usize| -> String {
        (1..=1_200)
            .map(|at| format!("line {at} of {}\n", if at == 700 { n } else { 0 }))
            .collect()
    };
    let made = stage.as_agent(
        "ada",
        "garden_artifact_create",
        json!({"label": "long", "content": text(0)}),
    );
    let mut head = made["artifact"]["head"].clone();
    for n in 1..=60 {
        let commit = json!({"artifact": "long", "based_on": head, "content": text(n)});
        head = stage.as_agent("ada", "garden_artifact_commit", commit)["commit"].clone();
    }
    let page = stage.get("artifacts/long").body;
    says(
        &page,
        &[
            "1,200 lines, 61 versions, 1 author",
            "line 500 of 0",
            "Show the lines from 501",
            "Version 61 of 61",
        ],
    );
    assert!(!page.contains("line 501 of 0"));
    assert!(
        page.matches("class=\"dot").count() <= 40,
        "dots are few where versions are many"
    );
    // A chosen line is on the page that is shown, and both versions are folded to what differs.
    says(
        &stage.get("artifacts/long:700").body,
        &[
            "line 700 of 60",
            "line 700 of 59",
            "Show the lines from 1,001",
        ],
    );
    let both = stage.get("artifacts/long@1..61").body;
    says(
        &both,
        &[
            "1 line differs",
            "696 lines are the same",
            "60 versions between them",
        ]
        .map(|one| {
            if one.starts_with("60") {
                "20 versions"
            } else {
                one
            }
        }),
    );
    assert!(both.len() < 200_000, "{}", both.len());
    let equal = stage.get("artifacts/long@1..61?equal=yes").body;
    says(&equal, &["line 400 of 0", "Show 400 more"]);
    assert!(!equal.contains("line 401 of 0"));
    says(
        &stage.get("artifacts/long@1..61?equal=yes&row=400").body,
        &["line 401 of 0", "line 800 of 0"],
    );
}

#[on_both]
fn a_person_reads_and_decides_in_a_browser(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    // The folder's own workspace, in which the script's agents write.
    site.shell
        .ok(&["call", "graph_open", r#"{"project": "default"}"#]);
    let call = |agent: &str, tool: &str, arguments: Value| {
        server.ok(&site.token(agent, "garden", Role::Worker), tool, arguments)
    };
    shop(&call);
    propose(&call, "ada", 2, "We store all in files.");
    propose(&call, "eve", 4, HOSTILE);
    browser::run(&site, &server, "artifacts");
}
