//! What was found, with its texts: things by their kind, items by their type.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use serde_json::Value;
use understory_meaning::Query;
use understory_model::error::Result;
use understory_model::id::{item_name, message_name};
use understory_model::item::Item;
use understory_model::{Id, Seq};
use understory_storage::entities::{self, Entity};
use understory_storage::items;
use understory_storage::texts::Text;

use crate::View;
use crate::kernel::access::Reader;
use crate::kernel::artifact;
use crate::kernel::content::artifact_delta::Delta;
use crate::kernel::content::call::Call;
use crate::kernel::content::record::opened;
use crate::kernel::content::{self, message, node as fields};
use crate::kernel::core::Thing;
use crate::kernel::meaning::{self, best_line, line_passages};
use crate::kernel::search::{Place, said};
use crate::kernel::versions::delta_of;
use crate::kinds::{
    ARTIFACT, ARTIFACT_DELTA, EntityKind, ItemKind, MESSAGE, NOTE_ENTRY, PROJECT, PROPOSAL,
    SESSION, THREAD,
};

/// What a search can be narrowed to.
pub const SURFACES: [&str; 5] = ["records", "reasoning", "threads", "garden", "graph"];

/// What sort of thing a text in the index belongs to, beside the kinds of entity.
pub mod sort {
    /// A message in a thread.
    pub const MESSAGE: &str = "message";
    /// A note or a card in a document.
    pub const NOTE: &str = "note";
    /// Anything else in the log that says something.
    pub const ITEM: &str = "item";
    /// What a commit of an artifact wrote.
    pub const LINES: &str = "lines";
    /// A thing that no other surface knows.
    pub const ENTITY: &str = "entity";
    /// Why a thing was changed.
    pub const REASON: &str = "reason";
}

/// Whose a sort of thing is.
pub fn surface_of(kind: &str) -> &'static str {
    match kind {
        sort::MESSAGE => return "threads",
        sort::NOTE => return "reasoning",
        _ => {}
    }
    match EntityKind::of(kind) {
        EntityKind::Record | EntityKind::Session => "records",
        EntityKind::Node => "graph",
        EntityKind::Thread | EntityKind::Wake => "threads",
        EntityKind::Branch | EntityKind::Conflict | EntityKind::Checkout => "reasoning",
        EntityKind::Project => "projects",
        EntityKind::Log
        | EntityKind::Relation
        | EntityKind::Artifact
        | EntityKind::Proposal
        | EntityKind::Callers(_) => "garden",
    }
}

/// Whether a sort of text may belong to a surface; a reason belongs to that of its thing.
pub fn may_be(kind: &str, wants: impl Fn(&str) -> bool) -> bool {
    kind == sort::REASON || wants(surface_of(kind))
}

/// Something that was found, as far as ranking and showing it need.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub id: Id,
    /// Which of the passages that are known by its id are its own.
    pub parts: Range<usize>,
    pub handle: String,
    /// The name of the entity that it is, or is a line of, where the handle does not say it.
    pub entity: Option<String>,
    pub project: Option<Id>,
    pub surface: &'static str,
    pub kind: String,
    pub title: String,
    pub rest: String,
    /// Where it is found line by line: its lines, which the rest is made of.
    pub lines: Option<Vec<String>>,
    /// Where each of them stands now, counted from 1; nowhere, when it was changed since.
    pub numbers: Vec<Option<usize>>,
}

/// All passages that an id is known by.
const EVERY: Range<usize> = 0..usize::MAX;

impl Candidate {
    pub(super) fn place(&self) -> Place {
        Place {
            id: self.id,
            project: self.project,
        }
    }

    /// Whether another candidate has the same id, so that what was found of it may be the other's.
    pub fn shares(&self) -> bool {
        self.parts != EVERY
    }

    /// The passage with this number.
    pub fn passage(&self, part: usize) -> &str {
        let Some(lines) = &self.lines else {
            return meaning::passage(&self.rest, part.saturating_sub(self.parts.start));
        };
        let Some(range) = line_passages(lines).nth(part) else {
            return &self.rest;
        };
        let length = |lines: &[String]| lines.iter().map(|line| line.len() + 1).sum::<usize>();
        let start = length(&lines[..range.start]);
        let end = start + length(&lines[range]);
        let end = end.min(self.rest.len());
        self.rest.get(start..end).unwrap_or(&self.rest)
    }

