//! `summarize_thread`: what a thread is about, what was found, fixed and settled, what is open, and
//! what was said first and last.
//!
//! Computed from what the projection counted, so that it costs about the same at ten messages and
//! at ten thousand. What people wrote stands in fields of its own, with who wrote it, never in the
//! summary.

mod shape;

use serde_json::Value;
use understory_model::answer::{self, Answer};
use understory_model::budget::Budget;
use understory_model::error::Result;
use understory_model::id::message_name;
use understory_model::item::Item;
use understory_model::limits;
use understory_model::text::quoted_list;
use understory_model::thread::{Ask, Asked, Event, FindingState};
use understory_model::topics::topics;
use understory_storage::messages::{self, Finding};
use understory_storage::{asks, turns};

use super::{Found, Turned, find};
use crate::View;
use crate::kernel::content::message::{Said, said};
use crate::kernel::content::text;

pub use self::shape::{Counts, Line, Open, OpenItem, Place, Sender, Span, Summary};

/// Open items, messages, participants and commits that a summary names at most.
const OPEN: i64 = 50;
const LAST: i64 = 10;
const FIRST: i64 = 2;
const SENDERS: usize = 20;
const COMMITS: usize = 20;
const CHANGES: i64 = 3;
const TOPICS: usize = 8;
/// Messages that are searched for commits, and for topics.
const FIXES: i64 = 200;
const TALK: i64 = 100;
/// Of a message, what is searched for topics.
const BEGINNING: usize = 2_000;
/// Of what somebody wrote, what a summary shows: where there is room, and where there is not.
const LONG_LINE: usize = 1_000;
const LINE: usize = 240;
/// A summary is short: up to here it shows longer lines.
const ROOMY: usize = 8_000;

pub fn summarize(
    view: &mut View<'_, '_>,
    handle: &str,
    max_messages: Option<i64>,
    budget: &Budget,
) -> Result<Answer<Summary>> {
    let found = find(view, handle)?;
    let told = Told::of(view, found, max_messages)?;
    let roomy = Budget {
        chars: budget.chars.min(ROOMY),
        ..*budget
    };
    let long = told.answer(LONG_LINE);
    if roomy.holds_serialized(&long) {
        return Ok(long.into());
    }
    answer::fit(told.answer(LINE), budget)
}

/// All that a summary is made of.
struct Told {
    found: Found,
    counts: Counts,
    commits: Vec<(Option<i64>, String)>,
    findings: Vec<(Finding, Item)>,
    asked: Vec<(Asked, Item)>,
    /// What is asked of an operator and not answered, and of a reviewer.
    open_asks: (i64, i64),
    /// Who says that it is resolved.
    resolved_by: Vec<String>,
    senders: Vec<(String, i64, i64)>,
    /// How many have said something.
    agents: i64,
    first: Vec<Item>,
    last: Vec<Item>,
    topics: Vec<String>,
    changes: Vec<Turned>,
    span: Option<Span>,
}

