//! An item of the log as a person reads it: who did what, what it says, and its proof.

use serde_json::Value;
use understory_engine::garden::shown::ItemShape;
use understory_engine::garden::timeline::get::Got;
use understory_engine::kernel::log::{self, Entry, Raw};
use understory_model::Fault;
use understory_model::answer::json_of;

use super::garden;
use crate::cli::log::{did, target};
use crate::cli::render::Render;
use crate::cli::text::Text;
use crate::cli::{CommandContext, Here};

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
pub fn show(here: &Here, context: &CommandContext, raw: &Raw) -> Result<(), Fault> {
    let (out, clock) = (&here.out, &context.clock);
    let seq = raw.seq;
    let entry = context
        .engine
        .view(&context.caller, |view| log::at(view, seq))?;
    let shown = match garden::get(context, &raw.item)? {
        Got::Item { item } => Some(item),
        _ => None,
    };
    // What the caller may not read is not told in words either.
    let entry = entry.filter(|_| !matches!(shown, Some(ItemShape::Hidden(_))));
    let head = Text::new().dim(format!("#{seq}  ")).plain(&raw.actor);
    let head = match &entry {
        Some(entry) => told(head, entry),
        None => head.plain(format!(" wrote a {}", raw.kind)),
    };
    out.line(head.dim(format!("  {}", clock.ago(raw.realized_at))));
    if let Some(entry) = entry {
        for said in [entry.text, entry.reasoning.unwrap_or_default()] {
            if !said.is_empty() {
                out.hanging(Text::from(format!("    {said}").as_str()), 4);
            }
        }
    }
    out.blank();
    let Value::Object(mut fields) = json_of(&shown)? else {
        return Ok(());
    };
    fields.retain(|name, value| !ABOVE.contains(&name.as_str()) && !value.is_null());
    if !fields.is_empty() {
        let render = Render { out, clock };
        render.answer(&Value::Object(fields));
        out.blank();
    }
    if raw.content.is_none() {
        out.hint("Its content was erased; the digest still stands for it.");
    }
    let canonical = (raw.canonical_at != raw.realized_at).then(|| raw.canonical_at.to_string());
    for (name, value) in [
        ("item", Some(&raw.item)),
        ("type", Some(&raw.kind)),
        ("realized_at", Some(&raw.realized_at.to_string())),
        ("canonical_at", canonical.as_ref()),
        ("session", Some(&raw.session)),
        ("digest", Some(&raw.digest)),
        ("chain", Some(&raw.chain)),
    ] {
        if let Some(value) = value {
            out.line(Text::new().dim(format!("{name:<14}{value}")));
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
