//! What every behaviour test stands on: a world with a real store, on both databases.
//!
//! Write a test once as `#[on_both] fn name(world: World) { … }`; it becomes two, one on SQLite and one
//! on PostgreSQL.

pub mod agents;
mod backend;
mod clock;
mod world;

pub use backend::{Backend, Raw};
pub use clock::TestClock;
pub use understory_on_both::on_both;
pub use world::World;
