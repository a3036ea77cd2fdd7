//! A branch and a conflict for a person: where a branch came from and what was thought on it, and
//! the sides of a conflict field by field.

use serde::Serialize;
use serde_json::json;
use understory_engine::kernel::log::{Entry, Found};
use understory_engine::reasoning::branch::Branch;
use understory_engine::reasoning::conflict_show::Conflict;
use understory_engine::reasoning::docs::Document;
use understory_engine::reasoning::graph_conflicts::{Conflicts, Line};
use understory_engine::reasoning::shape::Node;
use understory_engine::reasoning::think_context::Context;
use understory_engine::reasoning::{log, notes};
use understory_model::Fault;
use understory_model::reasoning::ConflictStatus;

use super::{CHANGES, Page, changes, show_changes};
use crate::cli::branch;
use crate::cli::branch::{MAIN, ask, sides};
use crate::cli::render::thought;
use crate::cli::render::words::count;
use crate::cli::text::{Style, Text};
use crate::cli::when::Clock;
use crate::cli::{CommandContext, Here};

/// Open conflicts that are shown.
const LISTED: usize = 100;

/// A branch, what was made from it, and its last notes.
#[derive(Serialize)]
pub struct Whole {
    /// The first branch is not in the list before anything was written.
    branch: Option<Branch>,
    current: bool,
    branches: Vec<String>,
    documents: Vec<Document>,
    cards: Vec<Node>,
    notes: Vec<log::Line>,
    conflicts: Vec<Line>,
    history: Vec<Entry>,
}

pub fn branch(context: &CommandContext, name: &str) -> Result<Whole, Fault> {
    let all = branch::all(context)?;
    let made = all
        .branches
        .iter()
        .filter(|branch| branch.base_branch.as_deref() == Some(name))
        .map(|branch| branch.name.clone())
        .collect();
    let args = json!({ "branch": name, "limit": CHANGES });
    let notes: notes::Page<log::Line> = ask(context, "branchmind_log", args)?;
    let args = json!({ "branch": name, "limit_cards": CHANGES });
    let cards: Context = ask(context, "branchmind_think_context", args)?;
    let state = branch::state(context, name)?;
    let args = json!({ "into": name, "status": "open" });
    let conflicts =
        branch::rows::<Conflicts>(context, "branchmind_graph_conflicts", &args, LISTED)?;
    let history = match name {
        // The first branch is there without anything that happened.
        MAIN => Vec::new(),
        _ => changes(context, &format!("branch:{name}"), CHANGES)?,
    };
    Ok(Whole {
        current: all.checkout.current == name,
        branch: all.branches.into_iter().find(|branch| branch.name == name),
        branches: made,
        documents: state.documents,
        cards: cards.cards,
        notes: notes.entries,
        conflicts: conflicts.rows,
        history,
    })
}

impl Whole {
    /// Where it came from, what was made from it, what it holds, and what is open in it.
    fn fields(&self, name: &str) -> Vec<(String, Text)> {
        let mut fields = Vec::new();
        let mut field = |name: &str, value: Text| fields.push((name.to_owned(), value));
        if let Some(own) = &self.branch
            && let Some(base) = &own.base_branch
        {
            let up_to = own.base_seq.unwrap_or_default();
            let text = Text::new().name(base);
            field("from", text.plain(format!(" up to #{up_to}")));
        }
        for other in &self.branches {
            field("branches", Text::new().name(other));
        }
        for document in &self.documents {
            let size = match document.entries {
                Some(entries) => count(entries, "note"),
                None => "graph".to_owned(),
            };
            let text = Text::new().plain(&document.doc);
            field("documents", text.dim(format!("  {size}")));
        }
        for Line {
            conflict_id,
            kind,
            key,
            from,
            ..
        } in &self.conflicts
        {
            let line = branch::conflict_line(conflict_id, *kind, key, from, name);
            field("open", line);
        }
        fields
    }
}

impl Page for Whole {
    fn print(&self, here: &Here, clock: &Clock) {
        let out = &here.out;
        let own = self.branch.as_ref();
        let name = own.map(|own| own.name.as_str()).unwrap_or_default();
        let title = Text::new().dim("branch ").name(name);
        out.line(if self.current {
            title.add(Style::Good, "  checked out")
        } else {
            title
        });
        out.fields(0, self.fields(name));
        if !self.cards.is_empty() {
            out.blank();
            out.line(Text::new().bold("last cards"));
        }
        for card in &self.cards {
            out.cut(thought::card(card));
        }
        if !self.notes.is_empty() {
            out.blank();
            out.line(Text::new().bold("last notes"));
        }
        for note in &self.notes {
            let line = Text::new().dim(format!("{:>10}  ", clock.ago(note.ts)));
            out.cut(line.plain(format!("{}  {}", note.agent, note.line)));
        }
        if !self.history.is_empty() {
            out.blank();
            show_changes(here, clock, &self.history);
        }
        if let Some(base) = own.and_then(|own| own.base_branch.as_deref()) {
            out.hint(format!("understory diff {base} {name}"));
        }
    }
}

/// A conflict and its last changes.
#[derive(Serialize)]
pub struct Contested {
    conflict: Conflict,
    history: Vec<Entry>,
}

pub fn conflict(context: &CommandContext, id: &str) -> Result<Contested, Fault> {
    Ok(Contested {
        conflict: branch::conflict(context, id)?,
        history: changes(context, id, CHANGES)?,
    })
}

impl Page for Contested {
    fn print(&self, here: &Here, clock: &Clock) {
        let (out, conflict) = (&here.out, &self.conflict);
        let Conflict {
            from, into, doc, ..
        } = conflict;
        out.line(branch::conflict_head(conflict, into).dim(format!(", {doc}")));
        let resolution = conflict.resolution.map(|how| how.name());
        out.line(match conflict.status {
            ConflictStatus::Open => Text::new().add(Style::Warn, "open"),
            ConflictStatus::Resolved => Text::new()
                .add(Style::Good, ConflictStatus::Resolved.name())
                .plain(format!(": {}", resolution.unwrap_or_default())),
        });
        print_sides(here, conflict);
        out.blank();
        show_changes(here, clock, &self.history);
        if conflict.status == ConflictStatus::Open {
            out.hint(format!(
                "Settle it: understory merge {from} {into} --doc {doc} --use from|into"
            ));
            if conflict.now.as_ref().is_some_and(|now| now.agree) {
                out.hint("Both sides say the same by now: the next merge closes it.");
            }
        }
    }
}

/// The sides of a conflict, field by field.
pub fn print_sides(here: &Here, conflict: &Conflict) {
    for (name, block) in sides(conflict) {
        here.out.line(Text::from("  ").bold(name));
        here.out.fields(4, block);
    }
}

/// Which branch is checked out.
#[derive(Serialize)]
pub struct CheckedOut {
    current: String,
    history: Vec<Entry>,
}

pub fn checkout(context: &CommandContext, found: &Found) -> Result<CheckedOut, Fault> {
    Ok(CheckedOut {
        current: branch::all(context)?.checkout.current,
        history: changes(context, &found.handle, CHANGES)?,
    })
}

impl Page for CheckedOut {
    fn print(&self, here: &Here, clock: &Clock) {
        let line = Text::new().name(&self.current);
        here.out.line(line.add(Style::Good, "  checked out"));
        here.out.blank();
        show_changes(here, clock, &self.history);
    }
}
