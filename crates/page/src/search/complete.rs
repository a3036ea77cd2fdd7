//! What completes a name that is being typed in a field, and what a name stands for before one goes there.

use maud::{Markup, html};
use serde_json::{Value, json};
use understory_engine::kernel::search::Answer;
use understory_engine::kernel::search::glance::{Glance, Sort, glance};
use understory_engine::kernel::search::offer::offer;
use understory_model::{Code, Fault};

use super::rows::{glance_mark, name};
use super::{place_of_glance, question};
use crate::text::{age, stored, told};
use crate::visit::Visit;

/// Rows that are offered.
const ROWS: usize = 6;

/// `complete?q=TASK-0&in=th_004`: the rows over the field.
pub fn complete(visit: &Visit<'_>) -> Result<(Markup, Value), Fault> {
    let typed = question(visit);
    let thread = visit.query.get("in");
    let mut found = offered(visit, typed, thread)?;
    found.truncate(ROWS);
    let sign = if typed.starts_with('@') { "@" } else { "" };
    let list = html! {
        ul role="listbox" id="offers" aria-label="Names" {
            @for (at, one) in found.iter().enumerate() {
                li role="option" id={ "offer-" (at) } aria-selected=((at == 0).to_string())
                    data-insert={ @if one.sort == Sort::Agent { (sign) } (one.name) } {
                    (glance_mark(one))
                    span.handle.cut { (name(one)) }
                    span.cut { (stored(&one.title)) }
                    span.meta { (state(one)) }
                }
            }
        }
    };
    Ok((list, json!({"offers": found})))
}

fn offered(visit: &Visit<'_>, typed: &str, thread: Option<&str>) -> Result<Vec<Glance>, Fault> {
    // Nothing is called so, and the databases do not agree on where such a sign stands.
    if typed.contains(char::is_control) {
        return Ok(Vec::new());
    }
    let (engine, caller) = (visit.context.engine, visit.context.caller);
    let mut found = engine.view(caller, |view| offer(view, typed, thread, ROWS))?;
    let words = typed.strip_prefix('@').unwrap_or_default();
    if words.chars().count() < 3 || found.len() >= ROWS {
        return Ok(found);
    }
    // What is called otherwise, and has the word.
    let asked = json!({"query": words, "limit": ROWS});
    let answer: Answer = visit.ask("search", asked)?;
    let more = engine.view(caller, |view| {
        let told = answer.hits.iter().map(|hit| glance(view, &hit.handle));
        told.collect::<Result<Vec<_>, _>>()
    })?;
    for one in more.into_iter().flatten() {
        if !found.iter().any(|there| there.name == one.name) {
            found.push(one);
        }
    }
    Ok(found)
}

fn state(one: &Glance) -> Markup {
    html! {
        @if let Some(state) = &one.state { (told(state)) }
        @else if let Some(by) = one.by.as_deref().filter(|by| *by != one.name) { (told(by)) }
    }
}

/// `preview?q=TASK-001`: a card about what is called so.
pub fn preview(visit: &Visit<'_>) -> Result<(Markup, Value), Fault> {
    let asked = question(visit);
    let (engine, caller) = (visit.context.engine, visit.context.caller);
    let by_number = asked
        .split_once('#')
        .filter(|(thread, _)| thread.starts_with("th_"));
    let found = match by_number {
        Some((thread, number)) => {
            let number = format!("#{number}");
            let found = engine.view(caller, |view| offer(view, &number, Some(thread), 1))?;
            found.into_iter().next()
        }
        None => match engine.view(caller, |view| glance(view, asked)) {
            Ok(found) => found,
            Err(fault) if fault.code != Code::Internal && fault.code.status() < 500 => None,
            Err(fault) => return Err(fault),
        },
    };
    let card = match &found {
        Some(one) => html! {
            div.preview data-at=(visit.link(&place_of_glance(one))) {
                p { (glance_mark(one)) " " span.handle { (name(one)) } " " span.meta { (state(one)) } }
                p { (stored(&one.title)) }
                p.meta {
                    @if let Some(by) = one.by.as_deref() { (told(by)) ", " }
                    @if let Some(at) = one.at { (age(visit, at)) " ago" }
                }
            }
        },
        None => {
            html! { div.preview { p.meta { "Nothing is called “" (stored(asked)) "” here." } } }
        }
    };
    Ok((card, json!({"found": found})))
}
