//! A node in a line.

use serde_json::Value;

use super::text::{Style, Text};

/// `TASK-001 Write the API`
pub fn brief(node: &Value) -> Text {
    let text = |name: &str| node[name].as_str().unwrap_or_default();
    Text::new()
        .name(text("id"))
        .plain(" ")
        .plain(text("summary"))
}

/// Done or open.
pub fn mark(done: bool) -> Text {
    if done {
        Text::new().add(Style::Good, "✓ ")
    } else {
        Text::new().plain("○ ")
    }
}
