//! The one write path: what a call changes becomes items, and items become core, in one
//! transaction.
//!
//! A rule reads through [`Work`], decides, and calls [`Work::create`] or [`Work::change`]; nothing
//! else writes. When it refuses, the transaction is rolled back and no trace is left.

use serde_json::{Map, Value};
use understory_model::canon::{entity_hash_map, sha256};
use understory_model::error::{Code, Fault, Result};
use understory_model::fact::Fact;
use understory_model::id::{HandleKind, MAX_SEQ, entity_name};
use understory_model::item::{EntityDelta, Gone, Item, LinkChange, Named, Place, Shown};
use understory_model::{Caller, Id, Seq, Time, Ws, delta, limits, link};
use understory_storage::nodes::Node;
use understory_storage::projects::Project;
use understory_storage::records::Record;
use understory_storage::sessions::Session;
use understory_storage::workspaces::{self, Head};
use understory_storage::{ReadTx, Tx, erased, items, scratch, texts};
use uuid::Uuid;

use crate::Rules;
use crate::kernel::clock::Clock;
use crate::kernel::core::{Core, Thing};
use crate::kernel::live::Live;
use crate::kernel::quota;
use crate::kinds::EntityKind;

/// A write in progress.
pub struct Work<'w, 'c> {
    tx: &'w mut Tx<'c>,
    core: Core,
    apply: Apply,
    pub caller: &'w Caller,
    /// The moment of this write: never before that of any item in the log.
    pub now: Time,
    pub rules: Rules,
    /// The session in whose name this write is kept.
    pub session: String,
    /// The project that the call names, if it names one.
    pub project: Option<String>,
    /// The item that led to this write.
    cause: Option<Seq>,
    clock: &'w dyn Clock,
    head: Head,
    pending: Vec<Item>,
    /// What this write ended, whose working texts go with it.
    ended: Vec<Id>,
    wrote: bool,
    /// Whether a working text was forgotten.
    forgot: bool,
    /// Whether it added to the log.
    appended: bool,
    /// Whether it is done even where a quota is used up.
    beyond_quota: bool,
}

/// Where a write begins: the end of the log, and what of core is known already, which is what an
/// earlier write of the same transaction left.
pub(crate) struct Start {
    pub head: Head,
    pub core: Core,
    pub apply: Apply,
}

/// What a fact means to core. Each surface has a projection of its own, so the kernel is told.
pub type Apply = fn(&mut Tx<'_>, &mut Core, &Item, &Fact) -> Result<()>;

/// An entity to be made.
#[derive(Default)]
pub struct Create<'k> {
    pub kind: EntityKind<'k>,
    /// Empty for what is known by its uuid alone.
    pub handle: String,
    /// `None`: it belongs to the whole workspace, or is a project itself.
    pub project: Option<Id>,
    pub parent: Option<Named>,
    pub data: Map<String, Value>,
    pub links: Vec<LinkChange>,
    pub tick: Option<i64>,
}

/// A fact that changes no entity, and what it concerns.
pub struct Noted {
    pub project: Option<Id>,
    /// The entity that it is about.
    pub entity: Option<Id>,
    /// When it happened, where that is not now.
    pub canonical_at: Option<Time>,
    pub fact: Fact,
}

/// A change of an entity; what is `None` or empty stays.
#[derive(Default)]
pub struct Edit {
    pub action: &'static str,
    pub data: Option<Map<String, Value>>,
    pub place: Option<Place>,
    pub links: Vec<LinkChange>,
    pub reason: Option<String>,
    pub about: Option<Named>,
    pub tick: Option<i64>,
    pub details: Option<Value>,
    pub shown: Option<Shown>,
    pub gone: Option<Gone>,
}

impl<'w, 'c> Work<'w, 'c> {
    pub(crate) fn new(
        tx: &'w mut Tx<'c>,
        Start { head, core, apply }: Start,
        caller: &'w Caller,
        clock: &'w dyn Clock,
        rules: Rules,
    ) -> Work<'w, 'c> {
        // A clock that was set back does not make the log run backwards.
        let now = clock.now().max(head.at);
        Work {
            tx,
            core,
            apply,
            caller,
            now,
            rules,
            session: caller.session.clone(),
            project: None,
            cause: None,
            clock,
            head,
            pending: Vec::new(),
            ended: Vec::new(),
            wrote: false,
            forgot: false,
            appended: false,
            beyond_quota: false,
        }
    }

    /// The moment by the clock, which may have been set back since the last item of the log.
    pub fn clock_now(&self) -> Time {
        self.clock.now()
    }

