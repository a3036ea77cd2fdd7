//! Waking: which step of the ladder reaches somebody, and when it has read.

use std::process::Command;

use crate::common::NASTY;
use crate::threads_common::*;
use serde_json::{Value, json};
use understory_engine::threads::wait::{self, Lease, Place, Wanted};
use understory_model::{Caller, Code};
use understory_testkit::{World, on_both};

fn trigger(world: &World, thread: &str, more: Value) -> Value {
    let args = with(json!({"thread_id": thread, "target_agent_id": "bob"}), more);
    world.ok("trigger_participant", args)
}

/// A thread in which bob has not read a message.
fn talk(world: &World) -> String {
    let id = thread(world, &["bob"]);
    say(world, "ada", &id, "x");
    id
}

/// A call of bob's that says that it waits, and does not look.
fn waits(world: &World, wanted: Wanted) -> Lease {
    wait::begin(&world.engine, &World::caller("bob"), &wanted).expect("it is said")
}

#[track_caller]
fn unreachable(world: &World, thread: &str, code: Code) {
    let args = json!({"thread_id": thread, "target_agent_id": "bob"});
    let fault = refuse(world, "trigger_participant", args, code);
    assert!(fault.hint.is_some());
}

/// A sign of life of one of bob's sessions.
fn beat(world: &World, session: &str, more: Value) -> Value {
    let bob = Caller {
        session: session.into(),
        ..World::caller("bob")
    };
    as_one(world, &bob, "heartbeat_session", more)
}

/// `bob` as the readers of a thread show him.
fn bob(world: &World, thread: &str) -> Value {
    let readers = get(world, thread)["readers"].clone();
    let readers = readers.as_array().unwrap();
    readers
        .iter()
        .find(|one| one["agent_id"] == "bob")
        .unwrap()
        .clone()
}

/// How many jobs have come to this.
fn jobs(world: &World, result: &str) -> i64 {
    world.backend.raw().number(&format!(
        "SELECT COUNT(*) FROM core_wake WHERE result = '{result}'"
    ))
}

/// The words that a shell makes of a command.
fn words(command: &str) -> Vec<String> {
    let script = format!(
        "claude() {{ printf '%s\\0' claude \"$@\"; }}\ncodex() {{ printf '%s\\0' codex \"$@\"; }}\n{command}\n"
    );
    let out = Command::new("sh")
        .arg("-c")
        .arg(script)
        .output()
        .expect("a shell");
    assert!(
        out.status.success() && out.stderr.is_empty(),
        "{command}: {out:?}"
    );
    let text = String::from_utf8(out.stdout).expect("text");
    text.split_terminator('\0').map(str::to_string).collect()
}

#[on_both]
fn a_sign_of_life_is_kept_without_an_item(world: World) {
    let id = thread(&world, &["bob"]);
    let head = world.head();
    let answer = beat(
        &world,
        "s1",
        json!({"agent_id": "bob", "workspace_id": "garden-shed", "session_id": "s1", "runtime": "codex_cli", "resumable": true, "status": "idle"}),
    );
    assert_eq!(
        answer,
        json!({"ok": true, "recorded_at": answer["recorded_at"]})
    );
    assert_eq!(world.head(), head);
    assert_eq!(
        bob(&world, &id),
        json!({"agent_id": "bob", "last_read_seq": 0, "session_id": "s1", "runtime": "codex_cli",
        "management_mode": "unmanaged", "resumable": true, "status": "idle", "last_heartbeat_at": answer["recorded_at"], "last_seen": answer["recorded_at"], "alive": true})
    );
    beat(&world, "s1", json!({}));
    let bare = bob(&world, &id);
    assert_eq!(
        (&bare["runtime"], &bare["resumable"], &bare["status"]),
        (&json!("unknown"), &json!(false), &json!("active"))
    );
    beat(&world, "s0", json!({"management_mode": "managed"}));
    assert_eq!(
        bob(&world, &id)["session_id"],
        "s0",
        "the last alive of its sessions"
    );
    assert_eq!(get(&world, &id)["readers"].as_array().unwrap().len(), 2);
    world.assert_sound();
}

