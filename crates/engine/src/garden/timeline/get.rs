//! `garden_get`: one thing by any of its names, and its text as a person reads it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Ws;
use understory_model::answer::{Fit, Shape};
use understory_model::error::Result;
use understory_model::fragment::parse_anchor;
use understory_model::id::item_name;
use understory_storage::ReadTx;

use crate::View;
use crate::garden::reader::{ShownProposal, proposal_shape};
use crate::garden::relation::{refs, relations};
use crate::garden::shape::{self, EntityShape, ItemShape, Shapes};
use crate::kernel::core::Thing;
use crate::kernel::names::{self, Found, Scope};
use crate::kernel::{artifact, parts};
use crate::kinds::{ARTIFACT, PROPOSAL};

/// The answer of `garden_get`: one thing, with the fields of its kind.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Got {
    Item {
        item: ItemShape,
    },
    Artifact {
        entity: Box<EntityShape>,
        artifact: artifact::Shown,
    },
    Proposal {
        entity: Box<EntityShape>,
        proposal: Box<ShownProposal>,
    },
    Entity {
        entity: Box<EntityShape>,
    },
    Fragment {
        fragment: FoundFragment,
    },
    Relation {
        relation: relations::Shown,
    },
}

impl Fit for Got {
    const SHAPE: Shape = Shape::Whole;
}

/// A part of a message, or a range of its parts.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct FoundFragment {
    pub id: String,
    pub content: String,
    /// The message that it is a part of.
    pub message_uuid: String,
    pub position: usize,
    /// The last part of a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// Another text has the same id.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ambiguous: bool,
    /// Its text, with each reference replaced by what it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<String>,
}

/// What a name means; `render` asks for its text as a person reads it, too.
pub fn get(view: &mut View<'_, '_>, scope: Scope<'_>, id: &str, render: bool) -> Result<Got> {
    if id.contains('#') {
        let fragment = part(view, scope, id, render)?;
        return Ok(Got::Fragment { fragment });
    }
    let (tx, ws, caller) = (&mut *view.tx, view.ws, scope.caller);
    // A text is read in the project in which it was written.
    let mut written = scope;
    let mut got = match names::find(tx, scope, "id", id)? {
        Found::Item(item) => {
            written = scope.of_text(item.project);
            let item = Shapes::load(tx, ws, caller, [&*item])?.item(&item);
            Got::Item { item }
        }
        Found::Entity(entity) if entity.kind == ARTIFACT => {
            let found = artifact::load(tx, ws, entity.id)?;
            let mut artifact = found.shown();
            if render {
                let text = artifact_text(tx, ws, &found)?;
                let written = scope.of_text(entity.project);
                artifact.rendered = Some(refs::render(tx, written, caller, &text)?);
            }
            let entity = Box::new(shape::entity(tx, ws, *entity)?);
            Got::Artifact { entity, artifact }
        }
        Found::Entity(entity) if entity.kind == PROPOSAL => {
            let thing = Thing::open(*entity)?;
            Got::Proposal {
                proposal: Box::new(proposal_shape(tx, ws, &thing)?),
                entity: Box::new(shape::entity_as(tx, ws, &thing)?),
            }
        }
        Found::Entity(entity) => {
            written = scope.of_text(entity.project);
            let entity = Box::new(shape::entity(tx, ws, *entity)?);
            Got::Entity { entity }
        }
        Found::Relation(made, n) => match relations::shown(tx, ws, view.now, made, n)? {
            Some(relation) => Got::Relation { relation },
            None => return Err(names::nothing(tx, scope, "id", id)?),
        },
    };
    if render {
        got.render(|text| refs::render(tx, written, caller, text))?;
    }
    Ok(got)
}

impl Got {
    /// Adds the text as a person reads it, where there is one.
    fn render(&mut self, render: impl FnOnce(&str) -> Result<String>) -> Result<()> {
        match self {
            Got::Item { item } => item.render(render),
            Got::Artifact { entity, .. }
            | Got::Proposal { entity, .. }
            | Got::Entity { entity } => entity.render(render),
            Got::Fragment { .. } | Got::Relation { .. } => Ok(()),
        }
    }
}

/// Characters of an artifact that are rendered; garden_artifact_show has the rest.
const RENDERED: usize = 20_000;

/// How an artifact's text begins, in whole lines.
fn artifact_text(tx: &mut ReadTx<'_>, ws: Ws, found: &artifact::Found) -> Result<String> {
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
    scope: Scope<'_>,
    id: &str,
    render: bool,
) -> Result<FoundFragment> {
    let (tx, caller) = (&mut *view.tx, scope.caller);
    let anchor = parse_anchor(id);
    let part = match &anchor {
        Some(anchor) => parts::anchored(tx, scope, anchor)?,
        None => None,
    };
    let (Some(anchor), Some(part)) = (anchor, part) else {
        return Err(names::nothing(tx, scope, "id", id)?);
    };
    let rendered = if render {
        let written = scope.of_text(part.item.project);
        Some(refs::render(tx, written, caller, &part.content)?)
    } else {
        None
    };
    Ok(FoundFragment {
        id: anchor.first.to_string(),
        content: part.content,
        message_uuid: item_name(&part.item.uuid),
        position: part.position,
        last: anchor.last.map(|last| last.to_string()),
        ambiguous: part.ambiguous,
        rendered,
    })
}
