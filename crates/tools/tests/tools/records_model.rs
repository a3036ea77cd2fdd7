//! Random programs of three sessions against a model that is too simple to be wrong.
//!
//! The model keeps a whole copy of every version of every record and every change in order, and
//! works out from those what is stale, contested, counted and missed. The sessions speak through
//! two engines, as two processes would. proptest prints the program that disagrees.

use crate::records_reads::model::*;
use crate::records_reads::steps::{Step, step};
use crate::records_reads::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};
use understory_engine::{Engine, Options};
use understory_model::{Code, Fault};
use understory_testkit::{Backend, TestClock, World};

const STATES: [&str; 4] = ["OPEN", "LATER", "RESOLVED", "DISCARDED"];

/// The store, and the two processes on it.
struct Stage<'w> {
    world: &'w World,
    second: Engine,
    words: usize,
}

impl Stage<'_> {
    fn engine(&self, agent: usize) -> &Engine {
        if agent == 0 {
            &self.world.engine
        } else {
            &self.second
        }
    }

    fn call(&self, agent: usize, tool: &str, args: Value) -> Result<Value, Fault> {
        World::call_on(
            self.engine(agent),
            &World::caller(AGENTS[agent]),
            tool,
            args,
        )
    }

    #[track_caller]
    fn ok(&self, agent: usize, tool: &str, args: Value) -> Value {
        on(self.engine(agent), AGENTS[agent], tool, args)
    }

    #[track_caller]
    fn refused(&self, agent: usize, code: Code, tool: &str, args: Value) {
        let before = self.world.head();
        let fault = self.call(agent, tool, args).expect_err(tool);
        assert_eq!(
            (fault.code, self.world.head()),
            (code, before),
            "{tool}: {fault:?}"
        );
    }

    fn word(&mut self) -> String {
        self.words += 1;
        format!("word{}", self.words)
    }

    fn take(&mut self, model: &mut Model, agent: usize, step: &Step) {
        let count = model.records.len();
        let pick = |record: usize| record.checked_rem(count);
        match step {
            Step::Create { parent, state } => {
                self.create(model, agent, parent.and_then(pick), STATES[*state])
            }
            Step::Update {
                record,
                size,
                force,
            } => {
                let Some(record) = pick(*record) else { return };
                self.update(model, agent, record, *size, *force);
            }
            Step::Move { record, parent } => {
                let Some(record) = pick(*record) else { return };
                self.relocate(model, agent, record, parent.and_then(pick));
            }
            Step::Transition { record, to } => {
                let Some(record) = pick(*record) else { return };
                self.transition(model, agent, record, STATES[*to]);
            }
            Step::Activate {
                record,
                over,
                small,
            } => {
                let Some(record) = pick(*record) else { return };
                self.activate(model, agent, record, *over, *small);
            }
            Step::Save | Step::Close | Step::Sync { .. } if !model.sessions[agent].begun => {
                for tool in ["save_session", "close_session", "sync_session"] {
                    self.refused(agent, Code::SessionNotFound, tool, json!({}));
                }
            }
            Step::Save => {
                let saved = handles(&model.sessions[agent].wrote);
                let answer = self.ok(agent, "save_session", json!({}));
                assert_eq!(answer["saved_records"], json!(saved));
                model.enter(agent);
                model.write(agent, None);
                model.sessions[agent].wrote.clear();
                model.log("session_saved");
            }
            Step::Close => {
                let answer = self.ok(agent, "close_session", json!({}));
                let session = &mut model.sessions[agent];
                assert_eq!(
                    answer["deactivated_records"],
                    json!(handles(session.held.keys()))
                );
                assert_eq!(
                    answer.get("unsaved_warning").is_some(),
                    !session.wrote.is_empty()
                );
                let was_open = std::mem::take(&mut session.open);
                let (synced, changes) = (session.sync_tick, &model.changes);
                // With what it held goes what it was told of that beyond its sync point.
                session
                    .told
                    .retain(|at| changes[*at].tick <= synced || changes[*at].by == agent);
                session.held.clear();
                session.made.clear();
                session.since.clear();
                session.overrode.clear();
                session.views.clear();
                session.wrote.clear();
                if was_open {
                    model.log("session_closed");
                }
            }
            Step::Sync { limit, chars } => self.sync(model, agent, *limit, *chars),
        }
    }

    fn create(&mut self, model: &mut Model, agent: usize, parent: Option<usize>, state: &str) {
        let body = self.word();
        let args = json!({"parent_id": parent.map(handle), "type": "note", "title": "t", "summary": "s", "body": body, "state": state});
        if parent.is_some_and(|parent| !model.sessions[agent].held.contains_key(&parent)) {
            return self.refused(agent, Code::ParentNotActivated, "create_record", args);
        }
        let answer = self.ok(agent, "create_record", args);
        let record = model.records.len();
        assert_eq!(answer["record"]["id"], handle(record));
        model.enter(agent);
        model.records.push(vec![Copy {
            record: answer["record"].clone(),
        }]);
        model.parents.push(parent);
        let new = json!({"type": "note", "title": "t", "state": state});
        model.write(agent, Some((record, "created", Value::Null, new)));
        model.log("record_created");
    }

    /// A body that is short, long with little that changes, or new from end to end.
    fn body(&mut self, size: usize) -> String {
        let word = self.word();
        match size {
            0 => word,
            1 => {
                let lines = (0..60).map(|at| format!("line {at} stays\n"));
                format!("{word}\n{}", lines.collect::<String>())
            }
            _ => {
                let lines = (0..400).map(|at| format!("a new line {at} beside {word}x\n"));
                format!("{word}\n{}", lines.collect::<String>())
            }
        }
    }

    /// The answer to an update, unless it met a newer version; whether it was written over one.
    fn written(
        &self,
        model: &mut Model,
        agent: usize,
        record: usize,
        args: Value,
    ) -> Option<(Value, bool)> {
        let force = args["force"] == true;
        let stale = model.stale(agent, record, false);
        let answer = self.ok(agent, "update_record", args);
        assert_eq!(
            answer.get("conflict").is_some(),
            stale && !force,
            "{answer}"
        );
        let old = model.now(record);
        if stale && !force {
            assert_eq!(
                (&answer["record"], &answer["conflict"]["other_version"]),
                (old, old)
            );
            model.log("conflict_detected");
            return None;
        }
        if !stale {
            // What was written over is what the answers had shown.
            let view = &model.sessions[agent].views[&record];
            for field in ["title", "summary", "body", "state", "type", "parent_id"] {
                assert_eq!(
                    view[field],
                    old[field],
                    "{field} of {} was never shown",
                    handle(record)
                );
            }
        }
        Some((answer, stale))
    }

    fn update(&mut self, model: &mut Model, agent: usize, record: usize, size: usize, force: bool) {
        let body = self.body(size);
        let args = json!({"id": handle(record), "body": body, "force": force});
        if !model.sessions[agent].held.contains_key(&record) {
            return self.refused(agent, Code::NotActivated, "update_record", args);
        }
        let Some((answer, stale)) = self.written(model, agent, record, args) else {
            return;
        };
        let mut expected = model.now(record).clone();
        let old = expected["body"].clone();
        expected["body"] = body.clone().into();
        self.keep(model, record, expected, &answer);
        let change = (
            record,
            "modified",
            json!({ "body": old }),
            json!({ "body": body }),
        );
        model.write(agent, Some(change));
        model.log("record_updated");
        if stale {
            model.log("conflict_resolved");
        }
    }

    /// A new version, which the answer shows.
    fn keep(&self, model: &mut Model, record: usize, mut expected: Value, answer: &Value) {
        expected["modified"] = answer["record"]["modified"].clone();
        assert_eq!(answer["record"], expected);
        model.records[record].push(Copy { record: expected });
    }

    fn relocate(&mut self, model: &mut Model, agent: usize, record: usize, parent: Option<usize>) {
        let args = json!({"id": handle(record), "parent_id": parent.map(handle)});
        let held = |record: &usize| model.sessions[agent].held.contains_key(record);
        if !held(&record) {
            return self.refused(agent, Code::NotActivated, "update_record", args);
        }
        let old = model.parents[record];
        if !model.stale(agent, record, false) && old != parent {
            let above = |at: &usize| model.parents[*at];
            if std::iter::successors(parent, above).any(|at| at == record) {
                return self.refused(agent, Code::Validation, "update_record", args);
            }
            if !parent.as_ref().is_none_or(held) {
                return self.refused(agent, Code::ParentNotActivated, "update_record", args);
            }
        }
        let Some((answer, _)) = self.written(model, agent, record, args) else {
            return;
        };
        assert_eq!(answer["unchanged"] == true, old == parent, "{answer}");
        if old == parent {
            return;
        }
        let mut expected = model.now(record).clone();
        expected["parent_id"] = parent.map(handle).into();
        self.keep(model, record, expected, &answer);
        model.parents[record] = parent;
        let side = |at: Option<usize>| json!({ "parent_id": at.map(handle) });
        model.write(agent, Some((record, "modified", side(old), side(parent))));
        model.log("record_updated");
    }

    fn transition(&mut self, model: &mut Model, agent: usize, record: usize, to: &str) {
        let mut args = json!({"id": handle(record), "to_state": to, "reason": "r"});
        if to == "RESOLVED" {
            args["resolved_by"] = handle(0).into();
        }
        if !model.sessions[agent].held.contains_key(&record) {
            return self.refused(agent, Code::NotActivated, "transition", args);
        }
        if model.stale(agent, record, true) {
            let head = self.world.head();
            let fault = self
                .call(agent, "transition", args)
                .expect_err("a conflict");
            assert_eq!((fault.code, self.world.head()), (Code::Conflict, head + 1));
            return model.log("conflict_detected");
        }
        let mut expected = model.now(record).clone();
        let old = expected["state"].clone();
        if !leads(old.as_str().unwrap(), to) {
            return self.refused(agent, Code::InvalidTransition, "transition", args);
        }
        if to == "RESOLVED" && (record == 0 || model.state(0) == "DISCARDED") {
            return self.refused(agent, Code::Validation, "transition", args);
        }
        let answer = self.ok(agent, "transition", args);
        expected["reason"] = "r".into();
        expected["state"] = to.into();
        expected["modified"] = answer["record"]["modified"].clone();
        expected.as_object_mut().unwrap().remove("resolved_by");
        if to == "RESOLVED" {
            expected["resolved_by"] = handle(0).into();
        }
        assert_eq!(answer["record"], expected);
        let open: Vec<usize> = model
            .children(record)
            .into_iter()
            .filter(|child| model.state(*child) == "OPEN")
            .collect();
        let warned = answer
            .get("cascade_warning")
            .map(|warning| ids(&warning["open_children"]));
        assert_eq!(
            warned.unwrap_or_default(),
            if to == "OPEN" { vec![] } else { handles(&open) }
        );
        model.records[record].push(Copy { record: expected });
        model.write(agent, Some((record, "state_changed", old, to.into())));
        model.log("state_transition");
    }

    fn activate(
        &mut self,
        model: &mut Model,
        agent: usize,
        record: usize,
        over: bool,
        small: bool,
    ) {
        let others = model.others(agent, record);
        let seen = model.sessions[agent].held.get(&record).copied();
        let changed = seen.is_some_and(|seen| seen > 0) && model.stale(agent, record, false);
        let chars = if small { 900 } else { 1_000_000 };
        let args = json!({"id": handle(record), "override": over, "max_chars": chars});
        let answer = self.ok(agent, "activate", args);
        assert_eq!(answer["already_loaded"], seen.is_some());
        match answer.get("conflict") {
            Some(conflict) => assert!(
                !over && others.contains(&text(&conflict["session_id"])),
                "{conflict}"
            ),
            None => assert!(small || over || others.is_empty()),
        }
        if !small {
            assert_eq!(answer.get("changed").is_some(), changed);
            self.loaded(model, record, &answer["context"]);
        }
        model.enter(agent);
        model.uses(agent, record, false);
        model.sessions[agent].held.entry(record).or_insert(0);
        let context = &answer["context"];
        let children = context["children"]["open"].as_array().into_iter().flatten();
        // What stands there with its body was shown whole.
        for shown in children.chain([&context["target"], &context["parent"]]) {
            let at = (0..model.records.len()).find(|at| shown["id"] == handle(*at));
            if let Some(at) = at.filter(|_| shown["body"].is_string())
                && model.sessions[agent].held.contains_key(&at)
            {
                let (known, version) = (model.sessions[agent].held[&at], model.records[at].len());
                let marked = at != record && known > 0 && known < version;
                assert_eq!(shown.get("changed").is_some(), marked, "{shown}");
                model.saw(agent, at, version);
            }
        }
        model.log("activation");
        if !others.is_empty() {
            model.log("conflict_detected");
            if over {
                model.overrides(agent, record);
                model.log("conflict_resolved");
            }
        }
    }

    /// A context is what the rules of loading say.
    fn loaded(&self, model: &Model, record: usize, context: &Value) {
        let plain = |shown: &Value| {
            let mut shown = shown.clone();
            if let Some(fields) = shown.as_object_mut() {
                fields.remove("changed");
            }
            shown
        };
        assert_eq!(context["target"], *model.now(record));
        let parent = model.parents[record].map_or(Value::Null, |at| model.now(at).clone());
        assert_eq!(plain(&context["parent"]), parent);
        let (open, other): (Vec<usize>, Vec<usize>) = model
            .children(record)
            .into_iter()
            .partition(|child| model.state(*child) == "OPEN");
        let whole: Vec<&Value> = open.iter().map(|child| model.now(*child)).collect();
        let shown: Vec<Value> = list(&context["children"]["open"])
            .iter()
            .map(plain)
            .collect();
        assert_eq!(json!(shown), json!(whole));
        assert_eq!(ids(&context["children"]["other"]), handles(&other));
        let below: Vec<usize> = model
            .children(record)
            .into_iter()
            .flat_map(|child| model.children(child))
            .collect();
        assert_eq!(ids(&context["grandchildren"]), handles(&below));
    }

    fn sync(
        &mut self,
        model: &mut Model,
        agent: usize,
        limit: Option<usize>,
        chars: Option<usize>,
    ) {
        let missed = model.missed(agent);
        let before = model.sessions[agent].sync_tick;
        let gap = model.gap(agent);
        let answer = self.ok(
            agent,
            "sync_session",
            json!({"limit": limit, "max_chars": chars}),
        );
        let told = list(&answer["changes"]).clone();
        let (size, rest) = (
            answer.to_string().chars().count(),
            missed.len() - told.len(),
        );
        assert!(chars.is_none_or(|most| size <= most), "{size} of {chars:?}");
        assert!(limit.is_none_or(|most| told.len() <= most));
        // A budget that is too small even for the counts leaves them out.
        if answer.get("total_changes").is_some() {
            assert_eq!(
                (number(&answer["project_tick"]), number(&answer["tick_gap"])),
                (model.tick, gap)
            );
            assert_eq!(
                answer["session_status"],
                if gap > STALE_AFTER { "stale" } else { "active" }
            );
            assert_eq!(answer["total_changes"], missed.len());
        }
        assert_eq!(
            answer.get("omitted_changes").map_or(0, number),
            rest as i64,
            "{answer}"
        );
        assert_eq!(
            answer.get("next_cursor").is_some(),
            rest > 0 && !told.is_empty(),
            "{answer}"
        );
        assert!(
            chars.is_some() || told.len() == missed.len().min(limit.unwrap_or(200)),
            "{answer}"
        );
        model.resume(agent);
        for (told, at) in told.iter().zip(&missed) {
            self.told(model, agent, *at, told);
        }
        let session = &mut model.sessions[agent];
        session.sync_tick = match missed.get(told.len()).map(|at| &model.changes[*at]) {
            None => model.tick,
            Some(next) if session.held.contains_key(&next.record) => before,
            Some(next) => before.max(next.tick - 1),
        };
    }

    /// A sync told a change: it is the right one, and fits what the reader knew.
    fn told(&self, model: &mut Model, agent: usize, at: usize, told: &Value) {
        let change = model.changes[at].clone();
        let by = format!("sess_{}", AGENTS[change.by]);
        assert_eq!(
            (
                &told["record_id"],
                &told["change_type"],
                &told["by_session"],
                &told["at_tick"]
            ),
            (
                &json!(handle(change.record)),
                &json!(change.kind),
                &json!(by),
                &json!(change.tick)
            )
        );
        let whole = told.get("shortened").is_none() && change.kind != "created";
        if whole && told.get("diff").is_none() {
            assert_eq!(
                (&told["old_value"], &told["new_value"]),
                (&change.old, &change.new)
            );
        }
        let (record, version) = (change.record, change.version);
        let session = &mut model.sessions[agent];
        session.told.insert(at);
        if whole && session.held.get(&record) == Some(&(version - 1)) && version > 1 {
            let mut view = session.views[&record].clone();
            read(&mut view, told);
            session.held.insert(record, version);
            session.views.insert(record, view);
        }
    }
}