#[on_both]
fn an_older_sign_of_life_never_overwrites_a_newer_one(world: World) {
    let id = thread(&world, &["bob"]);
    let newest = beat(&world, "s1", json!({"runtime": "new", "status": "idle"}));
    let shown = bob(&world, &id);
    for back in [1, 100, 86_400] {
        world.clock.turn(-back);
        assert_eq!(
            beat(&world, "s1", json!({"runtime": "old", "status": "offline"})),
            newest,
            "it tells the newest that is known"
        );
        assert_eq!(bob(&world, &id), shown);
    }
    world.clock.turn(86_400 + 101 + 1);
    let later = beat(&world, "s1", json!({"runtime": "newer"}));
    assert!(later["recorded_at"].as_str() > newest["recorded_at"].as_str());
    assert_eq!(bob(&world, &id)["runtime"], "newer");
}

#[on_both]
fn who_is_silent_for_five_minutes_is_offline(world: World) {
    let id = talk(&world);
    beat(&world, "s1", json!({"management_mode": "managed"}));
    world.clock.turn(299);
    assert_eq!(
        (
            &bob(&world, &id)["status"],
            &trigger(&world, &id, json!({}))["action"]
        ),
        (&json!("active"), &json!("trigger_runtime"))
    );
    world.clock.turn(2);
    assert_eq!(bob(&world, &id)["status"], "offline");
    unreachable(&world, &id, Code::UnmanagedRuntime);
}

#[on_both]
fn who_was_silent_for_a_month_is_forgotten(world: World) {
    let id = talk(&world);
    beat(
        &world,
        "old",
        json!({"resumable": true, "runtime": "codex"}),
    );
    world.clock.turn(30 * 24 * 3_600 + 1);
    assert_eq!(bob(&world, &id)["session_id"], "old");
    beat(&world, "new", json!({"resumable": false, "status": "idle"}));
    assert_eq!(bob(&world, &id)["session_id"], "new");
    unreachable(&world, &id, Code::UnmanagedRuntime);
}

#[on_both]
fn a_clock_set_back_makes_nobody_silent(world: World) {
    let id = talk(&world);
    world.clock.turn(-3_600);
    beat(&world, "s1", json!({"management_mode": "managed"}));
    assert_eq!(
        (
            &bob(&world, &id)["status"],
            &trigger(&world, &id, json!({}))["action"]
        ),
        (&json!("active"), &json!("trigger_runtime"))
    );
    let lease = waits(&world, Wanted::default());
    assert_eq!(
        trigger(&world, &id, json!({}))["action"],
        "wait_for_messages"
    );
    wait::end(&world.engine, &World::caller("bob"), &lease);
}

#[on_both]
fn who_was_never_seen_cannot_be_woken(world: World) {
    let id = talk(&world);
    unreachable(&world, &id, Code::WakeFailed);
    beat(
        &world,
        "s1",
        json!({"runtime": "codex_cli", "status": "idle"}),
    );
    unreachable(&world, &id, Code::UnmanagedRuntime);
    assert_eq!(
        world.backend.raw().number("SELECT COUNT(*) FROM core_wake"),
        0
    );
}

#[on_both]
fn nothing_unread_and_a_closed_thread_need_no_waking(world: World) {
    let id = thread(&world, &["bob"]);
    beat(
        &world,
        "s1",
        json!({"runtime": "codex_cli", "resumable": true, "status": "idle"}),
    );
    let not_needed = |why: &str| {
        let head = world.head();
        let answer = trigger(&world, &id, json!({}));
        assert_eq!(
            (&answer["action"], &answer["result"], &answer["started"]),
            (&json!("none"), &json!("not_needed"), &json!(false)),
            "{why}"
        );
        assert_eq!(
            (
                answer.get("wake_id"),
                answer.get("runtime_command"),
                world.head()
            ),
            (None, None, head),
            "{why}: no job"
        );
    };
    not_needed("nothing was said");
    say(&world, "bob", &id, "own words");
    not_needed("its own words");
    say(&world, "ada", &id, "x");
    assert_eq!(trigger(&world, &id, json!({}))["unread"], 1);
    ack(&world, "bob", &id, 2);
    not_needed("all is read");
    say(&world, "ada", &id, "y");
    trigger(&world, &id, json!({}));
    world.ok(
        "update_thread_status",
        json!({"thread_id": id, "status": "closed"}),
    );
    assert_eq!(
        (jobs(&world, "queued"), jobs(&world, "not_needed")),
        (0, 1),
        "closing ends jobs in flight"
    );
    not_needed("it is closed");
    world.assert_sound();
}

