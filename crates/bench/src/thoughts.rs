//! Stores of records and of reasoning, made through the real tools, the same in every run.

use serde_json::{Value, json};

use crate::Outcome;
use crate::bench::{Bench, WORKSPACE};
use crate::inside::Inside;
use crate::plans::Plans;
use crate::stores;

/// A hash of this goes into the names of the stores.
const RECIPE: &str = include_str!("thoughts.rs");

/// Records with a rare word, beside the others, in every store of records.
const MARKED: usize = 20;
/// Records in a group: one and its children.
const GROUP: usize = 10;

/// Sessions that have missed writes, of each kind.
pub const LATE: usize = 80;
/// Writes that those missed which began early.
pub const MISSED_MANY: usize = 10_000;
/// Writes that the others missed.
pub const MISSED_FEW: usize = 100;

/// The branch at the end of a long line, and its depth.
pub const DEEP: usize = 1_000;

/// Keys that the branch `changed` has to merge, and operations of the base.
pub const CHANGED: usize = 10_000;

/// Operations in one call.
const BATCH: usize = 5_000;

fn said(plans: &mut Plans) -> String {
    let node = plans.one();
    node["nodes"][0]["summary"]
        .as_str()
        .unwrap_or_default()
        .to_string()
}

/// Arguments of `create_record`; the title has the words that are searched for.
pub fn record(plans: &mut Plans, parent: Option<&str>, session: &str) -> Value {
    let (title, number) = (said(plans), said(plans).len());
    json!({
        "parent_id": parent,
        "session_id": session,
        "type": "question",
        "title": title,
        "summary": format!("What we have to know before we go on, in {number} words or fewer."),
        "body": "We saw it twice last week and once this morning. Nothing in the logs says why. \
                 Two of us think that it began with the move to the new machines; the third \
                 remembers it from before. If it is the machines, going back is cheap and tells \
                 us at once. If not, we lose a day. What speaks for going back: it costs little. \
                 What speaks against: we would learn nothing about the older cases, and those \
                 are the ones that people wrote to us about.",
    })
}

fn id(made: &Value) -> Outcome<String> {
    let id = made["record"]["id"].as_str().ok_or("no record")?;
    Ok(id.to_string())
}

/// A store with this many records, in groups of one and its children.
pub fn records(bench: &Bench, count: usize) -> Outcome<String> {
    stores::kept(bench, &format!("records-{count}"), RECIPE, |store| {
        let inside = Inside::open(store)?;
        let mut plans = Plans::new(0);
        for _ in 0..MARKED {
            let mut marked = record(&mut plans, None, "first");
            marked["body"] = format!("Ask the zephyr: {}", marked["body"]).into();
            inside.call("create_record", marked)?;
        }
        inside.each(count / GROUP, |inside, group| {
            let mut plans = Plans::new(group as u64 + 1);
            let session = format!("chat-{}", group % 50);
            let root = id(&inside.call("create_record", record(&mut plans, None, &session))?)?;
            for at in 1..GROUP {
                let mut child = record(&mut plans, Some(&root), &session);
                if at % 3 == 0 {
                    child["state"] = "LATER".into();
                }
                inside.call("create_record", child)?;
            }
            Ok(())
        })?;
        inside.close();
        Ok(())
    })
}

/// A store with a record of 50 children and 500 grandchildren, and one of a tenth of that; `R001`
/// and `R002`.
pub fn families(bench: &Bench) -> Outcome<String> {
    stores::kept(bench, "families", RECIPE, |store| {
        let inside = Inside::open(store)?;
        let mut plans = Plans::new(0);
        let mut make = |parent: Option<&str>| {
            id(&inside.call("create_record", record(&mut plans, parent, "maker"))?)
        };
        let tops = [(make(None)?, 50), (make(None)?, 5)];
        for (top, children) in tops {
            for _ in 0..children {
                let child = make(Some(&top))?;
                for _ in 0..10 {
                    make(Some(&child))?;
                }
            }
        }
        inside.call("close_session", json!({ "session_id": "maker" }))?;
        inside.close();
        Ok(())
    })
}

/// A store where sessions `many-…` and `few-…` have missed writes.
pub fn missed(bench: &Bench) -> Outcome<String> {
    let many = bench.size(MISSED_MANY);
    stores::kept(bench, &format!("missed-{many}"), RECIPE, |store| {
        let inside = Inside::open(store)?;
        let mut plans = Plans::new(0);
        let mut ids = Vec::new();
        for _ in 0..100 {
            ids.push(id(
                &inside.call("create_record", record(&mut plans, None, "writer"))?
            )?);
        }
        let begin = |kind: &str| {
            inside.each(LATE, |inside, at| {
                let session = format!("{kind}-{at}");
                let wanted = json!({ "id": ids[at % 100], "session_id": session });
                inside.call("activate", wanted).map(|_| ())
            })
        };
        let write = |count: usize| {
            inside.each(count, |inside, at| {
                let change = json!({
                    "id": ids[at % 100],
                    "session_id": "writer",
                    "summary": format!("What we know by now, for the {at}th time."),
                    "force": true,
                });
                inside.call("update_record", change).map(|_| ())
            })
        };
        begin("many")?;
        write(many - MISSED_FEW)?;
        begin("few")?;
        write(MISSED_FEW)?;
        inside.close();
        Ok(())
    })
}

