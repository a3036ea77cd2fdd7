//! `garden_entity_supersede`: one entity takes the place of another.

use understory_model::error::{Fault, Result};
use understory_model::text::cut;
use understory_model::{Id, limits};
use understory_storage::links;

use super::{Changed, find_to_change, link, shown};
use crate::Work;
use crate::kernel::content::relation::SUPERSEDED_BY;
use crate::kernel::names;
use crate::kernel::work::Edit;

/// Says that another entity took an entity's place.
pub fn supersede(work: &mut Work<'_, '_>, uuid: &str, by: &str) -> Result<Changed> {
    let id = find_to_change(work, uuid)?;
    let (ws, scope) = (work.ws(), work.scope()?);
    let other = names::entity(work.read()?, scope, "by", by)?;
    if other.id == id {
        return Err(Fault::invalid("by", "is the entity itself"));
    }
    if let Some(there) = links::targets(work.read()?, ws, id, SUPERSEDED_BY)?.first() {
        let there = work.named(*there)?.handle;
        return Err(
            Fault::conflict(format!("it was superseded by {} before", cut(&there, 80)))
                .detail("superseded_by", &there),
        );
    }
    check_no_circle(work, id, other.id)?;
    work.change(
        id,
        Edit {
            action: "superseded",
            links: vec![link(SUPERSEDED_BY, other)],
            ..Edit::default()
        },
    )?;
    shown(work, id)
}

/// Following what superseded what must not lead back.
fn check_no_circle(work: &mut Work<'_, '_>, from: Id, to: Id) -> Result<()> {
    let ws = work.ws();
    let mut at = Some(to);
    for _ in 0..limits::BATCH {
        match at {
            None => return Ok(()),
            Some(id) if id == from => break,
            Some(id) => {
                at = links::targets(work.read()?, ws, id, SUPERSEDED_BY)?
                    .first()
                    .copied()
            }
        }
    }
    Err(Fault::conflict(
        "this would close a circle: it superseded that one itself",
    ))
}