    /// Whether anything of a passage still stands.
    pub fn shows(&self, part: usize) -> bool {
        self.lines.is_none() || !self.standing(part).is_empty()
    }

    /// The lines of a passage that still stand, each with its number.
    pub fn standing(&self, part: usize) -> Vec<(usize, &str)> {
        let lines = self.lines.as_deref().unwrap_or_default();
        let range = line_passages(lines).nth(part).unwrap_or_default();
        range
            .filter_map(|at| Some(((*self.numbers.get(at)?)?, lines.get(at)?.as_str())))
            .collect()
    }

    /// The line of a passage that answers best and still stands: its number and its text.
    pub fn line(&self, query: &str, part: usize) -> Option<(usize, &str)> {
        let standing = self.standing(part);
        let texts: Vec<&str> = standing.iter().map(|(_, text)| *text).collect();
        let best = best_line(query, &texts);
        standing.get(best).copied()
    }

    /// Where in a passage the answer begins: the sentence that meets the question best.
    pub fn telling(&self, query: &mut Query, part: usize) -> &str {
        let passage = self.passage(part);
        let mut best = (0, f32::MIN);
        for start in sentences(passage) {
            let sentence = passage.get(start..).unwrap_or_default();
            let end = sentence.find(['\n', '.']).unwrap_or(sentence.len());
            let meets = query.meets(sentence.get(..end).unwrap_or_default());
            // A tie goes to what comes first: it gives more to read.
            if meets > best.1 + 0.05 {
                best = (start, meets);
            }
        }
        passage.get(best.0..).unwrap_or(passage)
    }
}

/// Where the sentences of a text begin.
fn sentences(text: &str) -> impl Iterator<Item = usize> {
    let ends = text
        .match_indices(['\n', '.'])
        .map(|(at, end)| at + end.len());
    std::iter::once(0).chain(ends.filter(|start| *start < text.len()))
}

/// The things and items with these numbers that are there and may be read, in no order.
pub fn load(
    view: &mut View<'_, '_>,
    reader: &mut Reader<'_>,
    ids: &[Id],
) -> Result<Vec<Candidate>> {
    let mut found = Vec::with_capacity(ids.len());
    let mut rest: Vec<Id> = Vec::new();
    let mut things = entities::some(view.tx, view.ws, ids)?;
    for id in ids {
        match things.remove(id) {
            None => rest.push(*id),
            Some(entity) if reader.entity(view.tx, view.ws, &entity)? => {
                found.extend(of_thing(entity)?);
            }
            Some(_) => {}
        }
    }
    let mut artifacts = Artifacts::default();
    let rest: Vec<Seq> = rest.into_iter().map(Id::seq).collect();
    for item in items::some(view.tx, view.ws, &rest)? {
        if !reader.item(view.tx, view.ws, &item)? {
            continue;
        }
        match ItemKind::of(&item.kind) {
            ItemKind::ArtifactDelta => found.extend(of_commit(view, &mut artifacts, &item)?),
            ItemKind::EntityDelta => found.extend(of_reason(&item)?),
            _ => found.extend(of_item(&item)?),
        }
    }
    found.sort_by_key(|candidate| candidate.id);
    Ok(found)
}

/// What some things and items say, cut into the passages that their vectors stand for.
pub fn passages_of(view: &mut View<'_, '_>, ids: &[Id]) -> Result<HashMap<Id, Vec<String>>> {
    let mut found: HashMap<Id, Vec<String>> = HashMap::new();
    let seqs: Vec<Seq> = ids.iter().map(|id| id.seq()).collect();
    for item in items::some(view.tx, view.ws, &seqs)? {
        // Where its lines stand now does not matter, and takes long to find out.
        if let Some(delta) = Delta::of(&item).filter(|_| item.kind == ARTIFACT_DELTA) {
            let why = delta.reasoning.as_deref().unwrap_or_default();
            found.insert(
                Id::of(item.seq),
                meaning::of_commit(&delta.own_lines(), why),
            );
        }
    }
    let rest = ids.iter().filter(|id| !found.contains_key(id));
    let rest: Vec<Id> = rest.copied().collect();
    for one in load(view, &mut Reader::server(), &rest)? {
        let said = |part: meaning::Passage| {
            let passage = one.rest.get(part.start..part.end).unwrap_or_default();
            format!("{}\n{passage}", one.title).trim().to_string()
        };
        let passages = meaning::passages(&one.rest).into_iter().map(said);
        found.insert(one.id, passages.collect());
    }
    Ok(found)
}

