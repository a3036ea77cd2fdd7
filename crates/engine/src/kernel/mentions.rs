//! What texts mention, found when they are applied to core: those of records, tasks, notes, cards,
//! summaries and lines of artifacts. What is said in the garden and in threads keeps its mentions
//! in its item, and is not looked at here.
//!
//! A replay must come to the same as the write did. So only what stands before the text in the log
//! can be meant, numbers count references whether they were resolved or not, and when a message is
//! erased, what meant one of its parts means what it would have meant without that message.

use std::collections::{BTreeSet, HashMap};

use understory_model::error::Result;
use understory_model::fragment::{Anchor, PartName};
use understory_model::id::{parse_message, parse_name};
use understory_model::item::{ENTITY_DELTA, Item};
use understory_model::refs::{Around, Lines, Target, Wide, wide_references};
use understory_model::{Id, Seq, limits};
use understory_storage::relations::{self, Found, Place, Relation};
use understory_storage::{ReadTx, Tx, artifacts, entities, fragments, items};
use uuid::Uuid;

use crate::kernel::content::relation::{EndType, MENTIONS};
use crate::kernel::core::Core;
use crate::kernel::log::spellings;
use crate::kernel::project;
use crate::kernel::spoken::cited;
use crate::kinds::{ARTIFACT, MESSAGE};

/// A text of an item.
pub struct Text<'t> {
    pub field: &'static str,
    pub text: &'t str,
    /// Of an artifact, the line it becomes.
    pub line: Option<usize>,
}

impl<'t> Text<'t> {
    pub fn new(field: &'static str, text: &'t str) -> Text<'t> {
        Text {
            field,
            text,
            line: None,
        }
    }
}

/// Whose texts they are, and in which project labels are looked up.
#[derive(Clone, Copy)]
pub struct Source {
    pub id: Id,
    pub kind: EndType,
    pub project: Option<Id>,
    /// References that the item itself keeps, which are numbered first.
    pub kept: usize,
}

impl Source {
    pub fn entity(item: &Item, id: Id) -> Source {
        Source {
            id,
            kind: EndType::Entity,
            project: item.project,
            kept: 0,
        }
    }

    pub fn item(item: &Item, project: Option<Id>) -> Source {
        Source {
            id: Id::of(item.seq),
            kind: EndType::Item,
            project,
            kept: 0,
        }
    }
}

/// A reference and where it stands.
struct Reference<'t> {
    text: &'t Text<'t>,
    wide: Wide,
}

