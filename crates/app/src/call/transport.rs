//! What a transport knows of a request, and those who run it may use.

use std::any::Any;
use std::sync::Arc;

/// The name that a transport gave to a request, so that its log and its answer use the same.
#[derive(Debug, Clone)]
pub struct RequestName(pub String);

/// Memory that a request takes, counted by its transport until this is dropped.
pub type Held = Arc<dyn Any + Send + Sync>;

/// A request as its transport knows it. Over stdio there is nothing to know.
#[derive(Default)]
pub struct Transport {
    pub name: Option<RequestName>,
    pub held: Option<Held>,
}
