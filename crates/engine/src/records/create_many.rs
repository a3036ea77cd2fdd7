//! `create_records`: many records at once, all of them or none.
//!
//! Each is made as `create_record` would make it, with a handle and a tick of its own. What it
//! names may be another record of the same call, in any order. This file must never write before
//! every name of the call was resolved.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::{Code, Fault, Result};
use understory_model::id::HandleKind;
use understory_model::item::{LinkChange, Named};
use understory_model::link::{RELATED, RESOLVED_BY};
use understory_model::nearest::nearest;
use understory_model::record::RecordState;
use understory_model::text::{check_text, quoted, quoted_list};
use understory_model::{Id, limits};

use super::create::{self, Fields, NewRecord, Place};
use super::seen::Versions;
use super::{find_to_change, session};
use crate::Work;
use crate::kernel::batch::at;

/// One record of a call, as the caller gives it.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name for the other records of the call.
    pub reference: Option<String>,
    pub parent: Option<String>,
    pub fields: Fields,
}

/// The records of a call, each of them and all together checked.
#[derive(Debug, Clone)]
pub struct NewRecords(Vec<Checked>);

/// One record of a call, checked.
#[derive(Debug, Clone)]
struct Checked {
    reference: Option<String>,
    new: NewRecord,
}

/// What a name in a call leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    New(usize),
    There(Id),
}

/// What one record of a call refers to, resolved.
struct Wanted {
    parent: Option<Target>,
    related: Vec<Target>,
    resolved_by: Option<Target>,
}

/// The answer of `create_records`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedRecords {
    /// In the order of the call.
    pub created: Vec<Made>,
    pub auto_activated: bool,
}

/// What is told of a record that was made.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Made {
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    pub id: String,
}

impl TryFrom<Vec<Entry>> for NewRecords {
    type Error = Fault;

    /// Refuses what can be seen to be wrong without the store.
    fn try_from(entries: Vec<Entry>) -> Result<NewRecords> {
        match entries.len() {
            0 => return Err(Fault::invalid("records", "must have at least 1 entry")),
            count if count > limits::RECORDS => {
                let most = limits::RECORDS;
                let problem = format!("has {count} entries; at most {most} are allowed");
                return Err(Fault::invalid("records", problem).hint("Split it into several calls."));
            }
            _ => {}
        }
        let mut checked = Vec::with_capacity(entries.len());
        for (index, entry) in entries.into_iter().enumerate() {
            let new = NewRecord::new(entry.parent, entry.fields);
            checked.push(Checked {
                reference: entry.reference,
                new: new.map_err(|fault| fault.within(&place(index)))?,
            });
        }
        let related: usize = checked.iter().map(|entry| entry.new.related().len()).sum();
        let most = limits::BATCH_DEPENDENCIES;
        if related > most {
            let problem = format!("have {related} related in all; at most {most} are allowed");
            return Err(Fault::invalid("records", problem).hint("Split it into several calls."));
        }
        names(&checked)?;
        Ok(NewRecords(checked))
    }
}

fn place(index: usize) -> String {
    format!("records[{index}]")
}

/// The refs of a call. One that looks like a record's id would hide that record.
fn names(entries: &[Checked]) -> Result<HashMap<&str, usize>> {
    let mut names = HashMap::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let Some(name) = entry.reference.as_deref() else {
            continue;
        };
        let field = format!("{}.ref", place(index));
        check_text(&field, name, limits::NAME_CHARS, false)?;
        let number = name.strip_prefix(HandleKind::Record.prefix());
        if number.is_some_and(|number| number.parse::<i64>().is_ok()) {
            let problem = format!("{} is the form of a record's id", quoted(name));
            return Err(Fault::invalid(field, problem).hint("Use a word, such as `question`."));
        }
        if let Some(first) = names.insert(name, index) {
            let problem = format!("{} is already the ref of records[{first}]", quoted(name));
            return Err(Fault::invalid(field, problem).hint("Give each record its own ref."));
        }
    }
    Ok(names)
}

