//! Answers within a budget: each says what it gives up, and one function does it.

use serde::Serialize;
use serde_json::{Map, Value, json};

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
        // Of several forms of an answer, only one may have the list.
        Shape::List { list, .. } if json.get(list).is_none() => budget::fit_whole(json, budget),
        Shape::List { list, drop } => budget::fit_list(json, list, budget, drop),
        Shape::Pagination { list } => fit_pagination(&answer, json, list, budget),
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
        Shape::Rows { list } => fit_rows(&answer, list, budget)?,
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

/// The answer whole, or only these fields of it, named by JSON pointers, for an answer whose other
/// forms are shortened in another way.
pub fn fit_fields<T: Serialize>(answer: T, fields: &[&str], budget: &Budget) -> Result<Answer<T>> {
    if budget.holds_serialized(&answer) {
        return Ok(Answer::Whole(answer));
    }
    let json = json_of(&answer)?;
    Ok(Answer::Json(budget::fit_fields(json, fields, budget)))
}

/// The answer with as many of its first rows as fit.
fn fit_rows<T: Fit>(answer: &T, list: &str, budget: &Budget) -> Result<Value> {
    let nothing = || json!({ list: [], "truncated": true });
    let cut = |answer: &T| -> Result<Value> {
        let mut json = json_of(answer)?;
        json["truncated"] = true.into();
        Ok(json)
    };
    let first = |kept: usize| {
        answer
            .first(kept)
            .map_or_else(|| Ok(nothing()), |one| cut(&one))
    };
    let rows = answer.rows();
    let (mut low, mut high) = (0, rows.saturating_sub(1));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if budget.holds(&first(middle)?) {
            low = middle
        } else {
            high = middle - 1
        }
    }
    if low == 0 && rows > 0 {
        for lean in answer.lean() {
            let lean = cut(&lean)?;
            if budget.holds(&lean) {
                return Ok(lean);
            }
        }
    }
    let answer = first(low)?;
    Ok(if budget.holds(&answer) {
        answer
    } else {
        nothing()
    })
}

/// Room for `,"pagination":{"next_cursor":null},"truncated":false`.
const PAGINATION_CHARS: usize = 64;

