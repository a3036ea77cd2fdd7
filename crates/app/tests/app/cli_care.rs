//! Proof and care: `verify`, `rebuild`, `backup`, `doctor`, and the `tour`.

use std::process::{Command, Stdio};

use crate::shell::{Done, Shell, says};
use serde_json::{Value, json};
use understory_testkit::{Backend, on_both};

#[on_both]
fn verify_proves_and_names_a_break(backend: Backend) {
    let shell = Shell::planted(backend);
    shell.ok(&[
        "call",
        "graph_open",
        r#"{"project": "x"}"#,
        "--workspace",
        "other",
    ]);
    let out = shell.ok(&["verify"]);
    says(
        &out,
        &[
            "ok      garden  8 items",
            "ok      other",
            "core is what a replay",
        ],
    );
    let report = shell.json(&["verify", "--shallow"]);
    assert_eq!(
        (&report["ok"], &report["workspaces"][0]["items"]),
        (&true.into(), &8.into())
    );
    assert!(report.get("core").is_none());
    assert_eq!(
        shell
            .ok(&["verify", "--workspace", "other", "--shallow"])
            .lines()
            .count(),
        1
    );
    shell.refused(&["verify", "--workspace", "nowhere"], 3);

    let mut raw = shell.backend.raw();
    raw.disarm();
    raw.run("UPDATE soil_item SET actor = 'mallory' WHERE ws = 1 AND seq = 5")
        .unwrap();
    let done = shell.run(&["verify"]);
    assert_eq!(done.code, 1, "{done:?}");
    says(
        &done.out,
        &["BROKEN  garden", "garden #5: ", "ok      other"],
    );
    let done = shell.run(&["verify", "--json"]);
    let report: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(
        (done.code, &report["workspaces"][0]["breaks"][0]["seq"]),
        (1, &5.into())
    );
    let done = shell.run(&["doctor"]);
    assert_eq!(done.code, 1);
    says(&done.out, &["FAIL  log", "garden #5", "understory verify"]);
}

#[on_both]
fn rebuild_mends_what_was_derived(backend: Backend) {
    let shell = Shell::planted(backend);
    let before = shell.ok(&["show", "TASK-001", "--json"]);
    let out = shell.ok(&["rebuild"]);
    says(&out, &["derived anew from 8 items of 1 workspace"]);
    assert_eq!(shell.ok(&["show", "TASK-001", "--json"]), before);
    let mut raw = shell.backend.raw();
    raw.run("UPDATE core_node SET open_children = 7 WHERE id = 3")
        .unwrap();
    let done = shell.run(&["verify"]);
    assert_eq!(done.code, 1);
    says(
        &done.out,
        &["BROKEN  core", "core_node", "understory rebuild"],
    );
    assert_eq!(shell.json(&["rebuild"])["items"], 8);
    shell.ok(&["verify"]);
}

#[on_both]
fn rebuild_opens_what_another_version_derived(backend: Backend) {
    let shell = Shell::planted(backend);
    let mut raw = shell.backend.raw();
    raw.run("UPDATE core_meta SET value = '0' WHERE key = 'version'")
        .unwrap();
    let done = shell.refused(&["next"], 5);
    says(&done.err, &["another version", "understory rebuild"]);
    assert_eq!(shell.run(&["status"]).code, 5);
    says(
        &shell.run(&["status", "--settings"]).out,
        &["understory rebuild", "claim_ttl_minutes"],
    );
    shell.ok(&["rebuild"]);
    says(&shell.ok(&["next"]), &["TASK-003"]);
}

#[on_both]
fn care_of_nothing_is_no_success(backend: Backend) {
    let shell = Shell::new(backend);
    for command in [&["verify"][..], &["rebuild"], &["backup", "x.db"]] {
        let done = shell.refused(command, 3);
        says(&done.err, &["there is no store"]);
    }
    assert!(!shell.path("garden/x.db").exists());
    if shell.backend.is_sqlite() {
        assert!(!shell.backend.file().exists());
    }
    says(
        &shell.ok(&["doctor"]),
        &["warn  store", "The first write makes it"],
    );
}

