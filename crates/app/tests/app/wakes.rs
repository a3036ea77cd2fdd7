//! A worker starts what the user's own file lists, as it is written there, and nothing else; what it
//! started ends with it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::chats::until;
use crate::shell::Shell;
use crate::web::{AppState, Server};

/// A prompt that tries to be anything but a prompt.
const HOSTILE: &str =
    "-x --config=evil $(touch pwned) `touch pwned`; touch pwned\n\u{1b}[2J\u{202e}'\"";

/// A program that does this, as the way to prompt, resume and begin Codex.
pub fn listed(shell: &Shell, script: &str) {
    let program = shell.path("agent");
    fs::write(
        &program,
        format!("#!/bin/sh\ncd {:?} || exit 1\n{script}\n", shell.dir.path()),
    )
    .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let folder = shell.path(".config/understory");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("runtimes.toml");
    let program = program.display();
    let text = format!(
        "[codex]\nqueue = [\"{program}\", \"queue\", \"{{session}}\", \"{{prompt}}\"]\nresume = [\"{program}\", \"resume\", \"{{session}}\", \"{{prompt}}\"]\n\
         start = [\"{program}\", \"start\", \"{{prompt}}\"]\n"
    );
    fs::write(&file, text).unwrap();
    for (path, mode) in [(&file, 0o600), (&folder, 0o700)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
}

/// A thread in which bob, whose session has ended, did not read a message, and a request to wake him.
fn asked(shell: &Shell, prompt: &str) {
    let beat = json!({"runtime": "codex_cli", "resumable": true, "status": "idle"}).to_string();
    let as_bob = ["--agent", "bob", "--session", "s-9"];
    let new = json!({"title": "T", "participants": ["bob"]}).to_string();
    shell.ok(&["call", "create_thread", &new]);
    shell.ok(&["post", "th_001", "Please look."]);
    shell.ok(&[&["call", "heartbeat_session", &beat], &as_bob[..]].concat());
    let wish = json!({"thread_id": "th_001", "target_agent_id": "bob", "trigger_prompt": prompt});
    shell.ok(&["call", "trigger_participant", &wish.to_string()]);
}

fn job(shell: &Shell) -> Value {
    shell.json(&["wakes"])["wakes"][0].clone()
}

pub fn serve(shell: Shell) -> (AppState, Server) {
    let site = AppState { shell };
    let server = site.serve_with(&[], &[("UNDERSTORY_ROLE", "operator")]);
    (site, server)
}

pub fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Whether the process runs whose number was written to the file `pid`.
pub fn runs(shell: &Shell) -> bool {
    let pid = &lines(&shell.path("pid"))[0];
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.contains(") S") || stat.contains(") R")
}

#[test]
fn an_ended_session_is_resumed_with_the_prompt_as_one_argument() {
    let shell = Shell::sqlite();
    listed(
        &shell,
        "echo $# > count; printf '%s' \"$1 $2\" > words; printf '%s' \"$3\" > prompt; env > environment; \
         pwd -P > /dev/null",
    );
    asked(&shell, HOSTILE);
    let (site, server) = serve(shell);
    let shell = &site.shell;
    until("the prompt", || job(shell)["result"] == "delivered");
    assert_eq!(lines(&shell.path("count")), ["3"]);
    assert_eq!(lines(&shell.path("words")), ["resume s-9"]);
    let prompt = fs::read_to_string(shell.path("prompt")).unwrap();
    for part in ["Please look.", "ann", "wake_001", "$(touch pwned)"] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    assert!(!prompt.contains(['\u{1b}', '\u{202e}']), "{prompt:?}");
    assert!(!prompt.starts_with('-'));
    for place in [shell.path("pwned"), shell.path("garden/pwned")] {
        assert!(!place.exists());
    }
    // An agent is no operator because the server's person is one.
    let environment = lines(&shell.path("environment"));
    let told = |name: &str| environment.iter().any(|line| line.starts_with(name));
    assert!(!told("UNDERSTORY_ROLE=") && !told("UNDERSTORY_SESSION="));
    let job = job(shell);
    assert_eq!(
        (&job["action"], &job["session_id"]),
        (&json!("resume_session"), &json!("s-9"))
    );
    drop(server);
}

#[test]
fn an_agent_that_was_never_here_is_begun_where_its_client_is_listed() {
    let shell = Shell::sqlite();
    let new = json!({"title": "T", "participants": ["codex"]}).to_string();
    shell.ok(&["call", "create_thread", &new]);
    shell.ok(&["post", "th_001", "Please look."]);
    let wish = json!({"thread_id": "th_001", "target_agent_id": "codex"}).to_string();
    let refused = shell.run(&["call", "trigger_participant", &wish]);
    assert!(refused.err.contains("never seen here"), "{refused:?}");
    listed(
        &shell,
        "printf '%s' \"$1\" > words; printf '%s' \"$2\" > prompt",
    );
    let answer = shell.json(&["call", "trigger_participant", &wish]);
    assert_eq!(
        (&answer["action"], &answer["result"]),
        (&json!("spawn_session"), &json!("queued"))
    );
    let (site, server) = serve(shell);
    until("the prompt", || job(&site.shell)["result"] == "delivered");
    assert_eq!(lines(&site.shell.path("words")), ["start"]);
    let prompt = fs::read_to_string(site.shell.path("prompt")).unwrap();
    assert!(prompt.contains("You begin a new session"), "{prompt}");
    drop(server);
}

#[test]
fn what_a_server_started_ends_with_it_and_its_job_goes_on() {
    let shell = Shell::sqlite();
    // A program that starts another and waits for it, as wrappers do.
    listed(
        &shell,
        "sleep 600 & echo $! > pid.new; mv pid.new pid; wait",
    );
    asked(&shell, "Look");
    let (site, server) = serve(shell);
    let shell = &site.shell;
    until("the agent", || shell.path("pid").exists());
    let during = job(shell);
    assert_eq!(
        (&during["result"], &during["action"]),
        (&json!("queued"), &json!("resume_session")),
        "what is done is seen meanwhile"
    );
    assert!(runs(shell));
    server.stop();
    until("the end of what was started", || !runs(shell));
    let after = job(shell);
    assert_eq!(after["result"], "deferred", "{after}");
    assert_eq!(after["defer_reason"], "retry");
}

#[test]
fn an_agent_that_outlives_a_killed_server_is_not_started_a_second_time() {
    let shell = Shell::sqlite();
    listed(
        &shell,
        "echo x >> starts; while [ ! -e end ]; do sleep 0.1; done",
    );
    asked(&shell, "Look");
    let (site, server) = serve(shell);
    let shell = &site.shell;
    until("the agent", || shell.path("starts").exists());
    let raw = || shell.backend.raw();
    until("its process is noted", || {
        raw().number("SELECT COUNT(*) FROM live_started") == 1
    });
    // Killed, it ends nothing that it started.
    drop(server);
    raw()
        .run("UPDATE live_wake SET until = 0, due = 0")
        .unwrap();
    let server = site.serve_with(&[], &[("UNDERSTORY_ROLE", "operator")]);
    until("the next server has looked at the job", || {
        raw().number("SELECT MAX(due) FROM live_wake") > 0
    });
    let during = job(shell);
    assert_eq!(
        (&during["result"], &during["action"]),
        (&json!("queued"), &json!("resume_session"))
    );
    assert_eq!(lines(&shell.path("starts")), ["x"]);
    // Nobody knows how it ended, so it is asked once more.
    fs::write(shell.path("end"), "").unwrap();
    until("the next start", || lines(&shell.path("starts")).len() == 2);
    drop(server);
}

#[test]
fn a_repository_lists_nothing_that_is_started() {
    let shell = Shell::sqlite();
    let evil = format!(
        "[codex]\nresume = [\"/bin/sh\", \"-c\", \"touch {}\", \"{{prompt}}\"]\n",
        shell.path("pwned").display()
    );
    for place in [
        "garden/runtimes.toml",
        "garden/understory/runtimes.toml",
        "garden/.understory/runtimes.toml",
        "garden/.config/understory/runtimes.toml",
    ] {
        let path = shell.path(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &evil).unwrap();
    }
    let out = shell.ok(&["runtimes"]);
    assert!(out.contains("Nothing may be started"), "{out}");
    // A relative folder of settings would be the repository's.
    let mut command = shell.command(&["runtimes"]);
    command.env("XDG_CONFIG_HOME", ".config");
    let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(out.contains("Nothing may be started"), "{out}");
}
