//! Waking: which step of the ladder reaches somebody, and when it has read.

mod common;
mod threads_common;

use std::process::Command;

use common::NASTY;
use serde_json::{Value, json};
use threads_common::*;
use understory_model::{Caller, Code};
use understory_testkit::{World, on_both};

fn trigger(world: &World, thread: &str, more: Value) -> Value {
    let args = with(json!({"thread_id": thread, "target_agent_id": "bob"}), more);
    world.ok("trigger_participant", args)
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

on_both! {
    fn a_sign_of_life_is_kept_without_an_item(world) {
        let id = thread(&world, &["bob"]);
        let head = world.head();
        let answer = beat(&world, "s1", json!({"agent_id": "bob", "workspace_id": "garden-shed", "session_id": "s1", "runtime": "codex_cli", "resumable": true, "status": "idle"}));
        assert_eq!(answer, json!({"ok": true, "recorded_at": answer["recorded_at"]}));
        assert_eq!(world.head(), head);
        assert_eq!(bob(&world, &id), json!({"agent_id": "bob", "last_read_seq": 0, "session_id": "s1", "runtime": "codex_cli",
            "management_mode": "unmanaged", "resumable": true, "status": "idle", "last_heartbeat_at": answer["recorded_at"], "last_seen": answer["recorded_at"], "alive": true}));
        beat(&world, "s1", json!({}));
        let bare = bob(&world, &id);
        assert_eq!((&bare["runtime"], &bare["resumable"], &bare["status"]), (&json!("unknown"), &json!(false), &json!("active")));
        beat(&world, "s0", json!({"management_mode": "managed"}));
        assert_eq!(bob(&world, &id)["session_id"], "s0", "the last alive of its sessions");
        assert_eq!(get(&world, &id)["readers"].as_array().unwrap().len(), 2);
        world.assert_sound();
    }

    fn an_older_sign_of_life_never_overwrites_a_newer_one(world) {
        let id = thread(&world, &["bob"]);
        let newest = beat(&world, "s1", json!({"runtime": "new", "status": "idle"}));
        let shown = bob(&world, &id);
        for back in [1, 100, 86_400] {
            world.clock.turn(-back);
            assert_eq!(beat(&world, "s1", json!({"runtime": "old", "status": "offline"})), newest, "it tells the newest that is known");
            assert_eq!(bob(&world, &id), shown);
        }
        world.clock.turn(86_400 + 101 + 1);
        let later = beat(&world, "s1", json!({"runtime": "newer"}));
        assert!(later["recorded_at"].as_str() > newest["recorded_at"].as_str());
        assert_eq!(bob(&world, &id)["runtime"], "newer");
    }

    fn who_is_silent_for_five_minutes_is_offline(world) {
        let id = thread(&world, &["bob"]);
        beat(&world, "s1", json!({"management_mode": "managed"}));
        world.clock.turn(299);
        assert_eq!((&bob(&world, &id)["status"], &trigger(&world, &id, json!({}))["action"]), (&json!("active"), &json!("trigger_runtime")));
        world.clock.turn(2);
        assert_eq!(bob(&world, &id)["status"], "offline");
        unreachable(&world, &id, Code::UnmanagedRuntime);
    }

    fn who_was_silent_for_a_month_is_forgotten(world) {
        let id = thread(&world, &["bob"]);
        beat(&world, "old", json!({"resumable": true, "runtime": "codex"}));
        world.clock.turn(30 * 24 * 3_600 + 1);
        assert_eq!(bob(&world, &id)["session_id"], "old");
        beat(&world, "new", json!({"resumable": false}));
        assert_eq!(bob(&world, &id)["session_id"], "new");
        unreachable(&world, &id, Code::UnmanagedRuntime);
    }

    fn a_clock_set_back_makes_nobody_silent(world) {
        let id = thread(&world, &["bob"]);
        world.clock.turn(-3_600);
        beat(&world, "s1", json!({"management_mode": "managed"}));
        assert_eq!((&bob(&world, &id)["status"], &trigger(&world, &id, json!({}))["action"]), (&json!("active"), &json!("trigger_runtime")));
        let mut answer = Value::Null;
        waiting(&world, &world.engine, &World::caller("bob"), json!({}), || {
            answer = trigger(&world, &id, json!({}));
            say(&world, "ada", &id, "now");
        });
        assert_eq!(answer["action"], "wait_for_messages");
    }

    fn who_was_never_seen_cannot_be_woken(world) {
        let id = thread(&world, &["bob"]);
        unreachable(&world, &id, Code::WakeFailed);
        beat(&world, "s1", json!({"runtime": "codex_cli"}));
        unreachable(&world, &id, Code::UnmanagedRuntime);
        assert_eq!(world.backend.raw().number("SELECT COUNT(*) FROM core_wake"), 0);
    }

    fn a_session_that_can_be_resumed_is_told_how(world) {
        let id = thread(&world, &["bob"]);
        say(&world, "ada", &id, "x");
        beat(&world, "s1", json!({"runtime": "codex_cli", "resumable": true, "status": "offline"}));
        world.clock.turn(86_400);
        let answer = trigger(&world, &id, json!({"reason": "new_unread_messages", "trigger_prompt": "Read it"}));
        let expected = json!({"wake_id": "wake_001", "thread_id": id, "target_agent_id": "bob", "action": "resume_session", "result": "queued", "started": false,
            "unread": 1, "note": answer["note"], "triggered_at": answer["triggered_at"], "fallback_action": "spawn_session",
            "runtime_command": "codex exec resume s1 'Read it'", "session_id": "s1", "runtime": "codex_cli"});
        assert_eq!(answer, expected);
        beat(&world, "s2", json!({"runtime": "claude_code", "resumable": true}));
        assert_eq!(trigger(&world, &id, json!({"trigger_prompt": "p"}))["runtime_command"], "claude --resume s2 -p p");
        let own = text(&trigger(&world, &id, json!({}))["runtime_command"]);
        assert!(own.contains(&id), "without a prompt it is told where to look: {own}");
        beat(&world, "s3", json!({"runtime": "homemade", "resumable": true}));
        let answer = trigger(&world, &id, json!({}));
        assert_eq!((&answer["action"], answer.get("runtime_command"), &answer["session_id"]), (&json!("resume_session"), None, &json!("s3")));
        assert_eq!(jobs(&world, "queued"), 1, "the same job, asked for in other words");
        world.assert_sound();
    }

    fn a_managed_session_comes_before_one_that_can_be_resumed(world) {
        let id = thread(&world, &["bob"]);
        beat(&world, "typed", json!({"runtime": "codex_cli", "management_mode": "managed"}));
        let answer = trigger(&world, &id, json!({"trigger_prompt": "p"}));
        assert_eq!((&answer["action"], &answer["result"], &answer["session_id"]), (&json!("trigger_runtime"), &json!("queued"), &json!("typed")));
        assert_eq!((answer.get("fallback_action"), answer.get("runtime_command")), (None, None), "nothing can be resumed: {answer}");
        beat(&world, "kept", json!({"runtime": "codex_cli", "resumable": true}));
        let answer = trigger(&world, &id, json!({"trigger_prompt": "p"}));
        assert_eq!((&answer["action"], &answer["session_id"], &answer["fallback_action"]), (&json!("trigger_runtime"), &json!("typed"), &json!("resume_session")));
        assert_eq!(answer["runtime_command"], "codex exec resume kept p");
        beat(&world, "typed", json!({"runtime": "codex_cli", "management_mode": "managed", "status": "offline"}));
        assert_eq!(trigger(&world, &id, json!({}))["action"], "resume_session");
    }

    fn who_waits_already_is_reached_at_once(world) {
        let id = thread(&world, &["bob"]);
        beat(&world, "s1", json!({"management_mode": "managed", "resumable": true, "runtime": "codex"}));
        let mut answer = Value::Null;
        waiting(&world, &world.engine, &World::caller("bob"), json!({}), || {
            answer = trigger(&world, &id, json!({}));
            say(&world, "ada", &id, "now");
        });
        assert_eq!((&answer["action"], &answer["result"], answer.get("runtime_command")), (&json!("wait_for_messages"), &json!("delivered"), None));
        until_waiting(&world, 0);
        assert_eq!(trigger(&world, &id, json!({}))["action"], "trigger_runtime", "who waits no more does not wait");
    }

    fn a_target_that_takes_no_part_is_refused_with_those_nearest(world) {
        let id = thread(&world, &["reviewer", "builder"]);
        let near = |target: &str| {
            let fault = refuse(&world, "trigger_participant", json!({"thread_id": id, "target_agent_id": target}), Code::NotFound);
            fault.details.unwrap()["nearest"].clone()
        };
        assert_eq!((near("reviewr"), near("Builder"), near("aba")), (json!(["reviewer"]), json!(["builder"]), json!(["ada"])));
        assert_eq!(near("somebody quite else"), json!(["reviewer", "builder", "ada"]), "those there are");
        refuse_field(&world, "trigger_participant", json!({"thread_id": id, "target_agent_id": ""}), "target_agent_id");
        let many: Vec<String> = (0..200).map(|at| format!("agent{at}")).collect();
        let large = text(&world.ok("create_thread", json!({"title": "t", "participants": many}))["thread_id"]);
        let fault = refuse(&world, "trigger_participant", json!({"thread_id": large, "target_agent_id": "x"}), Code::NotFound);
        assert_eq!(fault.details.unwrap()["nearest"].as_array().unwrap().len(), 3);
    }

    fn a_shell_reads_the_command_as_the_words_it_is_made_of(world) {
        let id = thread(&world, &["bob"]);
        let sessions = ["s 1", "it's", "$(touch /tmp/never)", "a;b", "日本", "~", "*"];
        let nasty = ["`id`", "$HOME ${x} $(id)", "'", "''\\''", "\"", "\\", "a\nb\n", "; rm -rf /", "& | > <", "#no", "!x", "{a,b}", "é 𝒳", " "];
        let prompts = nasty.into_iter().chain(NASTY.iter().copied()).filter(|prompt| !prompt.trim().is_empty());
        for (at, prompt) in prompts.enumerate() {
            let session = sessions[at % sessions.len()];
            let runtime = ["codex_cli", "claude_code"][at % 2];
            world.clock.turn(1);
            beat(&world, session, json!({"runtime": runtime, "resumable": true}));
            let command = text(&trigger(&world, &id, json!({"trigger_prompt": prompt}))["runtime_command"]);
            let expected = match at % 2 {
                0 => vec!["codex", "exec", "resume", session, prompt],
                _ => vec!["claude", "--resume", session, "-p", prompt],
            };
            assert_eq!(words(&command), expected, "{command}");
        }
    }

    fn no_prompt_and_no_session_is_read_as_an_option(world) {
        let id = thread(&world, &["bob"]);
        for (runtime, before) in [("codex_cli", vec!["codex", "exec", "resume", "s1"]), ("claude_code", vec!["claude", "--resume", "s1", "-p"])] {
            beat(&world, "s1", json!({"runtime": runtime, "resumable": true}));
            for prompt in ["--dangerously-skip-permissions", "-c", "--", "-"] {
                let command = text(&trigger(&world, &id, json!({"trigger_prompt": prompt}))["runtime_command"]);
                let mut expected = before.clone();
                expected.extend(["--", prompt]);
                assert_eq!(words(&command), expected, "{command}");
            }
        }
        beat(&world, "--yolo", json!({"runtime": "codex_cli", "resumable": true}));
        assert_eq!(trigger(&world, &id, json!({})).get("runtime_command"), None);
    }

    fn a_job_is_read_when_its_target_has_read(world) {
        let (id, other) = (thread(&world, &["bob", "cyd"]), thread(&world, &["bob"]));
        (0..3).for_each(|_| drop(say(&world, "ada", &id, "x")));
        say(&world, "ada", &other, "x");
        beat(&world, "s1", json!({"resumable": true, "runtime": "codex"}));
        let first = trigger(&world, &id, json!({}));
        assert_eq!(first["unread"], 3);
        let head = world.head();
        assert_eq!(trigger(&world, &id, json!({}))["wake_id"], first["wake_id"], "one job, however often it is asked for");
        assert_eq!(world.head(), head, "and nothing new to tell");
        trigger(&world, &other, json!({}));
        assert_eq!((jobs(&world, "queued"), jobs(&world, "read")), (2, 0));
        say(&world, "ada", &id, "after the job");
        ack(&world, "cyd", &id, 3);
        ack(&world, "bob", &id, 1);
        assert_eq!((jobs(&world, "queued"), jobs(&world, "read")), (2, 0), "another has read, or not all");
        ack(&world, "bob", &id, 3);
        assert_eq!((jobs(&world, "queued"), jobs(&world, "read")), (1, 1), "of this thread, up to where it was asked for");
        let shown = by(&world, "bob", "get_thread", json!({"thread_id": id}))["wakes"].clone();
        assert_eq!((&shown[0]["wake_id"], &shown[0]["result"]), (&first["wake_id"], &json!("read")), "{shown}");
        ack(&world, "bob", &id, 4);
        assert_eq!((jobs(&world, "queued"), jobs(&world, "read")), (1, 1), "read once");
        let second = trigger(&world, &id, json!({}));
        assert_ne!(second["wake_id"], first["wake_id"], "what is done is not taken up again");
        world.assert_sound();
    }
}