fn references<'t>(texts: &'t [Text<'t>]) -> Vec<Reference<'t>> {
    let all = texts.iter().flat_map(|text| {
        let found = wide_references(text.text).into_iter();
        found.map(move |wide| Reference { text, wide })
    });
    all.take(limits::MENTIONS).collect()
}

/// Whether any text has one of the signs that every reference needs.
pub fn any(texts: &[Text<'_>]) -> bool {
    let signs = ['^', ':', '(', '@'];
    texts.iter().any(|text| text.text.contains(signs))
}

/// What an entity's texts say now, in place of what they said before.
pub fn changed(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    source: Source,
    (before, after): (&[Text<'_>], &[Text<'_>]),
) -> Result<()> {
    let same = before.len() == after.len()
        && before
            .iter()
            .zip(after)
            .all(|(one, other)| one.field == other.field && one.text == other.text);
    if same {
        return Ok(());
    }
    if !references(before).is_empty() {
        relations::remove_found(tx, core.ws, source.id)?;
    }
    said(tx, core, item, source, after)
}

/// Keeps what texts mention.
pub fn said(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    source: Source,
    texts: &[Text<'_>],
) -> Result<()> {
    let all = references(texts);
    if all.is_empty() {
        return Ok(());
    }
    let known = Known::load(tx, core, item, source.project, &all)?;
    let (mut found, mut things) = (Vec::new(), BTreeSet::new());
    for (at, one) in all.iter().enumerate() {
        let Some(meant) = known.meant(tx, core, item, &one.wide)? else {
            continue;
        };
        if meant.id == source.id {
            continue;
        }
        // A part can be erased, and then nothing of this may remain.
        if meant.part.is_none() {
            things.insert(meant.id);
        }
        let number = source.kept + at + 1;
        found.push(relation(item, source, number, one, meant));
    }
    relations::put_all(tx, core.ws, &found)?;
    things
        .into_iter()
        .try_for_each(|thing| cited(tx, core, thing, item))
}

fn relation(
    item: &Item,
    source: Source,
    number: usize,
    one: &Reference<'_>,
    meant: Meant,
) -> Relation {
    let int = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let (start, end) = one.wide.whole;
    Relation {
        made: item.seq,
        n: int(number),
        kind: MENTIONS.to_string(),
        source: source.id,
        source_type: source.kind.name().to_string(),
        target: meant.id,
        target_type: meant.kind.name().to_string(),
        fragment: meant.part.map(|part| part.to_string()),
        inferred: true,
        found: meant.found,
        place: Some(Place {
            field: one.text.field.to_string(),
            span: (int(start), int(end)),
            line: one.text.line.map(int),
        }),
        fossil: false,
        at: item.realized_at,
    }
}

/// What a reference stands for.
struct Meant {
    id: Id,
    kind: EndType,
    part: Option<PartName>,
    found: Found,
}

impl Meant {
    fn thing(id: Id, kind: EndType) -> Meant {
        Meant {
            id,
            kind,
            part: None,
            found: Found::Named,
        }
    }
}

/// What the names in some texts stand for, asked for together.
#[derive(Default)]
struct Known {
    project: Option<Id>,
    labels: HashMap<String, Id>,
    handles: HashMap<String, Id>,
    parts: HashMap<String, Seq>,
}

impl Known {
    fn load(
        tx: &mut ReadTx<'_>,
        core: &mut Core,
        item: &Item,
        project: Option<Id>,
        all: &[Reference<'_>],
    ) -> Result<Known> {
        let (mut labels, mut handles, mut parts) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for one in all {
            match (&one.wide.found.what, &one.wide.around) {
                (Target::Fragment(id), Around::Nothing) => {
                    parts.insert(id.as_str());
                }
                (Target::Line { label, .. }, _) => {
                    labels.insert(label.as_str());
                }
                (Target::Item(name), _) if !is_id(name) => {
                    labels.insert(name.as_str());
                    handles.extend(spellings(name));
                }
                _ => {}
            }
        }
        let ws = core.ws;
        let asked: Vec<&str> = labels.into_iter().collect();
        let labels = match project {
            Some(project) => artifacts::by_labels(tx, ws, project, &asked)?,
            None => HashMap::new(),
        };
        let asked: Vec<&str> = handles.iter().map(String::as_str).collect();
        let mut handles_known = entities::by_handles(tx, ws, &asked)?;
        // What this write or chunk of a replay made is not in the tables yet.
        for handle in &handles {
            handles_known.extend(core.held_handle(handle).map(|id| (handle.clone(), id)));
        }
        let asked: Vec<&str> = parts.into_iter().collect();
        Ok(Known {
            project,
            labels,
            handles: handles_known,
            parts: fragments::newest_before(tx, ws, project, item.seq, &asked)?,
        })
    }

    fn meant(
        &self,
        tx: &mut Tx<'_>,
        core: &mut Core,
        item: &Item,
        one: &Wide,
    ) -> Result<Option<Meant>> {
        match (&one.found.what, &one.around) {
            (Target::Fragment(_), Around::Part(anchor)) => anchored(tx, core, item, anchor),
            (Target::Fragment(id), _) => match self.parts.get(id) {
                Some(seq) => bare(tx, core, *seq, id).map(Some),
                None => Ok(None),
            },
            (Target::Line { label, .. }, around) => self.line(tx, core, item, label, around),
            (Target::Log(name), _) => by_id(tx, core, item, name),
            (Target::Item(name), _) if is_id(name) => by_id(tx, core, item, name),
            (Target::Item(name), _) => {
                let spelled = spellings(name).into_iter();
                let found = spelled
                    .filter_map(|handle| self.handles.get(&handle))
                    .next();
                match found.or_else(|| self.labels.get(name)) {
                    Some(id) => entity(tx, core, *id),
                    None => Ok(None),
                }
            }
        }
    }

    /// The artifact that a line is of.
    fn line(
        &self,
        tx: &mut Tx<'_>,
        core: &mut Core,
        item: &Item,
        label: &str,
        around: &Around,
    ) -> Result<Option<Meant>> {
        let own = || {
            let id = self.project.and(self.labels.get(label));
            id.map(|id| Meant::thing(*id, EndType::Artifact))
        };
        let Around::Lines(Lines {
            entity, project, ..
        }) = around
        else {
            return Ok(own());
        };
        if let Some(name) = entity {
            let found = by_id(tx, core, item, name)?;
            return Ok(found.filter(|found| found.kind == EndType::Artifact));
        }
        let named = match project {
            Some(project) => core.by_handle(tx, &project::handle(project))?,
            None => None,
        };
        let there = match named {
            Some(project) => artifacts::by_label(tx, core.ws, project, label)?,
            None => None,
        };
        let there = there.map(|(id, _)| Meant::thing(id, EndType::Artifact));
        Ok(there.or_else(own))
    }
}

/// Whether a name is the id of one thing, rather than a handle or a label.
fn is_id(name: &str) -> bool {
    parse_message(name).is_some() || parse_name(name).is_some() || log_id(name).is_some()
}

fn log_id(name: &str) -> Option<Uuid> {
    Uuid::try_parse(name.strip_prefix("uuid_")?).ok()
}

/// An item that stands before another, by its id.
fn item_of(tx: &mut ReadTx<'_>, core: &Core, item: &Item, name: &str) -> Result<Option<Item>> {
    let found = match (parse_message(name), parse_name(name).or(log_id(name))) {
        (Some(seq), _) if seq < item.seq => {
            items::get(tx, core.ws, seq)?.filter(|found| found.kind == MESSAGE)
        }
        (None, Some(uuid)) => items::by_uuid(tx, core.ws, &uuid)?,
        _ => None,
    };
    Ok(found.filter(|found| found.seq < item.seq))
}

/// An item or an entity, by its id.
fn by_id(tx: &mut Tx<'_>, core: &mut Core, item: &Item, name: &str) -> Result<Option<Meant>> {
    let Some(found) = item_of(tx, core, item, name)? else {
        return Ok(None);
    };
    if parse_message(name).is_some() || name.starts_with("item_") {
        return Ok(Some(Meant::thing(Id::of(found.seq), EndType::Item)));
    }
    let made = Id::of(found.seq);
    if found.kind == ENTITY_DELTA && found.entity == Some(made) {
        entity(tx, core, made)
    } else {
        Ok(None)
    }
}

fn entity(tx: &mut Tx<'_>, core: &mut Core, id: Id) -> Result<Option<Meant>> {
    let kind = core.thing(tx, id)?.map(|thing| {
        if thing.entity.kind == ARTIFACT {
            EndType::Artifact
        } else {
            EndType::Entity
        }
    });
    Ok(kind.map(|kind| Meant::thing(id, kind)))
}

/// A part of the message that is named with it.
fn anchored(
    tx: &mut ReadTx<'_>,
    core: &Core,
    item: &Item,
    anchor: &Anchor,
) -> Result<Option<Meant>> {
    let Some(of) = item_of(tx, core, item, &anchor.item)? else {
        return Ok(None);
    };
    let count = fragments::count(tx, core.ws, of.seq, &anchor.first.id)?;
    let nth = anchor.first.nth.unwrap_or(1);
    Ok((nth >= 1 && nth <= count).then(|| Meant {
        id: Id::of(of.seq),
        kind: EndType::Fragment,
        part: Some(PartName {
            id: anchor.first.id.clone(),
            nth: (count > 1).then_some(nth),
        }),
        found: Found::Named,
    }))
}

/// The first part of an item that has an id.
fn bare(tx: &mut ReadTx<'_>, core: &Core, seq: Seq, id: &str) -> Result<Meant> {
    let several = fragments::count(tx, core.ws, seq, id)? > 1;
    Ok(Meant {
        id: Id::of(seq),
        kind: EndType::Fragment,
        part: Some(PartName {
            id: id.to_string(),
            nth: several.then_some(1),
        }),
        found: Found::Bare,
    })
}

/// The parts of an item are gone: what meant them by their id alone means the newest other.
pub fn erased(tx: &mut Tx<'_>, core: &mut Core, erased: Seq) -> Result<()> {
    let ws = core.ws;
    for mut one in relations::found_parts(tx, ws, erased)? {
        relations::remove(tx, ws, one.made, one.n)?;
        let part = one.fragment.as_deref().and_then(PartName::parse);
        let (Found::Bare, Some(part)) = (one.found, part) else {
            continue;
        };
        // What an id meant was looked up in the project of the text.
        let project = text_project(tx, core, &one)?;
        let asked = [part.id.as_str()];
        let others = fragments::newest_before(tx, ws, project, one.made, &asked)?;
        let Some(seq) = others.get(&part.id) else {
            continue;
        };
        let meant = bare(tx, core, *seq, &part.id)?;
        one.target = meant.id;
        one.fragment = meant.part.map(|part| part.to_string());
        relations::put(tx, ws, &one)?;
    }
    Ok(())
}

fn text_project(tx: &mut Tx<'_>, core: &mut Core, one: &Relation) -> Result<Option<Id>> {
    let made = items::get(tx, core.ws, one.made)?;
    match made {
        Some(item) if item.project.is_none() => project::project_of(tx, core, &item),
        made => Ok(made.and_then(|item| item.project)),
    }
}
