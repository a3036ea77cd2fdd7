//! Two versions of a record side by side: the one in force and one that was refused, both against what both
//! began from. One of them is chosen, or a third is written.

use maud::{Markup, html};
use serde_json::json;
use understory_engine::records::conflicts::Refused;
use understory_engine::records::diff::RecordDiff;
use understory_engine::records::shape;
use understory_model::Fault;
use understory_model::record::Proposed;

use super::one::Record;
use super::{address, place};
use crate::Content;
use crate::changed::against;
use crate::marks::{Mark, mark, who};
use crate::records::forms::{about, was};
use crate::text::{age, plain, segment, stored, visible};
use crate::visit::Visit;

/// Signs of a body from which both began, as far as they are quoted.
const QUOTED: usize = 600;

/// Two versions and what both began from.
struct Two<'r> {
    refused: &'r Refused,
    /// Who wrote the version in force.
    by: String,
    base: shape::Record,
    now: &'r shape::Record,
}

pub fn page(visit: &Visit<'_>, handle: &str) -> Result<Content, Fault> {
    let record = Record::of(visit, handle)?;
    let wanted = visit.query.get("of");
    let found = record
        .conflicts
        .iter()
        .find(|one| wanted == Some(one.item.as_str()));
    let Some(refused) = found.or_else(|| record.conflicts.first()) else {
        return record.content(visit, "settle", settled(visit, handle), json!(null));
    };
    let saw = refused.saw.unwrap_or(refused.version - 1).max(1);
    let both: RecordDiff = visit.ask("get_record_diff", json!({"id": handle, "from": saw}))?;
    let two = Two {
        refused,
        by: in_force(&record, refused),
        base: both.from_version,
        now: &record.shown.record,
    };
    let main = html! {
        (said(visit, &two))
        (columns(visit, &two))
        (began(visit, &two))
        (third(visit, &record, &two))
        (others(visit, &record, refused))
    };
    let told = json!({"refused": refused, "base": two.base, "in_force_by": two.by});
    record.content(visit, "settle", main, told)
}

fn settled(visit: &Visit<'_>, handle: &str) -> Markup {
    html! {
        p.empty { b { "There is one version." } " Whatever was refused is settled. "
            a data-soft href=(address(visit, &place(handle), &[])) { "Read it" } }
    }
}

/// Who made the last change that is told of; else who made the record.
fn in_force(record: &Record, refused: &Refused) -> String {
    let past = record.past.history.iter();
    let mut written = past.filter(|entry| entry.version.is_some());
    let known = written.next().map(|entry| entry.agent.clone());
    known.unwrap_or_else(|| match record.shown.version > refused.version {
        true => "somebody".to_owned(),
        false => record.shown.created_by.clone(),
    })
}

fn said(visit: &Visit<'_>, two: &Two<'_>) -> Markup {
    let mine = two.refused.agent == visit.person();
    html! {
        p.two-versions {
            span.chip.red { (mark(Mark::Conflict)) " Two versions" }
            span.meta {
                @if mine {
                    (stored(&two.by)) " changed it " (age(visit, two.now.modified)) " ago. Nothing of yours was written over it: yours was kept aside."
                } @else {
                    (stored(&two.by)) " wrote first and stands. " (stored(&two.refused.agent)) " had not seen it, so the other version was kept aside."
                }
            }
        }
    }
}

fn columns(visit: &Visit<'_>, two: &Two<'_>) -> Markup {
    let wanted = &two.refused.proposed;
    let texts = [
        ("Title", &two.base.title, &two.now.title, &wanted.title),
        (
            "Summary",
            &two.base.summary,
            &two.now.summary,
            &wanted.summary,
        ),
        ("Body", &two.base.body, &two.now.body, &wanted.body),
    ];
    html! {
        div.two-sides id="sides" {
            (head(visit, &two.by, "in force", two.now.modified))
            (head(visit, &two.refused.agent, "kept aside", two.refused.at))
            @for (name, base, now, wanted) in texts {
                (side(name, base, now))
                // What an update does not mention, it leaves as it found it.
                (side(name, base, wanted.as_ref().unwrap_or(base)))
            }
            (other_fields(wanted))
            (choice(two, "keep"))
            (choice(two, "take"))
        }
    }
}

fn head(visit: &Visit<'_>, name: &str, standing: &str, at: understory_model::Time) -> Markup {
    html! {
        div.side-head {
            (who(name, name == visit.person()))
            span { b { (stored(name)) "'s version, " (standing) } span.meta { (age(visit, at)) " ago" } }
        }
    }
}

fn side(name: &str, base: &str, text: &str) -> Markup {
    let same = base == text;
    html! {
        div.field.same[same] {
            p.label { (name) }
            @if text.trim().is_empty() { p.quiet { @if same { "Empty" } @else { "Emptied" } } }
            @else if same { p dir="auto" { (visible(text)) } }
            @else { p.word-diff dir="auto" { (against(base, text)) } }
        }
    }
}

