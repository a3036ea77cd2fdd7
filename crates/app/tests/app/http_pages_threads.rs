//! The thread pages: the chat with its findings, receipts and references, and what is done there.

use serde_json::{Value, json};
use understory_model::Role;
use understory_testkit::{Backend, on_both};

use crate::browser::run;
use crate::http_pages::{HOSTILE, Stage};
use crate::shell::says;
use crate::web::AppState;

/// A review with two findings, one of them settled, and somebody who was added later.
fn review(stage: &Stage) {
    let plan = json!({"nodes": [{"ref": "k", "summary": "Rotate the signing keys"}]});
    stage.as_agent("ada", "graph_plan", plan);
    let post = |agent: &str, message: Value| stage.as_agent(agent, "post_message", message);
    post(
        "ada",
        json!({"to": ["bob", "ann"], "title": "Review of key rotation", "body": "4f2a91c rotates the keys for TASK-001. Please look."}),
    );
    post(
        "bob",
        json!({"thread_id": "th_001", "kind": "event", "body": "An old key is still taken.", "metadata":
        {"event_type": "finding_reported", "finding_id": "f1", "severity": "high", "file": "src/keys.rs", "line": 42,
         "code": "fn accepts() {\n    now < two_hours\n}", "code_line": 41}}),
    );
    post(
        "ada",
        json!({"thread_id": "th_001", "kind": "event", "body": "Now 65 minutes.", "metadata":
        {"event_type": "fix_pushed", "finding_id": "f1", "commit": "b7d0c55"}}),
    );
    post(
        "bob",
        json!({"thread_id": "th_001", "kind": "event", "body": "No test.", "metadata":
        {"event_type": "finding_reported", "finding_id": "f2", "severity": "low"}}),
    );
    post(
        "bob",
        json!({"thread_id": "th_001", "kind": "event", "body": "It has one.", "metadata":
        {"event_type": "finding_verified", "finding_id": "f2"}}),
    );
    post(
        "bob",
        json!({"thread_id": "th_001", "body": "**Holds** at `64` minutes.\n\n- slow clock\n- see #2"}),
    );
    stage.as_agent(
        "bob",
        "update_thread_status",
        json!({"thread_id": "th_001", "add_participants": ["eve"], "reason": "knows clocks"}),
    );
}

fn findings(stage: &Stage) -> Value {
    stage.data("threads/th_001.json")["findings"].clone()
}

#[on_both]
fn a_thread_is_read_like_a_chat(backend: Backend) {
    let stage = Stage::new(backend);
    review(&stage);
    let page = stage.get("threads/th_001").body;
    says(
        &page,
        &[
            "disputed, 1 finding open · th_001 · 6 messages",
            "<span class=\"handle\">4f2a91c</span>",
            "href=\"/garden/go/TASK-001\" data-ref=\"TASK-001\"",
            "src/keys.rs",
            "<tr class=\"hit\"><td class=\"n\">42</td>",
            "fix pushed",
            "not verified yet",
            "verified by bob",
            "added <bdi>eve</bdi>: <bdi>knows clocks</bdi>",
            "<strong>Holds</strong> at <code dir=\"auto\">64</code>",
            "<li dir=\"auto\">slow clock</li>",
            "Mark as read",
            "6 new for you",
            "Rotate the signing keys",
            "data-follow-end",
        ],
    );
    // The last message goes on under the head of the one before.
    assert_eq!(
        page.matches("class=\"message joined\"").count(),
        1,
        "{page}"
    );
    assert_eq!(page.matches("id=\"new\"").count(), 1);
    let found = findings(&stage);
    assert_eq!(found[0]["state"], "fixed", "{found}");
    assert_eq!(found[0]["steps"][1]["by"], "ada");
    assert_eq!(found[0]["steps"][1]["commits"], json!(["b7d0c55"]));
    assert_eq!(found[1]["steps"][1]["state"], "verified");
    let told = stage.get("threads/th_001?show=summary&facts=1").body;
    says(&told, &["2 findings reported", "data-close"]);
}

