//! Canonical JSON against what a real Python wrote; `vectors/make.py` made the cases.

use serde_json::Value;
use understory_model::canon::{equal_values, python_json};

#[test]
fn python_agrees() {
    let cases: Vec<(String, String)> =
        serde_json::from_str(include_str!("vectors/python_json.json")).unwrap();
    assert!(cases.len() > 400);
    for (input, spelled) in cases {
        let value: Value = serde_json::from_str(&input).unwrap();
        assert_eq!(python_json(&value), spelled, "{input}");
        let back: Value = serde_json::from_str(&spelled).unwrap();
        assert!(equal_values(&back, &value), "{input}");
    }
}
