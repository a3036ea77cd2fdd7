//! `garden_get`: one thing by any of its names, and its text as a person reads it.

use serde_json::{Value, json};
use understory_model::budget::{Budget, fit_whole};
use understory_model::error::Result;
use understory_model::fragment::parse_anchor;
use understory_model::id::item_name;
use understory_model::{Caller, Ws};
use understory_storage::Tx;

use crate::View;
use crate::garden::reader::proposal_shape;
use crate::garden::relation::{refs, relations};
use crate::garden::shape::{self, Shapes};
use crate::kernel::core::Thing;
use crate::kernel::names::{self, Found, Scope};
use crate::kernel::{artifact, parts};
use crate::kinds::{ARTIFACT, PROPOSAL};

pub fn get(
    view: &mut View<'_, '_>,
    caller: &Caller,
    (scope, id): (Scope<'_>, &str),
    render: bool,
    budget: &Budget,
) -> Result<Value> {
    Ok(fit_whole(whole(view, caller, (scope, id), render)?, budget))
}

fn whole(
    view: &mut View<'_, '_>,
    caller: &Caller,
    (scope, id): (Scope<'_>, &str),
    render: bool,
) -> Result<Value> {
    if id.contains('#') {
        return part(view, caller, (scope, id), render);
    }
    let (tx, ws) = (&mut *view.tx, view.ws);
    // A text is read in the project in which it was written.
    let mut written = scope;
    let mut shape = match names::find(tx, scope, "id", id)? {
        Found::Item(item) => {
            written = scope.of_text(item.project);
            let shapes = Shapes::load(tx, ws, caller, [&*item])?;
            json!({ "item": shapes.item(&item) })
        }
        Found::Entity(entity) if entity.kind == ARTIFACT => {
            let found = artifact::load(tx, ws, entity.id)?;
            let mut shown = found.shown();
            if render {
                let text = artifact_text(tx, ws, &found)?;
                let written = scope.of_text(entity.project);
                shown.rendered = Some(refs::render(tx, written, caller, &text)?);
            }
            json!({ "entity": shape::entity(tx, ws, *entity)?, "artifact": shown })
        }
        Found::Entity(entity) if entity.kind == PROPOSAL => {
            let thing = Thing::open(*entity)?;
            let proposal = proposal_shape(tx, ws, &thing)?;
            json!({ "entity": shape::entity_as(tx, ws, &thing)?, "proposal": proposal })
        }
        Found::Entity(entity) => {
            written = scope.of_text(entity.project);
            json!({ "entity": shape::entity(tx, ws, *entity)? })
        }
        Found::Relation(made, n) => {
            json!({ "relation": relations::shown(tx, ws, view.now, made, n)? })
        }
    };
    if render {
        for thing in ["item", "entity"] {
            render_texts(view.tx, written, caller, &mut shape[thing])?;
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
fn part(
    view: &mut View<'_, '_>,
    caller: &Caller,
    (scope, id): (Scope<'_>, &str),
    render: bool,
) -> Result<Value> {
    let tx = &mut *view.tx;
    let anchor = parse_anchor(id);
    let part = match &anchor {
        Some(anchor) => parts::anchored(tx, scope, anchor)?,
        None => None,
    };
    let (Some(anchor), Some(part)) = (anchor, part) else {
        return Err(names::nothing(tx, scope, "id", id)?);
    };
    let mut fragment = json!({
        "id": anchor.first.to_string(),
        "content": part.content,
        "message_uuid": item_name(&part.item.uuid),
        "position": part.position,
    });
    if let Some(last) = anchor.last {
        fragment["last"] = last.to_string().into();
    }
    if part.ambiguous {
        fragment["ambiguous"] = true.into();
    }
    if render {
        let written = scope.of_text(part.item.project);
        fragment["rendered"] = refs::render(tx, written, caller, &part.content)?.into();
    }
    Ok(json!({ "fragment": fragment }))
}

/// Adds `rendered` beside a text that has references.
fn render_texts(
    tx: &mut Tx<'_>,
    scope: Scope<'_>,
    caller: &Caller,
    thing: &mut Value,
) -> Result<()> {
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
        thing["rendered"] = refs::render(tx, scope, caller, &text)?.into();
    }
    Ok(())
}