pub fn create_many(
    work: &mut Work<'_, '_>,
    NewRecords(entries): &NewRecords,
    session: Option<&str>,
    project: Option<&str>,
) -> Result<CreatedRecords> {
    session::speak(work, session)?;
    let names = names(entries)?;
    let mut wanted = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        wanted.push(resolve(work, &names, index, &entry.new)?);
    }
    let order = parents_first(&wanted)?;
    let places = homes(work, entries, &wanted, &order, project)?;
    let mut entered: Vec<Id> = Vec::new();
    for (home, _) in &places {
        if !entered.contains(home) {
            session::enter(work, *home, None)?;
            entered.push(*home);
        }
    }
    let made = write(work, entries, (&wanted, &order), places)?;
    let created = entries.iter().zip(made).map(|(entry, named)| Made {
        reference: entry.reference.clone(),
        id: named.handle,
    });
    Ok(CreatedRecords {
        created: created.collect(),
        auto_activated: true,
    })
}

/// What one record refers to; each error names the argument.
fn resolve(
    work: &mut Work<'_, '_>,
    names: &HashMap<&str, usize>,
    index: usize,
    new: &NewRecord,
) -> Result<Wanted> {
    let field = |name: &str| format!("{}.{name}", place(index));
    let parent = match &new.parent {
        Some(name) => Some(at(field("parent_id"), target(work, names, name))?),
        None => None,
    };
    let mut related: Vec<Target> = Vec::new();
    for (position, name) in new.related().iter().enumerate() {
        let field = field(&format!("related[{position}]"));
        let found = at(&field, target(work, names, name))?;
        if found == Target::New(index) {
            return Err(Fault::invalid(field, "is this record itself"));
        }
        if !related.contains(&found) {
            related.push(found);
        }
    }
    let resolved_by = match new.resolved_by() {
        Some(name) => Some(at(field("resolved_by"), target(work, names, name))?),
        None => None,
    };
    Ok(Wanted {
        parent,
        related,
        resolved_by,
    })
}

/// A ref of this call, else an existing record.
fn target(work: &mut Work<'_, '_>, names: &HashMap<&str, usize>, name: &str) -> Result<Target> {
    if let Some(index) = names.get(name) {
        return Ok(Target::New(*index));
    }
    find_to_change(work, name)
        .map(Target::There)
        .map_err(|fault| {
            let near = nearest(name, names.keys().copied(), 3);
            if near.is_empty() {
                fault
            } else {
                fault.hint(format!(
                    "Did you mean the ref {}?",
                    quoted_list(&near, " or ")
                ))
            }
        })
}

/// The call's records with every parent before its children; a circle of parents is refused.
fn parents_first(wanted: &[Wanted]) -> Result<Vec<usize>> {
    let mut placed = vec![false; wanted.len()];
    let mut order = Vec::with_capacity(wanted.len());
    for start in 0..wanted.len() {
        let mut chain: Vec<usize> = Vec::new();
        let mut next = Some(start);
        while let Some(index) = next.filter(|index| !placed[*index]) {
            if chain.contains(&index) {
                let field = format!("{}.parent_id", place(index));
                return Err(Fault::invalid(field, "makes the record its own ancestor")
                    .hint("Leave out parent_id on one of them, or name another parent."));
            }
            chain.push(index);
            next = match wanted[index].parent {
                Some(Target::New(parent)) => Some(parent),
                _ => None,
            };
        }
        for index in chain.into_iter().rev() {
            placed[index] = true;
            order.push(index);
        }
    }
    Ok(order)
}

