//! The fifth act: a document is changed because of what somebody said, and later somebody asks why.

use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::garden::artifact::Made;
use understory_engine::garden::artifact::commit::Committed;
use understory_engine::garden::shown::{Fields, ItemShape};
use understory_engine::garden::timeline::add::Added;
use understory_engine::garden::timeline::undo::Undo;
use understory_engine::garden::timeline::why::Why;
use understory_engine::kernel::search;
use understory_model::Fault;
use understory_model::fragment::Fragment;

use super::{Play, read};
use crate::cli::show::garden::short;
use crate::cli::text::Text;

const GOALS: &str = "# Goals\nOne binary, no services to run.\nWe store everything in SQLite.\n";
const SAID: &str = "Use PostgreSQL for the team store: SQLite has one writer, and we have forty.";

pub fn act(play: &Play<'_>) -> Result<(), Fault> {
    play.say("The team keeps its goals in a document. Bob says what he measured.");
    let label = format!("goals_{}", play.project.replace('-', "_"));
    let made = json!({ "label": label, "content": GOALS });
    let made: Made = play.answer("ada", "garden_artifact_create", made)?;
    let said = json!({ "type": "Message", "description": SAID });
    let said: Added = play.answer("bob", "garden_add", said)?;
    let parts = fragments(&said.item);
    let parts: Vec<&str> = parts.iter().take(1).map(|part| &*part.id).collect();

    play.say("Ada changes the third line, and names what caused it.");
    let now = GOALS.replace("in SQLite", "in PostgreSQL");
    let commit = json!({
        "artifact": label, "based_on": made.artifact.head, "content": now,
        "references": parts, "caused_by": name(&said.item),
    });
    play.call("ada", "garden_artifact_commit", commit)?;

    play.say("Months later somebody asks: why does line 3 say PostgreSQL?");
    play.call("ada", "why", json!({ "id": format!("{label}:3") }))?;

    play.say(
        "A word that slipped out is taken back within five minutes, and the proof still holds.",
    );
    let slip = json!({ "type": "Note", "description": "The password is on the whiteboard." });
    let slip: Added = play.answer("bob", "garden_add", slip)?;
    play.call("bob", "garden_undo", json!({ "item": name(&slip.item) }))?;

    play.say("Nobody remembers the words that were used. What they meant is enough.");
    let meant = json!({ "query": "which database do many people write to at once", "limit": 2 });
    play.call("ada", "search", meant)?;
    Ok(())
}

/// An answer in a few lines; `None` for tools of another act.
pub fn told(tool: &str, answer: &Value) -> Option<Vec<Text>> {
    match tool {
        "garden_artifact_create" => read(answer, |made: Made| {
            let artifact = made.artifact;
            let head = short(artifact.head.as_deref().unwrap_or_default());
            let lines = format!("  {} lines  {head}", artifact.lines);
            vec![Text::new().name(artifact.label).dim(lines)]
        }),
        "garden_artifact_commit" => read(answer, |made: Committed| {
            let line = Text::new().name(short(&made.commit));
            vec![line.plain(format!("  {}", made.ops))]
        }),
        "garden_add" => read(answer, |added: Added| said(&added.item)),
        "garden_undo" => read(answer, |done: Undo| {
            vec![Text::new().dim(format!("undone {}", done.undone))]
        }),
        "why" => read(answer, |found: Why| why(&found)),
        "search" => read(answer, |found: search::Answer| {
            found.hits.iter().map(hit).collect()
        }),
        _ => None,
    }
}

/// What an item is called; one that may not be read has no name.
fn name(item: &ItemShape) -> Option<&str> {
    match item {
        ItemShape::Shown(item) => Some(&item.uuid),
        ItemShape::Hidden(_) => None,
    }
}

/// The parts of what was said.
fn fragments(item: &ItemShape) -> Vec<Fragment> {
    #[derive(Deserialize)]
    struct Said {
        fragments: Vec<Fragment>,
    }
    match item {
        ItemShape::Hidden(_) => Vec::new(),
        ItemShape::Shown(item) => match &item.fields {
            Fields::Message(message) => message.fragments.clone(),
            Fields::Change(_) => Vec::new(),
            // An item of the caller's own type has whatever fields it was given.
            Fields::Own(own) => {
                let said = Said::deserialize(Value::Object(own.fields.clone()));
                said.map(|said| said.fragments).unwrap_or_default()
            }
        },
    }
}

fn said(item: &ItemShape) -> Vec<Text> {
    let parts: Vec<Text> = fragments(item)
        .iter()
        .map(|part| {
            let line = Text::new().name(&part.id);
            line.plain(format!(" {}", part.content.trim()))
        })
        .collect();
    if parts.is_empty() {
        vec![Text::new().dim(name(item).unwrap_or_default())]
    } else {
        parts
    }
}

fn why(found: &Why) -> Vec<Text> {
    let line = found.line.as_ref().map(|line| line.content.as_str());
    let said = Text::new().bold(line.unwrap_or_default());
    let steps = found.steps.iter().map(|step| {
        let action = step.action.as_deref().unwrap_or_default();
        let who = format!("because {} {action}: ", step.actor);
        Text::new().dim(who).plain(&step.text)
    });
    std::iter::once(said).chain(steps).collect()
}

fn hit(hit: &search::Hit) -> Text {
    let line = Text::new().name(&hit.handle);
    line.dim(format!(" {} ", hit.surface))
        .plain(hit.snippet.replace("**", ""))
}
