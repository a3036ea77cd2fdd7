//! Real Claude Code and Codex, each with a fake model and behind walls: they plan, claim and talk, and the
//! store shows just that. And what tests of waking stand on: clients that are idle, asking, or woken.
//!
//! Only the first test is about the store, so only that one runs on both databases.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use understory_testkit::agents::{Claude, Codex, Hook, Lab, Status, Tmux, serve, wait_until};
use understory_testkit::{Backend, on_both};

use crate::official::clients;

#[test]
#[ignore = "the tests start it as a process of its own"]
fn fake_model() {
    serve();
}

/// A lab on this store, unless this system can have none; a build machine (`CI`) must have one: its
/// PostgreSQL is the one that `cargo xtask ci` starts. The model follows these rules.
pub fn lab(backend: &Backend, rules: &str) -> Option<Lab> {
    let Some(store) = backend.local_store() else {
        let reason = "the PostgreSQL server has no socket on this machine";
        assert!(std::env::var_os("CI").is_none(), "cannot run: {reason}");
        eprintln!("SKIPPED: {reason}");
        return None;
    };
    let understory = Path::new(env!("CARGO_BIN_EXE_understory"));
    Lab::start(&clients(), understory, store, "agents::fake_model", rules)
}

/// What a woken model does: it answers, and ends its turn.
const WHEN_WOKEN: &str = r#"
    ON wrote in th_\d+: CALL post_message {"to": ["ada"], "body": "I am awake."}
    ON wrote in th_\d+: SAY I answered in {{th_\d+}}"#;

/// Fails unless this agent answered.
#[track_caller]
fn answered(lab: &Lab, agent: &str) {
    let chat = lab.run("understory", &["thread", "th_001", "--json"]).ok();
    let Chat { thread } = serde_json::from_str(&chat).unwrap();
    assert_eq!(thread.created_by, agent);
    assert_eq!(thread.participants, ["ada"]);
}

/// A line of `understory log --json`.
#[derive(Deserialize)]
struct Line {
    actor: String,
    action: String,
    handle: String,
    text: String,
}

/// A part of what `understory thread --json` prints.
#[derive(Deserialize)]
struct Chat {
    thread: Thread,
}

#[derive(Deserialize)]
struct Thread {
    created_by: String,
    participants: Vec<String>,
}

#[on_both]
fn heavy_two_clients_share_the_work(backend: Backend) {
    let Some(lab) = lab(&backend, "") else { return };
    let claude = Claude::set_up(&lab, &[]);
    let plan = r#"CALL graph_open {"project": "default", "goal": "Open the shop"}
        CALL graph_plan {"nodes": [{"ref": "a", "summary": "Bake"}, {"ref": "b", "summary": "Sell"}]}
        CALL graph_next {"claim": true}
        SAY planned and took {{TASK-\d+}}"#;
    assert_eq!(
        claude.headless(plan).ok().trim(),
        "planned and took TASK-001"
    );

    let codex = Codex::set_up(&lab, &[]);
    let work = r#"CALL graph_next {"claim": true}
        CALL post_message {"to": ["claude-code"], "body": "I took {{TASK-\d+}}."}
        SAY told"#;
    assert_eq!(codex.headless(work).ok().trim(), "told");

    let log = lab.run("understory", &["log", "--json"]).ok();
    let mut lines: Vec<Line> = log
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    lines.reverse();
    let happened: Vec<String> = lines
        .into_iter()
        .map(|line| {
            let words = [line.actor, line.action, line.handle, line.text];
            words.join(" ").trim().to_owned()
        })
        .collect();
    let expected = [
        "claude-code created project:default default",
        "claude-code created PLAN-001 Open the shop",
        "claude-code created TASK-001 Bake",
        "claude-code created TASK-002 Sell",
        "claude-code claimed TASK-001",
        "codex claimed TASK-002",
        "codex created th_001 I took TASK-002.",
        "codex posted msg_8 message 1: I took TASK-002.",
    ];
    assert_eq!(happened, expected);
    let chat = lab.run("understory", &["thread", "th_001", "--json"]).ok();
    let Chat { thread } = serde_json::from_str(&chat).unwrap();
    assert_eq!(thread.created_by, "codex");
    assert_eq!(thread.participants, ["claude-code"]);
}

