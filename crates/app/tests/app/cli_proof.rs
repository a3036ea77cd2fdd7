//! Proof against whoever can write the store: checkpoints, known heads, and a rebuild that hides
//! nothing.

use crate::shell::{Done, Shell, says};
use serde_json::Value;
use understory_testkit::{Backend, on_both};

/// The head of the workspace `garden`, and its place.
fn head(shell: &Shell) -> (String, i64) {
    let report = shell.json(&["verify", "--shallow", "--workspace", "garden"]);
    let proof = &report["workspaces"][0];
    (
        proof["head"].as_str().unwrap().to_owned(),
        proof["items"].as_i64().unwrap(),
    )
}

/// A proof that does not hold; what it says.
#[track_caller]
fn broken(shell: &Shell, arguments: &[&str]) -> Done {
    let done = shell.run(arguments);
    assert_eq!(done.code, 1, "{done:?}");
    done
}

#[on_both]
fn a_checkpoint_proves_what_was_before_it(backend: Backend) {
    let shell = Shell::planted(backend);
    shell.ok(&["note", "elsewhere", "--workspace", "other"]);
    let (file, other) = (shell.path("one.checkpoint"), shell.path("two.checkpoint"));
    let (file, other) = (file.to_str().unwrap(), other.to_str().unwrap());
    says(
        &shell.ok(&["checkpoint", "--out", file]),
        &["Signed 2 by key"],
    );
    shell.refused(&["checkpoint", "--out", file], 2);
    let line = shell.ok(&["checkpoint", "--workspace", "garden"]);
    let made: Value = serde_json::from_str(&line).unwrap();
    let (end, items) = head(&shell);
    assert_eq!(
        (made["head"].as_str(), made["seq"].as_i64()),
        (Some(end.as_str()), Some(items))
    );
    shell.ok(&[
        "call",
        "graph_plan",
        r#"{"nodes": [{"ref": "z", "summary": "More"}]}"#,
    ]);
    shell.ok(&["checkpoint", "--workspace", "garden", "--out", other]);
    let (_, items) = head(&shell);
    let both = ["verify", "--checkpoint", file, "--checkpoint", other];
    says(
        &shell.ok(&both),
        &[
            "ok",
            "the signature of garden #",
            "the signature of other #",
        ],
    );

    // A key that is retired still tells what it signed, and that it was retired.
    let keys = shell.path("keys.json");
    std::fs::write(&keys, shell.ok(&["token", "keys", "--public"])).unwrap();
    let keys = keys.to_str().unwrap();
    let kid = made["kid"].as_str().unwrap();
    shell.ok(&["token", "keys", "--rotate"]);
    shell.ok(&["token", "keys", "--retire", kid]);
    says(&shell.ok(&both), &["which was retired since"]);

    // The signature is checked without the store, by the public key alone.
    let alone = [
        "verify",
        "--signature-only",
        "--key",
        keys,
        "--checkpoint",
        file,
        "--store",
        "nowhere.db",
    ];
    says(&shell.ok(&alone), &["the signature of garden"]);
    let forged = std::fs::read_to_string(file)
        .unwrap()
        .replace("\"seq\":", "\"seq\":1");
    std::fs::write(shell.path("forged"), forged).unwrap();
    let forged = shell.path("forged");
    let forged = forged.to_str().unwrap();
    let done = broken(
        &shell,
        &[
            "verify",
            "--signature-only",
            "--key",
            keys,
            "--checkpoint",
            forged,
        ],
    );
    says(&done.err, &["garden", "its signature is not valid"]);
    broken(&shell, &["verify", "--checkpoint", forged]);

    // The last items go, and everything that knew of them: only the checkpoint tells.
    let mut raw = shell.backend.raw();
    raw.disarm();
    raw.run(&format!(
        "DELETE FROM soil_item WHERE ws = 1 AND seq >= {items}"
    ))
    .unwrap();
    let last = format!("FROM soil_item WHERE ws = 1 AND seq = {}", items - 1);
    raw.run(&format!(
        "UPDATE core_head SET seq = {}, chain = (SELECT chain {last}), \
        at = (SELECT realized_at {last}) WHERE ws = 1",
        items - 1
    ))
    .unwrap();
    shell.ok(&["verify", "--shallow"]);
    let done = broken(&shell, &["verify", "--shallow", "--checkpoint", other]);
    says(
        &done.out,
        &[
            &format!("garden #{items}: is missing"),
            "was known to reach",
        ],
    );
    shell.ok(&["verify", "--shallow", "--checkpoint", file]);
}

#[on_both]
fn a_head_that_was_kept_is_looked_for(backend: Backend) {
    let shell = Shell::planted(backend);
    let (end, items) = head(&shell);
    shell.ok(&["note", "more"]);
    let with = |head: &str| {
        shell.run(&[
            "verify",
            "--shallow",
            "--workspace",
            "garden",
            "--head",
            head,
        ])
    };
    assert_eq!(with(&end).code, 0);
    assert_eq!(with(&format!("{items}:{end}")).code, 0);
    let done = with(&format!("{}:{end}", items - 1));
    assert_eq!(done.code, 1);
    says(&done.out, &["BROKEN", &format!("garden #{}", items - 1)]);
    let done = with(&"ab".repeat(32));
    assert_eq!(done.code, 1);
    says(
        &done.out,
        &["garden #", "no item up to here has the head abab"],
    );
    for wrong in ["", "ab", "x:ab", &format!("x:{end}")] {
        assert_eq!(with(wrong).code, 2, "{wrong}");
    }
    shell.refused(&["verify", "--head", &end], 2);
}

#[on_both]
fn a_rebuild_says_what_is_missing_and_goes_on_only_when_told(backend: Backend) {
    let shell = Shell::planted(backend);
    let (_, items) = head(&shell);
    let mut raw = shell.backend.raw();
    raw.disarm();
    raw.run(&format!(
        "DELETE FROM soil_item WHERE ws = 1 AND seq = {items}"
    ))
    .unwrap();
    let missing = format!("#{items}: is missing: the log went on to {items}");
    let done = shell.refused(&["rebuild"], 5);
    says(&done.err, &["garden", &missing, "--accept-damage"]);
    says(&broken(&shell, &["verify"]).out, &[&missing]);
    shell.refused(&["checkpoint"], 5);
    let done = shell.run(&["rebuild", "--accept-damage"]);
    assert_eq!(done.code, 0, "{done:?}");
    says(&done.err, &["accepted: garden", &missing]);
    shell.ok(&["verify"]);
    says(
        &shell.ok(&["audit"]),
        &["ann", "accepted", &format!("damage at {missing}")],
    );
}
