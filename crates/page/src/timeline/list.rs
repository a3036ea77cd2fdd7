//! The list beside the lanes: items newest first, one of them opened to what led to it and what it led
//! to; hours, where the window is shown in bars.

use maud::{Markup, html};
use understory_engine::system::timeline::{Column, Opened, Shown as Item, Step};
use understory_model::text::cut;
use understory_model::{Seq, Time};

use super::layout::{DAY, Window, height};
use super::when::{self, HOUR};
use super::{Shown, called, choose, filters, handle, mark_of};
use crate::marks::{Mark, mark};
use crate::text::{count, number, segment, stored};
use crate::visit::Visit;

/// How much of a text a line shows.
const SHOWN: usize = 280;
/// Hours of a list, and when a day counts as quiet beside the busiest.
const HOURS: usize = 100;
const QUIET: i64 = 20;

pub fn side(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let hours = shown.in_bars() && visit.query.get("items").is_none() && shown.wanted.of.is_none();
    html! {
        div.bar.list-head {
            h2 { @if hours { "By hour, newest first" } @else { "Newest first" } }
            span.meta {
                @if shown.in_bars() { (count(shown.lanes.total, "item", "items")) " " }
                @if shown.asked.live && visit.query.get("before").is_none() { "live " span.pulse {} }
            }
        }
        @if let Some(opened) = &shown.chosen {
            @if hours || !listed(shown, opened.shown.entry.seq) { ol.moments id="chosen" { (chosen(visit, shown, opened)) } }
        }
        @if shown.lanes.total == 0 && shown.entries.entries.is_empty() { (nothing(visit, shown)) }
        @else if hours { (by_hour(visit, shown)) }
        @else { (items(visit, shown)) }
    }
}

fn listed(shown: &Shown, seq: Seq) -> bool {
    shown.entries.entries.iter().any(|one| one.entry.seq == seq)
}

fn nothing(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let on = filters::active(visit);
    html! {
        @if let Some((words, off)) = on.first() {
            p.empty {
                b { "No item matches." } " "
                @if shown.lanes.everything > 0 { (number(shown.lanes.everything)) " are hidden by “" (words) "”. " }
                @else { "None was written in this time. " }
                a data-soft href=(off) { "Take that filter off" }
            }
        } @else {
            p.empty {
                b { "Nothing happened in this time." } " "
                a data-soft href=(visit.link("timeline")) { "What happened last" }
            }
        }
    }
}

fn items(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let selected = shown.chosen.as_ref();
    html! {
        @if visit.query.get("before").is_some() {
            p { a.more data-soft href=(visit.with("timeline", &[("before", None)])) { "Back to the newest" } }
        }
        ol.moments id="items" {
            @for item in &shown.entries.entries {
                @match selected.filter(|opened| opened.shown.entry.seq == item.entry.seq) {
                    Some(opened) => { (chosen(visit, shown, opened)) }
                    None => { (line(visit, shown, item)) }
                }
            }
        }
        @if let Some(next) = shown.entries.next {
            p { a.more data-soft href=(visit.with("timeline", &[("before", Some(&next.to_string()))])) { "Show 100 more" } }
        } @else if shown.wanted.of.is_none() {
            p { a.more data-soft href=(when::link(visit, shown.window().moved(-1.0))) { "What happened before" } }
        }
    }
}

/// When an item stands in the list, by the clock that was chosen.
fn at(shown: &Shown, item: &Item) -> Time {
    if shown.wanted.happened {
        item.happened_at
    } else {
        item.written_at
    }
}

fn sign(item: &Item) -> Markup {
    let class = item.sign.map(|sign| sign.as_str()).unwrap_or_default();
    html! { span.(class) { (mark(mark_of(item.surface))) } }
}

fn clock(shown: &Shown, item: &Item) -> Markup {
    // In a long window the day says more than the minute.
    let form = if shown.window().length() > DAY {
        "hour"
    } else {
        "clock"
    };
    when::time(at(shown, item), form)
}

