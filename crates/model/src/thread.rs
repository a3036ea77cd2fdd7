//! The rules of threads: which status leads to which, what an event means for a finding, and when
//! two messages say the same.
//!
//! Pure: who may do it and what is stored is decided elsewhere.

mod wake;
mod words;

use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::limits;

pub use self::wake::{Tried, WakeData};
pub use self::words::{
    Activity, Ask, Channel, DeferReason, Event, FindingState, MessageKind, Mode, Purpose, ReachBy,
    SessionStatus, Status, WakeAction, WakeFailure, WakeResult,
};

impl Status {
    /// The statuses that it leads to.
    pub fn leads_to(self) -> &'static [Status] {
        match self {
            Status::Active => &[Status::Blocked, Status::Resolved, Status::Closed],
            Status::Blocked => &[Status::Active, Status::Resolved, Status::Closed],
            Status::Resolved => &[Status::Active, Status::Closed],
            Status::Closed => &[Status::Active],
        }
    }

    /// Whether a change from it settles or undoes what others may still dispute.
    pub fn overrides(self, to: Status, disputed: bool) -> bool {
        match to {
            Status::Closed => disputed || self == Status::Blocked,
            Status::Active | Status::Blocked | Status::Resolved => self == Status::Closed,
        }
    }
}

impl Event {
    /// What a finding is after an event about it; `None` where the event changes nothing.
    pub fn finding(self) -> Option<FindingState> {
        match self {
            Event::FindingReported => Some(FindingState::Reported),
            Event::FixPushed => Some(FindingState::Fixed),
            Event::FindingVerified => Some(FindingState::Verified),
            Event::FindingRejected => Some(FindingState::Rejected),
            Event::FindingWithdrawn => Some(FindingState::Withdrawn),
            Event::ReReviewRequested | Event::ThreadEscalated | Event::ThreadResolved => None,
        }
    }

    /// Whether it says that a finding is settled: verified or withdrawn. That counts from the agent
    /// who reported it and from those who direct; of others it is their word.
    pub fn claims_settled(self) -> bool {
        self.finding().is_some_and(|state| !state.is_open())
    }

    /// What it asks of somebody.
    pub fn asks(self) -> Option<Ask> {
        match self {
            Event::ThreadEscalated => Some(Ask::Escalation),
            Event::ReReviewRequested => Some(Ask::ReReview),
            Event::FindingReported
            | Event::FixPushed
            | Event::FindingVerified
            | Event::FindingRejected
            | Event::FindingWithdrawn
            | Event::ThreadResolved => None,
        }
    }
}

impl FindingState {
    /// Whether a finding in this state still makes a thread disputed.
    pub fn is_open(self) -> bool {
        match self {
            FindingState::Reported | FindingState::Fixed | FindingState::Rejected => true,
            FindingState::Verified | FindingState::Withdrawn => false,
        }
    }
}

/// A message that may answer what another one asked.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'r> {
    /// `None` for a chat message, and for an event that the server does not act on.
    pub event: Option<Event>,
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
                Some(Event::ThreadResolved) => reply.directs || own,
                Some(
                    Event::FindingReported
                    | Event::FixPushed
                    | Event::ReReviewRequested
                    | Event::FindingVerified
                    | Event::FindingRejected
                    | Event::FindingWithdrawn
                    | Event::ThreadEscalated,
                )
                | None => reply.directs && !own && reply.to == Some(self.n),
            },
            Ask::ReReview => !own && self.reviewed_by(reply),
        }
    }

    /// Whether a message of somebody else is the review that was asked for.
    fn reviewed_by(&self, reply: &Reply<'_>) -> bool {
        match reply.event {
            Some(Event::ThreadResolved) => true,
            Some(
                Event::FindingReported
                | Event::FindingVerified
                | Event::FindingRejected
                | Event::FindingWithdrawn,
            ) => {
                let reviewer = self.reviewer.as_deref();
                self.finding.is_none()
                    || (self.finding == reply.finding
                        && (reply.directs || reviewer == Some(reply.sender)))
            }
            Some(Event::FixPushed | Event::ReReviewRequested | Event::ThreadEscalated) | None => {
                false
            }
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
        if commits.len() < limits::MESSAGE_COMMITS && !commits.iter().any(|there| there == name) {
            commits.push(name.to_string());
        }
    }
    commits
}