fn run(world: &World, steps: &[(usize, Step)]) {
    let options = Options {
        stale_after: STALE_AFTER,
        ..world.options()
    };
    let second = Engine::open(&world.backend.store(), options).expect("the store opens again");
    let (mut stage, mut model) = (
        Stage {
            world,
            second,
            words: 0,
        },
        Model::default(),
    );
    for (at, (agent, step)) in steps.iter().enumerate() {
        stage.take(&mut model, *agent, step);
        agrees(world, &model, at);
    }
    agrees_at_the_end(world, &stage.second, &model);
}

/// A number from the environment, to run a failure again or to search longer.
fn given(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn check(cases: u32, backend: fn() -> Backend) {
    let cases = given("UNDERSTORY_TEST_CASES").map_or(cases, |cases| cases as u32);
    let now = std::time::UNIX_EPOCH
        .elapsed()
        .map_or(0, |since| since.as_nanos() as u64);
    let seed = given("UNDERSTORY_TEST_SEED").unwrap_or(now);
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    let result = TestRunner::new(config).run(&prop::collection::vec(step(), 1..70), |steps| {
        let clock = std::sync::Arc::new(TestClock::default());
        let options = Options {
            clock: clock.clone(),
            stale_after: STALE_AFTER,
            ..Options::default()
        };
        run(&World::with(backend(), clock, options), &steps);
        Ok(())
    });
    if let Err(error) = result {
        panic!("UNDERSTORY_TEST_SEED={seed} shows it again: {error}");
    }
}

#[test]
fn any_program_agrees_with_the_model_on_sqlite() {
    check(10, Backend::sqlite);
}

#[test]
fn any_program_agrees_with_the_model_on_postgres() {
    check(4, Backend::postgres);
}
