//! What each shape gives up, and when.

use serde_json::{Value, json};

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

/// A report that gives up its lines, then its body, then its rows.
#[derive(Clone, Serialize)]
struct Finding {
    id: &'static str,
    body: String,
    diff: Between,
    lines: Vec<String>,
    rows: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows_total: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spare: Option<String>,
}

#[derive(Clone, Serialize)]
struct Between {
    body: String,
    title: &'static str,
}

impl Fit for Finding {
    const SHAPE: Shape = Shape::Steps {
        steps: &[
            Step::Field("/spare"),
            Step::Last {
                list: "/lines",
                but: 1,
            },
            Step::Brief("/rows"),
            Step::Texts(&["/body", "/diff/body", "/nothing/there"]),
            Step::Values("/diff"),
            Step::Lists(&["/rows"]),
        ],
        rest: &Shape::Fields(&["/id"]),
    };

    fn shortened(&self) -> Option<Finding> {
        Some(Finding {
            rows_total: Some(self.rows.len()),
            ..self.clone()
        })
    }

    fn brief(&self) -> Result<Vec<Value>> {
        Ok((0..self.rows.len()).map(Value::from).collect())
    }
}

fn report() -> Finding {
    Finding {
        id: "R",
        body: "b".repeat(300),
        diff: Between {
            body: "d".repeat(200),
            title: "a title of some fifty characters, which is rather long",
        },
        lines: vec!["line".repeat(10); 5],
        rows: vec!["row".repeat(20); 5],
        rows_total: None,
        spare: Some("s".repeat(100)),
    }
}

#[test]
fn steps_are_taken_in_their_order_and_no_further_than_needed() {
    let whole = serde_json::to_string(&report()).unwrap().chars().count();
    let cut = |chars: usize| {
        let budget = within(i64::try_from(chars).unwrap());
        let cut = fit(report(), &budget).unwrap().into_json().unwrap();
        assert!(budget.holds(&cut), "{chars}: {cut}");
        cut
    };
    assert_eq!(cut(whole), serde_json::to_value(report()).unwrap());

    let first = cut(whole - 1);
    assert!(first.get("spare").is_none(), "{first}");
    assert_eq!(first["lines"].as_array().unwrap().len(), 5);
    assert_eq!(
        (&first["truncated"], &first["rows_total"]),
        (&json!(true), &json!(5))
    );

    let lines = cut(whole - 150);
    assert!(
        (1..5).contains(&lines["lines"].as_array().unwrap().len()),
        "{lines}"
    );
    assert!(lines["rows"][4].is_string(), "{lines}");

    // From the last one on, and no more of them than needed.
    let brief = cut(whole - 320);
    assert_eq!(brief["lines"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&brief["rows"][4], brief["rows"][0].is_string()),
        (&json!(4), true)
    );

    let texts = cut(400);
    assert_eq!(
        (&texts["body_chars"], &texts["diff"]["body_chars"]),
        (&json!(300), &json!(200))
    );
    assert!(texts.get("body").is_none() && texts.get("nothing").is_none());

    let names = cut(175);
    assert_eq!(names["diff"], json!({ "fields": ["body", "title"] }));

    assert_eq!(cut(40), json!({ "id": "R", "truncated": true }));
}

#[test]
fn no_budget_is_exceeded_whatever_step_it_takes() {
    for chars in 20..1_200 {
        let budget = within(chars);
        let cut = fit(report(), &budget).unwrap().into_json().unwrap();
        assert!(budget.holds(&cut), "{chars}: {cut}");
    }
}
