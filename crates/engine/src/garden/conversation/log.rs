//! `garden_log`: a conversation with its items, and what it inherits from those it came from.
//!
//! A conversation sees its parents' items up to where it was forked. Items have rising numbers and
//! a fork has the number of the item that made it, so that "up to the fork" is one comparison,
//! and the items of a whole line of parents stand one after the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::answer::{Fit, Next, Shape};
use understory_model::error::{Code, Fault, Result};
use understory_model::id::item_name;
use understory_model::item::{Item, Named};
use understory_model::page::{Cursor, Key};
use understory_model::{Id, Seq, Time, Ws, limits};
use understory_storage::logs::Log;
use understory_storage::{ReadTx, entities, items, logs as rows};

use crate::garden::conversation::{find, root};
use crate::garden::page::Paging;
use crate::garden::shape::{ItemShape, Shapes};
use crate::kernel::core::Thing;
use crate::kernel::names::Scope;
use crate::kernel::project;
use crate::kernel::titles::log_of;
use crate::kernel::work::Create;
use crate::kinds::EntityKind;
use crate::{View, Work};

/// The name of this list in its cursors.
const LIST: &str = "log";

/// Which items of which conversation.
#[derive(Debug, Clone)]
pub struct Asked {
    pub project: Option<String>,
    /// The caller's own where none is named.
    pub log: Option<String>,
    pub inherited: bool,
    pub cursor: Option<String>,
    pub limit: i64,
}

/// The answer of `garden_log`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Page {
    /// Null where nobody began the project's conversation yet.
    pub log: Option<Conversation>,
    /// Oldest first.
    pub items: Vec<ItemShape>,
    #[serde(flatten)]
    pub paging: Paging,
}

impl Fit for Page {
    const SHAPE: Shape = Shape::Pagination { list: "items" };

    fn cursor(&self, kept: usize) -> Option<Next> {
        self.paging.cursor(kept)
    }
}

pub fn show(view: &mut View<'_, '_>, asked: &Asked) -> Result<Page> {
    let after = match &asked.cursor {
        Some(cursor) => Cursor::decode(cursor, LIST)?.int(0)?,
        None => Seq::ZERO,
    };
    let Some(id) = meant(view, asked)? else {
        return Ok(Page::default());
    };
    let spans = if asked.inherited {
        lineage(view.tx, view.ws, id)?
    } else {
        vec![(id, Seq::MAX)]
    };
    let mut found = within(view.tx, view.ws, &spans, after, asked.limit + 1)?;
    let more = found.len() as i64 > asked.limit;
    found.truncate(usize::try_from(asked.limit).unwrap_or(0));
    let shapes = Shapes::load(view.tx, view.ws, view.caller, &found)?;
    let cursors = found.iter().map(|item| cursor(item.seq)).collect();
    let thing = thing(view, id)?;
    Ok(Page {
        log: Some(shape(view.tx, view.ws, &thing)?),
        items: found.iter().map(|item| shapes.item(item)).collect(),
        paging: Paging::new(cursors, more),
    })
}

fn cursor(seq: Seq) -> String {
    Cursor::new(LIST, vec![Key::from(seq)]).encode()
}

/// The conversation that a read means; `None` where the caller's project has none yet.
fn meant(view: &mut View<'_, '_>, asked: &Asked) -> Result<Option<Id>> {
    let caller = view.caller;
    let (tx, ws) = (&mut *view.tx, view.ws);
    if let Some(name) = &asked.log {
        return Ok(Some(find(tx, Scope::ids(ws, caller), "log", name)?.id));
    }
    let Some(project) = project::to_read(view, caller, asked.project.as_deref())? else {
        return Ok(None);
    };
    let (tx, ws) = (&mut *view.tx, view.ws);
    Ok(match rows::get_frame(tx, ws, project.id, &caller.agent)? {
        Some(frame) => Some(frame.log),
        None => root(tx, ws, project.id)?.map(|root| root.id),
    })
}

fn thing(view: &mut View<'_, '_>, id: Id) -> Result<Thing> {
    let entity = entities::get(view.tx, view.ws, id)?;
    Thing::open(entity.ok_or_else(not_in_core)?)
}

fn not_in_core() -> Fault {
    Fault::new(Code::StoreCorrupt, "a conversation is not in core")
        .hint("Run `understory rebuild`.")
}

/// The conversations whose items one of them shows, the first of them first, each with the last
/// place that belongs to it.
pub fn lineage(tx: &mut ReadTx<'_>, ws: Ws, log: Id) -> Result<Vec<(Id, Seq)>> {
    let mut spans = vec![(log, Seq::MAX)];
    let mut at = log;
    while let Some(parent) = row(tx, ws, at)?.parent {
        spans.push((parent, at.seq() - 1));
        at = parent;
    }
    spans.reverse();
    Ok(spans)
}

/// The items of such a line after a place, in order.
fn within(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    spans: &[(Id, Seq)],
    after: Seq,
    most: i64,
) -> Result<Vec<Item>> {
    let mut found: Vec<Item> = Vec::new();
    for (log, upto) in spans.iter().filter(|(_, upto)| *upto > after) {
        let left = most - found.len() as i64;
        if left <= 0 {
            break;
        }
        found.extend(rows::items(tx, ws, *log, (after, *upto), left)?);
    }
    Ok(found)
}

