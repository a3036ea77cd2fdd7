//! What `activate` loads around a record, and how it is made to fit.
//!
//! The parent, the record and its open children come whole, the other children and the
//! grandchildren as references. Where the budget is too small, grandchildren are left out first, then
//! open children become references, then references are left out; the two bodies go last. Whatever is
//! left out, its number is told: an agent must never read "no children" where there are some.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use understory_model::budget::{Budget, chars, fit_lists};
use understory_model::error::Result;
use understory_model::item::{Seen, Shown};
use understory_model::{Id, limits};
use understory_storage::sessions::{self, Session};
use understory_storage::{entities, records};

use super::diff::{self, Placed, without_body};
use super::{fields, shape};
use crate::Work;
use crate::core::Thing;
use crate::versions::{self, Version};

const OPEN: &str = "/context/children/open";

/// A record with what is around it.
pub struct Context {
    pub shown: Value,
    /// Whether some were not even loaded.
    cut: bool,
    totals: Totals,
    /// The records that are in it whole and that the session works on, by their handles.
    held: BTreeMap<String, Seen>,
    /// The open children as references.
    references: Vec<Value>,
}

struct Totals {
    open: i64,
    other: i64,
    grandchildren: i64,
}

impl Context {
    pub fn load(
        work: &mut Work<'_, '_>,
        target: &Thing,
        session: &Session,
        budget: &Budget,
    ) -> Result<Context> {
        let (ws, id) = (work.ws(), target.entity.id);
        let handle = target.entity.handle.as_str();
        work.flush()?;
        let mut held = BTreeMap::from([(handle.to_string(), seen(target))]);
        let parent = match target.entity.parent {
            Some(parent) => entities::get(work.tx, ws, parent)?
                .map(Thing::open)
                .transpose()?,
            None => None,
        };
        let above = match &parent {
            Some(parent) => {
                let lease = sessions::lease(work.tx, ws, session.id, parent.entity.id)?;
                let mut shown = shape::whole(work.tx, ws, parent)?;
                let known = lease.map(|lease| lease.seen);
                mark(work, parent, known, &mut shown, &mut held)?;
                shown
            }
            None => Value::Null,
        };
        // Nothing shown takes less than a hundred characters, so no more than these can fit.
        let most = i64::try_from(budget.chars / 100).unwrap_or(i64::MAX).max(1);
        let known: BTreeMap<Id, i64> = sessions::held_below(work.tx, ws, session.id, id)?
            .into_iter()
            .collect();
        let whole = records::children_in(work.tx, ws, id, fields::OPEN, most.min(limits::PAGE))?;
        let mut open = Vec::new();
        for entity in whole {
            let child = Thing::open(entity)?;
            let mut shown = shape::record(&child, Some(handle));
            let known = known.get(&child.entity.id).copied();
            mark(work, &child, known, &mut shown, &mut held)?;
            open.push(shown);
        }
        let children = records::children(work.tx, ws, id, most)?;
        let (references, other): (Vec<_>, Vec<_>) =
            children.iter().partition(|row| row.state == fields::OPEN);
        let references: Vec<Value> = references.into_iter().map(shape::reference).collect();
        let other: Vec<Value> = other.into_iter().map(shape::reference).collect();
        open.extend(references.iter().skip(open.len()).cloned());
        let below = records::grandchildren(work.tx, ws, id, most)?;
        let (all, all_open) =
            records::get(work.tx, ws, id)?.map_or((0, 0), |row| (row.children, row.open_children));
        let grandchildren = match children.len() as i64 == all {
            true => children.iter().map(|row| row.children).sum(),
            false => records::count_grandchildren(work.tx, ws, id)?,
        };
        let cut = (children.len() as i64) < all
            || all_open > limits::PAGE
            || (below.len() as i64) < grandchildren;
        let mut shown = json!({ "children": {} });
        shown["target"] =
            shape::record(target, parent.as_ref().map(|up| up.entity.handle.as_str()));
        shown["parent"] = above;
        shown["children"]["open"] = open.into();
        shown["children"]["other"] = other.into();
        shown["grandchildren"] = shape::references(&below).into();
        Ok(Context {
            shown,
            cut,
            totals: Totals {
                open: all_open,
                other: all - all_open,
                grandchildren,
            },
            held,
            references,
        })
    }

