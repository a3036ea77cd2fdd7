//! `garden_entity_update`: the next version of an entity, made from the current one.

use serde_json::{Map, Value};
use understory_model::Id;
use understory_model::error::{Fault, Result};
use understory_model::item::LinkChange;

use super::{
    BasedOn, Changed, check_current, check_data, check_reason, find_to_change, link, links_of,
    shown,
};
use crate::Work;
use crate::kernel::content::relation::{DERIVED_FROM, GROUP};
use crate::kernel::names;
use crate::kernel::work::Edit;

/// What becomes of what an entity points to: nothing, another target, or none.
#[derive(Debug, Clone, Default)]
pub struct Relinked {
    pub group_id: Option<Option<String>>,
    pub derived_from: Option<Option<String>>,
}

pub fn update(
    work: &mut Work<'_, '_>,
    uuid: &str,
    data: &Map<String, Value>,
    relinked: &Relinked,
    based_on: &BasedOn,
    reason: Option<&str>,
) -> Result<Changed> {
    check_data(data)?;
    check_reason(reason)?;
    let id = find_to_change(work, uuid)?;
    let thing = work.thing(id)?.clone();
    check_current(&thing.entity, based_on)?;
    let mut next = thing.data.clone();
    for (field, value) in data {
        if value.is_null() {
            next.remove(field)
        } else {
            next.insert(field.clone(), value.clone())
        };
    }
    check_data(&next)?;
    let mut links = Vec::new();
    for (relation, to) in [
        (GROUP, &relinked.group_id),
        (DERIVED_FROM, &relinked.derived_from),
    ] {
        if let Some(to) = to {
            links.extend(relink(work, id, relation, to.as_deref())?);
        }
    }
    // An update that changes nothing makes no version.
    if next == thing.data && links.is_empty() {
        return Ok(Changed {
            unchanged: true,
            ..shown(work, id)?
        });
    }
    work.change(
        id,
        Edit {
            action: "updated",
            data: Some(next),
            links,
            reason: reason.map(str::to_string),
            ..Edit::default()
        },
    )?;
    shown(work, id)
}

/// The links that lead from an entity to another target, or to none any more.
fn relink(
    work: &mut Work<'_, '_>,
    id: Id,
    relation: &str,
    to: Option<&str>,
) -> Result<Vec<LinkChange>> {
    let scope = work.scope()?;
    let to = match to {
        Some(named) => Some(names::entity(work.read()?, scope, relation, named)?),
        None => None,
    };
    if to.as_ref().is_some_and(|to| to.id == id) {
        return Err(Fault::invalid(relation, "is the entity itself"));
    }
    let mut links = Vec::new();
    for there in links_of(work, id, relation)? {
        if to.as_ref().is_some_and(|to| to.id == there) {
            return Ok(Vec::new());
        }
        links.push(LinkChange {
            relation: relation.to_string(),
            to: work.named(there)?,
            remove: true,
        });
    }
    links.extend(to.map(|to| link(relation, to)));
    Ok(links)
}
