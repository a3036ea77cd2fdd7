//! The garden's functions against what a real Python answered; `vectors/make.py` made the cases.

use serde::Deserialize;
use serde_json::{Value, json};
use understory_model::canon::entity_hash;
use understory_model::fragment::{Cut, cut, fragment_id};
use understory_model::refs::{Ref, Target, parse_references};

#[derive(Deserialize)]
struct Cases {
    fragments: Vec<(String, String)>,
    references: Vec<(String, Vec<Value>)>,
    hashes: Vec<(String, Option<String>, String)>,
}

fn cases() -> Cases {
    serde_json::from_str(include_str!("vectors/garden.json")).unwrap()
}

#[test]
fn ids_of_fragments() {
    let cases = cases().fragments;
    assert!(cases.len() > 500);
    for (content, id) in cases {
        assert_eq!(fragment_id(&content), id, "{content:?}");
    }
}

#[test]
fn references() {
    let cases = cases().references;
    assert!(cases.len() > 500);
    for (content, expected) in cases {
        let found: Vec<Value> = parse_references(&content).iter().map(shown).collect();
        assert_eq!(found, expected, "{content:?}");
    }
}

fn shown(found: &Ref) -> Value {
    let mut shown = match &found.what {
        Target::Fragment(id) => json!({"id": id}),
        Target::Line {
            label,
            line,
            commit,
        } => json!({"label": label, "line": line, "commit": commit}),
        Target::Log(uuid) | Target::Item(uuid) => json!({"uuid": uuid}),
    };
    shown["type"] = json!(found.what.kind());
    shown["span"] = json!([found.span.0, found.span.1]);
    shown
}

#[test]
fn hashes_of_entities() {
    let cases = cases().hashes;
    assert!(cases.len() > 200);
    for (data, previous, hash) in cases {
        let value: Value = serde_json::from_str(&data).unwrap();
        assert_eq!(entity_hash(&value, previous.as_deref()), hash, "{data}");
    }
}

#[test]
fn pieces_are_the_text() {
    for (content, _) in cases().fragments {
        let pieces = cut(&content, Cut::Joined);
        let whole: String = pieces.iter().map(|piece| piece.content.as_str()).collect();
        assert_eq!(whole, content);
        assert!(
            pieces
                .iter()
                .all(|piece| piece.id == fragment_id(&piece.content))
        );
    }
}
