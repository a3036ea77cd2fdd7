//! The rules of threads: which status leads to which, what an event means for a finding, and when two
//! messages say the same.
//!
//! Pure: who may do it and what is stored is decided elsewhere.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};

use crate::limits;

/// What a thread can be for.
pub const TYPES: [&str; 3] = ["conversation", "workflow", "incident"];
/// What a thread can be.
pub const STATUSES: [&str; 4] = [ACTIVE, BLOCKED, RESOLVED, CLOSED];
pub const ACTIVE: &str = "active";
pub const BLOCKED: &str = "blocked";
pub const RESOLVED: &str = "resolved";
pub const CLOSED: &str = "closed";

/// The event that makes a finding.
pub const FINDING_REPORTED: &str = "finding_reported";

/// The states of a finding, in the order in which they are counted.
pub const REPORTED: &str = "reported";
pub const FIXED: &str = "fixed";
pub const VERIFIED: &str = "verified";
pub const REJECTED: &str = "rejected";
pub const WITHDRAWN: &str = "withdrawn";

/// The statuses that a status leads to.
pub fn leads_to(from: &str) -> &'static [&'static str] {
    match from {
        ACTIVE => &[BLOCKED, RESOLVED, CLOSED],
        BLOCKED => &[ACTIVE, RESOLVED, CLOSED],
        RESOLVED => &[ACTIVE, CLOSED],
        CLOSED => &[ACTIVE],
        _ => &[],
    }
}

/// Whether a change of status settles or undoes what others may still dispute.
pub fn overrides(from: &str, to: &str, disputed: bool) -> bool {
    match to {
        CLOSED => disputed || from == BLOCKED,
        _ => from == CLOSED,
    }
}

/// What a finding is after an event about it; `None` where the event changes nothing.
pub fn finding_after(event: &str) -> Option<&'static str> {
    match event {
        FINDING_REPORTED => Some(REPORTED),
        "fix_pushed" => Some(FIXED),
        "finding_verified" => Some(VERIFIED),
        "finding_rejected" => Some(REJECTED),
        "finding_withdrawn" => Some(WITHDRAWN),
        _ => None,
    }
}

/// Whether a finding in this state still makes a thread disputed.
pub fn is_open(state: &str) -> bool {
    !matches!(state, VERIFIED | WITHDRAWN)
}

/// Whether an event says that a finding is settled: verified or withdrawn. That counts from whoever
/// reported it and from those who direct; of others it is their word.
pub fn claims_settled(event: &str) -> bool {
    finding_after(event).is_some_and(|state| !is_open(state))
}

/// The events that the server understands; others are kept and mean nothing to it.
pub const EVENTS: [&str; 8] = [
    FINDING_REPORTED,
    "fix_pushed",
    RE_REVIEW_REQUESTED,
    "finding_verified",
    "finding_rejected",
    "finding_withdrawn",
    THREAD_ESCALATED,
    THREAD_RESOLVED,
];
const RE_REVIEW_REQUESTED: &str = "re_review_requested";
const THREAD_ESCALATED: &str = "thread_escalated";
pub const THREAD_RESOLVED: &str = "thread_resolved";

/// What a message asks of somebody until it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// An operator or an orchestrator is to decide.
    Escalation,
    /// A reviewer is to look again.
    ReReview,
}

impl Ask {
    pub fn of(event: &str) -> Option<Ask> {
        match event {
            THREAD_ESCALATED => Some(Ask::Escalation),
            RE_REVIEW_REQUESTED => Some(Ask::ReReview),
            _ => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Ask::Escalation => "escalation",
            Ask::ReReview => "re_review",
        }
    }

    pub fn parse(name: &str) -> Option<Ask> {
        [Ask::Escalation, Ask::ReReview]
            .into_iter()
            .find(|ask| ask.as_str() == name)
    }
}

/// A message that may answer what another one asked.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'r> {
    pub event: &'r str,
    pub sender: &'r str,
    /// Whether it comes from an operator or an orchestrator.
    pub directs: bool,
    /// The message that it answers, by its number.
    pub to: Option<i64>,
    pub finding: Option<i64>,
}

/// Something that was asked in a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The message that asks.
    pub n: i64,
    pub ask: Ask,
    pub sender: String,
    /// The finding that it is about, and who reported that.
    pub finding: Option<i64>,
    pub reviewer: Option<String>,
}

