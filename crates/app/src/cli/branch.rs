//! What the commands about branches share: calls in the command's workspace, lists that are read to
//! their end, and the fields of a graph's nodes and edges laid beside each other.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use understory_engine::reasoning::branch_list::{self, Asked, Branches};
use understory_engine::reasoning::conflict_show::Conflict;
use understory_engine::reasoning::conflict_show::Shown;
use understory_engine::reasoning::diff::Diff;
use understory_engine::reasoning::docs::{self, BranchState};
use understory_engine::reasoning::graph_conflicts::Conflicts;
use understory_engine::reasoning::graph_conflicts::Line;
use understory_engine::reasoning::graph_diff::{Change, GraphDiff};
use understory_engine::reasoning::graph_query::Slice;
use understory_engine::reasoning::notes::Page;
use understory_engine::reasoning::shape::{Entry, Key, Node, Pagination, Version};
use understory_model::reasoning::VertexKind;
use understory_model::{Fault, Seq};

use super::CommandContext;
use super::here::ROOM;
use super::render::words::plain;
use super::text::Text;
use crate::object::with;

/// The branch that is there from the start.
pub use understory_engine::reasoning::place::MAIN;

/// Branches that are looked at; nobody draws more.
const LOOKED_AT: i64 = 10_000;
/// A page of a list.
const PAGE: usize = 200;

/// Calls a tool that names its workspace, for the type of its answer.
pub fn ask<T: DeserializeOwned>(
    context: &CommandContext,
    tool: &str,
    args: Value,
) -> Result<T, Fault> {
    let workspace = context.caller.workspace.as_str().into();
    let args = with(args, [("workspace", workspace)]);
    context.ask(tool, args).map_err(for_a_shell)
}

/// What hints call a tool, and the command that does the same.
const COMMANDS: [(&str, &str); 4] = [
    ("branchmind_branch_list", "`understory branches`"),
    ("branchmind_branch_create", "`understory branch`"),
    ("branchmind_checkout", "`understory checkout`"),
    ("graph_query lists", "`understory search` finds"),
];

/// A fault whose hint names commands instead of tools.
fn for_a_shell(mut fault: Fault) -> Fault {
    if let Some(hint) = &mut fault.hint {
        for (tool, command) in COMMANDS {
            *hint = hint.replace(tool, command);
        }
    }
    fault
}

/// All branches, and which is checked out.
pub fn all(context: &CommandContext) -> Result<Branches, Fault> {
    let workspace = &context.caller.workspace;
    let asked = Asked {
        cursor: None,
        limit: LOOKED_AT,
    };
    context.engine.view(&context.caller, |view| {
        branch_list::list(view, workspace, &asked)
    })
}

/// One branch with its documents.
pub fn state(context: &CommandContext, name: &str) -> Result<BranchState, Fault> {
    context
        .engine
        .view(&context.caller, |view| docs::shown(view.tx, view.ws, name))
        .map_err(for_a_shell)
}

/// The branch that another was made from.
pub fn base(all: &Branches, name: &str) -> Option<String> {
    let found = all.branches.iter().find(|branch| branch.name == name)?;
    found.base_branch.clone()
}

/// A page of a longer list, as a tool answers it.
pub trait Paged: DeserializeOwned {
    type Row;
    type Cursor: Serialize;

    /// The document that it was read from, its rows, and where the page is.
    fn open(self) -> (String, Vec<Self::Row>, Pagination<Self::Cursor>);
}

/// Says of which fields of an answer a page consists.
macro_rules! paged {
    ($($page:ty: $list:ident of $row:ty, $cursor:ty;)*) => {$(
        impl Paged for $page {
            type Row = $row;
            type Cursor = $cursor;

            fn open(self) -> (String, Vec<$row>, Pagination<$cursor>) {
                (self.doc, self.$list, self.pagination)
            }
        }
    )*};
}

paged! {
    Page<Entry>: entries of Entry, Seq;
    Diff: entries of Entry, Seq;
    GraphDiff: changes of Change, Seq;
    Slice: nodes of Node, Seq;
    Conflicts: conflicts of Line, Seq;
}

/// A list that was read page by page.
pub struct Rows<R> {
    /// The document that it was read from.
    pub doc: String,
    pub rows: Vec<R>,
    /// Whether there are more than were asked for.
    pub more: bool,
}

/// Up to `most` rows of a tool's list.
pub fn rows<P: Paged>(
    context: &CommandContext,
    tool: &str,
    args: &Value,
    most: usize,
) -> Result<Rows<P::Row>, Fault> {
    let mut found = Rows {
        doc: String::new(),
        rows: Vec::new(),
        more: true,
    };
    let mut cursor = Value::Null;
    while found.more && found.rows.len() < most {
        let limit = PAGE.min(most - found.rows.len());
        let more = [
            ("limit", limit.into()),
            ("max_chars", ROOM.into()),
            ("cursor", cursor),
        ];
        let args = with(args.clone(), more);
        let page: P = ask(context, tool, args)?;
        let (doc, rows, place) = page.open();
        found.doc = doc;
        found.more = place.has_more;
        found.rows.extend(rows);
        cursor = json!(place.next_cursor);
        // A page without a next one is the last, whatever it says.
        if cursor.is_null() {
            break;
        }
    }
    Ok(found)
}

/// Whether there is nothing: never made, or deleted.
pub fn is_gone(version: Option<&Version>) -> bool {
    match version {
        None => true,
        Some(Version::Node(node)) => node.deleted,
        Some(Version::Edge(edge)) => edge.deleted,
    }
}

