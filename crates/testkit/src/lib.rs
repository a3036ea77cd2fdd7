//! What every behaviour test stands on: a world with a real store, on both engines.
//!
//! Write a test once inside [`on_both!`]; it becomes two, one on SQLite and one on PostgreSQL.

mod backend;
mod clock;
mod world;

pub use backend::{Backend, Raw};
pub use clock::TestClock;
pub use world::World;

/// Runs each test on SQLite and on PostgreSQL: `fn name(world) { … }`.
#[macro_export]
macro_rules! on_both {
    ($($(#[$meta:meta])* fn $name:ident($world:ident) $body:block)*) => {
        mod sqlite {
            #[allow(unused_imports)]
            use super::*;
            $($(#[$meta])* #[test] fn $name() {
                #[allow(unused_mut)]
                let mut $world = $crate::World::new($crate::Backend::sqlite());
                $body
            })*
        }
        mod postgres {
            #[allow(unused_imports)]
            use super::*;
            $($(#[$meta])* #[test] fn $name() {
                #[allow(unused_mut)]
                let mut $world = $crate::World::new($crate::Backend::postgres());
                $body
            })*
        }
    };
}
