//! What commands share when they show something to a person: any answer of a tool, nodes of the
//! graph, messages of threads, and numbers and values in words.

pub mod answer;
pub mod message;
pub mod node;
pub mod thought;
pub mod wake;
pub mod words;

pub use self::answer::{Render, telling};
