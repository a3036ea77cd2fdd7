//! One true story for the tests of all pages: five agents and a person ship a web shop, and every surface has
//! its part in it.

use serde_json::{Value, json};

use crate::http_pages::Stage;

/// Every page that the story fills, one address of each kind.
pub const PLACES: &[&str] = &[
    "now",
    "now?peek=th_001",
    "timeline",
    "work",
    "work?view=board",
    "work?view=list",
    "work/TASK-007",
    "records",
    "records/R002",
    "records/R002/history",
    "reasoning",
    "reasoning?left=main&right=what-if",
    "conversations",
    "threads",
    "threads/th_001",
    "threads/th_002",
    "artifacts",
    "artifacts/goals_shop",
    "why/goals_shop:3",
    "agents/ada",
    "agents/ada/retrace",
    "search?q=PostgreSQL",
    "proof",
    "more",
];

const GOALS: &str = "# Goals of the shop\n\nWe store everything in SQLite.\nAn order is paid before it is sent.\n\
                     Prices are in the buyer's currency.\nKeys are rotated every week.\n\
                     Every fee is known before launch.\nAn old key is accepted for two hours.\n";

/// Lets it happen.
pub fn tell(stage: &Stage) {
    work(stage);
    reasoning(stage);
    documents(stage);
    threads(stage);
}

fn work(stage: &Stage) {
    stage.as_agent(
        "ada",
        "graph_open",
        json!({"project": "default", "goal": "Ship the web shop"}),
    );
    let node = |name: &str, summary: &str, after: &[&str]| json!({"ref": name, "summary": summary, "depends_on": after});
    let nodes = json!([
        node("page", "Write the shop page", &[]),
        node("api", "Write the API", &[]),
        node("store", "Choose the team store", &[]),
        node("guide", "Write the guide", &[]),
        node("cards", "Checkout with saved cards", &["page", "api"]),
        node("prices", "Prices in local currency", &["api"]),
        node("pg", "Move the store to PostgreSQL", &["store"]),
        node("keys", "Rotate the signing keys", &["store"]),
        node("mail", "Receipts by e-mail", &["cards"]),
        node("load", "Repeat the load test", &["pg"]),
        node("backup", "Back up every night", &["pg"]),
        node("retire", "Retire the old key", &["keys"]),
        node("order", "Try a real order", &["mail", "prices", "load"]),
        node("run", "Write the runbook", &["load", "backup", "retire"]),
        node("launch", "Launch", &["order", "run"]),
        node("hours", "Draw the opening hours", &["guide"]),
        node("translate", "Translate the guide", &["guide"]),
    ]);
    stage.as_agent("ada", "graph_plan", json!({"nodes": nodes}));
    for (at, evidence) in ["b85c2b2", "51be0aa", "7d01c9e", "0a44f1c"]
        .iter()
        .enumerate()
    {
        let done = json!({"node_id": format!("TASK-{:03}", at + 1), "resolved": true,
            "add_evidence": [{"type": "git", "ref": evidence}]});
        stage.as_agent("bob", "graph_update", json!({"updates": [done]}));
    }
    for (agent, task) in [
        ("ada", "TASK-007"),
        ("bob", "TASK-008"),
        ("cleo", "TASK-005"),
        ("dan", "TASK-006"),
    ] {
        let claim = json!({"updates": [{"node_id": task, "claim": true}]});
        stage.as_agent(agent, "graph_update", claim);
    }
}

