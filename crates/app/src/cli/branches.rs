//! `understory branches`: the lineage of branches drawn as a tree.

use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;
use understory_engine::reasoning::branch::Branch;
use understory_model::Seq;

use super::branch::{self, MAIN};
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
        let context = here.context()?;
        let found = branch::all(&context)?;
        let current = found.checkout.current.as_str();
        let drawn = lineage(&found.branches, current, self.all);
        if here.out.json {
            here.out.value(&json!({
                "current": current,
                "branches": drawn,
                "truncated": found.truncated,
            }));
            return Ok(ExitCode::SUCCESS);
        }
        for line in &drawn {
            here.out.cut(line.text(current));
        }
        if found.truncated {
            here.out.hint("There are more than are drawn here.");
        }
        if drawn.iter().all(|line| line.base_seq.is_none()) {
            here.out.hint("Make one: understory branch what-if");
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A branch in its place in the tree.
#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    #[serde(rename = "base_branch", skip_serializing_if = "Option::is_none")]
    base: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_seq: Option<Seq>,
    depth: usize,
    /// The strokes before it.
    #[serde(skip)]
    strokes: String,
}

impl Line<'_> {
    fn text(&self, current: &str) -> Text {
        let mut text = Text::new().dim(&self.strokes).name(self.name);
        if let (Some(base), Some(seq)) = (self.base, self.base_seq) {
            text = text.dim(format!("  from {base} at #{seq}"));
        }
        if self.name == current {
            text.add(Style::Good, "  checked out")
        } else {
            text
        }
    }
}

/// The branches in the order of the tree.
fn lineage<'a>(branches: &'a [Branch], current: &'a str, all: bool) -> Vec<Line<'a>> {
    let mut tops: Vec<&str> = vec![MAIN];
    let bases = branches.iter().filter_map(|b| b.base_branch.as_deref());
    let rootless = branches.iter().filter(|b| b.base_branch.is_none());
    let listed = rootless.map(|b| b.name.as_str());
    let made = |name: &str| {
        let mut made = branches.iter().filter(|b| b.base_branch.is_some());
        made.any(|b| b.name == name)
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
            base_seq: None,
            depth: 0,
            strokes: String::new(),
        });
        below(branches, top, "", 1, &mut lines);
    }
    lines
}

/// What was made from a branch, the oldest first.
fn below<'a>(
    branches: &'a [Branch],
    above: &str,
    indent: &str,
    depth: usize,
    lines: &mut Vec<Line<'a>>,
) {
    let mut here: Vec<&Branch> = branches
        .iter()
        .filter(|branch| branch.base_branch.as_deref() == Some(above))
        .collect();
    here.sort_by_key(|branch| branch.base_seq);
    for (at, branch) in here.iter().enumerate() {
        let last = at + 1 == here.len();
        let name = branch.name.as_str();
        lines.push(Line {
            name,
            base: branch.base_branch.as_deref(),
            base_seq: branch.base_seq,
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
        let found = json!([
            {"name": "main"}, made("b", "a", 9), made("c", "main", 7), made("a", "main", 3),
            made("d", "task/TASK-001", 8), {"name": "task/TASK-002"}, {"name": "task/TASK-001"},
        ]);
        let found: Vec<Branch> = serde_json::from_value(found).unwrap();
        let drawn = |all| {
            let lines = lineage(&found, "b", all);
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
