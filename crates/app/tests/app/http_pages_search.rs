//! Search, the palette, completion, previews, and where names lead.

use serde_json::{Value, json};
use understory_model::Role;
use understory_testkit::{Backend, on_both};

use crate::browser::run;
use crate::http_pages::{HOSTILE, Stage};
use crate::shell::says;
use crate::web::AppState;

fn shop(stage: &Stage) {
    let plan = json!({"nodes": [{"ref": "a", "summary": "Retire the old key"}, {"ref": "b", "summary": "Rotate the keys", "depends_on": ["a"]}]});
    stage.as_agent("ada", "graph_plan", plan);
    let claim = json!({"updates": [{"node_id": "TASK-001", "claim": true}]});
    stage.as_agent("ada", "graph_update", claim);
    let text = json!({"label": "goals_shop", "content": "An order is paid.\nAn old key is accepted for two hours.\n"});
    stage.as_agent("ada", "garden_artifact_create", text);
    let record = json!({"title": "How long is an old key accepted?", "body": "At least an hour.", "type": "question", "summary": "", "state": "OPEN"});
    stage.as_agent("ada", "create_record", record);
    stage.as_agent(
        "bob",
        "post_message",
        json!({"to": ["ann"], "title": "Keys", "body": "An old key is still taken."}),
    );
}

fn names(offers: &Value, list: &str) -> Vec<String> {
    let found = offers[list].as_array().unwrap();
    found
        .iter()
        .map(|one| one["name"].as_str().unwrap().to_owned())
        .collect()
}

#[on_both]
fn a_search_says_how_it_found(backend: Backend) {
    let stage = Stage::new(backend);
    shop(&stage);
    let page = stage.get("search?q=old+key").body;
    says(
        &page,
        &[
            "These words",
            "Retire the <mark>old</mark> <mark>key</mark>",
            "href=\"/garden/work/TASK-001\"",
            "href=\"/garden/records/R001\"",
            "href=\"/garden/artifacts/goals_shop%3A2\"",
            "href=\"/garden/threads/th_001?at=1#1\"",
            "claimed, <bdi>ada</bdi>",
        ],
    );
    let named = stage.get("search?q=TASK-001").body;
    says(&named, &["Goes there", "Retire the old key"]);
    let data = stage.data("search.json?q=TASK-001");
    assert_eq!(data["goes_there"][0]["state"], "claimed", "{data}");
    assert_eq!(
        names(&stage.data("search.json?q=TASK-0"), "goes_there"),
        ["TASK-001", "TASK-002"]
    );
    let none = stage.get("search?q=%E2%82%AC%E2%82%AC%E2%82%AC").body;
    says(&none, &["Nothing found for", "Ask somebody", "New task"]);
    assert_eq!(
        stage.get(&format!("search?q={}", "x".repeat(6_000))).status,
        200
    );
}

#[on_both]
fn the_palette_goes_there_and_does_things(backend: Backend) {
    let stage = Stage::new(backend);
    shop(&stage);
    let found = stage.get("palette?q=old+key").body;
    says(
        &found,
        &[
            "role=\"listbox\"",
            "These words",
            "New task “",
            "data-task=\"old key\"",
            "threads/new?body=old%20key",
            " ms</span>",
        ],
    );
    assert!(!found.contains("<html"), "a part of a page: {found}");
    says(
        &stage.get("palette?q=goals_shop:2").body,
        &[
            "Goes there",
            "artifacts/goals_shop%3A2",
            "data-why=\"/garden/why/goals_shop%3A2\"",
        ],
    );
    says(
        &stage.get("palette?q=dark").body,
        &["data-scheme-choice=\"dark\""],
    );
    says(&stage.get("palette?q=timeline").body, &["Go to Timeline"]);
    says(
        &stage.get("palette?q=write+to+bo").body,
        &["threads/new?to=bob"],
    );
    let all = stage.get("palette").body;
    says(
        &all,
        &[
            "Go to Proof and care",
            "data-scheme-choice=\"\"",
            "Write to",
        ],
    );
    assert!(!all.contains("New task"));
}

