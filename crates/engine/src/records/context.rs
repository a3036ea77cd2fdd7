//! What `activate` loads around a record, and how it is made to fit.
//!
//! The parent, the record and its open children come whole, the other children and the
//! grandchildren as references. Where the budget is too small, grandchildren are left out first,
//! then open children become references, then references are left out; the two bodies go last.
//! Whatever is left out, its number is told: an agent must never read "no children" where there are
//! some.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::answer::{Answer, json_of};
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::item::{Seen, Shown};
use understory_model::record::RecordState;
use understory_model::{Id, limits};
use understory_storage::sessions::{self, Session};
use understory_storage::{entities, records};

use super::activate::{Activated, Warning};
use super::diff::{self, Diff, Placed};
use super::shape::{ChangedFields, Record, Reference, references};
use crate::Work;
use crate::kernel::core::Thing;
use crate::kernel::versions::{self, Version};

/// A record with what is around it, as the wire shows it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Context {
    pub target: Record,
    pub parent: Option<Record>,
    pub children: Children,
    pub grandchildren: Vec<Reference>,
    /// How many there are, where not all are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grandchildren_total: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// The records directly below one.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Children {
    pub open: Vec<Child>,
    pub other: Vec<Reference>,
    /// How many there are, where not all are shown whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_total: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_total: Option<i64>,
}

/// An open child: whole, or as a reference where there are many or little room.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Child {
    Whole(Box<Record>),
    Reference(Reference),
}

/// How a record differs from the version that a session last saw of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Changed {
    pub from_version: i64,
    pub to_version: i64,
    pub diff: Diff,
}

/// A context, and what decides how it is shortened and what of it was seen.
pub struct Loaded {
    pub context: Context,
    /// Whether some were not even loaded.
    pub cut: bool,
    pub around: Around,
    pub held: Held,
}

/// What an answer tells of where it is shortened.
#[derive(Debug, Clone, Default)]
pub struct Around {
    totals: Totals,
    /// The open children as references.
    references: Vec<Reference>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    open: i64,
    other: i64,
    grandchildren: i64,
}

impl Context {
    /// Says how many there are of what may not be shown.
    fn tell_totals(&mut self, totals: &Totals) {
        self.children.open_total = Some(totals.open);
        self.children.other_total = Some(totals.other);
        self.grandchildren_total = Some(totals.grandchildren);
    }
}

impl Loaded {
    pub fn load(
        work: &mut Work<'_, '_>,
        target: &Thing,
        session: &Session,
        budget: &Budget,
    ) -> Result<Loaded> {
        let (ws, id) = (work.ws(), target.entity.id);
        let handle = target.entity.handle.as_str();
        let mut held = Held(BTreeMap::from([(handle.to_string(), seen(target))]));
        let parent = match target.entity.parent {
            Some(parent) => entities::get(work.read()?, ws, parent)?
                .map(Thing::open)
                .transpose()?,
            None => None,
        };
        let above = match &parent {
            Some(parent) => {
                let lease = sessions::lease(work.read()?, ws, session.id, parent.entity.id)?;
                let mut shown = Record::placed(work.read()?, ws, parent)?;
                let known = lease.map(|lease| lease.seen);
                shown.changed = held.mark(work, parent, known)?;
                Some(shown)
            }
            None => None,
        };
        // Nothing shown takes less than a hundred characters, so no more than these can fit.
        let most = i64::try_from(budget.chars / 100).unwrap_or(i64::MAX).max(1);
        let known: BTreeMap<Id, i64> = sessions::held_below(work.read()?, ws, session.id, id)?
            .into_iter()
            .collect();
        let whole = most.min(limits::PAGE);
        let whole = records::children_in(work.read()?, ws, id, RecordState::Open, whole)?;
        let mut open = Vec::new();
        for entity in whole {
            let child = Thing::open(entity)?;
            let mut shown = Record::of(&child, Some(handle))?;
            let known = known.get(&child.entity.id).copied();
            shown.changed = held.mark(work, &child, known)?;
            open.push(Child::Whole(Box::new(shown)));
        }
        let children = records::children(work.read()?, ws, id, most)?;
        let (references_open, other): (Vec<_>, Vec<_>) =
            children.iter().partition(|row| row.state.is_open());
        let references_open: Vec<Reference> =
            references_open.into_iter().map(Reference::of).collect();
        let other: Vec<Reference> = other.into_iter().map(Reference::of).collect();
        let more = references_open.iter().skip(open.len()).cloned();
        open.extend(more.map(Child::Reference));
        let below = records::grandchildren(work.read()?, ws, id, most)?;
        let (all, all_open) = records::get(work.read()?, ws, id)?
            .map_or((0, 0), |row| (row.children, row.open_children));
        let grandchildren = if children.len() as i64 == all {
            children.iter().map(|row| row.children).sum()
        } else {
            records::count_grandchildren(work.read()?, ws, id)?
        };
        let cut = (children.len() as i64) < all
            || all_open > limits::PAGE
            || (below.len() as i64) < grandchildren;
        let totals = Totals {
            open: all_open,
            other: all - all_open,
            grandchildren,
        };
        let mut context = Context {
            target: Record::of(target, parent.as_ref().map(|up| up.entity.handle.as_str()))?,
            parent: above,
            children: Children {
                open,
                other,
                open_total: None,
                other_total: None,
            },
            grandchildren: references(&below),
            grandchildren_total: None,
            warnings: Vec::new(),
        };
        if cut {
            context.tell_totals(&totals);
        }
        Ok(Loaded {
            context,
            cut,
            around: Around {
                totals,
                references: references_open,
            },
            held,
        })
    }
}

