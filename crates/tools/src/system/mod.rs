//! Tools that belong to no surface because they look across all of them.

pub mod scratchpad;
pub mod search;
pub mod who;
