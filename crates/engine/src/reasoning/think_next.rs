//! `branchmind_think_next`: the one best next step, from the graph alone.
//!
//! Open ends are looked for in a fixed order, and among equals the oldest comes first, so the same
//! graph always gives the same step.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::Ws;
use understory_model::answer::{Fit, Shape};
use understory_model::error::Result;
use understory_model::reasoning::CardType;
use understory_storage::vertices::Vertex;
use understory_storage::{ReadTx, conflicts};

use super::card::cards;
use super::conflict::{Sides, Stored};
use super::place::Place;
use super::vertex::{EDGE, Graph, state};
use crate::kernel::core::Thing;

/// Open conflicts that are looked at for one whose sides differ.
const LOOKED_AT: i64 = 50;

/// The answer of `branchmind_think_next`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Next {
    pub branch: String,
    pub graph_doc: String,
    pub next: Step,
    /// How many cards of each type are open.
    pub open: BTreeMap<CardType, usize>,
    pub truncated: bool,
}

impl Fit for Next {
    const SHAPE: Shape = Shape::Whole;
}

/// A step of the thinking, and why it is the next.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    pub action: Action,
    /// The conflict to settle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict_id: Option<String>,
    /// The card that it is about, and its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The type of the card to write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card_type: Option<CardType>,
    /// The tool that does it.
    pub tool: String,
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    ResolveConflict,
    RunTest,
    DesignTest,
    AnswerQuestion,
    Decide,
    Ask,
    Frame,
}

impl Action {
    /// Its name for people.
    pub fn words(self) -> &'static str {
        match self {
            Action::ResolveConflict => "resolve conflict",
            Action::RunTest => "run test",
            Action::DesignTest => "design test",
            Action::AnswerQuestion => "answer question",
            Action::Decide => "decide",
            Action::Ask => "ask",
            Action::Frame => "frame",
        }
    }
}

/// What a card is, and which types of card it is linked with.
struct Open {
    id: String,
    title: String,
    kind: CardType,
    linked: HashSet<CardType>,
}

pub fn next(tx: &mut ReadTx<'_>, ws: Ws, place: Place) -> Result<Next> {
    let into = (place.branch.as_str(), place.doc.as_str());
    let conflict = contested(tx, ws, into)?;
    let graph = Graph::open(tx, ws, place)?;
    let open = open_cards(tx, &graph)?;
    let step = match conflict {
        Some(conflict) => Step {
            action: Action::ResolveConflict,
            conflict_id: Some(conflict.entity.handle),
            card_id: None,
            title: None,
            card_type: None,
            tool: "branchmind_graph_conflict_resolve".into(),
            reason: "Two branches disagree: nothing built on it is sure until one is chosen."
                .into(),
        },
        None => step(&open),
    };
    Ok(Next {
        branch: graph.place.branch,
        graph_doc: graph.place.doc,
        next: step,
        open: counts(&open),
        truncated: false,
    })
}

/// The open conflict that has waited longest, of those whose sides still differ.
fn contested(tx: &mut ReadTx<'_>, ws: Ws, into: (&str, &str)) -> Result<Option<Thing>> {
    for entity in conflicts::oldest_open(tx, ws, into, LOOKED_AT)? {
        let conflict = Thing::open(entity)?;
        if !Sides::of(tx, ws, &Stored::of(&conflict)?)?.agree() {
            return Ok(Some(conflict));
        }
    }
    Ok(None)
}

fn counts(open: &[Open]) -> BTreeMap<CardType, usize> {
    let mut counts = BTreeMap::new();
    for card in open {
        *counts.entry(card.kind).or_default() += 1;
    }
    counts
}

/// Open cards, oldest first.
fn open_cards(tx: &mut ReadTx<'_>, graph: &Graph) -> Result<Vec<Open>> {
    let mut all = cards(tx, graph)?;
    all.reverse();
    let text = |vertex: &Vertex, field: &str| {
        let state = state(vertex);
        state
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_string()
    };
    let kinds: BTreeMap<String, CardType> = all
        .iter()
        .map(|(kind, card)| (text(card, "id"), *kind))
        .collect();
    let mut linked: BTreeMap<String, HashSet<CardType>> = BTreeMap::new();
    for edge in graph.all(tx, EDGE)? {
        let (from, to) = (text(&edge, "from"), text(&edge, "to"));
        for (end, other) in [(&from, &to), (&to, &from)] {
            if let Some(kind) = kinds.get(other) {
                linked.entry(end.clone()).or_default().insert(*kind);
            }
        }
    }
    Ok(all
        .iter()
        // A node that was never given a status is as open as a card is from the start.
        .filter(|(_, card)| matches!(text(card, "status").as_str(), "" | "open"))
        .map(|(kind, card)| {
            let id = text(card, "id");
            Open {
                title: text(card, "title"),
                kind: *kind,
                linked: linked.get(&id).cloned().unwrap_or_default(),
                id,
            }
        })
        .collect())
}

/// What is done about an open card of a type that is linked with none of some others, which type of
/// card answers it, and why; the most useful first.
type Rule = (
    CardType,
    &'static [CardType],
    Action,
    CardType,
    &'static str,
);

const RULES: [Rule; 5] = {
    use CardType::{Decision, Evidence, Frame, Hypothesis, Question, Test, Update};
    [
        (
            Test,
            &[Evidence, Update],
            Action::RunTest,
            Evidence,
            "It says how to find out, and nobody has looked yet.",
        ),
        (
            Hypothesis,
            &[Test, Evidence, Decision, Update],
            Action::DesignTest,
            Test,
            "It may be true or not, and nothing would tell.",
        ),
        (
            Question,
            &[Hypothesis, Evidence, Decision, Test, Update],
            Action::AnswerQuestion,
            Hypothesis,
            "It is open, and nothing answers it.",
        ),
        (
            Hypothesis,
            &[Decision, Update],
            Action::Decide,
            Decision,
            "It was tested; say what follows.",
        ),
        (
            Frame,
            &[Question, Hypothesis, Decision],
            Action::Ask,
            Question,
            "The problem is framed, and nothing was asked about it.",
        ),
    ]
};

fn step(open: &[Open]) -> Step {
    let found = RULES.into_iter().find_map(|rule| {
        let (kind, without, ..) = rule;
        let mut cards = open.iter();
        let fits = |card: &&Open| !without.iter().any(|other| card.linked.contains(other));
        let card = cards.find(|card| card.kind == kind && fits(card))?;
        Some((rule, card))
    });
    let tool = "branchmind_think_card".to_string();
    match found {
        Some(((_, _, action, answer_with, reason), card)) => Step {
            action,
            conflict_id: None,
            card_id: Some(card.id.clone()),
            title: Some(card.title.clone()),
            card_type: Some(answer_with),
            tool,
            reason: reason.into(),
        },
        // No end is open.
        None => Step {
            action: Action::Frame,
            conflict_id: None,
            card_id: None,
            title: None,
            card_type: Some(CardType::Frame),
            tool,
            reason: "No end is open: say what the next problem is.".into(),
        },
    }
}
