//! `understory run`: the command. What its terminal does is tested where it is made.
#![cfg(unix)]

use std::process::{Command, Stdio};

use crate::shell::{Done, Shell};

#[test]
fn a_program_without_a_terminal_has_our_streams_and_its_own_exit_code() {
    let shell = Shell::sqlite();
    let done = shell.fed(
        &["run", "--", "sh", "-c", "cat; echo wrong >&2; exit 7"],
        b"piped",
    );
    assert_eq!(
        (done.code, done.out.as_str(), done.err.as_str()),
        (7, "piped", "wrong\n")
    );
}

#[test]
fn a_program_is_the_agent_that_was_named() {
    let shell = Shell::sqlite();
    let says = ["--", "sh", "-c", "echo \"<$UNDERSTORY_AGENT>\""];
    assert_eq!(
        shell.ok(&[&["run", "--agent", "ada"][..], &says].concat()),
        "<ada>\n"
    );
    assert_eq!(shell.ok(&[&["run"][..], &says].concat()), "<>\n");
    shell.refused(&[&["run", "--agent", "a/b"][..], &says].concat(), 2);
}

#[test]
fn a_program_that_cannot_be_started_is_named() {
    let shell = Shell::sqlite();
    let done = shell.refused(&["run", "--", "/no/such/program"], 3);
    assert!(done.err.contains("/no/such/program"), "{done:?}");
    assert!(!shell.path("store.db").exists(), "no store is needed");
    assert_eq!(shell.run(&["run"]).code, 2, "no program");
}

/// `script` gives it a terminal, so that it makes another one for the program.
fn in_a_terminal(shell: &Shell, arguments: &str) -> Done {
    let plain = shell.command(&[]);
    let line = format!(
        "stty rows 30 cols 90; '{}' {arguments}",
        plain.get_program().display()
    );
    let mut script = Command::new("script");
    script
        .args(["-qec", &line, "/dev/null"])
        .env("SHELL", "/bin/sh");
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    Done::of(script.stdin(Stdio::null()).output().unwrap())
}

#[test]
fn a_program_in_a_terminal_has_one_of_its_own() {
    let shell = Shell::sqlite();
    let program = "sh -c 'test -t 0 && test -t 2 && stty size && echo $UNDERSTORY_AGENT; exit 9'";
    let done = in_a_terminal(&shell, &format!("run --agent ada -- {program}"));
    // `script` may show the end of its own input before or after it.
    let out = done.out.replace("^@", "");
    assert!(out.ends_with("30 90\r\nada\r\n"), "{done:?}");
    assert_eq!(done.code, 9);
    let done = in_a_terminal(&shell, "run -- /no/such/program");
    assert!(
        done.out.contains("cannot start /no/such/program"),
        "{done:?}"
    );
    assert_eq!(done.code, 3);
}
