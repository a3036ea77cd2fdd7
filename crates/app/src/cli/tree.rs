//! Nodes drawn as people draw them: one in a line, or a tree of them.

use serde_json::Value;

use super::next::each;
use super::text::{Style, Text};

/// `TASK-001 Write the API`
pub fn brief(node: &Value) -> Text {
    let text = |name: &str| node[name].as_str().unwrap_or_default();
    Text::new()
        .name(text("id"))
        .plain(" ")
        .plain(text("summary"))
}

/// `✓ TASK-001 Write the API`
pub fn marked(node: &Value) -> Text {
    mark(node["resolved"].as_bool().unwrap_or(false)).then(brief(node))
}

/// Done or open.
pub fn mark(done: bool) -> Text {
    if done {
        Text::new().add(Style::Good, "✓ ")
    } else {
        Text::new().plain("○ ")
    }
}

/// What stands below a node, a line each; what lies too deep is counted.
pub fn below(node: &Value) -> Vec<Text> {
    let mut lines = Vec::new();
    draw(node, "", &mut lines);
    lines
}

fn draw(node: &Value, indent: &str, lines: &mut Vec<Text>) {
    let children: Vec<&Value> = each(&node["children"]).collect();
    let all = node["child_count"].as_u64().unwrap_or(0);
    let hidden = all.saturating_sub(children.len() as u64);
    for (at, child) in children.iter().enumerate() {
        let last = at + 1 == children.len() && hidden == 0;
        let branch = if last { "└ " } else { "├ " };
        let line = Text::new().dim(indent).dim(branch).then(marked(child));
        lines.push(match child["state"].as_str() {
            Some(state) => line.dim(format!("  {state}")),
            None => line,
        });
        let deeper = if last { "  " } else { "│ " };
        draw(child, &format!("{indent}{deeper}"), lines);
    }
    if hidden > 0 {
        let line = Text::new().dim(indent).dim("└ ");
        lines.push(line.dim(format!("{hidden} more")));
    }
}
