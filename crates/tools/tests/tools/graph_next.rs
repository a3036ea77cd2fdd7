//! `graph_next`: what is actionable, how it is ranked, and whose it becomes.

use std::time::Duration;

use crate::common::*;
use serde_json::{Value, json};
use understory_model::{Caller, Code, Fault};
use understory_testkit::{World, on_both};

/// What an agent is told to do next.
#[track_caller]
fn next_as(world: &World, agent: &str, args: Value) -> Vec<String> {
    next_of(
        &world
            .call_as(&World::caller(agent), "graph_next", args)
            .unwrap(),
    )
}

#[track_caller]
fn claim_as(world: &World, agent: &str) -> Vec<String> {
    next_as(world, agent, json!({"claim": true}))
}

/// Takes one named node.
fn take(world: &World, caller: &Caller, id: &str) -> Result<Value, Fault> {
    world.call_as(
        caller,
        "graph_update",
        json!({"updates": [{"node_id": id, "claim": true}]}),
    )
}

#[on_both]
fn only_open_leaves_with_all_dependencies_resolved_are_next(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "parent", "summary": "Parent"},
            {"ref": "child", "summary": "Child", "parent_ref": "parent"},
            {"ref": "blocked", "summary": "Blocked", "depends_on": ["child"]},
            {"ref": "free", "summary": "Free"},
        ]),
    );
    assert_eq!(
        next_ids(&world, json!({"count": 10})),
        [of["child"].clone(), of["free"].clone()]
    );
    resolve(&world, &[&of["child"], &of["free"]]);
    let mut left = next_ids(&world, json!({"count": 10}));
    left.sort();
    assert_eq!(left, [of["parent"].clone(), of["blocked"].clone()]);
    resolve(&world, &[&of["parent"], &of["blocked"]]);
    assert_eq!(next_ids(&world, json!({"count": 10})), ["PLAN-001"]);
    resolve(&world, &["PLAN-001"]);
    let answer = world.ok("graph_next", json!({}));
    assert_eq!(
        (&answer["nodes"], &answer["reason"]["code"]),
        (&json!([]), &json!("all_done"))
    );
}

#[on_both]
fn a_dependency_blocks_without_blocking_what_lies_below(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "first", "summary": "First"},
            {"ref": "later", "summary": "Later", "depends_on": ["first"]},
            {"ref": "part", "summary": "Part", "parent_ref": "later"},
        ]),
    );
    assert_eq!(
        next_ids(&world, json!({"count": 9})),
        [of["part"].clone(), of["first"].clone()]
    );
}

#[on_both]
fn priority_then_depth_then_least_recently_updated(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "shallow", "summary": "S"},
            {"ref": "low", "summary": "S", "properties": {"priority": -1}},
            {"ref": "high", "summary": "S", "properties": {"priority": 10}},
            {"ref": "half", "summary": "S", "properties": {"priority": 10.5}},
            {"ref": "text", "summary": "S", "properties": {"priority": 0}},
            {"ref": "top", "summary": "Parent"},
            {"ref": "deep", "summary": "S", "parent_ref": "top"},
            {"ref": "deep_high", "summary": "S", "parent_ref": "top", "properties": {"priority": 10}},
        ]),
    );
    let ranked = |names: &[&str]| {
        names
            .iter()
            .map(|name| of[*name].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        next_ids(&world, json!({"count": 50})),
        ranked(&[
            "half",
            "deep_high",
            "high",
            "deep",
            "shallow",
            "text",
            "low"
        ])
    );
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": of["shallow"], "state": "touched"}]}),
    );
    assert_eq!(
        next_ids(&world, json!({"count": 50})),
        ranked(&[
            "half",
            "deep_high",
            "high",
            "deep",
            "text",
            "shallow",
            "low"
        ])
    );
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": of["half"], "properties": {"priority": null}}]}),
    );
    assert_eq!(
        next_ids(&world, json!({"count": 50})),
        ranked(&[
            "deep_high",
            "high",
            "deep",
            "text",
            "shallow",
            "half",
            "low"
        ])
    );
    restructure(
        &world,
        json!([{"op": "move", "node_id": of["low"], "new_parent": of["deep"]}]),
    );
    assert_eq!(
        next_ids(&world, json!({"count": 50})),
        ranked(&["deep_high", "high", "text", "shallow", "half", "low"])
    );
}

