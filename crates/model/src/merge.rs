//! Bringing two changes of one thing together.
//!
//! A merge must never lose a change: where both sides changed the same place differently it says
//! so, and leaves the choice to the caller.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use similar::TextDiff;

use crate::canon::equal_values;
use crate::delta::{keys, present};
use crate::lines::{self, Version};

/// The result of merging fields. Where there is a conflict, `merged` has our side.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    pub merged: Map<String, Value>,
    pub conflicts: Vec<Conflict>,
}

/// A place that both sides changed, each in its own way; `None` means that nothing is there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    pub at: Vec<String>,
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub base: Option<Value>,
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub ours: Option<Value>,
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub theirs: Option<Value>,
}

/// Merges field by field, and inside fields that are objects key by key.
pub fn merge_fields(
    base: &Map<String, Value>,
    ours: &Map<String, Value>,
    theirs: &Map<String, Value>,
) -> Merge {
    let mut conflicts = Vec::new();
    let merged = merge_maps(&mut Vec::new(), base, ours, theirs, &mut conflicts);
    Merge { merged, conflicts }
}

/// As deep as `delta::diff` looks: a conflict is told at the place where a change would be.
const DEPTH: usize = 2;

fn merge_maps(
    path: &mut Vec<String>,
    base: &Map<String, Value>,
    ours: &Map<String, Value>,
    theirs: &Map<String, Value>,
    conflicts: &mut Vec<Conflict>,
) -> Map<String, Value> {
    let mut merged = Map::new();
    for key in keys([base, ours, theirs]) {
        path.push(key.to_owned());
        let sides = (base.get(key), ours.get(key), theirs.get(key));
        if let Some(value) = merge_value(path, sides, conflicts) {
            merged.insert(key.to_owned(), value);
        }
        path.pop();
    }
    merged
}

fn merge_value(
    path: &mut Vec<String>,
    (base, ours, theirs): (Option<&Value>, Option<&Value>, Option<&Value>),
    conflicts: &mut Vec<Conflict>,
) -> Option<Value> {
    if equal(ours, theirs) || equal(base, theirs) {
        return ours.cloned();
    }
    if equal(base, ours) {
        return theirs.cloned();
    }
    if path.len() < DEPTH
        && let (Some(Value::Object(ours)), Some(Value::Object(theirs))) = (ours, theirs)
    {
        // Both sides made the object anew: each key is an addition of its own.
        let nothing = Map::new();
        match base {
            Some(Value::Object(base)) => {
                return Some(merge_maps(path, base, ours, theirs, conflicts).into());
            }
            None => return Some(merge_maps(path, &nothing, ours, theirs, conflicts).into()),
            Some(_) => {}
        }
    }
    conflicts.push(Conflict {
        at: path.clone(),
        base: base.cloned(),
        ours: ours.cloned(),
        theirs: theirs.cloned(),
    });
    ours.cloned()
}

fn equal(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => equal_values(a, b),
        (None, None) => true,
        _ => false,
    }
}

/// Merges line by line; the error is the text with both sides between conflict markers.
pub fn merge_text(base: &str, ours: &str, theirs: &str) -> Result<String, String> {
    if ours == theirs || base == theirs {
        return Ok(ours.to_owned());
    }
    if base == ours {
        return Ok(theirs.to_owned());
    }
    diffy::merge(base, ours, theirs)
}

