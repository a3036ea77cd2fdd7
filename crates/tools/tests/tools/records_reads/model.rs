//! The model of records and sessions: a whole copy of every version, every change in order, and
//! nothing derived but when it is asked for.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use understory_engine::Engine;
use understory_testkit::World;

use super::{ids, list, on, page_through, text};

/// Ticks that a session may miss here before it is stale.
pub const STALE_AFTER: i64 = 6;
pub const AGENTS: [&str; 3] = ["s0", "s1", "s2"];

/// A version of a record: the whole answer.
#[derive(Debug, Clone)]
pub struct Copy {
    pub record: Value,
}

#[derive(Debug, Clone, Default)]
pub struct Session {
    pub begun: bool,
    pub open: bool,
    /// What it holds, and the version that it last saw of each.
    pub held: BTreeMap<usize, usize>,
    /// What it changed since its last save.
    pub wrote: BTreeSet<usize>,
    pub sync_tick: i64,
    /// Of what it holds, what it made and did not touch since.
    pub made: BTreeSet<usize>,
    /// Since when it holds each, and where it went on in spite of others.
    pub since: BTreeMap<usize, usize>,
    pub overrode: BTreeMap<usize, usize>,
    /// The changes that it made, was told of, or that were there before it began.
    pub told: BTreeSet<usize>,
    /// What its agent believes each record to be, from what the answers really showed.
    pub views: BTreeMap<usize, Value>,
}

/// One change as a sync should tell it.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub record: usize,
    /// The version that it made.
    pub version: usize,
    pub kind: &'static str,
    pub old: Value,
    pub new: Value,
    pub by: usize,
    pub tick: i64,
}

#[derive(Default)]
pub struct Model {
    pub records: Vec<Vec<Copy>>,
    pub parents: Vec<Option<usize>>,
    pub sessions: [Session; 3],
    pub changes: Vec<Change>,
    pub tick: i64,
    /// Who made each write.
    pub writers: Vec<usize>,
    /// Counts whatever happens.
    pub moment: usize,
    /// Events of the activity log by type.
    pub events: BTreeMap<&'static str, usize>,
}

impl Model {
    pub fn now(&self, record: usize) -> &Value {
        &self.records[record].last().unwrap().record
    }

    pub fn state(&self, record: usize) -> &str {
        self.now(record)["state"].as_str().unwrap()
    }

    pub fn log(&mut self, event: &'static str) {
        *self.events.entry(event).or_default() += 1;
    }

    /// Begins a session, or begins it again.
    pub fn enter(&mut self, agent: usize) {
        let (tick, told) = (self.tick, (0..self.changes.len()).collect());
        let session = &mut self.sessions[agent];
        if session.open {
            return;
        }
        *session = Session {
            begun: true,
            open: true,
            sync_tick: tick,
            told,
            ..Session::default()
        };
        self.log("session_started");
    }

    /// The writes of others since a session's sync point.
    pub fn gap(&self, agent: usize) -> i64 {
        let since = usize::try_from(self.sessions[agent].sync_tick).unwrap();
        self.writers[since..]
            .iter()
            .filter(|by| **by != agent)
            .count() as i64
    }

    /// A session makes, activates or changes a record.
    pub fn uses(&mut self, agent: usize, record: usize, made: bool) {
        self.moment += 1;
        let moment = self.moment;
        let session = &mut self.sessions[agent];
        session.since.entry(record).or_insert(moment);
        match made {
            true => session.made.insert(record),
            false => session.made.remove(&record),
        };
    }

    /// A session goes on in spite of others.
    pub fn overrides(&mut self, agent: usize, record: usize) {
        self.moment += 1;
        let moment = self.moment;
        self.sessions[agent].overrode.insert(record, moment);
    }

    /// Opens a session that was closed, which knows what it knew.
    pub fn resume(&mut self, agent: usize) {
        if !std::mem::replace(&mut self.sessions[agent].open, true) {
            self.log("session_started");
        }
    }