    pub fn ws(&self) -> Ws {
        self.core.ws
    }

    /// Says what led to this write; the items from here on have it.
    pub fn caused_by(&mut self, cause: Seq) {
        self.cause = Some(cause);
    }

    /// What led to this write, as far as it is known.
    pub fn cause(&self) -> Option<Seq> {
        self.cause
    }

    /// As [`Work::caused_by`], where the caller said nothing better.
    pub fn default_cause(&mut self, cause: Seq) {
        self.cause.get_or_insert(cause);
    }

    /// Lets this write go beyond a quota: it takes something away, or must not be kept from
    /// anybody.
    pub(crate) fn beyond_quota(&mut self) {
        self.beyond_quota = true;
    }

    /// The seq that the next item will have.
    pub fn next_seq(&self) -> Seq {
        self.head.seq + 1
    }

    pub fn thing(&mut self, id: Id) -> Result<&mut Thing> {
        self.core.thing(self.tx, id)?.ok_or_else(|| {
            Fault::new(Code::StoreCorrupt, format!("entity {id} is not in core"))
                .hint("Run `understory rebuild`.")
        })
    }

    /// What queries are asked through. All that this write changed so far is written out first, so
    /// that an answer is never stale; where nothing is held, this costs nothing.
    pub fn read(&mut self) -> Result<&mut ReadTx<'c>> {
        self.flush()?;
        Ok(&mut *self.tx)
    }

    /// What a rule writes beside the log.
    pub fn live(&mut self) -> Live<'_, 'c> {
        Live::new(self.tx, self.core.ws, &mut self.wrote)
    }

    /// Takes away what an item said, now that the item `by` tells what remains of it. Answers that
    /// were kept for its author become `instead`.
    pub fn erase(&mut self, item: &Item, by: Seq, remains: &str, instead: &str) -> Result<()> {
        self.flush()?;
        let ws = self.core.ws;
        erased::erase(self.tx, ws, item.seq, by, remains)?;
        erased::blank_answers(self.tx, ws, &item.actor, item.realized_at, instead)
    }

    /// Takes the text of an item out of the text indexes.
    pub fn forget_text(&mut self, seq: Seq) -> Result<()> {
        texts::forget(self.tx, self.core.ws, Id::of(seq))
    }

    /// The id behind a handle.
    pub fn by_handle(&mut self, handle: &str) -> Result<Option<Id>> {
        self.core.by_handle(self.tx, handle)
    }

    pub fn node(&mut self, id: Id) -> Result<Option<&Node>> {
        self.core.node(self.tx, id)
    }

    pub fn record(&mut self, id: Id) -> Result<Option<&Record>> {
        self.core.record(self.tx, id)
    }

    pub fn session_row(&mut self, id: Id) -> Result<Option<&Session>> {
        self.core.session(self.tx, id)
    }

    pub fn project_row(&mut self, id: Id) -> Result<Option<&Project>> {
        self.core.project(self.tx, id)
    }

    /// Where the links of a relation lead.
    pub fn targets(&mut self, source: Id, relation: &str) -> Result<Vec<Id>> {
        self.core.targets(self.tx, source, relation)
    }

    /// Where the links of a relation come from.
    pub fn sources(&mut self, target: Id, relation: &str) -> Result<Vec<Id>> {
        self.core.sources(self.tx, target, relation)
    }

    pub fn has_link(&mut self, source: Id, relation: &str, target: Id) -> Result<bool> {
        self.core.has_link(self.tx, source, relation, target)
    }

    /// What lies directly below an entity.
    pub fn children(&mut self, parent: Id) -> Result<Vec<Id>> {
        self.core.children(self.tx, parent)
    }

    /// The number that the next handle of a kind has.
    pub fn next_number(&mut self, kind: HandleKind) -> Result<i64> {
        self.core.next_number(self.tx, kind)
    }

    /// Nodes that waited when the write began and can be worked on now.
    pub fn newly_actionable(&mut self) -> Result<Vec<Id>> {
        self.core.newly_actionable(self.tx)
    }

    pub fn named(&mut self, id: Id) -> Result<Named> {
        Ok(Named {
            id,
            handle: self.thing(id)?.entity.handle.clone(),
        })
    }

    /// Makes an entity and tells its id.
    pub fn create(&mut self, mut new: Create<'_>) -> Result<Id> {
        let (id, uuid) = (Id::of(self.next_seq()), self.clock.uuid(self.now));
        if new.handle.is_empty() {
            new.handle = entity_name(&uuid);
        }
        check_size(&new.handle, &new.data)?;
        self.check_links(id, &new.links)?;
        let delta = EntityDelta {
            kind: new.kind.as_str().to_string(),
            handle: new.handle,
            version: 1,
            commit: entity_hash_map(&new.data, None),
            parent: None,
            action: "created".into(),
            data: Some(new.data),
            changes: Vec::new(),
            place: new.parent.map(|to| Place {
                from: None,
                to: Some(to),
            }),
            links: new.links,
            reason: None,
            about: None,
            tick: new.tick,
            details: None,
            shown: None,
            gone: None,
        };
        // A project belongs to itself.
        let project = if new.kind == EntityKind::Project {
            Some(id)
        } else {
            new.project
        };
        self.append_change(id, uuid, project, delta)?;
        Ok(id)
    }

    /// Makes the next version of an entity and tells its number.
    pub fn change(&mut self, id: Id, edit: Edit) -> Result<i64> {
        self.check_links(id, &edit.links)?;
        let thing = self.thing(id)?;
        let (kind, handle) = (thing.entity.kind.clone(), thing.entity.handle.clone());
        let (project, version) = (thing.entity.project, thing.entity.version + 1);
        let parent = thing.entity.hash.clone();
        let changes = match &edit.data {
            Some(data) => delta::diff(&thing.data, data),
            None => Vec::new(),
        };
        let data = edit.data.as_ref().unwrap_or(&thing.data);
        check_size(&handle, data)?;
        let delta = EntityDelta {
            kind,
            handle,
            version,
            commit: entity_hash_map(data, Some(&parent)),
            parent: Some(parent),
            action: edit.action.to_string(),
            data: None,
            changes,
            place: edit.place,
            links: edit.links,
            reason: edit.reason,
            about: edit.about,
            tick: edit.tick,
            details: edit.details,
            shown: edit.shown,
            gone: edit.gone,
        };
        let uuid = self.clock.uuid(self.now);
        let ends = ends(&delta);
        self.append_change(id, uuid, project, delta)?;
        if ends {
            self.ended.push(id);
        }
        Ok(version)
    }

    /// Refuses links beyond what their relation allows; what the same change takes away does not
    /// count.
    fn check_links(&mut self, source: Id, links: &[LinkChange]) -> Result<()> {
        for (at, link) in links.iter().enumerate().filter(|(_, link)| !link.remove) {
            let rule = link::rule(&link.relation);
            let same = |other: &&LinkChange| !other.remove && other.relation == link.relation;
            if rule.one_per_source {
                let mut there = self.core.targets(self.tx, source, &link.relation)?;
                there.retain(|target| {
                    !links.iter().any(|other| {
                        other.remove && other.relation == link.relation && other.to.id == *target
                    })
                });
                if !there.is_empty() || links[..at].iter().any(|other| same(&other)) {
                    return Err(one_only(&link.relation, "leave"));
                }
            }
            if rule.one_per_target
                && !self
                    .core
                    .sources(self.tx, link.to.id, &link.relation)?
                    .is_empty()
            {
                return Err(one_only(&link.relation, "reach"));
            }
        }
        Ok(())
    }

    /// Appends a fact that changes no entity, and tells its place.
    pub fn note(&mut self, project: Option<Id>, fact: Fact) -> Result<Seq> {
        self.append(Noted {
            project,
            entity: None,
            canonical_at: None,
            fact,
        })
    }

    /// As [`Work::note`], for a fact about an entity that leaves its value alone.
    pub fn note_about(&mut self, entity: Id, fact: Fact) -> Result<Seq> {
        self.append(Noted {
            project: None,
            entity: Some(entity),
            canonical_at: None,
            fact,
        })
    }

    /// Appends a fact and applies it to core.
    pub fn append(&mut self, noted: Noted) -> Result<Seq> {
        let uuid = self.clock.uuid(self.now);
        let item = self.next_item(uuid, &noted)?;
        (self.apply)(self.tx, &mut self.core, &item, &noted.fact)?;
        Ok(self.keep(item))
    }

    /// Appends a change of an entity and applies it to core.
    fn append_change(
        &mut self,
        entity: Id,
        uuid: Uuid,
        project: Option<Id>,
        delta: EntityDelta,
    ) -> Result<()> {
        let noted = Noted {
            project,
            entity: Some(entity),
            canonical_at: None,
            fact: Fact::Entity(Box::new(delta)),
        };
        let item = self.next_item(uuid, &noted)?;
        (self.apply)(self.tx, &mut self.core, &item, &noted.fact)?;
        self.keep(item);
        Ok(())
    }

    /// The next item of the log, with its proof.
    fn next_item(&self, uuid: Uuid, noted: &Noted) -> Result<Item> {
        let seq = self.next_seq();
        if seq > MAX_SEQ {
            return Err(Fault::new(
                Code::StoreUnavailable,
                "the workspace's log is full",
            ));
        }
        let content = noted.fact.content()?;
        let mut item = Item {
            seq,
            uuid,
            kind: noted.fact.kind().as_str().into(),
            project: noted.project,
            entity: noted.entity,
            realized_at: self.now,
            canonical_at: noted.canonical_at.unwrap_or(self.now),
            actor: self.caller.agent.clone(),
            session: self.session.clone(),
            cause: self.cause,
            digest: sha256(content.as_bytes()),
            chain: [0; 32],
            content: Some(content),
        };
        item.chain = item.expected_chain(&self.head.chain);
        Ok(item)
    }

    fn keep(&mut self, item: Item) -> Seq {
        let seq = item.seq;
        self.head = Head {
            seq,
            chain: item.chain,
            at: self.now,
        };
        self.pending.push(item);
        self.appended = true;
        seq
    }

    /// Writes what is held, so that queries see it.
    fn flush(&mut self) -> Result<()> {
        if !self.pending.is_empty() {
            items::append(self.tx, self.core.ws, &self.pending)?;
            self.pending.clear();
            workspaces::put_head(self.tx, self.core.ws, &self.head)?;
            self.wrote = true;
        }
        self.core.flush(self.tx)
    }

    /// Whether working texts went with this write, of which nothing may remain.
    pub(crate) fn forgot(&self) -> bool {
        self.forgot
    }

    /// Writes the rest; whether there is anything to commit.
    pub(crate) fn finish(&mut self) -> Result<bool> {
        self.flush()?;
        if self.appended && !self.beyond_quota {
            quota::check(self.tx, self.core.ws, self.head.seq, self.rules.quotas)?;
        }
        self.forgot |= scratch::forget(self.tx, self.core.ws, &std::mem::take(&mut self.ended))?;
        for change in self.core.texts.take() {
            self.tx.defer(change);
        }
        Ok(self.wrote)
    }

    /// Where the next write of the transaction may begin.
    pub(crate) fn next_start(self) -> Option<Start> {
        let core = self.core.settled()?;
        let (head, apply) = (self.head, self.apply);
        Some(Start { head, core, apply })
    }
}

