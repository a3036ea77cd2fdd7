//! The words and rules of Understory, pure: no I/O, no clock, no randomness.
//!
//! Every other crate speaks in these types. A function here gives the same answer for the same
//! arguments forever, which is what lets core be replayed from soil to the same bytes.

pub mod answer;
pub mod branch;
pub mod budget;
pub mod caller;
pub mod canon;
pub mod delta;
pub mod error;
pub mod fact;
pub mod fade;
pub mod fragment;
pub mod id;
pub mod item;
pub mod kind;
pub mod limits;
pub mod lines;
pub mod link;
pub mod merge;
pub mod name;
pub mod nearest;
pub mod number;
pub mod page;
pub mod passage;
pub mod reasoning;
pub mod record;
pub mod refs;
pub mod secret;
pub mod shell;
pub mod text;
pub mod thread;
pub mod time;
pub mod topics;
pub mod weight;
mod words;

pub use caller::{Caller, Role, Via};
pub use error::{Code, Fault};
pub use id::{Id, Seq, Ws};
pub use time::Time;
