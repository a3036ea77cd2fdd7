//! The official MCP clients over HTTP, of the newest revision and of the one before, in two
//! languages: each is who its token says.

mod shell;
mod web;

use std::path::PathBuf;
use std::process::Command;

use understory_model::Role;
use understory_testkit::Backend;
use web::Site;

/// Where `cargo xtask test` installed them.
fn clients() -> PathBuf {
    match std::env::var_os("UNDERSTORY_TEST_CLIENTS") {
        Some(folder) => PathBuf::from(folder),
        None => panic!("no MCP clients for this test: run `cargo xtask test`, which installs them"),
    }
}

fn script(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/clients")
        .join(name)
}

fn plays(mut command: Command) {
    let site = Site::new(Backend::sqlite());
    let server = site.serve();
    let done = command
        .arg(format!("http://127.0.0.1:{}/mcp", server.port))
        .env("TOKEN", site.token("ada", "garden", Role::Worker))
        .output()
        .expect("the client starts");
    let (said, told) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert!(
        done.status.success() && said.contains("ok ada"),
        "{said}\n{told}"
    );
    assert!(!told.contains("failed"), "{told}");
}

fn python(environment: &str, name: &str) {
    let mut command = Command::new(clients().join(environment).join("bin/python"));
    command.arg(script(name));
    plays(command);
}

/// Node looks for packages beside the script, so the script goes to the packages.
fn node(name: &str) {
    let copy = clients()
        .join("node")
        .join(format!("{}-{name}", std::process::id()));
    std::fs::copy(script(name), &copy).expect("the script can be copied");
    let mut command = Command::new("node");
    command.arg(&copy);
    plays(command);
    let _ = std::fs::remove_file(copy);
}

#[test]
fn python_modern() {
    python("python-modern", "http_modern.py");
}

#[test]
fn python_before() {
    python("python-before", "http_before.py");
}

#[test]
fn node_modern() {
    node("http_modern.mjs");
}

#[test]
fn node_before() {
    node("http_before.mjs");
}
