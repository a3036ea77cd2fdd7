//! No answer is larger than its budget, and none is shorter than it need be.

use proptest::prelude::*;
use serde_json::{Value, json};
use understory_model::budget::{
    Budget, Drop, at_most, chars, fit_list, fit_lists, fit_page, fit_rows, fit_unpaged, fit_whole,
    short,
};
use understory_model::limits;

fn budget(chars: usize) -> Budget {
    Budget {
        chars,
        ..Budget::default()
    }
}

#[test]
fn budgets_as_callers_give_them() {
    assert_eq!(Budget::new(None, None, None), Budget::default());
    assert_eq!(Budget::default().chars, limits::ANSWER_CHARS);
    let none = Budget::new(Some(-1), Some(0), Some(-9));
    assert_eq!((none.chars, none.bytes, none.lines), (0, Some(0), Some(0)));
}

#[test]
fn what_fits_is_untouched() {
    let answer = json!({"items": [1, 2, 3], "total": 3, "truncated": false});
    let exact = chars(&answer);
    assert_eq!(
        fit_list(answer.clone(), "items", &budget(exact), Drop::Last),
        answer
    );
    let cut = fit_list(answer, "items", &budget(exact - 1), Drop::Last);
    assert_eq!(cut, json!({"items": [1, 2], "total": 3, "truncated": true}));
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
    let answer = json!({"items": ["éé\n", "éé\n", "éé\n"], "total": 3});
    let two_lines = Budget {
        lines: Some(2),
        ..Budget::default()
    };
    assert_eq!(
        fit_list(answer.clone(), "items", &two_lines, Drop::Last)["items"],
        json!(["éé\n"])
    );
    let room = json!({"items": ["éé\n"], "total": 3, "truncated": true})
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
        prop_assert!(kept.iter().zip(expected).all(|(short, whole)| is_cut_of(short, whole)));
        if fitted == answer {
            prop_assert!(chars(&answer) <= most);
            return Ok(());
        }
        prop_assert_eq!(&fitted["truncated"], &json!(true));
        let bare = json!({"items": [], "truncated": true});
        if fitted == bare {
            return Ok(());
        }
        prop_assert!(chars(&fitted) <= most);
        if n < items.len() {
            prop_assert_eq!(&fitted["items_count"], &json!(items.len()));
        }
        let with = |items: &[Value]| json!({
            "items": items, "note": note, "truncated": true, "items_count": answer["items"].as_array().unwrap().len(),
        });
        if n + 1 < items.len() {
            let more = if first { &items[items.len() - n - 1..] } else { &items[..=n] };
            prop_assert!(chars(&with(more)) > most);
        }
        if n == 0 && let Some(one) = if first { items.last() } else { items.first() } {
            let shortest = short(one, |row| chars(&with(std::slice::from_ref(row))) <= most);
            prop_assert_eq!(shortest, None);
        }
    }

    #[test]
    fn pages_show_every_row_once(
        rows in prop::collection::vec(row(), 0..12),
        most in 260..900_usize,
        limit in 1..6_usize,
        built in any::<bool>(),
    ) {
        let rows: Vec<Value> = rows.into_iter().enumerate().map(|(seq, mut row)| {
            row["seq"] = json!(seq);
            row
        }).collect();
        let page = |after: usize| {
            let left = &rows[after.min(rows.len())..];
            let shown = &left[..limit.min(left.len())];
            let next = after + shown.len();
            if built {
                return fit_rows(shown, &budget(most), |kept| {
                    let mut answer = json!({"rows": kept});
                    if after + kept.len() < rows.len() {
                        answer["next"] = json!(after + kept.len());
                    }
                    answer
                });
            }
            let mut answer = json!({"rows": shown});
            if next < rows.len() {
                answer["next"] = json!(next);
            }
            fit_page(answer, "rows", &budget(most), Drop::Last, "next", |kept, last| {
                assert_eq!(last["seq"], json!(after + kept - 1));
                json!(after + kept)
            })
        };
        let (mut seen, mut after) = (Vec::new(), Some(0));
        while let Some(at) = after {
            let answer = page(usize::try_from(at).unwrap());
            prop_assert!(chars(&answer) <= most, "{} of {}", answer, most);
            let shown = answer["rows"].as_array().unwrap();
            prop_assert!(!shown.is_empty() || rows.is_empty());
            for row in shown {
                let whole = &rows[usize::try_from(row["seq"].as_u64().unwrap()).unwrap()];
                prop_assert!(is_cut_of(row, whole), "{} of {}", row, whole);
                prop_assert_eq!(&row["id"], &whole["id"]);
                // Only a row that does not fit by itself is cut.
                prop_assert!(row == whole || shown.len() == 1);
                prop_assert!(row == whole || answer["truncated"] == true);
                seen.push(row["seq"].clone());
            }
            after = answer["next"].as_u64();
        }
        let all: Vec<Value> = rows.iter().map(|row| row["seq"].clone()).collect();
        prop_assert_eq!(seen, all);
    }

    #[test]
    fn lists_side_by_side_say_how_many_they_have(
        one in prop::collection::vec(row(), 0..6),
        other in prop::collection::vec(row(), 0..6),
        most in 0..1_500_usize,
    ) {
        let whole = json!({"a": one, "b": {"c": other}});
        let mut cut = whole.clone();
        let fits = fit_lists(&mut cut, &["/a", "/b/c"], &budget(most));
        prop_assert_eq!(fits, chars(&cut) <= most);
        for (list, count, all) in [("/a", "/a_count", &one), ("/b/c", "/b/c_count", &other)] {
            let kept = cut.pointer(list).unwrap().as_array().unwrap();
            prop_assert!(kept.iter().zip(all.iter()).all(|(short, whole)| is_cut_of(short, whole)));
            let told = cut.pointer(count);
            let expected = (kept.len() < all.len()).then(|| json!(all.len()));
            prop_assert_eq!(told, expected.as_ref());
            // A row takes at most 160 characters when it is as short as can be.
            prop_assert!(most < 500 || all.is_empty() || !kept.is_empty());
        }
        prop_assert!(cut == whole || cut["truncated"] == true);
    }

    #[test]
    fn one_long_row_does_not_push_out_the_others(
        mut rows in prop::collection::vec(row(), 1..6),
        at in 0..6_usize,
        most in 2_600..4_000_usize,
    ) {
        for row in &mut rows {
            *row = json!({"id": row["id"], "text": "short"});
        }
        let at = at % rows.len();
        rows[at]["text"] = json!("long ".repeat(2_000));
        let build = |rows: &[Value]| json!({"rows": rows});
        for answer in [
            fit_unpaged("rows", rows.clone(), &budget(most), build),
            fit_list(json!({"rows": rows}), "rows", &budget(most), Drop::Last),
        ] {
            prop_assert!(chars(&answer) <= most);
            let shown = answer["rows"].as_array().unwrap();
            prop_assert_eq!(shown.len(), rows.len());
            prop_assert_eq!(&shown[at]["text_chars"], &json!(10_000));
            prop_assert_eq!(&answer["truncated"], &json!(true));
        }
    }

    #[test]
    fn one_answer_is_cut_where_it_is_long(value in value(), most in 0..300_usize) {
        let answer = json!({"thing": value, "id": "R001"});
        let cut = fit_whole(answer.clone(), &budget(most));
        if cut["id"] == "R001" {
            prop_assert!(chars(&cut) <= most && is_cut_of(&cut["thing"], &answer["thing"]));
        } else {
            let empty = [json!({"truncated": true}), json!({"thing": [], "truncated": true})];
            prop_assert!(empty.contains(&cut));
        }
        prop_assert!(cut == answer || cut["truncated"] == true);
    }
}