fn reasoning(stage: &Stage) {
    let record = |parent: Option<&str>, title: &str, body: &str| json!({"title": title, "summary": "", "body": body, "type": "question", "state": "OPEN", "parent_id": parent});
    let root = record(
        None,
        "How do we rotate keys?",
        "Tokens are signed with a key. Rotation must not end a session.",
    );
    stage.as_agent("ada", "create_record", root);
    let child = record(
        Some("R001"),
        "How long is an old key accepted?",
        "At least an hour. See TASK-008.",
    );
    stage.as_agent("ada", "create_record", child);
    let graph = |branch: &str, ops: Value| json!({"workspace": "garden", "doc": "graph", "branch": branch, "ops": ops});
    let question = json!([
        {"op": "node_upsert", "id": "q1", "type": "question", "title": "Why do logins fail at noon?"},
        {"op": "node_upsert", "id": "h1", "type": "hypothesis", "title": "The clock drifts", "status": "open"},
        {"op": "edge_upsert", "from": "h1", "rel": "supports", "to": "q1"},
    ]);
    stage.as_agent("ada", "branchmind_graph_apply", graph("main", question));
    let branch = json!({"name": "what-if", "from": "main", "workspace": "garden"});
    stage.as_agent("ada", "branchmind_branch_create", branch);
    let refuted = json!([
        {"op": "node_upsert", "id": "h1", "type": "hypothesis", "title": "The clock drifts", "status": "refuted"},
        {"op": "node_upsert", "id": "h2", "type": "hypothesis", "title": "The key is rotated", "status": "confirmed"},
        {"op": "edge_upsert", "from": "h2", "rel": "supports", "to": "q1"},
    ]);
    stage.as_agent("ada", "branchmind_graph_apply", graph("what-if", refuted));
}

fn documents(stage: &Stage) {
    let measured = json!({"type": "Note",
        "description": "Use PostgreSQL for the team store: SQLite has one writer, and we have forty."});
    let note = stage.as_agent("bob", "garden_add", measured);
    let text = json!({"label": "goals_shop", "content": GOALS});
    stage.as_agent("ada", "garden_artifact_create", text);
    let change = json!({"artifact": "goals_shop", "start": 3, "end": 3, "content": "We store everything in PostgreSQL.",
        "reasoning": "forty writers", "caused_by": note["item"]["uuid"]});
    stage.as_agent("ada", "reader_propose", change);
    stage.as_agent(
        "bob",
        "reader_decide",
        json!({"proposal": "prop_001", "accept": true}),
    );
    let change = json!({"artifact": "goals_shop", "start": 8, "end": 8,
        "content": "An old key is accepted for 65 minutes.", "reasoning": "The clients refresh every hour."});
    stage.as_agent("bob", "reader_propose", change);
    let scroll = json!({"artifact": "goals_shop", "start": 1, "end": 8});
    stage.as_agent("ada", "reader_scroll", scroll);
}

fn threads(stage: &Stage) {
    let said = |thread: &str, body: &str| json!({"thread_id": thread, "body": body});
    let first = json!({"to": ["ann", "ada"], "title": "Saved cards",
        "body": "Saved cards work against the test gateway. Evidence: `git 51be0aa`"});
    stage.as_agent("cleo", "post_message", first);
    let fee = said(
        "th_001",
        "The gateway charges a fee per network. See goals_shop:7\n\n> Every fee is known before launch.",
    );
    stage.as_agent("ada", "post_message", fee);
    let asks = said(
        "th_001",
        "**Which card networks do we take at launch?** I can build for Visa and Mastercard today. A third one costs \
         about a day. I stop here until I know.",
    );
    stage.as_agent("cleo", "post_message", asks);
    let review = json!({"to": ["bob"], "title": "Review of key rotation", "body": "4f2a91c rotates the keys. Please look."});
    stage.as_agent("ada", "post_message", review);
    let event = |body: &str, metadata: Value| json!({"thread_id": "th_002", "kind": "event", "body": body, "metadata": metadata});
    let found = json!({"event_type": "finding_reported", "finding_id": "f1", "severity": "high", "file": "src/keys.rs", "line": 44});
    let found = event("An old key is still taken after two hours.", found);
    stage.as_agent("bob", "post_message", found);
    let fixed = json!({"event_type": "fix_pushed", "finding_id": "f1", "commit": "b7d0c55"});
    stage.as_agent(
        "ada",
        "post_message",
        event("Now 65 minutes, with a test.", fixed),
    );
}