#[on_both]
fn a_session_that_can_be_resumed_is_told_how(world: World) {
    let id = thread(&world, &["bob"]);
    say(&world, "ada", &id, "x");
    beat(
        &world,
        "s1",
        json!({"runtime": "codex_cli", "resumable": true, "status": "offline"}),
    );
    world.clock.turn(86_400);
    let answer = trigger(
        &world,
        &id,
        json!({"reason": "new_unread_messages", "trigger_prompt": "Read it"}),
    );
    let expected = json!({"wake_id": "wake_001", "thread_id": id, "target_agent_id": "bob", "action": "resume_session", "result": "queued", "started": false,
        "unread": 1, "note": answer["note"], "triggered_at": answer["triggered_at"], "fallback_action": "spawn_session",
        "runtime_command": "codex exec resume s1 'Read it'", "session_id": "s1", "runtime": "codex_cli"});
    assert_eq!(answer, expected);
    assert!(
        text(&answer["note"]).contains("runtime_command does it by hand"),
        "{answer}"
    );
    beat(
        &world,
        "s2",
        json!({"runtime": "claude_code", "resumable": true, "status": "idle"}),
    );
    assert_eq!(
        trigger(&world, &id, json!({"trigger_prompt": "p"}))["runtime_command"],
        "claude --resume s2 -p p"
    );
    let own = text(&trigger(&world, &id, json!({}))["runtime_command"]);
    assert!(
        own.contains(&id),
        "without a prompt it is told where to look: {own}"
    );
    beat(
        &world,
        "s3",
        json!({"runtime": "homemade", "resumable": true, "status": "idle"}),
    );
    let answer = trigger(&world, &id, json!({}));
    assert_eq!(
        (
            &answer["action"],
            answer.get("runtime_command"),
            &answer["session_id"]
        ),
        (&json!("resume_session"), None, &json!("s3"))
    );
    assert!(
        !text(&answer["note"]).contains("runtime_command"),
        "nothing is said of what is not there: {answer}"
    );
    assert_eq!(
        jobs(&world, "queued"),
        1,
        "the same job, asked for in other words"
    );
    world.assert_sound();
}

#[on_both]
fn a_live_session_is_not_resumed_by_a_second_process(world: World) {
    let id = talk(&world);
    beat(
        &world,
        "old",
        json!({"runtime": "codex_cli", "resumable": true, "status": "offline"}),
    );
    beat(
        &world,
        "live",
        json!({"runtime": "codex_cli", "resumable": true}),
    );
    let answer = trigger(&world, &id, json!({}));
    assert_eq!(
        (&answer["action"], &answer["result"], &answer["session_id"]),
        (&json!("none"), &json!("queued"), &json!("live"))
    );
    assert_eq!(
        (
            answer.get("runtime_command"),
            answer.get("fallback_action"),
            &answer["started"]
        ),
        (None, None, &json!(false)),
        "{answer}"
    );
    assert_eq!(jobs(&world, "queued"), 1);
    world.clock.turn(301);
    assert_eq!(
        trigger(&world, &id, json!({}))["action"],
        "resume_session",
        "silent for too long"
    );
}

#[on_both]
fn a_managed_session_comes_before_one_that_can_be_resumed(world: World) {
    let id = talk(&world);
    beat(
        &world,
        "typed",
        json!({"runtime": "codex_cli", "management_mode": "managed"}),
    );
    let answer = trigger(&world, &id, json!({"trigger_prompt": "p"}));
    assert_eq!(
        (&answer["action"], &answer["result"], &answer["session_id"]),
        (&json!("trigger_runtime"), &json!("queued"), &json!("typed"))
    );
    assert_eq!(
        (answer.get("fallback_action"), answer.get("runtime_command")),
        (None, None),
        "nothing can be resumed: {answer}"
    );
    beat(
        &world,
        "kept",
        json!({"runtime": "claude_code", "resumable": true, "status": "idle"}),
    );
    let answer = trigger(&world, &id, json!({"trigger_prompt": "p"}));
    assert_eq!(
        (
            &answer["action"],
            &answer["session_id"],
            &answer["runtime"],
            answer.get("runtime_command")
        ),
        (
            &json!("trigger_runtime"),
            &json!("typed"),
            &json!("codex_cli"),
            None
        )
    );
    assert_eq!(
        (&answer["fallback_action"], &answer["fallback"]),
        (
            &json!("resume_session"),
            &json!({"action": "resume_session", "session_id": "kept",
        "runtime": "claude_code", "runtime_command": "claude --resume kept -p p"})
        ),
        "what belongs to one session stands together"
    );
    beat(
        &world,
        "typed",
        json!({"runtime": "codex_cli", "management_mode": "managed", "resumable": true}),
    );
    let answer = trigger(&world, &id, json!({"trigger_prompt": "p"}));
    assert_eq!(
        (
            &answer["session_id"],
            &answer["runtime_command"],
            answer.get("fallback")
        ),
        (&json!("typed"), &json!("codex exec resume typed p"), None)
    );
    beat(
        &world,
        "typed",
        json!({"runtime": "codex_cli", "management_mode": "managed", "status": "offline"}),
    );
    assert_eq!(trigger(&world, &id, json!({}))["action"], "resume_session");
}