/// A name for a commit holds no more than a name needs, because it is quoted in a summary.
fn is_commit(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    (1..=limits::COMMIT_CHARS).contains(&name.len()) && name.bytes().all(fits)
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
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Payload<'m> {
    kind: MessageKind,
    body: &'m str,
    metadata: Map<String, Value>,
    in_reply_to: Option<&'m str>,
    schema_version: i64,
}

pub fn payload<'m>(
    kind: MessageKind,
    body: &'m str,
    metadata: &Map<String, Value>,
    in_reply_to: Option<&'m str>,
    schema_version: i64,
) -> Payload<'m> {
    let metadata = metadata.iter();
    Payload {
        kind,
        body,
        metadata: metadata
            .map(|(key, value)| (key.clone(), evened(value)))
            .collect(),
        in_reply_to,
        schema_version,
    }
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
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn each_status_leads_where_it_may() {
        let mut ways = Vec::new();
        for from in Status::ALL.iter().copied() {
            assert!(!from.leads_to().contains(&from));
            ways.extend(from.leads_to().iter().map(|to| (from, *to)));
        }
        assert_eq!(ways.len(), 9);
        assert!(!ways.contains(&(Status::Resolved, Status::Blocked)));
        assert!(!ways.contains(&(Status::Closed, Status::Resolved)));
    }

    #[test]
    fn closing_what_is_disputed_and_reopening_are_overrides() {
        let (active, blocked) = (Status::Active, Status::Blocked);
        assert!(active.overrides(Status::Closed, true) && !active.overrides(Status::Closed, false));
        assert!(blocked.overrides(Status::Closed, false));
        assert!(Status::Closed.overrides(active, false));
        assert!(!blocked.overrides(active, true) && !active.overrides(Status::Resolved, true));
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
        assert!(asked.answered_by(&reply(None, "olga", true, Some(3))));
        assert!(asked.answered_by(&reply(Some(Event::ThreadResolved), "olga", true, None)));
        assert!(asked.answered_by(&reply(Some(Event::ThreadResolved), "ada", false, None)));
        assert!(!asked.answered_by(&reply(Some(Event::ThreadResolved), "bob", false, None)));
        assert!(!asked.answered_by(&reply(None, "bob", false, Some(3))));
        assert!(!asked.answered_by(&reply(None, "olga", true, Some(2))));
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
        assert!(asked.answered_by(&reply(Some(Event::FindingVerified), "bob", Some(1))));
        assert!(asked.answered_by(&reply(Some(Event::FindingRejected), "bob", Some(1))));
        assert!(!asked.answered_by(&reply(Some(Event::FindingVerified), "bob", Some(2))));
        assert!(!asked.answered_by(&reply(Some(Event::FindingVerified), "cyd", Some(1))));
        assert!(!asked.answered_by(&reply(Some(Event::FixPushed), "bob", Some(1))));
        (asked.finding, asked.reviewer) = (None, None);
        assert!(asked.answered_by(&reply(Some(Event::FindingVerified), "cyd", Some(2))));
        assert!(!asked.answered_by(&reply(Some(Event::FindingVerified), "ada", Some(2))));
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
            limits::MESSAGE_COMMITS
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
        let one = payload(
            MessageKind::Chat,
            "x",
            &map(json!({"a": 1, "b": {"c": 2.0}})),
            None,
            1,
        );
        let two = payload(
            MessageKind::Chat,
            "x",
            &map(json!({"b": {"c": 2}, "a": 1.0})),
            None,
            1,
        );
        assert_eq!(one, two);
        let three = payload(
            MessageKind::Chat,
            "x",
            &map(json!({"b": {"c": 2.5}, "a": 1})),
            None,
            1,
        );
        assert_ne!(one, three);
        assert_ne!(
            payload(MessageKind::Chat, "x", &Map::new(), None, 1),
            payload(MessageKind::Chat, "x", &Map::new(), Some("msg_1"), 1)
        );
    }
}
