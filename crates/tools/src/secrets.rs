//! Credentials in the arguments of calls that write: noticed in one place, for every tool.
//!
//! What is found is told by its place and its kind. The credential itself is never repeated.

use serde_json::{Value, json};
use understory_model::answer::Written;
use understory_model::budget::chars;
use understory_model::secret::{self, Placed, Policy};
use understory_model::{Fault, limits};

use crate::Tool;

/// Findings that an answer tells.
const TOLD: usize = 10;

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
        if found.len() < TOLD && !found.iter().any(known) {
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
        .detail("field", &found.path)
        .detail("kind", found.kind.as_str())
        .hint("Leave it out and say where it is kept instead; nothing was stored.")
}

/// What an answer has to say about credentials, for those who are shown only a part of it.
pub fn advice(answer: &Value) -> Option<&'static str> {
    answer.get("credentials").map(|_| ADVICE)
}

/// What an answer will tell of the credentials that were found. It counts in the answer's budget: the
/// tool is given what remains of that. Of a small budget the list takes half at most; that something
/// was found is told whatever the budget.
pub fn told(found: &[Placed], tool: &Tool, args: &mut Value) -> Option<Vec<Value>> {
    const BUDGET: &str = "max_chars";
    if found.is_empty() {
        return None;
    }
    let one = |one: &Placed| json!({ "path": one.path, "kind": one.kind.as_str() });
    let mut told: Vec<Value> = found.iter().map(one).collect();
    if tool.input_schema()["properties"].get(BUDGET).is_none() {
        return Some(told);
    }
    let given = args[BUDGET].as_i64().map(|given| given.max(0));
    let most = given.map_or(limits::ANSWER_CHARS, |given| {
        usize::try_from(given).unwrap_or(usize::MAX)
    });
    let size = |told: &[Value]| chars(&json!({ "credentials": told, "warnings": [ADVICE] }));
    while !told.is_empty() && size(&told) > most / 2 {
        told.pop();
    }
    let rest = most.saturating_sub(size(&told));
    args[BUDGET] = i64::try_from(rest).unwrap_or(i64::MAX).into();
    Some(told)
}

/// Adds what was found to an answer.
pub fn tell(told: Option<Vec<Value>>, answer: Written) -> Result<Written, Fault> {
    let Some(told) = told else {
        return Ok(answer);
    };
    answer.with(|answer| {
        answer.insert("credentials".into(), told.into());
        if let Value::Array(warnings) = answer.entry("warnings").or_insert_with(|| json!([])) {
            warnings.push(ADVICE.into());
        }
    })
}