fn one_only(relation: &str, way: &str) -> Fault {
    Fault::conflict(format!("only one {relation} may {way} a thing"))
        .hint("Take the one that is there away first.")
}

fn check_size(handle: &str, data: &Map<String, Value>) -> Result<()> {
    // Counting is cheaper than writing: the sum of the texts bounds the JSON well enough to tell
    // a large value from one that cannot be kept.
    let size = data.values().map(weight).sum::<usize>();
    if size <= limits::ENTITY_BYTES {
        return Ok(());
    }
    Err(Fault::new(
        Code::TooLarge,
        format!(
            "{handle} would hold {size} bytes; at most {} are kept",
            limits::ENTITY_BYTES
        ),
    )
    .hint("Keep the large part in a file and add a context link to it."))
}

fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(values) => values.iter().map(|v| weight(v) + 1).sum::<usize>() + 2,
        Value::Object(map) => {
            map.iter()
                .map(|(k, v)| k.len() + 4 + weight(v))
                .sum::<usize>()
                + 2
        }
        _ => 8,
    }
}

/// Whether a change ends what a text belongs to.
pub(crate) fn ends(delta: &EntityDelta) -> bool {
    let set = |field: &str| {
        let mut changes = delta.changes.iter();
        changes.any(|change| {
            let after = change.after.as_ref();
            change.field() == field
                && after.is_some_and(|after| !after.is_null() && *after != Value::Bool(false))
        })
    };
    match EntityKind::of(&delta.kind) {
        EntityKind::Node => delta.gone.is_some() || set("resolved"),
        EntityKind::Log => set("summary"),
        EntityKind::Project
        | EntityKind::Record
        | EntityKind::Session
        | EntityKind::Branch
        | EntityKind::Conflict
        | EntityKind::Thread
        | EntityKind::Wake
        | EntityKind::Relation
        | EntityKind::Artifact
        | EntityKind::Proposal
        | EntityKind::Checkout
        | EntityKind::Callers(_) => false,
    }
}
