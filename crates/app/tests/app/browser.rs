//! A person at the pages, in Debian's Chromium: live news, drafts, forms, keys, widths, and stored text that
//! stays text.

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;
use understory_model::Role;
use understory_testkit::{Backend, on_both};

use crate::http_pages::HOSTILE;
use crate::web::{AppState, Server};

/// Where `cargo xtask test` installed what drives the browser.
fn playwright() -> PathBuf {
    let Some(folder) = std::env::var_os("UNDERSTORY_TEST_CLIENTS") else {
        panic!("no browser for this test: run `cargo xtask test`, which installs it");
    };
    let module = PathBuf::from(folder).join("browser/node_modules/playwright-core");
    let hint = "run `cargo xtask test`, which installs it";
    assert!(module.is_dir(), "{} is missing: {hint}", module.display());
    module
}

/// Makes the folder's own workspace, before a token for one of its name makes another.
pub fn own_workspace(site: &AppState) {
    let open = r#"{"project": "default", "goal": "Sell"}"#;
    site.shell.ok(&["call", "graph_open", open]);
}

/// Runs a script of `browser/` as a person at a server's pages; it fails by its exit status and ends with `done`.
pub fn run(site: &AppState, server: &Server, script: &str) {
    run_with(site, server, script, &[]);
}

/// As [`run`], with further variables.
pub fn run_with(site: &AppState, server: &Server, script: &str, vars: &[(&str, &str)]) {
    let base = format!("http://127.0.0.1:{}", server.port);
    let cli = site.command(&[]);
    let program: Vec<String> = std::iter::once(cli.get_program())
        .chain(cli.get_args())
        .map(|word| word.to_str().unwrap().to_owned())
        .collect();
    let mut node = Command::new("node");
    node.arg(format!(
        "{}/tests/app/browser/{script}.cjs",
        env!("CARGO_MANIFEST_DIR")
    ))
    .env("PLAYWRIGHT", playwright())
    .env("CHROMIUM", "/usr/bin/chromium")
    .env("BASE", &base)
    .env("LOGIN", format!("{base}/login/{}", server.login))
    .env("UNDERSTORY", json!(program).to_string())
    .envs(vars.iter().copied())
    .current_dir(cli.get_current_dir().unwrap());
    for (name, value) in cli.get_envs() {
        match value {
            Some(value) => node.env(name, value),
            None => node.env_remove(name),
        };
    }
    let done = node.output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{told}");
    assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), "done");
}

#[on_both]
fn a_person_sees_answers_and_settles(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    own_workspace(&site);
    let token = |agent: &str| site.token(agent, "garden", Role::Worker);
    let plan = json!({"nodes": [{"ref": "a", "summary": HOSTILE}, {"ref": "b", "summary": "Sell"},
        {"ref": "c", "summary": "W".repeat(2_000), "depends_on": ["b"]}]});
    server.ok(&token("ada"), "graph_plan", plan);
    let claim = json!({"updates": [{"node_id": "TASK-002", "claim": true}]});
    server.ok(&token("ada"), "graph_update", claim);
    let asks =
        json!({"to": ["ann"], "title": HOSTILE, "body": format!("{HOSTILE}\n\nSee TASK-002.")});
    server.ok(&token("ada"), "post_message", asks);
    let text = json!({"label": "goals", "content": "one\ntwo\n"});
    server.ok(&token("ada"), "garden_artifact_create", text);
    let proposal = json!({"artifact": "goals", "start": 2, "end": 2, "content": HOSTILE, "reasoning": HOSTILE});
    server.ok(&token("bob"), "reader_propose", proposal);
    run(&site, &server, "pages");
}