#[on_both]
fn delivered_is_said_only_of_what_reaches_a_call_that_waits(world: World) {
    let (id, other) = (talk(&world), talk(&world));
    let told = |wanted: Wanted| {
        let lease = waits(&world, wanted);
        let answer = trigger(&world, &id, json!({}));
        assert_eq!(
            bob(&world, &id).get("waits").is_some(),
            answer["note"]
                .as_str()
                .unwrap()
                .contains("waits for messages"),
            "{answer}"
        );
        wait::end(&world.engine, &World::caller("bob"), &lease);
        (text(&answer["action"]), text(&answer["result"]))
    };
    beat(
        &world,
        "s1",
        json!({"management_mode": "managed", "resumable": true, "runtime": "codex"}),
    );
    let delivered = ("wait_for_messages".to_string(), "delivered".to_string());
    let queued = ("trigger_runtime".to_string(), "queued".to_string());
    let only = |thread: &String, since| Wanted {
        threads: vec![thread.clone()],
        since,
        ..Wanted::default()
    };
    assert_eq!(told(Wanted::default()), delivered);
    assert_eq!(told(only(&id, Some(0))), delivered);
    assert_eq!(
        told(only(&other, None)),
        queued,
        "it waits on another thread"
    );
    assert_eq!(
        told(only(&id, Some(1))),
        ("none".into(), "queued".into()),
        "it waits for what comes after"
    );
    let since_of = std::iter::once((
        id.clone(),
        Place {
            seq: Some(1),
            changes: None,
        },
    ))
    .collect();
    assert_eq!(
        told(Wanted {
            since_of,
            ..Wanted::default()
        }),
        ("none".into(), "queued".into())
    );
    assert_eq!(
        trigger(&world, &id, json!({}))["action"],
        "trigger_runtime",
        "who waits no more does not wait"
    );
}

#[on_both]
fn a_call_that_was_killed_is_soon_not_believed_to_wait(world: World) {
    let id = talk(&world);
    beat(&world, "s1", json!({"management_mode": "managed"}));
    let lease = waits(&world, Wanted::default());
    let bob = World::caller("bob");
    world.clock.turn(15);
    assert_eq!(trigger(&world, &id, json!({}))["result"], "delivered");
    wait::renew(&world.engine, &bob, &lease).unwrap();
    world.clock.turn(15);
    assert_eq!(
        trigger(&world, &id, json!({}))["result"],
        "delivered",
        "it said so again"
    );
    world.clock.turn(10);
    assert_eq!(
        trigger(&world, &id, json!({}))["result"],
        "queued",
        "nothing was heard of it"
    );
    wait::end(&world.engine, &bob, &lease);
    wait::renew(&world.engine, &bob, &lease).unwrap();
    assert_eq!(
        trigger(&world, &id, json!({}))["result"],
        "queued",
        "one that ended does not come back"
    );
}

#[on_both]
fn a_target_that_takes_no_part_is_refused_with_those_nearest(world: World) {
    let id = thread(&world, &["reviewer", "builder"]);
    let near = |target: &str| {
        let fault = refuse(
            &world,
            "trigger_participant",
            json!({"thread_id": id, "target_agent_id": target}),
            Code::NotFound,
        );
        fault.details.unwrap()["nearest"].clone()
    };
    assert_eq!(
        (near("reviewr"), near("Builder"), near("aba")),
        (json!(["reviewer"]), json!(["builder"]), json!(["ada"]))
    );
    assert_eq!(
        near("somebody quite else"),
        json!(["reviewer", "builder", "ada"]),
        "those there are"
    );
    refuse_field(
        &world,
        "trigger_participant",
        json!({"thread_id": id, "target_agent_id": ""}),
        "target_agent_id",
    );
    let many: Vec<String> = (0..200).map(|at| format!("agent{at}")).collect();
    let large =
        text(&world.ok("create_thread", json!({"title": "t", "participants": many}))["thread_id"]);
    let fault = refuse(
        &world,
        "trigger_participant",
        json!({"thread_id": large, "target_agent_id": "x"}),
        Code::NotFound,
    );
    assert_eq!(
        fault.details.unwrap()["nearest"].as_array().unwrap().len(),
        3
    );
}

