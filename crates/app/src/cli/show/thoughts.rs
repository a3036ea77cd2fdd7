//! What was thought about a task or a plan: its last notes, what its trace tells, its cards. Each
//! shortened, with the command that shows all of it.

use serde_json::{Value, json};
use understory_model::Fault;

use crate::cli::branch::ask;
use crate::cli::next::each;
use crate::cli::text::Text;
use crate::cli::when::Clock;
use crate::cli::{Desk, Here};

/// Entries and cards that are shown of each.
const SHOWN: usize = 3;

/// A part of it: its name in the answer and at a shell, and its heading.
const PARTS: [(&str, &str); 3] = [
    ("notes", "last notes"),
    ("trace", "trace"),
    ("cards", "last cards"),
];

/// The last notes, trace entries and cards of a node, one more of each than is shown.
pub fn of(desk: &Desk, handle: &str) -> Result<Value, Fault> {
    // The one more says that there is more.
    let entries = |kind: &str| {
        let args = json!({ "target": handle, "doc_kind": kind, "limit": SHOWN + 1 });
        ask(desk, "branchmind_show", args)
    };
    let (mut notes, mut trace) = (entries("notes")?, entries("trace")?);
    let args = json!({ "target": handle, "limit_cards": SHOWN + 1 });
    let mut cards = ask(desk, "branchmind_think_context", args)?;
    Ok(json!({
        "notes": notes["entries"].take(),
        "trace": trace["entries"].take(),
        "cards": cards["cards"].take(),
    }))
}

pub fn print(here: &Here, clock: &Clock, handle: &str, thoughts: &Value) {
    let out = &here.out;
    for (part, heading) in PARTS {
        let all: Vec<&Value> = each(&thoughts[part]).collect();
        if all.is_empty() {
            continue;
        }
        out.blank();
        out.line(Text::new().bold(heading));
        // Entries come with the newest last, cards with the newest first.
        let shown = match part {
            "cards" => &all[..all.len().min(SHOWN)],
            _ => &all[all.len().saturating_sub(SHOWN)..],
        };
        for one in shown {
            out.cut(match part {
                "cards" => card(one),
                _ => entry(one, clock),
            });
        }
        if all.len() > SHOWN {
            out.hint(format!("All of them: understory {part} {handle}"));
        }
    }
}

fn entry(entry: &Value, clock: &Clock) -> Text {
    let text = |name: &str| entry[name].as_str().unwrap_or_default();
    let line = Text::new().dim(format!("{:>10}  ", clock.ago_text(text("ts"))));
    let said = text("content").lines().next().unwrap_or_default();
    let line = line.plain(format!("{}  ", text("agent")));
    match text("title") {
        "" => line.plain(said),
        title => line.bold(title).plain(format!("  {said}")),
    }
}

fn card(card: &Value) -> Text {
    let text = |name: &str| card[name].as_str().unwrap_or_default();
    let line = Text::from("  ").name(text("id"));
    let line = line.dim(format!("  {}  ", text("type")));
    line.plain(format!("{}  {}", text("title"), text("status")))
}
