//! What a write costs: the statements that it sends to the store. A write holds back its items and
//! rows to write them together, and each read in between writes out what is held; a rule that
//! reads where it need not shows here.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use understory_engine::Options;
use understory_testkit::{TestClock, World, on_both};

use crate::faults::same_kind;

/// A world whose statements are counted.
fn counted(world: World) -> (World, Arc<AtomicUsize>) {
    let (clock, count) = (
        Arc::new(TestClock::default()),
        Arc::new(AtomicUsize::new(0)),
    );
    let seen = count.clone();
    let options = Options {
        clock: clock.clone(),
        probe: Some(Arc::new(move |_: &str| {
            seen.fetch_add(1, Ordering::SeqCst);
            false
        })),
        ..Options::default()
    };
    (World::with(same_kind(world), clock, options), count)
}

struct Costs {
    world: World,
    count: Arc<AtomicUsize>,
    over: Vec<String>,
}

impl Costs {
    /// Makes a call, which may take this many statements on SQLite and on PostgreSQL.
    fn call(&mut self, name: &str, most: (usize, usize), tool: &str, args: Value) -> Value {
        let before = self.count.load(Ordering::SeqCst);
        let answer = self.world.ok(tool, args);
        let took = self.count.load(Ordering::SeqCst) - before;
        let most = if self.world.backend.is_sqlite() {
            most.0
        } else {
            most.1
        };
        if took > most {
            self.over
                .push(format!("{name}: {took} statements, at most {most}"));
        }
        answer
    }
}

#[on_both]
fn a_write_costs_what_it_did(world: World) {
    let (world, count) = counted(world);
    let over = Vec::new();
    let mut all = Costs { world, count, over };
    graph(&mut all);
    records(&mut all);
    reasoning(&mut all);
    threads(&mut all);
    garden(&mut all);
    assert!(all.over.is_empty(), "{:#?}", all.over);
}

fn graph(all: &mut Costs) {
    let many = |n: usize| -> Vec<Value> {
        let node = |n| json!({"ref": format!("n{n}"), "summary": format!("node {n}")});
        (0..n).map(node).collect()
    };
    let nodes = json!({"nodes": many(10)});
    all.call("plan ten", (88, 33), "graph_plan", nodes);
    let nodes = json!({"nodes": many(40)});
    all.call("plan forty", (256, 19), "graph_plan", nodes);
    let update = |n: usize| json!({"node_id": format!("TASK-{n:03}"), "summary": format!("new {n}"), "properties": {"area": n}});
    let updates = json!({"updates": [update(1)]});
    all.call("update one", (19, 16), "graph_update", updates);
    let updates: Vec<Value> = (1..=20).map(update).collect();
    let updates = json!({ "updates": updates });
    all.call("update twenty", (182, 125), "graph_update", updates);
    let resolved = json!({"updates": [{"node_id": "TASK-020", "resolved": true, "summary": "x"}]});
    all.call("resolve", (22, 19), "graph_update", resolved);
    let edge =
        |n: usize| json!({"from": format!("TASK-{n:03}"), "to": "TASK-019", "type": "depends_on"});
    let edges: Vec<Value> = (1..=10).map(edge).collect();
    let edges = json!({ "edges": edges });
    all.call("connect ten", (112, 91), "graph_connect", edges);
    let operations = |from: usize| -> Value {
        let under =
            |n| json!({"op": "move", "node_id": format!("TASK-{n:03}"), "new_parent": "TASK-030"});
        json!({"operations": (from..from + 5).map(under).collect::<Vec<_>>()})
    };
    all.call("move five", (127, 106), "graph_restructure", operations(1));
    let drops: Vec<Value> = (6..9)
        .map(|n| json!({"op": "drop", "node_id": format!("TASK-{n:03}"), "reason": "out"}))
        .collect();
    let drops = json!({ "operations": drops });
    all.call("drop three", (64, 49), "graph_restructure", drops);
    let claim = json!({"claim": true, "count": 5});
    all.call("claim five", (75, 46), "graph_next", claim);
}

