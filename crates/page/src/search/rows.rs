//! A thing that was found, as a row: its mark with its state, its name, its words with the found ones
//! marked, a line about it, and when.

use maud::{Markup, html};
use understory_engine::kernel::search::Hit;
use understory_engine::kernel::search::glance::{Glance, Sort};
use understory_model::text::{borne, cut};

use super::place_of_glance;
use crate::marks::{Mark, mark};
use crate::text::{age, plain, segment, told};
use crate::visit::Visit;

/// Signs of a name that are shown beside what it stands for.
const NAME: usize = 24;

/// Its mark, with where it stands.
pub fn glance_mark(one: &Glance) -> Markup {
    let state = one.state.as_deref().unwrap_or_default();
    let sign = match (one.sort, state) {
        (Sort::Task, "ready") => Mark::Ready,
        (Sort::Task, "claimed") => Mark::Claimed,
        (Sort::Task, "waits") => Mark::Waits,
        (Sort::Task, "done") => Mark::Done,
        (Sort::Task, "dropped" | "gone") => Mark::Dropped,
        (Sort::Task, _) => Mark::Work,
        (Sort::Record, "open") => Mark::Open,
        (Sort::Record, "later") => Mark::Later,
        (Sort::Record, "resolved") => Mark::Resolved,
        (Sort::Record, "discarded") => Mark::Discarded,
        (Sort::Record, _) => Mark::Record,
        (Sort::Thread, "disputed") => Mark::Failed,
        (Sort::Thread, _) | (Sort::Message, _) | (Sort::Agent, _) => Mark::Thread,
        (Sort::Document, _) | (Sort::Line, _) => Mark::Artifact,
        (Sort::Proposal, _) => Mark::Proposal,
        (Sort::Reasoning, _) => Mark::Reasoning,
        (Sort::Wake, _) => Mark::Wake,
        (Sort::Conversation | Sort::Part | Sort::Project | Sort::Item, _) => Mark::Conversation,
    };
    mark(sign)
}

/// How it is named: a message by its thread and number, what has only an id not at all.
pub fn name(one: &Glance) -> String {
    match (&one.thread, one.number) {
        (Some(thread), Some(number)) => format!("{thread} #{number}"),
        _ if one.name.len() > 40 && one.name.contains('-') => String::new(),
        _ => plain(&cut(&one.name, NAME)),
    }
}

/// A row of the page.
pub fn entry(visit: &Visit<'_>, words: &[String], one: &Glance, hit: Option<&Hit>) -> Markup {
    html! {
        li.hit data-row {
            (glance_mark(one))
            span.handle { (name(one)) }
            div.what {
                a.title href=(visit.link(&place_of_glance(one))) data-ref=(one.name) { bdi { (found(&one.title, words)) } }
                p.meta { (about(one, words, hit)) }
            }
            a.meta href=(visit.link(&format!("why/{}", segment(&one.name)))) aria-label={ "Why " (plain(&one.name)) } data-hotkey="w" { "Why" }
            @if let Some(at) = one.at { (age(visit, at)) }
        }
    }
}

/// A row of the palette.
pub fn option(
    visit: &Visit<'_>,
    words: &[String],
    id: usize,
    one: &Glance,
    hit: Option<&Hit>,
) -> Markup {
    html! {
        a role="option" id={ "found-" (id) } tabindex="-1" aria-selected="false" href=(visit.link(&place_of_glance(one)))
            data-why=(visit.link(&format!("why/{}", segment(&one.name)))) data-name=(one.name) {
            (glance_mark(one))
            span.handle { (name(one)) }
            span.what {
                span.cut { bdi { (found(&one.title, words)) } }
                span.meta.cut { (about(one, words, hit)) }
            }
            @if let Some(at) = one.at { (age(visit, at)) }
        }
    }
}

/// A line about it: who and in which state, and where the words were found if its title has none of them.
fn about(one: &Glance, words: &[String], hit: Option<&Hit>) -> Markup {
    let snippet = hit.map(|hit| hit.snippet.replace("**", ""));
    let snippet = snippet.unwrap_or_default().replace('\n', " ");
    // Where the title has none of the words, what has them stands beneath it.
    let has = |text: &str| borne(text, words).contains(&true);
    let more = has(&snippet) && !has(&one.title);
    let parts = [
        one.state.as_deref(),
        one.by.as_deref().filter(|by| *by != one.name),
    ];
    html! {
        @for (at, part) in parts.into_iter().flatten().enumerate() {
            @if at > 0 { ", " }
            bdi { (told(part)) }
        }
        @if hit.is_some_and(|hit| hit.superseded) { ", something took its place" }
        @if more { " · " bdi { (found(&snippet, words)) } }
    }
}

/// A text with the words that were looked for marked, wherever a word begins so.
pub fn found(text: &str, words: &[String]) -> Markup {
    let (mut parts, mut plain_from, mut at) = (Vec::new(), 0, 0);
    let mut inside = false;
    while at < text.len() {
        let rest = &text[at..];
        let sign = rest.chars().next().unwrap_or(' ');
        let length = (!inside && sign.is_alphanumeric()).then(|| beginning(rest, words));
        match length.flatten() {
            Some(length) => {
                parts.push((false, &text[plain_from..at]));
                parts.push((true, &rest[..length]));
                at += length;
                plain_from = at;
                inside = true;
            }
            None => {
                inside = sign.is_alphanumeric();
                at += sign.len_utf8();
            }
        }
    }
    parts.push((false, &text[plain_from..]));
    // A credential may not be told by the words that were looked for.
    if told(text).into_string() != told_parts(&parts) {
        return told(text);
    }
    html! { @for (is, part) in parts { @if is { mark { (told(part)) } } @else { (told(part)) } } }
}

fn told_parts(parts: &[(bool, &str)]) -> String {
    parts
        .iter()
        .map(|(_, part)| told(part).into_string())
        .collect()
}

/// How much of a word is one of those that were looked for, or begins as it does.
fn beginning(text: &str, words: &[String]) -> Option<usize> {
    let matched = |word: &String| {
        let mut length = 0;
        let mut signs = text.chars();
        for wanted in word.chars() {
            let sign = signs.next()?;
            if !sign.to_lowercase().eq(wanted.to_lowercase()) {
                // An inflection of a word that is long enough to be told by its beginning.
                return None;
            }
            length += sign.len_utf8();
        }
        Some(length)
    };
    words.iter().filter_map(matched).max()
}

#[cfg(test)]
mod tests {
    use super::found;

    #[test]
    fn found_words_are_marked_where_words_begin() {
        let words = ["old".to_owned(), "key".to_owned(), "accept".to_owned()];
        assert_eq!(
            found("An Old key is accepted; cold.", &words).into_string(),
            "An <mark>Old</mark> <mark>key</mark> is <mark>accept</mark>ed; cold."
        );
        assert_eq!(
            found("<b>é", &["é".to_owned()]).into_string(),
            "&lt;b&gt;<mark>é</mark>"
        );
        let secret = format!("key ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
        let shown = found(&secret, &["ghp".to_owned(), "key".to_owned()]).into_string();
        assert!(!shown.contains("16C7e42F"), "{shown}");
    }
}
