//! The steps that random programs of sessions are made of.

use proptest::prelude::*;

use super::model::AGENTS;

/// Who does what. Records are named by their place among those that exist.
#[derive(Debug, Clone)]
pub enum Step {
    Create {
        parent: Option<usize>,
        state: usize,
    },
    Update {
        record: usize,
        size: usize,
        force: bool,
    },
    Move {
        record: usize,
        parent: Option<usize>,
    },
    Transition {
        record: usize,
        to: usize,
    },
    Activate {
        record: usize,
        over: bool,
        small: bool,
    },
    Save,
    Close,
    /// At most so many changes, or within so many characters.
    Sync {
        limit: Option<usize>,
        chars: Option<usize>,
    },
}

pub fn step() -> impl Strategy<Value = (usize, Step)> {
    let record = 0..32_usize;
    let step = prop_oneof![
        4 => (prop::option::weighted(0.7, record.clone()), 0..4_usize).prop_map(|(parent, state)| Step::Create { parent, state }),
        7 => (record.clone(), 0..3_usize, prop::bool::weighted(0.2)).prop_map(|(record, size, force)| Step::Update { record, size, force }),
        1 => (record.clone(), prop::option::weighted(0.7, record.clone())).prop_map(|(record, parent)| Step::Move { record, parent }),
        5 => (record.clone(), 0..4_usize).prop_map(|(record, to)| Step::Transition { record, to }),
        6 => (record, prop::bool::weighted(0.2), prop::bool::weighted(0.1)).prop_map(|(record, over, small)| Step::Activate { record, over, small }),
        1 => Just(Step::Save),
        1 => Just(Step::Close),
        4 => (prop::option::of(1..4_usize), prop::option::weighted(0.3, 100..3_000_usize)).prop_map(|(limit, chars)| Step::Sync { limit, chars }),
    ];
    (0..AGENTS.len(), step)
}
