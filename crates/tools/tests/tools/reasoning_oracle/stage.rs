//! A world beside its model: what is asked of the world, and what it must answer.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use understory_testkit::World;

use super::{Conflict, DOCS, Key, Model, Note, Version};

/// With more branches than this, not every pair is compared.
const FEW: usize = 6;

pub struct Stage<'w> {
    pub world: &'w World,
    pub model: Model,
    /// The ids of the model's conflicts.
    pub ids: Vec<String>,
    /// Where in the log each tick of the model is, as far as it was seen.
    pub seqs: BTreeMap<u64, i64>,
}

pub fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("no count: {value}"))
}

pub fn rows(answer: &Value, list: &str) -> Vec<Value> {
    let rows = answer[list].as_array();
    rows.unwrap_or_else(|| panic!("no {list}: {answer}"))
        .clone()
}

pub fn with(mut args: Value, more: Value) -> Value {
    let more = more.as_object().expect("an object").clone();
    args.as_object_mut().expect("an object").extend(more);
    args["workspace"] = "garden-shed".into();
    args
}

impl Stage<'_> {
    #[track_caller]
    pub fn ok(&self, tool: &str, args: Value) -> Value {
        let tool = format!("branchmind_{tool}");
        self.world.ok(&tool, with(args, json!({})))
    }

    /// Pages to the end: the rows in the order in which they came.
    #[track_caller]
    pub fn pages(&self, tool: &str, list: &str, args: &Value, limit: usize) -> Vec<Value> {
        let (mut all, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let args = with(args.clone(), json!({"limit": limit, "cursor": cursor}));
            let answer = self.ok(tool, args);
            let (mut found, page) = (rows(&answer, list), &answer["pagination"]);
            assert_eq!(answer["truncated"], false);
            assert_eq!((&page["cursor"], &page["limit"]), (&cursor, &json!(limit)));
            assert_eq!(page["count"], found.len());
            if list == "entries" {
                // Within a page they ascend, and pages go backwards.
                found.reverse();
            }
            let full = found.len() == limit;
            all.extend(found);
            if page["has_more"] == false {
                assert!(page.get("next_cursor").is_none());
                return all;
            }
            assert!(full, "only the last page is short");
            cursor = page["next_cursor"].clone();
        }
    }

    /// What a tick of the model is in the log is the same wherever it is seen.
    #[track_caller]
    pub fn stands(&mut self, tick: u64, seq: &Value) {
        let seq = seq.as_i64().expect("a seq");
        assert_eq!(*self.seqs.entry(tick).or_insert(seq), seq, "tick {tick}");
    }

    /// Compares states with what is shown of them.
    #[track_caller]
    pub fn compare(&mut self, shown: &[Value], expected: &[(Key, Version)], what: &str) {
        let mut bare = Vec::new();
        for (at, one) in shown.iter().enumerate() {
            let mut one = one.as_object().expect("an object").clone();
            let seq = one.remove("last_seq").expect("last_seq");
            assert!(
                one.remove("last_ts_ms")
                    .is_some_and(|ms| ms.as_i64() > Some(0))
            );
            if let Some((_, version)) = expected.get(at) {
                self.stands(version.tick, &seq);
            }
            bare.push(Value::Object(one));
        }
        let expected: Vec<Value> = expected
            .iter()
            .map(|(_, version)| with_deleted(version))
            .collect();
        assert_eq!(bare, expected, "{what}");
    }
}

pub fn with_deleted(version: &Version) -> Value {
    let mut state = version.state.clone();
    state["deleted"] = version.deleted.into();
    state
}

