//! The tasks as a list: by readiness or as they changed, of one state, or with some words in their title.

use maud::{Markup, html};
use serde_json::json;
use understory_engine::View;
use understory_engine::graph::board::{Plan, State, Task};
use understory_engine::graph::query::Page;
use understory_model::text::fold;
use understory_model::{Fault, limits};

use super::standing::{Asking, Standing, after, chips, marked};
use crate::text::{age, segment, stored};
use crate::visit::Visit;

/// Rows of the first answer, and by how many it grows.
const ROWS: i64 = 100;

/// The states that the list can be of, with their names in the address.
const STATES: [(&str, State, &str); 4] = [
    ("ready", State::Ready, "Ready"),
    ("in_hand", State::InHand, "In hand"),
    ("waits", State::Waits, "Waits for others"),
    ("done", State::Done, "Done"),
];

/// What the address asks for.
pub struct Wanted<'a> {
    state: Option<State>,
    text: Option<&'a str>,
    recent: bool,
    rows: i64,
}

impl<'a> Wanted<'a> {
    pub fn of(visit: &'a Visit<'_>) -> Wanted<'a> {
        let named = visit.query.get("state");
        let state = STATES.iter().find(|(name, ..)| Some(*name) == named);
        let rows = visit.query.get("rows").and_then(|rows| rows.parse().ok());
        Wanted {
            state: state.map(|(_, state, _)| *state),
            text: visit.query.get("text"),
            recent: visit.query.get("sort") == Some("recent"),
            rows: rows.unwrap_or(ROWS).clamp(ROWS, limits::LISTED_TASKS),
        }
    }

    /// The tasks that are shown, and whether there are more.
    pub fn read(
        &self,
        plan: &Plan,
        found: &[String],
        view: &mut View<'_, '_>,
    ) -> Result<(Vec<Task>, bool), Fault> {
        let most = (self.rows + 1).min(limits::LISTED_TASKS);
        let mut tasks = match (self.text, self.state) {
            (Some(text), Some(State::InHand)) => {
                let text = fold(text);
                let mut held = plan.lane(view, State::InHand, limits::LISTED_TASKS)?;
                held.retain(|task| fold(&task.summary).contains(&text));
                held
            }
            (Some(_), _) => {
                let handles: Vec<&str> = found.iter().map(String::as_str).collect();
                plan.named(view, &handles)?
            }
            (None, Some(state)) => plan.lane(view, state, most)?,
            (None, None) if self.recent => plan.recent(view, most)?,
            (None, None) => {
                let mut all = Vec::new();
                for (_, state, _) in STATES {
                    let left = most - all.len() as i64;
                    if left > 0 {
                        all.extend(plan.lane(view, state, left)?);
                    }
                }
                all
            }
        };
        let more = tasks.len() as i64 > self.rows;
        tasks.truncate(usize::try_from(self.rows).unwrap_or(0));
        Ok((tasks, more))
    }

    /// The handles of the tasks whose title has the words, by the tool that finds them.
    pub fn found(&self, visit: &Visit<'_>) -> Result<Vec<String>, Fault> {
        let Some(text) = self.text.filter(|_| self.state != Some(State::InHand)) else {
            return Ok(Vec::new());
        };
        let mut filter = json!({"text": text});
        match self.state {
            Some(State::Ready) => {
                filter["is_actionable"] = true.into();
                filter["claimed_by"] = json!(null);
            }
            Some(State::Waits) => {
                filter["is_actionable"] = false.into();
                filter["resolved"] = false.into();
            }
            Some(State::Done) => filter["resolved"] = true.into(),
            _ => {}
        }
        let sort = if self.recent { "recent" } else { "readiness" };
        let mut handles = Vec::new();
        let mut cursor = None;
        // The tool answers a page at a time.
        while (handles.len() as i64) <= self.rows {
            let mut asked = json!({"filter": filter, "sort": sort, "limit": ROWS});
            if let Some(cursor) = cursor {
                asked["cursor"] = cursor;
            }
            let page: Page = visit.ask("graph_query", asked)?;
            // The root of a project is its goal, and no task.
            let tasks = page.nodes.into_iter().filter(|node| node.depth > 0);
            handles.extend(tasks.map(|node| node.id));
            match page.next_cursor {
                Some(next) => cursor = Some(next.into()),
                None => break,
            }
        }
        Ok(handles)
    }

    pub fn list(
        &self,
        visit: &Visit<'_>,
        (tasks, more): (&[Task], bool),
        asking: &Asking,
    ) -> Markup {
        html! {
            (self.filter(visit))
            @if tasks.is_empty() {
                p.empty { b { "No task matches." } " " a href=(visit.with("work", &[("text", None), ("state", None), ("rows", None)])) data-soft { "Take the filter off" } }
            }
            ul.rows { @for task in tasks { (row(visit, task, asking)) } }
            @if more && self.rows < limits::LISTED_TASKS {
                a.more href=(visit.with("work", &[("rows", Some(&(self.rows + ROWS).to_string()))])) data-soft { "Show 100 more" }
            } @else if more {
                p.empty { "There are more; words narrow them." }
            }
        }
    }

    fn filter(&self, visit: &Visit<'_>) -> Markup {
        let sorted = |name: Option<&str>, label: &str, current: bool| {
            html! {
                a href=(visit.with("work", &[("sort", name), ("rows", None)])) data-soft aria-current=[current.then_some("true")] { (label) }
            }
        };
        html! {
            form.filter.bar method="get" action=(visit.link("work")) role="search" data-soft {
                input type="hidden" name="view" value="list";
                @if let Some(project) = visit.project() { input type="hidden" name="project" value=(project); }
                @if self.recent { input type="hidden" name="sort" value="recent"; }
                input type="search" name="text" value=[self.text] placeholder="Words in the title" aria-label="Words in the title" autocomplete="off";
                select name="state" aria-label="State" {
                    option value="" { "Every state" }
                    @for (name, state, label) in STATES {
                        option value=(name) selected[self.state == Some(state)] { (label) }
                    }
                }
                button { "Filter" }
                span.views { (sorted(None, "By readiness", !self.recent)) (sorted(Some("recent"), "Last changed", self.recent)) }
            }
        }
    }
}

fn row(visit: &Visit<'_>, task: &Task, asking: &Asking) -> Markup {
    let standing = Standing::of(task, asking);
    let chosen = visit.query.get("peek") == Some(task.id.as_str());
    html! {
        li.row.is-chosen[chosen] id={ "task-" (task.id) } data-task=(task.id) {
            (marked(task, asking))
            a.title.cut href=(visit.link(&format!("work/{}", segment(&task.id)))) data-main { (stored(&task.summary)) }
            span.meta.cut.about {
                @if let Some(hand) = &standing.held { (hand.told(visit)) }
                @else if task.state == State::Waits { (after(task)) }
                @else if let Some(by) = &task.done_by { (stored(by)) }
            }
            span.meta.nowrap { (chips(task)) }
            a.handle href=(visit.with("work", &[("peek", Some(&task.id))])) data-soft data-peek aria-label={ "Peek at " (task.id) } { (task.id) }
            (age(visit, task.updated_at))
        }
    }
}
