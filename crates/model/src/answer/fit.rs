//! Answers within a budget: each says what it gives up, and one function does it.

mod steps;
mod ways;

use serde::Serialize;
use serde_json::{Value, json};

pub use self::steps::Step;
use self::steps::fit_steps;
use self::ways::{fit_pagination, fit_rows, fit_spare, fit_text, rows_of, with_rows};
use super::{Answer, Next, json_of};
use crate::budget::{self, Budget, Drop, Parts};
use crate::error::Result;

/// What an answer gives up when it is larger than its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Parts of its long texts, then of its lists.
    Whole,
    /// Elements of one list, from one end; `<list>_count` then says how many there are.
    List { list: &'static str, drop: Drop },
    /// Elements of one page of a longer list. `cursor` is the field that says where the next page
    /// begins; [`Fit::cursor`] gives its value.
    Page {
        list: &'static str,
        drop: Drop,
        cursor: &'static str,
    },
    /// Elements of several lists, named by JSON pointers; each keeps as many as the others.
    Lists(&'static [&'static str]),
    /// Everything but these fields, named by JSON pointers; then these too.
    Fields(&'static [&'static str]),
    /// As [`Shape::Lists`], and all of it where even empty lists do not help.
    ListsOrNothing(&'static [&'static str]),
    /// The last of its rows, where other fields depend on which rows are shown: [`Fit::first`]
    /// makes the answer anew. `list` names the list that stays, empty, where not one row fits.
    Rows { list: &'static str },
    /// Its parts one after the other, lists from their ends, then elements of `list`, which is
    /// never left out; `<list>_total` then says how many there are ([`Fit::total`]). `least` names
    /// what stays beside an empty list where nothing else helps.
    Parts {
        optional: &'static [&'static str],
        list: &'static str,
        least: &'static [&'static str],
    },
    /// As [`Shape::Page`], from the end, with the cursor in `pagination.next_cursor` and
    /// `truncated` in every answer.
    Pagination { list: &'static str },
    /// Elements from the end of one list, without a count. The fields in `spare` are left out
    /// before any element is, and added again if they fit after all.
    Spare {
        list: &'static str,
        spare: &'static [&'static str],
    },
    /// Lines from the end of one text; `<text>_chars` then says how long it is.
    Text { text: &'static str },
    /// Elements of one list, where other fields depend on which elements are shown;
    /// [`Fit::around`] gives those.
    Around { list: &'static str, drop: Drop },
    /// As [`Shape::Around`], for a list without further pages: long texts in its elements are cut
    /// first, and `<list>_count` says how many elements there are.
    UnpagedRows { list: &'static str },
    /// One thing after the other, until it fits; then as `rest` says.
    Steps {
        steps: &'static [Step],
        rest: &'static Shape,
    },
    /// What [`Fit::shorten`] leaves out.
    Own,
}

/// An answer that can be shortened to a budget.
pub trait Fit: Serialize + Sized {
    const SHAPE: Shape;

    /// Where the next page begins when only `kept` elements of this one are shown, counted from the
    /// end that stays. Only for [`Shape::Page`] and [`Shape::Pagination`].
    fn cursor(&self, _kept: usize) -> Option<Next> {
        None
    }

    /// How many rows there are. Only for [`Shape::Rows`].
    fn rows(&self) -> usize {
        0
    }

    /// The answer with this many of its first rows. Only for [`Shape::Rows`].
    fn first(&self, _kept: usize) -> Option<Self> {
        None
    }

    /// The answer with its first row alone, without what may be long of it: left out, the row would
    /// hide all after it. Several ways, the best first. Only for [`Shape::Rows`].
    fn lean(&self) -> Vec<Self> {
        Vec::new()
    }

    /// How many elements the list of [`Shape::Parts`] has, shown or not.
    fn total(&self) -> i64 {
        0
    }

    /// The answer with its other fields as they are when only `kept` elements of its list are
    /// shown, counted from the end that stays. The list itself may be left empty: it is filled in
    /// afterwards. Only for [`Shape::Around`] and [`Shape::UnpagedRows`].
    fn around(&self, _kept: usize) -> Option<Self> {
        None
    }

    /// The answer as it is where something of it is left out, which then is left out of this. Only
    /// for [`Shape::Steps`].
    fn shortened(&self) -> Option<Self> {
        None
    }

    /// What stands for each element of a list in few words. Only for [`Step::Brief`].
    fn brief(&self) -> Result<Vec<Value>> {
        Ok(Vec::new())
    }

    /// What is left of the answer, given as JSON too, within the budget. Only for [`Shape::Own`].
    fn shorten(&self, json: Value, budget: &Budget) -> Result<Value> {
        Ok(budget::fit_whole(json, budget))
    }
}

/// The answer within the budget.
pub fn fit<T: Fit>(answer: T, budget: &Budget) -> Result<Answer<T>> {
    if budget.holds_serialized(&answer) {
        return Ok(Answer::Whole(answer));
    }
    let json = json_of(&answer)?;
    shaped(&answer, json, T::SHAPE, budget).map(Answer::Json)
}

/// What is left of the answer, given as JSON too, within a budget that it exceeds.
fn shaped<T: Fit>(answer: &T, json: Value, shape: Shape, budget: &Budget) -> Result<Value> {
    Ok(match shape {
        Shape::Whole => budget::fit_whole(json, budget),
        // Of several forms of an answer, only one may have the list.
        Shape::List { list, .. } if json.get(list).is_none() => budget::fit_whole(json, budget),
        Shape::List { list, drop } => budget::fit_list(json, list, budget, drop),
        Shape::Pagination { list } => fit_pagination(answer, json, list, budget),
        Shape::Spare { list, spare } => fit_spare(json, list, spare, budget),
        Shape::Text { text } => fit_text(json, text, budget),
        Shape::Page { list, drop, cursor } => {
            budget::fit_page(json, list, budget, drop, cursor, |kept, _| {
                answer.cursor(kept).map_or(Value::Null, Next::into)
            })
        }
        Shape::Fields(fields) => budget::fit_fields(json, fields, budget),
        Shape::Lists(lists) => {
            let mut json = json;
            if budget::fit_lists(&mut json, lists, budget) {
                json
            } else {
                budget::fit_whole(json, budget)
            }
        }
        Shape::ListsOrNothing(lists) => {
            let mut json = json;
            if budget::fit_lists(&mut json, lists, budget) {
                json
            } else {
                json!({ "truncated": true })
            }
        }
        Shape::Rows { list } => fit_rows(answer, list, budget)?,
        Shape::Parts {
            optional,
            list,
            least,
        } => {
            let total = answer.total();
            let parts = Parts {
                optional,
                list,
                total,
                least,
            };
            budget::fit_parts(json, &parts, budget)
        }
        Shape::Around { list, drop } => {
            let (envelope, rows) = rows_of(json, list, drop);
            budget::fit_rows(&rows, budget, |rows| {
                with_rows(answer, &envelope, list, drop, rows)
            })
        }
        Shape::UnpagedRows { list } => {
            let (envelope, rows) = rows_of(json, list, Drop::Last);
            budget::fit_unpaged(list, rows, budget, |rows| {
                with_rows(answer, &envelope, list, Drop::Last, rows)
            })
        }
        Shape::Steps { steps, rest } => match fit_steps(answer, json, steps, budget)? {
            (json, true) => json,
            (json, false) => shaped(answer, json, *rest, budget)?,
        },
        Shape::Own => answer.shorten(json, budget)?,
    })
}

/// The answer whole, or only these fields of it, named by JSON pointers, for an answer whose other
/// forms are shortened in another way.
pub fn fit_fields<T: Serialize>(answer: T, fields: &[&str], budget: &Budget) -> Result<Answer<T>> {
    if budget.holds_serialized(&answer) {
        return Ok(Answer::Whole(answer));
    }
    let json = json_of(&answer)?;
    Ok(Answer::Json(budget::fit_fields(json, fields, budget)))
}

#[cfg(test)]
mod tests;
