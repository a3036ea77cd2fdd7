//! What the references of a text lead to, for a write to keep.

use understory_model::error::Result;
use understory_model::refs::{Around, Lines, Target, wide_references};
use understory_model::{Id, limits};
use understory_storage::ReadTx;

use crate::kernel::names::{self, Scope};
use crate::kernel::parts::{self, Part};
use understory_model::fact::Mention;

/// What a text refers to, for a write to keep.
pub fn mentions(tx: &mut ReadTx<'_>, scope: Scope<'_>, text: &str) -> Result<Vec<Mention>> {
    let mut mentions = Vec::new();
    for one in wide_references(text).into_iter().take(limits::MENTIONS) {
        let found = match (&one.found.what, &one.around) {
            (Target::Fragment(id), around) => {
                let part = part(tx, scope, id, around)?;
                part.map(|part| {
                    (
                        Id::of(part.item.seq),
                        "fragment",
                        Some(part.name.to_string()),
                    )
                })
            }
            (Target::Line { label, .. }, around) => {
                let artifact = labelled(tx, scope, label, around)?;
                artifact.map(|(id, _)| (id, "artifact", None))
            }
            (Target::Log(name) | Target::Item(name), _) => {
                names::look(tx, scope, name)?.map(|found| (found.id(), found.type_name(), None))
            }
        };
        if let Some((target, kind, fragment)) = found {
            mentions.push(Mention {
                target,
                kind: kind.to_string(),
                span: one.found.span,
                fragment,
            });
        }
    }
    Ok(mentions)
}

/// The part that a fragment's id stands for: of its message, where that is named.
pub fn part(
    tx: &mut ReadTx<'_>,
    scope: Scope<'_>,
    id: &str,
    around: &Around,
) -> Result<Option<Part>> {
    match around {
        Around::Part(anchor) => parts::anchored(tx, scope, anchor),
        _ => parts::newest(tx, scope, id),
    }
}

/// The artifact that a line is of, and whether what stands before its label says so.
pub fn labelled(
    tx: &mut ReadTx<'_>,
    scope: Scope<'_>,
    label: &str,
    around: &Around,
) -> Result<Option<(Id, bool)>> {
    if let Around::Lines(Lines {
        entity, project, ..
    }) = around
    {
        let named = match (entity, project) {
            (Some(entity), _) => Some(entity.clone()),
            (None, Some(project)) => Some(format!("{project}/{label}")),
            (None, None) => None,
        };
        if let Some(named) = named
            && let Some(id) = names::artifact_id(tx, scope, &named)?
        {
            return Ok(Some((id, true)));
        }
        if entity.is_some() {
            return Ok(None);
        }
    }
    let id = names::artifact_id(tx, scope, label)?;
    Ok(id.map(|id| (id, false)))
}
