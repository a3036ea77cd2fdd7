//! A step of somebody's attention as a sentence, with the mark of what it was about.

use maud::{Markup, html};
use understory_engine::kernel::log::steps::{Does, Look, Step};
use understory_model::text::cut;

use crate::marks::{Mark, mark};
use crate::text::{count, stored};
use crate::visit::Visit;

/// Characters of what was sought, in a row.
const SOUGHT: usize = 80;

/// A list of steps; each leads to the page as it was at that step.
pub fn list(
    visit: &Visit<'_>,
    steps: &[&Step],
    chosen: Option<i64>,
    link: impl Fn(i64) -> String,
) -> Markup {
    let after = |step: &Step| chosen.is_some_and(|chosen| step.entry.seq.0 > chosen);
    html! {
        ol.steps id="steps" {
            @for step in steps {
                @let seq = step.entry.seq.0;
                @let is_chosen = chosen == Some(seq);
                li.did.is-chosen[is_chosen].is-after[after(step)] id={ "step-" (seq) } data-row {
                    (clock(&step.entry.at))
                    (mark(sign(step)))
                    a.title data-soft href=(visit.link(&link(seq))) aria-current=[is_chosen.then_some("step")] {
                        (sentence(step))
                    }
                }
            }
        }
    }
}

pub fn clock(at: &str) -> Markup {
    html! { time datetime=(at) data-clock { (at.get(11..16).unwrap_or_default()) } }
}

/// The mark of what a step was about: of what the timeline shows for it, too.
pub fn sign(step: &Step) -> Mark {
    if let Some(look) = &step.look {
        return match look.does {
            Does::Looks => Mark::Act,
            Does::Seeks => Mark::Search,
            Does::Proposes => Mark::Proposal,
            Does::Selects | Does::Changes => Mark::Artifact,
        };
    }
    let entry = &step.entry;
    let handle = entry.handle.as_deref().unwrap_or_default();
    let begins = |prefix: &str| handle.starts_with(prefix);
    if entry.doc.is_some() || begins("branch:") {
        Mark::Reasoning
    } else if begins("msg_") || begins("th_") {
        Mark::Thread
    } else if begins("TASK-") || begins("PLAN-") {
        Mark::Work
    } else if begins("prop_") {
        Mark::Proposal
    } else if handle.len() > 1
        && begins("R")
        && handle.bytes().skip(1).all(|byte| byte.is_ascii_digit())
    {
        Mark::Record
    } else if entry.kind == "ToolCall" && step.said.is_none() {
        Mark::Act
    } else {
        Mark::Conversation
    }
}

/// What was done, as a person says it.
pub fn sentence(step: &Step) -> Markup {
    let said = step.said.as_deref().unwrap_or_default();
    let Some(look) = &step.look else {
        return told(step);
    };
    html! {
        @match look.does {
            Does::Looks => { "looked at " (place(look)) }
            Does::Selects => { "selected " (place(look)) }
            Does::Seeks => {
                "sought “" (stored(&cut(said, SOUGHT))) "”"
                span.meta { @if look.lines.is_empty() { "nothing found" } @else { (look.lines.len()) " found" } " in " (stored(&look.label)) }
            }
            Does::Proposes => {
                "proposed to change " (place(look))
                @if let Some(why) = &step.entry.reasoning { span.meta { (stored(why)) } }
            }
            Does::Changes => {
                @if step.entry.action.as_deref() == Some("created") { "wrote " } @else { "changed " }
                (changed(look))
                @if let Some(why) = &step.entry.reasoning { span.meta { (stored(why)) } }
            }
        }
    }
}

/// What the log says of a step that is about no document.
fn told(step: &Step) -> Markup {
    let entry = &step.entry;
    let action = entry.action.as_deref().unwrap_or(&entry.kind);
    let handle = entry.handle.as_deref().unwrap_or_default();
    let name = entry.name.as_deref().unwrap_or(handle);
    html! {
        @match (action, entry.about.as_deref()) {
            ("posted", Some(thread)) => {
                @let words = entry.text.split_once(": ").map_or("", |(_, words)| words);
                "wrote in " span.handle { (thread) } span.meta { (stored(words)) }
            }
            ("read", _) if handle.starts_with("th_") => { "read " span.handle { (handle) } " " (entry.text) }
            ("noted", _) if handle.is_empty() => { "noted" span.meta { (stored(&entry.text)) } }
            _ => {
                (verb(action))
                @if !name.is_empty() { " " span.handle { (stored(name)) } }
                @let text = without_fields(&entry.text);
                @if !text.is_empty() { span.meta { (stored(&text)) } }
            }
        }
    }
}

/// The word that a person has for an action of the log.
fn verb(action: &str) -> String {
    match action {
        "created" => "made".to_owned(),
        "upserted" => "thought".to_owned(),
        "updated" => "changed".to_owned(),
        "transitioned" => "moved".to_owned(),
        "claimed" => "took".to_owned(),
        "resolved" => "finished".to_owned(),
        "activated" => "opened".to_owned(),
        other => other.replace('_', " "),
    }
}

/// What an item says, without fields and links as programs name them.
fn without_fields(text: &str) -> String {
    let of_program = |part: &&str| part.starts_with(['+', '_', '−']);
    let parts: Vec<&str> = text.split("; ").filter(|part| !of_program(part)).collect();
    parts.join("; ")
}

/// `goals_shop:1-12`.
fn place(look: &Look) -> Markup {
    html! {
        span.handle {
            (stored(&look.label))
            @match look.lines.first() {
                Some((start, end)) if end > start => { ":" (start) "-" (end) }
                Some((start, _)) => { ":" (start) }
                None => {}
            }
        }
    }
}

fn changed(look: &Look) -> Markup {
    let lines: i64 = look.lines.iter().map(|(start, end)| end - start + 1).sum();
    html! {
        @match look.lines.as_slice() {
            [(start, end)] if start == end => { (place(look)) }
            [] => { span.handle { (stored(&look.label)) } ", lines taken away" }
            _ => { span.handle { (stored(&look.label)) } ", " (count(lines, "line", "lines")) }
        }
    }
}

/// What somebody does with lines, on a tag beside them.
pub fn tag(name: &str, does: Does, (start, end): (i64, i64)) -> String {
    let verb = match does {
        Does::Looks => "looks",
        Does::Selects => "selects",
        Does::Seeks => "finds",
        Does::Proposes => "proposes",
        Does::Changes => "writes",
    };
    match (does, end - start) {
        (Does::Selects, 0) => format!("{name} {verb}"),
        (_, 1..) => format!("{name} {verb}, lines {start} to {end}"),
        (_, 0) => format!("{name} {verb}, line {start}"),
        _ => format!("{name} {verb}, before line {start}"),
    }
}

#[cfg(test)]
mod tests {
    use understory_engine::kernel::log::steps::Does;

    use super::tag;

    #[test]
    fn a_tag_says_who_does_what_where() {
        assert_eq!(tag("ada", Does::Looks, (1, 12)), "ada looks, lines 1 to 12");
        assert_eq!(tag("ada", Does::Selects, (3, 3)), "ada selects");
        assert_eq!(
            tag("ada", Does::Proposes, (4, 3)),
            "ada proposes, before line 4"
        );
    }
}
