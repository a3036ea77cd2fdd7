//! A read under way: one snapshot of one workspace.

use serde_json::{Value, json};
use understory_model::budget::{Budget, Drop, fit_page};
use understory_model::error::{Fault, Result};
use understory_model::nearest::nearest;
use understory_model::{Id, Time, Ws};
use understory_storage::Tx;
use understory_storage::entities::{self, Entity};

use crate::Rules;
use crate::meaning::Kept;
use crate::projection::{NODE, RECORD, THREAD};

/// One snapshot of one workspace.
pub struct View<'v, 'c> {
    pub tx: &'v mut Tx<'c>,
    pub ws: Ws,
    /// The workspace's real name, which a clash of names may have changed.
    pub name: &'v str,
    /// The name of the caller's own project.
    pub project: &'v str,
    pub now: Time,
    pub rules: Rules,
    /// What texts point at, for search by meaning.
    pub vectors: &'v Kept,
}

impl View<'_, '_> {
    pub fn entity(&mut self, id: Id) -> Result<Option<Entity>> {
        entities::get(self.tx, self.ws, id)
    }
}

/// Nothing bears this handle: says so, with the nearest that exist.
pub fn no_such(tx: &mut Tx<'_>, ws: Ws, what: &str, handle: &str) -> Result<Fault> {
    // Only a kind that is a word of the store narrows; "thing named" means any.
    let kind = Some(what).filter(|what| [NODE, RECORD, THREAD].contains(what));
    let near = entities::handles_near(tx, ws, kind, handle, 20)?;
    Ok(missing(what, handle, near.iter().map(String::as_str)))
}

/// The fault for a name that does not exist, suggesting those that do.
pub fn missing<'n>(what: &str, handle: &str, names: impl IntoIterator<Item = &'n str>) -> Fault {
    let shown: String = handle.chars().take(80).collect();
    let fault = Fault::not_found(format!("no {what} {shown}"));
    let near = nearest(handle, names, 3);
    if near.is_empty() {
        fault.hint("Check the id; graph_query, list_records and graph_open list what exists.")
    } else {
        let details = json!({ "nearest": near });
        fault
            .hint(format!("Did you mean {}?", near.join(" or ")))
            .details(details)
    }
}

/// A page within the budget; `cursors` stand for its rows one by one, `more` for rows after them.
///
/// A first row that is too long by itself is shown `lean`: hidden, it would hide all that follows.
pub fn page(
    mut answer: Value,
    list: &str,
    (cursors, more): (&[String], bool),
    budget: &Budget,
    lean: impl Fn(&mut Value),
) -> Value {
    const NEXT: &str = "next_cursor";
    if more && let Some(last) = cursors.last() {
        answer[NEXT] = last.clone().into();
    }
    let first = answer[list].get(0).cloned();
    let fitted = fit_page(answer, list, budget, Drop::Last, NEXT, |kept, _| {
        cursors.get(kept - 1).cloned().into()
    });
    let Some(mut first) = first.filter(|_| fitted[list] == json!([])) else {
        return fitted;
    };
    lean(&mut first);
    let mut least = fitted.clone();
    least[list] = json!([first]);
    if (more || cursors.len() > 1)
        && let Some(cursor) = cursors.first()
    {
        least[NEXT] = cursor.clone().into();
    }
    if budget.holds(&least) { least } else { fitted }
}