#[on_both]
fn a_shell_reads_the_command_as_the_words_it_is_made_of(world: World) {
    let id = talk(&world);
    let sessions = [
        "s 1",
        "it's",
        "$(touch /tmp/never)",
        "a;b",
        "日本",
        "~",
        "*",
    ];
    let nasty = [
        "`id`",
        "$HOME ${x} $(id)",
        "'",
        "''\\''",
        "\"",
        "\\",
        "a\nb\n",
        "; rm -rf /",
        "& | > <",
        "#no",
        "!x",
        "{a,b}",
        "é 𝒳",
        " ",
    ];
    let prompts = nasty
        .into_iter()
        .chain(NASTY.iter().copied())
        .filter(|prompt| !prompt.trim().is_empty());
    for (at, prompt) in prompts.enumerate() {
        let session = sessions[at % sessions.len()];
        let runtime = ["codex_cli", "claude_code"][at % 2];
        world.clock.turn(1);
        beat(
            &world,
            session,
            json!({"runtime": runtime, "resumable": true, "status": "idle"}),
        );
        let command =
            text(&trigger(&world, &id, json!({"trigger_prompt": prompt}))["runtime_command"]);
        let expected = match at % 2 {
            0 => vec!["codex", "exec", "resume", session, prompt],
            _ => vec!["claude", "--resume", session, "-p", prompt],
        };
        assert_eq!(words(&command), expected, "{command}");
    }
}

#[on_both]
fn no_prompt_and_no_session_is_read_as_an_option(world: World) {
    let id = talk(&world);
    for (runtime, before) in [
        ("codex_cli", vec!["codex", "exec", "resume", "s1"]),
        ("claude_code", vec!["claude", "--resume", "s1", "-p"]),
    ] {
        beat(
            &world,
            "s1",
            json!({"runtime": runtime, "resumable": true, "status": "idle"}),
        );
        for prompt in ["--dangerously-skip-permissions", "-c", "--", "-"] {
            let command =
                text(&trigger(&world, &id, json!({"trigger_prompt": prompt}))["runtime_command"]);
            let mut expected = before.clone();
            expected.extend(["--", prompt]);
            assert_eq!(words(&command), expected, "{command}");
        }
    }
    beat(
        &world,
        "--yolo",
        json!({"runtime": "codex_cli", "resumable": true, "status": "idle"}),
    );
    assert_eq!(trigger(&world, &id, json!({})).get("runtime_command"), None);
}

#[on_both]
fn a_job_is_read_when_its_target_has_read(world: World) {
    let (id, other) = (thread(&world, &["bob", "cyd"]), thread(&world, &["bob"]));
    (0..3).for_each(|_| drop(say(&world, "ada", &id, "x")));
    say(&world, "ada", &other, "x");
    beat(
        &world,
        "s1",
        json!({"resumable": true, "runtime": "codex", "status": "idle"}),
    );
    let first = trigger(&world, &id, json!({}));
    assert_eq!(first["unread"], 3);
    let head = world.head();
    assert_eq!(
        trigger(&world, &id, json!({}))["wake_id"],
        first["wake_id"],
        "one job, however often it is asked for"
    );
    assert_eq!(world.head(), head, "and nothing new to tell");
    trigger(&world, &other, json!({}));
    assert_eq!((jobs(&world, "queued"), jobs(&world, "read")), (2, 0));
    say(&world, "ada", &id, "after the job");
    ack(&world, "cyd", &id, 3);
    ack(&world, "bob", &id, 1);
    assert_eq!(
        (jobs(&world, "queued"), jobs(&world, "read")),
        (2, 0),
        "another has read, or not all"
    );
    ack(&world, "bob", &id, 3);
    assert_eq!(
        (jobs(&world, "queued"), jobs(&world, "read")),
        (1, 1),
        "of this thread, up to where it was asked for"
    );
    let shown = by(&world, "bob", "get_thread", json!({"thread_id": id}))["wakes"].clone();
    assert_eq!(
        (&shown[0]["wake_id"], &shown[0]["result"]),
        (&first["wake_id"], &json!("read")),
        "{shown}"
    );
    ack(&world, "bob", &id, 4);
    assert_eq!(
        (jobs(&world, "queued"), jobs(&world, "read")),
        (1, 1),
        "read once"
    );
    say(&world, "ada", &id, "once more");
    let second = trigger(&world, &id, json!({}));
    assert_ne!(
        second["wake_id"], first["wake_id"],
        "what is done is not taken up again"
    );
    world.assert_sound();
}
