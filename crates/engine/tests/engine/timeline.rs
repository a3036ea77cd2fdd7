//! The timeline as people look at it: the same whether it is read from items or from their counts, never
//! what somebody may not read, and at the same cost however long the log is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use understory_engine::Options;
use understory_engine::kernel::surface::{Sign, Surface};
use understory_engine::system::timeline::{self, DAY, Density, Entries, HOUR, Lanes, Unit, Wanted};
use understory_model::{Caller, Code, Fault, Role, Seq, Time};
use understory_testkit::{TestClock, World, on_both};

use crate::faults::same_kind;

/// A world whose clock is turned by the test, and whose statements are counted.
struct Timed {
    world: World,
    clock: Arc<TestClock>,
    count: Arc<AtomicUsize>,
}

impl Timed {
    fn new(world: World) -> Timed {
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
        let world = World::with(same_kind(world), clock.clone(), options);
        Timed {
            world,
            clock,
            count,
        }
    }

    fn by(&self, agent: &str, tool: &str, args: Value) -> Value {
        let done = self.world.call_as(&World::caller(agent), tool, args);
        done.unwrap_or_else(|fault| panic!("{tool}: {fault}"))
    }

    fn plan(&self, agent: &str, count: usize) {
        for _ in 0..count.div_ceil(50) {
            let node = |n| json!({"ref": format!("n{n}"), "summary": "a task"});
            let nodes: Vec<Value> = (0..count.min(50)).map(node).collect();
            self.by(agent, "graph_plan", json!({"nodes": nodes}));
        }
    }

    fn now(&self) -> Time {
        let wanted = Wanted::default();
        let last = self.read("ada", |view| timeline::latest(view, &wanted));
        last.unwrap().unwrap_or(Time::ZERO)
    }

