//! Days and times of the day, for what is not said by an age.

use maud::{Markup, html};
use understory_model::Time;

use crate::visit::Visit;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// A day and, if it is today's, the time: `today 14:08`, `29 Oct`, `29 Oct 2025`.
pub fn when(visit: &Visit<'_>, at: Time) -> Markup {
    let whole = at.to_string();
    let day = day(visit, at);
    html! {
        span.when {
            @if day == "today" { "today " (clock(at)) }
            @else { time datetime=(whole) title=(whole) { (day) } }
        }
    }
}

/// The time of a day, in the reader's zone once the script runs.
pub fn clock(at: Time) -> Markup {
    let whole = at.to_string();
    html! { time datetime=(whole) title=(whole) data-clock { (whole.get(11..16).unwrap_or_default()) } }
}

/// As [`when`], as text.
pub fn spoken(visit: &Visit<'_>, at: Time) -> String {
    let whole = at.to_string();
    let clock = whole.get(11..16).unwrap_or_default();
    format!("{} {clock}", day(visit, at))
}

pub fn day(visit: &Visit<'_>, at: Time) -> String {
    let (at, now) = (at.to_string(), visit.now.to_string());
    if at.get(..10) == now.get(..10) {
        return "today".to_owned();
    }
    let number =
        |range: std::ops::Range<usize>| at.get(range).and_then(|n| n.parse::<usize>().ok());
    let month = number(5..7).and_then(|n| MONTHS.get(n.checked_sub(1)?));
    let day = number(8..10).unwrap_or_default();
    let year = at.get(..4).unwrap_or_default();
    match now.get(..4) == Some(year) {
        true => format!("{day} {}", month.unwrap_or(&"")),
        false => format!("{day} {} {year}", month.unwrap_or(&"")),
    }
}