#[on_both]
fn extreme_priorities_rank(world: World) {
    let nodes: Vec<Value> = [json!(1e308), json!(i64::MAX), json!(1), json!(0.5), json!(-0.0), json!(i64::MIN), json!(-1e308)]
        .iter().enumerate().map(|(at, priority)| json!({"ref": at.to_string(), "summary": "S", "properties": {"priority": priority}})).collect();
    let of = plan(&world, nodes.into());
    let expected: Vec<String> = (0..7).map(|at: i32| of[&at.to_string()].clone()).collect();
    assert_eq!(next_ids(&world, json!({"count": 50})), expected);
    assert_eq!(
        page_through(
            &world,
            &json!({"filter": {"is_actionable": true}, "sort": "readiness"}),
            1
        ),
        expected
    );
}

#[on_both]
fn a_node_comes_with_ancestors_links_and_what_unblocked_it(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "api", "summary": "API", "context_links": ["api.md"]},
            {"ref": "auth", "summary": "Auth", "parent_ref": "api"},
            {"ref": "login", "summary": "Login", "parent_ref": "auth", "context_links": ["login.rs"], "depends_on": ["db"]},
            {"ref": "db", "summary": "DB"},
        ]),
    );
    world.ok("graph_update", json!({"updates": [
        {"node_id": "PLAN-001", "add_context_links": ["README.md"]},
        {"node_id": of["db"], "resolved": true, "add_evidence": [{"type": "git", "ref": "abc"}]},
    ]}));
    let answer = world.ok("graph_next", json!({}));
    let one = &answer["nodes"][0];
    assert_eq!(one["node"]["id"], json!(of["login"]));
    assert_eq!(one["node"]["parent"], json!(of["auth"]));
    assert_eq!(
        one["ancestors"],
        json!([
            {"id": "PLAN-001", "summary": "default"},
            {"id": of["api"], "summary": "API"},
            {"id": of["auth"], "summary": "Auth"},
        ])
    );
    assert_eq!(
        one["context_links"],
        json!({"self": ["login.rs"], "inherited": [
            {"node_id": "PLAN-001", "links": ["README.md"]},
            {"node_id": of["api"], "links": ["api.md"]},
        ]})
    );
    let deps = &one["resolved_deps"];
    assert_eq!(
        (&deps[0]["id"], &deps[0]["summary"]),
        (&json!(of["db"]), &json!("DB"))
    );
    let evidence = &deps[0]["evidence"][0];
    assert_eq!(
        (&evidence["type"], &evidence["ref"], &evidence["agent"]),
        (&json!("git"), &json!("abc"), &json!("ada"))
    );
    assert!(evidence["timestamp"].as_str().unwrap().ends_with('Z'));
}

