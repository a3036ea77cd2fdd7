//! Claims: whose a node is, for which session, and for how long.

use crate::common::*;
use serde_json::{Value, json};
use understory_model::{Caller, Code, Fault, Role};
use understory_testkit::{World, on_both};

/// A session of an agent.
fn session(agent: &str, name: &str) -> Caller {
    Caller {
        session: name.into(),
        ..World::caller(agent)
    }
}

#[track_caller]
fn claim_next(world: &World, caller: &Caller) -> Vec<String> {
    next_of(
        &world
            .call_as(caller, "graph_next", json!({"claim": true}))
            .unwrap(),
    )
}

fn update(world: &World, caller: &Caller, mut change: Value, id: &str) -> Result<Value, Fault> {
    change["node_id"] = id.into();
    world.call_as(caller, "graph_update", json!({"updates": [change]}))
}

#[track_caller]
fn beat(world: &World, caller: &Caller, status: &str) {
    let args = json!({"runtime": "claude_code", "management_mode": "unmanaged", "resumable": true, "status": status});
    world.call_as(caller, "heartbeat_session", args).unwrap();
}

/// Fails unless the call is refused as a conflict that names the holder.
#[track_caller]
fn conflicts(world: &World, result: Result<Value, Fault>, holder: &Caller, head: i64) -> Fault {
    let fault = result.expect_err("a conflict");
    assert_eq!(fault.code, Code::Conflict, "{fault}");
    let claim = &fault.details.as_ref().unwrap()["claim"];
    assert_eq!(
        (&claim["by"], &claim["session"]),
        (&json!(holder.agent), &json!(holder.session))
    );
    assert_eq!(world.head(), head, "refused and still wrote");
    fault
}

#[on_both]
fn two_sessions_of_one_agent_are_never_given_the_same_node(world: World) {
    world.plan(&["A", "B"]);
    let (one, two, three) = (
        session("ada", "s1"),
        session("ada", "s2"),
        session("ada", "s3"),
    );
    assert_eq!(claim_next(&world, &one), ["TASK-001"]);
    assert_eq!(claim_next(&world, &two), ["TASK-002"]);
    let none = world
        .call_as(&three, "graph_next", json!({"claim": true}))
        .unwrap();
    assert_eq!(
        (&none["nodes"], &none["reason"]["code"]),
        (&json!([]), &json!("all_claimed"))
    );
    assert_eq!(none["reason"]["claims"].as_array().unwrap().len(), 2);
    assert_eq!(
        next_of(
            &world
                .call_as(&three, "graph_next", json!({"count": 9}))
                .unwrap()
        ),
        Vec::<String>::new()
    );
    assert_eq!(
        node(&world, "TASK-001")["properties"]["_claimed_session"],
        "s1"
    );
}

#[on_both]
fn the_session_that_holds_a_node_gets_it_again_before_anything_else(world: World) {
    world.plan(&["A", "B", "C"]);
    let one = session("ada", "s1");
    assert_eq!(claim_next(&world, &one), ["TASK-001"]);
    plan(
        &world,
        json!([{"ref": "u", "summary": "Urgent", "properties": {"priority": 99}}]),
    );
    assert_eq!(claim_next(&world, &one), ["TASK-001"]);
    assert_eq!(
        next_of(
            &world
                .call_as(&one, "graph_next", json!({"count": 2}))
                .unwrap()
        ),
        ["TASK-001", "TASK-004"]
    );
    assert_eq!(claim_next(&world, &session("ada", "s2")), ["TASK-004"]);
}

#[on_both]
fn another_session_of_the_agent_takes_over_once_the_first_has_ended(world: World) {
    world.plan(&["A"]);
    let (one, two, bob) = (
        session("ada", "s1"),
        session("ada", "s2"),
        World::caller("bob"),
    );
    beat(&world, &one, "active");
    assert_eq!(claim_next(&world, &one), ["TASK-001"]);
    world.clock.turn(60);
    assert_eq!(
        claim_next(&world, &two),
        Vec::<String>::new(),
        "the first is alive"
    );
    beat(&world, &one, "offline");
    assert_eq!(
        claim_next(&world, &bob),
        Vec::<String>::new(),
        "another agent waits for the time"
    );
    assert_eq!(claim_next(&world, &two), ["TASK-001"]);
    assert_eq!(
        node(&world, "TASK-001")["properties"]["_claimed_session"],
        "s2"
    );
    beat(&world, &one, "active");
    assert_eq!(
        claim_next(&world, &one),
        Vec::<String>::new(),
        "it is the other's now"
    );
    world.assert_sound();
}

#[on_both]
fn a_session_that_gives_no_sign_of_life_but_its_claim_is_gone_after_a_while(world: World) {
    world.plan(&["A"]);
    let (one, two) = (session("ada", "s1"), session("ada", "s2"));
    claim_next(&world, &one);
    world.clock.turn(80);
    assert_eq!(claim_next(&world, &two), Vec::<String>::new());
    world.clock.turn(20);
    assert_eq!(claim_next(&world, &two), ["TASK-001"]);
}

