//! `garden_undo`: taking back what one has just said.
//!
//! The content goes, from the tables and from what the database keeps beside them. That something
//! was said, by whom and when, stays, and so does the proof over it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::answer::{Answer, json_of};
use understory_model::error::{Code, Fault, Result};
use understory_model::fact::{Fact, Message, Undone};
use understory_model::id::item_name;
use understory_model::item::{ENTITY_DELTA, Item};
use understory_model::text::quoted;
use understory_model::thread::{MessageKind, finding_name};
use understory_model::{Caller, Id, Seq};
use understory_storage::relations::{self, End};
use understory_storage::{artifacts, causes, entities, items, texts};

use crate::garden::{Content, Mention};
use crate::kernel::content::content;
use crate::kernel::content::message::said;
use crate::kernel::content::relation::MENTIONS;
use crate::kernel::core::Thing;
use crate::kernel::names;
use crate::kinds::{ARTIFACT_DELTA, ItemKind, PROPOSAL};
use crate::{Engine, Request, Work};

/// How long what was said can be taken back, in microseconds; the database knows it too.
pub const WINDOW: i64 = 5 * 60 * 1_000_000;

/// Citations of an item that are looked at for commits that hold its words.
const LOOKED_AT: i64 = 1_000;

/// The answer of `garden_undo`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Undo {
    /// The item that was taken back: `item_<uuid>`.
    pub undone: String,
    /// Commits that brought its words into an artifact, where they stay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_in: Vec<String>,
}

/// Answers, and tells whether the text indexes hold what was said.
fn undo(work: &mut Work<'_, '_>, named: &str) -> Result<(Undo, bool)> {
    let (ws, scope) = (work.ws(), work.scope()?);
    let item = names::item(work.read()?, scope, "item", named)?;
    check(work, &item)?;
    let remains = json_of(&remains(&item)?)?;
    let indexed = !texts::waits(work.read()?, ws, Id::of(item.seq))?;
    // Told from what is there before: taking it back takes its relations too.
    let kept = kept_in(work, &item)?;
    let text = remains.to_string();
    let undone = Undone {
        item: item.seq,
        remains,
    };
    let by = work.note(item.project, Fact::Undone(undone))?;
    let undone = item_name(&item.uuid);
    let instead = json_of(&Instead {
        item: Erased {
            uuid: &undone,
            undone: true,
        },
    })?;
    work.erase(&item, by, &text, &instead.to_string())?;
    if indexed {
        work.forget_text(item.seq)?;
    }
    let answer = Undo {
        undone,
        kept_in: kept,
    };
    Ok((answer, indexed))
}

/// Commits that brought words of an item into an artifact: they stay there, and the author who
/// takes the item back is told.
fn kept_in(work: &mut Work<'_, '_>, item: &Item) -> Result<Vec<String>> {
    let ws = work.ws();
    let scope = names::Scope::ids(ws, work.caller);
    let page = ((Seq::MIN, i64::MIN), LOOKED_AT);
    let mut commits: Vec<Seq> = Vec::new();
    for one in relations::of(
        work.read()?,
        ws,
        Id::of(item.seq),
        End::Target,
        Some(MENTIONS),
        page,
    )? {
        // A line that only mentions the item holds none of its words.
        if one.place.is_none() {
            commits.push(one.source.seq());
        }
    }
    for (_, effect) in causes::effects(work.read()?, ws, &[item.seq])? {
        let proposal = effect.entity.filter(|_| effect.kind == ENTITY_DELTA);
        let Some(entity) = proposal
            .map(|id| entities::get(work.read()?, ws, id))
            .transpose()?
        else {
            continue;
        };
        let Some(thing) = entity.map(Thing::open).transpose()? else {
            continue;
        };
        let text = |field: &str| thing.data.get(field).and_then(Value::as_str);
        if let (PROPOSAL, Some(commit), Some(artifact)) =
            (thing.entity.kind.as_str(), text("commit"), text("artifact"))
            && let Some(id) = names::artifact_id(work.read()?, scope, artifact)?
        {
            let made = artifacts::by_hash(work.read()?, ws, id, commit, 1)?;
            commits.extend(made.iter().map(|commit| commit.seq));
        }
    }
    commits.sort_unstable();
    commits.dedup();
    let mut kept = Vec::new();
    for seq in commits {
        let commit = items::get(work.read()?, ws, seq)?;
        let commit = commit.filter(|commit| commit.kind == ARTIFACT_DELTA);
        kept.extend(commit.map(|commit| item_name(&commit.uuid)));
    }
    Ok(kept)
}

