//! `garden_log`: a conversation with its items, and what it inherits from those it came from.
//!
//! A conversation sees its parents' items up to where it was forked. Items bear rising numbers and
//! a fork bears the number of the item that made it, so that "up to the fork" is one comparison,
//! and the items of a whole line of parents stand one after the other.

use serde_json::{Value, json};
use understory_model::budget::Budget;
use understory_model::error::{Code, Fault, Result};
use understory_model::id::item_name;
use understory_model::item::{Item, Named};
use understory_model::page::{Cursor, Key};
use understory_model::{Caller, Id, Seq, Ws, limits};
use understory_storage::logs::{self as rows, Log};
use understory_storage::{Tx, entities, items};

use super::logs::{find, root};
use super::shape::{Shapes, log_of};
use super::timeline::paged;
use crate::core::Thing;
use crate::kinds::EntityKind;
use crate::names::Scope;
use crate::work::Create;
use crate::{View, Work, project};

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

/// `garden_log`, oldest first.
pub fn show(
    view: &mut View<'_, '_>,
    caller: &Caller,
    asked: &Asked,
    budget: &Budget,
) -> Result<Value> {
    let after = match &asked.cursor {
        Some(cursor) => Cursor::decode(cursor, LIST)?.int(0)?,
        None => 0,
    };
    let Some(id) = meant(view, caller, asked)? else {
        return Ok(empty());
    };
    let spans = match asked.inherited {
        true => lineage(view.tx, view.ws, id)?,
        false => vec![(id, Seq::MAX)],
    };
    let mut found = within(view.tx, view.ws, &spans, after, asked.limit + 1)?;
    let more = found.len() as i64 > asked.limit;
    found.truncate(usize::try_from(asked.limit).unwrap_or(0));
    let shapes = Shapes::load(view.tx, view.ws, caller, &found)?;
    let lines: Vec<Value> = found.iter().map(|item| shapes.item(item)).collect();
    let cursors: Vec<String> = found.iter().map(|item| cursor(item.seq)).collect();
    let thing = thing(view, id)?;
    let answer = json!({ "log": shape(view.tx, view.ws, &thing)?, "items": lines });
    Ok(paged(answer, "items", (&cursors, more), budget))
}

/// The answer before the workspace's first write.
pub fn nothing_yet(caller: &Caller, asked: &Asked) -> Result<Value> {
    project::nothing_yet(caller, asked.project.as_deref())?;
    match &asked.log {
        Some(name) => Err(crate::view::missing(crate::Sought::Conversation, name, [])),
        None => Ok(empty()),
    }
}

/// A project whose conversation nobody began.
fn empty() -> Value {
    json!({ "log": null, "items": [], "pagination": { "next_cursor": null }, "truncated": false })
}

fn cursor(seq: Seq) -> String {
    Cursor::new(LIST, vec![Key::Int(seq)]).encode()
}

/// The conversation that a read means; `None` where the caller's project has none yet.
fn meant(view: &mut View<'_, '_>, caller: &Caller, asked: &Asked) -> Result<Option<Id>> {
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
pub fn lineage(tx: &mut Tx<'_>, ws: Ws, log: Id) -> Result<Vec<(Id, Seq)>> {
    let mut spans = vec![(log, Seq::MAX)];
    let mut at = log;
    while let Some(parent) = row(tx, ws, at)?.parent {
        spans.push((parent, at - 1));
        at = parent;
    }
    spans.reverse();
    Ok(spans)
}

/// The items of such a line after a place, in order.
fn within(
    tx: &mut Tx<'_>,
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
pub fn shows(tx: &mut Tx<'_>, ws: Ws, log: Id, seq: Seq) -> Result<bool> {
    for (log, upto) in lineage(tx, ws, log)? {
        if seq <= upto && rows::has(tx, ws, log, seq)? {
            return Ok(true);
        }
    }
    Ok(false)
}

pub fn row(tx: &mut Tx<'_>, ws: Ws, log: Id) -> Result<Log> {
    rows::get(tx, ws, log)?.ok_or_else(not_in_core)
}

/// A conversation as it is shown.
pub fn shape(tx: &mut Tx<'_>, ws: Ws, thing: &Thing) -> Result<Value> {
    let field = |name: &str| thing.data.get(name).cloned().unwrap_or(Value::Null);
    let mut shape = json!({
        "uuid": log_of(tx, ws, thing.entity.id)?,
        "parent_uuid": field("parent_uuid"),
        "state": if field("summary").is_null() { "active" } else { "collapsed" },
        "summary": field("summary"),
        "created_at": thing.entity.created_at.to_string(),
        "created_by": thing.entity.created_by,
    });
    for name in ["title", "forked_at", "continues"] {
        if !field(name).is_null() {
            shape[name] = field(name);
        }
    }
    Ok(shape)
}

/// A conversation that a write names, and its project.
pub fn named(
    work: &mut Work<'_, '_>,
    project: Option<&str>,
    field: &str,
    name: &str,
) -> Result<(Id, Id)> {
    let ws = work.ws();
    let entity = find(work.tx, Scope::ids(ws, work.caller), field, name)?;
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
    let depth = lineage(work.tx, ws, parent)?.len();
    if depth >= limits::LOG_DEPTH {
        let problem = format!(
            "conversations would be nested deeper than {}",
            limits::LOG_DEPTH
        );
        return Err(
            Fault::new(Code::DepthExceeded, problem).hint("Fork from one nearer to the root.")
        );
    }
    work.flush()?;
    let parent_uuid = log_of(work.tx, ws, parent)?;
    let mut data = serde_json::Map::new();
    if continues {
        data.insert("continues".into(), parent_uuid.clone());
    }
    data.insert("parent_uuid".into(), parent_uuid);
    data.insert("forked_at".into(), last_name(work.tx, ws, parent)?);
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
pub fn nearest_open(tx: &mut Tx<'_>, ws: Ws, log: Id) -> Result<Option<Id>> {
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
fn last_name(tx: &mut Tx<'_>, ws: Ws, log: Id) -> Result<Value> {
    let Some(last) = rows::last(tx, ws, log)? else {
        return Ok(Value::Null);
    };
    let item = items::get(tx, ws, last)?;
    Ok(item.map_or(Value::Null, |item| item_name(&item.uuid).into()))
}
