//! Fuzzing: inputs that nobody would write, against every place where input comes in.
//!
//! A target (`targets/`) takes bytes and says what must hold whatever they are. `run` makes inputs
//! from a seed, keeps those that went a new way, and makes a failing one small. The corpus in
//! `corpus/<target>/` is replayed first: examples to begin with, and every input that ever failed.
//! Nothing of this is part of the product, and nothing of the product knows of it.

pub mod chance;
pub mod corpus;
pub mod json;
pub mod mutate;
pub mod run;
pub mod target;
pub mod targets;
