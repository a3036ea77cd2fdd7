//! What was found in a stretch of a thread, and each step that was taken since: who reported it, who fixed
//! it, who verified it. And the jobs of waking that go with it.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Time;
use understory_model::error::Result;
use understory_model::id::message_name;
use understory_model::item::Item;
use understory_model::thread::{Event, FindingState};
use understory_storage::messages::{self, Finding, Message};
use understory_storage::{items, threads};

use super::find;
use super::wakes::Waking;
use crate::View;
use crate::kernel::content::message::{Said, said};

/// Findings of one answer, and of those beside it.
const FINDINGS: i64 = 100;
const BESIDE: i64 = 20;
/// Messages after the first finding that are searched for its steps.
const LATER: i64 = 1_000;
const STEPS: i64 = 500;
/// Jobs of waking, the last ones.
const WAKES: i64 = 50;
/// Signs of code that a finding may carry.
const CODE: usize = 4_000;

/// What stands beside the messages of a thread.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Beside {
    /// The findings that the messages report, in order.
    pub findings: Vec<Traced>,
    /// Open findings of the whole thread, then those that were reported last.
    pub all: Vec<Traced>,
    /// The last jobs of waking, newest first.
    pub wakes: Vec<Waking>,
}

/// A finding, and what became of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Traced {
    /// The number of the message that reported it.
    pub seq: i64,
    pub message_id: String,
    pub body: String,
    pub state: FindingState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// The lines that its reporter sent along, and the number of the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_line: Option<i64>,
    /// The first is that it was reported; of each state, the last.
    pub steps: Vec<Step>,
}

/// What somebody did about a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    pub state: FindingState,
    pub by: String,
    pub at: Time,
    /// The number of the message that says so, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
}

/// The findings and the jobs of waking of the messages after one number, up to another.
pub fn beside(view: &mut View<'_, '_>, handle: &str, (after, upto): (i64, i64)) -> Result<Beside> {
    let found = find(view, handle)?;
    let (ws, thread) = (view.ws, found.row.id);
    let stretch = messages::findings_between(view.tx, ws, thread, (after, upto), FINDINGS)?;
    let steps = match stretch.first() {
        Some((first, _)) => {
            let until = upto.max(first.n.saturating_add(LATER));
            messages::about_findings(view.tx, ws, thread, (first.n - 1, until), STEPS)?
        }
        None => Vec::new(),
    };
    let mut all = messages::open_findings(view.tx, ws, thread, BESIDE)?;
    for one in messages::last_findings(view.tx, ws, thread, BESIDE)? {
        if !all.iter().any(|(known, _)| known.n == one.0.n) {
            all.push(one);
        }
    }
    all.truncate(BESIDE as usize);
    let wakes = threads::wakes(view.tx, ws, thread, WAKES)?;
    let wakes = wakes.into_iter().map(Waking::of);
    let wakes = wakes.collect::<Result<Vec<_>>>()?;
    Ok(Beside {
        findings: traced(view, stretch, &steps)?,
        all: traced(view, all, &steps)?,
        wakes: wakes.into_iter().flatten().collect(),
    })
}

fn traced(
    view: &mut View<'_, '_>,
    findings: Vec<(Finding, Item)>,
    about: &[(Message, Item)],
) -> Result<Vec<Traced>> {
    let changed: Vec<_> = findings.iter().map(|(one, _)| one.changed).collect();
    let changed = items::some(view.tx, view.ws, &changed)?;
    let changed: HashMap<_, _> = changed.into_iter().map(|item| (item.seq, item)).collect();
    let told = findings.into_iter().filter_map(|(finding, item)| {
        let own = about
            .iter()
            .filter(|(one, _)| one.finding == Some(finding.n));
        let mut steps = vec![Step {
            state: FindingState::Reported,
            by: item.actor.clone(),
            at: item.realized_at,
            seq: Some(finding.n),
            commits: Vec::new(),
        }];
        for (message, item) in own.filter(|(one, _)| one.n > finding.n) {
            put(&mut steps, step(message.event, Some(message.n), item));
        }
        // The last change is known however long ago its finding was reported.
        let last = changed
            .get(&finding.changed)
            .filter(|last| last.seq != item.seq);
        if let Some(last) = last {
            let number = said(last).map(|said| said.n);
            let mut last = step(None, number, last);
            last.state = finding.state;
            put(&mut steps, last);
        }
        Some(one(&finding, &said(&item)?, &item, steps))
    });
    Ok(told.collect())
}

fn step(event: Option<Event>, seq: Option<i64>, item: &Item) -> Step {
    let said = said(item);
    let commits = said.map(|said| understory_model::thread::commits(&said.metadata, ""));
    Step {
        state: event
            .and_then(Event::finding)
            .unwrap_or(FindingState::Reported),
        by: item.actor.clone(),
        at: item.realized_at,
        seq,
        commits: commits.unwrap_or_default(),
    }
}

/// Of each state the last step; what is said again of a report changes nothing.
fn put(steps: &mut Vec<Step>, step: Step) {
    if step.state == FindingState::Reported {
        return;
    }
    steps.retain(|known| known.state != step.state);
    steps.push(step);
}

fn one(finding: &Finding, said: &Said, item: &Item, steps: Vec<Step>) -> Traced {
    let text = |field: &str| {
        let value = said.metadata.get(field)?.as_str()?;
        let value: String = value.chars().take(CODE).collect();
        Some(value).filter(|text| !text.trim().is_empty())
    };
    let number = |field: &str| said.metadata.get(field)?.as_i64().filter(|n| *n > 0);
    Traced {
        seq: finding.n,
        message_id: message_name(item.seq),
        body: said.body.clone(),
        state: finding.state,
        severity: text("severity"),
        file: text("file"),
        line: number("line"),
        code: text("code"),
        code_line: number("code_line"),
        steps,
    }
}
