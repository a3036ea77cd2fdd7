//! `reader_propose`: other words for some lines, which somebody may accept or reject.

use serde_json::{Map, Value, json};
use understory_model::error::{Fault, Result};
use understory_model::id::HandleKind;
use understory_model::limits;
use understory_model::lines::split;
use understory_model::text::check_text;

use super::{Open, Operation, Setting, name_of, open, record};
use crate::Work;
use crate::core::Thing;
use crate::projection::PROPOSAL;
use crate::work::Create;

/// Words of a proposal that stand in an item beside it.
#[derive(Debug, Clone)]
pub struct Proposal {
    pub artifact: String,
    pub start: i64,
    pub end: i64,
    /// What stands there instead; nothing takes the lines away.
    pub content: String,
    pub reasoning: String,
}

pub fn check_proposal(wish: &Proposal) -> Result<()> {
    check_text("content", &wish.content, limits::BODY_BYTES, true)?;
    check_text("reasoning", &wish.reasoning, limits::TEXT_CHARS, false)
}

pub fn propose(work: &mut Work<'_, '_>, setting: &Setting, wish: &Proposal) -> Result<Value> {
    let open = open(work, setting, &wish.artifact)?;
    let range = open.room(wish.start, wish.end)?;
    let now: Vec<&str> = open.version.lines[range]
        .iter()
        .map(|line| line.bare())
        .collect();
    if split(&wish.content).0 == now {
        let problem = match now.is_empty() {
            true => "is empty: nothing would be inserted",
            false => "is what stands there already",
        };
        return Err(Fault::invalid("content", problem));
    }
    let number = work.core.next_number(work.tx, HandleKind::Proposal)?;
    let handle = HandleKind::Proposal.handle(number);
    let seq = note(work, setting, &open, wish, &handle)?;
    work.caused_by(seq);
    let mut data = Map::new();
    data.insert("artifact".into(), open.found.name.clone().into());
    data.insert("label".into(), open.label().into());
    data.insert("start".into(), wish.start.into());
    data.insert("end".into(), wish.end.into());
    data.insert("content".into(), wish.content.clone().into());
    data.insert("reasoning".into(), wish.reasoning.clone().into());
    data.insert("based_on".into(), open.hash().into());
    data.insert("status".into(), "open".into());
    let id = work.create(Create {
        kind: PROPOSAL,
        handle,
        project: Some(open.project()),
        data,
        ..Create::default()
    })?;
    let item = name_of(work, seq)?;
    Ok(json!({ "proposal": shape(work.thing(id)?), "item": item }))
}

/// Writes down that the caller proposed it.
fn note(
    work: &mut Work<'_, '_>,
    setting: &Setting,
    open: &Open,
    wish: &Proposal,
    handle: &str,
) -> Result<i64> {
    let mut params = open.params();
    params.insert("start".into(), wish.start.into());
    params.insert("end".into(), wish.end.into());
    params.insert("content".into(), wish.content.clone().into());
    params.insert("reasoning".into(), wish.reasoning.clone().into());
    let output = json!({ "proposal": handle, "commit": open.hash() });
    record(
        work,
        open.project(),
        setting,
        Operation::Propose,
        params,
        output,
    )
}

/// A proposal as it is shown.
pub fn shape(thing: &Thing) -> Value {
    let mut shape = json!({
        "id": thing.entity.handle,
        "proposed_by": thing.entity.created_by,
        "created_at": thing.entity.created_at.to_string(),
    });
    for (field, value) in &thing.data {
        shape[field] = value.clone();
    }
    shape
}