#[on_both]
fn one_named_node_is_claimed_renewed_and_released(world: World) {
    world.plan(&["A", "B"]);
    let (ada, bob) = (World::caller("ada"), World::caller("bob"));
    let got = world.ok("graph_next", json!({"node_id": "TASK-002", "claim": true}));
    assert_eq!(next_of(&got), ["TASK-002"]);
    assert_eq!(got["nodes"][0]["node"]["properties"]["_claimed_by"], "ada");
    world.clock.turn(3_000);
    update(&world, &ada, json!({"claim": true}), "TASK-002").unwrap();
    world.clock.turn(3_000);
    let head = world.head();
    let fault = conflicts(
        &world,
        world.call_as(
            &bob,
            "graph_next",
            json!({"node_id": "TASK-002", "claim": true}),
        ),
        &ada,
        head,
    );
    assert!(fault.message.contains("50 minutes ago"), "{fault}");
    conflicts(
        &world,
        update(&world, &bob, json!({"claim": true}), "TASK-002"),
        &ada,
        head,
    );
    conflicts(
        &world,
        update(&world, &bob, json!({"claim": false}), "TASK-002"),
        &ada,
        head,
    );
    conflicts(
        &world,
        update(
            &world,
            &bob,
            json!({"properties": {"_claimed_by": null}}),
            "TASK-002",
        ),
        &ada,
        head,
    );
    let looked = world
        .call_as(&bob, "graph_next", json!({"node_id": "TASK-002"}))
        .unwrap();
    assert_eq!(
        (&looked["nodes"], &looked["reason"]["claims"][0]["by"]),
        (&json!([]), &json!("ada"))
    );
    update(&world, &ada, json!({"claim": false}), "TASK-002").unwrap();
    let properties = node(&world, "TASK-002")["properties"].clone();
    assert_eq!(properties, json!({}));
    let again = update(&world, &ada, json!({"claim": false}), "TASK-002").unwrap();
    assert_eq!(again["updated"][0]["unchanged"], true);
    update(&world, &bob, json!({"claim": true}), "TASK-002").unwrap();
    let actions: Vec<Value> = world.ok("graph_history", json!({"node_id": "TASK-002"}))["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["action"].clone())
        .collect();
    assert_eq!(
        json!(actions),
        json!(["claimed", "released", "claimed", "claimed", "created"])
    );
    world.assert_sound();
}

#[on_both]
fn operators_and_orchestrators_release_what_others_hold(world: World) {
    for role in [Role::Operator, Role::Orchestrator] {
        let id = world.plan(&["A"]).remove(0);
        let bob = World::caller("bob");
        update(&world, &bob, json!({"claim": true}), &id).unwrap();
        let boss = Caller {
            role,
            ..World::caller("eve")
        };
        let head = world.head();
        conflicts(
            &world,
            update(&world, &boss, json!({"claim": true}), &id),
            &bob,
            head,
        );
        update(
            &world,
            &boss,
            json!({"claim": false, "reason": "bob is away"}),
            &id,
        )
        .unwrap();
        assert_eq!(node(&world, &id)["properties"], json!({}));
    }
}

#[on_both]
fn work_by_the_holder_renews_the_claim(world: World) {
    let ids = world.plan(&["A", "B"]);
    let (ada, bob) = (World::caller("ada"), World::caller("bob"));
    let id = ids[0].as_str();
    update(&world, &ada, json!({"claim": true}), id).unwrap();
    let free = |world: &World| {
        next_of(
            &world
                .call_as(&bob, "graph_next", json!({"node_id": id}))
                .unwrap(),
        ) == [id]
    };
    let works: [&dyn Fn(); 5] = [
        &|| {
            update(&world, &ada, json!({"state": "half"}), id).unwrap();
        },
        &|| {
            update(
                &world,
                &ada,
                json!({"add_evidence": [{"type": "note", "ref": "x"}]}),
                id,
            )
            .unwrap();
        },
        &|| {
            world.ok(
                "graph_connect",
                json!({"edges": [{"from": id, "to": ids[1], "type": "relates_to"}]}),
            );
        },
        &|| {
            world.ok(
                "branchmind_notes_commit",
                json!({"workspace": "garden-shed", "target": id, "content": "thinking"}),
            );
        },
        &|| {
            world.ok("branchmind_think_card", json!({"workspace": "garden-shed", "target": id, "card": {"id": "h1", "type": "hypothesis", "title": "maybe"}}));
        },
    ];
    for (at, work) in works.iter().enumerate() {
        world.clock.turn(3_000);
        work();
        world.clock.turn(3_000);
        assert!(!free(&world), "work {at} did not renew");
        update(&world, &ada, json!({"claim": true}), id).unwrap();
    }
    update(&world, &bob, json!({"state": "bob's"}), id).unwrap();
    world.clock.turn(3_000);
    update(
        &world,
        &session("ada", "other"),
        json!({"state": "hers"}),
        id,
    )
    .unwrap();
    world.clock.turn(700);
    assert!(free(&world), "others' work renews nothing");
    world.assert_sound();
}

#[on_both]
fn reopening_clears_the_claim_and_resolving_keeps_it(world: World) {
    world.plan(&["A"]);
    let (ada, bob) = (World::caller("ada"), World::caller("bob"));
    claim_next(&world, &bob);
    resolve(&world, &["TASK-001"]);
    assert_eq!(node(&world, "TASK-001")["properties"]["_claimed_by"], "bob");
    for claim in [true, false] {
        let head = world.head();
        assert_eq!(
            update(&world, &bob, json!({"claim": claim}), "TASK-001")
                .unwrap_err()
                .code,
            Code::Conflict,
            "it is done"
        );
        assert_eq!(world.head(), head);
    }
    set_resolved(&world, &["TASK-001"], false);
    assert_eq!(node(&world, "TASK-001")["properties"], json!({}));
    assert_eq!(
        world.ok("graph_history", json!({"node_id": "TASK-001"}))["events"][0]["action"],
        "reopened"
    );
    assert_eq!(claim_next(&world, &ada), ["TASK-001"]);
    resolve(&world, &["TASK-001"]);
    update(
        &world,
        &bob,
        json!({"resolved": false, "claim": true}),
        "TASK-001",
    )
    .unwrap();
    assert_eq!(node(&world, "TASK-001")["properties"]["_claimed_by"], "bob");
    world.assert_sound();
}

#[on_both]
fn a_node_that_waits_can_be_reserved_but_is_not_given_to_start_on(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "a", "summary": "A"}, {"ref": "b", "summary": "B", "depends_on": ["a"]}]),
    );
    let answer = world.ok("graph_next", json!({"node_id": of["b"], "claim": true}));
    assert_eq!(
        (&answer["nodes"], &answer["reason"]["code"]),
        (&json!([]), &json!("all_waiting"))
    );
    assert_eq!(answer["reason"]["waits_for"][0]["id"], json!(of["a"]));
    assert_eq!(node(&world, &of["b"])["rev"], 1, "nothing was claimed");
    update(
        &world,
        &World::caller("ada"),
        json!({"claim": true}),
        &of["b"],
    )
    .unwrap();
    resolve(&world, &[&of["a"]]);
    assert_eq!(
        next_of(
            &world
                .call_as(&World::caller("bob"), "graph_next", json!({}))
                .unwrap()
        ),
        Vec::<String>::new()
    );
    assert_eq!(next_ids(&world, json!({})), [of["b"].clone()]);
    let fault = world.refused("graph_next", json!({"node_id": of["b"], "count": 2}));
    assert_eq!(fault.details.unwrap()["field"], "node_id");
}

