//! A store that somebody else holds: waiting ends, and the error says who it is. This binary starts
//! itself as the one who holds it.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use understory_model::Code;
use understory_storage::{Options, Patience, Store};

const HELD: &str = "UNDERSTORY_TEST_HELD";

fn store(path: &Path) -> Store {
    let options = Options {
        patience: Patience {
            turn: Duration::from_millis(50),
            ..Patience::default()
        },
        ..Options::default()
    };
    Store::new(path.to_str().unwrap(), options)
}

/// What the child does: holds a lock until nobody listens to it any more.
#[test]
fn child_holder() {
    let Ok(path) = std::env::var(HELD) else {
        return;
    };
    let file = std::fs::File::open(path).unwrap();
    file.lock().unwrap();
    let mut out = std::io::stdout();
    writeln!(out, "held").unwrap();
    out.flush().unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn whoever_holds_a_store_is_named_and_waiting_ends() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    store(&path).write("w", |_| Ok(())).unwrap();
    for ending in ["-turn", "-queue"] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_holder", "--nocapture"])
            .env(HELD, format!("{}{ending}", path.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(said.any(|line| line.unwrap().ends_with("held")));

        let waiting = store(&path);
        for _ in 0..2 {
            let fault = waiting.write("w", |_| Ok(())).unwrap_err();
            assert_eq!(fault.code, Code::StoreUnavailable);
            assert!(fault.message.contains("the store is locked"), "{fault}");
            if cfg!(target_os = "linux") {
                let named = format!("process {} (", child.id());
                assert!(fault.message.contains(&named), "{fault}");
            }
        }
        // Reading goes on, and so does writing once the other is gone.
        assert_eq!(waiting.read(|_| Ok(7)), Ok(Some(7)));
        drop(child.stdin.take());
        child.wait().unwrap();
        let patient = Store::new(path.to_str().unwrap(), Options::default());
        patient.write("w", |_| Ok(())).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_made_at_the_end_of_a_link() {
    use std::os::unix::fs::symlink;
    for name in ["x.db", "x.db-turn", "x.db-queue"] {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("target");
        symlink(&target, dir.path().join(name)).unwrap();
        let path = dir.path().join("x.db");
        let fault = store(&path).write("w", |_| Ok(())).unwrap_err();
        assert_eq!(fault.code, Code::StoreUnavailable, "{fault}");
        assert!(fault.message.contains("symbolic link"), "{fault}");
        assert!(!target.exists(), "{name}");
    }
    // A link to a store that exists is the user's affair.
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().join("real.db");
    store(&real).write("w", |_| Ok(())).unwrap();
    symlink(&real, dir.path().join("link.db")).unwrap();
    store(&dir.path().join("link.db"))
        .write("w", |_| Ok(()))
        .unwrap();
}
