//! `branchmind_export`: a plan or task with the end of its notes and trace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::answer::{self, Answer, Fit, Shape, json_of};
use understory_model::budget::{Budget, fit_whole};
use understory_model::error::Result;

use super::notes::Page;
use super::place::{self, Documents, Kind, Place};
use super::shape::{Asked, Entry};
use super::show::show;
use super::target::{Target, Where, brief};
use crate::View;

/// The answer of `branchmind_export`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Export {
    pub target: Target,
    pub reasoning_ref: Documents,
    pub notes: Page<Entry>,
    pub trace: Page<Entry>,
    pub truncated: bool,
}

/// An export of which the pages are cut, or yet to be filled in.
#[derive(Serialize)]
struct Cut<'a> {
    target: &'a Target,
    reasoning_ref: &'a Documents,
    notes: Option<Answer<Page<Entry>>>,
    trace: Option<Answer<Page<Entry>>>,
    truncated: bool,
}

impl Fit for Export {
    /// Two pages, each with a cursor of its own, share the room: no other answer has that.
    const SHAPE: Shape = Shape::Own;

    fn shorten(&self, _: Value, budget: &Budget) -> Result<Value> {
        let mut cut = Cut {
            target: &self.target,
            reasoning_ref: &self.reasoning_ref,
            notes: None,
            trace: None,
            truncated: true,
        };
        // Each gets half of the room, and what the other leaves of its half where that is whole.
        let beside = |cut: &Cut<'_>| Ok(budget.beside(&json_of(cut)?));
        let half = beside(&cut)?.half();
        let notes = answer::fit(self.notes.clone(), &half)?;
        if matches!(notes, Answer::Whole(_)) {
            cut.notes = Some(notes);
            cut.trace = Some(answer::fit(self.trace.clone(), &beside(&cut)?)?);
        } else {
            let trace = answer::fit(self.trace.clone(), &half)?;
            let whole = matches!(trace, Answer::Whole(_));
            cut.trace = Some(trace);
            cut.notes = Some(if whole {
                answer::fit(self.notes.clone(), &beside(&cut)?)?
            } else {
                notes
            });
        }
        let json = json_of(&cut)?;
        if budget.holds(&json) {
            return Ok(json);
        }
        let mut rest = Where {
            target: Some(&self.target),
            reasoning_ref: &self.reasoning_ref,
            truncated: true,
        };
        if !budget.holds_serialized(&rest) {
            rest.target = None;
        }
        Ok(fit_whole(json_of(&rest)?, budget))
    }
}

/// The end of a node's notes and trace, with what it is.
pub fn export(
    view: &mut View<'_, '_>,
    handle: &str,
    (notes_limit, trace_limit): (i64, i64),
) -> Result<Export> {
    let reference = place::target(view.tx, view.ws, handle)?;
    let target = brief(view, &reference)?;
    let mut page = |kind: Kind, limit: i64| {
        let place = Place {
            branch: reference.branch.clone(),
            doc: reference.doc(kind),
        };
        let asked = Asked {
            cursor: None,
            limit,
        };
        show(view.tx, view.ws, place, asked)
    };
    Ok(Export {
        target,
        notes: page(Kind::Notes, notes_limit)?,
        trace: page(Kind::Trace, trace_limit)?,
        reasoning_ref: reference.shown(),
        truncated: false,
    })
}
