//! Relations: how things stand to each other, made by somebody or found in a text.

pub mod closing;
pub mod fossilize;
pub mod refs;
pub mod relate;
pub mod relations;