fn line(visit: &Visit<'_>, shown: &Shown, item: &Item) -> Markup {
    html! {
        li id={ "item-" (item.entry.seq) } data-row {
            (clock(shown, item)) (sign(item))
            p.what { (sentence(visit, shown, item, false)) }
        }
    }
}

/// What an item did, as a sentence; its beginning opens the item, or closes it.
fn sentence(visit: &Visit<'_>, shown: &Shown, item: &Item, open: bool) -> Markup {
    let entry = &item.entry;
    let place = match open {
        true => visit.with("timeline", &[("sel", None)]),
        false => choose(visit, entry.seq),
    };
    html! {
        a.title data-soft data-close[open] data-focus[open] aria-expanded=(if open { "true" } else { "false" }) href=(place) {
            b { (stored(called(shown, &entry.actor))) } " " (did(item))
        }
        " " (handle(visit, entry)) " "
        @if !entry.text.is_empty() { (stored(&cut(&entry.text, SHOWN))) }
        @if let Some(why) = entry.reasoning.as_deref().filter(|_| !open) {
            span.meta { " " span.because { "because" } " " (stored(&cut(why, SHOWN))) }
        }
    }
}

/// What was done, in a word or two.
fn did(item: &Item) -> String {
    let entry = &item.entry;
    let action = entry.action.as_deref().unwrap_or(&entry.kind);
    let is_session = entry
        .handle
        .as_deref()
        .is_some_and(|handle| handle.starts_with("session:"));
    let said = match action {
        "created" if is_session => "began a session",
        "posted" => "wrote in",
        "upserted" => "wrote",
        "conflict_detected" => "was refused:",
        "committed" => "changed",
        other => other,
    };
    said.replace('_', " ")
}

/// An item with its causes and effects.
fn chosen(visit: &Visit<'_>, shown: &Shown, opened: &Opened) -> Markup {
    let item = &opened.shown;
    let because: Vec<&Step> = opened.causes.iter().collect();
    html! {
        li.is-open id={ "item-" (item.entry.seq) } data-row {
            (clock(shown, item)) (sign(item))
            div.what {
                p { (sentence(visit, shown, item, true)) }
                @if let Some(why) = &item.entry.reasoning { p.ink-2 { (stored(why)) } }
                dl.path {
                    @for step in &because { dt { "because" } dd { (told(visit, shown, step)) } }
                    @if because.is_empty() { dt { "because" } dd.quiet { "No cause was named." } }
                    @for step in &opened.effects { dt { "led to" } dd { (told(visit, shown, step)) } }
                }
                p.meta {
                    "happened " (when::time(item.happened_at, "seconds"))
                    " · written " (when::time(item.written_at, "seconds")) " · #" (item.entry.seq)
                    " · " a href=(visit.link(&format!("why/{}", segment(&item.entry.item)))) data-hotkey="w" { "Why" }
                    @if opened.more { " · there is more than is shown" }
                }
            }
        }
    }
}

/// A cause or an effect in a line, which leads to it.
fn told(visit: &Visit<'_>, shown: &Shown, step: &Step) -> Markup {
    let entry = &step.shown.entry;
    html! {
        a.title data-soft href=(choose(visit, entry.seq)) {
            (stored(called(shown, &entry.actor))) " " (did(&step.shown))
            @if !entry.text.is_empty() { ": " (stored(&cut(&entry.text, SHOWN / 2))) }
        }
        " " (handle(visit, entry))
    }
}

/// A row of the list by hours: one hour, or quiet days together.
enum Row<'c> {
    Hour(&'c Column),
    Days {
        from: Time,
        to: Time,
        count: i64,
        days: i64,
    },
}