impl Told {
    fn of(view: &mut View<'_, '_>, found: Found, max_messages: Option<i64>) -> Result<Told> {
        let (tx, ws, id) = (&mut *view.tx, view.ws, found.row.id);
        let states = messages::states(tx, ws, id)?;
        let of_state = |state: FindingState| {
            let found = states.iter().find(|(known, _)| *known == state);
            found.map_or(0, |(_, count)| *count)
        };
        let counts = Counts {
            reported: found.row.findings,
            fixed: of_state(FindingState::Fixed),
            verified: of_state(FindingState::Verified),
            rejected: of_state(FindingState::Rejected),
            withdrawn: of_state(FindingState::Withdrawn),
            unanswered: of_state(FindingState::Reported),
            open: found.row.open_findings,
        };
        let wanted = max_messages
            .unwrap_or(LAST)
            .clamp(0, limits::SUMMARY_MESSAGES);
        let items = |rows: Vec<(messages::Message, Item)>| -> Vec<Item> {
            rows.into_iter().map(|(_, item)| item).collect()
        };
        let mut first = items(messages::after(tx, ws, id, 0, FIRST)?);
        let begun = first.first().map(|item| item.realized_at);
        // What stands among the last need not be told twice.
        first.truncate(usize::try_from((found.row.last - wanted).clamp(0, FIRST)).unwrap_or(0));
        let plain_talk = found.row.findings == 0;
        let talk = if plain_talk {
            items(messages::last(tx, ws, id, TALK.max(wanted))?)
        } else {
            items(messages::last(tx, ws, id, wanted.max(1))?)
        };
        let bodies = talk.iter().filter_map(said);
        let bodies: Vec<String> = bodies.map(|said| cut(&said.body, BEGINNING)).collect();
        let open = asks::open(tx, ws, id)?;
        let of = |ask: Ask| open.iter().filter(|one| one.ask == ask).count() as i64;
        let open_asks = (of(Ask::Escalation), of(Ask::ReReview));
        let ended = talk.first().map(|item| item.realized_at);
        let last = usize::try_from(wanted).unwrap_or(0);
        let events = messages::events(tx, ws, id)?;
        let resolved = events.into_iter();
        let resolved = resolved.filter(|(event, ..)| *event == Event::ThreadResolved);
        let mut senders = messages::senders(tx, ws, id)?;
        let agents = senders.len() as i64;
        senders.truncate(SENDERS);
        Ok(Told {
            counts,
            commits: fixes(messages::commits(tx, ws, id, FIXES)?),
            findings: messages::open_findings(tx, ws, id, OPEN)?,
            asked: asks::open_items(tx, ws, id, OPEN)?,
            resolved_by: resolved.map(|(_, sender, _)| sender).collect(),
            senders,
            agents,
            open_asks,
            first: if plain_talk { first } else { Vec::new() },
            last: talk.into_iter().take(last).collect(),
            topics: if plain_talk {
                topics(bodies.iter().map(String::as_str), TOPICS)
            } else {
                Vec::new()
            },
            changes: turns::between(tx, ws, id, 0, i64::MAX, CHANGES)?
                .iter()
                .map(|(turn, item)| Turned::of(turn, item))
                .collect(),
            span: begun
                .zip(ended)
                .map(|(first_at, last_at)| Span { first_at, last_at }),
            found,
        })
    }

    fn answer(&self, chars: usize) -> Summary {
        let row = &self.found.row;
        let commits = self.named_commits();
        let lines = |items: &[Item]| items.iter().map(|item| line(item, chars)).collect();
        let open_items = self.open_items(chars);
        let total = row.open_findings + row.open_asks;
        Summary {
            thread_id: self.found.handle().to_string(),
            title: cut(text(&self.found.thing.data, "title"), LINE),
            summary: self.sentence(&commits),
            findings: self.counts,
            commits: commits.into_iter().map(str::to_string).collect(),
            open_items_total: (total > open_items.len() as i64).then_some(total),
            open_items,
            last_messages: lines(&self.last),
            first_messages: lines(&self.first),
            participants: self.participants(),
            last_status: row.status,
            messages: row.last,
            span: self.span,
            topics: self.topics.clone(),
            changes: self.changes.clone(),
            resolved_by: self.resolved_by.clone(),
            total,
        }
    }

    /// Who took part, and how much each said; who said nothing is named too.
    fn participants(&self) -> Vec<Sender> {
        let told = |agent: &str, messages: i64| Sender {
            agent_id: agent.to_string(),
            messages,
        };
        let senders = self.senders.iter();
        let mut all: Vec<Sender> = senders.map(|(name, count, _)| told(name, *count)).collect();
        let creator = [self.found.thing.entity.created_by.as_str()];
        for name in creator.into_iter().chain(self.found.participants()) {
            if all.len() < SENDERS && !all.iter().any(|one| one.agent_id == name) {
                all.push(told(name, 0));
            }
        }
        all
    }

    fn named_commits(&self) -> Vec<&str> {
        let mut commits: Vec<&str> = Vec::new();
        for (_, commit) in &self.commits {
            if commits.len() < COMMITS && !commits.contains(&commit.as_str()) {
                commits.push(commit);
            }
        }
        commits
    }

    /// Escalations first, because somebody waits for a decision.
    fn open_items(&self, chars: usize) -> Vec<OpenItem> {
        let asked = |ask: Ask| {
            let those = self.asked.iter().filter(move |(asked, _)| asked.ask == ask);
            those.map(move |(asked, item)| asked_item(asked, item, chars))
        };
        let findings = self.findings.iter();
        let findings = findings.map(|(one, item)| open_finding(one, item, &self.commits, chars));
        asked(Ask::Escalation)
            .chain(findings)
            .chain(asked(Ask::ReReview))
            .collect()
    }

