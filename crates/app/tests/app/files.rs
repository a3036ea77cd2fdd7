//! The modes of what Understory makes, whatever the umask says, and what `doctor` tells of others'.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{Done, Shell, says};

const PLAN: &str = r#"{"nodes": [{"ref": "a", "summary": "x"}]}"#;

fn mode(path: &Path) -> u32 {
    let found = std::fs::symlink_metadata(path).unwrap_or_else(|_| panic!("{}", path.display()));
    found.permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs a command under a umask, with the user's default store.
fn under(shell: &Shell, umask: &str, arguments: &[&str]) -> Done {
    let inner = shell.command(arguments);
    let script = format!("umask {umask}; exec \"$0\" \"$@\"");
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script).arg(inner.get_program());
    command
        .args(inner.get_args())
        .current_dir(shell.path("garden"));
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env_remove("UNDERSTORY_STORE");
    Done::of(command.output().unwrap())
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(below(&path)),
            false => found.push(path),
        }
    }
    found
}

#[test]
fn what_is_made_is_the_users_alone_whatever_the_umask() {
    for umask in ["000", "022", "077"] {
        let shell = Shell::sqlite();
        let backup = shell.path("garden/copy.db");
        // A chat that goes on keeps the files beside the store in place.
        let done = under(
            &shell,
            umask,
            &["call", "graph_plan", PLAN, "--session", "s"],
        );
        assert_eq!(done.code, 0, "{done:?}");
        let done = under(&shell, umask, &["backup", "copy.db"]);
        assert_eq!(done.code, 0, "{done:?}");
        let done = under(&shell, umask, &["token", "issue", "--agent", "x"]);
        assert_eq!(done.code, 0, "{done:?}");
        assert_eq!(mode(&backup), 0o600, "umask {umask}");
        let data = shell.path(".local/share/understory");
        let made = below(&data);
        assert!(made.contains(&data.join("understory.db-turn")), "{made:?}");
        for path in made {
            let wanted = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode(&path), wanted, "umask {umask}: {}", path.display());
        }
        let doctor = under(&shell, umask, &["doctor"]);
        says(&doctor.out, &["ok    permissions", "yours alone"]);
    }
}

#[test]
fn files_beside_an_open_store_are_the_users_too() {
    let shell = Shell::sqlite();
    let mut command = Command::new("/bin/sh");
    let inner = shell.command(&["mcp"]);
    command
        .arg("-c")
        .arg("umask 000; exec \"$0\" \"$@\"")
        .arg(inner.get_program());
    command
        .args(inner.get_args())
        .current_dir(shell.path("garden"));
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("UNDERSTORY_STORE", shell.path("new/place/x.db"));
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"graph_plan","arguments":{PLAN}}}}}"#),
    ];
    for line in &lines {
        std::io::Write::write_all(&mut input, format!("{line}\n").as_bytes()).unwrap();
    }
    let output = std::io::BufReader::new(child.stdout.take().unwrap());
    let answer = std::io::BufRead::lines(output)
        .map(Result::unwrap)
        .find(|line| line.contains("\"id\":2"));
    says(&answer.unwrap(), &["TASK-001"]);
    let made = below(&shell.path("new"));
    for name in [
        "place/x.db",
        "place/x.db-wal",
        "place/x.db-shm",
        "place/x.db-queue",
        "place/x.db-sessions",
    ] {
        assert!(
            made.contains(&shell.path("new").join(name)),
            "{name} in {made:?}"
        );
    }
    for path in made {
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), wanted, "{}", path.display());
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn doctor_tells_what_others_may_read_and_mends_it_when_asked() {
    let shell = Shell::sqlite();
    under(&shell, "022", &["call", "graph_plan", PLAN]);
    let data = shell.path(".local/share/understory");
    let store = data.join("understory.db");
    set_mode(&data, 0o755);
    set_mode(&store, 0o644);
    set_mode(&data.join("understory.db-turn"), 0o666);
    let doctor = under(&shell, "022", &["doctor"]);
    assert_eq!(doctor.code, 0, "a warning is not a failure");
    says(
        &doctor.out,
        &[
            "warn  permissions",
            "understory.db (mode 644)",
            "read and change",
            "mode 755",
            "doctor --fix",
        ],
    );
    assert_eq!(
        (mode(&store), mode(&data)),
        (0o644, 0o755),
        "looking changes nothing"
    );
    // Writing does not change what exists either: it may be shared on purpose.
    under(&shell, "022", &["call", "graph_plan", PLAN]);
    assert_eq!((mode(&store), mode(&data)), (0o644, 0o755));
    let fixed = under(&shell, "022", &["doctor", "--fix"]);
    says(&fixed.out, &["ok    permissions", "3 were changed"]);
    assert_eq!((mode(&store), mode(&data)), (0o600, 0o700));
    assert_eq!(mode(&data.join("understory.db-turn")), 0o600);
}

#[test]
fn a_folder_of_the_users_is_left_as_it_is() {
    let shell = Shell::sqlite();
    let shared = shell.path("shared");
    std::fs::create_dir(&shared).unwrap();
    set_mode(&shared, 0o777);
    let store = shared.join("team.db").display().to_string();
    shell.ok(&["call", "graph_plan", PLAN, "--store", &store]);
    let doctor = shell.ok(&["doctor", "--fix", "--store", &store]);
    says(&doctor, &["others may replace files in the store's folder"]);
    assert_eq!(mode(&shared), 0o777);
    assert_eq!(mode(&shared.join("team.db")), 0o600);
}

/// Only the superuser can give a file away: elsewhere than on a build machine (`CI`) this may be
/// skipped.
#[test]
fn keys_of_another_user_are_refused() {
    let shell = Shell::sqlite();
    shell.ok(&["token", "issue", "--agent", "x"]);
    let keys = PathBuf::from(format!("{}.keys", shell.backend.store()));
    if std::os::unix::fs::chown(&keys, Some(12_345), None).is_err() {
        assert!(std::env::var_os("CI").is_none(), "this test needs root");
        eprintln!("skipped: giving a file away needs root");
        return;
    }
    let done = shell.refused(&["token", "issue", "--agent", "x"], 2);
    says(&done.err, &["belongs to another user (12345)"]);
    says(
        &shell.ok(&["doctor"]),
        &["warn  permissions", "belongs to another user (12345)"],
    );
}