#[on_both]
fn names_are_completed(backend: Backend) {
    let stage = Stage::new(backend);
    shop(&stage);
    let offers = |typed: &str| names(&stage.data(&format!("complete.json?q={typed}")), "offers");
    assert_eq!(offers("TASK-0"), ["TASK-001", "TASK-002"]);
    assert_eq!(offers("R0"), ["R001"]);
    assert_eq!(offers("th_"), ["th_001"]);
    assert_eq!(offers("goals_shop:"), ["goals_shop:1", "goals_shop:2"]);
    assert_eq!(offers("goals_shop:2"), ["goals_shop:2"]);
    assert_eq!(offers("%40a"), ["ada"], "the person is not offered");
    assert_eq!(offers("%40goal"), ["goals_shop"]);
    assert!(
        offers("%40retire").contains(&"TASK-001".to_owned()),
        "{:?}",
        offers("%40retire")
    );
    assert_eq!(
        offers("%23&in=th_001"),
        [
            stage.data("threads/th_001.json")["messages"]["messages"][0]["message_id"]
                .as_str()
                .unwrap()
        ]
    );
    assert_eq!(offers("%23&in=th_999"), [""; 0]);
    let part = offers("%5E");
    assert!(part[0].starts_with('^'), "{part:?}");
    assert_eq!(
        offers(&format!("%5E{}", &part[0][1..3])),
        [part[0].as_str()]
    );
    for odd in [
        "",
        "%00",
        "%40%00",
        "nothing:",
        "nothing:1",
        "%5E%00",
        "%F0%9F%9A%80",
        "'",
        "%25",
    ] {
        assert_eq!(offers(odd), [""; 0], "{odd}");
    }
    for n in 0..20 {
        stage.as_agent(
            "ada",
            "graph_plan",
            json!({"nodes": [{"ref": "n", "summary": format!("More {n}")}]}),
        );
    }
    assert_eq!(offers("TASK-").len(), 6);
    says(
        &stage.get("complete?q=TASK-0").body,
        &["role=\"option\" id=\"offer-0\"", "data-insert=\"TASK-001\""],
    );
    says(
        &stage.get("complete?q=%40ad").body,
        &["data-insert=\"@ada\""],
    );
}

#[on_both]
fn every_name_leads_to_its_page(backend: Backend) {
    let stage = Stage::new(backend);
    shop(&stage);
    let message = stage.data("threads/th_001.json")["messages"]["messages"][0]["message_id"]
        .as_str()
        .unwrap()
        .to_owned();
    for (name, place) in [
        ("TASK-001", "work/TASK-001"),
        ("R001", "records/R001"),
        ("th_001", "threads/th_001"),
        ("th_001%231", "threads/th_001?at=1#1"),
        (message.as_str(), "threads/th_001?at=1#1"),
        ("goals_shop", "artifacts/goals_shop"),
        ("goals_shop:2", "artifacts/goals_shop%3A2"),
        ("%40ada", "agents/ada"),
        ("bob", "agents/bob"),
        ("ann", "agents/ann"),
    ] {
        let moved = stage.get(&format!("go/{name}"));
        assert_eq!(moved.status, 303, "{name}: {}", moved.body);
        assert_eq!(
            moved.header("location"),
            Some(format!("/garden/{place}").as_str()),
            "{name}"
        );
    }
    let part = names(&stage.data("complete.json?q=%5E"), "offers")[0].replace('^', "%5E");
    let moved = stage.get(&format!("go/{part}"));
    assert_eq!(
        moved.header("location"),
        Some(format!("/garden/why/{part}").as_str())
    );
    for unknown in [
        "nothing",
        "goals_shop:99",
        "%5Ezzz",
        "%3Cscript%3E",
        "item_00000000-0000-0000-0000-000000000000",
        "%00",
    ] {
        let page = stage.get(&format!("go/{unknown}"));
        assert_eq!(page.status, 404, "{unknown}");
        says(&page.body, &["Nothing is called", "Search for it"]);
        assert!(!page.body.contains("<script>"), "{}", page.body);
    }
    let preview = stage.get("preview?q=TASK-001").body;
    says(&preview, &["Retire the old key", "claimed"]);
    says(
        &stage.get("preview?q=th_001%231").body,
        &["An old key is still taken."],
    );
    says(&stage.get("preview?q=nothing").body, &["Nothing is called"]);
}

#[on_both]
fn what_was_found_stays_text_and_bounded(backend: Backend) {
    let stage = Stage::new(backend);
    for n in 0..120 {
        let nodes = json!({"nodes": [{"ref": "n", "summary": format!("{HOSTILE} number {n}")}]});
        stage.as_agent("ada", "graph_plan", nodes);
    }
    stage.as_agent(
        "ada",
        "garden_artifact_create",
        json!({"label": "goals", "content": format!("{HOSTILE}\n")}),
    );
    for page in [
        "search?q=script+number",
        "palette?q=script+number",
        "complete?q=TASK-",
        "complete?q=goals:",
        "preview?q=TASK-001",
        "search?q=%3Cscript%3E",
    ] {
        let body = stage.get(page).body;
        assert!(
            !body.contains("<script>alert") && !body.contains("<img") && !body.contains('\u{202E}'),
            "{page}: {body}"
        );
    }
    let found = stage.get("search?q=script+number").body;
    assert_eq!(found.matches("class=\"hit\"").count(), 50);
    says(&found, &["Show 50 more"]);
    let more = stage.get("search?q=script+number&show=100").body;
    assert_eq!(more.matches("class=\"hit\"").count(), 100);
    assert!(
        stage
            .get("palette?q=script+number")
            .body
            .matches("role=\"option\"")
            .count()
            < 30
    );
}

#[on_both]
fn a_person_goes_anywhere_in_a_browser(backend: Backend) {
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
    let plan = json!({"nodes": [{"ref": "a", "summary": "Retire the old key"}, {"ref": "b", "summary": HOSTILE}]});
    say("ada", "graph_plan", plan);
    say(
        "bob",
        "post_message",
        json!({"to": ["ann"], "title": "Keys", "body": "An old key is still taken."}),
    );
    run(&site, &server, "search");
}
