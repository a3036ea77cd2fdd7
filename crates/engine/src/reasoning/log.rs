//! `branchmind_log`: a document with one line an entry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::Result;
use understory_model::reasoning::EntryKind;
use understory_model::{Seq, Time, Ws};
use understory_storage::ReadTx;

use super::place::Place;
use super::shape::Asked;
use super::shape::{self, Row};

use super::notes::Page;
use super::show::show;

/// An entry in one line.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    pub seq: Seq,
    pub ts: Time,
    pub kind: EntryKind,
    pub agent: String,
    pub line: String,
}

impl Row for Line {
    fn seq(&self) -> Seq {
        self.seq
    }
}

/// `branchmind_log`: one line an entry.
pub fn lines(tx: &mut ReadTx<'_>, ws: Ws, place: Place, asked: Asked) -> Result<Page<Line>> {
    let page = show(tx, ws, place, asked)?;
    let entries = page.entries.into_iter().map(|entry| Line {
        seq: entry.seq,
        ts: entry.ts,
        kind: entry.kind,
        line: line(&entry),
        agent: entry.agent.unwrap_or_default(),
    });
    Ok(Page {
        entries: entries.collect(),
        branch: page.branch,
        doc: page.doc,
        pagination: page.pagination,
        documents: page.documents,
        truncated: page.truncated,
    })
}

/// What an entry says first.
fn line(entry: &shape::Entry) -> String {
    const LINE: usize = 120;
    let title = entry.title.as_deref().unwrap_or_default();
    let content = entry.content.as_deref().unwrap_or_default();
    let first = content
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let whole = match (title.is_empty(), first.is_empty()) {
        (true, _) => first.to_string(),
        (false, true) => title.to_string(),
        (false, false) => format!("{title}: {first}"),
    };
    let whole: String = whole
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if whole.chars().count() > LINE {
        format!("{}…", whole.chars().take(LINE - 1).collect::<String>())
    } else {
        whole
    }
}
