//! The official MCP clients, of the newest revision and of the one before, each playing an agent
//! that plans, claims and resolves: in two languages, on both engines.

use std::path::PathBuf;
use std::process::{Command, Output};

use understory_testkit::Backend;

/// Where `cargo xtask test` installed them.
fn clients() -> PathBuf {
    match std::env::var_os("UNDERSTORY_TEST_CLIENTS") {
        Some(folder) => PathBuf::from(folder),
        None => panic!("no MCP clients for this test: run `cargo xtask test`, which installs them"),
    }
}

fn script(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join("clients")
        .join(name)
}

fn python(environment: &str, name: &str) -> Command {
    let mut command = Command::new(clients().join(environment).join("bin").join("python"));
    command.arg(script(name));
    command
}

/// Node looks for packages beside the script, so the script goes to the packages.
fn node(name: &str) -> Command {
    let copy = clients()
        .join("node")
        .join(format!("{}-{name}", std::process::id()));
    std::fs::copy(script(name), &copy).expect("the script can be copied");
    let mut command = Command::new("node");
    command.arg(copy);
    command
}

fn plays(mut command: Command, backend: &Backend) {
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .arg(env!("CARGO_BIN_EXE_understory"))
        .env("UNDERSTORY_STORE", backend.store())
        .env("UNDERSTORY_WORKSPACE", "clients")
        .output()
        .expect("the client starts");
    let said = String::from_utf8_lossy(&stdout);
    assert!(
        status.success() && said.contains("ok TASK-001 TASK-002"),
        "{status}\n{said}\n{}",
        String::from_utf8_lossy(&stderr)
    );
}

macro_rules! each_client {
    ($backend:expr) => {
        #[test]
        fn python_modern() {
            super::plays(super::python("python-modern", "modern.py"), &$backend);
        }
        #[test]
        fn python_before() {
            super::plays(super::python("python-before", "before.py"), &$backend);
        }
        #[test]
        fn typescript_modern() {
            super::plays(super::node("modern.mjs"), &$backend);
        }
        #[test]
        fn typescript_before() {
            super::plays(super::node("before.mjs"), &$backend);
        }
    };
}

mod sqlite {
    each_client!(super::Backend::sqlite());
}

mod postgres {
    each_client!(super::Backend::postgres());
}