#[on_both]
fn threads_stand_in_a_list_by_status(backend: Backend) {
    let stage = Stage::new(backend);
    review(&stage);
    stage.as_agent(
        "ada",
        "post_message",
        json!({"to": ["dan"], "title": "Which licence?", "body": "MIT?"}),
    );
    let change = json!({"thread_id": "th_002", "status": "resolved", "reason": "settled"});
    stage.as_agent("ada", "update_thread_status", change);
    let page = stage.get("threads").body;
    says(
        &page,
        &[
            "Open",
            "Resolved",
            "disputed, 1 finding open",
            "aria-label=\"6 unread messages\"",
        ],
    );
    let resolved = stage.get("threads?status=resolved").body;
    says(&resolved, &["Which licence?"]);
    assert!(!resolved.contains("Review of key rotation"), "{resolved}");
    assert_eq!(
        stage.data("threads.json?status=blocked")["threads"],
        json!([])
    );
    says(
        &stage.get("threads/new?to=bob&body=Hi+there").body,
        &["value=\"bob\"", "Hi there</textarea>"],
    );
}

#[on_both]
fn what_is_done_on_a_thread(backend: Backend) {
    let stage = Stage::new(backend);
    review(&stage);
    let done = |act: &str, fields: &str| {
        let answer = stage.act(act, fields);
        assert_eq!(answer.status, 200, "{act}: {}", answer.body);
        answer.json()
    };
    let reported = findings(&stage)[0]["message_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let said = done(
        "verify_finding",
        &format!("thread=th_001&message={reported}"),
    );
    assert_eq!(findings(&stage)[0]["state"], "verified");
    assert_eq!(findings(&stage)[0]["steps"][2]["by"], "ann");
    assert_eq!(said["undo"]["act"], "reject_finding");
    done(
        "reject_finding",
        &format!("thread=th_001&message={reported}&body=Too+early"),
    );
    assert_eq!(findings(&stage)[0]["state"], "rejected");
    done(
        "withdraw_finding",
        &format!("thread=th_001&message={reported}"),
    );
    assert_eq!(findings(&stage)[0]["state"], "withdrawn");

    let said = done(
        "status",
        "thread=th_001&from=active&status=resolved&reason=done",
    );
    assert_eq!(
        stage.data("threads/th_001.json")["thread"]["status"],
        "resolved"
    );
    assert_eq!(
        said["undo"],
        json!({"act": "status", "fields": [["thread", "th_001"], ["status", "active"], ["reason", "taken back"]]})
    );
    done("status", "thread=th_001&status=active&reason=taken+back");
    let refused = stage.act("status", "thread=th_001&status=active&from=closed&reason=x");
    assert_eq!(refused.status, 200, "it is active already");

    let said = done("add_people", "thread=th_001&to=@cleo+dan");
    let people =
        |stage: &Stage| stage.data("threads/th_001.json")["thread"]["participants"].to_string();
    assert!(
        people(&stage).contains("\"cleo\",\"dan\""),
        "{}",
        people(&stage)
    );
    assert_eq!(said["undo"]["act"], "remove_people");
    done("remove_people", "thread=th_001&to=@cleo+dan");
    assert!(!people(&stage).contains("cleo"));

    let said = done("post", "thread=th_001&upto=6&body=Never+mind");
    let item = said["undo"]["fields"][0][1].as_str().unwrap();
    done("unsay", &format!("item={item}"));
    says(&stage.get("threads/th_001").body, &["Taken back."]);
    done("send", "to=@bob&title=Clocks&body=Which+one");
    assert_eq!(stage.data("threads.json")["threads"][0]["title"], "Clocks");

    done("wake", "thread=th_001&agent=bob");
    let page = stage.get("threads/th_001").body;
    says(
        &page,
        &[
            "<bdi>ann</bdi> woke <bdi>bob</bdi>",
            "queued",
            "not read yet",
        ],
    );
    let refused = stage.act("wake", "thread=th_001&agent=nobody");
    assert!(refused.status >= 400, "{}", refused.body);
}