/// A row as the product has them: a name, and texts of any length.
fn row() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[a-z \n]{0,40}", "[a-zé\"\\\\ \n]{200,900}"];
    let tags = prop::collection::vec("[a-z]{1,8}", 0..30);
    (1..999_u32, text.clone(), text, tags).prop_map(|(id, title, text, tags)| {
        json!({"id": format!("R{id:03}"), "title": title, "text": text, "tags": tags})
    })
}

/// Whether a value is another one, or that one with texts and lists cut, each told beside it.
fn is_cut_of(short: &Value, whole: &Value) -> bool {
    told(short, whole, None)
}

fn told(
    short: &Value,
    whole: &Value,
    beside: Option<(&serde_json::Map<String, Value>, &str)>,
) -> bool {
    let said = |what: &str, count: usize| {
        beside.is_some_and(|(map, name)| map.get(&format!("{name}_{what}")) == Some(&json!(count)))
    };
    match (short, whole) {
        (Value::String(short), Value::String(whole)) => {
            let head = short.strip_suffix('…');
            short == whole
                || head.is_some_and(|head| whole.starts_with(head))
                    && (beside.is_none() || said("chars", whole.chars().count()))
        }
        (Value::Array(short), Value::Array(all)) => {
            (short.len() == all.len() || beside.is_none() || said("count", all.len()))
                && short
                    .iter()
                    .zip(all)
                    .all(|(short, whole)| told(short, whole, None))
        }
        (Value::Object(short), Value::Object(whole)) => short.iter().all(|(name, value)| {
            let told_of = |end: &str| {
                name.strip_suffix(end)
                    .is_some_and(|of| whole.contains_key(of))
            };
            match whole.get(name) {
                Some(was) => told(value, was, Some((short, name))),
                None => told_of("_chars") || told_of("_count"),
            }
        }),
        _ => short == whole,
    }
}