/// What else the refused update asked for.
fn other_fields(wanted: &Proposed) -> Markup {
    let mut others: Vec<(&str, String)> = Vec::new();
    if let Some(kind) = &wanted.kind {
        others.push(("Type", kind.clone()));
    }
    if let Some(related) = &wanted.related {
        others.push(("Related", related.join(", ")));
    }
    if let Some(parent) = &wanted.parent_id {
        others.push((
            "Below",
            parent.clone().unwrap_or_else(|| "the top".to_owned()),
        ));
    }
    if let Some(metadata) = &wanted.metadata {
        others.push((
            "Metadata",
            serde_json::Value::Object(metadata.clone()).to_string(),
        ));
    }
    html! {
        @for (name, text) in others {
            div.field.same { p.label { (name) } p.quiet { "as it is" } }
            div.field { p.label { (name) } p.word-diff dir="auto" { ins { (visible(&text)) } } }
        }
    }
}

/// Those who wrote the two versions, but for the person.
fn tell(visit: &Visit<'_>, two: &Two<'_>) -> Vec<String> {
    let mut both = vec![two.by.clone(), two.refused.agent.clone()];
    both.dedup();
    both.retain(|one| one != visit.person());
    both
}

/// A button of the form below, which chooses one side.
fn choice(two: &Two<'_>, choice: &str) -> Markup {
    let (verb, name, key) = match choice {
        "keep" => ("Keep", &two.by, "1"),
        _ => ("Take", &two.refused.agent, "2"),
    };
    let label = format!("{verb} {}'s", plain(name));
    html! {
        div.choice {
            button form=(third_id(two)) name="choice" value=(choice) formnovalidate data-hotkey=(key) aria-label=(label) { (label) " " kbd { (key) } }
        }
    }
}

fn began(visit: &Visit<'_>, two: &Two<'_>) -> Markup {
    let body = two.base.body.trim();
    let text = if body.is_empty() {
        two.base.title.as_str()
    } else {
        body
    };
    let quoted: String = text.chars().take(QUOTED).collect();
    html! {
        div.began {
            b { "Both began from" }
            p dir="auto" {
                (visible(&quoted)) @if quoted.len() < text.len() { "…" }
                span.meta { " (" (age(visit, two.base.modified)) " ago) What differs from it is marked." }
            }
        }
    }
}

/// The form of this conflict: another has another, so that nothing of it is left behind.
fn third_id(two: &Two<'_>) -> String {
    format!("third-{}", two.refused.item)
}

/// A third version, which begins with the one in force.
fn third(visit: &Visit<'_>, record: &Record, two: &Two<'_>) -> Markup {
    let (now, both) = (two.now, tell(visit, two));
    html! {
        form.act.third method="post" action=(visit.link("do/record-settle")) id=(third_id(two)) data-then=(address(visit, &place(record.handle()), &[]))
            data-draft={ "settle-" (two.refused.item) } {
            (about(visit, &record.shown))
            (was(&record.shown))
            input type="hidden" name="caused_by" value=(two.refused.item);
            input type="hidden" name="proposed" value=(json!(two.refused.proposed).to_string());
            div.write {
                p.bar { b { "Or write what holds" } span.meta { "begins with " (stored(&two.by)) "'s text" }
                    @if let Some(body) = two.refused.proposed.body.as_ref().filter(|body| body.len() < 20_000) {
                        button.plain.scripted type="button" data-insert=(body) { "Insert " (stored(&two.refused.agent)) "'s body" }
                    }
                }
                label { span.label { "Title" } input name="title" required dir="auto" autocomplete="off" value=(now.title); }
                label { span.label { "Summary" } textarea name="summary" rows="1" dir="auto" { "\n" (now.summary) } }
                label { span.label { "Body" } textarea name="body" rows="5" dir="auto" data-hotkey="e" aria-label="Body: write what holds" { "\n" (now.body) } }
                div.acts {
                    span.kept {}
                    @if !both.is_empty() {
                        label.tell { input type="checkbox" name="tell" value=(json!(both).to_string()) checked; " Tell " (stored(&both.join(" and "))) }
                    }
                    button.main { "Settle " kbd { "Ctrl ↵" } }
                }
            }
        }
    }
}

/// Other refused updates of the same record.
fn others(visit: &Visit<'_>, record: &Record, shown: &Refused) -> Markup {
    let others: Vec<&Refused> = record
        .conflicts
        .iter()
        .filter(|one| one.item != shown.item)
        .collect();
    html! {
        @if !others.is_empty() {
            section {
                h2 { "Also kept aside" }
                ul {
                    @for one in others {
                        li { a data-soft href=(visit.link(&format!("{}/settle?of={}", place(record.handle()), segment(&one.item)))) {
                            (stored(&one.agent)) "'s version" } " " (age(visit, one.at)) " ago" }
                    }
                }
            }
        }
    }
}