fn check(work: &Work<'_, '_>, item: &Item) -> Result<()> {
    if item.actor != work.caller.agent {
        return Err(Fault::new(
            Code::Forbidden,
            format!("only {}, who wrote it, can undo it", quoted(&item.actor)),
        ));
    }
    if let Some(why) = stays(item) {
        return Err(Fault::new(Code::Immutable, why.0).hint(why.1));
    }
    if is_undone(item) {
        return Err(Fault::conflict("it was taken back already"));
    }
    let age = work.now.0.saturating_sub(item.realized_at.0);
    if age > WINDOW {
        let message = "more than five minutes have passed: it stays";
        return Err(Fault::new(Code::UndoExpired, message)
            .hint("Add an item that corrects it, with a relation supercedes to it."));
    }
    Ok(())
}

/// Why an item cannot be taken back, and what to do instead.
fn stays(item: &Item) -> Option<(&'static str, &'static str)> {
    let kind = ItemKind::of(&item.kind);
    match kind {
        ItemKind::EntityDelta => Some((
            "a change of an entity stays in its history",
            "Use garden_entity_revert, or the tool that made the change.",
        )),
        ItemKind::ArtifactCreated | ItemKind::ArtifactDelta => Some((
            "a commit stays in the artifact's history",
            "Commit the earlier content again.",
        )),
        ItemKind::Message if item.entity.is_some() => {
            let said = said(item)?;
            let counts = said.kind != MessageKind::Chat || finding_name(&said.metadata).is_some();
            counts.then_some((
                "an event of a review stays",
                "Post one that settles it, such as finding_withdrawn.",
            ))
        }
        _ => kind.is_servers().then_some((
            "this was written by the server and stays",
            "Only what was said can be taken back.",
        )),
    }
}

fn is_undone(item: &Item) -> bool {
    match said(item).filter(|_| item.entity.is_some()) {
        Some(said) => said.undone,
        None => content(item).is_some_and(|content| content.undone),
    }
}

/// What stands in the place of the content: where it was, and nothing of what it said.
fn remains(item: &Item) -> Result<Remains> {
    Ok(match Fact::read(item)? {
        Fact::Message(said) => Remains::Message(said.remains()),
        Fact::Said(said) => Remains::Said(Content {
            log: said.content.log,
            replies_to: said.content.replies_to,
            cited: cited(&said.content.mentions),
            undone: true,
            ..Content::default()
        }),
        _ => Remains::Said(Content {
            undone: true,
            ..Content::default()
        }),
    })
}

#[derive(Serialize)]
#[serde(untagged)]
enum Remains {
    Message(Message),
    Said(Content),
}

/// What a retry of the call that wrote an item is answered after it was taken back.
#[derive(Serialize)]
struct Instead<'u> {
    item: Erased<'u>,
}

#[derive(Serialize)]
struct Erased<'u> {
    uuid: &'u str,
    undone: bool,
}

/// The things that a text refers to, without where it does.
pub fn cited(mentions: &[Mention]) -> Vec<Id> {
    mentions.iter().map(|mention| mention.target).collect()
}

impl Engine {
    /// Takes back what the caller said, and lets nothing of it remain in the store's files.
    pub fn undo(&self, caller: &Caller, request: Request, named: String) -> Result<Answer<Undo>> {
        let indexed = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&indexed);
        let answer = self.write(caller, request, move |work| {
            work.beyond_quota();
            let (answer, indexed) = undo(work, &named)?;
            told.store(indexed, Ordering::Relaxed);
            Ok(answer)
        })?;
        let indexed = indexed.load(Ordering::Relaxed);
        self.store().finish_erasing(&caller.workspace, indexed);
        Ok(answer)
    }
}
