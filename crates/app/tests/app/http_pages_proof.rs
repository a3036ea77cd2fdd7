//! Proof and care: the log is proved from its page, a break is named, and nobody sees more than their role may.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use understory_model::Role;
use understory_testkit::{Backend, on_both};

use crate::browser;
use crate::http_pages::{HOSTILE, Stage};
use crate::http_pages_agents::Visitor;
use crate::shell::says;
use crate::web::AppState;

/// The last proof, once none runs.
fn proved(stage: &Stage) -> Value {
    let begun = Instant::now();
    loop {
        let proof = stage.data("proof.json")["proof"].clone();
        if proof["running"].is_null() && !proof["last"].is_null() {
            return proof["last"].clone();
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{proof}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[on_both]
fn the_log_is_proved_from_its_page(backend: Backend) {
    let stage = Stage::filled(backend);
    says(&stage.get("now").body, &["Not proved yet"]);
    says(
        &stage.get("proof").body,
        &["Prove the log", "None was signed here", "not proved yet"],
    );
    let done = stage.act("verify", "");
    assert_eq!(done.status, 200, "{}", done.body);
    let last = proved(&stage);
    let data = stage.data("proof.json");
    assert_eq!(last["items"], data["chain"]["items"], "{last}");
    assert_eq!(last["head"], data["chain"]["head"]);
    assert_eq!(last["breaks"], json!([]));
    let items = last["items"].as_i64().unwrap();
    says(
        &stage.get("now").body,
        &[&format!("Proved up to #{items}"), "class=\"proof green\""],
    );
    says(
        &stage.get("proof").body,
        &["The log is what was written, up to #", "everything holds"],
    );
    // Without the script the browser goes back to the page.
    let data = stage.data("proof.json");
    let growth = data["chain"]["growth"].as_array().unwrap();
    assert_eq!(growth.last().unwrap()[0], items, "{growth:?}");
    assert_eq!(data["chain"]["last_month"], items);
}

#[on_both]
fn an_item_that_was_changed_is_named(backend: Backend) {
    let stage = Stage::filled(backend);
    assert_eq!(stage.act("checkpoint", "").status, 200);
    let mut raw = stage.site.shell.backend.raw();
    raw.disarm();
    raw.run("UPDATE soil_item SET actor = 'mallory' WHERE ws = 1 AND seq = 3")
        .unwrap();
    assert_eq!(stage.act("verify", "").status, 200);
    let last = proved(&stage);
    assert_eq!(last["breaks"][0]["seq"], 3, "{last}");
    let page = stage.get("proof").body;
    says(
        &page,
        &[
            "Item #3 is not what was written.",
            "Everything before it holds. Keep the file as it is",
            "something does not hold",
        ],
    );
    says(
        &stage.get("now").body,
        &["Broken at #3", "class=\"proof red\""],
    );
    // A checkpoint would vouch for it, so none is signed, and the next proof can begin.
    let refused = stage.act("checkpoint", "");
    assert_eq!(refused.code(), "STORE_CORRUPT", "{}", refused.body);
    assert_eq!(stage.act("verify", "").status, 200);
    proved(&stage);
}

#[on_both]
fn a_checkpoint_is_signed_downloaded_and_compared(backend: Backend) {
    let stage = Stage::filled(backend);
    let signed = stage.act("checkpoint", "");
    assert_eq!(signed.status, 200, "{}", signed.body);
    let data = stage.data("proof.json");
    let one = &data["proof"]["signed"][0];
    assert_eq!(one["seq"], data["chain"]["items"], "{one}");
    let file = stage.get(&format!("proof/checkpoint?seq={}", one["seq"]));
    assert_eq!(file.status, 200, "{}", file.body);
    let held = file.header("content-disposition").unwrap();
    says(held, &["attachment"]);
    let checkpoint: Value = serde_json::from_str(file.body.trim()).unwrap();
    assert_eq!(checkpoint["head"], data["chain"]["head"]);
    assert_eq!(checkpoint["workspace"], "garden");
    assert_eq!(stage.get("proof/checkpoint?seq=999").status, 404);
    // What the page gave is what the command line checks.
    let path = stage.site.shell.path("garden.checkpoint");
    std::fs::write(&path, &file.body).unwrap();
    let path = path.to_str().unwrap();
    let done = stage
        .site
        .command(&["verify", "--shallow", "--checkpoint", path])
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    // And it is compared with what is pasted.
    stage.as_agent(
        "ada",
        "graph_plan",
        json!({"nodes": [{"ref": "n", "summary": "Later"}]}),
    );
    let pasted = format!("checkpoint={}", understory_page::segment(file.body.trim()));
    let done = stage.act("verify", &pasted);
    assert_eq!(done.status, 200, "{}", done.body);
    let last = proved(&stage);
    assert_eq!(
        last["checkpoints"], 2,
        "the signed one and the pasted: {last}"
    );
    assert_eq!(last["breaks"], json!([]));
    let forged = pasted.replace("garden", "elsewhere");
    for wrong in [forged.as_str(), "checkpoint=nonsense"] {
        let refused = stage.act("verify", wrong);
        assert_eq!(refused.status, 400, "{}", refused.body);
    }
    let head = checkpoint["head"].as_str().unwrap();
    let forged = pasted.replace(head, &"0".repeat(64));
    let refused = stage.act("verify", &forged);
    says(&refused.body, &["proves nothing"]);
}

#[on_both]
fn tokens_settings_and_credentials_show_no_secret(backend: Backend) {
    let stage = Stage::filled(backend);
    let issue = ["token", "issue", "--agent", "zoe", "--json"];
    let issued = stage.site.command(&issue).output().unwrap();
    assert!(issued.status.success(), "{issued:?}");
    let issued: Value = serde_json::from_slice(&issued.stdout).unwrap();
    let token = issued["token"].as_str().unwrap();
    let page = stage.get("proof").body;
    says(
        &page,
        &[
            "zoe",
            ">valid<",
            "rate_per_second",
            "Set by",
            "UNDERSTORY_STORE",
        ],
    );
    assert!(!page.contains(token) && !page.contains(token.split('.').nth(2).unwrap()));
    let jti = stage.data("proof.json")["tokens"][0]["jti"]
        .as_str()
        .unwrap()
        .to_owned();
    let revoked = stage
        .site
        .command(&["token", "revoke", &jti])
        .output()
        .unwrap();
    assert!(revoked.status.success(), "{revoked:?}");
    says(&stage.get("proof").body, &[">revoked<"]);
    let key = "AKIAIOSFODNN7EXAMPLQ";
    let plan = json!({"nodes": [{"ref": "n", "summary": format!("Use {key}")}]});
    stage.as_agent("ada", "graph_plan", plan);
    let page = stage.get("proof").body;
    says(&page, &["1 item is flagged", "Check-up"]);
    assert!(!page.contains(key));
    assert!(!page.contains("<script>alert"), "{HOSTILE}");
}

#[on_both]
fn a_worker_sees_no_settings_and_proves_nothing(backend: Backend) {
    let worker = Visitor::new(backend, Role::Worker);
    worker.as_agent(
        "ada",
        "graph_plan",
        json!({"nodes": [{"ref": "n", "summary": "One"}]}),
    );
    let page = worker.get("proof").body;
    says(&page, &["You are here as worker"]);
    for hidden in [
        "rate_per_second",
        "Prove the log",
        "Sign a checkpoint",
        "UNDERSTORY_",
    ] {
        assert!(!page.contains(hidden), "{hidden}");
    }
    let data = worker.get("proof.json").json();
    for hidden in ["settings", "findings", "tokens", "credentials", "store"] {
        assert_eq!(data[hidden], Value::Null, "{hidden}");
    }
    for act in ["verify", "checkpoint"] {
        let refused = worker.act(act, "");
        assert_eq!(refused.status, 403, "{act}: {}", refused.body);
    }
    assert_eq!(worker.get("proof/checkpoint?seq=1").status, 403);
}

#[on_both]
fn an_auditor_proves_and_does_not_sign(backend: Backend) {
    let auditor = Visitor::new(backend, Role::Auditor);
    auditor.as_agent(
        "ada",
        "graph_plan",
        json!({"nodes": [{"ref": "n", "summary": "One"}]}),
    );
    assert_eq!(auditor.act("verify", "").status, 200);
    assert_eq!(auditor.act("checkpoint", "").status, 403);
    says(
        &auditor.get("proof").body,
        &["Only an operator may sign one"],
    );
}

#[on_both]
fn a_person_proves_the_log(backend: Backend) {
    let site = AppState::new(backend);
    let server = site.serve_with(&[], &[("UNDERSTORY_RATE_PER_SECOND", "1000000")]);
    browser::own_workspace(&site);
    let token = site.token("ada", "garden", Role::Worker);
    let plan = json!({"nodes": [{"ref": "a", "summary": HOSTILE}]});
    server.ok(&token, "graph_plan", plan);
    browser::run(&site, &server, "proof");
}