fn called(inside: &Inside, tool: &str, mut arguments: Value) -> Outcome<Value> {
    arguments["workspace"] = WORKSPACE.into();
    inside.call(tool, arguments)
}

/// A store with a line of branches `deep-1`, `deep-2` and so on, each from the one before; notes
/// at its root and on every hundredth.
pub fn deep(bench: &Bench) -> Outcome<String> {
    stores::kept(bench, "deep", RECIPE, |store| {
        let inside = Inside::open(store)?;
        let mut plans = Plans::new(0);
        let mut note = |branch: &str| {
            let note = json!({ "branch": branch, "doc": "notes", "content": said(&mut plans) });
            called(&inside, "branchmind_notes_commit", note)
        };
        for _ in 0..50 {
            note("main")?;
        }
        let mut from = "main".to_string();
        for depth in 1..=DEEP {
            let name = format!("deep-{depth}");
            let made = json!({ "name": name, "from": from });
            called(&inside, "branchmind_branch_create", made)?;
            if depth % 100 == 0 {
                note(&name)?;
            }
            from = name;
        }
        inside.close();
        Ok(())
    })
}

/// An operation on the node of a number.
pub fn node(plans: &mut Plans, number: usize) -> Value {
    json!({
        "op": "node_upsert",
        "id": format!("n{number}"),
        "type": "hypothesis",
        "title": said(plans),
        "status": "open",
        "tags": ["garden"],
    })
}

fn edge(from: usize, to: usize) -> Value {
    json!({ "op": "edge_upsert", "from": format!("n{from}"), "rel": "supports", "to": format!("n{to}") })
}

fn apply(inside: &Inside, branch: &str, ops: &[Value]) -> Outcome {
    for ops in ops.chunks(BATCH) {
        let batch = json!({ "branch": branch, "doc": "map", "ops": ops });
        called(inside, "branchmind_graph_apply", batch)?;
    }
    Ok(())
}

fn branch(inside: &Inside, name: &str, from: &str) -> Outcome {
    let made = json!({ "name": name, "from": from });
    called(inside, "branchmind_branch_create", made).map(|_| ())
}

/// A store whose graph has so many nodes, as many edges and as many changes again, over `main`,
/// `a`, `b` and `c`, each made from the one before; and `hot`, from `c`, where a third as many
/// changes are all of ten nodes.
pub fn map(bench: &Bench, nodes: usize) -> Outcome<String> {
    stores::kept(bench, &format!("map-{nodes}"), RECIPE, |store| {
        let inside = Inside::open(store)?;
        let mut plans = Plans::new(0);
        let all: Vec<Value> = (0..nodes).map(|at| node(&mut plans, at)).collect();
        apply(&inside, "main", &all)?;
        let edges: Vec<Value> = (0..nodes).map(|at| edge(at, (at + 1) % nodes)).collect();
        apply(&inside, "main", &edges)?;
        let mut from = "main";
        for (name, step) in [("a", 3), ("b", 7), ("c", 11)] {
            branch(&inside, name, from)?;
            let changes: Vec<Value> = (0..nodes / 3)
                .map(|at| node(&mut plans, at * step % nodes))
                .collect();
            apply(&inside, name, &changes)?;
            from = name;
        }
        branch(&inside, "hot", "c")?;
        let changes: Vec<Value> = (0..nodes / 3).map(|at| node(&mut plans, at % 10)).collect();
        apply(&inside, "hot", &changes)?;
        inside.close();
        Ok(())
    })
}

/// A store whose branch `changed` has this many keys to merge into `main`.
pub fn changed(bench: &Bench, keys: usize) -> Outcome<String> {
    stores::kept(bench, &format!("changed-{keys}"), RECIPE, |store| {
        let inside = Inside::open(store)?;
        let mut plans = Plans::new(0);
        let all: Vec<Value> = (0..keys).map(|at| node(&mut plans, at)).collect();
        apply(&inside, "main", &all)?;
        branch(&inside, "changed", "main")?;
        let all: Vec<Value> = (0..keys).map(|at| node(&mut plans, at)).collect();
        apply(&inside, "changed", &all)?;
        inside.close();
        Ok(())
    })
}
