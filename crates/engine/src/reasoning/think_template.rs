//! `branchmind_think_template`: a card to fill in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::{Fit, Shape};
use understory_model::reasoning::CardType;

/// The answer of `branchmind_think_template`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Template {
    #[serde(rename = "type")]
    pub kind: CardType,
    pub supported_types: Vec<CardType>,
    /// The card to fill in.
    pub template: Skeleton,
    pub truncated: bool,
}

impl Fit for Template {
    const SHAPE: Shape = Shape::Whole;
}

/// A card to fill in.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Skeleton {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: CardType,
    pub title: String,
    pub text: String,
    pub status: String,
    pub tags: Vec<String>,
    pub meta: Map<String, Value>,
}

/// A skeleton of a card.
pub fn template(kind: CardType) -> Template {
    let none = |name: &str| Some((name.to_string(), Value::Array(Vec::new())));
    let (title, text, meta) = match kind {
        CardType::Frame => (
            "What is at stake",
            "The problem, its limits, what would count as done",
            none("constraints"),
        ),
        CardType::Hypothesis => (
            "What may be true",
            "Why it may be, and what would refute it",
            Some(("confidence".into(), 0.5.into())),
        ),
        CardType::Question => ("What is not known", "Why the answer matters", None),
        CardType::Test => (
            "How to find out",
            "Steps, and what each outcome would mean",
            Some(("expected".into(), "".into())),
        ),
        CardType::Evidence => (
            "What was seen",
            "Where, and how to see it again",
            Some(("ref".into(), "".into())),
        ),
        CardType::Decision => (
            "What was chosen",
            "Why, and what was turned down",
            none("alternatives"),
        ),
        CardType::Update => (
            "What changed",
            "What is now thought of the cards it supports, and why; its status becomes theirs",
            None,
        ),
        CardType::Note => ("In short", "In full", None),
    };
    let status = match kind {
        CardType::Update => "resolved",
        _ => "open",
    };
    Template {
        kind,
        supported_types: CardType::ALL.into(),
        template: Skeleton {
            id: format!("{}-1", kind.name()),
            kind,
            title: title.into(),
            text: text.into(),
            status: status.into(),
            tags: Vec::new(),
            meta: meta.into_iter().collect(),
        },
        truncated: false,
    }
}
