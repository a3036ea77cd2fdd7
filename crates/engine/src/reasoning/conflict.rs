//! Conflicts of a graph merge: listed, shown, settled.

use serde_json::{Map, Value, json};
use understory_model::budget::{Budget, fit_rows, fit_whole};
use understory_model::error::{Code, Fault, Result};
use understory_model::nearest::nearest;
use understory_model::text::{quoted, quoted_list};
use understory_model::{Id, Ws};
use understory_storage::vertices::Vertex;
use understory_storage::{Tx, conflicts, entities};

use super::apply::write;
use super::graph_merge::source;
use super::place::Place;
use super::vertex::{Graph, same, state};
use crate::core::Thing;
use crate::projection::CONFLICT;
use crate::work::Edit;
use crate::{View, Work};

/// What a caller asks for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub into: String,
    pub doc: String,
    pub open: Option<bool>,
    pub cursor: Option<Id>,
    pub limit: i64,
}

pub fn list(tx: &mut Tx<'_>, ws: Ws, asked: &Asked, budget: &Budget) -> Result<Value> {
    let before = asked.cursor.unwrap_or(Id::MAX);
    let place = (asked.into.as_str(), asked.doc.as_str());
    let mut found = conflicts::list(tx, ws, place, asked.open, before, asked.limit + 1)?;
    let more = found.len() as i64 > asked.limit;
    found.truncate(usize::try_from(asked.limit).unwrap_or(usize::MAX));
    let mut rows = Vec::with_capacity(found.len());
    for entity in found {
        let thing = Thing::open(entity)?;
        let field = |name: &str| thing.data.get(name).cloned().unwrap_or_default();
        rows.push(json!({
            "conflict_id": thing.entity.handle,
            "kind": field("kind"),
            "key": field("key"),
            "from": field("from"),
            "status": field("status"),
            "created_at_ms": field("created_at_ms"),
            "seq": thing.entity.id,
        }));
    }
    Ok(fit_rows(&rows, budget, |kept| {
        let page = (kept, &rows[..], "/seq");
        json!({
            "into": asked.into,
            "doc": asked.doc,
            "conflicts": kept,
            "pagination": super::notes::pagination(asked.cursor, asked.limit, page, more),
            "truncated": false,
        })
    }))
}

fn shown(thing: &Thing) -> Value {
    let mut shown = Map::new();
    shown.insert("conflict_id".into(), thing.entity.handle.clone().into());
    let hidden = ["vertex", "theirs_seq"];
    let fields = thing
        .data
        .iter()
        .filter(|(name, _)| !hidden.contains(&name.as_str()));
    shown.extend(fields.map(|(name, value)| (name.clone(), value.clone())));
    Value::Object(shown)
}

pub fn show(view: &mut View<'_, '_>, id: &str, budget: &Budget) -> Result<Value> {
    let found = entities::by_handle(view.tx, view.ws, id)?;
    let Some(entity) = found.filter(|entity| entity.kind == CONFLICT) else {
        let near = entities::handles_near(view.tx, view.ws, Some(CONFLICT), id, 10)?;
        return Err(unknown(id, &near));
    };
    let thing = Thing::open(entity)?;
    let mut conflict = shown(&thing);
    if thing.data.get("status") == Some(&json!("open")) {
        let now = Sides::of(view.tx, view.ws, &thing)?;
        if now.changed(&thing) {
            conflict["now"] = now.shown();
        }
    }
    let answer = json!({ "conflict": conflict, "truncated": false });
    Ok(fit_whole(answer, budget))
}

/// What the two branches of a conflict say of its key now.
pub struct Sides {
    ours: Option<Vertex>,
    theirs: Option<Vertex>,
}

impl Sides {
    pub fn of(tx: &mut Tx<'_>, ws: Ws, conflict: &Thing) -> Result<Sides> {
        let text = |name: &str| {
            let value = conflict.data.get(name).and_then(Value::as_str);
            value.unwrap_or_default().to_string()
        };
        let mut side = |branch: &str| {
            let place = Place {
                branch: text(branch),
                doc: text("doc"),
            };
            Graph::open(tx, ws, place)?.one(tx, &text("vertex"))
        };
        Ok(Sides {
            ours: side("into")?,
            theirs: side("from")?,
        })
    }