#[on_both]
fn an_empty_answer_says_why(world: World) {
    let why = |world: &World, agent: &str, args: Value| {
        let answer = world
            .call_as(&World::caller(agent), "graph_next", args)
            .unwrap();
        assert_eq!(answer["nodes"], json!([]), "{answer}");
        assert!(!answer["hint"].as_str().unwrap().is_empty());
        assert!(!answer["reason"]["message"].as_str().unwrap().is_empty());
        answer["reason"].clone()
    };
    assert_eq!(why(&world, "ada", json!({}))["code"], "nothing_planned");
    let of = plan(
        &world,
        json!([
            {"ref": "a", "summary": "A", "properties": {"k": 1}}, {"ref": "b", "summary": "B", "depends_on": ["a"], "properties": {"k": 2}},
            {"ref": "p", "summary": "P"}, {"ref": "c", "summary": "C", "parent_ref": "p", "depends_on": ["b"]}, {"ref": "d", "summary": "D", "parent_ref": "p", "depends_on": ["c"]},
        ]),
    );
    let head = world.head();
    for claim in [false, true] {
        let none = why(&world, "ada", json!({"filter": {"k": 3}, "claim": claim}));
        assert_eq!(none["code"], "no_match");
        let waits = why(&world, "ada", json!({"filter": {"k": 2}, "claim": claim}));
        assert_eq!(
            (&waits["code"], &waits["open"], &waits["blocked"]),
            (&json!("all_waiting"), &json!(1), &json!(1))
        );
        let below = why(&world, "ada", json!({"scope": of["p"], "claim": claim}));
        assert_eq!(
            (&below["code"], &below["open"]),
            (&json!("all_waiting"), &json!(2))
        );
        assert_eq!(
            ids(&below["waits_for"]),
            [of["b"].clone()],
            "what is outside the scope"
        );
        assert_eq!(
            why(&world, "ada", json!({"scope": of["a"], "claim": claim}))["code"],
            "all_done"
        );
    }
    assert_eq!(world.head(), head, "an empty claim writes nothing");
    claim_as(&world, "bob");
    let held = why(&world, "ada", json!({}));
    assert_eq!(
        (
            &held["code"],
            &held["claimed"],
            &held["open"],
            &held["blocked"]
        ),
        (&json!("all_claimed"), &json!(1), &json!(6), &json!(3))
    );
    let claim = &held["claims"][0];
    assert_eq!(
        (
            &claim["id"],
            &claim["by"],
            &claim["session"],
            &claim["alive"]
        ),
        (
            &json!(of["a"]),
            &json!("bob"),
            &json!("sess_bob"),
            &json!(true)
        )
    );
    assert!(claim["until"].as_str() > claim["since"].as_str());
    assert_eq!(
        why(&world, "ada", json!({"filter": {"k": 1}, "claim": true}))["code"],
        "all_claimed"
    );
    for max in [0, 30, 60, 100, 200, 1_000] {
        let answer = world.ok("graph_next", json!({"max_chars": max}));
        assert!(
            chars(&answer) <= max.max(chars(&json!({"nodes": [], "truncated": true}))),
            "{max}: {answer}"
        );
    }
    restructure(
        &world,
        json!([{"op": "drop", "node_id": "PLAN-001", "reason": "over"}]),
    );
    assert_eq!(why(&world, "ada", json!({}))["code"], "all_done");
}

#[on_both]
fn a_deadlock_in_an_old_store_is_told_with_its_path_and_hangs_nothing(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "a", "summary": "A"}, {"ref": "b", "summary": "B", "parent_ref": "a"}]),
    );
    // As a store from before such links were refused may hold it.
    let mut raw = world.backend.raw();
    raw.run("INSERT INTO core_link (ws, relation, source, target) SELECT c.ws, 'depends_on', c.id, c.parent FROM core_entity c WHERE c.handle = 'TASK-002'").unwrap();
    raw.run("UPDATE core_node SET open_deps = 1, standing = 1 WHERE id = (SELECT id FROM core_entity WHERE handle = 'TASK-002')").unwrap();
    raw.run("UPDATE core_project SET blocked = 1, actionable = 0")
        .unwrap();
    for args in [
        json!({}),
        json!({"claim": true}),
        json!({"scope": "PLAN-001"}),
    ] {
        let answer = world.ok("graph_next", args.clone());
        assert_eq!(answer["reason"]["code"], "deadlock", "{args}: {answer}");
        let cycle: Vec<&str> = answer["reason"]["cycle"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| id.as_str().unwrap())
            .collect();
        assert!(
            cycle.len() == 3
                && cycle.contains(&of["a"].as_str())
                && cycle.contains(&of["b"].as_str()),
            "{cycle:?}"
        );
    }
    world.ok("graph_onboard", json!({}));
    world.ok("graph_context", json!({"node_id": of["b"]}));
    world.ok(
        "graph_connect",
        json!({"edges": [{"from": of["a"], "to": of["b"], "type": "depends_on"}]}),
    );
    world.plan(&["C"]);
    let answer = world.ok(
        "graph_connect",
        json!({"edges": [{"from": of["b"], "to": of["a"], "type": "depends_on", "remove": true}]}),
    );
    assert_eq!(newly(&answer), [of["b"].clone()], "and can be taken apart");
}

