//! One name, one repository: who shares a workspace, and who must not.

use serde_json::json;
use understory_engine::Holder;
use understory_model::{Caller, Code, Seq};
use understory_testkit::{World, on_both};

use crate::common::{assert_gapless, soil};

fn of(origin: Option<&str>) -> Caller {
    Caller {
        origin: origin.map(str::to_string),
        ..World::caller("ada")
    }
}

fn plan(world: &World, caller: &Caller, summary: &str) -> String {
    let args = json!({"nodes": [{"ref": "a", "summary": summary}]});
    let answer = world.call_as(caller, "graph_plan", args).expect("planned");
    answer["created"][0]["id"]
        .as_str()
        .expect("an id")
        .to_string()
}

#[on_both]
fn repositories_of_one_name_never_share(world: World) {
    let (one, two) = (of(Some("path:/one/shed")), of(Some("path:/two/shed")));
    assert_eq!(plan(&world, &one, "first"), "TASK-001");
    plan(&world, &one, "second");
    assert_eq!(
        world.engine.workspace(&two).expect("resolved").name(),
        "garden-shed-2"
    );
    assert_eq!(
        world.engine.head(&two),
        Ok(Seq::ZERO),
        "a look makes nothing"
    );
    // Handles and sequences of each start at one.
    assert_eq!(plan(&world, &two, "theirs"), "TASK-001");
    assert_eq!(
        world.engine.workspace(&two).expect("resolved").name(),
        "garden-shed-2"
    );
    assert_eq!(
        world.engine.workspace(&one).expect("resolved").name(),
        "garden-shed"
    );
    assert_gapless(&soil(&world, 1));
    assert_gapless(&soil(&world, 2));
    let missing = world.call_as(&two, "graph_context", json!({"node_id": "TASK-002"}));
    assert_eq!(missing.expect_err("another's").code, Code::NotFound);
    let update = json!({"updates": [{"node_id": "TASK-002", "resolved": true}]});
    let refused = world
        .call_as(&two, "graph_update", update)
        .expect_err("another's");
    assert_eq!(refused.code, Code::NotFound);
    let edges = json!({"edges": [{"from": "TASK-001", "to": "TASK-002", "type": "x"}]});
    let edges = world
        .call_as(&two, "graph_connect", edges)
        .expect("answered");
    assert_eq!(edges["rejected"][0]["reason"], "node_not_found");
    let query = world.call_as(&two, "graph_query", json!({"filter": {"text": "second"}}));
    assert_eq!(query.expect("a query")["total"], 0);
    world.assert_sound();
}

// An address is what a repository says of itself: an archive may say anything.
#[on_both]
fn an_address_alone_reaches_nothing(world: World) {
    let here = of(Some("url:host/shed\npath:/one"));
    let there = of(Some("url:host/shed\npath:/two"));
    plan(&world, &here, "first");
    assert_eq!(plan(&world, &there, "theirs"), "TASK-001");
    let clash = world.engine.clash(&there).expect("read").expect("a clash");
    assert_eq!(
        (clash.wanted.as_str(), clash.got.as_str()),
        ("garden-shed", "garden-shed-2")
    );
    assert_eq!(
        clash.holder,
        Holder::SameAddress {
            path: "/one".into()
        }
    );
    assert_eq!(world.engine.clash(&here), Ok(None));
}

// A remote that is added, renamed or removed leaves a repository where it is.
#[on_both]
fn a_path_goes_on_whatever_its_address(world: World) {
    plan(&world, &of(Some("path:/one")), "first");
    assert_eq!(
        plan(&world, &of(Some("url:host/shed\npath:/one")), "second"),
        "TASK-002"
    );
    assert_eq!(
        plan(&world, &of(Some("url:other/shed\npath:/one")), "third"),
        "TASK-003"
    );
}

#[on_both]
fn a_name_alone_reaches_nothing(world: World) {
    plan(&world, &of(None), "by token");
    let folder = of(Some("path:/clones/shed"));
    assert_eq!(plan(&world, &folder, "theirs"), "TASK-001");
    let clash = world.engine.clash(&folder).expect("read").expect("a clash");
    assert_eq!(clash.holder, Holder::Named);
    assert_eq!(plan(&world, &of(None), "by token again"), "TASK-002");
}

#[on_both]
fn a_name_can_be_taken_before_anything_is_written(world: World) {
    let folder = of(Some("path:/one"));
    world.engine.settle(&folder).expect("settled");
    assert_eq!(
        world.engine.workspace(&folder).expect("resolved").name(),
        "garden-shed"
    );
    plan(&world, &of(None), "by token");
    assert_eq!(plan(&world, &folder, "by folder"), "TASK-002");
}

#[on_both]
fn a_name_given_on_purpose_is_shared(world: World) {
    plan(&world, &of(Some("path:/one")), "first");
    assert_eq!(plan(&world, &of(None), "second"), "TASK-002");
    assert_eq!(plan(&world, &of(Some("path:/one")), "third"), "TASK-003");
}

#[on_both]
fn other_names_are_other_workspaces(world: World) {
    plan(&world, &of(None), "first");
    let other = Caller {
        workspace: "greenhouse".into(),
        ..World::caller("ada")
    };
    assert_eq!(world.engine.head(&other), Ok(Seq::ZERO));
    assert_eq!(plan(&world, &other, "first"), "TASK-001");
    let keyed = json!({"nodes": [{"ref": "a", "summary": "x"}], "idempotency_key": "k"});
    let here = world.call("graph_plan", keyed.clone()).expect("planned");
    let there = world.call_as(&other, "graph_plan", keyed).expect("planned");
    assert_eq!(here, there, "keys are each workspace's own");
    assert_eq!(world.engine.head(&other), world.engine.head(&world.caller));
}

#[on_both]
fn workspaces_made_at_once_are_all_made_once(world: World) {
    let engines: Vec<_> = (0..4).map(|_| world.another()).collect();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let engine = &engines[thread % 4];
            scope.spawn(move || {
                // Each name is made by two at once, from engines that do not know each other.
                for (at, name) in [(0, thread / 2), (1, thread), (2, 7 - thread)] {
                    let caller = Caller {
                        workspace: format!("w{at}-{name}"),
                        ..World::caller(&format!("agent{thread}"))
                    };
                    let args = json!({"nodes": [{"ref": "a", "summary": "x"}]});
                    World::call_on(engine, &caller, "graph_plan", args).expect("planned");
                }
            });
        }
    });
    let report = world.verify();
    assert!(report.ok, "{report:?}");
    assert_eq!(report.workspaces.len(), 4 + 8 + 8);
    for (at, _) in report.workspaces.iter().enumerate() {
        assert_gapless(&soil(&world, at as i64 + 1));
    }
}
