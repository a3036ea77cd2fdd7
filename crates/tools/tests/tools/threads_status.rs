//! Where a thread stands: every way from every status, by every role, disputed or not.

use crate::threads_common::*;
use serde_json::{Value, json};
use understory_model::{Code, Role};
use understory_testkit::{World, on_both};

const STATUSES: [&str; 4] = ["active", "blocked", "resolved", "closed"];

/// The ways of the contract, written out once more.
const WAYS: [(&str, &str); 9] = [
    ("active", "blocked"),
    ("active", "resolved"),
    ("active", "closed"),
    ("blocked", "active"),
    ("blocked", "resolved"),
    ("blocked", "closed"),
    ("resolved", "active"),
    ("resolved", "closed"),
    ("closed", "active"),
];

/// What the contract says to a change; `None` where it is made or is already so.
fn verdict(from: &str, to: &str, role: Role, disputed: bool) -> Option<Code> {
    if role == Role::Auditor {
        return Some(Code::Forbidden);
    }
    if from == to {
        return None;
    }
    if !WAYS.contains(&(from, to)) {
        return Some(Code::Conflict);
    }
    let settles = to == "closed" && (disputed || from == "blocked");
    let reopens = from == "closed";
    (role == Role::Worker && (settles || reopens)).then_some(Code::InsufficientAuthority)
}

fn cases() -> Vec<(&'static str, &'static str, Role, bool)> {
    let mut all = Vec::new();
    for disputed in [false, true] {
        for role in ROLES {
            for from in STATUSES {
                all.extend(STATUSES.map(|to| (from, to, role, disputed)));
            }
        }
    }
    all
}

fn to(thread: &str, status: &str) -> Value {
    json!({"thread_id": thread, "status": status, "reason": "because"})
}

/// A thread in a status, which an operator brought there.
fn stands(world: &World, status: &str, disputed: bool) -> String {
    let id = thread(world, &["walt", "aud", "orla", "opal"]);
    if disputed {
        finding(world, &id);
    }
    let operator = caller("olga", Role::Operator);
    as_one(world, &operator, "update_thread_status", to(&id, status));
    assert_eq!(get(world, &id)["status"], status);
    id
}

#[on_both]
fn every_way_from_every_status_by_every_role(world: World) {
    for (from, status, role, disputed) in cases() {
        let case = format!("{from} to {status} by {role:?}, disputed {disputed}");
        let (id, one) = (stands(&world, from, disputed), caller("walt", role));
        let (before, head) = (get(&world, &id), world.head());
        if let Some(code) = verdict(from, status, role, disputed) {
            let fault = refused(&world, &one, "update_thread_status", to(&id, status), code);
            assert_eq!(get(&world, &id), before, "{case}");
            let details = fault.details.unwrap_or_default();
            if role != Role::Auditor {
                assert_eq!(details["status"], from, "{case}");
            }
            if code == Code::InsufficientAuthority {
                assert_eq!(details["open_findings"], i64::from(disputed), "{case}");
            }
            continue;
        }
        let answer = as_one(&world, &one, "update_thread_status", to(&id, status));
        let after = get(&world, &id);
        assert_eq!(
            answer,
            json!({"thread_id": id, "status": status, "updated_at": after["updated_at"]}),
            "{case}"
        );
        assert_eq!(after["status"], status, "{case}");
        assert_eq!(
            world.head() - head,
            i64::from(from != status),
            "{case}: the same again is no change"
        );
        assert_eq!(
            after["updated_at"] != before["updated_at"],
            from != status,
            "{case}"
        );
    }
    world.assert_sound();
}

#[on_both]
fn a_change_that_is_no_way_says_where_it_leads(world: World) {
    let id = stands(&world, "closed", false);
    let fault = refused(
        &world,
        &caller("olga", Role::Operator),
        "update_thread_status",
        to(&id, "resolved"),
        Code::Conflict,
    );
    assert_eq!(fault.details.unwrap()["leads_to"], json!(["active"]));
    let id = stands(&world, "resolved", false);
    let fault = refuse(
        &world,
        "update_thread_status",
        to(&id, "blocked"),
        Code::Conflict,
    );
    assert_eq!(
        fault.details.unwrap()["leads_to"],
        json!(["active", "closed"])
    );
}

#[on_both]
fn a_worker_closes_what_is_not_disputed_any_more(world: World) {
    let id = thread(&world, &["walt"]);
    let found = finding(&world, &id);
    refuse(
        &world,
        "update_thread_status",
        to(&id, "closed"),
        Code::InsufficientAuthority,
    );
    world.ok("update_thread_status", to(&id, "resolved"));
    refuse(
        &world,
        "update_thread_status",
        to(&id, "closed"),
        Code::InsufficientAuthority,
    );
    event(&world, &id, "finding_verified", Some(&found), json!({}));
    by(&world, "walt", "update_thread_status", to(&id, "closed"));
    assert_eq!(get(&world, &id)["status"], "closed");
}

#[on_both]
fn a_closed_thread_takes_no_messages_from_anybody(world: World) {
    let id = thread(&world, &["walt"]);
    say(&world, "walt", &id, "before");
    world.ok("update_thread_status", to(&id, "closed"));
    for role in [Role::Worker, Role::Operator, Role::Orchestrator] {
        let args = json!({"thread_id": id, "body": "late"});
        let fault = refused(
            &world,
            &caller("walt", role),
            "post_message",
            args,
            Code::Conflict,
        );
        assert_eq!(
            fault.details.unwrap(),
            json!({"status": "closed", "leads_to": ["active"]})
        );
    }
    // Reading goes on.
    assert_eq!(messages(&world, &id).len(), 1);
    ack(&world, "ada", &id, 1);
    as_one(
        &world,
        &caller("orla", Role::Orchestrator),
        "update_thread_status",
        to(&id, "active"),
    );
    assert_eq!(say(&world, "walt", &id, "again")["seq"], 2);
}

#[on_both]
fn other_statuses_take_messages_and_tell_theirs(world: World) {
    let id = thread(&world, &["walt"]);
    for status in ["blocked", "resolved", "active"] {
        world.ok("update_thread_status", to(&id, status));
        assert_eq!(say(&world, "walt", &id, "x")["thread_status"], status);
        assert_eq!(
            get(&world, &id)["status"],
            status,
            "a message changes no status"
        );
    }
}

#[on_both]
fn events_about_the_thread_change_no_status(world: World) {
    let id = thread(&world, &["walt"]);
    for kind in ["thread_escalated", "thread_resolved", "re_review_requested"] {
        event(&world, &id, kind, None, json!({}));
        assert_eq!(
            (&get(&world, &id)["status"], open_findings(&world, &id)),
            (&json!("active"), 0),
            "{kind}"
        );
    }
}

#[on_both]
fn a_status_survives_a_rebuild(world: World) {
    let ids: Vec<String> = STATUSES
        .iter()
        .map(|status| stands(&world, status, true))
        .collect();
    let before: Vec<Value> = ids.iter().map(|id| get(&world, id)).collect();
    world.engine.rebuild(|_, _| {}).unwrap();
    assert_eq!(
        ids.iter().map(|id| get(&world, id)).collect::<Vec<_>>(),
        before
    );
}
