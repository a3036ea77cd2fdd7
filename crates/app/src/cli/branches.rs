//! `understory branches`: the lineage of branches drawn as a tree.

use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::branch::{self, MAIN};
use super::next::each;
use super::text::{Style, Text};
use super::{Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory branches                   main, the branches that were made, and what they came from
  understory branches --all             those of all plans and tasks too
  understory branches --json | jq -r '.branches[].name'
  understory show what-if               one of them";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Include plan and task branches that have no children
    #[arg(long)]
    all: bool,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let desk = here.desk()?;
        let found = branch::all(&desk)?;
        let current = found["current"].as_str().unwrap_or(MAIN);
        let drawn = lineage(&found, self.all);
        if here.out.json {
            let branches: Vec<Value> = drawn.iter().map(Line::json).collect();
            here.out.value(&json!({
                "current": current,
                "branches": branches,
                "truncated": found["truncated"],
            }));
            return Ok(ExitCode::SUCCESS);
        }
        for line in &drawn {
            here.out.cut(line.text(current));
        }
        if found["truncated"] == true {
            here.out.hint("There are more than are drawn here.");
        }
        if drawn.iter().all(|line| line.base_seq.is_null()) {
            here.out.hint("Make one: understory branch what-if");
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A branch in its place in the tree.
struct Line<'a> {
    name: &'a str,
    base: Option<&'a str>,
    base_seq: &'a Value,
    depth: usize,
    /// The strokes before it.
    strokes: String,
}

impl Line<'_> {
    fn text(&self, current: &str) -> Text {
        let mut text = Text::new().dim(&self.strokes).name(self.name);
        if let Some(base) = self.base {
            text = text.dim(format!("  from {base} at #{}", self.base_seq));
        }
        match self.name == current {
            true => text.add(Style::Good, "  checked out"),
            false => text,
        }
    }

    fn json(&self) -> Value {
        let mut shown = Map::new();
        shown.insert("name".into(), self.name.into());
        if let Some(base) = self.base {
            shown.insert("base_branch".into(), base.into());
            shown.insert("base_seq".into(), self.base_seq.clone());
        }
        shown.insert("depth".into(), self.depth.into());
        shown.into()
    }
}

/// The branches in the order of the tree.
fn lineage(found: &Value, all: bool) -> Vec<Line<'_>> {
    let branches: Vec<&Value> = each(&found["branches"]).collect();
    let current = found["current"].as_str().unwrap_or(MAIN);
    let base = |branch: &Value| branch["base_branch"].as_str().map(str::to_owned);
    let mut tops: Vec<&str> = vec![MAIN];
    let bases = branches.iter().filter_map(|b| b["base_branch"].as_str());
    let rootless = branches.iter().filter(|b| base(b).is_none());
    let listed = rootless.filter_map(|b| b["name"].as_str());
    let made = |name: &str| {
        branches
            .iter()
            .any(|b| b["name"] == name && base(b).is_some())
    };
    // Those of plans and tasks are not made; they count once something hangs on them.
    let mut others: Vec<&str> = bases.chain([current]).collect();
    others.extend(listed.filter(|_| all));
    others.retain(|name| *name != MAIN && !made(name));
    others.sort_unstable();
    others.dedup();
    tops.extend(others);
    let mut lines = Vec::new();
    for top in tops {
        lines.push(Line {
            name: top,
            base: None,
            base_seq: &Value::Null,
            depth: 0,
            strokes: String::new(),
        });
        below(&branches, top, "", 1, &mut lines);
    }
    lines
}

/// What was made from a branch, the oldest first.
fn below<'a>(
    branches: &[&'a Value],
    above: &str,
    indent: &str,
    depth: usize,
    lines: &mut Vec<Line<'a>>,
) {
    let mut here: Vec<&&Value> = branches
        .iter()
        .filter(|branch| branch["base_branch"] == above)
        .collect();
    here.sort_by_key(|branch| branch["base_seq"].as_i64());
    for (at, branch) in here.iter().enumerate() {
        let last = at + 1 == here.len();
        let name = branch["name"].as_str().unwrap_or_default();
        lines.push(Line {
            name,
            base: branch["base_branch"].as_str(),
            base_seq: &branch["base_seq"],
            depth,
            strokes: format!("{indent}{}", if last { "└ " } else { "├ " }),
        });
        let deeper = format!("{indent}{}", if last { "  " } else { "│ " });
        below(branches, name, &deeper, depth + 1, lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_hang_on_what_they_came_from() {
        let made = |name: &str, base: &str, seq: i64| json!({"name": name, "base_branch": base, "base_seq": seq});
        let found = json!({"current": "b", "branches": [
            {"name": "main"}, made("b", "a", 9), made("c", "main", 7), made("a", "main", 3),
            made("d", "task/TASK-001", 8), {"name": "task/TASK-002"}, {"name": "task/TASK-001"},
        ]});
        let drawn = |all| {
            let lines = lineage(&found, all);
            let lines = lines.iter().map(|line| line.text("b").rendered(false));
            lines.collect::<Vec<String>>()
        };
        let few = [
            "main",
            "├ a  from main at #3",
            "│ └ b  from a at #9  checked out",
            "└ c  from main at #7",
            "task/TASK-001",
            "└ d  from task/TASK-001 at #8",
        ];
        assert_eq!(drawn(false), few);
        assert_eq!(drawn(true), [&few[..], &["task/TASK-002"]].concat());
    }
}
