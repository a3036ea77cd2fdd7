//! What a tool answers: a typed value, or the JSON that was made of one.
//!
//! A rule makes a typed value. It becomes JSON early in two cases only: when it had to be shortened
//! to the caller's budget, which is counted in characters of JSON, and when a retry is answered with
//! what was kept of the first call. Everything else is serialised once, at the edge.

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::budget::{self, Budget, Drop};
use crate::error::{Code, Fault, Result};

/// An answer on its way out.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer<T> {
    /// As the rule made it.
    Whole(T),
    /// Shortened to a budget, or kept from an earlier call.
    Json(Value),
}

impl<T> From<T> for Answer<T> {
    fn from(answer: T) -> Answer<T> {
        Answer::Whole(answer)
    }
}

impl<T: Serialize> Serialize for Answer<T> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Answer::Whole(answer) => answer.serialize(to),
            Answer::Json(json) => json.serialize(to),
        }
    }
}

impl<T: Serialize> Answer<T> {
    /// The answer as JSON.
    pub fn into_json(self) -> Result<Value> {
        match self {
            Answer::Whole(answer) => json_of(&answer),
            Answer::Json(json) => Ok(json),
        }
    }
}

impl<T> Answer<Answer<T>> {
    /// The answer of a rule that has already fitted it into a budget.
    pub fn flatten(self) -> Answer<T> {
        match self {
            Answer::Whole(answer) => answer,
            Answer::Json(json) => Answer::Json(json),
        }
    }
}

