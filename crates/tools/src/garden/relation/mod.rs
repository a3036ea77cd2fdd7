//! Relations on the wire, one file a tool.

pub mod fossilize;
pub mod refs;
pub mod relate;
pub mod relations;
