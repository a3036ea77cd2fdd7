//! `branchmind_graph_merge`: what goes back into the base, what becomes a conflict, and that doing
//! it again does nothing.

use crate::reasoning_graphs::*;
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{Backend, World, on_both};

/// How two sides meet: a name, what the branch does, what its base does, and what a merge counts.
type Met = (&'static str, Vec<Value>, Vec<Value>, [u64; 3]);

/// Nodes `a`, `b` and `c` with an edge on main, and a branch `what-if` of it.
fn start(world: &World) {
    let ops = vec![
        put("a", "A"),
        put("b", "B"),
        put("c", "C"),
        link("a", "r", "b"),
    ];
    apply(world, "main", ops);
    fork(world, "what-if", "main");
}

/// What is said about `a` on both sides.
fn both(world: &World, theirs: &str, ours: &str) {
    apply(world, "what-if", vec![put("a", theirs)]);
    apply(world, "main", vec![put("a", ours)]);
}

#[on_both]
fn only_back_into_the_base(world: World) {
    start(&world);
    fork(&world, "deeper", "what-if");
    fork(&world, "other", "main");
    for dry in [false, true] {
        let astray = |from: &str, into: &str| {
            refused(
                &world,
                "graph_merge",
                with(sides(from, into), json!({"dry_run": dry})),
            )
        };
        for (from, into, base) in [
            ("deeper", "main", "what-if"),
            ("what-if", "other", "main"),
            ("what-if", "deeper", "main"),
            ("what-if", "what-if", "main"),
        ] {
            let fault = astray(from, into);
            assert_eq!(
                (fault.code, field(&fault).as_str()),
                (Code::Validation, "into"),
                "{from} {into}"
            );
            assert_eq!(fault.details.unwrap()["base_branch"], base);
            assert!(fault.hint.unwrap().contains(base));
        }
        for into in ["what-if", "main"] {
            assert_eq!(
                astray("main", into).code,
                Code::Validation,
                "main has no base"
            );
        }
        for (from, into) in [("what-fi", "main"), ("what-if", "mian")] {
            let fault = astray(from, into);
            assert_eq!(fault.code, Code::UnknownBranch);
            assert!(
                fault
                    .hint
                    .is_some_and(|hint| hint.contains("what-if") || hint.contains("main"))
            );
        }
    }
    nothing_to_merge(&world, "what-if", "main");
    let empty = merged(&world, "what-if", "main");
    assert_eq!(
        empty,
        json!({"from": "what-if", "into": "main", "doc": DOC, "merged": 0, "skipped": 0, "conflicts_created": 0, "conflicts_open": 0,
        "pagination": {"cursor": null, "has_more": false, "limit": 200, "count": 0}})
    );
}

#[on_both]
fn what_only_the_branch_changed_is_taken(world: World) {
    start(&world);
    apply(&world, "main", vec![put("c", "C2")]);
    apply(
        &world,
        "what-if",
        vec![
            put("a", "A2"),
            put("n", "N"),
            link("n", "r", "a"),
            drop_node("b"),
        ],
    );
    // b's edge went with it, and what a branch wrote twice is one change.
    apply(&world, "what-if", vec![put("a", "A3")]);
    assert_eq!(merge(&world, "what-if", "main"), [5, 0, 0]);
    assert_eq!(found(&world, "main", json!({})).len(), 3);
    assert_eq!(title(&world, "main", "a").as_deref(), Some("A3"));
    assert_eq!(
        title(&world, "main", "c").as_deref(),
        Some("C2"),
        "main keeps its own"
    );
    assert_eq!(
        title(&world, "what-if", "c").as_deref(),
        Some("C"),
        "and the branch its view"
    );
    assert_eq!(edges(&world, "main", json!({})), ["n r a"]);
    assert_eq!(node(&world, "main", "b")["deleted"], true);
    nothing_to_merge(&world, "what-if", "main");
    // What main does with it afterwards is main's.
    apply(&world, "main", vec![put("a", "A4"), drop_node("n")]);
    nothing_to_merge(&world, "what-if", "main");
    world.assert_sound();
}

#[on_both]
fn both_changed(world: World) {
    let cases: [Met; 10] = [
        (
            "differently",
            vec![put("a", "X")],
            vec![put("a", "Y")],
            [0, 0, 1],
        ),
        ("alike", vec![put("a", "X")], vec![put("a", "X")], [0, 1, 0]),
        (
            "deleted and changed",
            vec![drop_node("c")],
            vec![put("c", "Y")],
            [0, 0, 1],
        ),
        (
            "changed and deleted",
            vec![put("c", "X")],
            vec![drop_node("c")],
            [0, 0, 1],
        ),
        (
            "both deleted",
            vec![drop_node("c")],
            vec![drop_node("c")],
            [0, 1, 0],
        ),
        (
            "made differently",
            vec![put("n", "X")],
            vec![put("n", "Y")],
            [0, 0, 1],
        ),
        (
            "made alike",
            vec![put("n", "X")],
            vec![put("n", "X")],
            [0, 1, 0],
        ),
        (
            "made and unmade",
            vec![put("n", "X"), drop_node("n")],
            vec![put("n", "Y")],
            [0, 1, 0],
        ),
        (
            "there and back",
            vec![put("a", "X"), put("a", "A")],
            vec![put("a", "Y")],
            [0, 1, 0],
        ),
        (
            "back and there",
            vec![put("a", "X")],
            vec![put("a", "Y"), put("a", "A")],
            [1, 0, 0],
        ),
    ];
    apply(&world, "main", vec![put("a", "A"), put("c", "C")]);
    for (at, (name, theirs, ours, expected)) in cases.into_iter().enumerate() {
        // Each on a pair of its own.
        let (base, branch) = (format!("base{at}"), format!("branch{at}"));
        fork(&world, &base, "main");
        fork(&world, &branch, &base);
        apply(&world, &branch, theirs);
        apply(&world, &base, ours);
        let before = query(&world, &base, json!({"include_deleted": true}));
        assert_eq!(merge(&world, &branch, &base), expected, "{name}");
        if expected[0] == 0 {
            assert_eq!(
                query(&world, &base, json!({"include_deleted": true})),
                before,
                "{name}: nothing was applied"
            );
        }
        nothing_to_merge(&world, &branch, &base);
    }
    world.assert_sound();
}

#[on_both]
fn edges_conflict_too(world: World) {
    start(&world);
    let weighed = |weight: i64| with(link("a", "r", "b"), json!({"meta": {"weight": weight}}));
    apply(&world, "what-if", vec![weighed(1)]);
    apply(&world, "main", vec![unlink("a", "r", "b")]);
    let id = conflict(&world, "what-if", "main");
    let shown = shown(&world, &id);
    assert_eq!(
        (&shown["kind"], &shown["key"]),
        (&json!("edge"), &json!({"from": "a", "rel": "r", "to": "b"}))
    );
    assert_eq!(
        (
            &shown["theirs"]["meta"]["weight"],
            &shown["ours"]["deleted"]
        ),
        (&json!(1), &json!(true))
    );
    assert_eq!(resolve(&world, &id, "use_from")["applied"], true);
    assert_eq!(edges(&world, "main", json!({})), ["a r b"]);
    nothing_to_merge(&world, "what-if", "main");
    world.assert_sound();
}

#[on_both]
fn a_conflict_has_the_same_name_everywhere(world: World) {
    let play = |world: &World| {
        start(world);
        both(world, "X", "Y");
        conflict(world, "what-if", "main")
    };
    let here = play(&world);
    assert_eq!(play(&World::new(Backend::sqlite())), here);
    assert_eq!(conflicts(&world, "main", "open"), [here]);
}

#[on_both]
fn nothing_is_left_after_resolving(world: World) {
    for (how, title_then) in [("use_from", "X"), ("use_into", "Y")] {
        let branch = format!("b-{how}");
        apply(&world, "main", vec![put("a", "A")]);
        fork(&world, &branch, "main");
        apply(&world, &branch, vec![put("a", "X")]);
        apply(&world, "main", vec![put("a", "Y")]);
        let id = conflict(&world, &branch, "main");
        let head = world.head();
        let answer = resolve(&world, &id, how);
        assert_eq!(
            answer,
            json!({"conflict_id": id, "status": "resolved", "applied": how == "use_from"})
        );
        assert!(world.head() > head);
        assert_eq!(title(&world, "main", "a").as_deref(), Some(title_then));
        nothing_to_merge(&world, &branch, "main");
        // Not even when main moves on, be it to where the branch began.
        for then in ["Z", "A", "X"] {
            apply(&world, "main", vec![put("a", then)]);
            nothing_to_merge(&world, &branch, "main");
        }
        assert_eq!(conflicts(&world, "main", "open"), Vec::<String>::new());
    }
    world.assert_sound();
}

#[on_both]
fn a_deletion_can_be_chosen(world: World) {
    start(&world);
    apply(&world, "what-if", vec![drop_node("c")]);
    apply(&world, "main", vec![put("c", "Y")]);
    let id = conflict(&world, "what-if", "main");
    assert_eq!(shown(&world, &id)["theirs"]["deleted"], true);
    resolve(&world, &id, "use_from");
    assert_eq!(
        (
            title(&world, "main", "c"),
            &node(&world, "main", "c")["deleted"]
        ),
        (None, &json!(true))
    );
    nothing_to_merge(&world, "what-if", "main");
}

#[on_both]
fn a_branch_can_be_merged_as_it_grows(world: World) {
    start(&world);
    for step in ["one", "two", "A", "three"] {
        apply(&world, "what-if", vec![put("a", step)]);
        assert_eq!(
            merge(&world, "what-if", "main"),
            [1, 0, 0],
            "only the branch changed it: {step}"
        );
        assert_eq!(title(&world, "main", "a").as_deref(), Some(step));
    }
    apply(&world, "what-if", vec![drop_node("a")]);
    assert_eq!(
        merge(&world, "what-if", "main"),
        [2, 0, 0],
        "the node and its edge"
    );
    // Once main says something else, they differ again, from what they last had in common.
    apply(&world, "what-if", vec![put("b", "theirs")]);
    assert_eq!(merge(&world, "what-if", "main")[0], 1);
    apply(&world, "main", vec![put("b", "ours")]);
    nothing_to_merge(&world, "what-if", "main");
    apply(&world, "what-if", vec![put("b", "theirs again")]);
    let id = conflict(&world, "what-if", "main");
    let shown = shown(&world, &id);
    let titles = ["base", "ours", "theirs"].map(|side| shown[side]["title"].clone());
    assert_eq!(titles, ["theirs", "ours", "theirs again"]);
    resolve(&world, &id, "use_from");
    apply(&world, "what-if", vec![put("b", "and again")]);
    assert_eq!(
        merge(&world, "what-if", "main")[0],
        1,
        "settled is in common"
    );
    world.assert_sound();
}

#[on_both]
fn a_later_version_supersedes_a_conflict(world: World) {
    start(&world);
    both(&world, "X", "Y");
    let first = conflict(&world, "what-if", "main");
    nothing_to_merge(&world, "what-if", "main");
    apply(&world, "main", vec![put("a", "Y2")]);
    nothing_to_merge(&world, "what-if", "main");
    apply(&world, "what-if", vec![put("a", "X2")]);
    let second = conflict(&world, "what-if", "main");
    assert_ne!(first, second);
    assert_eq!(conflicts(&world, "main", "open"), [second.as_str()]);
    assert_eq!(conflicts(&world, "main", "resolved"), [first.as_str()]);
    assert_eq!(shown(&world, &first)["resolution"], "superseded");
    for how in ["use_from", "use_into"] {
        let fault = refused(
            &world,
            "graph_conflict_resolve",
            json!({"conflict_id": first, "resolution": how}),
        );
        assert_eq!((fault.code, fault.hint.is_some()), (Code::Conflict, true));
    }
    // Also where the later version needs no decision: an old one must not be chosen over it.
    apply(&world, "main", vec![put("a", "A")]);
    apply(&world, "what-if", vec![put("a", "X3")]);
    assert_eq!(merge(&world, "what-if", "main"), [1, 0, 0]);
    assert_eq!(conflicts(&world, "main", "open"), Vec::<String>::new());
    refused(
        &world,
        "graph_conflict_resolve",
        json!({"conflict_id": second, "resolution": "use_from"}),
    );
    assert_eq!(title(&world, "main", "a").as_deref(), Some("X3"));
    world.assert_sound();
}

#[on_both]
fn main_may_move_while_a_conflict_is_open(world: World) {
    start(&world);
    both(&world, "X", "Y");
    let id = conflict(&world, "what-if", "main");
    apply(&world, "main", vec![put("a", "A")]);
    nothing_to_merge(&world, "what-if", "main");
    assert_eq!(
        shown(&world, &id)["ours"]["title"],
        "Y",
        "as it was when they met"
    );
    resolve(&world, &id, "use_into");
    assert_eq!(
        title(&world, "main", "a").as_deref(),
        Some("A"),
        "what is there is kept"
    );
    nothing_to_merge(&world, "what-if", "main");
}

#[on_both]
fn page_by_page(world: World) {
    start(&world);
    let ops: Vec<Value> = (0..7).map(|at| put(&format!("n{at}"), "N")).collect();
    apply(&world, "what-if", ops);
    both(&world, "X", "Y");
    let (mut sums, mut cursor, mut calls) = ([0; 3], Value::Null, 0);
    loop {
        let answer = ok(
            &world,
            "graph_merge",
            with(
                sides("what-if", "main"),
                json!({"limit": 3, "cursor": cursor}),
            ),
        );
        let page = &answer["pagination"];
        let got = counts(&answer);
        assert_eq!(page["count"], got.iter().sum::<u64>());
        sums = [0, 1, 2].map(|at| sums[at] + got[at]);
        calls += 1;
        cursor = page["next_cursor"].clone();
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!((sums, calls), ([7, 0, 1], 3));
    nothing_to_merge(&world, "what-if", "main");
    let zero = ok(
        &world,
        "graph_merge",
        with(sides("what-if", "main"), json!({"limit": 0})),
    );
    assert_eq!(
        (&zero["pagination"]["limit"], &zero["skipped"]),
        (&json!(1), &json!(1))
    );
    world.assert_sound();
}

#[on_both]
fn up_two_levels(world: World) {
    start(&world);
    fork(&world, "deeper", "what-if");
    apply(&world, "deeper", vec![put("a", "deep"), drop_node("b")]);
    assert_eq!(merge(&world, "deeper", "what-if"), [3, 0, 0]);
    assert_eq!(title(&world, "main", "a").as_deref(), Some("A"));
    assert_eq!(merge(&world, "what-if", "main"), [3, 0, 0]);
    assert_eq!(title(&world, "main", "a").as_deref(), Some("deep"));
    for (from, into) in [("deeper", "what-if"), ("what-if", "main")] {
        nothing_to_merge(&world, from, into);
    }
    world.assert_sound();
}

#[on_both]
fn documents_are_merged_one_by_one(world: World) {
    start(&world);
    ok(
        &world,
        "graph_apply",
        json!({"branch": "what-if", "doc": "other", "ops": [put("o", "O")]}),
    );
    nothing_to_merge(&world, "what-if", "main");
    let args = json!({"from": "what-if", "into": "main", "doc": "other"});
    assert_eq!(counts(&ok(&world, "graph_merge", args)), [1, 0, 0]);
    for doc in ["", "a|b"] {
        let fault = refused(
            &world,
            "graph_merge",
            json!({"from": "what-if", "into": "main", "doc": doc}),
        );
        assert_eq!(fault.code, Code::Validation);
    }
}
