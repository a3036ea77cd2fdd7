//! What texts mean, as numbers: a small static model that is part of the program.
//!
//! A text is cut into the model's tokens, and the mean of their rows is its vector; two texts are
//! close when their vectors point the same way. Nothing here reads a file, a clock or a network.
//! Vectors are stored, so the same text must give the same bytes on every machine: sums are exact
//! integers, and a change of a rule here requires raising CORE_VERSION.

mod compare;
pub mod foreign;
mod passages;
mod table;
mod tokens;
mod unicode;
mod vector;

pub use compare::Query;
pub use passages::{Passage, passages};
pub use tokens::tokens;
pub use vector::{BYTES, Vector, closest, dot, embed};
