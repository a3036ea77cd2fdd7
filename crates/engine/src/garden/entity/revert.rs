//! `garden_entity_revert`: an earlier version of an entity again, as a new one.

use serde_json::Value;
use understory_model::error::Result;

use super::{BasedOn, Changed, check_current, find_to_change, history, shown};
use crate::Work;
use crate::kernel::content::relation::REVERTED;
use crate::kernel::work::Edit;

/// Gives an entity the value that it had.
pub fn revert(
    work: &mut Work<'_, '_>,
    uuid: &str,
    to: &Value,
    based_on: &BasedOn,
) -> Result<Changed> {
    let id = find_to_change(work, uuid)?;
    let thing = work.thing(id)?.clone();
    check_current(&thing.entity, based_on)?;
    let ws = work.ws();
    let version = history::at(work.read()?, ws, &thing, "to", to)?;
    work.change(
        id,
        Edit {
            action: REVERTED,
            data: Some(version.data),
            reason: Some(format!("as it was in version {}", version.number)),
            ..Edit::default()
        },
    )?;
    shown(work, id)
}
