//! Proposing other words for some lines, in the place where they stand.

use maud::{Markup, html};

use super::document::Document;
use crate::shell::hidden;
use crate::text::count;
use crate::visit::Visit;

/// Lines that can be proposed from a page: what is longer is written elsewhere.
const LINES: usize = 200;

/// What somebody wishes to propose other words for.
pub struct Wish {
    /// The first line, from 1.
    start: usize,
    /// The last one; the line before `start` to put something between.
    end: usize,
    /// The line that the field stands beneath; 0 is the top.
    pub beneath: usize,
    content: String,
}

/// `propose=3-5`, or `propose=yes` with `first` and `last`, and `4-3` for what goes before line 4.
pub fn wished(visit: &Visit<'_>, document: &Document) -> Option<Wish> {
    let asked = visit.query.get("propose").filter(|_| document.is_head)?;
    let number = |name: &str| visit.query.get(name)?.parse::<usize>().ok();
    let (start, end) = match asked.split_once('-') {
        Some((start, end)) => (start.parse().ok()?, end.parse().ok()?),
        None => {
            let first = number("first").unwrap_or(1);
            (first, number("last").unwrap_or(first))
        }
    };
    let total = document.lines.total;
    let shown = document.lines.lines.iter().map(|line| line.line);
    let (low, high) = (shown.clone().min().unwrap_or(1), shown.max().unwrap_or(0));
    let start = start.clamp(low, high + 1);
    // In an empty document, and after its last line, there is only room for new lines.
    let end = match start > total {
        true => start - 1,
        false => end.clamp(start - 1, high.min(start + LINES - 1)),
    };
    let lines = document.lines.lines.iter();
    let within = lines.filter(|line| (start..=end).contains(&line.line));
    let content: Vec<&str> = within.map(|line| line.content.as_str()).collect();
    Some(Wish {
        start,
        end,
        beneath: end,
        content: content.join("\n"),
    })
}

pub fn card(visit: &Visit<'_>, document: &Document, wish: &Wish) -> Markup {
    let whole = document.whole().at(None);
    let (place, is_new) = (whole.place(), wish.end < wish.start);
    let rows = wish.content.lines().count().clamp(2, 20);
    html! {
        li.beneath id="propose" data-row {
            div.proposal {
                form.filter.bar method="get" action=(visit.link(&place)) data-soft {
                    input type="hidden" name="propose" value="yes";
                    @if let Some(project) = visit.project() { input type="hidden" name="project" value=(project); }
                    @if is_new { p { b { "New lines " @if wish.end == 0 { "at the top" } @else { "after line " (wish.end) } } } }
                    @else {
                        p { b { "Propose other words for " (count((wish.end + 1 - wish.start) as i64, "line", "lines")) } }
                        label.small { span.label { "From line" } input type="number" name="first" min="1" max=(document.lines.total) value=(wish.start); }
                        label.small { span.label { "to" } input type="number" name="last" min="1" max=(document.lines.total) value=(wish.end); }
                        button { "Take these" }
                        a.button.plain data-soft href=(visit.link(&format!("{place}?propose={}-{}", wish.end + 1, wish.end))) { "Add lines after instead" }
                    }
                }
                form.act method="post" action=(visit.link("do/propose")) data-then=(visit.link(&place))
                    data-draft={ "propose-" (document.label) "-" (wish.start) "-" (wish.end) } {
                    (hidden(visit, &place))
                    input type="hidden" name="artifact" value=(document.label);
                    input type="hidden" name="start" value=(wish.start);
                    input type="hidden" name="end" value=(wish.end);
                    label.wide { span.label { "What is to stand there; nothing takes the lines away" }
                        // A browser drops the first line feed of a field.
                        textarea.code name="content" rows=(rows) dir="auto" data-focus { "\n" (wish.content) } }
                    label.wide { span.label { "Why" } input name="reasoning" required dir="auto" autocomplete="off"; }
                    div.acts {
                        button.main { "Propose" }
                        a.button.plain data-soft data-close href=(visit.link(&document.whole().place())) { "Not now" }
                        span.kept {}
                    }
                }
            }
        }
    }
}