#[on_both]
fn stale_claims_are_ignored_by_queries_too(world: World) {
    world.plan(&["A", "B"]);
    claim_next(&world, &World::caller("bob"));
    let by = |world: &World, who: Value| found(world, json!({"claimed_by": who}));
    assert_eq!(
        (by(&world, json!("bob")), by(&world, json!(null))),
        (
            vec!["TASK-001".to_string()],
            vec!["PLAN-001".to_string(), "TASK-002".to_string()]
        )
    );
    world.clock.turn(3_700);
    assert_eq!(
        (by(&world, json!("bob")), by(&world, json!(null)).len()),
        (Vec::new(), 3)
    );
    resolve(&world, &["TASK-001"]);
    assert_eq!(by(&world, json!("bob")), ["TASK-001"], "who did it");
    assert_eq!(by(&world, json!(null)).len(), 2);
}

#[on_both]
fn a_claim_of_before_sessions_were_kept_is_its_agents(world: World) {
    world.plan(&["A"]);
    claim_next(&world, &World::caller("ada"));
    let mut raw = world.backend.raw();
    raw.run("UPDATE core_node SET claimed_session = ''")
        .unwrap();
    assert_eq!(
        claim_next(&world, &World::caller("bob")),
        Vec::<String>::new()
    );
    assert_eq!(claim_next(&world, &session("ada", "new")), ["TASK-001"]);
}

#[on_both]
fn many_sessions_of_one_agent_share_nothing_at_once(world: World) {
    let all = world.plan(&["A"; 24]);
    let engines = [world.another(), world.another()];
    let taken: Vec<Vec<String>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..6)
            .map(|at| {
                let engine = &engines[at % 2];
                scope.spawn(move || {
                    let caller = session("ada", &format!("window-{at}"));
                    let mut mine = Vec::new();
                    loop {
                        let got = next_of(
                            &World::call_on(engine, &caller, "graph_next", json!({"claim": true}))
                                .unwrap(),
                        );
                        let Some(id) = got.first().filter(|id| id.starts_with("TASK")) else {
                            return mine;
                        };
                        assert!(!mine.contains(id));
                        World::call_on(
                            engine,
                            &caller,
                            "graph_update",
                            json!({"updates": [{"node_id": id, "resolved": true}]}),
                        )
                        .unwrap();
                        mine.push(id.clone());
                    }
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    let mut told: Vec<String> = taken.into_iter().flatten().collect();
    told.sort();
    assert_eq!(told, all, "each node was told to exactly one");
    world.assert_sound();
}