#[on_both]
fn status_tells_when_a_quota_is_near_and_reached(backend: Backend) {
    let shell = Shell::planted(backend);
    let nodes: Vec<Value> = (0..20)
        .map(|n| json!({"ref": format!("n{n}"), "summary": "s"}))
        .collect();
    shell.ok(&["call", "graph_plan", &json!({"nodes": nodes}).to_string()]);
    let items = shell.json(&["status"])["head_seq"].as_i64().unwrap();
    let with = |most: i64, arguments: &[&str]| {
        let mut command = shell.command(arguments);
        command.env("UNDERSTORY_QUOTA_ITEMS", most.to_string());
        let done = Done::of(command.output().unwrap());
        assert_eq!(done.code, 0, "{done:?}");
        done.out
    };
    let told =
        |most: i64| -> Value { serde_json::from_str(&with(most, &["status", "--json"])).unwrap() };
    assert_eq!(told(items * 2)["quotas"], json!([]));
    assert!(!with(items * 2, &["status"]).contains("quota "));
    for (most, state, said) in [
        (items + 1, "near", "soon nothing more is written"),
        (items, "reached", ": nothing more is written"),
        (items - 1, "reached", ": nothing more is written"),
    ] {
        let expected = json!([{"quota": "items", "used": items, "max": most, "state": state}]);
        assert_eq!(told(most)["quotas"], expected);
        let text = with(most, &["status"]);
        says(
            &text,
            &[&format!("{items} of {most} items"), said, "quota_items"],
        );
    }
}

#[on_both]
fn doctor_finds_nothing_wrong(backend: Backend) {
    let shell = Shell::planted(backend);
    let out = shell.ok(&["doctor"]);
    says(
        &out,
        &[
            "ok    store",
            "ok    integrity",
            "ok    log         8 items proved",
            "ok    clock",
        ],
    );
    assert!(!out.contains("FAIL") && !out.contains("hunter"), "{out}");
    let checks = shell.json(&["doctor"]);
    assert!(checks["checks"].as_array().unwrap().len() >= 7);
}

#[on_both]
fn tour_in_a_store_that_was_named(backend: Backend) {
    let shell = Shell::new(backend);
    let store = shell.backend.store();
    shell.ok(&["tour", "--store", &store]);
    let out = shell.ok(&["tour", "--store", &store]);
    says(
        &out,
        &[
            "\"project\":\"shop-2\"",
            "what-if-2 sees main",
            "th_002 resolved",
            "ok      tour",
            "the workspace tour of your store",
        ],
    );
    says(
        &shell.ok(&["next", "--workspace", "tour", "--project", "shop-2"]),
        &["is done."],
    );
}

#[test]
fn a_backup_opens_and_proves() {
    let shell = Shell::planted(Backend::sqlite());
    let out = shell.ok(&["backup", "copy.db"]);
    says(&out, &["copy.db: ", "8 items of 1 workspace, proved"]);
    let names = std::fs::read_dir(shell.path("garden")).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["copy.db"], "nothing is left beside the copy");
    shell.ok(&["verify", "--store", "copy.db"]);
    assert_eq!(shell.json(&["status", "--store", "copy.db"])["head_seq"], 8);
    let before = std::fs::read(shell.path("garden/copy.db")).unwrap();
    let done = shell.refused(&["backup", "copy.db"], 4);
    says(&done.err, &["copy.db exists and is not overwritten"]);
    assert_eq!(std::fs::read(shell.path("garden/copy.db")).unwrap(), before);
    shell.refused(&["backup", "no/such/folder/copy.db"], 2);
    assert_eq!(shell.json(&["backup", "two.db"])["items"], 8);
}

#[test]
fn a_broken_log_is_no_backup() {
    let shell = Shell::planted(Backend::sqlite());
    let mut raw = shell.backend.raw();
    raw.disarm();
    raw.run("UPDATE soil_item SET content = '{}' WHERE seq = 5")
        .unwrap();
    let done = shell.refused(&["backup", "copy.db"], 5);
    says(&done.err, &["not kept", "understory verify"]);
    assert!(!shell.path("garden/copy.db").exists());
}

#[test]
fn a_store_at_rest_is_one_file() {
    let shell = Shell::planted(Backend::sqlite());
    let file = shell.backend.file();
    let mut log = file.clone().into_os_string();
    log.push("-wal");
    let rests = || std::fs::metadata(&log).map_or(0, |log| log.len()) == 0;
    assert!(rests(), "after a write");
    shell.ok(&["next"]);
    shell.ok(&[
        "call",
        "graph_plan",
        r#"{"nodes": [{"ref": "x", "summary": "X"}]}"#,
    ]);
    shell.ok(&["log"]);
    assert!(rests(), "after reads and writes");
}

