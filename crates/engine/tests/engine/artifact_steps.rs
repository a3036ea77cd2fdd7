//! Random calls about artifacts, valid ones and others.

use serde_json::{Value, json};

use crate::common::Dice;

const LABELS: [&str; 4] = ["goals_doc", "plan", "目標", "no label"];
const LINES: [&str; 8] = ["one", "two", "", "drei", "🌱", "one", "x\r", "  indented"];

/// One call; `commits` are labels, each with a commit that it had, the newest last.
pub fn step(dice: &mut Dice, commits: &[(String, String)], text: String) -> (&'static str, Value) {
    // Mostly the newest: what is based on an old commit is refused.
    let at = match dice.one_in(3) {
        true => dice.below(commits.len()),
        false => commits.len() - 1,
    };
    let (label, commit) = commits[at].clone();
    // Before the first there is nothing to commit to.
    let kind = if at == 0 {
        dice.below(2)
    } else {
        dice.below(12)
    };
    match kind {
        0 => (
            "garden_artifact_create",
            json!({"label": dice.pick(&LABELS), "content": content(dice, text)}),
        ),
        1 => (
            "garden_artifact_relabel",
            json!({"artifact": label, "label": dice.pick(&LABELS)}),
        ),
        2..=4 => (
            "garden_artifact_commit",
            json!({"artifact": label, "based_on": commit, "ops": ops(dice), "texts": {}}),
        ),
        5 | 6 => ("garden_artifact_merge", merge(dice, commits, label, commit)),
        _ => (
            "garden_artifact_commit",
            json!({"artifact": label, "based_on": commit, "content": content(dice, text.clone()),
                "fork": dice.one_in(3), "reasoning": text}),
        ),
    }
}

fn content(dice: &mut Dice, text: String) -> String {
    let mut lines: Vec<&str> = (0..dice.below(12)).map(|_| *dice.pick(&LINES)).collect();
    lines.push(&text);
    // Long now and then, so that some versions are kept whole.
    let long = "a line that is longer than the others ".repeat(dice.below(40));
    lines.push(&long);
    let end = if dice.one_in(2) { "\n" } else { "" };
    lines.join("\n") + end
}

fn ops(dice: &mut Dice) -> String {
    let ops: Vec<String> = (0..=dice.below(3))
        .map(|_| match dice.below(3) {
            0 => format!("-{}", 1 + dice.below(8)),
            1 => format!(">{}@{}", 1 + dice.below(8), 1 + dice.below(8)),
            _ => format!("+{}:^{}", 1 + dice.below(4), dice.pick(&["140n", "zzz"])),
        })
        .collect();
    ops.join(" ")
}

fn merge(dice: &mut Dice, commits: &[(String, String)], label: String, commit: String) -> Value {
    let of_label: Vec<&String> = commits
        .iter()
        .filter(|(other, _)| *other == label)
        .map(|(_, commit)| commit)
        .collect();
    let other = dice.pick(&of_label).to_string();
    let mut args = json!({"artifact": label, "ours": commit, "theirs": other});
    if !dice.one_in(3) {
        let choices = ["ours", "theirs", "base"];
        args["resolutions"] = json!({"0": dice.pick(&choices)});
    }
    args
}
