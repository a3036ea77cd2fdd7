//! How a node's value is read: the few fields that the engine itself looks at.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::canon::{hex, python_json, sha256};
use understory_model::item::Item;
use understory_model::{Time, limits};
use understory_storage::keys::Pair;
use understory_storage::nodes::Node;

/// The properties that say who works on a node, in which session, and since when.
pub const CLAIMED_BY: &str = "_claimed_by";
pub const CLAIMED_AT: &str = "_claimed_at";
pub const CLAIMED_SESSION: &str = "_claimed_session";
/// Those three, which only a claim sets.
pub const CLAIM: [&str; 3] = [CLAIMED_BY, CLAIMED_AT, CLAIMED_SESSION];

/// The property that ranks.
pub const PRIORITY: &str = "priority";

/// The lists of a node.
pub const CONTEXT_LINKS: &str = "context_links";
pub const EVIDENCE: &str = "evidence";

/// The type of the evidence that a drop leaves.
pub const DROPPED: &str = "dropped";

/// Who works on a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub by: String,
    /// Empty in a claim from before sessions were kept with it.
    pub session: String,
    pub at: Time,
}

impl Default for Claim {
    /// Nobody's.
    fn default() -> Claim {
        Claim {
            by: String::new(),
            session: String::new(),
            at: Time::ZERO,
        }
    }
}

type Data = Map<String, Value>;

/// The value of a node that was just made.
#[derive(Debug, Default, Serialize)]
pub struct NewNode<'n> {
    pub summary: &'n str,
    pub resolved: bool,
    pub properties: Data,
    pub context_links: &'n [String],
    pub evidence: Vec<Evidence>,
}

pub fn summary(data: &Data) -> &str {
    data.get("summary")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

pub fn resolved(data: &Data) -> bool {
    data.get("resolved")
        .and_then(Value::as_bool)
        .unwrap_or_default()
}

pub fn properties(data: &Data) -> impl Iterator<Item = (&String, &Value)> {
    data.get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

/// The properties as callers are shown them.
pub fn all_properties(data: &Data) -> Map<String, Value> {
    let properties = data.get("properties").and_then(Value::as_object);
    properties.cloned().unwrap_or_default()
}

/// The properties, to be changed; `None` where they are something else.
pub fn properties_mut(data: &mut Data) -> Option<&mut Data> {
    let properties = data
        .entry("properties")
        .or_insert_with(|| Data::new().into());
    properties.as_object_mut()
}

/// A list of the node (`context_links`, `evidence`), to be changed; `None` if it is not a list.
pub fn list_mut<'d>(data: &'d mut Data, name: &str) -> Option<&'d mut Vec<Value>> {
    let list = data.entry(name).or_insert_with(|| Value::Array(Vec::new()));
    list.as_array_mut()
}

pub fn context_links(data: &Data) -> Vec<String> {
    let links = data.get(CONTEXT_LINKS).and_then(Value::as_array);
    let links = links.into_iter().flatten().filter_map(Value::as_str);
    links.map(str::to_string).collect()
}

fn property<'d>(data: &'d Data, name: &str) -> Option<&'d Value> {
    data.get("properties")
        .and_then(|properties| properties.get(name))
}

/// A number under `properties.priority`; anything else ranks as none, which is 0.
pub fn priority(data: &Data) -> f64 {
    property(data, PRIORITY)
        .and_then(Value::as_f64)
        .unwrap_or(0.0)
}

/// Whether it was closed by dropping it rather than by doing it. What was dropped before nodes said
/// so themselves is told by its last evidence.
pub fn dropped(data: &Data) -> bool {
    let said = data.get(DROPPED).and_then(Value::as_bool);
    let told = || {
        evidence(data)
            .last()
            .is_some_and(|piece| piece["type"] == DROPPED)
    };
    resolved(data) && said.unwrap_or_else(told)
}

/// Who claimed a node and when; nobody when either is missing or makes no sense.
pub fn claim(data: &Data) -> Option<Claim> {
    let text = |name: &str| property(data, name).and_then(Value::as_str);
    let at = text(CLAIMED_AT)
        .and_then(|at| Time::parse(CLAIMED_AT, at).ok())
        .filter(|at| at.0 > 0)?;
    let by = text(CLAIMED_BY).filter(|by| is_name(by))?.to_string();
    let session = text(CLAIMED_SESSION).filter(|name| is_name(name));
    let session = session.unwrap_or_default().to_string();
    Some(Claim { by, session, at })
}

/// Callers choose properties freely: a value that is not a valid agent name is not a claim, and would
/// not fit an index.
fn is_name(by: &str) -> bool {
    !by.is_empty() && !by.contains('\0') && by.chars().count() <= limits::NAME_CHARS
}

fn evidence(data: &Data) -> impl Iterator<Item = &Value> {
    data.get(EVIDENCE)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// Something that shows what was done.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// git, test, note, file, or the caller's own.
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(rename = "ref")]
    pub reference: String,
    /// Who gave it.
    pub agent: String,
    pub timestamp: Time,
}

/// The evidence as callers are shown it; a piece that makes no sense is left out.
pub fn pieces(data: &Data) -> Vec<Evidence> {
    evidence(data)
        .filter_map(|piece| Evidence::deserialize(piece).ok())
        .collect()
}