/// What a node or an edge says, field by field; nothing where it is gone.
pub fn fields(version: Option<&Version>) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    let meta = match version.filter(|version| !is_gone(Some(version))) {
        None => return fields,
        Some(Version::Edge(edge)) => &edge.meta,
        Some(Version::Node(node)) => {
            let tags = node.tags.as_ref().map(|tags| tags.join(", "));
            for (name, value) in [
                ("type", &node.kind),
                ("title", &node.title),
                ("status", &node.status),
                ("text", &node.text),
                ("tags", &tags),
            ] {
                fields.extend(value.clone().map(|value| (name.to_owned(), value)));
            }
            &node.meta
        }
    };
    let meta = meta.iter().flat_map(Map::iter);
    fields.extend(meta.map(|(name, value)| (format!("meta.{name}"), plain(value))));
    fields
}

/// A field, and what each of several versions has there.
pub type Differing = (String, Vec<Option<String>>);

/// Every field that differs between versions.
pub fn differing(versions: &[Option<&Version>]) -> Vec<Differing> {
    let sides: Vec<Vec<(String, String)>> = versions.iter().map(|side| fields(*side)).collect();
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in sides.iter().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let of = |side: &Vec<(String, String)>, name: &String| {
        let found = side.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    };
    let rows = names.into_iter().map(|name| {
        let row = sides.iter().map(|side| of(side, name)).collect::<Vec<_>>();
        (name.clone(), row)
    });
    rows.filter(|(_, row)| row.iter().any(|side| *side != row[0]))
        .collect()
}

/// `h1` for a node, `h2 supports q1` for an edge.
pub fn key(key: &Key) -> String {
    match key {
        Key::Node(id) => id.clone(),
        Key::Edge(edge) => format!("{} {} {}", edge.from, edge.rel, edge.to),
    }
}

fn kind_name(kind: VertexKind) -> &'static str {
    match kind {
        VertexKind::Node => "node",
        VertexKind::Edge => "edge",
    }
}

/// `conflict-…  node h1  what-if into main`
pub fn conflict_line(id: &str, kind: VertexKind, of: &Key, from: &str, into: &str) -> Text {
    Text::new()
        .name(id)
        .plain(format!("  {} ", kind_name(kind)))
        .bold(key(of))
        .dim(format!("  {from} into {into}"))
}

/// As [`conflict_line`], for a conflict with all its sides.
pub fn conflict_head(conflict: &Conflict, into: &str) -> Text {
    let Conflict {
        conflict_id,
        kind,
        key,
        from,
        ..
    } = conflict;
    conflict_line(conflict_id, *kind, key, from, into)
}

/// The sides of a conflict, a block for each field in which they differ.
pub fn sides(conflict: &Conflict) -> Vec<(String, Vec<(String, Text)>)> {
    let sides = [
        conflict.base.as_ref(),
        conflict.ours.as_ref(),
        Some(&conflict.theirs),
    ];
    let names = [
        "base".to_owned(),
        format!("into {}", conflict.into),
        format!("from {}", conflict.from),
    ];
    let block = |values: Vec<Text>| names.clone().into_iter().zip(values).collect();
    let mut blocks = Vec::new();
    if sides.iter().any(|side| is_gone(*side)) {
        let there = sides.map(|side| match (is_gone(side), side) {
            (false, _) => Text::from("there"),
            (true, None) => Text::new().dim("not there"),
            (true, Some(_)) => Text::new().dim("deleted"),
        });
        blocks.push((kind_name(conflict.kind).to_owned(), block(there.into())));
    }
    for (name, values) in differing(&sides) {
        let values = values.into_iter().map(|value| match value {
            Some(value) => Text::from(value),
            None => Text::new().dim("–"),
        });
        blocks.push((name, block(values.collect())));
    }
    blocks
}

/// A conflict with all its sides.
pub fn conflict(context: &CommandContext, id: &str) -> Result<Conflict, Fault> {
    let args = json!({ "conflict_id": id, "max_chars": ROOM });
    let shown: Shown = ask(context, "branchmind_graph_conflict_show", args)?;
    Ok(shown.conflict)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(json: Value) -> Version {
        let mut whole = json!({ "id": "h1", "deleted": false, "last_seq": 1 });
        if let (Value::Object(whole), Value::Object(fields)) = (&mut whole, json) {
            whole.extend(fields);
        }
        serde_json::from_value(whole).unwrap()
    }

    #[test]
    fn only_what_differs_is_laid_beside_each_other() {
        let old = json!({"type": "hypothesis", "title": "t", "status": "open", "meta": {"w": 1}});
        let new = json!({"type": "hypothesis", "title": "t", "tags": ["a", "b"], "meta": {"w": 2}});
        let (old, new) = (version(old), version(new));
        let some = |text: &str| Some(text.to_owned());
        let rows = differing(&[Some(&old), Some(&new)]);
        let expected = [
            ("status".to_owned(), vec![some("open"), None]),
            ("meta.w".to_owned(), vec![some("1"), some("2")]),
            ("tags".to_owned(), vec![None, some("a, b")]),
        ];
        assert_eq!(rows, expected);
        let gone = version(json!({"title": "t", "deleted": true}));
        assert!(fields(Some(&gone)).is_empty());
        assert!(differing(&[Some(&gone), None]).is_empty());
    }
}