impl<T: DeserializeOwned> Answer<T> {
    /// The typed answer. One that was shortened may lack what its type requires.
    pub fn typed(self) -> Result<T> {
        match self {
            Answer::Whole(answer) => Ok(answer),
            Answer::Json(json) => serde_json::from_value(json).map_err(|error| {
                let problem = format!("an answer does not have its type: {error}");
                Fault::new(Code::Internal, problem)
            }),
        }
    }
}

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
    /// Elements of one list, where other fields depend on which elements are shown;
    /// [`Fit::around`] gives those.
    Rows { list: &'static str, drop: Drop },
    /// As [`Shape::Rows`], for a list without further pages: long texts in its elements are cut
    /// first, and `<list>_count` says how many elements there are.
    UnpagedRows { list: &'static str },
    /// What [`Fit::shorten`] leaves out.
    Own,
}

/// An answer that can be shortened to a budget.
pub trait Fit: Serialize {
    const SHAPE: Shape;

    /// Where the next page begins when only `kept` elements of this one are shown, counted from the
    /// end that stays. Only for [`Shape::Page`].
    fn cursor(&self, _kept: usize) -> Option<Value> {
        None
    }

    /// The answer with its other fields as they are when only `kept` elements of its list are shown,
    /// counted from the end that stays. The list itself may be left empty: it is filled in
    /// afterwards. Only for [`Shape::Rows`] and [`Shape::UnpagedRows`].
    fn around(&self, _kept: usize) -> Option<Self>
    where
        Self: Sized,
    {
        None
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
    Ok(Answer::Json(match T::SHAPE {
        Shape::Whole => budget::fit_whole(json, budget),
        Shape::List { list, drop } => budget::fit_list(json, list, budget, drop),
        Shape::Page { list, drop, cursor } => {
            budget::fit_page(json, list, budget, drop, cursor, |kept, _| {
                answer.cursor(kept).unwrap_or(Value::Null)
            })
        }
        Shape::Lists(lists) => {
            let mut json = json;
            match budget::fit_lists(&mut json, lists, budget) {
                true => json,
                false => budget::fit_whole(json, budget),
            }
        }
        Shape::Rows { list, drop } => {
            let (envelope, rows) = rows_of(json, list, drop);
            budget::fit_rows(&rows, budget, |rows| {
                with_rows(&answer, &envelope, (list, drop), rows)
            })
        }
        Shape::UnpagedRows { list } => {
            let (envelope, rows) = rows_of(json, list, Drop::Last);
            budget::fit_unpaged(list, rows, budget, |rows| {
                with_rows(&answer, &envelope, (list, Drop::Last), rows)
            })
        }
        Shape::Own => answer.shorten(json, budget)?,
    }))
}

/// Takes the elements of a list out of an answer, those that stay longest first.
fn rows_of(mut json: Value, list: &str, drop: Drop) -> (Value, Vec<Value>) {
    let mut rows = match json.get_mut(list).map(Value::take) {
        Some(Value::Array(rows)) => rows,
        _ => Vec::new(),
    };
    if drop == Drop::First {
        rows.reverse();
    }
    (json, rows)
}

/// The answer with some of its elements, given as [`rows_of`] gives them.
fn with_rows<T: Fit>(
    answer: &T,
    envelope: &Value,
    (list, drop): (&str, Drop),
    rows: &[Value],
) -> Value {
    let around = answer.around(rows.len());
    let around = around.and_then(|answer| serde_json::to_value(answer).ok());
    let mut json = around.unwrap_or_else(|| envelope.clone());
    let mut rows = rows.to_vec();
    if drop == Drop::First {
        rows.reverse();
    }
    if let Some(fields) = json.as_object_mut() {
        fields.insert(list.to_owned(), rows.into());
    }
    json
}

/// Any answer, or part of one, as JSON.
pub fn json_of<T: Serialize>(answer: &T) -> Result<Value> {
    serde_json::to_value(answer).map_err(|error| {
        let problem = format!("an answer could not be serialised: {error}");
        Fault::new(Code::Internal, problem)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Serialize)]
    struct Page {
        rows: Vec<String>,
        next: Option<usize>,
    }

    impl Fit for Page {
        const SHAPE: Shape = Shape::Page {
            list: "rows",
            drop: Drop::Last,
            cursor: "next",
        };

        fn cursor(&self, kept: usize) -> Option<Value> {
            Some(kept.into())
        }
    }

    fn page(rows: usize) -> Page {
        let rows = (0..rows)
            .map(|row| format!("row {row} — \"ü\"\n"))
            .collect();
        Page { rows, next: None }
    }

    fn within(chars: i64) -> Budget {
        Budget::new(Some(chars), None, None)
    }

    #[test]
    fn what_fits_stays_typed() {
        let chars = serde_json::to_string(&page(3)).unwrap().chars().count();
        let exactly = within(i64::try_from(chars).unwrap());
        assert!(matches!(
            fit(page(3), &exactly).unwrap(),
            Answer::Whole(page) if page.rows.len() == 3
        ));
        let less = within(i64::try_from(chars).unwrap() - 1);
        assert!(matches!(fit(page(3), &less).unwrap(), Answer::Json(_)));
    }

    #[test]
    fn a_shortened_page_goes_on_after_its_last_row() {
        let budget = within(100);
        let cut = fit(page(50), &budget).unwrap().into_json().unwrap();
        let kept = cut["rows"].as_array().unwrap().len();
        assert!(kept > 0 && kept < 50);
        assert_eq!(
            (&cut["next"], &cut["truncated"]),
            (&json!(kept), &json!(true))
        );
        assert!(cut.to_string().chars().count() <= 100);
    }

    /// Rows of which the newest, the last ones, stay.
    #[derive(Serialize)]
    struct Tail {
        rows: Vec<String>,
        first: usize,
        truncated: bool,
    }

    impl Fit for Tail {
        const SHAPE: Shape = Shape::Rows {
            list: "rows",
            drop: Drop::First,
        };

        fn around(&self, kept: usize) -> Option<Tail> {
            Some(Tail {
                rows: Vec::new(),
                first: self.rows.len() - kept,
                truncated: self.truncated,
            })
        }
    }

    #[test]
    fn what_depends_on_the_rows_shown_is_made_for_them() {
        let rows: Vec<String> = (0..50).map(|row| format!("row {row}")).collect();
        let tail = || Tail {
            rows: rows.clone(),
            first: 0,
            truncated: false,
        };
        let cut = fit(tail(), &within(100)).unwrap().into_json().unwrap();
        let shown = cut["rows"].as_array().unwrap();
        assert!(!shown.is_empty() && shown.len() < 50);
        assert_eq!(shown.last(), Some(&json!("row 49")));
        assert_eq!(cut["first"], 50 - shown.len());
        assert_eq!(cut["truncated"], true);
        assert!(cut.to_string().chars().count() <= 100);
        let whole = fit(tail(), &within(10_000)).unwrap();
        assert!(matches!(whole, Answer::Whole(tail) if tail.rows.len() == 50));
    }

    #[test]
    fn a_kept_answer_has_its_type_again() {
        let kept: Answer<Vec<i64>> = Answer::Json(json!([1, 2]));
        assert_eq!(kept.typed().unwrap(), [1, 2]);
        let cut: Answer<Vec<i64>> = Answer::Json(json!({ "truncated": true }));
        assert_eq!(cut.typed().unwrap_err().code, Code::Internal);
    }
}
