//! Hooks and jobs of waking: what somebody asked for is told with who asked and why, once, and what
//! became of it is the same wherever it is read.

use serde_json::{Value, json};
use understory_testkit::{Backend, on_both};

use crate::chats::{Claude, Stand, locks, person, planned, say, until};
use crate::shell::{Shell, says};

/// Asks, as bob, for the agent of the chat to be woken.
fn ask(shell: &Shell, prompt: &str) -> Value {
    let wish = json!({"thread_id": "th_001", "target_agent_id": "claude-code",
        "trigger_prompt": prompt});
    let wish = wish.to_string();
    shell.json(&["call", "trigger_participant", &wish, "--agent", "bob"])
}

/// The last job, which the list and the thread tell alike.
#[track_caller]
fn job(shell: &Shell) -> Value {
    let listed = shell.json(&["wakes"])["wakes"][0].clone();
    let thread = shell.json(&["thread", "th_001"]);
    assert_eq!(thread["thread"]["wakes"][0], listed);
    listed
}

/// What became of the last job, where people look.
#[track_caller]
fn is_shown(shell: &Shell, result: &str) {
    let id = job(shell)["wake_id"].as_str().unwrap().to_owned();
    for place in [&["wakes"][..], &["thread", "th_001"], &["log"]] {
        let out = shell.ok(place);
        let shown = out
            .lines()
            .any(|line| line.contains(&id) && line.contains(result));
        assert!(shown, "{place:?} does not say {result}: {out}");
    }
    let told = shell.json(&["call", "garden_timeline", "{}"]).to_string();
    says(&told, &[&id, result]);
}

#[on_both]
fn a_request_is_told_when_the_agent_would_stop_and_when_it_begins(backend: Backend) {
    let shell = planned(backend);
    let stand = Stand::new();
    let claude = Claude {
        shell: &shell,
        process: stand.id(),
    };
    say(&shell, "claude-code", "Old.");
    claude.start("c1", "startup");
    let asked = |prompt: &str| format!("by bob for th_001: \"{prompt}\"");
    let tell: [(&str, &dyn Fn() -> String); 3] = [
        ("First, read it.", &|| claude.stop("one")),
        ("Read it, please.", &|| claude.prompt("p1")),
        ("Did you read it?", &|| claude.start("c1", "resume")),
    ];
    for (prompt, told) in tell {
        let answer = ask(&shell, prompt);
        assert_eq!(answer["result"], "queued");
        assert_eq!(
            answer.get("runtime_command"),
            None,
            "a live session is resumed by nobody"
        );
        assert_eq!(job(&shell)["result"], "queued");
        says(&told(), &[&asked(prompt)]);
        let job = job(&shell);
        assert_eq!(job["result"], "delivered", "{job}");
        assert_eq!(job["channel"], "hooks");
        assert_eq!(job["action"], "end_of_turn");
        assert_eq!(job["session_id"], "c1");
        is_shown(&shell, "delivered");
    }
    assert_eq!(claude.stop("two"), "", "it was told");
    assert_eq!(claude.prompt("p2"), "");
    let read = r#"{"thread_id": "th_001", "last_read_seq": 1}"#;
    let as_agent = ["--agent", "claude-code", "--session", "c1"];
    shell.ok(&[&["call", "ack_read", read], &as_agent[..]].concat());
    assert_eq!(job(&shell)["result"], "read");
}

#[on_both]
fn a_message_that_keeps_an_agent_from_stopping_has_a_job(backend: Backend) {
    let shell = planned(backend);
    let stand = Stand::new();
    let claude = Claude {
        shell: &shell,
        process: stand.id(),
    };
    claude.start("c1", "startup");
    say(&shell, "claude-code", "Look.");
    let text = claude.stop("one");
    says(&text, &["bob wrote: \"Look.\""]);
    assert!(
        !text.contains("asked to look"),
        "nobody asked for it: {text}"
    );
    let told = job(&shell);
    assert_eq!(
        (&told["result"], &told["asked_by"], &told["channel"]),
        (&json!("delivered"), &json!("bob"), &json!("hooks"))
    );
    // A command of the agent's shell is a call, too.
    shell.ok(&["threads", "--agent", "claude-code", "--session", "c1"]);
    assert_eq!(job(&shell)["result"], "read");
    // What a person's prompt brings needs none.
    say(&shell, "th_001", "And this.");
    says(&claude.prompt("p1"), &["bob wrote: \"And this.\""]);
    let all = shell.json(&["wakes"])["wakes"].as_array().unwrap().len();
    assert_eq!(all, 1);
}

