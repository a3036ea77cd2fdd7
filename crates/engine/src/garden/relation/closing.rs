//! Closing a project: it takes nothing new, and how its things were ordered comes to rest.
//!
//! What is in it can still be read, and finished by its id. Opening it again brings back those of
//! its relations that are still strong enough to stay.

use std::collections::HashSet;

use understory_model::error::{Fault, Result};
use understory_model::fact::{Fact, Fossilized};
use understory_model::text::quoted;
use understory_model::{Id, Seq, Time};
use understory_storage::relations::Relation;
use understory_storage::{ReadTx, entities, items, relations as rows};

use crate::Work;
use crate::garden::relation::fossilize::{Moved, THRESHOLD, is_strong, told};
use crate::kernel::content::relation::is_mutable;
use crate::kernel::core::Thing;
use crate::kernel::project::{self, CLOSED_AT, handle, is_closed};
use crate::kernel::work::Edit;

const CHUNK: i64 = 500;

/// Closes a project, or opens it again; its relations that moved.
pub fn close(work: &mut Work<'_, '_>, named: Option<&str>, close: bool) -> Result<Moved> {
    let (ws, now) = (work.ws(), work.now);
    let name = named.unwrap_or(&work.caller.project).to_string();
    project::check_known(work, Some(&name))?;
    let Some(id) = work.by_handle(&handle(&name))? else {
        return Err(Fault::not_found(format!(
            "no project {} was written to yet",
            quoted(&name)
        )));
    };
    let mut data = work.thing(id)?.data.clone();
    if is_closed(&data) == close {
        return Ok(Moved {
            fossilized: Vec::new(),
            revived: Vec::new(),
            dry_run: None,
            more: None,
            project: Some(name),
            closed: Some(close),
        });
    }
    if close {
        data.insert(CLOSED_AT.into(), now.to_string().into())
    } else {
        data.remove(CLOSED_AT)
    };
    let moving = moving(work, id, close)?;
    if !moving.is_empty() {
        let names: Vec<(Seq, i64)> = moving.iter().map(|one| (one.made, one.n)).collect();
        let none: Vec<(Seq, i64)> = Vec::new();
        let (fossil, active) = if close { (names, none) } else { (none, names) };
        let moved = Fossilized {
            active,
            fossil,
            threshold: THRESHOLD,
        };
        work.note(Some(id), Fact::Fossilized(moved))?;
    }
    work.change(
        id,
        Edit {
            action: if close { "closed" } else { "reopened" },
            data: Some(data),
            ..Edit::default()
        },
    )?;
    let (faded, cited): (&[Relation], &[Relation]) = if close {
        (&moving, &[])
    } else {
        (&[], &moving)
    };
    Ok(Moved {
        project: Some(name),
        closed: Some(close),
        ..told(work.read()?, ws, now, faded, cited, false)?
    })
}

/// The organisational relations of a project that come to rest with it, or come back.
fn moving(work: &mut Work<'_, '_>, project: Id, close: bool) -> Result<Vec<Relation>> {
    let (ws, now) = (work.ws(), work.now);
    let (mut found, mut after) = (Vec::new(), (Time(i64::MIN), Seq::MIN, 0));
    loop {
        let batch = rows::aged(work.read()?, ws, !close, now, (after, CHUNK))?;
        let Some(last) = batch.last() else {
            return Ok(found);
        };
        after = (last.at, last.made, last.n);
        let made: Vec<Seq> = batch.iter().map(|one| one.made).collect();
        let here: HashSet<Seq> = items::some(work.read()?, ws, &made)?
            .into_iter()
            .filter(|item| item.project == Some(project))
            .map(|item| item.seq)
            .collect();
        for one in batch {
            let ours = here.contains(&one.made) && is_mutable(&one.kind);
            if ours && (close || is_strong(work.read()?, ws, now, &one)?) {
                found.push(one);
            }
        }
    }
}

/// Leaves out the relations of projects that are closed: they rest with them.
pub fn of_open_projects(
    tx: &mut ReadTx<'_>,
    ws: understory_model::Ws,
    relations: Vec<Relation>,
) -> Result<Vec<Relation>> {
    let made: Vec<Seq> = relations.iter().map(|one| one.made).collect();
    let found = items::some(tx, ws, &made)?;
    let mut homes: Vec<Id> = found.iter().filter_map(|item| item.project).collect();
    homes.sort_unstable();
    homes.dedup();
    let mut over: HashSet<Id> = HashSet::new();
    for (id, entity) in entities::some(tx, ws, &homes)? {
        if is_closed(&Thing::open(entity)?.data) {
            over.insert(id);
        }
    }
    let resting: HashSet<Seq> = found
        .iter()
        .filter(|item| item.project.is_some_and(|home| over.contains(&home)))
        .map(|item| item.seq)
        .collect();
    let open = |one: &Relation| !resting.contains(&one.made);
    Ok(relations.into_iter().filter(open).collect())
}
