//! What was thought about a task or a plan: its last notes, what its trace tells, its cards. Each
//! shortened, with the command that shows all of it.

use serde::Serialize;
use serde_json::json;
use understory_engine::reasoning::notes::Page;
use understory_engine::reasoning::shape::{Entry, Node};
use understory_engine::reasoning::think_context::Context;
use understory_model::Fault;

use crate::cli::branch::ask;
use crate::cli::render::thought;
use crate::cli::text::Text;
use crate::cli::when::Clock;
use crate::cli::{CommandContext, Here};

/// Entries and cards that are shown of each.
const SHOWN: usize = 3;

/// The last notes, trace entries and cards of a node, one more of each than is shown.
#[derive(Serialize)]
pub struct Thoughts {
    notes: Vec<Entry>,
    trace: Vec<Entry>,
    cards: Vec<Node>,
}

pub fn of(context: &CommandContext, handle: &str) -> Result<Thoughts, Fault> {
    // The one more says that there is more.
    let entries = |kind: &str| -> Result<Vec<Entry>, Fault> {
        let args = json!({ "target": handle, "doc_kind": kind, "limit": SHOWN + 1 });
        let page: Page<Entry> = ask(context, "branchmind_show", args)?;
        Ok(page.entries)
    };
    let (notes, trace) = (entries("notes")?, entries("trace")?);
    let args = json!({ "target": handle, "limit_cards": SHOWN + 1 });
    let found: Context = ask(context, "branchmind_think_context", args)?;
    Ok(Thoughts {
        notes,
        trace,
        cards: found.cards,
    })
}

impl Thoughts {
    pub fn print(&self, here: &Here, clock: &Clock, handle: &str) {
        // Entries come with the newest last, cards with the newest first.
        let last = |entries: &[Entry]| -> Vec<Text> {
            let shown = &entries[entries.len().saturating_sub(SHOWN)..];
            shown.iter().map(|one| entry(one, clock)).collect()
        };
        let cards = self.cards.iter().take(SHOWN).map(thought::card).collect();
        let parts = [
            ("notes", "last notes", self.notes.len(), last(&self.notes)),
            ("trace", "trace", self.trace.len(), last(&self.trace)),
            ("cards", "last cards", self.cards.len(), cards),
        ];
        let out = &here.out;
        for (command, heading, all, lines) in parts {
            if lines.is_empty() {
                continue;
            }
            out.blank();
            out.line(Text::new().bold(heading));
            lines.into_iter().for_each(|line| out.cut(line));
            if all > SHOWN {
                out.hint(format!("All of them: understory {command} {handle}"));
            }
        }
    }
}

fn entry(entry: &Entry, clock: &Clock) -> Text {
    let line = Text::new().dim(format!("{:>10}  ", clock.ago(entry.ts)));
    let said = entry
        .content
        .as_deref()
        .and_then(|text| text.lines().next());
    let said = said.unwrap_or_default();
    let agent = entry.agent.as_deref().unwrap_or_default();
    let line = line.plain(format!("{agent}  "));
    match entry.title.as_deref() {
        None | Some("") => line.plain(said),
        Some(title) => line.bold(title).plain(format!("  {said}")),
    }
}
