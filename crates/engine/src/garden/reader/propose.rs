//! `reader_propose`: other words for some lines, which somebody may accept or reject.
//!
//! The words are in the item that proposed them and nowhere else: undoing that item
//! takes the words back. The proposal names the item.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::error::{Code, Fault, Result};
use understory_model::id::{HandleKind, parse_name};
use understory_model::lines::split;
use understory_model::text::check_text;
use understory_model::{Seq, Time, Ws, limits};
use understory_storage::{ReadTx, items};

use crate::Work;
use crate::garden::reader::{Open, Setting, Status, name_of, open, record};
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::call::{Operation, Output, Params};
use crate::kernel::content::{content, text};
use crate::kernel::core::Thing;
use crate::kernel::work::Create;
use crate::kinds::EntityKind;

/// Words of a proposal that stand in an item beside it.
#[derive(Debug, Clone)]
pub struct Proposal {
    pub artifact: String,
    pub start: i64,
    pub end: i64,
    /// What stands there instead; nothing takes the lines away.
    pub content: String,
    pub reasoning: String,
    /// How sure its author is, from 0 to 1.
    pub confidence: Option<f64>,
}

impl Check for Proposal {
    fn check(&self) -> Result<()> {
        let sure = self.confidence;
        if sure.is_some_and(|sure| !(0.0..=1.0).contains(&sure)) {
            return Err(Fault::invalid("confidence", "must be between 0 and 1"));
        }
        check_text("content", &self.content, limits::BODY_BYTES, true)?;
        check_text("reasoning", &self.reasoning, limits::TEXT_CHARS, false)
    }
}

/// The answer of `reader_propose`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Proposed {
    pub proposal: Shown,
    /// The item that says it: `item_<uuid>`.
    pub item: String,
}

/// A proposal, as its entity keeps it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// The item that proposed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// `entity_<uuid>`.
    pub artifact: String,
    /// The artifact's label when it was proposed.
    pub label: String,
    /// The first line that it replaces, from 1.
    pub start: i64,
    /// The last one; before `start` where it only inserts.
    pub end: i64,
    /// The commit in which lines have these numbers; null before the first.
    pub based_on: Option<String>,
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Time>,
    /// The item that decided it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// The commit that it became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What the decider said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl State {
    pub fn of(thing: &Thing) -> Result<State> {
        serde_json::from_value(Value::Object(thing.data.clone())).map_err(|_| {
            let problem = format!("the stored value of {} cannot be read", thing.entity.handle);
            Fault::new(Code::StoreCorrupt, problem).hint("Run `understory verify`.")
        })
    }
}

/// A proposal.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Shown {
    /// `prop_001`.
    pub id: String,
    pub proposed_by: String,
    pub created_at: Time,
    #[serde(flatten)]
    pub state: State,
    /// What is to stand there instead; empty removes the lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// How sure its author was, from 0 to 1; absent where nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Whether its author took its content and reasoning back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
}

pub fn propose(
    work: &mut Work<'_, '_>,
    setting: &Checked<Setting>,
    wish: &Checked<Proposal>,
) -> Result<Proposed> {
    let open = open(work, setting, &wish.artifact)?;
    let range = open.room(wish.start, wish.end)?;
    let now: Vec<&str> = open.version.lines[range]
        .iter()
        .map(|line| line.bare())
        .collect();
    if split(&wish.content).0 == now {
        let problem = if now.is_empty() {
            "is empty: nothing would be inserted"
        } else {
            "is what stands there already"
        };
        return Err(Fault::invalid("content", problem));
    }
    let number = work.next_number(HandleKind::Proposal)?;
    let handle = HandleKind::Proposal.handle(number);
    let seq = note(work, setting, &open, wish, &handle)?;
    work.caused_by(seq);
    let item = name_of(work, seq)?;
    let mut data = Map::new();
    data.insert("item".into(), item.clone().into());
    data.insert("artifact".into(), open.found.name.clone().into());
    data.insert("label".into(), open.label().into());
    data.insert("start".into(), wish.start.into());
    data.insert("end".into(), wish.end.into());
    data.insert("based_on".into(), open.hash().into());
    data.insert("status".into(), Status::Open.name().into());
    let id = work.create(Create {
        kind: EntityKind::Proposal,
        handle,
        project: Some(open.project()),
        data,
        ..Create::default()
    })?;
    let (ws, thing) = (work.ws(), work.thing(id)?.clone());
    let proposal = shape(work.read()?, ws, &thing)?;
    Ok(Proposed { proposal, item })
}

