//! A branch as it is shown, and the checkout of the workspace as it is kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use understory_model::error::{Fault, Result};
use understory_model::{Seq, Time};

use super::place::CHECKOUT;
use crate::Work;
use crate::kernel::work::{Create, Edit};
use crate::kinds::EntityKind;

/// A branch in a list of others.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    pub name: String,
    /// The branch that it was made from; main and those of plans and tasks were not made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_branch: Option<String>,
    /// Up to which item it shows what its base had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_seq: Option<Seq>,
    /// In a list: who made it, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_at: Option<Time>,
}

impl Branch {
    /// One that was not made from another.
    pub fn rootless(name: impl Into<String>) -> Branch {
        Branch {
            name: name.into(),
            base_branch: None,
            base_seq: None,
            made_by: None,
            made_at: None,
        }
    }
}

/// The fault of a name, under the name of the argument that it came in.
pub(super) fn called(field: &str, mut fault: Fault) -> Fault {
    fault.message = fault.message.replacen("branch", field, 1);
    fault.detail("field", field)
}

/// Keeps which branch is checked out.
pub(super) fn set_checkout(work: &mut Work<'_, '_>, name: &str) -> Result<()> {
    let mut data = Map::new();
    data.insert("ref".into(), name.into());
    match work.by_handle(CHECKOUT)? {
        Some(id) if work.thing(id)?.data == data => Ok(()),
        Some(id) => {
            let (action, data) = ("checked_out", Some(data));
            work.change(
                id,
                Edit {
                    action,
                    data,
                    ..Edit::default()
                },
            )?;
            Ok(())
        }
        None => {
            work.create(Create {
                kind: EntityKind::Checkout,
                handle: CHECKOUT.into(),
                data,
                ..Create::default()
            })?;
            Ok(())
        }
    }
}