/// The difference of two texts as a unified diff; empty if there is none.
pub fn unified_diff(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    if lines::is_coarse(old, new) {
        return lines::unified(&Version::of(old), &Version::of(new), (old_name, new_name));
    }
    // No deadline: what a text differs in may not depend on how fast the machine is.
    TextDiff::from_lines(old, new)
        .unified_diff()
        .header(old_name, new_name)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn texts_that_differ_in_very_many_lines_are_compared_as_a_whole() {
        let text = |first: u32, count: u32| -> String {
            let line = |at: u32| char::from_u32(97 + (at * at + at / 7) % 3);
            let lines = (first..first + count).filter_map(line);
            lines.map(|letter| format!("{letter}\n")).collect()
        };
        let (old, new) = (text(1, 40_000), text(2, 40_000));
        let diff = unified_diff(
            &format!("head\n{old}tail\n"),
            &format!("head\n{new}tail\n"),
            "a",
            "b",
        );
        assert_eq!(diff.matches("@@ -").count(), 1, "one hunk for all of it");
        assert!(diff.starts_with("--- a\n+++ b\n@@ -"));
        assert!(diff.ends_with("\n tail\n"), "{}", &diff[diff.len() - 40..]);
        let few = unified_diff(&format!("{old}x\n"), &format!("{old}y\n"), "a", "b");
        assert!(few.ends_with("-x\n+y\n"), "what is the same does not count");
    }

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    fn merge(base: Value, ours: Value, theirs: Value) -> (Value, Vec<String>) {
        let merge = merge_fields(&map(base), &map(ours), &map(theirs));
        (
            merge.merged.into(),
            merge.conflicts.iter().map(|c| c.at.join(".")).collect(),
        )
    }

    #[test]
    fn changes_in_different_places_meet() {
        let (merged, conflicts) = merge(
            json!({"a": 1, "b": 1, "p": {"x": 1, "y": 1}, "gone": 1}),
            json!({"a": 2, "b": 1, "p": {"x": 2, "y": 1}}),
            json!({"a": 1, "b": 2, "p": {"x": 1, "y": 2, "z": 3}, "gone": 1}),
        );
        assert_eq!(
            merged,
            json!({"a": 2, "b": 2, "p": {"x": 2, "y": 2, "z": 3}})
        );
        assert!(conflicts.is_empty());
    }

    #[test]
    fn the_same_change_twice_is_no_conflict() {
        let (merged, conflicts) = merge(json!({"a": 0}), json!({"a": 1}), json!({"a": 1.0}));
        assert_eq!((merged, conflicts), (json!({"a": 1}), vec![]));
    }

    #[test]
    fn conflicts_name_the_place_and_keep_ours() {
        let (merged, conflicts) = merge(
            json!({"a": 1, "p": {"x": {"deep": 1}}, "g": 1}),
            json!({"a": 2, "p": {"x": {"deep": 2}}, "new": {"k": 1}}),
            json!({"a": 3, "p": {"x": {"deep": 1, "er": 1}}, "g": 2, "new": {"k": 2, "l": 2}}),
        );
        assert_eq!(conflicts, ["a", "g", "new.k", "p.x"]);
        assert_eq!(
            merged,
            json!({"a": 2, "p": {"x": {"deep": 2}}, "new": {"k": 1, "l": 2}})
        );
    }

    #[test]
    fn a_conflict_survives_the_wire() {
        let merge = merge_fields(&map(json!({"a": 1})), &map(json!({"a": null})), &Map::new());
        let wire = serde_json::to_value(&merge.conflicts).unwrap();
        assert_eq!(wire, json!([{"at": ["a"], "base": 1, "ours": null}]));
        assert_eq!(
            serde_json::from_value::<Vec<Conflict>>(wire).unwrap(),
            merge.conflicts
        );
    }

    #[test]
    fn texts() {
        assert_eq!(
            merge_text("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n"),
            Ok("A\nb\nc\nD\n".into())
        );
        assert!(
            merge_text("a\n", "b\n", "c\n")
                .unwrap_err()
                .contains("<<<<<<<")
        );
        let diff = unified_diff("a\nb\n", "a\nc\n", "old", "new");
        assert_eq!(diff, "--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(unified_diff("a\n", "a\n", "old", "new"), "");
    }

    fn lines() -> impl Strategy<Value = String> {
        prop::collection::vec("[ab]{0,1}(\n|\r\n)?", 0..12).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn any_three_texts_merge_or_conflict(base in lines(), ours in lines(), theirs in lines()) {
            prop_assert_eq!(merge_text(&base, &ours, &base), Ok(ours.clone()));
            prop_assert_eq!(merge_text(&base, &base, &theirs), Ok(theirs.clone()));
            let one = merge_text(&base, &ours, &theirs).is_ok();
            prop_assert_eq!(one, merge_text(&base, &theirs, &ours).is_ok());
            prop_assert_eq!(unified_diff(&base, &ours, "a", "b").is_empty(), base == ours);
        }
    }
}
