//! No answer is larger than its budget, and none is shorter than it need be.

use proptest::prelude::*;
use serde_json::{Value, json};
use understory_model::budget::{
    Budget, DEFAULT_CHARS, Drop, at_most, chars, fit_list, fit_lists, fit_page,
};

fn budget(chars: usize) -> Budget {
    Budget {
        chars,
        ..Budget::default()
    }
}

#[test]
fn budgets_as_callers_give_them() {
    assert_eq!(Budget::new(None, None, None), Budget::default());
    assert_eq!(Budget::default().chars, DEFAULT_CHARS);
    let none = Budget::new(Some(-1), Some(0), Some(-9));
    assert_eq!((none.chars, none.bytes, none.lines), (0, Some(0), Some(0)));
}

#[test]
fn what_fits_is_untouched() {
    let answer = json!({"items": [1, 2, 3], "truncated": false});
    let exact = chars(&answer);
    assert_eq!(
        fit_list(answer.clone(), "items", &budget(exact), Drop::Last),
        answer
    );
    let cut = fit_list(answer, "items", &budget(exact - 1), Drop::Last);
    assert_eq!(cut, json!({"items": [1, 2], "truncated": true}));
}

#[test]
fn either_end_may_go() {
    // Each is longer than the `truncated` that takes its place.
    let [a, b, c] = ["a", "b", "c"].map(|letter| letter.repeat(24));
    let answer = json!({"items": [a, b, c], "total": 3});
    let most = chars(&json!({"items": [a, b], "total": 3, "truncated": true}));
    let last = fit_list(answer.clone(), "items", &budget(most), Drop::Last);
    assert_eq!(last["items"], json!([a, b]));
    let first = fit_list(answer, "items", &budget(most), Drop::First);
    assert_eq!(first["items"], json!([b, c]));
}

#[test]
fn too_small_for_anything_is_the_empty_envelope() {
    let empty = json!({"items": [], "truncated": true});
    for answer in [
        json!({"items": [1], "note": "a long text that is no list"}),
        json!({"items": []}),
        json!({"items": "no list"}),
        json!({}),
        json!(["no object"]),
    ] {
        assert_eq!(fit_list(answer, "items", &budget(1), Drop::Last), empty);
    }
}

#[test]
fn bytes_and_lines_count_too() {
    let answer = json!({"items": ["éé\n", "éé\n", "éé\n"]});
    let two_lines = Budget {
        lines: Some(2),
        ..Budget::default()
    };
    assert_eq!(
        fit_list(answer.clone(), "items", &two_lines, Drop::Last)["items"],
        json!(["éé\n"])
    );
    let room = json!({"items": ["éé\n"], "truncated": true})
        .to_string()
        .len();
    let bytes = Budget {
        bytes: Some(room),
        ..Budget::default()
    };
    assert_eq!(
        fit_list(answer, "items", &bytes, Drop::Last)["items"],
        json!(["éé\n"])
    );
}

