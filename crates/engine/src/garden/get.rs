//! `garden_get`: one thing by any of its names, and its text as a person reads it.

use serde_json::{Value, json};
use understory_model::budget::{Budget, fit_whole};
use understory_model::error::{Fault, Result};
use understory_model::fragment::parse_anchor;
use understory_model::id::item_name;
use understory_model::text::cut;
use understory_model::{Caller, Ws};
use understory_storage::Tx;

use super::artifact;
use super::name::{self, Found};
use super::shape::{self, Shapes};
use super::{refs, relations};
use crate::View;
use crate::projection::ARTIFACT;

pub fn get(
    view: &mut View<'_, '_>,
    caller: &Caller,
    id: &str,
    render: bool,
    budget: &Budget,
) -> Result<Value> {
    Ok(fit_whole(whole(view, caller, id, render)?, budget))
}

fn whole(view: &mut View<'_, '_>, caller: &Caller, id: &str, render: bool) -> Result<Value> {
    if id.contains('#') {
        return part(view, caller, id, render);
    }
    let (tx, ws) = (&mut *view.tx, view.ws);
    let mut shape = match name::find(tx, ws, "id", id)? {
        Found::Item(item) => {
            let shapes = Shapes::load(tx, ws, caller, [&*item])?;
            json!({ "item": shapes.item(&item) })
        }
        Found::Entity(entity) if entity.kind == ARTIFACT => {
            let found = artifact::load(tx, ws, entity.id)?;
            let mut shown = found.shown();
            if render {
                let text = artifact_text(tx, ws, &found)?;
                shown["rendered"] = refs::render(tx, ws, caller, &text)?.into();
            }
            json!({ "entity": shape::entity(tx, ws, *entity)?, "artifact": shown })
        }
        Found::Entity(entity) => {
            shape::check_readable(tx, ws, caller, &entity)?;
            json!({ "entity": shape::entity(tx, ws, *entity)? })
        }
        Found::Relation(made, n) => {
            json!({ "relation": relations::shown(tx, ws, view.now, made, n)? })
        }
    };
    if render {
        for thing in ["item", "entity"] {
            render_texts(view.tx, view.ws, caller, &mut shape[thing])?;
        }
        // Asking for a field that is not there makes it.
        if let Some(fields) = shape.as_object_mut() {
            fields.retain(|_, thing| !thing.is_null());
        }
    }
    Ok(shape)
}

/// Characters of an artifact that are rendered; garden_artifact_show has the rest.
const RENDERED: usize = 20_000;

/// How an artifact's text begins, in whole lines.
fn artifact_text(tx: &mut Tx<'_>, ws: Ws, found: &artifact::Found) -> Result<String> {
    let version = artifact::at(tx, ws, found.id(), found.row.head)?;
    let mut text = String::new();
    for line in version.texts() {
        if text.len() + line.len() > RENDERED {
            break;
        }
        text.push_str(line);
        text.push('\n');
    }
    Ok(text)
}

/// A part of a message, or a range of its parts.
fn part(view: &mut View<'_, '_>, caller: &Caller, id: &str, render: bool) -> Result<Value> {
    let (tx, ws) = (&mut *view.tx, view.ws);
    let missing = || {
        let shown = cut(id, 80);
        Fault::not_found(format!("no part of a message is called {shown}"))
            .hint("A part is named item_<uuid>#^a7f, a range item_<uuid>#^a7f:^b2e.")
    };
    let anchor = parse_anchor(id).ok_or_else(missing)?;
    let part = refs::anchored(tx, ws, &anchor)?.ok_or_else(missing)?;
    let shapes = Shapes::load(tx, ws, caller, [&part.item])?;
    if !shapes.shows(&part.item) {
        return Err(missing());
    }
    let mut fragment = json!({
        "id": anchor.first,
        "content": part.content,
        "message_uuid": item_name(&part.item.uuid),
        "position": part.position,
    });
    if let Some(last) = anchor.last {
        fragment["last"] = last.into();
    }
    if render {
        fragment["rendered"] = refs::render(tx, ws, caller, &part.content)?.into();
    }
    Ok(json!({ "fragment": fragment }))
}

/// Adds `rendered` beside a text that has references.
fn render_texts(tx: &mut Tx<'_>, ws: Ws, caller: &Caller, thing: &mut Value) -> Result<()> {
    let texts = [
        "/description",
        "/data/body",
        "/data/description",
        "/data/content",
    ];
    let text = texts
        .iter()
        .find_map(|at| thing.pointer(at).and_then(Value::as_str));
    if let Some(text) = text.map(str::to_string) {
        thing["rendered"] = refs::render(tx, ws, caller, &text)?.into();
    }
    Ok(())
}