/// Whether an item belongs to what a conversation shows.
pub fn shows(tx: &mut ReadTx<'_>, ws: Ws, log: Id, seq: Seq) -> Result<bool> {
    for (log, upto) in lineage(tx, ws, log)? {
        if seq <= upto && rows::has(tx, ws, log, seq)? {
            return Ok(true);
        }
    }
    Ok(false)
}

pub fn row(tx: &mut ReadTx<'_>, ws: Ws, log: Id) -> Result<Log> {
    rows::get(tx, ws, log)?.ok_or_else(not_in_core)
}

/// A conversation.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Conversation {
    /// `uuid_<uuid>`.
    pub uuid: Option<String>,
    /// The conversation that it came from; null for the first of a project.
    pub parent_uuid: Option<String>,
    pub state: State,
    /// What came of it; null while it is active.
    pub summary: Option<Summary>,
    pub created_at: Time,
    pub created_by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The last item of its parent that it shows: `item_<uuid>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_at: Option<String>,
    /// The collapsed conversation that it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
}

/// Whether a conversation takes more items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Active,
    Collapsed,
}

/// What came of a conversation.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    pub timestamp: Time,
    pub author: String,
    pub content: String,
    /// The ids of the parts of `content`.
    pub fragment_ids: Vec<String>,
}

/// What a conversation's entity keeps.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Kept {
    parent_uuid: Option<String>,
    summary: Option<Summary>,
    title: Option<String>,
    forked_at: Option<String>,
    continues: Option<String>,
}

/// A conversation as it is shown.
pub fn shape(tx: &mut ReadTx<'_>, ws: Ws, thing: &Thing) -> Result<Conversation> {
    let kept: Kept = serde_json::from_value(Value::Object(thing.data.clone())).map_err(|_| {
        Fault::new(
            Code::StoreCorrupt,
            "a conversation's stored value cannot be read",
        )
        .hint("Run `understory verify`.")
    })?;
    Ok(Conversation {
        uuid: log_of(tx, ws, thing.entity.id)?,
        parent_uuid: kept.parent_uuid,
        state: match kept.summary {
            Some(_) => State::Collapsed,
            None => State::Active,
        },
        summary: kept.summary,
        created_at: thing.entity.created_at,
        created_by: thing.entity.created_by.clone(),
        title: kept.title,
        forked_at: kept.forked_at,
        continues: kept.continues,
    })
}

/// A conversation that a write names, and its project.
pub fn named(
    work: &mut Work<'_, '_>,
    project: Option<&str>,
    field: &str,
    name: &str,
) -> Result<(Id, Id)> {
    let ws = work.ws();
    let caller = work.caller;
    let entity = find(work.read()?, Scope::ids(ws, caller), field, name)?;
    let own = entity.project.ok_or_else(not_in_core)?;
    if let Some(project) = project
        && project::to_write(work, Some(project), false)? != own
    {
        return Err(Fault::invalid("project", format!("is not that of {field}")));
    }
    Ok((own, entity.id))
}

/// A conversation to be made below another.
#[derive(Debug, Clone)]
pub struct New {
    pub project: Id,
    pub parent: Id,
    /// Whether it goes on where the other ended.
    pub continues: bool,
    pub title: Option<String>,
}

/// Makes a conversation; its id.
pub fn create(work: &mut Work<'_, '_>, new: New) -> Result<Id> {
    let New {
        project,
        parent,
        continues,
        title,
    } = new;
    let ws = work.ws();
    let depth = lineage(work.read()?, ws, parent)?.len();
    if depth >= limits::LOG_DEPTH {
        let problem = format!(
            "conversations would be nested deeper than {}",
            limits::LOG_DEPTH
        );
        return Err(
            Fault::new(Code::DepthExceeded, problem).hint("Fork from one nearer to the root.")
        );
    }
    let parent_uuid = log_of(work.read()?, ws, parent)?;
    let mut data = serde_json::Map::new();
    if continues {
        data.insert("continues".into(), parent_uuid.clone().into());
    }
    data.insert("parent_uuid".into(), parent_uuid.into());
    data.insert(
        "forked_at".into(),
        last_name(work.read()?, ws, parent)?.into(),
    );
    data.insert("summary".into(), Value::Null);
    if let Some(title) = title {
        data.insert("title".into(), title.into());
    }
    let parent = Named {
        handle: work.thing(parent)?.entity.handle.clone(),
        id: parent,
    };
    work.create(Create {
        kind: EntityKind::Log,
        project: Some(project),
        parent: Some(parent),
        data,
        ..Create::default()
    })
}

/// The nearest open conversation that one came from.
pub fn nearest_open(tx: &mut ReadTx<'_>, ws: Ws, log: Id) -> Result<Option<Id>> {
    let mut at = row(tx, ws, log)?.parent;
    while let Some(id) = at {
        let above = row(tx, ws, id)?;
        if above.open {
            return Ok(Some(id));
        }
        at = above.parent;
    }
    Ok(None)
}

/// The name of the last item of a conversation.
fn last_name(tx: &mut ReadTx<'_>, ws: Ws, log: Id) -> Result<Option<String>> {
    let Some(last) = rows::last(tx, ws, log)? else {
        return Ok(None);
    };
    let item = items::get(tx, ws, last)?;
    Ok(item.map(|item| item_name(&item.uuid)))
}
