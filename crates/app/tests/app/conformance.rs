//! The official conformance suite against our HTTP stack: once with the suite's own tools behind
//! it, which must pass whole, and once with the product, whose known differences are written down;
//! and the official inspector over every tool's schema.
//!
//! The suite knows no tokens, so a small relay of this test adds one to each request.

use crate::web;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fixture::Fixture;
use crate::web::AppState;
use serde_json::Value;
use understory::config::{Flags, Settings, Surroundings};
use understory::http::care::Care;
use understory::http::hosts::Hosts;
use understory::http::server;
use understory::http::state::Plan;
use understory::store::Store;
use understory::token::verify::Verifier;
use understory_model::Role;
use understory_testkit::Backend;
use understory_tools::sets::ToolSet;

const MODERN: &str = "2026-07-28";
const BEFORE: &str = "2025-11-25";

/// What fails of a scenario that has 28 checks: the baseline can name only the whole of it.
const STATELESS: [&str; 2] = [
    // The product has no `test_missing_capability`.
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
];

/// Where `cargo xtask test` installed the suite and the Node that it needs.
fn installed() -> PathBuf {
    let Some(folder) = std::env::var_os("UNDERSTORY_TEST_CLIENTS") else {
        panic!("no conformance suite for this test: run `cargo xtask test`, which installs it");
    };
    let modules = PathBuf::from(folder).join("suite").join("node_modules");
    let hint = "run `cargo xtask test`, which installs it";
    assert!(modules.is_dir(), "{} is missing: {hint}", modules.display());
    modules
}

/// One of its programs, run by its own Node.
fn program(entry: &str) -> Command {
    let modules = installed();
    let mut command = Command::new(modules.join(".bin").join("node"));
    command.arg(modules.join("@modelcontextprotocol").join(entry));
    command
}

/// Listens, and passes each request on with a token; the port.
fn relay(to: u16, token: &str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let token = token.to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let token = token.clone();
            // A peer that leaves early is the suite's business.
            std::thread::spawn(move || pass_on(stream, to, &token));
        }
    });
    port
}

/// Passes one request on, and its answer back. The client ends the connection: one that has not read
/// a long answer yet takes an end from this side for a fault.
fn pass_on(client: TcpStream, to: u16, token: &str) -> std::io::Result<()> {
    let mut server = TcpStream::connect(("127.0.0.1", to))?;
    let mut from_client = BufReader::new(client.try_clone()?);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if from_client.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line == "\r\n" {
            break;
        }
        if !line.to_ascii_lowercase().starts_with("connection:") {
            head.push_str(&line);
        }
    }
    head.push_str(&format!(
        "Authorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    ));
    server.write_all(head.as_bytes())?;
    let mut to_server = server.try_clone()?;
    let up = std::thread::spawn(move || copy(&mut from_client, &mut to_server));
    let mut to_client = client.try_clone()?;
    copy(&mut server, &mut to_client);
    let _ = up.join();
    client.shutdown(std::net::Shutdown::Both)?;
    server.shutdown(std::net::Shutdown::Both)
}

/// Copies what comes at once, until either side has left.
fn copy(from: &mut impl Read, to: &mut TcpStream) {
    let mut piece = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut piece) {
        if to.write_all(&piece[..read]).is_err() {
            break;
        }
    }
}

/// Our HTTP stack in this process, with the suite's tools behind it; its port.
fn fixture(site: &AppState) -> u16 {
    let around = Surroundings {
        env: Box::new(|_| None),
        folder: site.shell.path("garden"),
        home: None,
        config_dir: None,
        data_dir: None,
    };
    let flags = Flags {
        store: Some(site.shell.backend.store()),
        ..Flags::default()
    };
    let settings = Settings::read(&flags, &around).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let store = Store::new(&settings);
    store.begin();
    let plan = Plan {
        store,
        verifier: Verifier::new(site.keys(), None, settings.project.value.clone()),
        hosts: Hosts::new(address, None).unwrap(),
        tls: None,
        set: ToolSet::parse("all").unwrap(),
        rate_per_second: settings.rate_per_second.value,
        person: web::caller("ann", "garden", Role::Operator),
        door: None,
        care: Care::new(
            &settings,
            &web::caller("ann", "garden", Role::Operator),
            Box::new(|_, _| Vec::new()),
        ),
    };
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            server::run::<Fixture>(listener, plan).await;
        });
    });
    address.port()
}