impl Around {
    /// The context as it is when something of it is left out: it says how many there are.
    pub fn told(&self, context: &Context) -> Context {
        let mut context = context.clone();
        context.tell_totals(&self.totals);
        context
    }

    /// The open children as references.
    pub fn references(&self) -> Result<Vec<Value>> {
        self.references.iter().map(json_of).collect()
    }
}

/// The records of a context that are in it whole and that the session works on, by their handles.
pub struct Held(BTreeMap<String, Seen>);

impl Held {
    /// Notes that a record beside the target is one that the session works on, and tells what
    /// changed since the session saw it.
    fn mark(
        &mut self,
        work: &mut Work<'_, '_>,
        thing: &Thing,
        known: Option<i64>,
    ) -> Result<Option<ChangedFields>> {
        let Some(known) = known.filter(|known| *known < thing.entity.version) else {
            return Ok(None);
        };
        self.0.insert(thing.entity.handle.clone(), seen(thing));
        let changed = change_since(work, thing, known)?;
        Ok(changed.map(|changed| ChangedFields {
            from_version: changed.from_version,
            to_version: changed.to_version,
            fields: changed.diff.names(),
        }))
    }

    /// What an answer shows whole of what the session works on.
    pub fn shown_by(&self, answer: &Answer<Activated>) -> Shown {
        let handles = match answer {
            Answer::Whole(answer) => whole_in(&answer.context),
            Answer::Json(json) => whole_in_json(&json["context"]),
        };
        let seen = handles.into_iter().filter_map(|handle| self.0.get(handle));
        Shown {
            seen: seen.copied().collect(),
            ..Shown::default()
        }
    }
}

/// The records that a context shows whole.
fn whole_in(context: &Context) -> Vec<&str> {
    let beside = context.parent.iter();
    let children = context
        .children
        .open
        .iter()
        .filter_map(|child| match child {
            Child::Whole(record) => Some(record.as_ref()),
            Child::Reference(_) => None,
        });
    let all = std::iter::once(&context.target)
        .chain(beside)
        .chain(children);
    all.map(|record| record.id.as_str()).collect()
}

/// The records that a shortened context shows whole: those that still have their body.
fn whole_in_json(context: &Value) -> Vec<&str> {
    let children = context["children"]["open"].as_array();
    let all = [&context["target"], &context["parent"]];
    let all = all.into_iter().chain(children.into_iter().flatten());
    all.filter(|record| record["body"].is_string())
        .filter_map(|record| record["id"].as_str())
        .collect()
}

fn seen(thing: &Thing) -> Seen {
    Seen {
        id: thing.entity.id,
        version: thing.entity.version,
    }
}

/// How a record differs from the version that a session last saw of it.
pub fn change_since(work: &mut Work<'_, '_>, now: &Thing, seen: i64) -> Result<Option<Changed>> {
    let ws = work.ws();
    if seen >= now.entity.version {
        return Ok(None);
    }
    let Some(old) = versions::numbered(work.read()?, ws, now, seen)? else {
        return Ok(None);
    };
    let handle = &now.entity.handle;
    let old = Placed::new(work.read()?, ws, old, handle)?;
    let new = Placed::new(work.read()?, ws, Version::now(now), handle)?;
    Ok(Some(Changed {
        from_version: old.number,
        to_version: new.number,
        diff: diff::between(&old, &new, handle),
    }))
}
