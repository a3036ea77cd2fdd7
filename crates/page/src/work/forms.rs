//! What a person can do with a task: each a form, the frequent ones as buttons, the others behind `⋯`.

use maud::{Markup, html};
use understory_engine::kernel::content::brief::Brief;
use understory_engine::kernel::content::node::PRIORITY;

use super::facts::Facts;
use crate::shell::hidden;
use crate::text::{plain, stored};
use crate::visit::Visit;

/// Dependencies that can be taken away here; the others on the page of the task that they lead to.
const REMOVABLE: usize = 20;

/// A form of an act on one task.
struct Ask<'a> {
    visit: &'a Visit<'a>,
    node: &'a str,
    rev: i64,
    back: String,
}

impl Ask<'_> {
    fn form(&self, act: &str, inner: &Markup) -> Markup {
        html! {
            form.act method="post" action=(self.visit.link(&format!("do/{act}"))) data-draft={ (act) "-" (self.node) } {
                (hidden(self.visit, &self.back))
                input type="hidden" name="node" value=(self.node);
                (inner)
            }
        }
    }

    /// As [`Ask::form`], refused if somebody changed the task meanwhile.
    fn form_of_rev(&self, act: &str, inner: &Markup) -> Markup {
        self.form(
            act,
            &html! { input type="hidden" name="rev" value=(self.rev); (inner) },
        )
    }

    /// A button that opens a form below the row of buttons.
    fn opens(&self, name: &str, key: Option<&str>, label: &str, inner: &Markup) -> Markup {
        let open = self.visit.query.get("act") == Some(name);
        html! {
            details.does id={ "act-" (name) } open[open] {
                summary.button data-hotkey=[key] { (label) @if let Some(key) = key { " " kbd { (key) } } }
                (inner)
            }
        }
    }
}

/// The row of what can be done.
pub fn acts(visit: &Visit<'_>, facts: &Facts) -> Markup {
    let node = &facts.context.node;
    let ask = Ask {
        visit,
        node: &node.id,
        rev: node.rev,
        back: here(visit),
    };
    let open = !node.resolved;
    html! {
        div.acts.does-row {
            (comment(&ask))
            @if open && facts.task.is_some() { (taking(&ask, facts)) }
            @if open { (done(&ask)) }
            @else { (ask.form("reopen", &html! { button { "Open again" } })) }
            @if open { (priority(&ask, facts)) }
            @if open && facts.task.is_some() { (more(&ask, facts)) }
        }
    }
}

/// The address of this page below the workspace, to come back to without the script.
fn here(visit: &Visit<'_>) -> String {
    match visit.query.get("peek") {
        Some(_) => visit
            .with("work", &[])
            .split('/')
            .skip(2)
            .collect::<Vec<_>>()
            .join("/"),
        None => "work".to_owned(),
    }
}

fn comment(ask: &Ask<'_>) -> Markup {
    let field = html! {
        label { span.label { "A note on this task" } textarea name="body" rows="3" required dir="auto" {} }
        span.kept {}
        button.main { "Add note" }
    };
    ask.opens("note", Some("m"), "Comment", &ask.form("note", &field))
}

/// Taking it, taking it from somebody else, or giving it back.
fn taking(ask: &Ask<'_>, facts: &Facts) -> Markup {
    let claim = facts.task.as_ref().and_then(|task| task.claim.as_ref());
    html! {
        @match claim {
            None => (ask.form("claim", &html! { button data-hotkey="t" { "Take it " kbd { "t" } } })),
            Some(held) if held.by == ask.visit.person() => {
                (ask.form("release", &html! { button data-hotkey="t" { "Give back " kbd { "t" } } }))
            }
            Some(held) => {
                (ask.form("take_over", &html! {
                    input type="hidden" name="from" value=(held.by);
                    button data-hotkey="t" title={ "From " (plain(&held.by)) ", who is told by the task itself" } { "Take over " kbd { "t" } }
                }))
            }
        }
    }
}