#[test]
fn postgresql_is_backed_up_by_its_own_tools() {
    let shell = Shell::planted(Backend::postgres());
    let done = shell.refused(&["backup", "copy.db"], 2);
    says(&done.err, &["pg_dump"]);
    assert!(!shell.path("garden/copy.db").exists());
}

#[test]
fn the_tour_is_real_quick_and_leaves_nothing() {
    let shell = Shell::sqlite();
    let begun = std::time::Instant::now();
    let out = shell.ok(&["tour"]);
    assert!(begun.elapsed().as_secs() < 10, "a person waits for it");
    says(
        &out,
        &[
            "ada ▸ graph_plan",
            "TASK-001 Write the API  claimed by ada",
            "TASK-003 Write the guide  claimed by bob",
            "nothing is free",
            "can start now: TASK-002 Write the shop page",
            "after ✓ TASK-001 Write the API  git 4f2a91c",
            "cycle_detected: TASK-001 → TASK-004 → TASK-002 → TASK-001",
            "✓ PLAN-001",
            "conflict: R002 was changed by session tour-ada of ada (alive)",
            "theirs: An old key is accepted for two hours.",
            "what-if sees main up to #31",
            "merged: 2  conflict: conflict-",
            "status: base open · into main open · from what-if refuted",
            "h1 The clock drifts  refuted",
            "th_001 ada: 4f2a91c rotates the keys. Please look.",
            "th_001 bob finding_reported: An old key is still taken after two hours.",
            "INSUFFICIENT_AUTHORITY: th_001 is disputed",
            "1 finding reported: 1 verified; none is open. Fixes: b7d0c55.",
            "because bob said: Use PostgreSQL for the team store",
            "undone item_",
            "ok      tour  57 items",
            "core is what a replay of the log gives",
        ],
    );
    assert_eq!(
        std::fs::read_dir(shell.path("tmp")).unwrap().count(),
        0,
        "the store is gone"
    );
    assert!(
        !shell.backend.file().exists(),
        "a tour stays out of the real store"
    );
    let out = shell.ok(&["tour", "--json"]);
    let lines: Vec<Value> = out
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.last().unwrap()["verify"]["ok"], true);
    assert!(
        lines[..lines.len() - 1]
            .iter()
            .all(|call| call["answer"].is_object())
    );
}

/// The sentences in the README's blocks of what the tour prints: no calls, no answers, no cuts.
fn told_by_the_readme() -> Vec<&'static str> {
    let readme = include_str!("../../../../README.md");
    let (_, tour) = readme.split_once("$ understory tour\n").unwrap();
    let (tour, _) = tour.split_once("\n## ").unwrap();
    // Text and blocks take turns, and it begins in a block.
    let blocks = tour.split("```").step_by(2);
    let lines = blocks.flat_map(|block| block.trim_start_matches("console").lines());
    lines
        .filter(|line| !line.is_empty() && !line.starts_with([' ', '…']))
        .filter(|line| !line.starts_with("ok "))
        .collect()
}

#[test]
fn the_readme_says_what_the_tour_says() {
    let out = Shell::sqlite().ok(&["tour"]);
    let told = told_by_the_readme();
    assert!(told.len() > 15, "{told:?}");
    says(&out, &told);
}

#[test]
fn stores_that_are_none_are_told_apart() {
    let shell = Shell::sqlite();
    let garden = shell.path("garden");
    std::fs::write(
        garden.join("text.db"),
        "not a database, but long enough to be looked at",
    )
    .unwrap();
    std::fs::create_dir(garden.join("folder.db")).unwrap();
    let sqlite = |name: &str, sql: &str| {
        let backend = Backend::Sqlite {
            folder: tempfile::tempdir().unwrap(),
        };
        backend.raw().run(sql).unwrap();
        std::fs::copy(backend.file(), garden.join(name)).unwrap();
    };
    sqlite("other.db", "CREATE TABLE cats (name TEXT)");
    for (store, said) in [
        ("text.db", "text.db"),
        ("folder.db", "is a folder"),
        ("other.db", "another program"),
    ] {
        for command in ["next", "verify", "rebuild"] {
            let done = shell.refused(&[command, "--store", store], 5);
            says(&done.err, &[said]);
        }
        let done = shell.run(&["doctor", "--store", store]);
        assert_eq!(done.code, 1, "{done:?}");
        says(&done.out, &["FAIL  store", "→ "]);
        let done = shell.run(&["status", "--settings", "--store", store]);
        assert_eq!(done.code, 5);
        says(&done.out, &[said, "claim_ttl_minutes"]);
    }
    let text = std::fs::read_to_string(garden.join("text.db")).unwrap();
    assert!(text.starts_with("not a database"), "it is left as it was");
}