/// Runs the suite on a server, which must make it content.
#[track_caller]
fn judged(port: u16, token: &str, options: &[&str], results: &Path) {
    let url = format!("http://127.0.0.1:{}/mcp", relay(port, token));
    let done = program("conformance/dist/index.js")
        .args(["server", "--url", &url, "--output-dir"])
        .arg(results)
        .args(options)
        .output()
        .expect("the suite starts");
    let said = String::from_utf8_lossy(&done.stdout);
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}\n{told}");
}

/// What a revision requires, from a server with the suite's tools.
fn the_stack_conforms_to(revision: &str) {
    let site = AppState::new(Backend::sqlite());
    let token = site.token("ada", "garden", Role::Worker);
    let port = fixture(&site);
    let results = site.shell.path("results");
    let options = ["--requirements", revision];
    judged(port, &token, &options, &results);
}

/// Everything the suite has for a revision, from the product.
fn the_product_differs_as_written(revision: &str) {
    let site = AppState::new(Backend::sqlite());
    let server = site.serve_with(&["--tools", "all"], &[]);
    let token = site.token("ada", "garden", Role::Worker);
    let baseline = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/conformance")
        .join(format!("baseline-{revision}.yml"));
    let baseline = baseline.to_str().unwrap();
    let options = ["--suite", "all", "--spec-version", revision];
    let options = [&options[..], &["--expected-failures", baseline]].concat();
    let results = site.shell.path("results");
    judged(server.port, &token, &options, &results);
    if revision == MODERN {
        assert_eq!(failed(&results, "server-stateless"), STATELESS);
    }
}

/// The checks of a scenario that failed.
fn failed(results: &Path, scenario: &str) -> Vec<String> {
    let mut folders = std::fs::read_dir(results).unwrap().map(Result::unwrap);
    let of_it = |name: &str| name.starts_with(&format!("server-{scenario}-"));
    let folder = folders.find(|folder| of_it(&folder.file_name().to_string_lossy()));
    let path = folder.expect("its results").path().join("checks.json");
    let checks: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let checks = checks.as_array().unwrap().iter();
    checks
        .filter(|check| check["status"] == "FAILURE")
        .map(|check| check["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn heavy_the_stack_conforms_to_the_newest_revision() {
    the_stack_conforms_to(MODERN);
}

#[test]
fn heavy_the_stack_conforms_to_the_revision_before() {
    the_stack_conforms_to(BEFORE);
}

#[test]
fn heavy_the_product_in_the_newest_revision() {
    the_product_differs_as_written(MODERN);
}

#[test]
fn heavy_the_product_in_the_revision_before() {
    the_product_differs_as_written(BEFORE);
}

/// Clients refuse tools whose schemas they cannot read; the inspector knows what they stumble over.
#[test]
fn the_inspector_finds_every_schema_sound() {
    let site = AppState::new(Backend::sqlite());
    let done = program("inspector/clients/launcher/build/index.js")
        .args([
            "--cli",
            "--method",
            "tools/list",
            "--strict",
            "--format",
            "json",
        ])
        .arg("-e")
        .arg(format!("UNDERSTORY_STORE={}", site.shell.backend.store()))
        .arg("--cwd")
        .arg(site.shell.path("garden"))
        .arg(env!("CARGO_BIN_EXE_understory"))
        .args(["mcp", "--tools", "all"])
        .env("HOME", site.shell.dir.path())
        .output()
        .expect("the inspector starts");
    let said = String::from_utf8_lossy(&done.stdout);
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}\n{told}");
    let listed: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}\n{told}"));
    let tools = listed["result"]["tools"]
        .as_array()
        .expect("a list of tools");
    assert_eq!(tools.len(), understory_tools::registry::tools().len());
}
