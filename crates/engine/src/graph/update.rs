//! `graph_update`: nodes changed, all of them or none, and what that unblocked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::json_of;
use understory_model::delta::{self, merge_patch};
use understory_model::error::{Fault, Result};
use understory_model::text::check_text;
use understory_model::{Id, Seq, limits};
use understory_storage::items;

use crate::Work;
use crate::graph::plan::{check_links, check_properties};
use crate::graph::{claim, find_to_change, shape};
use crate::kernel::batch::{at, check_batch};
use crate::kernel::content::brief::{self, Brief};
use crate::kernel::content::node::{self as fields, Evidence};
use crate::kernel::work::Edit;

type Data = Map<String, Value>;

/// A change of one node; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct Update {
    pub node: String,
    pub expected_rev: Option<i64>,
    pub resolved: Option<bool>,
    /// `Some(Null)` takes the state away.
    pub state: Option<Value>,
    pub summary: Option<String>,
    pub properties: Map<String, Value>,
    pub add_links: Vec<String>,
    pub remove_links: Vec<String>,
    pub add_evidence: Vec<(String, String)>,
    pub reason: Option<String>,
    /// Take it, or give it back.
    pub claim: Option<bool>,
}

/// The answer of `graph_update`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Updated {
    pub updated: Vec<Rev>,
    /// What this call made actionable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newly_actionable: Vec<Brief>,
}

/// What became of one node.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Rev {
    pub node_id: String,
    pub rev: i64,
    /// The update said what was so already; nothing was written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
}

pub fn update(work: &mut Work<'_, '_>, updates: &[Update]) -> Result<Updated> {
    check_batch("updates", updates.len())?;
    let mut updated = Vec::with_capacity(updates.len());
    for (index, update) in updates.iter().enumerate() {
        let field = format!("updates[{index}]");
        let node = format_args!("{field}.node_id");
        let id = at(node, find_to_change(work, &update.node))?;
        let before = work.thing(id)?.entity.version;
        let rev = change(work, id, update, &field)?;
        updated.push(Rev {
            node_id: update.node.clone(),
            rev,
            unchanged: rev == before,
        });
    }
    let newly_actionable = newly_actionable(work)?;
    Ok(Updated {
        updated,
        newly_actionable,
    })
}

/// What this call made actionable.
pub fn newly_actionable(work: &mut Work<'_, '_>) -> Result<Vec<Brief>> {
    let ids = work.newly_actionable()?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let ws = work.ws();
    brief::briefs(work.read()?, ws, &ids)
}

/// Changes one node, and tells its rev; an update that changes nothing is not written.
fn change(work: &mut Work<'_, '_>, id: Id, update: &Update, field: &str) -> Result<i64> {
    check(update, field)?;
    expect_rev(work, id, update, field)?;
    let thing = work.thing(id)?;
    let (before, rev) = (thing.data.clone(), thing.entity.version);
    let mut data = before.clone();
    let mut properties = update.properties.clone();
    let given_back = claim::take_out(format_args!("{field}.properties"), &mut properties, &before)?;
    set_fields(&mut data, update, &properties);
    set_links(&mut data, update, field)?;
    add_evidence(work, &mut data, update, field)?;
    let (was, is) = (fields::resolved(&before), fields::resolved(&data));
    if was && !is {
        reopen(&mut data, &before);
    }
    let mut action = match (was, is) {
        (false, true) => "resolved",
        (true, false) => "reopened",
        _ => "updated",
    };
    let only_claim = delta::diff(&before, &data).is_empty();
    match update.claim.or(given_back.then_some(false)) {
        Some(true) => {
            take(work, id, &mut data, (was && !is, was && is), field)?;
            action = if only_claim { "claimed" } else { action };
        }
        Some(false) if fields::claim(&data).is_some() => {
            release(work, id, &mut data, is, field)?;
            action = if only_claim { "released" } else { action };
        }
        // Work by the holder renews the claim; once it is done, the claim says who did it and when
        // that began.
        None if !only_claim && !is && claim::is_own(work, &data) => {
            claim::set(&mut data, &work.caller.agent, &work.session, work.now);
        }
        _ => {}
    }
    if delta::diff(&before, &data).is_empty() {
        return Ok(rev);
    }
    work.change(
        id,
        Edit {
            action,
            data: Some(data),
            reason: update.reason.clone(),
            ..Edit::default()
        },
    )
}

/// A reopened node is nobody's, and no longer dropped.
fn reopen(data: &mut Data, before: &Data) {
    claim::clear(data);
    if fields::dropped(before) {
        data.insert(fields::DROPPED.into(), false.into());
    }
}