#[on_both]
fn scope_means_descendants_only(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "a", "summary": "A"}, {"ref": "a1", "summary": "A1", "parent_ref": "a"},
            {"ref": "a2", "summary": "A2", "parent_ref": "a1"}, {"ref": "b", "summary": "B"},
        ]),
    );
    assert_eq!(
        next_ids(&world, json!({"scope": of["a"], "count": 9})),
        [of["a2"].clone()]
    );
    assert_eq!(
        next_ids(&world, json!({"scope": of["a2"]})),
        Vec::<String>::new(),
        "not itself"
    );
    assert_eq!(
        next_ids(&world, json!({"scope": "PLAN-001", "count": 9})).len(),
        2
    );
    assert_eq!(
        next_ids(&world, json!({"scope": of["a"], "claim": true})),
        [of["a2"].clone()]
    );
    for id in ["TASK-999", ""] {
        assert_eq!(
            world.refused("graph_next", json!({"scope": id})).code,
            Code::NotFound
        );
        assert_eq!(
            world
                .refused("graph_next", json!({"scope": id, "claim": true}))
                .code,
            Code::NotFound
        );
    }
}

#[on_both]
fn a_filter_matches_properties_by_value(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "a", "summary": "A", "properties": {"kind": "bug", "size": 1}},
            {"ref": "b", "summary": "B", "properties": {"kind": "bug", "size": 2}},
            {"ref": "c", "summary": "C", "properties": {"kind": "feature"}},
        ]),
    );
    let get = |filter: Value| next_ids(&world, json!({"filter": filter, "count": 9}));
    assert_eq!(
        get(json!({"kind": "bug"})),
        [of["a"].clone(), of["b"].clone()]
    );
    assert_eq!(get(json!({"kind": "bug", "size": 2.0})), [of["b"].clone()]);
    assert_eq!(get(json!({"kind": "none"})), Vec::<String>::new());
    assert_eq!(get(json!({"kind": "bug' OR '1'='1"})), Vec::<String>::new());
    assert_eq!(
        next_ids(
            &world,
            json!({"filter": {"kind": "feature"}, "scope": "PLAN-001", "claim": true})
        ),
        [of["c"].clone()]
    );
}

#[on_both]
fn count_gives_that_many_and_is_kept_in_bounds(world: World) {
    world.plan(&["a"; 205]);
    for (count, given) in [
        (json!(null), 1),
        (json!(-3), 1),
        (json!(0), 1),
        (json!(3), 3),
        (json!(1_000_000), 200),
    ] {
        assert_eq!(
            next_ids(&world, json!({"count": count, "max_chars": 1_000_000})).len(),
            given,
            "{count}"
        );
    }
}

#[on_both]
fn a_claim_is_written_into_the_properties(world: World) {
    world.plan(&["A"]);
    let claimed = world.ok("graph_next", json!({"claim": true}));
    let shown = &claimed["nodes"][0]["node"];
    assert_eq!(shown["properties"]["_claimed_by"], "ada");
    assert_eq!(shown["properties"]["_claimed_session"], "sess_ada");
    assert_eq!(shown["properties"]["_claimed_at"], shown["updated_at"]);
    assert_eq!(shown["rev"], 2, "a claim is a change");
    assert_eq!(*shown, node(&world, "TASK-001"));
}

