//! Schemathesis over `/v1/openapi.json`: whatever is sent to a tool, the answer is one that the
//! document describes, and never a fault of the server.

use crate::shell;
use std::path::PathBuf;
use std::process::Command;
use understory_testkit::{Backend, on_both};

use crate::web::AppState;
use serde_json::{Value, json};
use understory_model::Role;
use understory_tools::registry;

/// Examples for each tool and way of making them up.
const EXAMPLES: &str = "3";

/// Tools that made-up calls rarely or never get a good answer from. That their answers are as declared
/// is checked where every tool is called with arguments that work
/// (`crates/tools/tests/tools/every_tool`).
const HARD: [&str; 14] = [
    // Takes a record that is active in the session, and what its new state asks for.
    "transition",
    // Take a conflict, which only two branches that contradict each other make.
    "branchmind_graph_conflict_show",
    "branchmind_graph_conflict_resolve",
    // Nobody can be woken in a test.
    "trigger_participant",
    // Take a uuid, a hash, a commit or a cursor that the server chose.
    "garden_undo",
    "garden_entity_update",
    "garden_entity_revert",
    "garden_entity_supersede",
    "garden_changes_ack",
    "garden_artifact_commit",
    "garden_artifact_diff",
    "garden_artifact_merge",
    "garden_collapse",
    "garden_reopen",
];

/// Where `cargo xtask test` installed it.
fn schemathesis() -> Command {
    let Some(folder) = std::env::var_os("UNDERSTORY_TEST_CLIENTS") else {
        panic!("no schemathesis for this test: run `cargo xtask test`, which installs it");
    };
    let program = PathBuf::from(folder).join("schemathesis/bin/schemathesis");
    let hint = "run `cargo xtask test`, which installs it";
    assert!(
        program.is_file(),
        "{} is missing: {hint}",
        program.display()
    );
    Command::new(program)
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/conformance")
        .join(name)
}

#[on_both]
fn heavy_every_answer_is_described(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "10000")]);
    let ada = site.token("ada", "garden", Role::Worker);
    // Something is there before, so that not every name leads nowhere.
    for tool in registry::tools() {
        let mut example: Value = serde_json::from_str(tool.example).unwrap();
        if example.get("workspace").is_some() {
            example["workspace"] = json!("garden");
        }
        server.call(&ada, tool.name, example);
    }
    let done = schemathesis()
        .arg("--config-file")
        .arg(file("schemathesis.toml"))
        .args(["run", "--no-color", "--seed", "1", "--workers", "2"])
        .args([
            "--max-examples",
            EXAMPLES,
            "--continue-on-failure",
            "--warnings",
            "off",
        ])
        .args(["--header", &format!("Authorization: Bearer {ada}")])
        .args(["--header", "Accept: application/json"])
        .arg(format!("http://127.0.0.1:{}/v1/openapi.json", server.port))
        .env("SCHEMATHESIS_HOOKS", file("hooks.py"))
        .current_dir(site.shell.path("tmp"))
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&done.stdout);
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}\n{told}");
    // It was asked for all of them, and did ask.
    let all = registry::tools().len() + 2; // and an entity's own address, to read and to write
    shell::says(
        &said,
        &[&format!("Selected: {all}/{all}"), &format!("Tested: {all}")],
    );
    // Refusals alone would say little.
    let figures = server.get("/metrics").body;
    let ended_well = |tool: &str| figures.contains(&format!("tool=\"{tool}\",code=\"ok\""));
    let never: Vec<&str> = registry::tools()
        .iter()
        .map(|tool| tool.name)
        .filter(|tool| !ended_well(tool) && !HARD.contains(tool))
        .collect();
    assert!(never.is_empty(), "only refusals from {never:?}");
}