    /// Puts the context into the answer and makes that fit; tells what the answer shows whole.
    pub fn fit(mut self, mut answer: Value, budget: &Budget) -> (Value, Shown) {
        answer["context"] = self.shown.take();
        if self.cut || !budget.holds(&answer) {
            answer["truncated"] = true.into();
            answer["context"]["children"]["open_total"] = self.totals.open.into();
            answer["context"]["children"]["other_total"] = self.totals.other.into();
            answer["context"]["grandchildren_total"] = self.totals.grandchildren.into();
            answer = self.shortened(answer, budget);
        }
        let shown = self.shows(&answer);
        (answer, shown)
    }

    /// Leaves out what is farthest from the record first.
    fn shortened(&self, mut answer: Value, budget: &Budget) -> Value {
        if fit_lists(&mut answer, &["/context/grandchildren"], budget) {
            return answer;
        }
        self.refer_to_children(&mut answer, budget);
        for list in ["/context/children/other", OPEN] {
            if fit_lists(&mut answer, &[list], budget) {
                return answer;
            }
        }
        for record in ["parent", "target"] {
            if let Some(diff) = answer.pointer_mut("/changed/diff") {
                match record {
                    "parent" => without_body(diff),
                    _ => diff::only_names(diff),
                }
            }
            without_body(&mut answer["context"][record]);
            if budget.holds(&answer) {
                return answer;
            }
        }
        let least = json!({
            "session_id": answer["session_id"],
            "already_loaded": answer["already_loaded"],
            "truncated": true,
        });
        match budget.holds(&least) {
            true => least,
            false => json!({ "truncated": true }),
        }
    }

    /// Makes references of open children, from the last one on, until the answer fits.
    fn refer_to_children(&self, answer: &mut Value, budget: &Budget) {
        let mut excess = chars(answer).saturating_sub(budget.chars);
        let Some(Value::Array(open)) = answer.pointer_mut(OPEN) else {
            return;
        };
        for (child, reference) in open.iter_mut().zip(&self.references).rev() {
            if excess == 0 {
                return;
            }
            let saved = chars(child).saturating_sub(chars(reference));
            *child = reference.clone();
            excess = excess.saturating_sub(saved);
        }
    }

    /// What an answer shows whole of what the session works on.
    fn shows(&self, answer: &Value) -> Shown {
        let context = &answer["context"];
        let children = context["children"]["open"].as_array();
        let all = [&context["target"], &context["parent"]];
        let whole = all
            .into_iter()
            .chain(children.into_iter().flatten())
            .filter(|record| record["body"].is_string());
        let of = |record: &Value| self.held.get(record["id"].as_str()?).copied();
        Shown {
            seen: whole.filter_map(of).collect(),
            ..Shown::default()
        }
    }
}

fn seen(thing: &Thing) -> Seen {
    Seen {
        id: thing.entity.id,
        version: thing.entity.version,
    }
}

/// Notes that a record beside the target is one that the session works on, and marks it where it
/// changed since the session saw it.
fn mark(
    work: &mut Work<'_, '_>,
    thing: &Thing,
    known: Option<i64>,
    shown: &mut Value,
    held: &mut BTreeMap<String, Seen>,
) -> Result<()> {
    let Some(known) = known.filter(|known| *known < thing.entity.version) else {
        return Ok(());
    };
    held.insert(thing.entity.handle.clone(), seen(thing));
    if let Some(mut changed) = change_since(work, thing, known)? {
        let names = diff::names(&changed["diff"]);
        changed["fields"] = names.into();
        if let Some(changed) = changed.as_object_mut() {
            changed.remove("diff");
        }
        shown["changed"] = changed;
    }
    Ok(())
}

/// How a record differs from the version that a session last saw of it.
pub fn change_since(work: &mut Work<'_, '_>, now: &Thing, seen: i64) -> Result<Option<Value>> {
    let ws = work.ws();
    if seen >= now.entity.version {
        return Ok(None);
    }
    let Some(old) = versions::numbered(work.tx, ws, now, seen)? else {
        return Ok(None);
    };
    let old = Placed::new(work.tx, ws, old)?;
    let new = Placed::new(work.tx, ws, Version::now(now))?;
    Ok(Some(json!({
        "from_version": old.version.number,
        "to_version": new.version.number,
        "diff": diff::between(&old, &new, &now.entity.handle),
    })))
}
