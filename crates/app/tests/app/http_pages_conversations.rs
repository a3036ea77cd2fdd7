//! The pages of conversations: the tree, two side by side, and what is done in them.

use serde_json::{Value, json};
use understory_model::Role;
use understory_testkit::{Backend, on_both};

use crate::browser;
use crate::http_pages::{HOSTILE, Stage};
use crate::shell::says;
use crate::web::AppState;

/// Calls by agents.
fn agents(stage: &Stage) -> impl Fn(&str, &str, Value) -> Value {
    |agent, tool, arguments| stage.as_agent(agent, tool, arguments)
}

/// A root, and what ada and cleo branched off it; the names of all three.
fn talks(call: &impl Fn(&str, &str, Value) -> Value) -> [String; 3] {
    call(
        "ada",
        "garden_add",
        json!({"type": "Message", "description": "We could take cards or cash."}),
    );
    let name = |made: &Value| made["log"]["uuid"].as_str().unwrap().to_owned();
    let cards = call("ada", "garden_fork", json!({"title": "Cards"}));
    call(
        "ada",
        "garden_add",
        json!({"type": "Message", "description": "The gateway keeps the card. See TASK-001."}),
    );
    let cash = call(
        "cleo",
        "garden_fork",
        json!({"parent": cards["log"]["parent_uuid"], "title": "Cash"}),
    );
    call(
        "cleo",
        "garden_add",
        json!({"type": "Note", "description": "Couriers refuse it."}),
    );
    let root = cards["log"]["parent_uuid"].as_str().unwrap().to_owned();
    [root, name(&cards), name(&cash)]
}

fn done(stage: &Stage, act: &str, fields: &str) -> Value {
    let answer = stage.act(act, fields);
    assert_eq!(answer.status, 200, "{act} {fields}: {}", answer.body);
    answer.json()
}

fn undo(stage: &Stage, done: &Value) -> Value {
    let fields = done["undo"]["fields"]
        .as_array()
        .expect("it can be undone")
        .iter();
    let fields: Vec<String> = fields
        .map(|field| {
            format!(
                "{}={}",
                field[0].as_str().unwrap(),
                field[1].as_str().unwrap()
            )
        })
        .collect();
    self::done(
        stage,
        done["undo"]["act"].as_str().unwrap(),
        &fields.join("&"),
    )
}

fn tree(stage: &Stage) -> Value {
    stage.data("conversations.json")["stack"]["tree"][0].clone()
}

#[on_both]
fn an_empty_project_says_what_comes_here(backend: Backend) {
    let stage = Stage::new(backend);
    says(&stage.get("conversations").body, &["No conversations."]);
    assert_eq!(
        stage
            .get("conversations/uuid_0199d3a0-0000-7000-8000-000000000000")
            .status,
        404
    );
    assert_eq!(stage.get("conversations?left=nonsense").status, 404);
}

#[on_both]
fn conversations_are_a_tree_with_who_stands_where(backend: Backend) {
    let stage = Stage::new(backend);
    let [root, cards, cash] = talks(&agents(&stage));
    let page = stage.get("conversations").body;
    says(
        &page,
        &[
            "3 open, 0 ended",
            "The first conversation",
            "Cards",
            "<bdi>ada</bdi> is here, ",
            "<bdi>cleo</bdi> is here, ",
        ],
    );
    assert_eq!(tree(&stage)["children"].as_array().unwrap().len(), 2);
    // The page begins where one stands: nowhere yet, so with the first.
    let shown = stage.data("conversations.json")["shown"].clone();
    assert_eq!(shown[0]["log"]["uuid"], root);
    let two = stage
        .get(&format!("conversations?left={cards}&right={cash}"))
        .body;
    says(
        &two,
        &[
            "The gateway keeps the card.",
            "Couriers refuse it.",
            "href=\"/garden/go/TASK-001\"",
            "branched from",
            "We could take cards or cash.",
        ],
    );
    let one = stage.data(&format!("conversations/{cash}.json"))["shown"][0].clone();
    assert_eq!(one["log"]["title"], "Cash");
    assert_eq!(one["items"][0]["entry"]["text"], "Couriers refuse it.");
}

