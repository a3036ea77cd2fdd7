//! The scratchpad: one working text that everybody at a task or in a conversation shares.
//!
//! It is live, not of record: what matters in it is made a note, and the rest is forgotten in the
//! same transaction in which the task is resolved or the conversation collapsed, through whichever
//! surface that happens. It must never be the only place of anything that has to last.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use understory_model::answer::{self, Answer, Fit, Shape, Step};
use understory_model::budget::Budget;
use understory_model::error::{Fault, Result};
use understory_model::text::check_text;
use understory_model::{Id, Seq, Time, Ws, limits};
use understory_storage::scratch::{self, Scratch};
use understory_storage::{ReadTx, items};

use crate::garden::conversation;
use crate::garden::shape::ItemShape;
use crate::garden::timeline::add;
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::node as fields;
use crate::kernel::core::Thing;
use crate::kernel::names::Scope;
use crate::kernel::titles;
use crate::kinds::NOTE;
use crate::{View, Work, graph};

/// Whose text is meant.
#[derive(Debug, Clone)]
pub enum Of {
    Task(String),
    Log(String),
}

/// What of the text is made a note.
#[derive(Debug, Clone)]
pub enum Keep {
    All,
    /// Texts that stand in it, word for word.
    These(Vec<String>),
}

/// A change of a text, or of the record by it.
#[derive(Debug, Clone)]
pub struct Asked {
    pub of: Of,
    pub write: Option<String>,
    pub append: bool,
    pub keep: Option<Keep>,
    pub expected_rev: Option<i64>,
}

impl Asked {
    pub fn only_reads(&self) -> bool {
        self.write.is_none() && self.keep.is_none()
    }
}

impl Check for Asked {
    fn check(&self) -> Result<()> {
        if let Some(text) = &self.write {
            check_text("write", text, limits::SCRATCH_CHARS, true)?;
        }
        if self.append && self.write.is_none() {
            return Err(Fault::invalid(
                "append",
                "adds what write gives, and there is none",
            ));
        }
        if self.expected_rev.is_some() && self.write.is_none() {
            let problem = "guards what write replaces, and there is none";
            return Err(Fault::invalid("expected_rev", problem));
        }
        let Some(Keep::These(texts)) = &self.keep else {
            return Ok(());
        };
        if texts.is_empty() {
            return Err(Fault::invalid("keep", "names nothing"));
        }
        for (at, text) in texts.iter().enumerate() {
            check_text(format!("keep[{at}]"), text, limits::SCRATCH_CHARS, false)?;
        }
        Ok(())
    }
}

/// The answer of `scratchpad`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Scratchpad {
    /// The task whose text it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The conversation whose text it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    pub text: String,
    /// Goes up with every write; 0 before the first.
    pub rev: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Time>,
    /// Closed for writing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// The note that was made of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<ItemShape>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<Replaced>,
}

impl Fit for Scratchpad {
    /// What was overwritten goes before any of the text.
    const SHAPE: Shape = Shape::Steps {
        steps: &[Step::Field("/replaced")],
        rest: &Shape::Whole,
    };
}

/// The text of somebody else that this call overwrote.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Replaced {
    pub text: String,
    pub rev: i64,
    pub updated_by: String,
}

/// What a text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Task,
    Log,
}

/// The task or conversation whose text it is.
struct Place {
    id: Id,
    owner: Owner,
    name: String,
    /// Why it is closed for writing.
    closed: Option<&'static str>,
}

impl Place {
    fn task(thing: &Thing) -> Place {
        Place {
            id: thing.entity.id,
            owner: Owner::Task,
            name: thing.entity.handle.clone(),
            closed: fields::resolved(&thing.data).then_some("is resolved"),
        }
    }

    fn log(tx: &mut ReadTx<'_>, ws: Ws, thing: &Thing) -> Result<Place> {
        let name = titles::log_of(tx, ws, thing.entity.id)?;
        Ok(Place {
            id: thing.entity.id,
            owner: Owner::Log,
            name: name.unwrap_or_default(),
            closed: conversation::check_open(thing)
                .is_err()
                .then_some("was collapsed"),
        })
    }

    fn answer(&self, scratch: Option<&Scratch>) -> Scratchpad {
        let name = |owner| (self.owner == owner).then(|| self.name.clone());
        let written = scratch.filter(|scratch| !scratch.text.is_empty());
        Scratchpad {
            task: name(Owner::Task),
            log: name(Owner::Log),
            text: scratch.map(|one| one.text.clone()).unwrap_or_default(),
            rev: scratch.map_or(0, |scratch| scratch.rev),
            updated_by: written.map(|scratch| scratch.by.clone()),
            updated_at: written.map(|scratch| scratch.at),
            closed: self.closed.is_some(),
            ..Scratchpad::default()
        }
    }
}

/// The text of a task or conversation.
pub fn read(view: &mut View<'_, '_>, asked: &Checked<Asked>) -> Result<Scratchpad> {
    let place = match &asked.of {
        Of::Task(handle) => Place::task(&Thing::open(graph::find(view, handle)?)?),
        Of::Log(name) => {
            let entity =
                conversation::find(view.tx, Scope::ids(view.ws, view.caller), "log", name)?;
            Place::log(view.tx, view.ws, &Thing::open(entity)?)?
        }
    };
    let scratch = scratch::get(view.tx, view.ws, place.id)?;
    Ok(place.answer(scratch.as_ref()))
}

