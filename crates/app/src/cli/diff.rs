//! `understory diff`: what one branch shows and another does not, notes and graph.

use std::collections::HashMap;
use std::process::ExitCode;

use serde_json::{Value, json};
use understory_model::Fault;

use super::branch::{self, Rows, ask, differing, fields, is_gone, rows};
use super::text::{Style, Text};
use super::{Desk, Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory diff main what-if          what what-if has that main has not
  understory diff task/TASK-001 what-if --doc TASK-001-graph
  understory diff main what-if --json | jq '.graph.changes[]'";

/// Lines of a note that are shown.
const LINES: usize = 8;
/// Nodes whose old side is asked for at once.
const CHUNK: usize = 100;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The branch to compare with
    #[arg(value_name = "FROM")]
    from: String,
    /// The branch whose notes and changes are shown
    #[arg(value_name = "TO")]
    to: String,
    /// The document (default: `notes` and the graph document that both branches have)
    #[arg(long, value_name = "DOC")]
    doc: Option<String>,
    /// Maximum number of notes, and of changes
    #[arg(long, short = 'n', value_name = "N", default_value_t = 200)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=10_000))]
    limit: u16,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let desk = here.desk()?;
        let mut args = json!({ "from": self.from, "to": self.to });
        if let Some(doc) = &self.doc {
            args["doc"] = doc.as_str().into();
        }
        let most = usize::from(self.limit);
        let mut notes = rows(&desk, "branchmind_diff", &args, "entries", most)?;
        notes.rows.sort_by_key(|note| note["seq"].as_i64());
        let mut graph = rows(&desk, "branchmind_graph_diff", &args, "changes", most)?;
        self.add_old_sides(&desk, &mut graph)?;
        if here.out.json {
            here.out.value(&json!({
                "from": self.from,
                "to": self.to,
                "notes": { "doc": notes.doc, "entries": notes.rows, "more": notes.more },
                "graph": { "doc": graph.doc, "changes": graph.rows, "more": graph.more },
            }));
        } else {
            self.show(here, &desk, &notes, &graph);
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What each changed node and edge was on the other branch, and so what became of it.
    fn add_old_sides(&self, desk: &Desk, graph: &mut Rows) -> Result<(), Fault> {
        let ids: Vec<&Value> = graph.rows.iter().map(|change| &change["id"]).collect();
        let ids: Vec<Value> = ids
            .into_iter()
            .filter(|id| id.is_string())
            .cloned()
            .collect();
        let mut old: HashMap<String, Value> = HashMap::new();
        for some in ids.chunks(CHUNK) {
            let args = json!({ "branch": self.from, "doc": graph.doc, "ids": some,
                "include_edges": false });
            for node in rows(desk, "branchmind_graph_query", &args, "nodes", CHUNK)?.rows {
                old.insert(branch::key(&node["id"]), node);
            }
        }
        for change in &mut graph.rows {
            let before = match change["kind"] == "node" {
                true => old.remove(&branch::key(&change["id"])).unwrap_or_default(),
                false => self.old_edge(desk, &graph.doc, &change["key"])?,
            };
            let what = match (is_gone(&change["to"]), is_gone(&before)) {
                (true, _) => "deleted",
                (_, true) => "added",
                _ => "changed",
            };
            change["change"] = what.into();
            change["from"] = before;
        }
        Ok(())
    }

    /// An edge is found between its two ends.
    fn old_edge(&self, desk: &Desk, doc: &Value, key: &Value) -> Result<Value, Fault> {
        let args = json!({ "branch": self.from, "doc": doc, "ids": [key["from"], key["to"]],
            "include_deleted": true });
        let mut answer = ask(desk, "branchmind_graph_query", args)?;
        let edges = answer["edges"].as_array_mut();
        let mut edges = edges.into_iter().flatten();
        let same = |edge: &&mut Value| ["from", "rel", "to"].iter().all(|n| edge[*n] == key[*n]);
        Ok(edges.find(same).map(Value::take).unwrap_or_default())
    }

    fn show(&self, here: &Here, desk: &Desk, notes: &Rows, graph: &Rows) {
        let out = &here.out;
        let part = |name: &str, rows: &Rows| {
            let doc = rows.doc.as_str().unwrap_or_default();
            out.line(Text::new().bold(name).dim(format!("  {doc}")));
            if rows.rows.is_empty() {
                out.line(Text::from("  ").dim("no difference"));
            }
        };
        part("notes", notes);
        notes
            .rows
            .iter()
            .for_each(|note| show_note(here, desk, note));
        out.blank();
        part("graph", graph);
        graph
            .rows
            .iter()
            .for_each(|change| show_change(here, change));
        if notes.more || graph.more {
            out.hint("There is more: add --limit.");
        }
    }
}

fn show_note(here: &Here, desk: &Desk, note: &Value) {
    let text = |name: &str| note[name].as_str().unwrap_or_default();
    let when = desk.clock.ago_text(text("ts"));
    let line = Text::from("  ")
        .add(Style::Good, "+ ")
        .bold(text("title"))
        .dim(if text("title").is_empty() { "" } else { "  " })
        .dim(format!("#{} {} {when}", note["seq"], text("agent")));
    here.out.line(line);
    let lines: Vec<&str> = text("content").lines().collect();
    for line in lines.iter().take(LINES) {
        here.out.hanging(Text::from("      ").plain(line), 6);
    }
    if lines.len() > LINES {
        let more = lines.len() - LINES;
        here.out
            .line(Text::from("      ").dim(format!("… {more} more")));
    }
}

fn show_change(here: &Here, change: &Value) {
    let (from, to) = (&change["from"], &change["to"]);
    let (style, sign) = match change["change"].as_str() {
        Some("added") => (Style::Good, "+ "),
        Some("deleted") => (Style::Bad, "- "),
        _ => (Style::Warn, "~ "),
    };
    let line = Text::from("  ").add(style, sign);
    let line = match change["kind"] == "node" {
        true => line.name(branch::key(&change["id"])),
        false => line.dim("edge ").name(branch::key(&change["key"])),
    };
    here.out.line(line);
    let rows = match change["change"].as_str() {
        Some("deleted") => Vec::new(),
        Some("added") => fields(to)
            .into_iter()
            .map(|(name, value)| (name, Text::from(value)))
            .collect(),
        _ => differing(&[from, to]).into_iter().map(turned).collect(),
    };
    here.out.fields(6, rows);
}

/// `open → refuted`
fn turned((name, sides): (String, Vec<Option<String>>)) -> (String, Text) {
    let mut sides = sides.into_iter().map(|side| side.unwrap_or("–".to_owned()));
    let (from, to) = (sides.next(), sides.next());
    let text = Text::new().dim(from.unwrap_or_default()).dim(" → ");
    (name, text.plain(to.unwrap_or_default()))
}
