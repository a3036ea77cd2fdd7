//! `branchmind_init`: makes sure that the workspace is there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::Result;

use super::branch::set_checkout;
use super::place::{CHECKOUT, MAIN};
use crate::Work;

/// `branchmind_init`: makes sure that the workspace is there.
pub fn init(work: &mut Work<'_, '_>) -> Result<()> {
    match work.by_handle(CHECKOUT)? {
        Some(_) => Ok(()),
        None => set_checkout(work, MAIN),
    }
}

/// The answer of `branchmind_init`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Prepared {
    pub workspace: String,
    /// Where the store is.
    pub storage_dir: String,
    pub schema_version: i64,
}