/// Writes down that the caller proposed it.
fn note(
    work: &mut Work<'_, '_>,
    setting: &Setting,
    open: &Open,
    wish: &Proposal,
    handle: &str,
) -> Result<Seq> {
    let params = Params {
        start: Some(wish.start),
        end: Some(wish.end),
        content: Some(wish.content.clone()),
        reasoning: Some(wish.reasoning.clone()),
        confidence: wish.confidence,
        ..open.params()
    };
    let output = Output::Proposed {
        proposal: handle.to_string(),
        commit: open.hash().map(str::to_string),
    };
    record(
        work,
        open.project(),
        setting,
        Operation::Propose,
        params,
        output,
    )
}

/// The words of a proposal.
#[derive(Debug, Clone, Default)]
pub struct Words {
    pub content: String,
    pub reasoning: String,
    pub confidence: Option<f64>,
}

/// What a proposal says; `None` once its author took that back.
pub fn words(tx: &mut ReadTx<'_>, ws: Ws, thing: &Thing) -> Result<Option<Words>> {
    // Those made before the words stood in their item alone.
    if thing.data.contains_key("content") {
        return Ok(Some(Words {
            content: text(&thing.data, "content").to_string(),
            reasoning: text(&thing.data, "reasoning").to_string(),
            confidence: None,
        }));
    }
    let params = params_of(tx, ws, text(&thing.data, "item"))?;
    Ok(params.map(|params| Words {
        content: params.content.unwrap_or_default(),
        reasoning: params.reasoning.unwrap_or_default(),
        confidence: params.confidence,
    }))
}

/// What the decider said beside it.
fn decision_note(tx: &mut ReadTx<'_>, ws: Ws, thing: &Thing) -> Result<Option<String>> {
    let params = params_of(tx, ws, text(&thing.data, "decision"))?;
    Ok(params.and_then(|params| params.note))
}

/// What a call of the reader asked for, by the name of its item; `None` once it was taken back.
fn params_of(tx: &mut ReadTx<'_>, ws: Ws, name: &str) -> Result<Option<Params>> {
    let item = match parse_name(name) {
        Some(uuid) => items::by_uuid(tx, ws, &uuid)?,
        None => None,
    };
    let said = item.and_then(|item| content(&item));
    let params = said.and_then(|mut said| said.fields.remove("params"));
    Ok(params.and_then(|params| Params::deserialize(params).ok()))
}

/// A proposal as it is shown.
pub fn shape(tx: &mut ReadTx<'_>, ws: Ws, thing: &Thing) -> Result<Shown> {
    let mut shown = bare_shape(thing)?;
    match words(tx, ws, thing)? {
        Some(words) => {
            shown.content = Some(words.content);
            shown.reasoning = Some(words.reasoning);
            shown.confidence = words.confidence;
        }
        None => shown.undone = true,
    }
    if let Some(note) = decision_note(tx, ws, thing)? {
        shown.state.note = Some(note);
    }
    Ok(shown)
}

/// A proposal without its words, for what must not repeat them.
pub fn bare_shape(thing: &Thing) -> Result<Shown> {
    Ok(Shown {
        id: thing.entity.handle.clone(),
        proposed_by: thing.entity.created_by.clone(),
        created_at: thing.entity.created_at,
        state: State::of(thing)?,
        content: None,
        reasoning: None,
        confidence: None,
        undone: false,
    })
}
