//! `understory purge` and what `understory doctor` says about credentials.

use crate::shell;
use crate::shell::{Shell, says};
use understory_testkit::{Backend, on_both};

/// Put together here, so that no scanner takes this file for a leak.
fn token() -> String {
    format!("gh{}_{}", "p", "k7Qz2mXw9RtB4vNc8LpY3hGd6JsF5aTe1UoK")
}

fn planted(backend: understory_testkit::Backend) -> Shell {
    let shell = Shell::planted(backend);
    let args = format!(
        r#"{{"type": "Note", "description": "use {} today"}}"#,
        token()
    );
    let told = shell.json(&["call", "garden_add", &args]);
    assert_eq!(told["credentials"][0]["kind"], "github_token", "{told}");
    shell
}

#[on_both]
fn a_credential_is_listed_and_purged(backend: Backend) {
    let shell = planted(backend);
    let found = shell.ok(&["doctor", "--secrets"]);
    says(
        &found,
        &[
            "warn  secrets",
            "1 item with",
            "github_token",
            "understory purge --credentials",
        ],
    );
    assert!(!found.contains(&token()));
    let purge = ["purge", "--credentials", "--reason", "a leak"];
    let with = |more: &[&'static str]| [&purge[..], more].concat();
    let dry = shell.ok(&with(&["--dry-run"]));
    says(
        &dry,
        &[
            "Would erase: content of 1 item",
            "Note",
            "Not reached:",
            "backups",
        ],
    );
    let done = shell.run(&purge);
    assert_ne!(done.code, 0);
    says(&done.err, &["confirmation requires a terminal", "--yes"]);
    says(&shell.ok(&["doctor"]), &["warn  secrets"]);
    let done = shell.run(&with(&["--yes", "--role", "worker"]));
    assert_ne!(done.code, 0);
    says(&done.err, &["only an operator can purge"]);
    let out = shell.ok(&with(&["--yes"]));
    says(&out, &["Erased, as #", "content of 1 item"]);
    assert!(!out.contains(&token()));
    says(&shell.ok(&["doctor"]), &["ok    secrets"]);
    says(&shell.ok(&["log"]), &["a leak"]);
    shell.ok(&["verify"]);
    assert_ne!(
        shell.run(&with(&["--yes"])).code,
        0,
        "there is nothing left"
    );
}

#[on_both]
fn the_scan_finds_what_was_stored_before_it_was_flagged(backend: Backend) {
    let shell = planted(backend);
    let note = format!(r#"{{"type": "Note", "description": "or {}"}}"#, token());
    shell.ok(&["call", "garden_add", &note, "--workspace", "other"]);
    // As a store of before, in which nothing was flagged.
    shell
        .backend
        .raw()
        .run("DELETE FROM core_credential")
        .unwrap();
    says(&shell.ok(&["doctor"]), &["ok    secrets"]);
    let found = shell.ok(&["doctor", "--secrets"]);
    says(
        &found,
        &[
            "warn  secrets",
            "2 items with",
            "github_token",
            "in garden",
            "in other",
            "item_",
        ],
    );
    assert!(!found.contains(&token()));
    let told = shell.json(&["doctor", "--secrets"]).to_string();
    assert!(
        told.contains("in other") && !told.contains(&token()),
        "{told}"
    );
    // Whoever does not read everything is told of their own workspace.
    let own = shell.ok(&["doctor", "--secrets", "--role", "worker"]);
    says(&own, &["1 item with", "in garden"]);
    assert!(!own.contains("in other"), "{own}");
}

#[on_both]
fn a_person_is_told_whatever_command_stored_it(backend: Backend) {
    let shell = Shell::planted(backend);
    let text = format!("use {}", token());
    let done = shell.run(&["post", "--new", "Deploy", "--with", "bob", &text]);
    assert_eq!(done.code, 0, "{done:?}");
    says(
        &done.err,
        &["looks like a credential", "understory purge --credentials"],
    );
    assert!(
        !done.err.contains(&token()) && !done.out.contains(&token()),
        "{done:?}"
    );
}

#[on_both]
fn a_text_is_read_from_a_pipe_and_never_printed(backend: Backend) {
    let shell = planted(backend);
    let args = [
        "purge",
        "--text-from",
        "-",
        "--reason",
        "a leak",
        "--yes",
        "--json",
    ];
    let done = shell.fed(&args, token().as_bytes());
    assert_eq!(done.code, 0, "{done:?}");
    assert!(
        !done.out.contains(&token()) && done.out.contains("\"purge\""),
        "{done:?}"
    );
    assert!(!shell.ok(&["log", "--json"]).contains(&token()));
    shell.ok(&["verify"]);
}

#[on_both]
fn a_task_is_purged_by_its_name(backend: Backend) {
    let shell = Shell::planted(backend);
    shell.ok(&[
        "purge",
        "TASK-001",
        "--reason",
        "a mistake",
        "--only",
        "--yes",
    ]);
    says(&shell.ok(&["show", "TASK-001"]), &["[erased]"]);
    shell.ok(&["verify"]);
    let done = shell.refused(&["purge", "TASK-404", "--reason", "x", "--yes"], 3);
    says(&done.err, &["TASK-404"]);
}

#[on_both]
fn the_setting_decides_and_a_repository_does_not(backend: Backend) {
    let shell = Shell::planted(backend);
    let args = format!(r#"{{"type": "Note", "description": "use {}"}}"#, token());
    let mut strict = shell.command(&["call", "garden_add", &args]);
    let refused = shell::Done::of(strict.env("UNDERSTORY_SECRETS", "refuse").output().unwrap());
    assert_ne!(refused.code, 0);
    says(&refused.err, &["looks like a GitHub token"]);
    assert!(!refused.err.contains(&token()));
    let mut wrong = shell.command(&["next"]);
    let wrong = shell::Done::of(wrong.env("UNDERSTORY_SECRETS", "maybe").output().unwrap());
    says(&wrong.err, &["secrets", "flag, refuse, off"]);
}