impl Asked {
    /// Whether a message answers it.
    pub fn answered_by(&self, reply: &Reply<'_>) -> bool {
        let own = reply.sender == self.sender;
        match self.ask {
            Ask::Escalation => match reply.event {
                THREAD_RESOLVED => reply.directs || own,
                _ => reply.directs && !own && reply.to == Some(self.n),
            },
            Ask::ReReview => match reply.event {
                _ if own => false,
                THREAD_RESOLVED => true,
                FINDING_REPORTED | "finding_verified" | "finding_rejected"
                | "finding_withdrawn" => {
                    let reviewer = self.reviewer.as_deref();
                    self.finding.is_none()
                        || (self.finding == reply.finding
                            && (reply.directs || reviewer == Some(reply.sender)))
                }
                _ => false,
            },
        }
    }
}

/// What a message calls the finding that it is about; a number is a name too.
pub fn finding_name(metadata: &Map<String, Value>) -> Option<String> {
    let name = match metadata.get("finding_id")? {
        Value::String(name) => name.clone(),
        number @ Value::Number(_) => evened(number).to_string(),
        _ => return None,
    };
    let fits = name.chars().count() <= limits::NAME_CHARS && !name.contains('\0');
    (fits && !name.trim().is_empty()).then_some(name)
}

/// Commits that one message can name, and the length of one.
const MOST_COMMITS: usize = 20;
const LONGEST_COMMIT: usize = 64;

/// The commits that a message names: in its metadata, else as hexadecimal words of its body.
pub fn commits(metadata: &Map<String, Value>, body: &str) -> Vec<String> {
    let named = ["commit", "commits", "commit_sha", "commit_hash", "sha"];
    let named = named.iter().filter_map(|field| metadata.get(*field));
    let mut found: Vec<&str> = Vec::new();
    for value in named {
        match value {
            Value::Array(all) => found.extend(all.iter().filter_map(Value::as_str)),
            one => found.extend(one.as_str()),
        }
    }
    found.retain(|name| is_commit(name));
    if found.is_empty() {
        let words = body.split(|c: char| !c.is_ascii_alphanumeric());
        found.extend(words.filter(|word| is_hash(word)));
    }
    let mut commits: Vec<String> = Vec::new();
    for name in found {
        if commits.len() < MOST_COMMITS && !commits.iter().any(|there| there == name) {
            commits.push(name.to_string());
        }
    }
    commits
}

/// A name for a commit holds no more than a name needs, because it is quoted in a summary.
fn is_commit(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    (1..=LONGEST_COMMIT).contains(&name.len()) && name.bytes().all(fits)
}

/// A word that can only be an abbreviated hash: digits and letters of base 16, both of them.
fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        && word.bytes().any(|b| b.is_ascii_digit())
        && word.bytes().any(|b| b.is_ascii_alphabetic())
}

/// What makes two messages the same: equal values, however they were written.
pub fn payload(
    kind: &str,
    body: &str,
    metadata: &Map<String, Value>,
    in_reply_to: Option<&str>,
    schema_version: i64,
) -> Value {
    json!({
        "kind": kind,
        "body": body,
        "metadata": evened(&Value::Object(metadata.clone())),
        "in_reply_to": in_reply_to,
        "schema_version": schema_version,
    })
}

/// The value with each number in one form: 1.0 is 1.
fn evened(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(whole(number).unwrap_or_else(|| number.clone())),
        Value::Array(all) => all.iter().map(evened).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), evened(value)))
            .collect::<Map<String, Value>>()
            .into(),
        other => other.clone(),
    }
}