/// Hours newest first; days that are quiet beside the busiest stand together.
fn rows<'c>(columns: &'c [Column]) -> Vec<Row<'c>> {
    let day = |at: Time| at.0.div_euclid(DAY);
    let mut days: Vec<(i64, Vec<&Column>)> = Vec::new();
    for column in columns.iter().rev() {
        match days.last_mut() {
            Some((known, all)) if *known == day(column.at) => all.push(column),
            _ => days.push((day(column.at), vec![column])),
        }
    }
    let sum = |all: &[&Column]| all.iter().map(|one| one.count).sum::<i64>();
    let largest = days.iter().map(|(_, all)| sum(all)).max().unwrap_or(0);
    let mut rows: Vec<Row<'c>> = Vec::new();
    for (n, all) in days {
        let count = sum(&all);
        if all.len() < 3 || count * QUIET >= largest {
            rows.extend(all.into_iter().map(Row::Hour));
            continue;
        }
        match rows.last_mut() {
            Some(Row::Days {
                from,
                count: known,
                days,
                ..
            }) => {
                (*from, *known, *days) = (Time(n * DAY), *known + count, *days + 1);
            }
            _ => rows.push(Row::Days {
                from: Time(n * DAY),
                to: Time((n + 1) * DAY),
                count,
                days: 1,
            }),
        }
    }
    rows
}

fn by_hour(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let columns = &shown.lanes.columns;
    let largest = columns.iter().map(|column| column.count).max().unwrap_or(0);
    let width = match shown.lanes.unit {
        understory_engine::system::timeline::Unit::Bars(width) => width,
        understory_engine::system::timeline::Unit::Marks => HOUR,
    };
    let form = if width < DAY { "hour" } else { "date" };
    let rows = rows(columns);
    let there = |from: Time, to: Time| when::link(visit, Window { from, to });
    html! {
        ul.hours.meta id="hours" {
            @for row in rows.iter().take(HOURS) {
                @match row {
                    Row::Hour(column) => {
                        li id={ "hour-" (column.at.0 / 1_000_000) } data-row {
                            a.title data-soft href=(there(column.at, Time(column.at.0 + width))) { (when::time(column.at, form)) }
                            svg.amount aria-hidden="true" {
                                rect width={ (height(column.count, largest, 100.0)) "%" } height="8" rx="2" {}
                            }
                            span { (number(column.count)) }
                        }
                    }
                    Row::Days { from, to, count: items, days } => {
                        li id={ "days-" (from.0 / 1_000_000) } data-row {
                            a.title data-soft href=(there(*from, *to)) { (when::time(*from, "weekday")) }
                            span.quiet { (count(*items, "item", "items")) " in " (count(*days, "day", "days")) }
                        }
                    }
                }
            }
        }
        @if rows.len() > HOURS { p.meta { (number(rows.len() as i64 - HOURS as i64)) " earlier are in the picture." } }
        p { a.more data-soft href=(visit.with("timeline", &[("items", Some("1"))])) { "Show items" } }
    }
}

/// The shape that the legend shows for what has none of its own.
pub fn legend() -> Markup {
    html! {
        p.legend.meta {
            span { (mark(Mark::Act)) " read or ran" }
            span { svg.key aria-hidden="true" { line.because x1="0" x2="24" y1="6" y2="6" {} } " because" }
            span { svg.key aria-hidden="true" { line.led x1="0" x2="24" y1="6" y2="6" {} } " led to" }
            span { span.box { "38" } " too close to tell apart, opens" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn column(hour: i64, count: i64) -> Column {
        Column {
            at: Time(hour * HOUR),
            count,
            surfaces: BTreeMap::new(),
        }
    }

    #[test]
    fn quiet_days_stand_together() {
        let mut columns: Vec<Column> = (8..18).map(|hour| column(hour, 300)).collect();
        for day in [1, 2] {
            columns.extend((8..18).map(|hour| column(day * 24 + hour, 3)));
        }
        columns.push(column(3 * 24 + 8, 1));
        let told: Vec<String> = rows(&columns)
            .iter()
            .map(|row| match row {
                Row::Hour(column) => format!("{} {}", column.at.0 / HOUR, column.count),
                Row::Days {
                    from,
                    to,
                    count,
                    days,
                } => {
                    format!("{}-{}: {count} in {days}", from.0 / DAY, to.0 / DAY)
                }
            })
            .collect();
        assert_eq!(told[..3], ["80 1", "1-3: 60 in 2", "17 300"]);
        assert_eq!(told.len(), 12);
    }
}
