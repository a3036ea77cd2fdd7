//! What is known of one task, read once for its panel and for its page.

use std::collections::HashMap;

use serde_json::{Value, json};
use understory_engine::garden::shown::Step;
use understory_engine::garden::timeline::why::Why;
use understory_engine::graph::board::{Plan, Task};
use understory_engine::graph::context::Context;
use understory_engine::graph::history::History;
use understory_engine::reasoning::notes::Page;
use understory_engine::reasoning::shape::Entry;
use understory_engine::reasoning::think_context;
use understory_model::Fault;
use understory_model::reasoning::EntryKind;

use crate::visit::Visit;

/// Neighbours that are named on each side.
pub const NEAR: usize = 50;

/// A task and what is around it.
pub struct Facts {
    pub context: Context,
    /// Where it stands; none for the root of a project, which is no task.
    pub task: Option<Task>,
    /// The same of its neighbours, by their handles.
    pub near: HashMap<String, Task>,
    pub notes: Vec<Entry>,
    /// Older notes that were not read.
    pub notes_more: bool,
    pub history: History,
    /// What it was made because of.
    pub because: Option<Step>,
    /// What was thought about it; on its page only.
    pub thoughts: Option<Thoughts>,
}

/// What was thought about a task.
pub struct Thoughts {
    pub trace: Vec<Entry>,
    pub cards: Option<think_context::Context>,
}

/// How much is read.
struct Room {
    notes: i64,
    events: i64,
}

const PANEL: Room = Room {
    notes: 5,
    events: 5,
};
const WHOLE: Room = Room {
    notes: 100,
    events: 100,
};

impl Facts {
    /// What a panel shows, or `None` if the task does not exist.
    pub fn of_panel(visit: &Visit<'_>, plan: &Plan, handle: &str) -> Result<Option<Facts>, Fault> {
        let asked = json!({"node_id": handle, "depth": 1});
        let context: Option<Context> = visit.ask_if_there("graph_context", asked)?;
        context
            .map(|context| Facts::around(visit, Some(plan), context, &PANEL))
            .transpose()
    }

    /// What a page shows.
    pub fn of_page(visit: &Visit<'_>, plan: Option<&Plan>, handle: &str) -> Result<Facts, Fault> {
        let context: Context =
            visit.ask("graph_context", json!({"node_id": handle, "depth": 1}))?;
        let mut facts = Facts::around(visit, plan, context, &WHOLE)?;
        let id = &facts.context.node.id;
        let (mut trace, _) = entries(visit, id, "trace", WHOLE.notes)?;
        // Its changes are its history already.
        trace.retain(|entry| entry.kind != EntryKind::Event);
        let asked = json!({"workspace": visit.workspace, "target": id, "limit_cards": 50});
        let cards = visit.ask_if_there("branchmind_think_context", asked)?;
        facts.thoughts = Some(Thoughts { trace, cards });
        Ok(facts)
    }

    fn around(
        visit: &Visit<'_>,
        plan: Option<&Plan>,
        context: Context,
        room: &Room,
    ) -> Result<Facts, Fault> {
        let id = context.node.id.clone();
        let asked = json!({"node_id": id, "limit": room.events});
        let history: History = visit.ask("graph_history", asked)?;
        let (notes, notes_more) = entries(visit, &id, "notes", room.notes)?;
        let why: Option<Why> = visit.ask_if_there("why", json!({"id": id}))?;
        let because = why.and_then(|why| why.steps.into_iter().nth(1));
        let sides = [&context.depends_on, &context.depended_by];
        let near = sides.into_iter().flat_map(|side| side.iter().take(NEAR));
        let children = context
            .children
            .children
            .iter()
            .take(NEAR)
            .map(|child| child.id.as_str());
        let mut handles: Vec<&str> = near
            .map(|one| one.node.id.as_str())
            .chain(children)
            .collect();
        handles.push(&id);
        let engine = visit.context.engine;
        let tasks = match plan {
            Some(plan) => engine.view(visit.context.caller, |view| plan.named(view, &handles))?,
            None => Vec::new(),
        };
        let mut near: HashMap<String, Task> = tasks
            .into_iter()
            .map(|task| (task.id.clone(), task))
            .collect();
        let task = near.remove(&id).filter(|_| !context.ancestors.is_empty());
        Ok(Facts {
            context,
            task,
            near,
            notes,
            notes_more,
            history,
            because,
            thoughts: None,
        })
    }

    /// The same as data.
    pub fn data(&self) -> Value {
        let mut told = json!({
            "context": self.context,
            "task": self.task,
            "notes": self.notes,
            "history": self.history,
            "because": self.because,
        });
        if let Some(thoughts) = &self.thoughts {
            told["trace"] = json!(thoughts.trace);
            told["cards"] = json!(thoughts.cards);
        }
        told
    }
}

/// The end of a document of a task, and whether there is more of it.
fn entries(
    visit: &Visit<'_>,
    id: &str,
    kind: &str,
    most: i64,
) -> Result<(Vec<Entry>, bool), Fault> {
    let asked =
        json!({"workspace": visit.workspace, "target": id, "doc_kind": kind, "limit": most});
    let page: Option<Page<Entry>> = visit.ask_if_there("branchmind_show", asked)?;
    Ok(match page {
        Some(page) => (page.entries, page.pagination.has_more),
        None => (Vec::new(), false),
    })
}