    /// A write: a session that had missed nothing has missed nothing after it.
    pub fn write(&mut self, agent: usize, change: Option<(usize, &'static str, Value, Value)>) {
        let missed_nothing = self.gap(agent) == 0;
        self.tick += 1;
        self.writers.push(agent);
        let tick = self.tick;
        if let Some((record, kind, old, new)) = change {
            let version = self.records[record].len();
            self.sessions[agent].told.insert(self.changes.len());
            self.changes.push(Change {
                record,
                version,
                kind,
                old,
                new,
                by: agent,
                tick,
            });
            self.uses(agent, record, kind == "created");
            self.saw(agent, record, version);
            self.sessions[agent].wrote.insert(record);
        }
        if missed_nothing {
            self.sessions[agent].sync_tick = tick;
        }
    }

    /// A session saw a version of a record whole.
    pub fn saw(&mut self, agent: usize, record: usize, version: usize) {
        let view = self.records[record][version - 1].record.clone();
        let session = &mut self.sessions[agent];
        session.held.insert(record, version);
        session.views.insert(record, view);
    }

    /// Whether a record has a newer version than a session saw; only in its state, if asked.
    pub fn stale(&self, agent: usize, record: usize, state_only: bool) -> bool {
        let seen = self.sessions[agent].held[&record];
        let all = &self.records[record];
        let state = |at: usize| at.checked_sub(1).map(|at| &all[at].record["state"]);
        (seen..all.len()).any(|at| !state_only || state(at) != state(at + 1))
    }

    pub fn others(&self, agent: usize, record: usize) -> Vec<String> {
        let handed_on = self.parents[record].is_some() && self.children(record).is_empty();
        let own = &self.sessions[agent];
        let overrode = own.overrode.get(&record).copied().unwrap_or(0);
        let contends = |other: &Session| {
            other.held.contains_key(&record)
                && !(handed_on && other.made.contains(&record))
                && other.since[&record] > overrode
        };
        (0..AGENTS.len())
            .filter(|other| *other != agent && contends(&self.sessions[*other]))
            .map(|other| format!("sess_{}", AGENTS[other]))
            .collect()
    }

    /// What a session was not told: first of what it holds, then of the rest, the oldest first.
    pub fn missed(&self, agent: usize) -> Vec<usize> {
        let session = &self.sessions[agent];
        let mut missed: Vec<usize> = (0..self.changes.len())
            .filter(|at| self.changes[*at].by != agent && !session.told.contains(at))
            .collect();
        missed.sort_by_key(|at| !session.held.contains_key(&self.changes[*at].record));
        missed
    }

    pub fn children(&self, record: usize) -> Vec<usize> {
        (0..self.records.len())
            .filter(|child| self.parents[*child] == Some(record))
            .collect()
    }

    /// The order of the tree: each before those below it.
    pub fn tree(&self, from: Option<usize>, out: &mut Vec<usize>) {
        for record in (0..self.records.len()).filter(|record| self.parents[*record] == from) {
            out.push(record);
            self.tree(Some(record), out);
        }
    }
}

/// The word that only one version of one record begins with.
fn first_word(record: &Value) -> String {
    let body = text(&record["body"]);
    body.split_whitespace()
        .next()
        .unwrap_or_default()
        .to_string()
}

/// What a reader of a change knows afterwards. It panics where the change does not fit what the
/// reader knew before.
pub fn read(view: &mut Value, change: &Value) {
    if change["change_type"] == "state_changed" {
        assert_eq!(view["state"], change["old_value"], "{change}");
        view["state"] = change["new_value"].clone();
        return;
    }
    for (field, value) in change["new_value"].as_object().into_iter().flatten() {
        assert_eq!(view[field], change["old_value"][field], "{change}");
        view[field] = value.clone();
    }
    for (field, diff) in change["diff"].as_object().into_iter().flatten() {
        view[field] = patched(&text(&view[field]), &text(diff)).into();
    }
}

/// A text after a unified diff.
fn patched(text: &str, diff: &str) -> String {
    let old: Vec<&str> = text.split_inclusive('\n').collect();
    let (mut out, mut at, mut last) = (String::new(), 0, ' ');
    for line in diff.lines().skip(2) {
        if let Some(hunk) = line.strip_prefix("@@ -") {
            let mut numbers = hunk.split([',', ' ']).map(|n| n.parse::<usize>());
            let (start, count) = (numbers.next().unwrap().unwrap(), numbers.next().unwrap());
            let start = start - usize::from(count != Ok(0));
            out.push_str(&old[at..start].concat());
            at = start;
            continue;
        }
        let (sign, rest) = line.split_at(1);
        match sign {
            "+" => out.extend([rest, "\n"]),
            "\\" if last == '+' => drop(out.pop()),
            "\\" => {}
            _ => {
                assert_eq!(old[at].trim_end_matches('\n'), rest, "{diff}");
                if sign == " " {
                    out.push_str(old[at]);
                }
                at += 1;
            }
        }
        last = line.chars().next().unwrap_or(' ');
    }
    out.push_str(&old[at..].concat());
    out
}

pub fn handle(record: usize) -> String {
    format!("R{:03}", record + 1)
}

pub fn handles<'r>(records: impl IntoIterator<Item = &'r usize>) -> Vec<String> {
    records.into_iter().map(|record| handle(*record)).collect()
}

