//! An item of the log as a person reads it: who did what, what it says, and its proof.

use serde_json::{Value, json};
use understory_engine::log::{self, Entry};
use understory_model::Fault;

use crate::cli::log::{did, target};
use crate::cli::render::Render;
use crate::cli::text::Text;
use crate::cli::{Desk, Here};

/// Fields that stand in the first lines or are for programs.
const ABOVE: [&str; 10] = [
    "uuid",
    "_type",
    "realized_at",
    "canonical_at",
    "seq",
    "actor",
    "session",
    "fragments",
    "commit",
    "artifact_uuid",
];

/// Shows an item.
pub fn show(here: &Here, desk: &Desk, raw: &Value) -> Result<(), Fault> {
    let (out, clock) = (&here.out, &desk.clock);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let seq = raw["seq"].as_i64().unwrap_or_default();
    let entry = desk.engine.read(&desk.caller, |view| match view {
        Some(view) => log::at(view, seq),
        None => Ok(None),
    })?;
    let shown = desk.call("garden_get", json!({ "id": raw["item"] }))?["item"].take();
    let head = Text::new()
        .dim(format!("#{seq}  "))
        .plain(text(&raw["actor"]));
    let head = match entry.as_ref().filter(|_| shown["hidden"] != true) {
        Some(entry) => told(head, entry),
        None => head.plain(format!(" wrote a {}", text(&raw["type"]))),
    };
    out.line(head.dim(format!("  {}", clock.ago_text(&text(&raw["realized_at"])))));
    if let Some(entry) = entry.filter(|_| shown["hidden"] != true) {
        for said in [entry.text, entry.reasoning.unwrap_or_default()] {
            if !said.is_empty() {
                out.hanging(Text::from(format!("    {said}").as_str()), 4);
            }
        }
    }
    out.blank();
    let mut fields = shown.as_object().cloned().unwrap_or_default();
    fields.retain(|name, value| !ABOVE.contains(&name.as_str()) && !value.is_null());
    if !fields.is_empty() {
        let render = Render { out, clock };
        render.answer(&Value::Object(fields));
        out.blank();
    }
    if raw["content"].is_null() {
        out.hint("Its content was erased; the digest still stands for it.");
    }
    for name in [
        "item",
        "type",
        "realized_at",
        "canonical_at",
        "session",
        "digest",
        "chain",
    ] {
        let same = name == "canonical_at" && raw[name] == raw["realized_at"];
        if !same && !raw[name].is_null() {
            out.line(Text::new().dim(format!("{name:<14}{}", text(&raw[name]))));
        }
    }
    Ok(())
}

/// What was done, to what.
fn told(head: Text, entry: &Entry) -> Text {
    let head = head
        .plain(" ")
        .then(did(entry.action.as_deref().unwrap_or(&entry.kind)));
    match target(entry) {
        target if target.is_empty() => head,
        target => head.plain(" ").name(target),
    }
}