fn take(
    work: &mut Work<'_, '_>,
    id: Id,
    data: &mut Data,
    (reopened, done): (bool, bool),
    field: &str,
) -> Result<()> {
    if done {
        let handle = work.named(id)?.handle;
        return Err(Fault::conflict(format!("{field}: {handle} is done"))
            .detail("field", format!("{field}.claim"))
            .hint("Reopen it with resolved: false in the same update."));
    }
    if !reopened {
        at(format!("{field}.claim"), claim::check_take(work, id))?;
    }
    claim::set(data, &work.caller.agent, &work.session, work.now);
    Ok(())
}

fn release(
    work: &mut Work<'_, '_>,
    id: Id,
    data: &mut Data,
    done: bool,
    field: &str,
) -> Result<()> {
    if done {
        let handle = work.named(id)?.handle;
        return Err(Fault::conflict(format!(
            "{field}: {handle} is done: its claim says who did it"
        ))
        .detail("field", format!("{field}.claim"))
        .hint("Reopen it with resolved: false, which takes the claim away."));
    }
    at(format!("{field}.claim"), claim::check_release(work, id))?;
    claim::clear(data);
    Ok(())
}

fn check(update: &Update, field: &str) -> Result<()> {
    if let Some(summary) = &update.summary {
        let at = format_args!("{field}.summary");
        check_text(at, summary, limits::LINE_CHARS, false)?;
    }
    if let Some(reason) = &update.reason {
        let at = format_args!("{field}.reason");
        check_text(at, reason, limits::TEXT_CHARS, false)?;
    }
    check_properties(format_args!("{field}.properties"), &update.properties)?;
    check_links(format_args!("{field}.add_context_links"), &update.add_links)?;
    for (position, (kind, reference)) in update.add_evidence.iter().enumerate() {
        let field = format_args!("{field}.add_evidence[{position}]");
        check_text(
            format_args!("{field}.type"),
            kind,
            limits::NAME_CHARS,
            false,
        )?;
        let at = format_args!("{field}.ref");
        check_text(at, reference, limits::TEXT_CHARS, false)?;
    }
    Ok(())
}

fn expect_rev(work: &mut Work<'_, '_>, id: Id, update: &Update, field: &str) -> Result<()> {
    let rev = work.thing(id)?.entity.version;
    match update.expected_rev {
        Some(expected) if expected != rev => {
            let ws = work.ws();
            let current = shape::load(work.read()?, ws, id)?;
            let last = items::of_entity(work.read()?, ws, id, Seq::MAX, 1)?.pop();
            let fault = Fault::conflict(format!(
                "{field}: {} is at rev {rev}, not {expected}: somebody changed it",
                update.node
            ))
            .detail("field", format!("{field}.expected_rev"))
            .detail("current", &current)
            .hint("Look at error.details.current, then update with its rev.");
            Err(match last {
                Some(last) => fault
                    .detail("changed_by", &last.actor)
                    .detail("changed_at", last.realized_at),
                None => fault,
            })
        }
        _ => Ok(()),
    }
}

fn set_fields(data: &mut Data, update: &Update, wanted: &Data) {
    if let Some(resolved) = update.resolved {
        data.insert("resolved".into(), resolved.into());
    }
    match &update.state {
        None => {}
        Some(Value::Null) => {
            data.remove("state");
        }
        Some(state) => {
            data.insert("state".into(), state.clone());
        }
    }
    if let Some(summary) = &update.summary {
        data.insert("summary".into(), summary.clone().into());
    }
    if let Some(properties) = fields::properties_mut(data) {
        merge_patch(properties, wanted);
    }
}

/// Links are added, then removed; one that is there already is not added twice.
fn set_links(data: &mut Data, update: &Update, field: &str) -> Result<()> {
    let Some(links) = fields::list_mut(data, fields::CONTEXT_LINKS) else {
        return Ok(());
    };
    for link in &update.add_links {
        if !links.iter().any(|there| there == link) {
            links.push(link.clone().into());
        }
    }
    links.retain(|there| !update.remove_links.iter().any(|link| there == link));
    if links.len() > limits::LIST_LEN {
        return Err(Fault::invalid(
            format!("{field}.add_context_links"),
            format!("a node has at most {} links", limits::LIST_LEN),
        ));
    }
    Ok(())
}

fn add_evidence(work: &Work<'_, '_>, data: &mut Data, update: &Update, field: &str) -> Result<()> {
    let Some(evidence) = fields::list_mut(data, fields::EVIDENCE) else {
        return Ok(());
    };
    for (kind, reference) in &update.add_evidence {
        evidence.push(json_of(&piece(work, kind, reference))?);
    }
    if evidence.len() > limits::LIST_LEN {
        return Err(Fault::invalid(
            format!("{field}.add_evidence"),
            format!("a node has at most {} pieces of evidence", limits::LIST_LEN),
        ));
    }
    Ok(())
}

/// A piece of evidence, signed and dated.
pub fn piece(work: &Work<'_, '_>, kind: &str, reference: &str) -> Evidence {
    Evidence {
        kind: kind.to_string(),
        reference: reference.to_string(),
        agent: work.caller.agent.clone(),
        timestamp: work.now,
    }
}