pub fn leads(from: &str, to: &str) -> bool {
    matches!(
        (from, to),
        ("OPEN", "LATER" | "RESOLVED" | "DISCARDED")
            | ("LATER", "OPEN" | "DISCARDED")
            | ("RESOLVED" | "DISCARDED", "OPEN")
    )
}

/// What an overview says, after every step.
pub fn agrees(world: &World, model: &Model, at: usize) {
    let overview = world.ok("get_project_overview", json!({"max_chars": 1_000_000}));
    assert_eq!(
        overview["project"]["tick"], model.tick,
        "tick after step {at}"
    );
    let open: Vec<Value> = list(&overview["open_sessions"]).clone();
    assert_eq!(
        open.len(),
        model.sessions.iter().filter(|session| session.open).count()
    );
    for (agent, session) in model
        .sessions
        .iter()
        .enumerate()
        .filter(|(_, session)| session.open)
    {
        let shown = open
            .iter()
            .find(|one| one["id"] == format!("sess_{}", AGENTS[agent]))
            .expect("an open session");
        let gap = model.gap(agent);
        let status = if gap > STALE_AFTER { "stale" } else { "active" };
        assert_eq!(
            (
                &shown["tick_gap"],
                &shown["status"],
                &shown["active_records"]
            ),
            (
                &json!(gap),
                &json!(status),
                &json!(handles(session.held.keys()))
            ),
            "{} after step {at}",
            AGENTS[agent]
        );
    }
    for (part, state) in [("open_records", "OPEN"), ("later_records", "LATER")] {
        let mut shown = ids(&overview[part]);
        shown.sort();
        let expected: Vec<usize> = (0..model.records.len())
            .filter(|record| model.state(*record) == state)
            .collect();
        assert_eq!(shown, handles(&expected), "{part} after step {at}");
    }
}

/// Everything, at the end.
pub fn agrees_at_the_end(world: &World, engine: &Engine, model: &Model) {
    let mut tree = Vec::new();
    model.tree(None, &mut tree);
    let rows = on(engine, AGENTS[1], "list_records", json!({"limit": 200}));
    assert_eq!(ids(&rows["records"]), handles(&tree));
    assert_eq!(rows["total"], tree.len());
    for (row, record) in list(&rows["records"]).iter().zip(&tree) {
        let children = model.children(*record);
        let open = children
            .iter()
            .filter(|child| model.state(**child) == "OPEN")
            .count();
        assert_eq!(
            (
                &row["state"],
                &row["children_count"],
                &row["open_children_count"]
            ),
            (
                &json!(model.state(*record)),
                &json!(children.len()),
                &json!(open)
            ),
            "{row}"
        );
    }
    for (record, copies) in model.records.iter().enumerate() {
        let id = handle(record);
        for copy in copies {
            let then = on(
                engine,
                AGENTS[2],
                "get_record_diff",
                json!({"id": id, "from": copy.record["modified"]}),
            );
            assert_eq!(then["from_version"], copy.record, "{id}");
        }
        let words: BTreeSet<String> = copies.iter().map(|copy| first_word(&copy.record)).collect();
        for word in words {
            let found = ids(&on(
                engine,
                AGENTS[1],
                "search_records",
                json!({ "query": word }),
            )["results"]);
            assert_eq!(
                found.contains(&id),
                first_word(model.now(record)) == word,
                "{word}: {found:?}"
            );
        }
    }
    for kind in [
        "record_created",
        "record_updated",
        "state_transition",
        "session_started",
        "session_saved",
        "session_closed",
        "activation",
        "conflict_detected",
        "conflict_resolved",
    ] {
        let seen = page_through(
            world,
            "get_recent_activity",
            "activity",
            &json!({"types": [kind]}),
            200,
        )
        .len();
        assert_eq!(seen, model.events.get(kind).copied().unwrap_or(0), "{kind}");
    }
    world.assert_sound();
}