#[test]
fn heavy_idle_clients_leave_nothing_behind() {
    let backend = Backend::sqlite();
    let Some(lab) = lab(&backend, "") else { return };
    let claude = Claude::set_up(&lab, &[]);
    let codex = Codex::set_up(&lab, &[]);
    let tmux = Tmux::new(&lab.walls);
    let (one, other) = (claude.interactive(&tmux), codex.interactive(&tmux));
    let sessions = claude.sessions();
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    assert_eq!(sessions[0].status, Some(Status::Idle));
    assert_eq!(sessions[0].pid, one.pid());

    let pid = one.pid();
    let mut claudes = lab.walls.processes();
    claudes.retain(|process| [process.pid, process.parent].contains(&pid));
    // It and its server.
    assert_eq!(claudes.len(), 2, "{claudes:?}");
    one.close();
    other.close();
    wait_until("Claude Code and its server end with their terminal", || {
        let left = lab.walls.processes();
        (!claudes
            .iter()
            .any(|gone| left.iter().any(|left| left.pid == gone.pid)))
        .then_some(())
    });
    // Codex has left a daemon, which lives until the walls fall.
    assert_eq!(lab.end(), []);
}

#[test]
fn heavy_a_hook_wakes_an_idle_claude() {
    let backend = Backend::sqlite();
    let Some(lab) = lab(&backend, WHEN_WOKEN) else {
        return;
    };
    let wake = r#"
        while [ ! -e "$0.go" ]; do sleep 0.1; done
        echo "ada wrote in th_001" >&2
        exit 2"#;
    let command = lab.script("wake", wake);
    let hook = Hook {
        event: "SessionStart",
        command,
        wakes: true,
    };
    let claude = Claude::set_up(&lab, &[hook]);
    let tmux = Tmux::new(&lab.walls);
    let pane = claude.interactive(&tmux);
    pane.paste("half a sent");
    fs::write(lab.walls.path("wake.go"), "").unwrap();
    let screen = pane.wait_for("● I answered in th_001");
    answered(&lab, "claude-code");
    assert!(screen.contains("half a sent"), "the draft stays: {screen}");
    let asked = lab.model.asked();
    let heard = &asked.last().expect("a request").heard;
    assert!(
        heard
            .iter()
            .any(|text| text.contains("ada wrote in th_001")),
        "{heard:?}"
    );
}

#[test]
fn heavy_a_queued_message_wakes_an_idle_codex() {
    let backend = Backend::sqlite();
    let Some(lab) = lab(&backend, WHEN_WOKEN) else {
        return;
    };
    #[derive(Deserialize)]
    struct Told {
        session_id: String,
    }
    let hook = Hook {
        event: "SessionStart",
        command: lab.script("tell", r#"cat > "$0.tmp" && mv "$0.tmp" "$0.json""#),
        wakes: false,
    };
    let codex = Codex::set_up(&lab, &[hook]);
    let tmux = Tmux::new(&lab.walls);
    let pane = codex.interactive(&tmux);
    // It begins its thread, and so runs the hook, with the first prompt.
    pane.submit("SAY ready");
    pane.wait_for("• ready");
    let told = wait_until("the hook ran", || {
        fs::read_to_string(lab.walls.path("tell.json")).ok()
    });
    let told: Told = serde_json::from_str(&told).unwrap();
    codex.queue(&told.session_id, "ada wrote in th_001").ok();
    pane.wait_for("• I answered in th_001");
    answered(&lab, "codex");
}

#[test]
fn heavy_a_claude_that_asks_for_permission_says_so() {
    let backend = Backend::sqlite();
    let Some(lab) = lab(&backend, "") else { return };
    let claude = Claude::that_asks(&lab);
    let tmux = Tmux::new(&lab.walls);
    let pane = claude.interactive(&tmux);
    pane.submit("CALL graph_next {\"claim\": true}");
    pane.wait_for(Claude::ASKS);
    wait_until("its status says so", || {
        (claude.sessions()[0].status == Some(Status::Waiting)).then_some(())
    });
    pane.press(&["Escape"]);
    wait_until("its status says that it is idle", || {
        (claude.sessions()[0].status == Some(Status::Idle)).then_some(())
    });
}
