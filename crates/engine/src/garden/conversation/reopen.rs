//! `garden_reopen`: going on from a conversation that was over, which itself stays as it was.

use serde_json::{Map, Value};
use understory_model::error::{Fault, Result};
use understory_model::text::cut;
use understory_model::{Id, Seq};
use understory_storage::logs::Frame;

use crate::Work;
use crate::garden::conversation::fork::Begun;
use crate::garden::conversation::frame::stand;
use crate::garden::conversation::log::{New, create, named, row, shape};
use crate::garden::relation::relate;
use crate::garden::system::{about, report};
use crate::garden::timeline::add;
use crate::kernel::content::event::Event;
use crate::kernel::content::relation;
use crate::kernel::titles::log_of;
use crate::kinds::NOTE;

/// Characters of the old summary that the new conversation begins with.
const QUOTED: usize = 120;

pub fn reopen(work: &mut Work<'_, '_>, project: Option<&str>, log: &str) -> Result<Begun> {
    let ws = work.ws();
    let (project, old) = named(work, project, "log", log)?;
    if row(work.read()?, ws, old)?.open {
        return Err(Fault::conflict("the conversation is active")
            .hint("garden_fork branches off it; garden_frame moves you there."));
    }
    let words = quoted(work, old)?;
    let name = log_of(work.read()?, ws, old)?;
    let title = work.thing(old)?.data.get("title").cloned();
    let new = create(
        work,
        New {
            project,
            parent: old,
            continues: true,
            title: title.as_ref().and_then(Value::as_str).map(str::to_string),
        },
    )?;
    continues(work, new, old)?;
    let words = format!(
        "Continues [{words}]({})",
        name.as_deref().unwrap_or_default()
    );
    let head = begin(work, project, new, words)?;
    let data = work.thing(old)?.data.clone();
    report(
        work,
        (project, new),
        Event::BranchReopened,
        &about(name, &data),
    )?;
    let frame = Frame {
        project,
        participant: work.caller.agent.clone(),
        log: new,
        head: Some(head),
    };
    let frame = stand(work, frame)?;
    let thing = work.thing(new)?.clone();
    let log = shape(work.read()?, ws, &thing)?;
    Ok(Begun { log, frame })
}

/// How the old summary begins, without what would end a reference or begin another.
fn quoted(work: &mut Work<'_, '_>, old: Id) -> Result<String> {
    let summary = work.thing(old)?.data.get("summary").cloned();
    let told = summary.unwrap_or_default()["content"].clone();
    let plain: String = told
        .as_str()
        .unwrap_or_default()
        .chars()
        .filter(|c| !matches!(c, '[' | ']' | '(' | ')' | '^' | '@'))
        .collect();
    Ok(cut(&plain, QUOTED))
}

/// Says that the new conversation goes on from the old.
fn continues(work: &mut Work<'_, '_>, new: Id, old: Id) -> Result<()> {
    relate::by_server(work, relation::CONTINUES, new, old)?;
    Ok(())
}

/// The first item of the new conversation.
fn begin(work: &mut Work<'_, '_>, project: Id, log: Id, words: String) -> Result<Seq> {
    let mut fields = Map::new();
    fields.insert("description".into(), words.into());
    add::append(work, project, log, NOTE, fields, None)
}
