//! `garden_entities`: what is believed, by its type, its group, or the words in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Next, Shape};
use understory_model::error::{Fault, Result};
use understory_model::page::{Cursor, Key};
use understory_model::text::check_text;
use understory_model::{Id, limits};
use understory_storage::entities::{self, Entity};
use understory_storage::links;

use crate::View;
use crate::garden::page::Paging;
use crate::garden::shape::{EntityShape, entity_as};
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::relation::{GROUP, SUPERSEDED_BY};
use crate::kernel::core::Thing;
use crate::kernel::names::{self, Scope};
use crate::kernel::project;
use crate::kernel::titles::named;
use crate::kinds::EntityKind;

const LIST: &str = "entities";
/// Entities read at once, and looked at in one call: what is filtered out costs time too.
const CHUNK: i64 = 500;
const LOOKED_AT: usize = 10_000;

/// Which entities.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub kind: Option<String>,
    pub group: Option<String>,
    pub text: Option<String>,
    /// Those too whose place another took.
    pub superseded: bool,
    pub project: Option<String>,
    pub cursor: Option<String>,
    pub limit: i64,
}

/// The answer of `garden_entities`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Entities {
    /// Newest first.
    pub entities: Vec<EntityShape>,
    #[serde(flatten)]
    pub paging: Paging,
}

impl Fit for Entities {
    const SHAPE: Shape = Shape::Pagination { list: "entities" };

    fn cursor(&self, kept: usize) -> Option<Next> {
        self.paging.cursor(kept)
    }
}

/// Refuses the types that have a list of their own.
impl Check for Asked {
    fn check(&self) -> Result<()> {
        for (field, value) in [("type", &self.kind), ("text", &self.text)] {
            if let Some(value) = value {
                check_text(field, value, limits::NAME_CHARS, false)?;
            }
        }
        let kind = self.kind.as_deref().unwrap_or_default();
        let tool = match EntityKind::of(kind) {
            EntityKind::Record => "list_records",
            EntityKind::Node => "graph_query",
            EntityKind::Thread => "list_threads",
            EntityKind::Wake => "list_wakes",
            EntityKind::Branch | EntityKind::Checkout => "branchmind_branch_list",
            EntityKind::Conflict => "branchmind_graph_conflicts",
            EntityKind::Project => "list_projects",
            EntityKind::Session => "get_active_sessions",
            EntityKind::Relation => "garden_relations",
            EntityKind::Artifact => "garden_artifact_list",
            EntityKind::Log => "garden_stack",
            EntityKind::Proposal => "reader_proposals",
            EntityKind::Callers(_) => return Ok(()),
        };
        Err(
            Fault::invalid("type", format!("{kind} has a list of its own"))
                .hint(format!("Use {tool}.")),
        )
    }
}

pub fn listed(view: &mut View<'_, '_>, asked: &Checked<Asked>) -> Result<Entities> {
    let before = match &asked.cursor {
        Some(cursor) => Cursor::decode(cursor, LIST)?.int(0)?,
        None => Id::MAX,
    };
    let Some(home) = project::to_read(view, view.caller, asked.project.as_deref())? else {
        return Ok(Entities::default());
    };
    let (found, more) = match &asked.group {
        Some(group) => in_group(view, asked, home.id, group, before)?,
        None => of_type(view, asked, home.id, before)?,
    };
    let cursor = |id: Id| Cursor::new(LIST, vec![Key::from(id)]).encode();
    let cursors: Vec<String> = found.iter().map(|one| cursor(one.entity.id)).collect();
    let mut entities = Vec::with_capacity(found.len());
    for thing in &found {
        entities.push(EntityShape {
            name: named(&thing.data),
            ..entity_as(view.tx, view.ws, thing)?
        });
    }
    let paging = match more {
        // A page on which nothing was found goes on behind what was looked at.
        More::From(place) if entities.is_empty() => Paging::going_on(cursors, cursor(place)),
        more => Paging::new(cursors, more != More::Nothing),
    };
    Ok(Entities { entities, paging })
}

/// Whether there is more behind a page.
#[derive(Debug, PartialEq, Eq)]
enum More {
    Nothing,
    /// Behind this place.
    From(Id),
}

impl Asked {
    fn takes(&self, entity: &Entity, home: Id) -> bool {
        let own = EntityKind::of(&entity.kind).is_own();
        let kind = self.kind.as_deref();
        let text = self.text.as_deref().map(str::to_lowercase);
        !own && !entity.gone
            && entity.project == Some(home)
            && kind.is_none_or(|kind| kind == entity.kind)
            && text.is_none_or(|text| entity.data.to_lowercase().contains(&text))
    }
}

/// Takes out what was superseded, unless that is wanted.
fn current(view: &mut View<'_, '_>, asked: &Asked, batch: Vec<Entity>) -> Result<Vec<Entity>> {
    if asked.superseded {
        return Ok(batch);
    }
    let ids: Vec<Id> = batch.iter().map(|entity| entity.id).collect();
    let over = links::having(view.tx, view.ws, &ids, SUPERSEDED_BY)?;
    let stays = |entity: &Entity| !over.contains(&entity.id);
    Ok(batch.into_iter().filter(stays).collect())
}

fn of_type(
    view: &mut View<'_, '_>,
    asked: &Asked,
    home: Id,
    mut before: Id,
) -> Result<(Vec<Thing>, More)> {
    let most = usize::try_from(asked.limit).unwrap_or(0);
    let (mut found, mut looked) = (Vec::new(), 0);
    while looked < LOOKED_AT {
        let batch = match &asked.kind {
            Some(kind) => entities::of_kind(view.tx, view.ws, kind, before, CHUNK)?,
            None => entities::of_no_surface(view.tx, view.ws, before, CHUNK)?,
        };
        if batch.is_empty() {
            return Ok((found, More::Nothing));
        }
        looked += batch.len();
        let last = batch.last().map_or(before, |last| last.id);
        let fits = batch.into_iter().filter(|one| asked.takes(one, home));
        for entity in current(view, asked, fits.collect())? {
            if found.len() == most {
                return Ok((found, More::From(before)));
            }
            before = entity.id;
            found.push(Thing::open(entity)?);
        }
        before = last;
    }
    Ok((found, More::From(before)))
}

fn in_group(
    view: &mut View<'_, '_>,
    asked: &Asked,
    home: Id,
    group: &str,
    before: Id,
) -> Result<(Vec<Thing>, More)> {
    let scope = Scope {
        ws: view.ws,
        project: Some(home),
        caller: view.caller,
    };
    let group = names::entity(view.tx, scope, "group", group)?;
    let members = links::sources(view.tx, view.ws, group.id, GROUP)?;
    let members: Vec<Id> = members.into_iter().filter(|id| *id < before).collect();
    let all = entities::some(view.tx, view.ws, &members)?;
    let mut fits: Vec<Entity> = all
        .into_values()
        .filter(|one| asked.takes(one, home))
        .collect();
    fits.sort_by_key(|one| std::cmp::Reverse(one.id));
    let mut fits = current(view, asked, fits)?;
    let most = usize::try_from(asked.limit).unwrap_or(0);
    let more = match fits
        .get(most.saturating_sub(1))
        .filter(|_| fits.len() > most)
    {
        Some(last) => More::From(last.id),
        None => More::Nothing,
    };
    fits.truncate(most);
    let found: Result<Vec<Thing>> = fits.into_iter().map(Thing::open).collect();
    Ok((found?, more))
}
