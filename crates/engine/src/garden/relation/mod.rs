//! Relations between things, asserted by callers or found in texts.

pub mod closing;
pub mod fossilize;
pub mod refs;
pub mod relate;
pub mod relations;