fn records(all: &mut Costs) {
    let record = |n: usize, parent: Value| json!({"parent_id": parent, "type": "note", "title": format!("title {n}"), "summary": "s", "body": "b"});
    let call = record(1, Value::Null);
    all.call("record", (28, 19), "create_record", call);
    let mut call = record(2, json!("R001"));
    call["related"] = json!(["R001"]);
    all.call("related record", (27, 24), "create_record", call);
    let many: Vec<Value> = (10..30).map(|n| record(n, json!("R001"))).collect();
    let many = json!({ "records": many });
    all.call("twenty records", (178, 61), "create_records", many);
    let call = json!({"id": "R002", "body": "new", "related": ["R003", "R004"]});
    all.call("change record", (30, 27), "update_record", call);
    let call = json!({"id": "R003", "parent_id": "R002"});
    all.call("move record", (32, 30), "update_record", call);
    let call = json!({"id": "R001", "to_state": "RESOLVED", "resolved_by": "R002"});
    all.call("resolve record", (25, 23), "transition", call);
    let call = json!({"id": "R004", "session_id": "s1"});
    all.call("activate", (38, 33), "activate", call);
    all.call("sync", (15, 13), "sync_session", json!({}));
    let call = json!({"summary": "saved"});
    all.call("save", (21, 18), "save_session", call);
    all.call("close", (21, 19), "close_session", json!({}));
    let call = json!({"name": "other"});
    all.call("project", (11, 9), "create_project", call);
}

fn reasoning(all: &mut Costs) {
    let workspace = "garden-shed";
    let call =
        json!({"workspace": workspace, "branch": "main", "doc": "notes", "content": "first"});
    all.call("note", (20, 17), "branchmind_notes_commit", call);
    let op = |n: usize, title: &str| json!({"op": "node_upsert", "id": format!("i{n}"), "type": "idea", "title": title});
    let ops: Vec<Value> = (0..10).map(|n| op(n, "base")).collect();
    let call = json!({"workspace": workspace, "branch": "main", "doc": "graph", "ops": ops});
    all.call("apply ten", (47, 18), "branchmind_graph_apply", call);
    let call = json!({"workspace": workspace, "name": "beside", "from": "main"});
    all.call("branch", (12, 10), "branchmind_branch_create", call);
    for branch in ["main", "beside"] {
        let ops: Vec<Value> = (0..10).map(|n| op(n, branch)).collect();
        let call = json!({"workspace": workspace, "branch": branch, "doc": "graph", "ops": ops});
        all.world.ok("branchmind_graph_apply", call);
        let call =
            json!({"workspace": workspace, "branch": branch, "doc": "notes", "content": branch});
        all.world.ok("branchmind_notes_commit", call);
    }
    let ops: Vec<Value> = (20..30).map(|n| op(n, "beside")).collect();
    let call = json!({"workspace": workspace, "branch": "beside", "doc": "graph", "ops": ops});
    all.world.ok("branchmind_graph_apply", call);
    let call = json!({"workspace": workspace, "from": "beside", "into": "main", "doc": "notes"});
    all.call("merge notes", (14, 12), "branchmind_merge", call);
    let call = json!({"workspace": workspace, "from": "beside", "into": "main", "doc": "graph"});
    let merged = all.call("merge graph", (88, 31), "branchmind_graph_merge", call);
    let conflict = merged["conflict_ids"][0].clone();
    let call = json!({"workspace": workspace, "conflict_id": conflict, "resolution": "use_from"});
    all.call(
        "resolve conflict",
        (16, 13),
        "branchmind_graph_conflict_resolve",
        call,
    );
    let call = json!({"workspace": workspace, "target": "TASK-010", "card": {"id": "h", "type": "hypothesis", "title": "T"}});
    all.call("card", (28, 24), "branchmind_think_card", call);
    let call = json!({"workspace": workspace, "ref": "beside"});
    all.call("checkout", (12, 10), "branchmind_checkout", call);
}

