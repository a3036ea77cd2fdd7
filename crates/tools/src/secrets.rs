//! Credentials in the arguments of calls that write: noticed in one place, for every tool.
//!
//! What is found is told by its place and its kind. The credential itself is never repeated.

use serde_json::{Value, json};
use understory_model::Fault;
use understory_model::secret::{self, Placed, Policy};

/// Findings that an answer tells.
const MOST_TOLD: usize = 10;

const ADVICE: &str = "What looks like a credential was stored. Change it where it is valid, and \
                      have an operator erase it: understory purge --credentials";

/// Credentials in the arguments, or the refusal of the call.
pub fn found(policy: Policy, args: &Value) -> Result<Vec<Placed>, Fault> {
    let mut found: Vec<Placed> = Vec::new();
    if policy == Policy::Off {
        return Ok(found);
    }
    secret::find_in(args, |one, _| {
        let known = |other: &Placed| (&other.path, other.kind) == (&one.path, one.kind);
        if found.len() < MOST_TOLD && !found.iter().any(known) {
            found.push(one);
        }
    });
    match found.first().filter(|_| policy == Policy::Refuse) {
        Some(first) => Err(refusal(first)),
        None => Ok(found),
    }
}

fn refusal(found: &Placed) -> Fault {
    let problem = format!(
        "looks like {}, and credentials are not stored here",
        found.kind
    );
    Fault::invalid(&found.path, problem)
        .details(json!({ "field": found.path, "kind": found.kind.as_str() }))
        .hint("Leave it out and say where it is kept instead; nothing was stored.")
}

/// What an answer has to say about credentials, for those who are shown only a part of it.
pub fn advice(answer: &Value) -> Option<&'static str> {
    answer.get("credentials").map(|_| ADVICE)
}

/// Adds what was found to an answer.
pub fn tell(found: &[Placed], answer: &mut Value) {
    let Some(answer) = answer.as_object_mut().filter(|_| !found.is_empty()) else {
        return;
    };
    let told: Vec<Value> = found
        .iter()
        .map(|one| json!({ "path": one.path, "kind": one.kind.as_str() }))
        .collect();
    answer.insert("credentials".into(), told.into());
    if let Value::Array(warnings) = answer.entry("warnings").or_insert_with(|| json!([])) {
        warnings.push(ADVICE.into());
    }
}
