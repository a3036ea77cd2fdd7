//! A record with what is around it, for whoever only looks: nothing is activated, and no session
//! begins. It must never write, and never tell more than the tools do.

use serde_json::{Value, json};
use understory_model::budget::{Budget, fit_lists};
use understory_model::error::Result;
use understory_model::link::{RELATED, RESOLVED_BY};
use understory_storage::records::{self, Record};

use super::{find, shape};
use crate::View;

/// What is dropped when the answer is too long, the farthest from the record first.
const LISTS: [&str; 4] = ["/related_from", "/resolves", "/related", "/children"];

/// The record whole; its parent, its children and what it is tied to as references. `related` are
/// the records that it names, `related_from` those that name it, `resolves` those that it settled.
pub fn show(view: &mut View<'_, '_>, handle: &str, budget: &Budget) -> Result<Value> {
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
    let one = |record: Option<&Record>| record.map(shape::reference);
    let mut answer = json!({
        "record": shape::record(&thing, above),
        "version": thing.entity.version,
        "created_by": thing.entity.created_by,
        "parent": one(parent.as_ref()),
        "children": shape::references(&children),
        "related": shape::references(&related),
        "related_from": shape::references(&related_from),
        "resolved_by": one(settled_by.first()),
        "resolves": shape::references(&resolves),
    });
    if (children.len() as i64) < all {
        answer["truncated"] = true.into();
    }
    Ok(fitted(answer, budget))
}

fn fitted(mut answer: Value, budget: &Budget) -> Value {
    for list in LISTS {
        if fit_lists(&mut answer, &[list], budget) {
            return answer;
        }
    }
    super::diff::without_body(&mut answer["record"]);
    if budget.holds(&answer) {
        return answer;
    }
    json!({ "truncated": true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_itself_is_the_last_to_be_cut() {
        let refs: Vec<Value> = (0..20).map(|n| json!({ "id": n, "title": "t" })).collect();
        let mut whole = json!({ "record": { "id": "R001", "body": "b".repeat(500) } });
        for list in LISTS {
            whole[&list[1..]] = refs.clone().into();
        }
        let cut = |chars| {
            let budget = Budget::new(Some(chars), None, None);
            let cut = fitted(whole.clone(), &budget);
            assert!(budget.holds(&cut), "{cut}");
            cut
        };
        assert_eq!(cut(100_000), whole);
        let some = cut(1_300);
        assert_eq!(some["related_from"], json!([]));
        assert!(some["children"][0].is_object() && some["record"]["body"].is_string());
        let least = cut(200);
        assert_eq!(least["record"]["body_chars"], 500);
        assert_eq!(cut(30), json!({ "truncated": true }));
    }
}