pub fn evidence_types(data: &Data) -> impl Iterator<Item = &str> {
    evidence(data).filter_map(|piece| piece["type"].as_str())
}

/// What each piece of evidence says.
pub fn evidence_refs(data: &Data) -> impl Iterator<Item = &str> {
    evidence(data).filter_map(|piece| piece["ref"].as_str())
}

/// What evidence says, as one text to search in.
pub fn evidence_text(data: &Data) -> String {
    let mut text = String::new();
    for said in evidence_refs(data) {
        if !text.is_empty() {
            text.push('\n');
        }
        let room = limits::SEARCHED_EVIDENCE_BYTES.saturating_sub(text.len());
        text.push_str(&said[..said.floor_char_boundary(room)]);
        if said.len() > room {
            break;
        }
    }
    text
}

/// How a property is found by its value: any JSON value, numbers by what they are worth.
pub fn property_pair(name: &str, value: &Value) -> Pair {
    (
        format!("p:{}", short(&Value::from(name))),
        short(&plain(value)),
    )
}

/// How a record is found by a value of its metadata, alike.
pub fn metadata_pair(name: &str, value: &Value) -> Pair {
    (
        format!("m:{}", short(&Value::from(name))),
        short(&plain(value)),
    )
}

/// How a node is found by a type of evidence.
pub fn evidence_pair(kind: &str) -> Pair {
    (format!("e:{}", short(&Value::from(kind))), String::new())
}

/// Canonical text, or its digest where it would be too long for an index.
fn short(value: &Value) -> String {
    let text = python_json(value);
    if text.len() <= 200 {
        text
    } else {
        format!("sha256:{}", hex(&sha256(text.as_bytes())))
    }
}

/// `1.0` and `1` are one value to a person; the index says so too.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            // Within these bounds a whole real is exactly one integer.
            Some(real) if number.is_f64() && real.fract() == 0.0 && real.abs() < 9.2e18 => {
                Value::from(real as i64)
            }
            _ => value.clone(),
        },
        Value::Array(values) => values.iter().map(plain).collect(),
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| (key.clone(), plain(value)))
                .collect(),
        ),
        _ => value.clone(),
    }
}

/// Whatever the holder does to a node, or writes about it, renews the claim.
pub fn renew(node: &mut Node, item: &Item) {
    let holds = !node.claimed_by.is_empty()
        && node.claimed_by == item.actor
        && node.claimed_session == item.session;
    if holds && !node.resolved {
        node.claimed_at = node.claimed_at.max(item.realized_at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn data(value: Value) -> Data {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn values_are_found_by_what_they_are_worth() {
        assert_eq!(
            property_pair("a", &json!(1)),
            property_pair("a", &json!(1.0))
        );
        assert_eq!(
            property_pair("a", &json!([1.0])),
            property_pair("a", &json!([1]))
        );
        assert_ne!(
            property_pair("a", &json!(1)),
            property_pair("a", &json!("1"))
        );
        assert_ne!(
            property_pair("a", &json!(null)),
            property_pair("a", &json!("null"))
        );
        assert_ne!(
            property_pair("a", &json!(1.5)),
            property_pair("a", &json!(1))
        );
        let long = json!("x".repeat(10_000));
        assert!(property_pair("a", &long).1.len() < 100);
        assert_ne!(
            property_pair("a", &long),
            property_pair("a", &json!("x".repeat(10_001)))
        );
    }

    #[test]
    fn only_numbers_rank() {
        assert_eq!(priority(&data(json!({"properties": {"priority": 3}}))), 3.0);
        assert_eq!(
            priority(&data(json!({"properties": {"priority": "high"}}))),
            0.0
        );
        assert_eq!(priority(&data(json!({}))), 0.0);
    }

    #[test]
    fn half_a_claim_is_none() {
        let at = "2026-02-17T12:00:00.000000Z";
        let whole = data(json!({"properties": {"_claimed_by": "ada", "_claimed_at": at}}));
        let claim_of = claim(&whole).unwrap();
        assert_eq!(
            (claim_of.by.as_str(), claim_of.session.as_str()),
            ("ada", "")
        );
        for half in [
            json!({"properties": {"_claimed_by": "ada"}}),
            json!({"properties": {"_claimed_at": at}}),
            json!({"properties": {"_claimed_by": "ada", "_claimed_at": "soon"}}),
            json!({"properties": {"_claimed_by": 7, "_claimed_at": at}}),
        ] {
            assert_eq!(claim(&data(half)), None);
        }
    }

    #[test]
    fn what_a_node_says_of_itself_beats_its_evidence() {
        let evidence = json!([{"type": "dropped", "ref": "not now"}]);
        let of = |said: Value, resolved: bool| {
            let mut node = data(json!({"resolved": resolved, "evidence": evidence}));
            if !said.is_null() {
                node.insert(DROPPED.into(), said);
            }
            dropped(&node)
        };
        assert!(of(json!(true), true) && of(json!(null), true));
        assert!(!of(json!(false), true) && !of(json!(true), false) && !of(json!(null), false));
    }
}
