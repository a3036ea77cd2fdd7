//! A record with what is around it, only to look at: nothing is activated, and no session
//! begins. It must never write, and never tell more than the tools do.

use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape, Step};
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::link::{RELATED, RESOLVED_BY};
use understory_storage::records;

use super::find;
use super::shape::{Record, Reference, references};
use crate::View;

/// The record whole; its parent, its children and what it is tied to as references.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Shown {
    pub record: Record,
    pub version: i64,
    pub created_by: String,
    pub parent: Option<Reference>,
    pub children: Vec<Reference>,
    /// The records that it names.
    pub related: Vec<Reference>,
    /// Those that name it.
    pub related_from: Vec<Reference>,
    pub resolved_by: Option<Reference>,
    /// Those that it settled.
    pub resolves: Vec<Reference>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl Fit for Shown {
    /// What is farthest from the record goes first.
    const SHAPE: Shape = Shape::Steps {
        steps: &[
            Step::Lists(&["/related_from"]),
            Step::Lists(&["/resolves"]),
            Step::Lists(&["/related"]),
            Step::Lists(&["/children"]),
            Step::Texts(&["/record/body"]),
        ],
        rest: &Shape::Fields(&[]),
    };
}

/// The record as it is; the budget says how much of what is around it is looked for.
pub fn show(view: &mut View<'_, '_>, handle: &str, budget: &Budget) -> Result<Shown> {
    let thing = find(view, handle)?;
    let (tx, ws, id) = (&mut *view.tx, view.ws, thing.entity.id);
    // A reference takes more than a hundred characters, so no more than these can fit.
    let most = i64::try_from(budget.chars / 100).unwrap_or(i64::MAX).max(1);
    let parent = match thing.entity.parent {
        Some(parent) => records::get(tx, ws, parent)?,
        None => None,
    };
    let children = records::children(tx, ws, id, most)?;
    let related = records::linked(tx, ws, id, RELATED, true, most)?;
    let related_from = records::linked(tx, ws, id, RELATED, false, most)?;
    let settled_by = records::linked(tx, ws, id, RESOLVED_BY, true, 1)?;
    let resolves = records::linked(tx, ws, id, RESOLVED_BY, false, most)?;
    let all = records::get(tx, ws, id)?.map_or(0, |row| row.children);
    let above = parent.as_ref().map(|parent| parent.handle.as_str());
    Ok(Shown {
        record: Record::of(&thing, above)?,
        version: thing.entity.version,
        created_by: thing.entity.created_by.clone(),
        parent: parent.as_ref().map(Reference::of),
        truncated: (children.len() as i64) < all,
        children: references(&children),
        related: references(&related),
        related_from: references(&related_from),
        resolved_by: settled_by.first().map(Reference::of),
        resolves: references(&resolves),
    })
}

#[cfg(test)]
mod tests {
    use understory_model::Time;
    use understory_model::answer::{fit, json_of};
    use understory_model::record::{RecordData, RecordState};

    use super::*;

    fn shown() -> Shown {
        let data = RecordData {
            kind: "note".into(),
            title: "t".into(),
            summary: String::new(),
            body: "b".repeat(2_000),
            state: RecordState::Open,
            reason: None,
            resolved_by: None,
            related: None,
            metadata: None,
            more: serde_json::Map::new(),
        };
        let one = Reference {
            id: "R002".into(),
            kind: "note".into(),
            title: "t".into(),
            summary: String::new(),
            state: RecordState::Open,
            parent_id: None,
            children_count: 0,
            open_children_count: 0,
            reason: None,
        };
        let many = vec![one; 20];
        Shown {
            record: Record::new(data, "R001", None, (Time::ZERO, Time::ZERO)),
            version: 1,
            created_by: "ada".into(),
            parent: None,
            children: many.clone(),
            related: many.clone(),
            related_from: many.clone(),
            resolved_by: None,
            resolves: many,
            truncated: false,
        }
    }

    #[test]
    fn the_record_itself_is_the_last_to_be_cut() {
        let cut = |chars| {
            let budget = Budget::new(Some(chars), None, None);
            let cut = fit(shown(), &budget).unwrap().into_json().unwrap();
            assert!(budget.holds(&cut), "{cut}");
            cut
        };
        assert_eq!(cut(100_000), json_of(&shown()).unwrap());
        let some = cut(3_500);
        assert!(some["related_from"].as_array().unwrap().is_empty());
        assert!(some["children"][0].is_object() && some["record"]["body"].is_string());
        let least = cut(700);
        assert_eq!(least["record"]["body_chars"], 2_000);
        assert_eq!(cut(30).to_string(), r#"{"truncated":true}"#);
    }
}