#[on_both]
fn looking_claims_nothing(world: World) {
    world.plan(&["A"]);
    let head = world.head();
    assert_eq!(next_as(&world, "ada", json!({})), ["TASK-001"]);
    assert_eq!(
        next_as(&world, "bob", json!({"claim": false})),
        ["TASK-001"]
    );
    assert_eq!(world.head(), head);
}

#[on_both]
fn another_agents_claim_is_skipped_and_ones_own_comes_again(world: World) {
    world.plan(&["A", "B"]);
    assert_eq!(claim_as(&world, "ada"), ["TASK-001"]);
    assert_eq!(claim_as(&world, "bob"), ["TASK-002"]);
    assert_eq!(claim_as(&world, "cyd"), Vec::<String>::new());
    assert_eq!(
        next_as(&world, "cyd", json!({"count": 9})),
        Vec::<String>::new()
    );
    assert_eq!(claim_as(&world, "bob"), ["TASK-002"]);
    assert_eq!(next_as(&world, "ada", json!({"count": 9})), ["TASK-001"]);
}

#[on_both]
fn a_claim_goes_stale_after_the_ttl(world: World) {
    world.plan(&["A"]);
    claim_as(&world, "ada");
    world.clock.turn(3_590);
    assert_eq!(claim_as(&world, "bob"), Vec::<String>::new());
    world.clock.turn(20);
    assert_eq!(next_as(&world, "bob", json!({})), ["TASK-001"]);
    assert_eq!(claim_as(&world, "bob"), ["TASK-001"]);
    assert_eq!(
        claim_as(&world, "ada"),
        Vec::<String>::new(),
        "it is bob's now"
    );
    assert_eq!(node(&world, "TASK-001")["properties"]["_claimed_by"], "bob");
}

#[on_both]
fn own_nodes_come_first_then_free_and_stale_ones_by_rank_within_scope_and_filter(world: World) {
    let of = plan(
        &world,
        json!([
            {"ref": "top", "summary": "T"},
            {"ref": "stale", "summary": "S", "parent_ref": "top", "properties": {"priority": 5, "k": 1}},
            {"ref": "free", "summary": "S", "parent_ref": "top", "properties": {"priority": 4, "k": 1}},
            {"ref": "own", "summary": "S", "parent_ref": "top", "properties": {"priority": 3, "k": 1}},
            {"ref": "out", "summary": "S", "properties": {"priority": 9, "k": 1}},
            {"ref": "other", "summary": "S", "parent_ref": "top", "properties": {"priority": 9, "k": 2}},
        ]),
    );
    for name in ["stale", "out", "other"] {
        take(&world, &World::caller("bob"), &of[name]).unwrap();
    }
    world.clock.turn(3_700);
    take(&world, &World::caller("ada"), &of["own"]).unwrap();
    let wanted = json!({"scope": of["top"], "filter": {"k": 1}, "count": 9});
    let ranked = [of["own"].clone(), of["stale"].clone(), of["free"].clone()];
    assert_eq!(next_ids(&world, wanted), ranked);
    assert_eq!(
        next_ids(
            &world,
            json!({"scope": of["top"], "filter": {"k": 1}, "count": 2})
        ),
        ranked[..2]
    );
    assert_eq!(
        next_ids(
            &world,
            json!({"scope": of["top"], "filter": {"k": 1}, "claim": true})
        ),
        ranked[..1]
    );
    assert_eq!(
        next_as(
            &world,
            "cyd",
            json!({"scope": of["top"], "filter": {"k": 1}, "count": 9})
        ),
        ranked[1..]
    );
}

#[on_both]
fn claiming_again_renews_the_claim(world: World) {
    world.plan(&["A"]);
    claim_as(&world, "ada");
    world.clock.turn(3_000);
    claim_as(&world, "ada");
    world.clock.turn(3_000);
    assert_eq!(claim_as(&world, "bob"), Vec::<String>::new());
}

