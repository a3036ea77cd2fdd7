//! Now: what is asked and what that holds up, who is at work or went silent, and acts that can be undone.

use serde_json::{Value, json};
use understory_testkit::{Backend, on_both};

use crate::http_pages::{HOSTILE, Stage};
use crate::shell::says;

fn undo(stage: &Stage, answer: &Value) -> Value {
    let fields = answer["undo"]["fields"].as_array().unwrap();
    let fields: Vec<String> = fields
        .iter()
        .map(|pair| {
            format!(
                "{}={}",
                pair[0].as_str().unwrap(),
                pair[1].as_str().unwrap()
            )
        })
        .collect();
    let act = answer["undo"]["act"].as_str().unwrap();
    let undone = stage.act(act, &fields.join("&"));
    assert_eq!(undone.status, 200, "{}", undone.body);
    undone.json()
}

#[on_both]
fn a_question_says_what_it_holds_up(backend: Backend) {
    let stage = Stage::new(backend);
    let plan = json!({"nodes": [{"ref": "a", "summary": "Sell"}, {"ref": "b", "summary": "Ship", "depends_on": ["a"]},
        {"ref": "c", "summary": "Count", "depends_on": ["a"]}]});
    stage.as_agent("ada", "graph_plan", plan);
    let old = json!({"to": ["ann"], "title": "Older", "body": "I only say this."});
    stage.as_agent("bob", "post_message", old);
    stage.as_agent(
        "ada",
        "graph_update",
        json!({"updates": [{"node_id": "TASK-001", "claim": true}]}),
    );
    let asks = json!({"to": ["ann"], "title": "Cards", "body": "All is built. **Which cards do we take?** I stop."});
    stage.as_agent("ada", "post_message", asks);

    let page = stage.get("now").body;
    let first = page.find("asks: <bdi>Which cards do we take?").unwrap();
    let second = page.find("I only say this.").unwrap();
    assert!(first < second, "what holds up work comes first");
    says(&page, &["(2) Now", "holds up", "and 2 after it"]);

    let peek = stage.get("now?peek=th_002").body;
    says(
        &peek,
        &[
            "Answer <bdi>ada</bdi>",
            "Holds up",
            "id=\"said-msg_",
            "data-close",
        ],
    );
    let none = stage.get("now?peek=th_999");
    assert_eq!(none.status, 200);
    assert!(!none.body.contains("id=\"side\""), "nothing is peeked at");
    let data = stage.data("now.json");
    assert_eq!(data["needs_you"][0]["thread"]["thread_id"], "th_002");
    assert_eq!(
        data["at_work"][0]["pulse"]["minutes"]
            .as_array()
            .unwrap()
            .len(),
        60
    );
}

#[on_both]
fn what_is_answered_by_mistake_is_taken_back(backend: Backend) {
    let stage = Stage::filled(backend);
    let sent = stage.act("post", "thread=th_001&upto=1&body=No");
    assert_eq!(sent.status, 200, "{}", sent.body);
    let sent = sent.json();
    assert_eq!(sent["said"], "Sent to th_001.");
    undo(&stage, &sent);
    let thread = stage.get("threads/th_001").body;
    says(&thread, &["Taken back."]);
    assert!(!thread.contains(">No<"), "{thread}");

    let claimed = stage.act("claim", "node=TASK-001").json();
    assert!(
        stage.get("work/TASK-001").body.contains("ann"),
        "it is hers"
    );
    undo(&stage, &claimed);
    let task = stage.data("work/TASK-001.json");
    assert!(task["context"]["node"]["properties"]["_claimed_by"].is_null());
}

#[on_both]
fn a_credential_that_was_written_needs_somebody(backend: Backend) {
    let stage = Stage::new(backend);
    let key = format!("AKIA{}", "IOSFODNN7QKZMPLW");
    let note = json!({"type": "Note", "description": format!("the key is {key}")});
    stage.as_agent("eve", "garden_add", note);
    let page = stage.get("now").body;
    says(&page, &["looks like it holds a credential", "eve"]);
    assert!(!page.contains(&key), "the credential itself is not shown");
    let peek = stage.get("now?peek=credentials").body;
    says(&peek, &["understory purge --credentials"]);
    assert!(!peek.contains(&key));
}

#[on_both]
fn long_and_hostile_words_stay_in_their_row(backend: Backend) {
    let stage = Stage::new(backend);
    for (at, body) in [
        HOSTILE.to_owned(),
        "\u{5E9}".repeat(10_000),
        "👩‍👩‍👧‍👦".repeat(500),
        " ? ".to_owned(),
    ]
    .into_iter()
    .enumerate()
    {
        let asks = json!({"to": ["ann"], "title": format!("{at} {HOSTILE}"), "body": body});
        stage.as_agent("ada", "post_message", asks);
    }
    let page = stage.get("now").body;
    says(&page, &["(4) Now"]);
    assert!(!page.contains("<script>alert") && !page.contains("<img"));
    assert!(page.len() < 60_000, "{} bytes", page.len());
}