#[on_both]
fn what_is_said_there_can_be_erased(backend: Backend) {
    let stage = Stage::new(backend);
    let [_, cards, _] = talks(&agents(&stage));
    let said = done(&stage, "say", &format!("log={cards}&body=Good"));
    let place = format!("conversations/{cards}");
    says(
        &stage.get(&place).body,
        &["<p dir=\"auto\">Good</p>", "Erase"],
    );
    undo(&stage, &said);
    let page = stage.get(&place).body;
    says(&page, &["Taken back."]);
    assert!(!page.contains(">Good<"));
    // Only one's own words, and only in what is open.
    assert_eq!(stage.act("say", &format!("log={cards}")).status, 400);
    done(&stage, "stand", &format!("log={cards}"));
    says(
        &stage.get("conversations").body,
        &["you, <bdi>ada</bdi> are here, "],
    );
}

#[on_both]
fn a_person_branches_off_ends_and_takes_up_again(backend: Backend) {
    let stage = Stage::new(backend);
    let [root, cards, _] = talks(&agents(&stage));
    let form = stage
        .get(&format!("conversations?left={cards}&do=branch"))
        .body;
    says(&form, &["What the new conversation is about", "data-focus"]);
    let branched = done(&stage, "branch_off", &format!("log={cards}&title=Fees"));
    let inner = tree(&stage)["children"][0]["children"][0].clone();
    assert_eq!(
        (&inner["title"], &inner["state"]),
        (&json!("Fees"), &json!("active"))
    );
    assert_eq!(
        stage.data("conversations.json")["shown"][0]["log"]["title"],
        "Fees"
    );
    // What has an open branch cannot end, and says so.
    let refused = stage.act("end", &format!("log={cards}&summary=Done"));
    assert_eq!(refused.status, 409, "{}", refused.body);
    undo(&stage, &branched);
    assert_eq!(
        tree(&stage)["children"][0]["children"][0]["state"],
        "collapsed"
    );
    let ended = done(&stage, "end", &format!("log={cards}&summary=Cards+it+is"));
    let page = stage.get(&format!("conversations/{cards}")).body;
    says(&page, &["Cards it is", "Take it up again", "ended: "]);
    assert!(!page.contains("do/say"), "nothing more is said there");
    assert_eq!(
        stage.act("say", &format!("log={cards}&body=But")).status,
        409
    );
    // Taken up again in a new one, which says what it goes on from; the old stays.
    undo(&stage, &ended);
    let again = tree(&stage)["children"][0]["children"][1].clone();
    assert_eq!(
        (&again["title"], &again["state"]),
        (&json!("Cards"), &json!("active"))
    );
    let name = again["uuid"].as_str().unwrap();
    says(
        &stage.get(&format!("conversations/{name}")).body,
        &["goes on from", "a conversation that was ended"],
    );
    assert_eq!(
        stage.act("end", &format!("log={root}&summary=All")).status,
        409
    );
}

#[on_both]
fn long_conversations_and_hostile_words_are_shown_in_parts_and_as_text(backend: Backend) {
    let stage = Stage::new(backend);
    stage.as_agent(
        "ada",
        "garden_fork",
        json!({"title": HOSTILE.replace('\u{202E}', "")}),
    );
    stage.as_agent(
        "ada",
        "garden_add",
        json!({"type": "Message", "description": HOSTILE}),
    );
    for n in 0..140 {
        let said = json!({"type": "Message", "description": format!("word {n} of it")});
        stage.as_agent("ada", "garden_add", said);
    }
    let own = tree(&stage)["children"][0]["uuid"]
        .as_str()
        .unwrap()
        .to_owned();
    let page = stage.get(&format!("conversations?left={own}")).body;
    says(
        &page,
        &[
            "word 139 of it",
            "word 40 of it",
            "Show 100 earlier of 141",
            "141 items",
        ],
    );
    assert!(!page.contains("word 39 of it"));
    let first =
        stage.data(&format!("conversations/{own}.json"))["shown"][0]["items"][0]["entry"]["seq"]
            .clone();
    let earlier = stage
        .get(&format!("conversations?left={own}&before={first}"))
        .body;
    says(&earlier, &["word 39 of it", "Show the newest"]);
    for shown in [page, earlier] {
        assert!(
            !shown.contains("<script>alert")
                && !shown.contains("<img")
                && !shown.contains('\u{202E}')
        );
    }
}

#[on_both]
fn a_person_goes_through_conversations_in_a_browser(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    // The folder's own workspace, in which the script's agents write.
    site.shell
        .ok(&["call", "graph_open", r#"{"project": "default"}"#]);
    talks(&|agent, tool, arguments| {
        server.ok(&site.token(agent, "garden", Role::Worker), tool, arguments)
    });
    browser::run(&site, &server, "conversations");
}
