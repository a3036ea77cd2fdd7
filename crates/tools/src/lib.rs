//! The tools: wire names, argument shapes and answers, one file a tool.

mod answers;
mod args;
mod bounds;
mod call;
mod check;
mod claims;
pub mod garden;
pub mod graph;
pub mod reasoning;
pub mod records;
pub mod registry;
pub mod secrets;
pub mod sets;
pub mod system;
pub mod threads;
pub mod tool;

pub use call::Call;
pub use tool::{Access, Context, Effect, Surface, Tool};