/// What is checked when a program is over.
impl Stage<'_> {
    pub fn check_all(&mut self) {
        let all = self.model.branches.len();
        self.check_views();
        for (from, to) in (0..all).flat_map(|from| (0..all).map(move |to| (from, to))) {
            let near = |a: usize, b: usize| self.model.branches[a].base == Some(b);
            if all <= FEW || near(from, to) || near(to, from) || from + to == all {
                self.check_diffs(from, to);
            }
        }
        for at in 0..self.ids.len() {
            self.check_conflict(at);
        }
        let seqs: Vec<i64> = self.seqs.values().copied().collect();
        assert!(seqs.is_sorted_by(|a, b| a < b), "the log has another order");
    }

    /// What each branch shows.
    pub fn check_views(&mut self) {
        let all = self.model.branches.len();
        for branch in 0..all {
            for doc in 0..DOCS.len() {
                self.check_graph(branch, doc);
                self.check_conflicts(branch, doc);
            }
        }
        // A copy names the note that it was made of, which another branch may be first to show.
        let shown: Vec<Vec<Value>> = (0..all).map(|branch| self.learn_notes(branch)).collect();
        for (branch, shown) in shown.iter().enumerate() {
            let expected = self.model.branches[branch].notes.clone();
            self.compare_notes(shown, expected, &format!("notes of {branch}"));
        }
    }

    fn check_graph(&mut self, branch: usize, doc: usize) {
        let place = json!({"branch": Model::name(branch), "doc": DOCS[doc]});
        for deleted in [false, true] {
            let what = format!("{place}, deleted: {deleted}");
            let args = with(place.clone(), json!({"include_deleted": deleted}));
            let (nodes, edges) = self.model.view(branch, doc, deleted);
            let whole = self.ok("graph_query", args.clone());
            self.compare(&rows(&whole, "nodes"), &nodes, &what);
            self.compare(&rows(&whole, "edges"), &edges, &what);
            for limit in 1..=3 {
                let paged = self.pages("graph_query", "nodes", &args, limit);
                assert_eq!(paged, rows(&whole, "nodes"), "pages of {what}");
            }
        }
        let valid = self.ok("graph_validate", place.clone());
        let living = self.model.living(branch, doc);
        let count = |kind: &str| living.keys().filter(|key| key.kind() == kind).count();
        let stats = json!({"nodes": count("node"), "edges": count("edge")});
        assert_eq!(valid["stats"], stats, "{place}");
        let missing: BTreeSet<(String, String)> = rows(&valid, "errors")
            .iter()
            .map(|error| (error["key"].to_string(), error["missing"].to_string()))
            .collect();
        let expected: BTreeSet<(String, String)> = self
            .model
            .dangling(branch, doc)
            .into_iter()
            .map(|(key, id)| (key.shown().to_string(), json!(id).to_string()))
            .collect();
        assert_eq!(missing, expected, "{place}");
        assert_eq!(valid["ok"], expected.is_empty());
    }

    #[track_caller]
    fn compare_notes(&mut self, shown: &[Value], mut expected: Vec<Note>, what: &str) {
        expected.reverse();
        let mut seen = Vec::new();
        for (at, entry) in shown.iter().enumerate() {
            if let Some(note) = expected.get(at) {
                self.stands(note.tick, &entry["seq"]);
            }
            seen.push(json!([
                entry["branch"],
                entry["content"],
                entry["source_event_id"]
            ]));
        }
        let expected: Vec<Value> = expected
            .iter()
            .map(|note| {
                let from = |(from, tick): (usize, u64)| {
                    format!("merge:{}:{}", Model::name(from), self.seqs[&tick])
                };
                json!([Model::name(note.branch), note.text, note.source.map(from)])
            })
            .collect();
        assert_eq!(seen, expected, "{what}");
    }

    /// The notes of a branch, newest first.
    fn learn_notes(&mut self, branch: usize) -> Vec<Value> {
        let place = json!({"branch": Model::name(branch), "doc": "notes"});
        let shown = self.pages("show", "entries", &place, 3);
        let expected = self.model.branches[branch].notes.clone();
        for (entry, note) in shown.iter().zip(expected.iter().rev()) {
            self.stands(note.tick, &entry["seq"]);
        }
        shown
    }

    fn check_diffs(&mut self, from: usize, to: usize) {
        let sides = json!({"from": Model::name(from), "to": Model::name(to)});
        for (doc, name) in DOCS.iter().enumerate() {
            let args = with(sides.clone(), json!({ "doc": name }));
            let expected = self.model.diff(from, to, doc);
            let changes = self.pages("graph_diff", "changes", &args, 3);
            let told: Vec<Value> = changes.iter().map(|change| change["to"].clone()).collect();
            self.compare(&told, &expected, &args.to_string());
            for (change, (key, _)) in changes.iter().zip(&expected) {
                let name = if key.kind() == "node" { "id" } else { "key" };
                assert_eq!(
                    (&change["kind"], &change[name]),
                    (&json!(key.kind()), &key.shown())
                );
            }
        }
        let expected = self.model.new_notes(from, to);
        let shown = self.pages("diff", "entries", &sides, 3);
        self.compare_notes(&shown, expected, &sides.to_string());
    }

    /// The conflicts of a destination, as a list: newest first.
    fn check_conflicts(&self, into: usize, doc: usize) {
        let args = json!({"into": Model::name(into), "doc": DOCS[doc]});
        for (status, open) in [
            (None, None),
            (Some("open"), Some(true)),
            (Some("resolved"), Some(false)),
        ] {
            let args = with(args.clone(), json!({ "status": status }));
            let listed: Vec<Value> = self
                .pages("graph_conflicts", "conflicts", &args, 2)
                .iter()
                .map(|one| json!([one["conflict_id"], one["kind"], one["key"], one["status"]]))
                .collect();
            let fits = |(_, one): &(usize, &Conflict)| {
                (one.into, one.doc) == (into, doc)
                    && open.is_none_or(|open| open == one.settled.is_none())
            };
            let all = self.model.conflicts.iter().enumerate().rev();
            let expected: Vec<Value> = all
                .filter(fits)
                .map(|(at, one)| {
                    json!([
                        self.ids[at],
                        one.key.kind(),
                        one.key.shown(),
                        status_of(one)
                    ])
                })
                .collect();
            assert_eq!(listed, expected, "{args}");
        }
    }

    fn check_conflict(&mut self, at: usize) {
        let expected = self.model.conflicts[at].clone();
        let answer = self.ok("graph_conflict_show", json!({"conflict_id": self.ids[at]}));
        let shown = &answer["conflict"];
        assert_eq!(shown["from"], Model::name(expected.from));
        assert_eq!(shown["into"], Model::name(expected.into));
        assert_eq!(
            (&shown["doc"], &shown["key"]),
            (&json!(DOCS[expected.doc]), &expected.key.shown())
        );
        assert_eq!(shown["status"], status_of(&expected));
        assert_eq!(shown["resolution"], json!(expected.settled), "{shown}");
        assert_eq!(
            shown["resolved_at_ms"].is_null(),
            expected.settled.is_none()
        );
        let sides = [
            ("base", expected.base),
            ("ours", expected.ours),
            ("theirs", Some(expected.theirs)),
        ];
        for (side, version) in sides {
            let mut shown = shown[side].clone();
            if let Some(shown) = shown.as_object_mut() {
                shown.remove("last_seq");
            }
            let version = version.as_ref().map_or(Value::Null, with_deleted);
            assert_eq!(shown, version, "{side} of {answer}");
        }
    }
}

fn status_of(conflict: &Conflict) -> &'static str {
    match conflict.settled {
        Some(_) => "resolved",
        None => "open",
    }
}