    /// Whether both came to the same: then there is nothing to decide any more.
    pub fn agree(&self) -> bool {
        same(self.ours.as_ref(), self.theirs.as_ref())
    }

    /// Whether one of them was written since the conflict was found.
    fn changed(&self, conflict: &Thing) -> bool {
        let seq = |side: &Option<Vertex>| json!(side.as_ref().map(|vertex| vertex.seq));
        let then = |side: &str| {
            let side = conflict
                .data
                .get(side)
                .and_then(|side| side.get("last_seq"));
            side.cloned().unwrap_or_default()
        };
        seq(&self.ours) != then("ours") || seq(&self.theirs) != then("theirs")
    }

    fn shown(&self) -> Value {
        let side = |vertex: &Option<Vertex>| match vertex {
            Some(vertex) => snapshot(vertex),
            None => Value::Null,
        };
        json!({
            "ours": side(&self.ours),
            "theirs": side(&self.theirs),
            "agree": self.agree(),
        })
    }
}

/// A version as a conflict keeps it.
pub fn snapshot(vertex: &Vertex) -> Value {
    let mut state = state(vertex);
    state.insert("deleted".into(), vertex.deleted.into());
    state.insert("last_seq".into(), vertex.seq.into());
    Value::Object(state)
}

/// The fault for a conflict that does not exist.
pub fn unknown(id: &str, names: &[String]) -> Fault {
    let fault = Fault::new(Code::NotFound, format!("no conflict {}", quoted(id)));
    let near = nearest(id, names.iter().map(String::as_str), 3);
    match near.is_empty() {
        true => fault.hint("branchmind_graph_conflicts lists conflicts."),
        false => fault
            .hint(format!("Did you mean {}?", quoted_list(&near, " or ")))
            .details(json!({ "nearest": near })),
    }
}

/// Settles a conflict; settling it the same way again changes nothing.
pub fn resolve(work: &mut Work<'_, '_>, id: &str, resolution: &str) -> Result<Value> {
    let ws = work.ws();
    let found = work.core.by_handle(work.tx, id)?;
    let conflict = match found {
        Some(found) if work.thing(found)?.entity.kind == CONFLICT => found,
        _ => {
            let near = entities::handles_near(work.tx, ws, Some(CONFLICT), id, 10)?;
            return Err(unknown(id, &near));
        }
    };
    let mut data = work.thing(conflict)?.data.clone();
    if data.get("status") == Some(&json!("resolved")) {
        if data.get("resolution") == Some(&json!(resolution)) {
            return Ok(json!({ "conflict_id": id, "status": "resolved", "applied": false }));
        }
        let how = data
            .get("resolution")
            .and_then(Value::as_str)
            .unwrap_or_default();
        return Err(Fault::conflict(format!("{id} was resolved already: {how}"))
            .hint("branchmind_graph_apply changes what is there now."));
    }
    let applied = resolution == "use_from";
    if applied {
        let text = |name: &str| {
            data.get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_string()
        };
        let place = Place {
            branch: text("into"),
            doc: text("doc"),
        };
        let seq = data
            .get("theirs_seq")
            .and_then(Value::as_i64)
            .unwrap_or_default();
        let mut state = data
            .get("theirs")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let deleted = state.remove("deleted") == Some(json!(true));
        state.remove("last_seq");
        let (kind, key, from) = (text("kind"), text("vertex"), source(&text("from"), seq));
        write(work, &place, (&kind, &key), &state, deleted, Some(&from))?;
    }
    data.insert("status".into(), "resolved".into());
    data.insert("resolution".into(), resolution.into());
    data.insert("resolved_at_ms".into(), (work.now.0 / 1_000).into());
    let (action, data) = ("resolved", Some(data));
    work.change(
        conflict,
        Edit {
            action,
            data,
            ..Edit::default()
        },
    )?;
    Ok(json!({ "conflict_id": id, "status": "resolved", "applied": applied }))
}