#[test]
fn texts_are_cut_at_any_depth_and_names_never() {
    let long = "words and words ".repeat(200);
    let hash = "a".repeat(64);
    let whole = json!({
        "id": "TASK-001",
        "commit": hash,
        "updated_at": "2026-01-01T00:00:00.000000Z",
        "to": {"id": "a card with a long name of its own", "text": long, "last_seq": 7},
        "meta": {"deep": [{"why": long}], "n": 5},
        "tags": [long, "b"],
    });
    let cut = short(&whole, |cut| chars(cut) <= 900).unwrap();
    assert!(chars(&cut) > 700, "what fits is used: {cut}");
    assert_eq!(
        (&cut["id"], &cut["commit"], &cut["updated_at"]),
        (&whole["id"], &whole["commit"], &whole["updated_at"])
    );
    assert_eq!(cut["to"]["text_chars"], 3_200);
    assert_eq!(cut["meta"]["deep"][0]["why_chars"], 3_200);
    assert_eq!(cut["tags_chars"], 3_201);
    assert!(cut["to"]["text"].as_str().unwrap().ends_with('…'));
    let least = short(&whole, |cut| chars(cut) <= 420).unwrap();
    assert_eq!(least["to"]["id"], whole["to"]["id"]);
    assert_eq!(
        (&least["tags"], &least["tags_count"]),
        (&json!([]), &json!(2))
    );
    assert_eq!(short(&whole, |cut| chars(cut) <= 100), None);
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
        for size in (0..chars(&whole) as i64 + 20).step_by(3) {
            for budget in [
                Budget::new(Some(size), None, None),
                Budget::new(None, Some(size), Some(size / 4)),
            ] {
                let mut cut = whole.clone();
                let fits = fit_lists(&mut cut, &["/a", "/b/c"], &budget);
                assert_eq!(fits, budget.holds(&cut));
                // The same, by trying every length.
                let with = |most: usize, told: bool| {
                    let keep = |list: &[Value]| list[..most.min(list.len())].to_vec();
                    let mut answer = json!({ "a": keep(&one), "b": { "c": keep(&other) }, "d": "x", "truncated": true });
                    if !one.is_empty() && (told || most < one.len()) {
                        answer["a_count"] = one.len().into();
                    }
                    if !other.is_empty() && (told || most < other.len()) {
                        answer["b"]["c_count"] = other.len().into();
                    }
                    answer
                };
                let longest = one.len().max(other.len());
                // Room is kept for both counts until it is known which lists were cut.
                let best = (0..=longest)
                    .rev()
                    .find(|most| budget.holds(&with(*most, true)));
                let expected = match budget.holds(&whole) {
                    true => whole.clone(),
                    false => with(best.unwrap_or(0), false),
                };
                assert_eq!(cut, expected, "{size}");
            }
        }
    }
}