fn whole(number: &Number) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|_| number.is_f64())?;
    (float.fract() == 0.0 && float.abs() <= EXACT).then(|| Number::from(float as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn each_status_leads_where_it_may() {
        let mut ways = Vec::new();
        for from in STATUSES {
            assert!(!leads_to(from).contains(&from));
            ways.extend(leads_to(from).iter().map(|to| (from, *to)));
        }
        assert_eq!(ways.len(), 9);
        assert!(!ways.contains(&(RESOLVED, BLOCKED)) && !ways.contains(&(CLOSED, RESOLVED)));
        assert!(leads_to("unknown").is_empty());
    }

    #[test]
    fn closing_what_is_disputed_and_reopening_are_overrides() {
        assert!(overrides(ACTIVE, CLOSED, true) && !overrides(ACTIVE, CLOSED, false));
        assert!(overrides(BLOCKED, CLOSED, false));
        assert!(overrides(CLOSED, ACTIVE, false));
        assert!(!overrides(BLOCKED, ACTIVE, true) && !overrides(ACTIVE, RESOLVED, true));
    }

    #[test]
    fn an_escalation_is_answered_by_those_who_direct_or_taken_back() {
        let asked = Asked {
            n: 3,
            ask: Ask::Escalation,
            sender: "ada".into(),
            finding: None,
            reviewer: None,
        };
        let reply = |event, sender, directs, to| Reply {
            event,
            sender,
            directs,
            to,
            finding: None,
        };
        assert!(asked.answered_by(&reply("", "olga", true, Some(3))));
        assert!(asked.answered_by(&reply(THREAD_RESOLVED, "olga", true, None)));
        assert!(asked.answered_by(&reply(THREAD_RESOLVED, "ada", false, None)));
        assert!(!asked.answered_by(&reply(THREAD_RESOLVED, "bob", false, None)));
        assert!(!asked.answered_by(&reply("", "bob", false, Some(3))));
        assert!(!asked.answered_by(&reply("", "olga", true, Some(2))));
    }

    #[test]
    fn a_review_asked_for_again_is_answered_by_its_reviewer() {
        let mut asked = Asked {
            n: 3,
            ask: Ask::ReReview,
            sender: "ada".into(),
            finding: Some(1),
            reviewer: Some("bob".into()),
        };
        let reply = |event, sender, finding| Reply {
            event,
            sender,
            directs: false,
            to: None,
            finding,
        };
        assert!(asked.answered_by(&reply("finding_verified", "bob", Some(1))));
        assert!(asked.answered_by(&reply("finding_rejected", "bob", Some(1))));
        assert!(!asked.answered_by(&reply("finding_verified", "bob", Some(2))));
        assert!(!asked.answered_by(&reply("finding_verified", "cyd", Some(1))));
        assert!(!asked.answered_by(&reply("fix_pushed", "bob", Some(1))));
        (asked.finding, asked.reviewer) = (None, None);
        assert!(asked.answered_by(&reply("finding_verified", "cyd", Some(2))));
        assert!(!asked.answered_by(&reply("finding_verified", "ada", Some(2))));
    }

    #[test]
    fn commits_come_from_metadata_before_the_body() {
        let named = map(json!({"commit": "abc1234", "commits": ["def5678", "abc1234", 5, "a b"]}));
        assert_eq!(commits(&named, "see 1234abcd"), ["abc1234", "def5678"]);
        let none = Map::new();
        assert_eq!(
            commits(&none, "fixed by 1234abcd, not by 1234567 or deadbeef."),
            ["1234abcd"]
        );
        assert!(commits(&map(json!({"commit": "<b>"})), "").is_empty());
        let many: Vec<String> = (0..100).map(|n| format!("c{n}")).collect();
        assert_eq!(
            commits(&map(json!({"commits": many})), "").len(),
            MOST_COMMITS
        );
    }

    #[test]
    fn a_finding_is_named_by_text_or_number() {
        let name = |value: Value| finding_name(&map(json!({ "finding_id": value })));
        assert_eq!(name(json!("F-1")).as_deref(), Some("F-1"));
        assert_eq!(name(json!(7)), name(json!(7.0)));
        assert_eq!(name(json!(7)).as_deref(), Some("7"));
        let longest = "x".repeat(limits::NAME_CHARS);
        assert_eq!(name(json!(longest)), Some(longest.clone()));
        for none in [
            json!(""),
            json!(" "),
            json!("a\0"),
            json!(null),
            json!([1]),
            json!(longest + "x"),
        ] {
            assert_eq!(name(none.clone()), None, "{none}");
        }
        assert_eq!(finding_name(&Map::new()), None);
    }

    #[test]
    fn payloads_agree_as_values() {
        let one = payload("chat", "x", &map(json!({"a": 1, "b": {"c": 2.0}})), None, 1);
        let two = payload("chat", "x", &map(json!({"b": {"c": 2}, "a": 1.0})), None, 1);
        assert_eq!(one, two);
        let three = payload("chat", "x", &map(json!({"b": {"c": 2.5}, "a": 1})), None, 1);
        assert_ne!(one, three);
        assert_ne!(
            payload("chat", "x", &Map::new(), None, 1),
            payload("chat", "x", &Map::new(), Some("msg_1"), 1)
        );
    }
}
