//! The second act: one agent goes on with another's reasoning, after the chat it was done in.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use understory_engine::records::activate::Activated;
use understory_engine::records::change::{Change, ChangeType};
use understory_engine::records::close::Closed;
use understory_engine::records::create::Created;
use understory_engine::records::history::{Entry, History};
use understory_engine::records::overview::Overview;
use understory_engine::records::shape::Record;
use understory_engine::records::sync::Synced;
use understory_engine::records::update::Updated;
use understory_model::Fault;
use understory_model::answer::Answer;
use understory_model::record::RecordState;

use super::Play;
use crate::cli::text::{Style, Text};

pub fn act(play: &Play<'_>) -> Result<(), Fault> {
    play.say("Ada reasons about a question, leaves a part of it open, and her chat ends.");
    let question = json!({
        "parent_id": null, "type": "question", "title": "How do we rotate keys?",
        "summary": "Nobody may be logged out by it.", "body": "Tokens live an hour.\n",
    });
    let top = created(play, question)?;
    let open = json!({
        "parent_id": top, "type": "question", "title": "How long is an old key accepted?",
        "summary": "Long enough for a token to run out.", "body": "At least an hour.\n",
    });
    let part = created(play, open)?;
    play.call(
        "ada",
        "close_session",
        json!({ "summary": "rotation is half thought through" }),
    )?;

    play.say("Bob's chat begins. One call says where the reasoning stands, one loads it.");
    play.call("bob", "get_project_overview", json!({}))?;
    play.call("bob", "activate", json!({ "id": part }))?;
    let body = "An old key is accepted for 65 minutes: a token's hour, and five for slow clocks.\n";
    play.call("bob", "update_record", json!({ "id": part, "body": body }))?;

    play.say("Ada is back and changes the same record. Bob, who did not see it, is told so.");
    play.call("ada", "activate", json!({ "id": part, "override": true }))?;
    let other = json!({ "id": part, "body": "An old key is accepted for two hours.\n" });
    play.call("ada", "update_record", other)?;
    let mine = json!({ "id": part, "title": "Old keys live 65 minutes" });
    play.call("bob", "update_record", mine)?;

    play.say("Nothing was written over. Both versions stay in its history.");
    play.call("bob", "sync_session", json!({}))?;
    play.call(
        "bob",
        "get_record_history",
        json!({ "id": part, "limit": 3 }),
    )?;
    Ok(())
}

/// Ada makes a record; tells its id.
fn created(play: &Play<'_>, fields: Value) -> Result<String, Fault> {
    let answer = play.call("ada", "create_record", fields)?;
    let made: Created = Answer::Json(answer).typed()?;
    Ok(made.record.id().to_owned())
}

/// An answer in a few lines; `None` for tools of another act.
pub fn told(tool: &str, answer: &Value) -> Option<Vec<Text>> {
    match tool {
        "create_record" => read(answer, |made: Created| {
            let record = &made.record;
            vec![titled(record.id(), record.state(), record.title())]
        }),
        "close_session" => read(answer, |closed: Closed| {
            let ids = closed.deactivated_records.join(", ");
            vec![Text::new().dim(format!("no longer active: {ids}"))]
        }),
        "get_project_overview" => read(answer, overview),
        "activate" => read(answer, activated),
        "update_record" => read(answer, updated),
        "sync_session" => read(answer, |synced: Synced| {
            synced.changes.iter().map(changed).collect()
        }),
        "get_record_history" => read(answer, |found: History| {
            found.history.iter().flat_map(event).collect()
        }),
        _ => None,
    }
}

/// What lines an answer makes; one that does not have its type is shown as it is.
fn read<T: DeserializeOwned>(answer: &Value, lines: fn(T) -> Vec<Text>) -> Option<Vec<Text>> {
    Answer::Json(answer.clone()).typed().ok().map(lines)
}

fn titled(id: &str, state: RecordState, title: &str) -> Text {
    Text::new().name(id).dim(format!(" {state} ")).plain(title)
}

fn whole(record: &Record) -> Text {
    titled(&record.id, record.state, &record.title)
}

fn overview(found: Overview) -> Vec<Text> {
    let open = found.open_records.iter();
    let open = open.map(|record| titled(&record.id, record.state, &record.title));
    let last = found.recent_activity.iter().take(1);
    let last = last.map(|last| Text::new().dim(format!("last: {}", last.summary)));
    open.chain(last).collect()
}

fn activated(found: Activated) -> Vec<Text> {
    let context = &found.context;
    let mut lines = Vec::new();
    if let Some(parent) = &context.parent {
        lines.push(Text::new().dim("under ").then(whole(parent)));
    }
    lines.push(whole(&context.target));
    lines.push(Text::new().dim(context.target.body.trim_end()));
    lines
}

fn updated(found: Updated) -> Vec<Text> {
    match &found.conflict {
        Some(conflict) => {
            let line = Text::new().add(Style::Bad, "conflict").plain(": ");
            let first = conflict.message.split(". ").next().unwrap_or_default();
            let theirs = conflict.other_version.body.trim_end();
            vec![
                line.plain(first),
                Text::new().dim(format!("theirs: {theirs}")),
            ]
        }
        None => {
            let record = &found.record;
            vec![titled(record.id(), record.state(), record.title())]
        }
    }
}

fn changed(change: &Change) -> Text {
    let kind = match change.change_type {
        ChangeType::Created => "created",
        ChangeType::StateChanged => "state_changed",
        ChangeType::Modified => "modified",
    };
    Text::new()
        .name(&change.record_id)
        .plain(format!(" {kind} by {}", change.by_agent))
        .dim(format!("  at tick {}", change.at_tick))
}

fn event(event: &Entry) -> Vec<Text> {
    let head = Text::from(format!("{} {}", event.agent, event.summary));
    let diff = event.diff.as_deref().unwrap_or_default().lines();
    let diff = diff.filter(|line| {
        line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
    });
    let diff = diff.map(|line| Text::new().dim(format!("  {line}")));
    std::iter::once(head).chain(diff).collect()
}