#[test]
fn a_newer_store_is_left_alone() {
    let shell = Shell::planted(Backend::sqlite());
    let sql = "UPDATE soil_meta SET value = '99' WHERE key = 'version'";
    shell
        .backend
        .raw()
        .run(sql)
        .expect("the version can be changed behind the product's back");
    for command in ["next", "verify", "rebuild"] {
        let done = shell.refused(&[command], 5);
        says(&done.err, &["newer Understory", "Update Understory"]);
    }
}

#[test]
fn wrong_settings_are_named_by_every_command() {
    let shell = Shell::planted(Backend::sqlite());
    std::fs::write(shell.path("garden/understory.toml"), "agnet = \"x\"\n").unwrap();
    for command in ["next", "status", "log", "verify", "rebuild"] {
        let done = shell.refused(&[command], 2);
        says(&done.err, &["understory.toml:1", "agnet", "agent"]);
    }
    let done = shell.run(&["doctor"]);
    assert_eq!(done.code, 1);
    says(&done.out, &["FAIL  settings", "understory.toml:1"]);
    says(&shell.ok(&["tools"]), &["graph_plan"]);
}

#[test]
fn usage_is_told_with_2() {
    let shell = Shell::sqlite();
    for wrong in [
        &["nxt"][..],
        &["next", "--bogus"],
        &["show"],
        &["log", "--limit", "x"],
        &["backup"],
        &["next", "--color", "blue"],
        &["log", "A", "--node", "B"],
        &["status", "--role", "boss"],
    ] {
        assert_eq!(shell.run(wrong).code, 2, "{wrong:?}");
    }
    assert_eq!(shell.run(&[]).code, 2);
    let help = shell.ok(&["--help"]);
    says(
        &help,
        &[
            "Exit codes:",
            "5  the store cannot be used",
            "6  a merge left conflicts open",
            "understory tour",
        ],
    );
    for command in [
        "next", "log", "show", "search", "status", "call", "verify", "rebuild", "backup",
        "branches", "diff", "merge",
    ] {
        says(
            &shell.ok(&[command, "--help"]),
            &["Examples:\n  understory "],
        );
    }
    says(
        &shell.ok(&["completions", "bash"]),
        &["understory", "branches", "--dry-run"],
    );
}

#[test]
fn a_reader_who_had_enough_is_no_error() {
    let shell = Shell::planted(Backend::sqlite());
    let nodes: Vec<String> = (0..2000)
        .map(|at| {
            format!(r#"{{"ref": "{at}", "summary": "a node with a summary of some length {at}"}}"#)
        })
        .collect();
    let plan = format!(r#"{{"nodes": [{}]}}"#, nodes.join(","));
    assert_eq!(
        shell
            .fed(&["call", "graph_plan", "-"], plan.as_bytes())
            .code,
        0
    );
    for command in [
        &["log", "--limit", "10000"][..],
        &["log", "--limit", "10000", "--json"],
        &["completions", "zsh"],
        &["call", "graph_query", r#"{"limit": 100}"#],
    ] {
        let mut child = shell
            .command(command)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command:?}");
        assert!(output.stderr.is_empty(), "{command:?}: {output:?}");
    }
    let head = format!(
        "{} log --limit 10000 | head -1",
        env!("CARGO_BIN_EXE_understory")
    );
    let output = Command::new("sh")
        .args(["-c", &head])
        .current_dir(shell.path("garden"))
        .env("UNDERSTORY_STORE", shell.backend.store())
        .output()
        .unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_output_is_an_error() {
    let shell = Shell::planted(Backend::sqlite());
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = shell.command(&["log"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    says(
        &String::from_utf8(output.stderr).unwrap(),
        &["standard output"],
    );
}