fn threads(all: &mut Costs) {
    let call = json!({"title": "T", "participants": ["bob", "ada"]});
    all.call("thread", (21, 18), "create_thread", call);
    let call = json!({"thread_id": "th_001", "body": "hello @bob, see TASK-001"});
    all.call("message", (22, 19), "post_message", call);
    let call = json!({"thread_id": "th_001", "body": "found", "kind": "event", "metadata":
        {"event_type": "finding_reported", "finding_id": "F", "commit": "abc1234"}});
    all.call("finding", (27, 24), "post_message", call);
    let call = json!({"resumable": true});
    all.call("heartbeat", (6, 6), "heartbeat_session", call);
    let said = json!({"thread_id": "th_001", "body": "Look @ada"});
    let bob = World::caller("bob");
    all.world.call_as(&bob, "post_message", said).expect("said");
    let call = json!({"thread_id": "th_001", "target_agent_id": "ada", "reason": "look"});
    all.call("trigger", (23, 21), "trigger_participant", call);
    let call = json!({"thread_id": "th_001", "status": "blocked", "reason": "x"});
    all.call("status", (19, 16), "update_thread_status", call);
    let call = json!({"thread_id": "th_001", "last_read_seq": 3});
    all.call("ack", (26, 22), "ack_read", call);
    let call = json!({"to": ["cyd"], "body": "direct"});
    all.call("direct message", (38, 31), "post_message", call);
}

fn garden(all: &mut Costs) {
    let call = json!({"type": "Note", "description": "the first word about TASK-001"});
    let added = all.call("garden note", (28, 23), "garden_add", call);
    let item = added["item"]["uuid"].clone();
    let call = json!({"label": "doc", "content": "one\ntwo\nthree\n"});
    let made = all.call("artifact", (54, 45), "garden_artifact_create", call);
    let head = made["artifact"]["head"].clone();
    let call = json!({"artifact": "doc", "based_on": head, "content": "one\nzwei\nthree\n", "reasoning": "r"});
    let ours = all.call("commit", (38, 35), "garden_artifact_commit", call)["commit"].clone();
    let call =
        json!({"artifact": "doc", "based_on": head, "content": "one\ntwo\ndrei\n", "fork": true});
    let theirs = all.world.ok("garden_artifact_commit", call)["commit"].clone();
    let call = json!({"artifact": "doc", "ours": ours, "theirs": theirs});
    all.call("merge artifact", (43, 41), "garden_artifact_merge", call);
    let call = json!({"artifact": "doc", "label": "page"});
    all.call("relabel", (28, 26), "garden_artifact_relabel", call);
    let call = json!({"type": "thing", "data": {"text": "x"}});
    let thing = all.call("entity", (17, 14), "garden_entity_create", call)["entity"].clone();
    let call =
        json!({"uuid": thing["uuid"], "data": {"text": "y"}, "based_on_hash": thing["hash"]});
    all.call("change entity", (20, 18), "garden_entity_update", call);
    let call = json!({"kind": "derived_from", "source": "R001", "target": item});
    all.call("relate", (26, 24), "garden_relate", call);
    let root = all.world.ok("garden_stack", json!({}))["stack"][0].clone();
    let call = json!({"parent": root});
    let log = all.call("fork", (33, 27), "garden_fork", call)["log"]["uuid"].clone();
    let call = json!({"log": log, "write": "a thought", "keep": true});
    all.call("scratchpad", (25, 22), "scratchpad", call);
    let call = json!({"log": log, "summary": "learned"});
    all.call("collapse", (35, 30), "garden_collapse", call);
    let call = json!({"log": log});
    all.call("reopen", (62, 48), "garden_reopen", call);
    let call = json!({"log": root});
    all.call("frame", (16, 14), "garden_frame", call);
    let call = json!({"artifact": "page", "start": 1, "end": 2});
    all.call("scroll", (24, 22), "reader_scroll", call);
    let call =
        json!({"artifact": "page", "start": 2, "end": 2, "content": "dos", "reasoning": "r"});
    let bob = World::caller("bob");
    let made = all
        .world
        .call_as(&bob, "reader_propose", call)
        .expect("proposed");
    let call = json!({"proposal": made["proposal"]["id"], "accept": true});
    all.call("decide", (69, 60), "reader_decide", call);
    let call = json!({"item": item});
    all.call("undo", (24, 21), "garden_undo", call);
    let call = json!({"threshold": 0.99});
    all.call("fossilize", (10, 10), "garden_fossilize", call);
}