#[on_both]
fn hostile_messages_stay_text(backend: Backend) {
    let stage = Stage::new(backend);
    let payload = format!(
        "{HOSTILE} [x](javascript:alert(1)) `</code><script>` **</strong><script>alert(1)</script>**"
    );
    stage.as_agent(
        "eve",
        "post_message",
        json!({"to": ["ann"], "title": HOSTILE, "body": payload}),
    );
    stage.as_agent("eve", "post_message", json!({"thread_id": "th_001", "kind": "event", "body": payload, "metadata":
        {"event_type": "finding_reported", "finding_id": HOSTILE, "severity": HOSTILE, "file": HOSTILE, "line": 1, "code": payload}}));
    stage.as_agent("eve", "post_message", json!({"thread_id": "th_001", "kind": "event", "body": "x", "metadata": {"event_type": HOSTILE, "commit": HOSTILE}}));
    let change = json!({"thread_id": "th_001", "add_participants": ["bob"], "reason": HOSTILE});
    stage.as_agent("eve", "update_thread_status", change);
    let secret = format!("Use ghp_{} here", "16C7e42F292c6912E7710c838347Ae178B4a");
    stage.as_agent(
        "eve",
        "post_message",
        json!({"thread_id": "th_001", "body": secret}),
    );
    for page in [
        "threads",
        "threads/th_001",
        "threads/th_001?show=summary&facts=1",
        "now",
    ] {
        let body = stage.get(page).body;
        assert!(
            !body.contains("<script>")
                && !body.contains("<img")
                && !body.contains("href=\"javascript"),
            "{page}: {body}"
        );
        assert!(!body.contains('\u{202E}'), "{page}");
    }
    let page = stage.get("threads/th_001").body;
    says(&page, &["ghp_••••••••8B4a", "U+202E"]);
    assert_eq!(
        page.matches("16C7e42F292c6912E7710c838347Ae178B4a").count(),
        1,
        "only where one asks for it"
    );
}

#[on_both]
fn a_long_thread_is_shown_by_hundreds(backend: Backend) {
    let stage = Stage::new(backend);
    let people: Vec<String> = (0..200).map(|n| format!("agent-{n}")).collect();
    stage.as_agent(
        "ada",
        "post_message",
        json!({"to": people, "title": "T".repeat(1_000), "body": "word 1 "}),
    );
    for n in 2..=130 {
        stage.as_agent(
            "ada",
            "post_message",
            json!({"thread_id": "th_001", "body": format!("word {n} ")}),
        );
    }
    let page = stage.get("threads/th_001").body;
    assert_eq!(page.matches("<li class=\"message").count(), 100);
    says(
        &page,
        &["word 130", "threads/th_001?before=31", "and 193 others"],
    );
    assert!(!page.contains("word 30 "), "{page}");
    let earlier = stage.get("threads/th_001?before=31").body;
    says(&earlier, &["word 1", "word 30", "Go to the last message"]);
    assert!(!earlier.contains("?before="), "nothing comes before");
    says(&stage.get("threads/th_001?at=5").body, &["id=\"5\""]);
    assert!(page.len() < 400_000, "{}", page.len());
}

#[on_both]
fn a_thread_that_is_not_there_offers_the_search(backend: Backend) {
    let stage = Stage::new(backend);
    let page = stage.get("threads/th_999");
    assert_eq!(page.status, 404);
    says(&page.body, &["search?q=th_999"]);
    assert_eq!(stage.get("threads/th_001/more").status, 404);
}

#[on_both]
fn a_person_reads_answers_and_settles_in_a_browser(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    site.shell.ok(&[
        "call",
        "graph_open",
        r#"{"project": "default", "goal": "Sell"}"#,
    ]);
    let say = |agent: &str, tool: &str, arguments: Value| {
        server.ok(&site.token(agent, "garden", Role::Worker), tool, arguments)
    };
    say(
        "ada",
        "graph_plan",
        json!({"nodes": [{"ref": "a", "summary": "Retire the old key"}, {"ref": "b", "summary": "Rotate the keys"}]}),
    );
    say(
        "ada",
        "post_message",
        json!({"to": ["dan"], "title": "Which licence?", "body": "MIT?"}),
    );
    say(
        "ada",
        "post_message",
        json!({"to": ["ann", "bob"], "title": HOSTILE, "body": format!("{HOSTILE} see TASK-002")}),
    );
    say(
        "bob",
        "post_message",
        json!({"thread_id": "th_002", "kind": "event", "body": "An old key is still taken.", "metadata":
        {"event_type": "finding_reported", "severity": "high", "file": "src/keys.rs", "line": 42, "code": "x", "code_line": 42}}),
    );
    say(
        "bob",
        "post_message",
        json!({"thread_id": "th_002", "body": "long words ".repeat(850)}),
    );
    say(
        "bob",
        "post_message",
        json!({"thread_id": "th_002", "body": format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a")}),
    );
    for n in 1..=60 {
        say(
            "bob",
            "post_message",
            json!({"thread_id": "th_002", "body": format!("word {n}")}),
        );
    }
    run(&site, &server, "threads");
}