#[on_both]
fn a_clock_set_back_frees_nothing(world: World) {
    world.plan(&["A"]);
    claim_as(&world, "ada");
    world.clock.turn(-100_000);
    assert_eq!(claim_as(&world, "bob"), Vec::<String>::new());
    assert_eq!(claim_as(&world, "ada"), ["TASK-001"]);
}

#[on_both]
fn the_ttl_is_configurable(world: World) {
    world.plan(&["A"]);
    claim_as(&world, "ada");
    world.clock.turn(61);
    let short = world.claims_last(Duration::from_secs(60));
    let seen = World::call_on(&short, &World::caller("bob"), "graph_next", json!({})).unwrap();
    assert_eq!(next_of(&seen), ["TASK-001"]);
    assert_eq!(next_as(&world, "bob", json!({})), Vec::<String>::new());
}

#[on_both]
fn claims_survive_a_reopened_engine(world: World) {
    world.plan(&["A"]);
    claim_as(&world, "ada");
    let again = world.another();
    let seen = |agent: &str| {
        next_of(
            &World::call_on(
                &again,
                &World::caller(agent),
                "graph_next",
                json!({"claim": true}),
            )
            .unwrap(),
        )
    };
    assert_eq!(seen("bob"), Vec::<String>::new());
    assert_eq!(seen("ada"), ["TASK-001"]);
}

#[on_both]
fn a_claim_stays_after_resolving_as_who_did_it(world: World) {
    world.plan(&["A"]);
    claim_as(&world, "bob");
    resolve(&world, &["TASK-001"]);
    assert_eq!(node(&world, "TASK-001")["properties"]["_claimed_by"], "bob");
    assert_eq!(
        found(&world, json!({"claimed_by": "bob", "resolved": true})),
        ["TASK-001"]
    );
}

#[on_both]
fn a_claim_can_be_given_back(world: World) {
    world.plan(&["A"]);
    claim_as(&world, "ada");
    world.ok("graph_update", json!({"updates": [{"node_id": "TASK-001", "properties": {"_claimed_by": null, "_claimed_at": null}}]}));
    assert_eq!(claim_as(&world, "bob"), ["TASK-001"]);
}

#[on_both]
fn a_claim_is_not_written_by_hand(world: World) {
    let id = world.plan(&["A"]).remove(0);
    for (name, value) in [
        ("_claimed_by", json!("bob")),
        ("_claimed_at", json!("2026-02-17T12:00:00Z")),
        ("_claimed_session", json!("x")),
        ("_claimed_by", json!(5)),
    ] {
        let fault = world.refused(
            "graph_update",
            json!({"updates": [{"node_id": id, "properties": {name: value}}]}),
        );
        assert_eq!(
            (fault.code, &fault.details.unwrap()["field"]),
            (
                Code::Validation,
                &json!(format!("updates[0].properties.{name}"))
            )
        );
        let fault = world.refused(
            "graph_plan",
            json!({"nodes": [{"ref": "a", "summary": "A", "properties": {name: value}}]}),
        );
        assert_eq!(
            fault.details.unwrap()["field"],
            format!("nodes[0].properties.{name}")
        );
    }
    claim_as(&world, "ada");
    let mut read = node(&world, &id)["properties"].clone();
    read["size"] = json!(3);
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": id, "properties": read}]}),
    );
    assert_eq!(
        node(&world, &id)["properties"]["size"],
        3,
        "what was read may be written back"
    );
    world.assert_sound();
}