#[on_both]
fn hooks_keep_two_agents_from_waking_each_other_for_ever(backend: Backend) {
    let shell = planned(backend);
    let at_person = person(&shell);
    let stand = Stand::new();
    let claude = Claude {
        shell: &shell,
        process: stand.id(),
    };
    claude.start("c1", "startup");
    say(&shell, "claude-code", "ping");
    let (mut told, mut last) = (0, String::new());
    for n in 0..20 {
        let text = claude.stop(&n.to_string());
        if text.is_empty() {
            break;
        }
        (told, last) = (told + 1, text);
        let post = |body: &str, who: &[&str]| {
            let args = json!({"thread_id": "th_001", "body": body}).to_string();
            let role = ["--role", "worker"];
            shell.ok(&[&["call", "post_message", &args], who, &role[..]].concat());
        };
        post("pong", &["--agent", "claude-code", "--session", "c1"]);
        post("ping", &["--agent", "bob"]);
    }
    assert!((3..20).contains(&told), "{told}");
    says(&last, &["nothing but wake each other"]);
    let job = job(&shell);
    assert_eq!(job["result"], "failed", "{job}");
    assert_eq!(job["tried"][0]["code"], "RATE_LIMITED");
    until("the person is told", || at_person.exists());
    let heard = std::fs::read_to_string(&at_person).unwrap();
    says(
        &heard,
        &[
            "claude-code could not be woken for th_001",
            "only woke each other",
        ],
    );
    assert_eq!(heard.lines().count(), 1, "{heard}");
    // The person's prompt tells what waits.
    says(&claude.prompt("p"), &["ping"]);
}

#[on_both]
fn a_waiting_hook_reports_what_the_client_took(backend: Backend) {
    let shell = planned(backend);
    let stand = Stand::new();
    let claude = Claude {
        shell: &shell,
        process: stand.id(),
    };
    claude.start("c1", "startup");
    let waiting = claude.wake();
    until("the waiting hook", || locks(&shell, "wake-") == 1);
    say(&shell, "claude-code", "New.");
    let done = waiting.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    let told = job(&shell);
    assert_eq!(
        (&told["result"], &told["channel"], &told["action"]),
        (
            &json!("delivered"),
            &json!("claude_rewake"),
            &json!("in_session")
        )
    );
}

#[on_both]
fn a_chat_that_began_before_the_store_was_there_is_woken_too(backend: Backend) {
    let shell = Shell::new(backend);
    let stand = Stand::new();
    let claude = Claude {
        shell: &shell,
        process: stand.id(),
    };
    assert_eq!(claude.start("c1", "startup"), "");
    assert_eq!(claude.prompt("p"), "");
    let plan = r#"{"nodes": [{"ref": "a", "summary": "Bake"}]}"#;
    let as_chat = ["--agent", "claude-code", "--session", "c1"];
    shell.ok(&[&["call", "graph_plan", plan], &as_chat[..]].concat());
    assert_eq!(claude.stop("done"), "");
    let waiting = claude.wake();
    until("the waiting hook", || locks(&shell, "wake-") == 1);
    say(&shell, "claude-code", "New.");
    let done = waiting.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(job(&shell)["result"], "delivered");
}

#[on_both]
fn what_a_waiting_hook_could_not_say_is_told_by_another(backend: Backend) {
    let shell = planned(backend);
    let stand = Stand::new();
    let claude = Claude {
        shell: &shell,
        process: stand.id(),
    };
    claude.start("c1", "startup");
    let mut waiting = claude.wake();
    // Nobody reads what it says.
    drop(waiting.stderr.take());
    until("the waiting hook", || locks(&shell, "wake-") == 1);
    say(&shell, "claude-code", "New.");
    assert_eq!(waiting.wait().unwrap().code(), Some(0));
    assert_eq!(job(&shell)["result"], "queued", "nothing was delivered");
    says(&claude.stop("one"), &["bob wrote: \"New.\""]);
    assert_eq!(job(&shell)["result"], "delivered");
}