#[test]
fn a_cut_page_goes_on_where_it_was_cut() {
    let rows: Vec<Value> = (1..=50).map(|seq| json!({"seq": seq})).collect();
    let answer = json!({"rows": rows, "next": 50});
    let of = |_: usize, row: &Value| row["seq"].clone();
    let last = fit_page(answer.clone(), "rows", &budget(200), Drop::Last, "next", of);
    assert_eq!(
        last["next"],
        last["rows"].as_array().unwrap().last().unwrap()["seq"]
    );
    let first = fit_page(
        answer.clone(),
        "rows",
        &budget(200),
        Drop::First,
        "next",
        of,
    );
    assert_eq!(first["next"], first["rows"][0]["seq"]);
    assert_eq!(first["rows"].as_array().unwrap().last().unwrap()["seq"], 50);
    // The cursor counts as well, however long it is.
    let long = fit_page(
        answer.clone(),
        "rows",
        &budget(200),
        Drop::Last,
        "next",
        |_, row| {
            Value::from("x".repeat(usize::try_from(row["seq"].as_u64().unwrap()).unwrap() * 20))
        },
    );
    assert!(chars(&long) <= 200 && !long["rows"].as_array().unwrap().is_empty());
    let none = fit_page(answer, "rows", &budget(30), Drop::Last, "next", of);
    assert_eq!(none, json!({"rows": [], "truncated": true}));
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[\\x00-\\x7f\"\\\\é😀]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn sizes_are_those_of_the_text(value in value()) {
        let text = value.to_string();
        prop_assert_eq!(chars(&value), text.chars().count());
        let exact = Budget { bytes: Some(text.len()), chars: usize::MAX, lines: None };
        prop_assert!(exact.holds(&value));
        let tight = Budget { bytes: Some(text.len() - 1), ..exact };
        prop_assert!(!tight.holds(&value));
    }

    #[test]
    fn never_more_and_never_needlessly_less(
        items in prop::collection::vec(value(), 0..8),
        note in "[a-z]{0,20}",
        most in 0..400_usize,
        first in any::<bool>(),
    ) {
        let answer = json!({"items": items, "note": note});
        let drop = if first { Drop::First } else { Drop::Last };
        let fitted = fit_list(answer.clone(), "items", &budget(most), drop);
        let kept = fitted["items"].as_array().unwrap().clone();
        let n = kept.len();
        let expected = if first { &items[items.len() - n..] } else { &items[..n] };
        prop_assert_eq!(&kept[..], expected);
        if fitted == answer {
            prop_assert!(chars(&answer) <= most);
            return Ok(());
        }
        prop_assert_eq!(&fitted["truncated"], &json!(true));
        let empty = json!({"items": [], "truncated": true});
        prop_assert!(chars(&fitted) <= most || fitted == empty);
        if n + 1 < items.len() {
            let more = if first { &items[items.len() - n - 1..] } else { &items[..=n] };
            let fuller = json!({"items": more, "note": note, "truncated": true});
            prop_assert!(chars(&fuller) > most);
        }
    }
}

#[test]
fn a_glance_never_says_less_than_there_is() {
    let values = [
        json!(null),
        json!(false),
        json!(-1.234_567_890_123_456_7e-300),
        json!(u64::MAX),
        json!("\u{0}\u{1}\"\\\n日本語🦀"),
        json!([[], {}, [1, "a", null]]),
        json!({"": "", "\u{7}key": [true, {"b": "\u{1f}"}]}),
    ];
    for value in values {
        assert!(
            at_most(&value) >= value.to_string().len(),
            "{value} has {} bytes",
            value.to_string().len()
        );
    }
}

#[test]
fn several_lists_keep_as_many_as_fit() {
    let text = |at: usize| "é\n".repeat(at % 7);
    let items = |count: usize| (0..count).map(|at| json!({ "t": text(at) })).collect();
    for (one, other) in [(0, 0), (1, 0), (40, 3), (9, 60)] {
        let (one, other): (Vec<Value>, Vec<Value>) = (items(one), items(other));
        let whole = json!({ "a": one, "b": { "c": other }, "d": "x" });
        for size in 0..chars(&whole) as i64 + 20 {
            for budget in [
                Budget::new(Some(size), None, None),
                Budget::new(None, Some(size), Some(size / 4)),
            ] {
                let mut cut = whole.clone();
                let fits = fit_lists(&mut cut, &["/a", "/b/c"], &budget);
                assert_eq!(fits, budget.holds(&cut));
                // The same, by trying every length.
                let with = |most: usize| {
                    let keep = |list: &[Value]| list[..most.min(list.len())].to_vec();
                    json!({ "a": keep(&one), "b": { "c": keep(&other) }, "d": "x", "truncated": true })
                };
                let longest = one.len().max(other.len());
                let best = (0..=longest)
                    .rev()
                    .map(with)
                    .find(|answer| budget.holds(answer));
                let expected = match budget.holds(&whole) {
                    true => whole.clone(),
                    false => best.unwrap_or_else(|| with(0)),
                };
                assert_eq!(cut, expected, "{size}");
            }
        }
    }
}
