//! The fifth act: a document is changed because of what somebody said, and later somebody asks why.

use serde_json::{Value, json};
use understory_model::Fault;

use super::Play;
use crate::cli::next::each;
use crate::cli::text::Text;

const GOALS: &str = "# Goals\nOne binary, no services to run.\nWe store everything in SQLite.\n";
const SAID: &str = "Use PostgreSQL for the team store: SQLite has one writer, and we have forty.";

pub fn act(play: &Play<'_>) -> Result<(), Fault> {
    play.say("The team keeps its goals in a document. Bob says what he measured.");
    let label = format!("goals_{}", play.project.replace('-', "_"));
    let made = json!({ "label": label, "content": GOALS });
    let artifact = play.call("ada", "garden_artifact_create", made)?["artifact"].take();
    let said = json!({ "type": "Message", "description": SAID });
    let said = play.call("bob", "garden_add", said)?["item"].take();

    play.say("Ada changes the third line, and names what caused it.");
    let now = GOALS.replace("in SQLite", "in PostgreSQL");
    let commit = json!({
        "artifact": label, "based_on": artifact["head"], "content": now,
        "references": [said["fragments"][0]["id"]], "caused_by": said["uuid"],
    });
    play.call("ada", "garden_artifact_commit", commit)?;

    play.say("Months later somebody asks: why does line 3 say PostgreSQL?");
    play.call("ada", "why", json!({ "id": format!("{label}:3") }))?;

    play.say(
        "A word that slipped out is taken back within five minutes, and the proof still holds.",
    );
    let slip = json!({ "type": "Note", "description": "The password is on the whiteboard." });
    let slip = play.call("bob", "garden_add", slip)?["item"]["uuid"].take();
    play.call("bob", "garden_undo", json!({ "item": slip }))?;

    play.say("Nobody remembers the words that were used. What they meant is enough.");
    let meant = json!({ "query": "which database do many people write to at once", "limit": 2 });
    play.call("ada", "search", meant)?;
    Ok(())
}

/// An answer in a few lines; `None` for tools of another act.
pub fn told(tool: &str, answer: &Value) -> Option<Vec<Text>> {
    Some(match tool {
        "garden_artifact_create" => {
            let artifact = &answer["artifact"];
            let lines = format!(
                "  {} lines  {}",
                artifact["lines"],
                short(&artifact["head"])
            );
            vec![Text::new().name(text(artifact, "label")).dim(lines)]
        }
        "garden_artifact_commit" => {
            let line = Text::new().name(short(&answer["commit"]));
            vec![line.plain(format!("  {}", text(answer, "ops")))]
        }
        "garden_add" => added(&answer["item"]),
        "garden_undo" => vec![Text::new().dim(format!("undone {}", text(answer, "undone")))],
        "why" => why(answer),
        "search" => each(&answer["results"]).map(hit).collect(),
        _ => return None,
    })
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

fn short(commit: &Value) -> String {
    commit
        .as_str()
        .unwrap_or_default()
        .chars()
        .take(7)
        .collect()
}

fn added(item: &Value) -> Vec<Text> {
    let parts: Vec<Text> = each(&item["fragments"])
        .map(|part| {
            let line = Text::new().name(text(part, "id"));
            line.plain(format!(" {}", text(part, "content").trim()))
        })
        .collect();
    match parts.is_empty() {
        true => vec![Text::new().dim(text(item, "uuid"))],
        false => parts,
    }
}

fn why(answer: &Value) -> Vec<Text> {
    let said = Text::new().bold(text(&answer["line"], "content"));
    let steps = each(&answer["steps"]).map(|step| {
        let who = format!("because {} {}: ", text(step, "actor"), text(step, "action"));
        Text::new().dim(who).plain(text(step, "text"))
    });
    std::iter::once(said).chain(steps).collect()
}

fn hit(hit: &Value) -> Text {
    let line = Text::new().name(text(hit, "handle"));
    line.dim(format!(" {} ", text(hit, "surface")))
        .plain(text(hit, "snippet").replace("**", ""))
}
