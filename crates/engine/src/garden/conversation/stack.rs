//! `garden_stack`: every conversation of a project in the order of its making, the tree that they
//! are, and who stands where.

use std::collections::{BTreeMap, HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::{Fit, Shape};
use understory_model::error::Result;
use understory_model::page::{Cursor, Key};
use understory_model::text::cut;
use understory_model::{Id, limits};
use understory_storage::{items, logs as rows};

use crate::View;
use crate::garden::conversation::frame::{self, Place};
use crate::garden::conversation::log::State;
use crate::garden::page::Pagination;
use crate::kernel::core::Thing;
use crate::kernel::project;
use crate::kernel::titles::{PREVIEW, log_name};

/// The name of this list in its cursors.
const LIST: &str = "stack";
/// Levels that the tree nests; what is deeper stands beside, with its parent's name. JSON readers
/// give up on what is nested without end.
const NESTED: usize = 24;

#[derive(Debug, Clone)]
pub struct Asked {
    pub project: Option<String>,
    pub cursor: Option<String>,
    pub limit: i64,
}

/// The answer of `garden_stack`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Stack {
    /// The conversations of the project in the order of their making: `uuid_<uuid>`.
    pub stack: Vec<String>,
    /// The same, nested by their parents as far as those are on this page.
    pub tree: Vec<Branch>,
    /// Where everybody stands, by name.
    pub frames: BTreeMap<String, Place>,
    pub pagination: Pagination,
    /// Whether conversations were left out to keep the answer within `max_chars`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    #[serde(skip)]
    from: Page,
}

/// A conversation with those that were forked from it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    pub uuid: String,
    /// The conversation that it came from; null for the first of a project.
    pub parent_uuid: Option<String>,
    pub state: State,
    pub created_by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How the summary of a collapsed one begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Conversations of the same form.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub children: Vec<Branch>,
}

impl Fit for Stack {
    const SHAPE: Shape = Shape::Rows { list: "stack" };

    fn rows(&self) -> usize {
        self.from.leaves.len()
    }

    fn first(&self, kept: usize) -> Option<Stack> {
        Some(self.from.first(kept, &self.frames))
    }

    fn lean(&self) -> Vec<Stack> {
        let mut one = self.from.first(1, &self.frames);
        for branch in &mut one.tree {
            (branch.title, branch.summary) = (None, None);
        }
        vec![one]
    }
}

/// What a stack is made of. The tree depends on which conversations are shown, so it is made again
/// for each number of them.
#[derive(Debug, Default)]
struct Page {
    leaves: Vec<Leaf>,
    /// Whether there are more behind them.
    more: bool,
}

impl Page {
    fn first(&self, kept: usize, frames: &BTreeMap<String, Place>) -> Stack {
        let page = &self.leaves[..kept.min(self.leaves.len())];
        let cut = page.len() < self.leaves.len();
        let last = page.last().filter(|_| self.more || cut);
        Stack {
            stack: page.iter().map(|leaf| leaf.shown.uuid.clone()).collect(),
            tree: tree(page),
            frames: frames.clone(),
            pagination: Pagination {
                next_cursor: last.map(|last| Cursor::new(LIST, vec![Key::from(last.id)]).encode()),
            },
            truncated: cut,
            from: Page::default(),
        }
    }
}

/// A conversation of the page.
#[derive(Debug)]
struct Leaf {
    id: Id,
    parent: Option<Id>,
    shown: Branch,
}

pub fn stack(view: &mut View<'_, '_>, asked: &Asked) -> Result<Stack> {
    let after = match &asked.cursor {
        Some(cursor) => Cursor::decode(cursor, LIST)?.int(0)?,
        None => Id::ZERO,
    };
    let Some(project) = project::to_read(view, view.caller, asked.project.as_deref())? else {
        return Ok(Stack::default());
    };
    let mut logs = rows::of_project(view.tx, view.ws, project.id, after, asked.limit + 1)?;
    let more = logs.len() as i64 > asked.limit;
    logs.truncate(usize::try_from(asked.limit).unwrap_or(0));
    let mut leaves = Vec::with_capacity(logs.len());
    let ids: Vec<Id> = logs.iter().map(|entity| entity.id).collect();
    let names = items::uuids_of(view.tx, view.ws, &ids)?;
    for entity in logs {
        let name = names.get(&entity.id).map(log_name);
        let thing = Thing::open(entity)?;
        leaves.push(leaf(&thing, name.unwrap_or_default()));
    }
    let frames = frames(view, project.id)?;
    let from = Page { leaves, more };
    let whole = from.first(from.leaves.len(), &frames);
    Ok(Stack { from, ..whole })
}

fn leaf(thing: &Thing, name: String) -> Leaf {
    let summary = thing.data.get("summary").filter(|told| !told.is_null());
    let text = |field: &str| thing.data.get(field)?.as_str().map(str::to_string);
    let told = |told: &Value| cut(told["content"].as_str().unwrap_or_default(), PREVIEW);
    Leaf {
        id: thing.entity.id,
        parent: thing.entity.parent,
        shown: Branch {
            uuid: name,
            parent_uuid: text("parent_uuid"),
            state: match summary {
                Some(_) => State::Collapsed,
                None => State::Active,
            },
            created_by: thing.entity.created_by.clone(),
            title: text("title"),
            summary: summary.map(told),
            children: Vec::new(),
        },
    }
}

/// The conversations nested by their parents, as far as these are of the same page.
fn tree(page: &[Leaf]) -> Vec<Branch> {
    let mut levels: HashMap<Id, usize> = HashMap::new();
    let mut below: HashMap<Id, Vec<Branch>> = HashMap::new();
    let mut tops = HashSet::new();
    for leaf in page {
        let level = leaf.parent.and_then(|parent| levels.get(&parent).copied());
        let level = level.map_or(0, |level| level + 1) % NESTED;
        if level == 0 {
            tops.insert(leaf.id);
        }
        levels.insert(leaf.id, level);
    }
    // Children come after their parents, so that from the end each finds its own complete.
    let mut roots = Vec::new();
    for leaf in page.iter().rev() {
        let mut shown = leaf.shown.clone();
        shown.children = below.remove(&leaf.id).unwrap_or_default();
        shown.children.reverse();
        match leaf.parent.filter(|_| !tops.contains(&leaf.id)) {
            Some(parent) => below.entry(parent).or_default().push(shown),
            None => roots.push(shown),
        }
    }
    roots.reverse();
    roots
}

/// Where everybody stands, by name.
fn frames(view: &mut View<'_, '_>, project: Id) -> Result<BTreeMap<String, Place>> {
    let mut shown = BTreeMap::new();
    for one in rows::frames(view.tx, view.ws, project, limits::PAGE)? {
        let frame = frame::shape(view.tx, view.ws, &one)?;
        shown.insert(frame.participant, frame.place);
    }
    Ok(shown)
}