fn fit_pagination<T: Fit>(answer: &T, mut json: Value, list: &str, budget: &Budget) -> Value {
    const NEXT: &str = "next_cursor";
    let pagination = json.as_object_mut().and_then(|fields| {
        fields.remove("truncated");
        fields.remove("pagination")
    });
    let next = pagination.map_or(Value::Null, |mut pagination| pagination[NEXT].take());
    if !next.is_null() {
        json[NEXT] = next;
    }
    let inner = budget.less(PAGINATION_CHARS);
    let mut json = budget::fit_page(json, list, &inner, Drop::Last, NEXT, |kept, _| {
        answer.cursor(kept).map_or(Value::Null, Next::into)
    });
    if let Some(fields) = json.as_object_mut() {
        let next = fields.remove(NEXT).unwrap_or(Value::Null);
        fields.insert("pagination".into(), json!({ NEXT: next }));
        fields.entry("truncated").or_insert(Value::Bool(false));
    }
    json
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

fn fit_spare(mut json: Value, list: &str, spare: &[&str], budget: &Budget) -> Value {
    let mut spared = Vec::with_capacity(spare.len());
    if let Some(fields) = json.as_object_mut() {
        for name in spare {
            spared.extend(fields.remove(*name).map(|value| (*name, value)));
        }
    }
    let fields = json.as_object().map_or(0, Map::len);
    let rows = match json[list].take() {
        Value::Array(rows) => rows,
        _ => Vec::new(),
    };
    let cut = budget::fit_rows(&rows, budget, |kept| {
        let mut answer = json.clone();
        answer[list] = kept.into();
        answer
    });
    let lost = cut.as_object().map_or(0, Map::len) < fields;
    let mut more = cut.clone();
    for (name, value) in spared {
        more[name] = value;
    }
    if !lost && budget.holds(&more) {
        more
    } else {
        cut
    }
}

/// As many whole lines as fit; a first line that is too long by itself is shortened.
fn fit_text(json: Value, text: &str, budget: &Budget) -> Value {
    let whole = json[text].as_str().unwrap_or_default();
    let lines: Vec<Value> = whole.split_inclusive('\n').map(Value::from).collect();
    let chars = whole.chars().count();
    budget::fit_rows(&lines, budget, |lines| {
        let mut answer = json.clone();
        let shown: String = lines.iter().filter_map(Value::as_str).collect();
        answer[text] = shown.into();
        answer[format!("{text}_chars")] = chars.into();
        answer
    })
}

#[cfg(test)]
mod tests {
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

        fn cursor(&self, kept: usize) -> Option<Next> {
            Some(Next::Line(kept))
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

    #[derive(Serialize)]
    struct Node {
        id: &'static str,
        text: String,
        below: Vec<&'static str>,
    }

    impl Fit for Node {
        const SHAPE: Shape = Shape::Fields(&["/id", "/below"]);
    }

    #[test]
    fn named_fields_are_given_up_last() {
        let cut = |chars| {
            let (text, below) = ("x".repeat(500), vec!["a", "b"]);
            let node = Node {
                id: "N",
                text,
                below,
            };
            fit(node, &within(chars)).unwrap().into_json().unwrap()
        };
        assert_eq!(cut(1_000)["text"].as_str().unwrap().len(), 500);
        let few = json!({ "id": "N", "below": ["a", "b"], "truncated": true });
        assert_eq!(cut(100), few);
        assert_eq!(cut(10), json!({ "below": [], "truncated": true }));
    }

    /// Rows, and what depends on which of them are shown.
    #[derive(Serialize)]
    struct Rows {
        rows: Vec<String>,
        has_more: bool,
    }

    impl Fit for Rows {
        const SHAPE: Shape = Shape::Rows { list: "rows" };

        fn rows(&self) -> usize {
            self.rows.len()
        }

        fn first(&self, kept: usize) -> Option<Rows> {
            Some(Rows {
                rows: self.rows.get(..kept)?.to_vec(),
                has_more: self.has_more || kept < self.rows.len(),
            })
        }

        fn lean(&self) -> Vec<Rows> {
            let rows = vec!["…".to_owned()];
            let has_more = self.has_more || self.rows.len() > 1;
            vec![Rows { rows, has_more }]
        }
    }

    #[test]
    fn what_depends_on_the_rows_is_made_anew() {
        let cut = |row: &str, chars: i64| {
            let rows = Rows {
                rows: vec![row.to_owned(); 3],
                has_more: false,
            };
            fit(rows, &within(chars)).unwrap().into_json().unwrap()
        };
        let whole = json!({ "rows": ["a", "a", "a"], "has_more": false });
        assert_eq!(cut("a", 100), whole);
        let row = "x".repeat(20);
        let two = json!({ "rows": [row, row], "has_more": true, "truncated": true });
        let room = i64::try_from(two.to_string().chars().count()).unwrap();
        assert_eq!(cut(&row, room), two);
        assert_eq!(cut(&row, room - 1)["rows"], json!([row]));
        let lean = json!({ "rows": ["…"], "has_more": true, "truncated": true });
        assert_eq!(cut(&"x".repeat(99), 60), lean);
        assert_eq!(cut("a", 1), json!({ "rows": [], "truncated": true }));
    }

    #[derive(Serialize)]
    struct Told {
        talk: Vec<String>,
        open: Vec<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        open_total: Option<i64>,
        summary: &'static str,
    }

    impl Fit for Told {
        const SHAPE: Shape = Shape::Parts {
            optional: &["talk"],
            list: "open",
            least: &["summary"],
        };

        fn total(&self) -> i64 {
            2
        }
    }

    #[test]
    fn the_last_part_is_given_up_last() {
        let cut = |chars: i64| {
            let told = Told {
                talk: vec!["t".repeat(30); 2],
                open: vec!["o".repeat(30); 2],
                open_total: None,
                summary: "s",
            };
            fit(told, &within(chars)).unwrap().into_json().unwrap()
        };
        let (talk, open) = ("t".repeat(30), "o".repeat(30));
        let some = json!({
            "talk": [talk], "open": [open, open], "summary": "s", "truncated": true,
        });
        let room = |answer: &Value| i64::try_from(answer.to_string().chars().count()).unwrap();
        assert_eq!(cut(room(&some)), some);
        let one = json!({ "open": [open], "open_total": 2, "summary": "s", "truncated": true });
        assert_eq!(cut(room(&one)), one);
        let none = json!({ "open": [], "summary": "s", "truncated": true });
        assert_eq!(cut(room(&none)), none);
        assert_eq!(cut(room(&none) - 1), json!({ "truncated": true }));
    }

    #[derive(Serialize)]
    struct Lines {
        artifact: &'static str,
        lines: Vec<String>,
        fragments: Vec<String>,
    }

    impl Fit for Lines {
        const SHAPE: Shape = Shape::Spare {
            list: "lines",
            spare: &["fragments"],
        };
    }

    #[test]
    fn spare_fields_are_left_out_before_rows() {
        let lines = || Lines {
            artifact: "doc",
            lines: (0..9).map(|line| format!("line number {line}")).collect(),
            fragments: (0..9).map(|line| format!("^{line}")).collect(),
        };
        let whole = json_of(&lines()).unwrap().to_string().chars().count();
        let fitted = |less: usize| {
            let budget = within(i64::try_from(whole - less).unwrap());
            fit(lines(), &budget).unwrap().into_json().unwrap()
        };
        let lean = fitted(1);
        assert_eq!(lean["lines"].as_array().unwrap().len(), 9);
        assert!(lean.get("fragments").is_none() && lean.get("truncated").is_none());
        let cut = fitted(whole / 2);
        assert!(cut["lines"].as_array().unwrap().len() < 9);
        assert_eq!(cut["truncated"], true);
    }

    #[derive(Serialize)]
    struct Diff {
        diff: String,
    }

    impl Fit for Diff {
        const SHAPE: Shape = Shape::Text { text: "diff" };
    }

    #[test]
    fn a_text_is_cut_between_lines() {
        let diff = Diff {
            diff: "+a line\n".repeat(50),
        };
        let cut = fit(diff, &within(120)).unwrap().into_json().unwrap();
        let kept = cut["diff"].as_str().unwrap();
        assert!(!kept.is_empty() && kept.ends_with("+a line\n"));
        assert_eq!(
            (&cut["diff_chars"], &cut["truncated"]),
            (&json!(400), &json!(true))
        );
        assert!(cut.to_string().chars().count() <= 120);
    }

    /// Rows of which the newest, the last ones, stay.
    #[derive(Serialize)]
    struct Tail {
        rows: Vec<String>,
        first: usize,
        truncated: bool,
    }

    impl Fit for Tail {
        const SHAPE: Shape = Shape::Around {
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
}