fn of_thing(entity: Entity) -> Result<Option<Candidate>> {
    if entity.gone {
        return Ok(None);
    }
    let thing = Thing::open(entity)?;
    let data = &thing.data;
    let text = |field: &str| {
        let value = data.get(field).and_then(Value::as_str);
        value.unwrap_or_default().to_string()
    };
    let whole = |said: Text| {
        let rest = meaning::rest(&said.summary, &said.body);
        (said.title, meaning::rest(&rest, &said.extra))
    };
    let mut handle = thing.entity.handle.clone();
    let mut named = None;
    let (kind, (title, rest)) = match EntityKind::of(&thing.entity.kind) {
        EntityKind::Record => {
            let record = opened(&thing)?;
            (record.kind.clone(), whole(said::of_record(&record)))
        }
        EntityKind::Session => (SESSION.into(), (text("name"), String::new())),
        EntityKind::Project => {
            let about = [text("description"), text("goal")];
            let about = about.into_iter().find(|about| !about.is_empty());
            (PROJECT.into(), (text("name"), about.unwrap_or_default()))
        }
        EntityKind::Thread => (THREAD.into(), (text("title"), String::new())),
        EntityKind::Node => {
            let summary = fields::summary(data).to_string();
            ("task".into(), (summary, said::of_node(data)))
        }
        // An artifact is called by its label wherever it is shown.
        EntityKind::Artifact => {
            named = Some(std::mem::replace(&mut handle, text("label")));
            (ARTIFACT.into(), (text("label"), String::new()))
        }
        EntityKind::Log => {
            if let Some(uuid) = handle.strip_prefix("entity_") {
                handle = format!("uuid_{uuid}");
            }
            ("conversation".into(), whole(said::of_log(data)))
        }
        other @ (EntityKind::Branch
        | EntityKind::Conflict
        | EntityKind::Wake
        | EntityKind::Relation
        | EntityKind::Proposal
        | EntityKind::Checkout
        | EntityKind::Callers(_)) => (other.as_str().to_string(), whole(said::of_fields(data))),
    };
    Ok(Some(Candidate {
        id: thing.entity.id,
        parts: EVERY,
        surface: surface_of(&thing.entity.kind),
        handle,
        entity: named,
        project: thing.entity.project,
        kind,
        title,
        rest,
        lines: None,
        numbers: Vec::new(),
    }))
}

/// The artifacts that hits are in. Many commits of one may be found, and its newest version is
/// long.
#[derive(Default)]
struct Artifacts(HashMap<Id, Standing>);

/// Where the lines of an artifact stand now, by the commit that wrote them.
struct Standing {
    label: String,
    /// `entity_<uuid>`.
    name: String,
    lines: HashMap<Seq, HashMap<String, usize>>,
}

impl Artifacts {
    fn get(&mut self, view: &mut View<'_, '_>, id: Id) -> Result<&Standing> {
        match self.0.entry(id) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(Standing::of(view, id)?)),
        }
    }
}

impl Standing {
    fn of(view: &mut View<'_, '_>, id: Id) -> Result<Standing> {
        let artifact = artifact::load(view.tx, view.ws, id)?;
        let head = artifact.head.as_ref().map_or(Seq::ZERO, |head| head.seq);
        let version = artifact::at(view.tx, view.ws, id, head)?;
        let mut lines: HashMap<Seq, HashMap<String, usize>> = HashMap::new();
        for (line, number) in version.lines.iter().zip(1..) {
            let of = lines.entry(line.origin.commit).or_default();
            of.entry(line.bare().to_string()).or_insert(number);
        }
        Ok(Standing {
            label: artifact.row.label.clone(),
            name: artifact.name,
            lines,
        })
    }
}

