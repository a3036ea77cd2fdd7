//! Measures Understory against limits that are measured in the same run.
//!
//! `cargo bench -p understory-bench` prints one table of ratios; `docs/benchmarks.md` says how each
//! limit is defined. Machines differ and are busy: what is compared is alternated, block by block,
//! so that noise hits both sides alike, and only the ratio is judged.

pub mod bench;
pub mod chat;
pub mod inside;
pub mod measure;
pub mod plans;
pub mod raw;
pub mod raw_postgres;
pub mod rows;
pub mod server;
pub mod stores;
pub mod table;
pub mod thoughts;
pub mod web;

/// A benchmark that cannot be run says why and ends.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
