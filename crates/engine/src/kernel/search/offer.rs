//! What the beginning of a name may become: agents, handles, labels and their lines, parts of what was
//! said, messages of a thread.

use understory_model::Id;
use understory_model::error::Result;
use understory_model::id::message_name;
use understory_storage::{agents, artifacts, entities, fragments, messages};

use super::glance::{Glance, Sort, of_ids, of_part};
use crate::View;
use crate::kernel::access::Reader;
use crate::kernel::content::message::said;
use crate::kernel::core::Thing;
use crate::kernel::names::{self, Found};
use crate::kernel::{artifact, parts};
use crate::kinds::{EntityKind, THREAD};

/// Rows that are looked at for one answer: some may not be read, and the best of the rest are shown.
const LOOKED_AT: i64 = 40;

/// The things whose name begins as what was typed does: at most `most`. Where it was typed matters to
/// `#`, which numbers the messages of a thread.
pub fn offer(
    view: &mut View<'_, '_>,
    typed: &str,
    thread: Option<&str>,
    most: usize,
) -> Result<Vec<Glance>> {
    let mut found = match typed.chars().next() {
        Some('@') => at_sign(view, &typed[1..])?,
        Some('^') => fragments_from(view, typed)?,
        Some('#') => messages_of(view, thread, &typed[1..])?,
        _ => match typed.split_once(':') {
            Some((label, number)) => lines_of(view, label, number, most)?,
            None => handles_from(view, typed)?,
        },
    };
    found.truncate(most);
    Ok(found)
}

fn at_sign(view: &mut View<'_, '_>, begun: &str) -> Result<Vec<Glance>> {
    let mut found = agents_from(view, begun)?;
    if begun.is_empty() {
        return Ok(found);
    }
    found.truncate(3);
    found.extend(handles_from(view, begun)?);
    Ok(found)
}

/// Agents that were ever seen, without the caller.
pub fn agents_from(view: &mut View<'_, '_>, begun: &str) -> Result<Vec<Glance>> {
    let begun = begun.to_lowercase();
    let mut names = agents::seen(view.tx, view.ws)?;
    names.retain(|name| *name != view.caller.agent && name.to_lowercase().starts_with(&begun));
    names.sort();
    names.dedup();
    let told = |name: String| Glance::new(name.clone(), Sort::Agent, name);
    Ok(names.into_iter().map(told).collect())
}

/// Handles, and labels of the project, that begin so; what is done or dropped comes last.
fn handles_from(view: &mut View<'_, '_>, begun: &str) -> Result<Vec<Glance>> {
    if begun.is_empty() {
        return Ok(Vec::new());
    }
    let scope = view.scope(None)?;
    let mut things = entities::beginning(view.tx, view.ws, begun, LOOKED_AT)?;
    let upper = begun.to_uppercase();
    if upper != begun {
        things.extend(entities::beginning(view.tx, view.ws, &upper, LOOKED_AT)?);
    }
    let shown = |kind: &str| {
        matches!(
            EntityKind::of(kind),
            EntityKind::Node | EntityKind::Record | EntityKind::Thread | EntityKind::Proposal
        )
    };
    things.retain(|thing| !thing.gone && shown(&thing.kind));
    let mut labelled = Vec::new();
    if let Some(project) = scope.project {
        for label in artifacts::labels_beginning(view.tx, view.ws, project, begun, LOOKED_AT)? {
            labelled.extend(names::artifact_id(view.tx, scope, &label)?);
        }
    }
    let mut found = of_ids(view, &labelled)?;
    let ids: Vec<Id> = things.iter().map(|thing| thing.id).collect();
    found.extend(of_ids(view, &ids)?);
    let over = |one: &Glance| {
        let state = one.state.as_deref().unwrap_or_default();
        ["done", "dropped", "resolved", "discarded", "closed"].contains(&state)
    };
    found.sort_by_key(over);
    Ok(found)
}

/// Labels of a project, the caller's own where none is named.
pub fn labels(view: &mut View<'_, '_>, project: Option<&str>, most: i64) -> Result<Vec<String>> {
    match view.scope(project)?.project {
        Some(project) => artifacts::some_labels(view.tx, view.ws, project, most),
        None => Ok(Vec::new()),
    }
}

fn fragments_from(view: &mut View<'_, '_>, typed: &str) -> Result<Vec<Glance>> {
    let scope = view.scope(None)?;
    let places = fragments::beginning(view.tx, view.ws, scope.project, typed, LOOKED_AT)?;
    let mut found: Vec<Glance> = Vec::new();
    for (id, _) in places {
        if found.iter().any(|one| one.name == id) {
            continue;
        }
        // The newest of this id is what the name means.
        if let Some(part) = parts::newest(view.tx, scope, &id)? {
            found.push(of_part(&id, &part.content, &part.item));
        }
    }
    Ok(found)
}

/// The messages of a thread whose number begins so, the newest first.
fn messages_of(view: &mut View<'_, '_>, thread: Option<&str>, number: &str) -> Result<Vec<Glance>> {
    let Some((id, handle)) = thread_named(view, thread.unwrap_or_default())? else {
        return Ok(Vec::new());
    };
    let rows = match number.parse::<i64>() {
        Ok(number) if number > 0 => messages::after(view.tx, view.ws, id, number - 1, 1)?,
        _ => messages::last(view.tx, view.ws, id, LOOKED_AT)?,
    };
    let told = rows.into_iter().filter_map(|(row, item)| {
        let said = said(&item).filter(|said| !said.undone)?;
        Some(Glance {
            by: Some(item.actor.clone()),
            at: Some(item.realized_at),
            thread: Some(handle.clone()),
            number: Some(row.n),
            ..Glance::new(message_name(item.seq), Sort::Message, said.body)
        })
    });
    Ok(told.collect())
}

fn thread_named(view: &mut View<'_, '_>, handle: &str) -> Result<Option<(Id, String)>> {
    let Some(entity) = entities::by_handle(view.tx, view.ws, handle)? else {
        return Ok(None);
    };
    let may = Reader::new(view.caller).entity(view.tx, view.ws, &entity)?;
    let thing = Thing::open(entity)?;
    let is = may && thing.entity.kind == THREAD;
    Ok(is.then(|| (thing.entity.id, thing.entity.handle.clone())))
}

/// The lines of a document whose number begins so.
fn lines_of(
    view: &mut View<'_, '_>,
    label: &str,
    number: &str,
    most: usize,
) -> Result<Vec<Glance>> {
    let scope = view.scope(None)?;
    let found = names::look(view.tx, scope, label)?;
    let Some(Found::Entity(entity)) = found else {
        return Ok(Vec::new());
    };
    let Some(id) = names::artifact_id(view.tx, scope, label)?.filter(|id| *id == entity.id) else {
        return Ok(Vec::new());
    };
    let found = artifact::load(view.tx, view.ws, id)?;
    let Some(head) = found.head else {
        return Ok(Vec::new());
    };
    let version = artifact::at(view.tx, view.ws, id, head.seq)?;
    let wanted = |n: usize| n.to_string().starts_with(number);
    let lines = version.lines.iter().zip(1..);
    let lines = lines.filter(|(line, n)| wanted(*n) && !line.bare().trim().is_empty());
    let told = lines.map(|(line, n)| Glance::new(format!("{label}:{n}"), Sort::Line, line.bare()));
    Ok(told.take(most).collect())
}
