//! The second act: one agent goes on with another's reasoning, after the chat it was done in.

use serde_json::{Value, json};
use understory_model::Fault;

use super::Play;
use crate::cli::next::each;
use crate::cli::text::{Style, Text};

pub fn act(play: &Play<'_>) -> Result<(), Fault> {
    play.say("Ada reasons about a question, leaves a part of it open, and her chat ends.");
    let question = json!({
        "parent_id": null, "type": "question", "title": "How do we rotate keys?",
        "summary": "Nobody may be logged out by it.", "body": "Tokens live an hour.\n",
    });
    let top = record(&play.call("ada", "create_record", question)?);
    let open = json!({
        "parent_id": top, "type": "question", "title": "How long is an old key accepted?",
        "summary": "Long enough for a token to run out.", "body": "At least an hour.\n",
    });
    let part = record(&play.call("ada", "create_record", open)?);
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

fn record(answer: &Value) -> String {
    answer["record"]["id"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// An answer in a few lines; `None` for tools of another act.
pub fn told(tool: &str, answer: &Value) -> Option<Vec<Text>> {
    Some(match tool {
        "create_record" => vec![titled(&answer["record"])],
        "close_session" => vec![closed(answer)],
        "get_project_overview" => overview(answer),
        "activate" => activated(answer),
        "update_record" => updated(answer),
        "sync_session" => each(&answer["changes"]).map(changed).collect(),
        "get_record_history" => each(&answer["history"]).flat_map(event).collect(),
        _ => return None,
    })
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

fn titled(record: &Value) -> Text {
    let state = format!(" {} ", text(record, "state"));
    Text::new()
        .name(text(record, "id"))
        .dim(state)
        .plain(text(record, "title"))
}

fn closed(answer: &Value) -> Text {
    let ids: Vec<&str> = each(&answer["deactivated_records"])
        .filter_map(Value::as_str)
        .collect();
    Text::new().dim(format!("no longer active: {}", ids.join(", ")))
}

fn overview(answer: &Value) -> Vec<Text> {
    let open = each(&answer["open_records"]).map(titled);
    let last = each(&answer["recent_activity"]).take(1);
    let last = last.map(|last| Text::new().dim(format!("last: {}", text(last, "summary"))));
    open.chain(last).collect()
}

fn activated(answer: &Value) -> Vec<Text> {
    let context = &answer["context"];
    let mut lines = Vec::new();
    if context["parent"].is_object() {
        lines.push(Text::new().dim("under ").then(titled(&context["parent"])));
    }
    lines.push(titled(&context["target"]));
    lines.push(Text::new().dim(text(&context["target"], "body").trim_end()));
    lines
}

fn updated(answer: &Value) -> Vec<Text> {
    match answer.get("conflict") {
        Some(conflict) => {
            let line = Text::new().add(Style::Bad, "conflict").plain(": ");
            let other = text(&conflict["other_version"], "body")
                .trim_end()
                .to_owned();
            vec![
                line.plain(
                    text(conflict, "message")
                        .split(". ")
                        .next()
                        .unwrap_or_default(),
                ),
                Text::new().dim(format!("theirs: {other}")),
            ]
        }
        None => vec![titled(&answer["record"])],
    }
}

fn changed(change: &Value) -> Text {
    let line = Text::new().name(text(change, "record_id"));
    line.plain(format!(
        " {} by {}",
        text(change, "change_type"),
        text(change, "by_agent")
    ))
    .dim(format!("  at tick {}", change["at_tick"]))
}

fn event(event: &Value) -> Vec<Text> {
    let head = Text::from(format!(
        "{} {}",
        text(event, "agent"),
        text(event, "summary")
    ));
    let diff = text(event, "diff").lines();
    let diff = diff.filter(|line| {
        line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
    });
    let diff = diff.map(|line| Text::new().dim(format!("  {line}")));
    std::iter::once(head).chain(diff).collect()
}