/// Writes the text, or keeps what is named of it, or both.
pub fn write(
    work: &mut Work<'_, '_>,
    asked: &Checked<Asked>,
    budget: &Budget,
) -> Result<Answer<Scratchpad>> {
    let ws = work.ws();
    let thing = match &asked.of {
        Of::Task(handle) => {
            let id = graph::find_to_change(work, handle)?;
            work.thing(id)?.clone()
        }
        Of::Log(name) => {
            let caller = work.caller;
            let id = conversation::find(work.read()?, Scope::ids(ws, caller), "log", name)?.id;
            work.thing(id)?.clone()
        }
    };
    let place = match &asked.of {
        Of::Task(_) => Place::task(&thing),
        Of::Log(_) => Place::log(work.read()?, ws, &thing)?,
    };
    if let Some(why) = place.closed {
        return Err(
            Fault::conflict(format!("{} {why}: its scratchpad is gone", place.name))
                .hint("What was kept of it is on the timeline, as notes."),
        );
    }
    let before = scratch::get(work.read()?, ws, place.id)?;
    let mut replaced = None;
    let scratch = match &asked.write {
        None => before,
        Some(text) => {
            check_rev(asked.expected_rev, &place, before.as_ref())?;
            let now = written(work, asked.append, text, before.as_ref())?;
            work.live().put_scratch(place.id, &now)?;
            replaced = before.filter(|before| loses(asked, before, &now));
            Some(now)
        }
    };
    let mut answer = place.answer(scratch.as_ref());
    if let Some(keep) = &asked.keep {
        let text = scratch.map(|scratch| scratch.text).unwrap_or_default();
        answer.kept = Some(kept(work, &place, &thing, &text, keep)?);
    }
    answer.replaced = replaced.map(|before| Replaced {
        text: before.text,
        rev: before.rev,
        updated_by: before.by,
    });
    answer::fit(answer, budget)
}

/// Whether a text of somebody else disappears that the writer need not have seen.
fn loses(asked: &Asked, before: &Scratch, now: &Scratch) -> bool {
    asked.expected_rev.is_none()
        && !asked.append
        && before.by != now.by
        && !before.text.is_empty()
        && before.text != now.text
}

fn check_rev(expected: Option<i64>, place: &Place, before: Option<&Scratch>) -> Result<()> {
    let rev = before.map_or(0, |before| before.rev);
    if expected.is_none_or(|expected| expected == rev) {
        return Ok(());
    }
    let problem = format!("the scratchpad of {} was written meanwhile", place.name);
    Err(Fault::conflict(problem)
        .detail("current", place.answer(before))
        .hint("Put both texts together, and write them with this rev."))
}

/// The text as it is now to be.
fn written(
    work: &Work<'_, '_>,
    append: bool,
    text: &str,
    before: Option<&Scratch>,
) -> Result<Scratch> {
    let text = match before.filter(|before| append && !before.text.is_empty()) {
        Some(before) if before.text.ends_with('\n') => format!("{}{text}", before.text),
        Some(before) => format!("{}\n{text}", before.text),
        None => text.to_string(),
    };
    check_text("write", &text, limits::SCRATCH_CHARS, true)
        .map_err(|fault| fault.hint("Keep what matters as notes, and write the rest shorter."))?;
    Ok(Scratch {
        text,
        rev: before.map_or(0, |before| before.rev) + 1,
        by: work.caller.agent.clone(),
        at: work.now,
    })
}

/// Makes a note of what is named; the item.
fn kept(
    work: &mut Work<'_, '_>,
    place: &Place,
    thing: &Thing,
    text: &str,
    keep: &Keep,
) -> Result<ItemShape> {
    let words = match keep {
        Keep::All if text.trim().is_empty() => {
            return Err(Fault::invalid("keep", "finds an empty scratchpad"));
        }
        Keep::All => text.to_string(),
        Keep::These(texts) => {
            for (at, passage) in texts.iter().enumerate() {
                if !text.contains(passage.as_str()) {
                    let problem = "does not stand in the scratchpad, word for word";
                    return Err(Fault::invalid(format!("keep[{at}]"), problem));
                }
            }
            texts.join("\n")
        }
    };
    let ws = work.ws();
    let project = thing.entity.project.unwrap_or_default();
    let log = match place.owner {
        Owner::Log => place.id,
        Owner::Task => conversation::to_write(work, project, None)?,
    };
    if let Some(last) = items::of_entity(work.read()?, ws, place.id, Seq::MAX, 1)?.pop() {
        work.default_cause(last.seq);
    }
    let mut fields = Map::new();
    fields.insert("description".into(), words.into());
    fields.insert(
        "title".into(),
        format!("From the scratchpad of {}", place.name).into(),
    );
    let seq = add::append(work, project, log, NOTE, fields, None)?;
    add::shown(work, seq)
}
