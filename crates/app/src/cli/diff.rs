//! `understory diff`: what one branch shows and another does not, notes and graph.

use std::collections::HashMap;
use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;
use understory_engine::reasoning::diff::Diff;
use understory_engine::reasoning::graph_diff::{Change, GraphDiff};
use understory_engine::reasoning::graph_query::Slice;
use understory_engine::reasoning::shape::{Edge, EdgeKey, Entry, Key, Node, Version};
use understory_model::Fault;

use super::branch::{self, Rows, ask, differing, fields, is_gone, rows};
use super::text::{Style, Text};
use super::{CommandContext, Here, Outcome};

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
        let context = here.context()?;
        let args = json!({ "from": self.from, "to": self.to, "doc": self.doc });
        let most = usize::from(self.limit);
        let mut notes = rows::<Diff>(&context, "branchmind_diff", &args, most)?;
        notes.rows.sort_by_key(|note| note.seq);
        let graph = rows::<GraphDiff>(&context, "branchmind_graph_diff", &args, most)?;
        let graph = self.compared(&context, graph)?;
        if here.out.json {
            here.out.value(&json!({
                "from": self.from,
                "to": self.to,
                "notes": { "doc": notes.doc, "entries": notes.rows, "more": notes.more },
                "graph": { "doc": graph.doc, "changes": graph.rows, "more": graph.more },
            }));
        } else {
            self.show(here, &context, &notes, &graph);
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What each changed node and edge was on the other branch, and so what became of it.
    fn compared(
        &self,
        context: &CommandContext,
        graph: Rows<Change>,
    ) -> Result<Rows<Compared>, Fault> {
        let ids = graph.rows.iter().filter_map(|change| match change {
            Change::Node { id, .. } => Some(id.clone()),
            Change::Edge { .. } => None,
        });
        let ids: Vec<String> = ids.collect();
        let mut old: HashMap<String, Node> = HashMap::new();
        for some in ids.chunks(CHUNK) {
            let args = json!({ "branch": self.from, "doc": graph.doc, "ids": some,
                "include_edges": false });
            let nodes = rows::<Slice>(context, "branchmind_graph_query", &args, CHUNK)?.rows;
            old.extend(nodes.into_iter().map(|node| (node.id.clone(), node)));
        }
        let mut compared = Vec::with_capacity(graph.rows.len());
        for change in graph.rows {
            let (from, deleted) = match &change {
                Change::Node { id, to } => (old.remove(id).map(Version::Node), to.deleted),
                Change::Edge { key, to } => {
                    let edge = self.old_edge(context, &graph.doc, key)?;
                    (edge.map(Version::Edge), to.deleted)
                }
            };
            let what = match (deleted, is_gone(from.as_ref())) {
                (true, _) => What::Deleted,
                (false, true) => What::Added,
                (false, false) => What::Changed,
            };
            compared.push(Compared { change, what, from });
        }
        Ok(Rows {
            doc: graph.doc,
            rows: compared,
            more: graph.more,
        })
    }

    /// An edge is found between its two ends.
    fn old_edge(
        &self,
        context: &CommandContext,
        doc: &str,
        key: &EdgeKey,
    ) -> Result<Option<Edge>, Fault> {
        let args = json!({ "branch": self.from, "doc": doc, "ids": [key.from, key.to],
            "include_deleted": true });
        let slice: Slice = ask(context, "branchmind_graph_query", args)?;
        let same = |edge: &Edge| edge.from == key.from && edge.rel == key.rel && edge.to == key.to;
        Ok(slice.edges.into_iter().find(same))
    }

    fn show(
        &self,
        here: &Here,
        context: &CommandContext,
        notes: &Rows<Entry>,
        graph: &Rows<Compared>,
    ) {
        let out = &here.out;
        let part = |name: &str, doc: &str, is_empty: bool| {
            out.line(Text::new().bold(name).dim(format!("  {doc}")));
            if is_empty {
                out.line(Text::from("  ").dim("no difference"));
            }
        };
        part("notes", &notes.doc, notes.rows.is_empty());
        notes
            .rows
            .iter()
            .for_each(|note| show_note(here, context, note));
        out.blank();
        part("graph", &graph.doc, graph.rows.is_empty());
        graph
            .rows
            .iter()
            .for_each(|change| show_change(here, change));
        if notes.more || graph.more {
            out.hint("There is more: add --limit.");
        }
    }
}

/// A change, and what was there before.
#[derive(Serialize)]
struct Compared {
    #[serde(flatten)]
    change: Change,
    #[serde(rename = "change")]
    what: What,
    from: Option<Version>,
}

/// What became of a node or an edge.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum What {
    Added,
    Changed,
    Deleted,
}

fn show_note(here: &Here, context: &CommandContext, note: &Entry) {
    let when = context.clock.ago(note.ts);
    let title = note.title.as_deref().unwrap_or_default();
    let agent = note.agent.as_deref().unwrap_or_default();
    let line = Text::from("  ")
        .add(Style::Good, "+ ")
        .bold(title)
        .dim(if title.is_empty() { "" } else { "  " })
        .dim(format!("#{} {agent} {when}", note.seq));
    here.out.line(line);
    let content = note.content.as_deref().unwrap_or_default();
    let lines: Vec<&str> = content.lines().collect();
    for line in lines.iter().take(LINES) {
        here.out.hanging(Text::from("      ").plain(line), 6);
    }
    if lines.len() > LINES {
        let more = lines.len() - LINES;
        here.out
            .line(Text::from("      ").dim(format!("… {more} more")));
    }
}

fn show_change(here: &Here, compared: &Compared) {
    let (style, sign) = match compared.what {
        What::Added => (Style::Good, "+ "),
        What::Deleted => (Style::Bad, "- "),
        What::Changed => (Style::Warn, "~ "),
    };
    let line = Text::from("  ").add(style, sign);
    let (line, to) = match &compared.change {
        Change::Node { id, to } => (line.name(id), Version::Node(to.clone())),
        Change::Edge { key, to } => {
            let key = branch::key(&Key::Edge(key.clone()));
            (line.dim("edge ").name(key), Version::Edge(to.clone()))
        }
    };
    here.out.line(line);
    let rows = match compared.what {
        What::Deleted => Vec::new(),
        What::Added => fields(Some(&to))
            .into_iter()
            .map(|(name, value)| (name, Text::from(value)))
            .collect(),
        What::Changed => differing(&[compared.from.as_ref(), Some(&to)])
            .into_iter()
            .map(|(name, sides)| (name, turned(sides)))
            .collect(),
    };
    here.out.fields(6, rows);
}

/// `open → refuted`
fn turned(sides: Vec<Option<String>>) -> Text {
    let mut sides = sides.into_iter().map(|side| side.unwrap_or("–".to_owned()));
    let (from, to) = (sides.next(), sides.next());
    let text = Text::new().dim(from.unwrap_or_default()).dim(" → ");
    text.plain(to.unwrap_or_default())
}