/// The project of each record, and its parent where that exists already: what `create_record`
/// checks of both, and that no record lies too deep.
fn homes(
    work: &mut Work<'_, '_>,
    entries: &[Checked],
    wanted: &[Wanted],
    order: &[usize],
    project: Option<&str>,
) -> Result<Vec<(Id, Option<Named>)>> {
    let mut places: Vec<(Id, Option<Named>)> = vec![(Id::ZERO, None); entries.len()];
    let mut depths = vec![0; entries.len()];
    for &index in order {
        let field = || format!("{}.parent_id", place(index));
        let name = entries[index].new.parent.as_deref();
        if let Some(Target::New(parent)) = wanted[index].parent {
            places[index].0 = places[parent].0;
            depths[index] = depths[parent] + 1;
            let shown = quoted(name.unwrap_or_default());
            at(field(), create::check_depth(&shown, depths[index]))?;
            continue;
        }
        let found = create::place(work, name, project, &Versions::default());
        places[index] = match name {
            Some(_) => at(field(), found)?,
            None => found?,
        };
        if let Some(Target::There(parent)) = wanted[index].parent {
            let above = work.record(parent)?;
            depths[index] = above.map_or(0, |above| above.depth + 1);
        }
    }
    for (index, wanted) in wanted.iter().enumerate() {
        if let Some(by) = wanted.resolved_by {
            let field = format!("{}.resolved_by", place(index));
            check_settler(work, entries, &places, (index, by))
                .map_err(|fault| fault.renamed(&field))?;
        }
    }
    Ok(places)
}

/// What settled a record is another record of its project that was not discarded.
fn check_settler(
    work: &mut Work<'_, '_>,
    entries: &[Checked],
    places: &[(Id, Option<Named>)],
    (index, by): (usize, Target),
) -> Result<()> {
    let home = places[index].0;
    let name = entries[index].new.resolved_by().unwrap_or_default();
    let other = match by {
        Target::There(_) => return create::settled_by(work, None, home, name).map(|_| ()),
        Target::New(other) => other,
    };
    let problem = if other == index {
        "cannot resolve itself"
    } else if places[other].0 != home {
        "is in another project"
    } else if entries[other].new.state() == RecordState::Discarded {
        "was discarded"
    } else {
        return Ok(());
    };
    Err(
        Fault::invalid("resolved_by", format!("{} {problem}", quoted(name)))
            .hint("Name the record that holds the answer."),
    )
}

/// Writes the records, parents first. Their ids are known before the first is written: an entity's
/// id is its item's place in the log, and its handle the place in the call.
fn write(
    work: &mut Work<'_, '_>,
    entries: &[Checked],
    (wanted, order): (&[Wanted], &[usize]),
    mut places: Vec<(Id, Option<Named>)>,
) -> Result<Vec<Named>> {
    let first = work.next_number(HandleKind::Record)?;
    let start = work.next_seq();
    let mut made: Vec<Named> = (first..)
        .take(entries.len())
        .map(|number| Named {
            id: Id::ZERO,
            handle: HandleKind::Record.handle(number),
        })
        .collect();
    for (position, index) in order.iter().enumerate() {
        made[*index].id = Id::of(start + position as i64);
    }
    for &index in order {
        let (home, there) = std::mem::take(&mut places[index]);
        let wanted = &wanted[index];
        let parent = match wanted.parent {
            Some(Target::New(parent)) => Some(made[parent].clone()),
            _ => there,
        };
        let mut links = Vec::with_capacity(wanted.related.len() + 1);
        for target in &wanted.related {
            links.push(link(work, &made, RELATED, *target)?);
        }
        let related = links.iter().map(|link| link.to.handle.clone()).collect();
        let mut resolved_by = None;
        if let Some(target) = wanted.resolved_by {
            let settled = link(work, &made, RESOLVED_BY, target)?;
            resolved_by = Some(settled.to.handle.clone());
            links.push(settled);
        }
        let place = Place {
            handle: made[index].handle.clone(),
            home,
            parent,
            related,
            resolved_by,
            links,
        };
        let id = create::make(work, &entries[index].new, place)?;
        if id != made[index].id {
            return Err(Fault::new(Code::Internal, "a record got another id"));
        }
    }
    Ok(made)
}

fn link(
    work: &mut Work<'_, '_>,
    made: &[Named],
    relation: &str,
    target: Target,
) -> Result<LinkChange> {
    let to = match target {
        Target::New(index) => made[index].clone(),
        Target::There(id) => work.named(id)?,
    };
    Ok(LinkChange {
        relation: relation.to_string(),
        to,
        remove: false,
    })
}
