//! A change leads there and back again, whatever the two states are.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use understory_model::Code;
use understory_model::delta::{Change, apply, diff, merge_patch, unapply};

fn map(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn places(changes: &[Change]) -> Vec<String> {
    changes.iter().map(Change::field).collect()
}

#[test]
fn changes_are_as_small_as_promised() {
    let before =
        map(json!({"t": 1, "p": {"a": {"x": 1}, "b": 2}, "e": [1], "l": [1, 2, 3], "s": [1]}));
    let after =
        map(json!({"p": {"a": {"x": 2}, "c": 3}, "e": [1, 2, 3], "l": [1], "n": null, "s": [2]}));
    let changes = diff(&before, &after);
    assert_eq!(
        places(&changes),
        [
            "e.1", "e.2", "l.2", "l.1", "n", "p.a", "p.b", "p.c", "s", "t"
        ]
    );
    assert_eq!(changes[5].before, Some(json!({"x": 1})));
}

#[test]
fn a_null_survives_the_wire() {
    let changes = diff(&map(json!({"a": null, "b": 1})), &map(json!({"b": null})));
    let wire = serde_json::to_value(&changes).unwrap();
    assert_eq!(
        wire,
        json!([{"at": ["a"], "was": null}, {"at": ["b"], "was": 1, "is": null}])
    );
    assert_eq!(
        serde_json::from_value::<Vec<Change>>(wire.clone()).unwrap(),
        changes
    );
    assert_eq!(
        serde_json::from_str::<Vec<Change>>(&wire.to_string()).unwrap(),
        changes
    );
}

#[test]
fn what_does_not_fit_is_damage() {
    let change = |at: &[&str], before: Value, after: Value| Change {
        at: at.iter().map(|part| (*part).to_owned()).collect(),
        before: Some(before),
        after: Some(after),
    };
    let data = map(json!({"a": 1, "list": [1, 2], "deep": {"er": {}}}));
    let removal = Change {
        after: None,
        ..change(&["list", "0"], json!(1), json!(0))
    };
    let misfits = [
        change(&["a"], json!(2), json!(3)),
        change(&["a"], json!(1.0), json!(3)),
        change(&["a", "b"], json!(1), json!(2)),
        change(&["list", "5"], json!(1), json!(2)),
        change(&["list", "x"], json!(1), json!(2)),
        change(&["deep", "er", "est"], json!(1), json!(2)),
        change(&[], json!(1), json!(2)),
        removal,
    ];
    for misfit in misfits {
        let fault = apply(&mut data.clone(), std::slice::from_ref(&misfit)).unwrap_err();
        assert_eq!(fault.code, Code::StoreCorrupt, "{misfit:?}");
    }
}

#[test]
fn patches_delete_by_null() {
    let mut data = map(json!({"a": 1, "b": {"x": 1}, "c": 3}));
    merge_patch(
        &mut data,
        &map(json!({"a": null, "b": {"y": null}, "d": 4, "none": null})),
    );
    assert_eq!(
        Value::Object(data),
        json!({"b": {"y": null}, "c": 3, "d": 4})
    );
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3_i64).prop_map(Value::from),
        prop_oneof![Just(0.0), Just(-0.0), Just(1.0)].prop_map(|real: f64| Value::from(real)),
        "[ab0]{0,2}".prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[ab01]", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn data() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map("[a-e]", value(), 0..5).prop_map(|map| map.into_iter().collect())
}

fn spelled(data: &Map<String, Value>) -> String {
    Value::Object(data.clone()).to_string()
}

proptest! {
    #[test]
    fn there_and_back(before in data(), after in data()) {
        let changes = diff(&before, &after);
        prop_assert!(changes.iter().all(|change| change.at.len() <= 2));
        let wire = serde_json::to_string(&changes).unwrap();
        let changes: Vec<Change> = serde_json::from_str(&wire).unwrap();
        let mut data = before.clone();
        apply(&mut data, &changes).unwrap();
        // By spelling, not by `==`: hashes are taken of the spelling.
        prop_assert_eq!(spelled(&data), spelled(&after));
        unapply(&mut data, &changes).unwrap();
        prop_assert_eq!(spelled(&data), spelled(&before));
        prop_assert!(diff(&before, &before).is_empty());
    }
}
