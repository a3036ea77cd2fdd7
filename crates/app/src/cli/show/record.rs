//! A record for a person: what it says, what it is tied to, who has it active, and who changed it.

use serde::Serialize;
use understory_engine::kernel::log::Entry;
use understory_engine::records::sessions::{self, ActiveSession};
use understory_engine::records::shape::Reference;
use understory_engine::records::show::{self, Shown};
use understory_engine::records::tree::Branch;
use understory_model::budget::Budget;
use understory_model::{Fault, answer};

use super::{CHANGES, Page, changes, show_changes};
use crate::cli::records::{draw, mark, marked};
use crate::cli::text::Text;
use crate::cli::when::Clock;
use crate::cli::{CommandContext, Here};

/// A record that was asked for by name is shown in full, however long it is.
const ROOM: usize = 16 << 20;

/// A record, what is around it, who has it active, and its last changes.
#[derive(Serialize)]
pub struct Around {
    #[serde(flatten)]
    shown: Shown,
    sessions: Vec<ActiveSession>,
    history: Vec<Entry>,
}

pub fn around(context: &CommandContext, handle: &str) -> Result<Around, Fault> {
    let budget = Budget {
        chars: ROOM,
        ..Budget::default()
    };
    let (shown, active) = context.engine.view(&context.caller, |view| {
        let shown = show::show(view, handle, &budget)?;
        Ok((shown, sessions::working_on(view, None, handle)?))
    })?;
    Ok(Around {
        shown: answer::fit(shown, &budget)?.typed()?,
        sessions: active.sessions,
        history: changes(context, handle, CHANGES)?,
    })
}

impl Page for Around {
    fn print(&self, here: &Here, clock: &Clock) {
        let out = &here.out;
        let record = &self.shown.record;
        let title = Text::new().name(&record.id).plain("  ");
        out.line(title.bold(record.title.as_str()));
        let standing = mark(record.state).plain(record.state.as_str());
        let standing = standing.plain(format!(" · {}", record.kind));
        out.line(standing.dim(format!(" · version {}", self.shown.version)));
        out.line(record.summary.as_str());
        out.blank();
        out.fields(0, self.fields(clock));
        let children: Vec<Branch> = self.shown.children.iter().map(below).collect();
        if !children.is_empty() {
            out.blank();
            out.line(Text::new().bold("below"));
            draw(&children, Some(1))
                .into_iter()
                .for_each(|line| out.cut(line));
        }
        if !record.body.is_empty() {
            out.blank();
            out.line(Text::new().bold("body"));
            record.body.lines().for_each(|line| out.line(line));
        }
        out.blank();
        show_changes(here, clock, &self.history);
        if self.shown.truncated {
            out.hint("There is more than fits here.");
        }
    }
}

impl Around {
    /// What it is tied to, and since when it is there.
    fn fields(&self, clock: &Clock) -> Vec<(String, Text)> {
        let (shown, record) = (&self.shown, &self.shown.record);
        let mut fields = Vec::new();
        let mut field = |name: &str, value: Text| fields.push((name.to_owned(), value));
        for (name, value) in [("in", &shown.parent), ("resolved by", &shown.resolved_by)] {
            if let Some(value) = value {
                field(name, marked(value));
            }
        }
        for (name, list) in [
            ("resolves", &shown.resolves),
            ("related to", &shown.related),
            ("related from", &shown.related_from),
        ] {
            list.iter().for_each(|other| field(name, marked(other)));
        }
        for (name, value) in record.metadata.iter().flatten() {
            let text = value.as_str();
            field(
                name,
                Text::from(text.map_or_else(|| value.to_string(), str::to_owned)),
            );
        }
        for session in &self.sessions {
            let (name, last) = match session {
                ActiveSession::OnRecord(one) => (&one.holder.session_id, one.holder.last_activity),
                ActiveSession::Here(one) => (&one.session_id, one.last_seen),
            };
            let last = clock.ago(last);
            let name = Text::from(name.as_str());
            field("active in", name.dim(format!("  last seen {last}")));
        }
        let created = format!("{} by {}", clock.ago(record.created), shown.created_by);
        field("created", Text::from(created));
        if record.modified != record.created {
            field("modified", Text::from(clock.ago(record.modified)));
        }
        fields
    }
}

/// A record below another, as the tree draws it.
fn below(child: &Reference) -> Branch {
    Branch {
        record: child.clone(),
        depth: 1,
        context: false,
        active_in: Vec::new(),
    }
}