/// The lines that a commit wrote, of which some may still stand in the artifact, and why it did.
fn of_commit(
    view: &mut View<'_, '_>,
    artifacts: &mut Artifacts,
    item: &Item,
) -> Result<Vec<Candidate>> {
    let (Some(delta), Some(artifact)) = (Delta::of(item), item.entity) else {
        return Ok(Vec::new());
    };
    let standing = artifacts.get(view, artifact)?;
    let lines: Vec<String> = delta.own_lines().iter().map(ToString::to_string).collect();
    let now = standing.lines.get(&item.seq);
    let number = |line: &String| now.and_then(|now| now.get(line)).copied();
    let of_lines = meaning::lines_end(&lines);
    let written = Candidate {
        id: Id::of(item.seq),
        parts: 0..of_lines,
        handle: item_name(&item.uuid),
        entity: Some(standing.name.clone()),
        project: item.project,
        surface: surface_of(sort::LINES),
        kind: "line".into(),
        title: standing.label.clone(),
        rest: lines.join("\n"),
        numbers: lines.iter().map(number).collect(),
        lines: Some(lines),
    };
    let why = delta.reasoning.filter(|why| !why.trim().is_empty());
    let reasoned = why.map(|why| Candidate {
        parts: of_lines..usize::MAX,
        kind: "commit".into(),
        rest: why,
        numbers: Vec::new(),
        lines: None,
        ..written.clone()
    });
    Ok([Some(written), reasoned].into_iter().flatten().collect())
}

/// Why a thing was changed, under the thing's own name.
fn of_reason(item: &Item) -> Result<Option<Candidate>> {
    let delta = delta_of(item)?;
    // What a session did is known by its item; its handle is for the server.
    let handle = match EntityKind::of(&delta.kind) {
        EntityKind::Session | EntityKind::Checkout => item_name(&item.uuid),
        _ => delta.handle,
    };
    Ok(delta.reason.map(|reason| Candidate {
        id: Id::of(item.seq),
        parts: EVERY,
        handle,
        entity: None,
        project: item.project,
        surface: surface_of(&delta.kind),
        kind: delta.action,
        title: String::new(),
        rest: reason,
        lines: None,
        numbers: Vec::new(),
    }))
}

fn of_item(item: &Item) -> Result<Option<Candidate>> {
    let candidate = |handle: String, sort: &str, kind: &str, title: String, rest: String| {
        Some(Candidate {
            id: Id::of(item.seq),
            parts: EVERY,
            handle,
            entity: None,
            project: item.project,
            surface: surface_of(sort),
            kind: kind.to_string(),
            title,
            rest,
            lines: None,
            numbers: Vec::new(),
        })
    };
    if item.kind == MESSAGE && item.entity.is_some() {
        let Some(said) = message::said(item) else {
            return Ok(None);
        };
        let name = message_name(item.seq);
        let rest = said::of_message(&said);
        let found = candidate(name, sort::MESSAGE, sort::MESSAGE, String::new(), rest);
        return Ok(found.filter(|found| !found.rest.is_empty()));
    }
    let name = item_name(&item.uuid);
    if item.kind == NOTE_ENTRY {
        let content = item.content.as_deref().unwrap_or_default();
        let Ok(said) = serde_json::from_str::<Value>(content) else {
            return Ok(None);
        };
        let text = |field: &str| said[field].as_str().unwrap_or_default().to_string();
        let kind = match said["format"].as_str() {
            Some("card") => "card",
            _ => sort::NOTE,
        };
        return Ok(candidate(
            name,
            sort::NOTE,
            kind,
            text("title"),
            text("content"),
        ));
    }
    let Some(said) = content::content(item).filter(|said| !said.undone) else {
        return Ok(None);
    };
    let Some(text) = said::of_item(ItemKind::of(&item.kind), &said.fields) else {
        return Ok(None);
    };
    let rest = meaning::rest(&text.summary, &text.body);
    // A proposal is known by its own name, and its words by the call that made it.
    match Call::of(&said.fields).and_then(|call| call.proposal()) {
        Some((id, label)) => Ok(candidate(id, sort::ITEM, PROPOSAL, label, rest)),
        None => Ok(candidate(name, sort::ITEM, &item.kind, text.title, rest)),
    }
}