    /// The counts in a few sentences.
    fn sentence(&self, commits: &[&str]) -> String {
        let (row, counts) = (&self.found.row, &self.counts);
        let mut told = match row.findings {
            0 => format!(
                "{} from {}; no findings reported.",
                plural(row.last, "message"),
                plural(self.agents, "agent")
            ),
            _ => self.of_findings(commits),
        };
        let (escalations, reviews) = self.open_asks;
        for (count, word, after) in [
            (escalations, "escalation", "for an operator"),
            (reviews, "request", "to review again"),
        ] {
            if count > 0 {
                told.push_str(&format!(" {} {after} open.", plural(count, word)));
            }
        }
        if !self.resolved_by.is_empty() {
            let who = plural(self.resolved_by.len() as i64, "agent");
            told.push_str(&format!(" Called resolved by {who}."));
        }
        if counts.reported > 0 {
            told.push_str(&format!(" {}.", plural(row.last, "message")));
        }
        format!("{told} Status: {}.", row.status)
    }

    fn of_findings(&self, commits: &[&str]) -> String {
        let counts = &self.counts;
        let parts = [
            (counts.verified, "verified"),
            (counts.withdrawn, "withdrawn"),
            (counts.fixed, "fixed and not verified"),
            (counts.rejected, "rejected"),
            (counts.unanswered, "unanswered"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let open = match counts.open {
            0 => "none is open".to_string(),
            1 => "1 is open".to_string(),
            many => format!("{many} are open"),
        };
        let reported = plural(counts.reported, "finding");
        let mut told = format!("{reported} reported: {}; {open}.", parts.join(", "));
        if !commits.is_empty() {
            told.push_str(&format!(" Fixes: {}.", quoted_list(commits, ", ")));
        }
        told
    }
}

/// Commits newest first, each with the finding it is about.
fn fixes(rows: Vec<(Option<i64>, String)>) -> Vec<(Option<i64>, String)> {
    let named = |(finding, commits): (Option<i64>, String)| {
        let commits: Vec<String> = serde_json::from_str(&commits).unwrap_or_default();
        commits.into_iter().map(move |commit| (finding, commit))
    };
    rows.into_iter().flat_map(named).collect()
}

fn open_finding(
    finding: &Finding,
    item: &Item,
    fixes: &[(Option<i64>, String)],
    chars: usize,
) -> OpenItem {
    let about = fixes.iter().filter(|(of, _)| *of == Some(finding.n));
    OpenItem {
        line: line(item, chars),
        item: Open::Finding,
        awaits: None,
        state: Some(finding.state),
        commits: about.map(|(_, commit)| commit.clone()).collect(),
        place: said(item).as_ref().map(place).unwrap_or_default(),
    }
}

fn place(said: &Said) -> Place {
    let field = |name: &str| said.metadata.get(name).and_then(short);
    Place {
        finding_id: field("finding_id"),
        severity: field("severity"),
        file: field("file"),
        line: field("line"),
        task_id: field("task_id"),
    }
}

/// What somebody asked, and of whom.
fn asked_item(asked: &Asked, item: &Item, chars: usize) -> OpenItem {
    let (kind, awaits) = match asked.ask {
        Ask::Escalation => (Open::Escalation, Some("operator".to_string())),
        Ask::ReReview => (Open::ReReview, asked.reviewer.clone()),
    };
    OpenItem {
        line: line(item, chars),
        item: kind,
        awaits,
        state: None,
        commits: Vec::new(),
        place: Place::default(),
    }
}

/// A message in a line, with who wrote it.
fn line(item: &Item, chars: usize) -> Line {
    let said = said(item);
    let said = said.as_ref();
    let event = said.and_then(Said::event_type);
    Line {
        message_id: message_name(item.seq),
        sender_agent_id: item.actor.clone(),
        created_at: item.realized_at,
        seq: said.map(|said| said.n),
        kind: said.map(|said| said.kind),
        event_type: event.map(str::to_string),
        body: said.map(|said| cut(&said.body, chars)),
    }
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// A plain value, no longer than a line; one that is not plain would crowd out the others.
fn short(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => Some(cut(text, LINE).into()),
        Value::Number(_) | Value::Bool(_) => Some(value.clone()),
        _ => None,
    }
}

fn plural(count: i64, word: &str) -> String {
    match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    }
}