    fn read<T>(
        &self,
        agent: &str,
        read: impl FnOnce(&mut understory_engine::View<'_, '_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.as_caller(&World::caller(agent), read)
    }

    fn as_caller<T>(
        &self,
        caller: &Caller,
        read: impl FnOnce(&mut understory_engine::View<'_, '_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.world.engine.view(caller, read)
    }

    fn back(&self, time: i64) -> Wanted {
        let now = self.now();
        Wanted {
            from: now.minus(time),
            to: now.plus(1),
            happened: true,
            ..Wanted::default()
        }
    }

    fn lanes(&self, wanted: &Wanted) -> Lanes {
        self.read("ada", |view| timeline::lanes(view, wanted, 30))
            .unwrap()
    }

    fn density(&self) -> Density {
        self.read("ada", |view| timeline::density(view, 240))
            .unwrap()
    }

    fn entries(&self, wanted: &Wanted) -> Entries {
        self.read("ada", |view| timeline::entries(view, wanted, None, 100))
            .unwrap()
    }
}

fn agents(lanes: &Lanes) -> Vec<(&str, i64)> {
    lanes
        .lanes
        .iter()
        .map(|lane| (lane.agent.as_str(), lane.count))
        .collect()
}

#[on_both]
fn lanes_hold_what_each_did_and_held(world: World) {
    let timed = Timed::new(world);
    timed.plan("ada", 3);
    timed.clock.turn(600);
    let claim = |node: &str| json!({"updates": [{"node_id": node, "claim": true}]});
    timed.by("bob", "graph_update", claim("TASK-001"));
    timed.by("cy", "graph_update", claim("TASK-002"));
    timed.clock.turn(600);
    let done = json!({"updates": [{"node_id": "TASK-001", "resolved": true}]});
    timed.by("bob", "graph_update", done);
    let back = json!({"updates": [{"node_id": "TASK-002", "claim": false}]});
    timed.by("cy", "graph_update", back);
    timed.clock.turn(60);
    timed.by("bob", "graph_update", claim("TASK-003"));

    let found = timed.lanes(&timed.back(HOUR));
    assert_eq!(found.unit, Unit::Marks);
    // The caller first, then whoever wrote last.
    let order: Vec<&str> = agents(&found).into_iter().map(|(name, _)| name).collect();
    assert_eq!(order, ["ada", "bob", "cy"]);
    let bob = &found.lanes[1];
    let told: Vec<(&str, &str, bool)> = bob
        .claims
        .iter()
        .map(|claim| {
            (
                claim.id.as_str(),
                claim.ended.as_str(),
                claim.until.is_some(),
            )
        })
        .collect();
    assert_eq!(told, [("TASK-001", "done", true), ("TASK-003", "", false)]);
    let first = &bob.claims[0];
    assert_eq!(first.until.unwrap().0 - first.since.0, 600 * 1_000_000);
    assert_eq!(found.lanes[2].claims[0].ended, "released");
    assert!(
        bob.marks
            .iter()
            .all(|dot| dot.count == 1 && dot.surface == Surface::Work)
    );
    // Whoever gives no sign of life is silent, and the claim says until when it holds.
    timed.clock.turn(3_000);
    timed.plan("ada", 1);
    let later = timed.lanes(&timed.back(2 * HOUR));
    let bob = later.lanes.iter().find(|lane| lane.agent == "bob").unwrap();
    let held = &bob.claims[1];
    assert!(
        held.silent_since.is_some() && held.expires > held.silent_since,
        "{held:?}"
    );
    timed.world.assert_sound();
}

#[on_both]
fn a_window_of_many_items_is_read_from_their_counts(world: World) {
    let timed = Timed::new(world);
    let written = [("ada", 700), ("bob", 900), ("cy", 500)];
    for (agent, count) in written {
        timed.plan(agent, count);
        timed.clock.turn(600);
    }
    let wanted = timed.back(HOUR);
    let found = timed.lanes(&wanted);
    assert!(
        found.total > 2_000 && found.total == found.everything,
        "{}",
        found.total
    );
    let counts: BTreeMap<&str, i64> = agents(&found).into_iter().collect();
    assert_eq!(counts.values().sum::<i64>(), found.total);
    for (agent, count) in written {
        assert!(counts[agent] >= count, "{counts:?}");
        let lane = found.lanes.iter().find(|lane| lane.agent == agent).unwrap();
        let marks: i64 = lane.marks.iter().map(|dot| dot.count).sum();
        assert_eq!(marks, counts[agent], "every item is in a mark");
        assert!(lane.marks.len() < 10, "{:?}", lane.marks);
        // Counted or read one by one, it is the same number.
        let own = Wanted {
            agent: Some(agent.to_owned()),
            ..wanted.clone()
        };
        assert_eq!(timed.lanes(&own).total, counts[agent]);
    }
    let work = Wanted {
        surface: Some(Surface::Work),
        ..wanted.clone()
    };
    assert!(timed.lanes(&work).total >= 2_100);
    // A day is in bars by the hour, and by surface.
    let day = timed.lanes(&timed.back(DAY));
    assert_eq!(day.unit, Unit::Bars(HOUR));
    let bars: i64 = day
        .lanes
        .iter()
        .flat_map(|lane| &lane.bars)
        .map(|(_, n)| n)
        .sum();
    assert_eq!(
        (bars, day.columns.iter().map(|column| column.count).sum()),
        (day.total, day.total)
    );
    let longer = timed.lanes(&timed.back(400 * DAY));
    assert!(matches!(longer.unit, Unit::Bars(width) if width >= DAY));
    assert_eq!(longer.total, day.total);
    timed.world.assert_sound();
}

#[on_both]
fn a_few_lanes_and_the_rest_in_one_line(world: World) {
    let timed = Timed::new(world);
    for n in 0..40 {
        timed.plan(&format!("agent-{n:02}"), 1 + n % 3);
    }
    let found = timed.lanes(&timed.back(HOUR));
    assert_eq!(found.lanes.len(), 30);
    let shown: i64 = found.lanes.iter().map(|lane| lane.count).sum();
    assert!(
        found.others.agents >= 10 && shown <= found.total,
        "{:?}",
        found.others
    );
    let least = found.lanes.iter().skip(1).map(|lane| lane.count).min();
    assert!(least >= Some(found.others.items / found.others.agents));
}

#[on_both]
fn the_whole_history_in_bars_counts_every_item_once(world: World) {
    let timed = Timed::new(world);
    assert!(timed.density().bars.is_empty());
    for _ in 0..20 {
        timed.plan("ada", 3);
        timed.clock.turn(5 * 3_600);
    }
    timed.by(
        "bob",
        "garden_artifact_create",
        json!({"label": "goals", "content": "one\ntwo\n"}),
    );
    let proposed = json!({"artifact": "goals", "start": 1, "end": 1, "content": "eins", "reasoning": "German"});
    timed.by("bob", "reader_propose", proposed);
    let density = timed.density();
    assert!(density.bars.len() >= 20 && density.bars.len() <= 240);
    let items: i64 = density.bars.iter().map(|bar| bar.count).sum();
    assert_eq!(items, timed.world.head());
    let last = density.bars.last().unwrap();
    assert!(last.amber && !last.red, "a proposal waits: {last:?}");
    assert!(
        density.bars[..density.bars.len() - 1]
            .iter()
            .all(|bar| !bar.amber)
    );
    assert!(density.to.0 - density.from.0 <= 240 * density.width);
    let signed = timed.lanes(&timed.back(HOUR));
    let bob = signed
        .lanes
        .iter()
        .find(|lane| lane.agent == "bob")
        .unwrap();
    let amber: Vec<Surface> = bob
        .marks
        .iter()
        .filter(|dot| dot.sign == Some(Sign::Amber))
        .map(|dot| dot.surface)
        .collect();
    assert_eq!(amber, [Surface::Artifacts]);
}

#[on_both]
fn an_item_opens_to_its_causes_and_effects(world: World) {
    let timed = Timed::new(world);
    let said = |text: &str, cause: Option<&str>| json!({"type": "Note", "description": text, "caused_by": cause});
    let add = |agent: &str, text: &str, cause: Option<&str>| {
        let mut args = said(text, cause);
        if cause.is_none() {
            args.as_object_mut().unwrap().remove("caused_by");
        }
        let answer = timed.by(agent, "garden_add", args);
        answer["item"]["uuid"].as_str().unwrap().to_owned()
    };
    let mut name = add("ada", "can forty write at once?", None);
    for (agent, text) in [
        ("bob", "it fails at twelve"),
        ("bob", "use PostgreSQL"),
        ("ada", "we store it there"),
        ("cy", "read it"),
    ] {
        name = add(agent, text, Some(&name));
    }
    let entries = timed.entries(&timed.back(HOUR)).entries;
    let third = entries
        .iter()
        .find(|one| one.entry.text.contains("we store"))
        .unwrap();
    let opened = timed
        .read("ada", |view| timeline::opened(view, third.entry.seq))
        .unwrap();
    let texts = |steps: &[timeline::Step]| -> Vec<String> {
        steps
            .iter()
            .map(|step| step.shown.entry.text.clone())
            .collect()
    };
    assert_eq!(
        texts(&opened.causes),
        [
            "use PostgreSQL",
            "it fails at twelve",
            "can forty write at once?"
        ]
    );
    assert_eq!(texts(&opened.effects), ["read it"]);
    assert_eq!(opened.causes[0].parent, third.entry.seq);
    assert_eq!(opened.causes[1].parent, opened.causes[0].shown.entry.seq);
    let absent = timed.read("ada", |view| timeline::opened(view, Seq(1_000_000)));
    assert_eq!(absent.unwrap_err().code, Code::NotFound);
}

#[on_both]
fn filters_and_both_clocks(world: World) {
    let timed = Timed::new(world);
    timed.plan("ada", 2);
    timed.by(
        "bob",
        "garden_add",
        json!({"type": "Note", "description": "a note"}),
    );
    let long_ago = json!({"type": "Message", "description": "said long ago", "canonical_at": "2001-02-03T04:05:06Z"});
    timed.by("bob", "garden_add", long_ago);
    let wanted = timed.back(HOUR);
    let texts = |wanted: &Wanted| -> Vec<String> {
        let found = timed.entries(wanted).entries.into_iter();
        found.map(|one| one.entry.text).collect()
    };
    let has = |wanted: &Wanted, word: &str| texts(wanted).iter().any(|text| text.contains(word));
    assert!(!has(&wanted, "long ago") && has(&wanted, "a note"));
    let written = Wanted {
        happened: false,
        ..wanted.clone()
    };
    assert!(has(&written, "long ago"));
    let then = Time::parse("at", "2001-02-03T04:00:00Z").unwrap();
    let at_that_time = Wanted {
        from: then,
        to: then.plus(HOUR),
        ..wanted.clone()
    };
    assert_eq!(texts(&at_that_time), ["said long ago"]);
    assert_eq!(timed.lanes(&at_that_time).total, 1);
    let only = |wanted: Wanted| {
        (
            timed.lanes(&wanted).total,
            timed.entries(&wanted).entries.len(),
        )
    };
    let notes = Wanted {
        kind: Some("Note".into()),
        ..wanted.clone()
    };
    assert_eq!(only(notes), (1, 1));
    let work = Wanted {
        surface: Some(Surface::Work),
        agent: Some("bob".into()),
        ..wanted.clone()
    };
    assert_eq!(only(work).1, 0);
    let nobody = Wanted {
        agent: Some("nob\0dy".into()),
        ..wanted
    };
    assert_eq!(only(nobody), (0, 0));
}

#[on_both]
fn what_somebody_may_not_read_is_not_in_their_timeline(world: World) {
    let timed = Timed::new(world);
    let secret = json!({"to": ["bob"], "title": "Secret plan", "body": "the secret words"});
    timed.by("ada", "post_message", secret);
    timed.plan("ada", 1);
    let worker = |agent: &str| Caller {
        role: Role::Worker,
        ..World::caller(agent)
    };
    let wanted = timed.back(HOUR);
    let told = |caller: &Caller| {
        timed
            .as_caller(caller, |view| {
                let lanes = timeline::lanes(view, &wanted, 30)?;
                let entries = timeline::entries(view, &wanted, None, 100)?;
                Ok(format!("{} {}", json!(lanes), json!(entries)))
            })
            .unwrap()
    };
    let (bob, eve) = (told(&worker("bob")), told(&worker("eve")));
    assert!(
        bob.contains("secret words") && bob.contains("threads"),
        "{bob}"
    );
    assert!(!eve.contains("ecret") && !eve.contains("threads"), "{eve}");
    assert!(eve.contains("a task"), "{eve}");
    let items = timed.entries(&wanted).entries;
    let message = items
        .iter()
        .find(|one| one.entry.text.contains("secret words"))
        .unwrap();
    let opened = timed.as_caller(&worker("eve"), |view| {
        timeline::opened(view, message.entry.seq)
    });
    assert_eq!(opened.unwrap_err().code, Code::NotFound);
    let named = timed.as_caller(&worker("eve"), |view| timeline::named(view, "th_001"));
    assert_eq!(named.unwrap_err().code, Code::NotFound);
}

#[on_both]
fn a_longer_log_costs_no_more(world: World) {
    let timed = Timed::new(world);
    let cost = |timed: &Timed| {
        let before = timed.count.load(Ordering::SeqCst);
        for time in [HOUR, DAY, 30 * DAY] {
            let wanted = timed.back(time);
            timed.lanes(&wanted);
            timed.entries(&wanted);
        }
        timed.density();
        timed.count.load(Ordering::SeqCst) - before
    };
    for _ in 0..5 {
        timed.plan("ada", 50);
        timed.clock.turn(60);
    }
    let short = cost(&timed);
    for _ in 0..60 {
        timed.plan("ada", 50);
        timed.clock.turn(60);
    }
    let long = cost(&timed);
    // A log that is twelve times as long takes some further halvings.
    assert!(long <= short + 60, "{short} and {long} statements");
}