fn done(ask: &Ask<'_>) -> Markup {
    let field = html! {
        label {
            span.label { "What shows it, such as " code { "git:0c77d1e" } " or a sentence; may be empty" }
            input name="evidence" dir="auto" autocomplete="off" data-focus[ask.visit.query.get("act") == Some("done")];
        }
        button.main { "Done" }
    };
    ask.opens(
        "done",
        Some("d"),
        "Done",
        &ask.form_of_rev("resolve", &field),
    )
}

fn priority(ask: &Ask<'_>, facts: &Facts) -> Markup {
    let now = facts.context.node.properties.get(PRIORITY);
    let now = now.and_then(serde_json::Value::as_f64).unwrap_or(0.0);
    let field = html! {
        input type="hidden" name="was" value=(now);
        label { span.label { "Higher comes first" } input name="priority" type="number" step="any" value=(now) required; }
        button.main { "Set" }
    };
    ask.opens(
        "priority",
        Some("p"),
        "Priority",
        &ask.form_of_rev("prioritise", &field),
    )
}

/// What is done rarely: other words, another place, other dependencies, giving it up.
fn more(ask: &Ask<'_>, facts: &Facts) -> Markup {
    let context = &facts.context;
    let parent = context.ancestors.last();
    // Signs that nobody sees are offered by their codes, and do not come back by an undo.
    let title = plain(&context.node.summary);
    let rename = html! {
        @if title == context.node.summary { input type="hidden" name="was" value=(title); }
        label { span.label { "Title" } input name="summary" value=(title) required dir="auto" autocomplete="off"; }
        button { "Rename" }
    };
    let moved = html! {
        @if let Some(parent) = parent { input type="hidden" name="was" value=(parent.id); }
        label { span.label { "Part of" } input name="parent" list="open-tasks" required autocomplete="off" placeholder=[parent.map(|one| &one.id)]; }
        button { "Move" }
    };
    let after = html! {
        label { span.label { "Comes after" } input name="first" list="open-tasks" required autocomplete="off" placeholder="TASK-001"; }
        button { "Add" }
    };
    let drop = html! {
        @if !context.children.children.is_empty() { input type="hidden" name="parts" value="yes"; }
        label {
            span.label { "Why it is given up" @if !context.children.children.is_empty() { ", with all its parts" } }
            input name="reason" required dir="auto" autocomplete="off";
        }
        button { "Drop" }
    };
    let inner = html! {
        (ask.form_of_rev("rename", &rename))
        (ask.form("depend", &after))
        @for one in context.depends_on.iter().take(REMOVABLE) {
            (ask.form("undepend", &html! {
                input type="hidden" name="first" value=(one.node.id);
                span.what { "after " span.handle { (one.node.id) } " " (stored(&one.node.summary)) }
                button { "Take away" }
            }))
        }
        (ask.form("move", &moved))
        (ask.form("drop", &drop))
    };
    html! {
        details.does id="act-more" open[ask.visit.query.get("act") == Some("more")] {
            summary.button aria-label="More: rename, dependencies, move, drop" { "⋯" }
            (inner)
        }
    }
}

/// The form for a new task, in the head of the page.
pub fn new(visit: &Visit<'_>) -> Markup {
    html! {
        details.pop id="new-task" open[visit.query.get("act") == Some("new")] {
            summary.button.main data-hotkey="c" { span { "New task" } " " kbd { "C" } }
            form.act method="post" action=(visit.link("do/plan")) data-draft="plan" {
                (hidden(visit, "work"))
                label { span.label { "What is to be done" } input name="summary" required dir="auto" autocomplete="off"; }
                label { span.label { "Comes after" } input name="after" list="open-tasks" autocomplete="off" placeholder="TASK-001, or several"; }
                label { span.label { "Priority" } input name="priority" type="number" step="any" placeholder="higher comes first"; }
                button.main { "Add" }
            }
        }
    }
}

/// The choices of the fields that name a task.
pub fn choices(tasks: &[Brief]) -> Markup {
    let short = |task: &Brief| plain(&task.summary).chars().take(80).collect::<String>();
    html! {
        datalist id="open-tasks" { @for task in tasks { option value=(task.id) { (short(task)) } } }
    }
}
