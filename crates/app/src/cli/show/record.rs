//! A record for a person: what it says, what it is tied to, who has it active, and who changed it.

use serde_json::{Value, json};
use understory_engine::records::show;
use understory_model::Fault;
use understory_model::budget::Budget;

use super::{CHANGES, changes, show_change};
use crate::cli::here::typed;
use crate::cli::next::each;
use crate::cli::records::{draw, mark, marked};
use crate::cli::text::Text;
use crate::cli::when::Clock;
use crate::cli::{Desk, Here};

/// Whoever asks for a record by name wants it whole, however long it is.
const ROOM: usize = 16 << 20;

/// A record, what is around it, who has it active, and its last changes, in one value.
pub fn around(desk: &Desk, handle: &str) -> Result<Value, Fault> {
    let budget = Budget {
        chars: ROOM,
        ..Budget::default()
    };
    let mut answer = desk.engine.read(&desk.caller, |view| match view {
        Some(view) => show::show(view, handle, &budget),
        None => Err(understory_engine::records::nothing_yet(handle)),
    })?;
    let active = desk.call("get_active_sessions", json!({ "record_id": handle }));
    answer["sessions"] = active?["sessions"].take();
    answer["history"] = json!(changes(desk, handle, CHANGES)?);
    Ok(answer)
}

pub fn print(here: &Here, clock: &Clock, answer: &Value) {
    let out = &here.out;
    let record = &answer["record"];
    let text = |name: &str| record[name].as_str().unwrap_or_default();
    out.line(Text::new().name(text("id")).plain("  ").bold(text("title")));
    let standing = mark(text("state")).plain(text("state"));
    let standing = standing.plain(format!(" · {}", text("type")));
    out.line(standing.dim(format!(" · version {}", answer["version"])));
    out.line(text("summary"));
    out.blank();
    out.fields(0, fields(answer, clock));
    let mut children: Vec<Value> = each(&answer["children"]).cloned().collect();
    children
        .iter_mut()
        .for_each(|child| child["depth"] = 1.into());
    if !children.is_empty() {
        out.blank();
        out.line(Text::new().bold("below"));
        let children: Vec<&Value> = children.iter().collect();
        draw(&children, Some(1))
            .into_iter()
            .for_each(|line| out.cut(line));
    }
    if !text("body").is_empty() {
        out.blank();
        out.line(Text::new().bold("body"));
        text("body").lines().for_each(|line| out.line(line));
    }
    out.blank();
    out.line(Text::new().bold("last changes"));
    for entry in each(&answer["history"]) {
        if let Ok(entry) = typed(entry) {
            show_change(here, clock, &entry);
        }
    }
    if answer["truncated"] == json!(true) {
        out.hint("There is more than fits here.");
    }
}

/// What it is tied to, and since when it is there.
fn fields(answer: &Value, clock: &Clock) -> Vec<(String, Text)> {
    let record = &answer["record"];
    let mut fields = Vec::new();
    let mut field = |name: &str, value: Text| fields.push((name.to_owned(), value));
    for (name, value) in [("in", "parent"), ("resolved by", "resolved_by")] {
        if answer[value].is_object() {
            field(name, marked(&answer[value]));
        }
    }
    for (name, list) in [
        ("resolves", "resolves"),
        ("related to", "related"),
        ("related from", "related_from"),
    ] {
        each(&answer[list]).for_each(|other| field(name, marked(other)));
    }
    for (name, value) in record["metadata"].as_object().into_iter().flatten() {
        let text = value.as_str();
        field(
            name,
            Text::from(text.map_or_else(|| value.to_string(), str::to_owned)),
        );
    }
    for session in each(&answer["sessions"]) {
        let text = |name: &str| session[name].as_str().unwrap_or_default();
        let last = clock.ago_text(text("last_activity"));
        let name = Text::from(text("session_id"));
        field("active in", name.dim(format!("  last seen {last}")));
    }
    let when = |name: &str| clock.ago_text(record[name].as_str().unwrap_or_default());
    let by = answer["created_by"].as_str().unwrap_or_default();
    field(
        "created",
        Text::from(format!("{} by {by}", when("created"))),
    );
    if record["modified"] != record["created"] {
        field("modified", Text::from(when("modified")));
    }
    fields
}