#[on_both]
fn two_agents_are_never_given_the_same_node(world: World) {
    world.plan(&["A"; 24]);
    let other = world.another();
    let taken: Vec<Vec<String>> = std::thread::scope(|scope| {
        let take = |engine, agent: &'static str| {
            scope.spawn(move || {
                let mut mine = Vec::new();
                loop {
                    let caller = World::caller(agent);
                    let got = next_of(
                        &World::call_on(engine, &caller, "graph_next", json!({"claim": true}))
                            .unwrap(),
                    );
                    let Some(id) = got.first() else { return mine };
                    World::call_on(
                        engine,
                        &caller,
                        "graph_update",
                        json!({"updates": [{"node_id": id, "resolved": true}]}),
                    )
                    .unwrap();
                    if id == "PLAN-001" {
                        return mine;
                    }
                    mine.push(id.clone());
                }
            })
        };
        let hands = [
            take(&*world.engine, "ada"),
            take(&other, "bob"),
            take(&*world.engine, "cyd"),
        ];
        hands.into_iter().map(|hand| hand.join().unwrap()).collect()
    });
    let mut all: Vec<String> = taken.concat();
    all.sort();
    let before = all.len();
    all.dedup();
    assert_eq!((before, all.len()), (24, 24));
    world.assert_sound();
}

#[on_both]
fn a_budget_never_claims_what_it_does_not_tell(world: World) {
    world.plan(&["A"; 10]);
    for max in [0, 100, 400, 900, 2_000] {
        let agent = format!("agent{max}");
        let answer = world
            .call_as(
                &World::caller(&agent),
                "graph_next",
                json!({"claim": true, "count": 10, "max_chars": max}),
            )
            .unwrap();
        assert!(
            chars(&answer) <= max.max(chars(&json!({"nodes": [], "truncated": true}))),
            "{answer}"
        );
        let told = next_of(&answer);
        assert_eq!(found(&world, json!({"claimed_by": agent})), told, "{max}");
        if told.len() < 10 {
            assert_eq!(answer["truncated"], true);
        }
    }
}

#[on_both]
fn long_evidence_does_not_hide_what_is_next(world: World) {
    let of = plan(
        &world,
        json!([{"ref": "dep", "summary": "Dep"}, {"ref": "next", "summary": "Next", "depends_on": ["dep"]}]),
    );
    let evidence = json!([{"type": "log", "ref": "x".repeat(99_000)}, {"type": "log", "ref": "y".repeat(99_000)}]);
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": of["dep"], "resolved": true, "add_evidence": evidence}]}),
    );
    let answer = world.ok("graph_next", json!({"claim": true}));
    assert_eq!(next_of(&answer), [of["next"].clone()]);
    assert_eq!(answer["truncated"], true);
    assert!(chars(&answer) <= 100_000);
    let whole = world.ok("graph_next", json!({"max_chars": 1_000_000}));
    assert!(whole.get("truncated").is_none());
    assert_eq!(
        whole["nodes"][0]["resolved_deps"][0]["evidence"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[on_both]
fn the_cycle_of_claim_work_and_resolve_costs_at_most_450_tokens(world: World) {
    world.ok(
        "graph_open",
        json!({"project": "default", "goal": "Ship the web shop"}),
    );
    let of = plan(
        &world,
        json!([
            {"ref": "db", "summary": "Write the database schema"},
            {"ref": "api", "summary": "Write the API", "depends_on": ["db"]},
            {"ref": "ui", "summary": "Write the UI", "depends_on": ["api"]},
        ]),
    );
    world.ok("graph_update", json!({"updates": [{"node_id": of["db"], "resolved": true, "add_evidence": [{"type": "git", "ref": "abc1234"}]}]}));
    let calls = [
        ("graph_next", json!({"claim": true})),
        ("graph_context", json!({"node_id": of["api"]})),
        (
            "graph_update",
            json!({"updates": [{"node_id": of["api"], "resolved": true, "add_evidence": [{"type": "git", "ref": "def5678"}]}]}),
        ),
    ];
    let mut spent = 0;
    for (tool, args) in calls {
        let answer = world.ok(tool, args.clone());
        spent += chars(&args) + chars(&answer);
    }
    assert!(spent <= 450 * 4, "{} tokens", spent.div_ceil(4));
}
