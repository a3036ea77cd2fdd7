//! Which window of time is looked at, the windows that lie around it, and how times are written.

use maud::{Markup, html};
use understory_model::{Fault, Time};

use super::layout::{DAY, Window};
use crate::text::MONTHS;
use crate::visit::{Query, Visit};

pub const HOUR: i64 = DAY / 24;
/// The shortest window that can be looked at.
const SHORTEST: i64 = 10_000_000;
/// As much time as a year has, where a window has to end somewhere.
const LONGEST: i64 = 100 * 366 * DAY;

/// The window that an address asks for.
pub struct Asked {
    pub window: Window,
    /// Whether it ends now and goes on by itself.
    pub live: bool,
}

/// Reads the window: what the address says, else the last hour in which anything was done.
pub fn asked(
    query: &Query,
    now: Time,
    begins: Option<Time>,
    last: Option<Time>,
) -> Result<Asked, Fault> {
    let time = |name: &str| {
        query
            .get(name)
            .map(|text| Time::parse(name, text))
            .transpose()
    };
    let (from, to) = (time("from")?, time("to")?);
    let last = last.unwrap_or(now);
    let idle = from.is_none() && to.is_none() && last.0 < now.0 - HOUR && begins.is_none();
    let to = match to {
        Some(to) => to,
        // What was done long ago is looked at as it was then.
        None if idle => Time(last.0 + HOUR / 12),
        None => now,
    };
    let from = from.or(begins).unwrap_or(Time(to.0.saturating_sub(HOUR)));
    let from = Time(
        from.0
            .min(to.0.saturating_sub(SHORTEST))
            .max(to.0.saturating_sub(LONGEST)),
    );
    Ok(Asked {
        window: Window { from, to },
        live: to >= now,
    })
}

/// A link to another window, with all filters kept.
pub fn link(visit: &Visit<'_>, window: Window) -> String {
    let (from, to) = (window.from.to_string(), window.to.to_string());
    // A window that reaches the present goes on by itself.
    let to = (window.to < visit.now).then_some(to);
    visit.with(
        "timeline",
        &[
            ("from", Some(&from)),
            ("to", to.as_deref()),
            ("before", None),
        ],
    )
}

impl Window {
    /// The window around the same middle, so many times as long.
    pub fn scaled(self, by: f64) -> Window {
        let length = ((self.length() as f64 * by) as i64).clamp(SHORTEST, LONGEST);
        let middle = self.from.0 + self.length() / 2;
        Window {
            from: Time(middle - length / 2),
            to: Time(middle + length - length / 2),
        }
    }

    /// As [`Window::scaled`], ending where it ends.
    pub fn scaled_to_end(self, by: f64) -> Window {
        let length = ((self.length() as f64 * by) as i64).clamp(SHORTEST, LONGEST);
        Window {
            from: Time(self.to.0 - length),
            to: self.to,
        }
    }

    /// So much of its length earlier or later.
    pub fn moved(self, by: f64) -> Window {
        let by = (self.length() as f64 * by) as i64;
        Window {
            from: Time(self.from.0 + by),
            to: Time(self.to.0 + by),
        }
    }

    /// The shortest window that holds a stretch and can be looked at.
    pub fn around(from: Time, to: Time) -> Window {
        let short = ((to.0 - from.0) / 8).max(SHORTEST / 2);
        Window {
            from: Time(from.0 - short),
            to: Time(to.0 + short),
        }
    }
}

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

/// A moment in the parts that people read.
pub struct Parts {
    pub clock: String,
    pub seconds: String,
    pub weekday: &'static str,
    pub day: String,
    pub month: &'static str,
}

pub fn parts(at: Time) -> Parts {
    let text = at.to_string();
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
    let month = part(5..7).parse::<usize>().unwrap_or(1);
    let weekday = usize::try_from(at.0.div_euclid(DAY).rem_euclid(7)).unwrap_or(0);
    Parts {
        clock: part(11..16).to_owned(),
        seconds: part(11..19).to_owned(),
        weekday: DAYS.get(weekday).copied().unwrap_or_default(),
        day: part(8..10).trim_start_matches('0').to_owned(),
        month: MONTHS
            .get(month.saturating_sub(1))
            .copied()
            .unwrap_or_default(),
    }
}

/// How a line of the grid is called, by how far the lines are apart; the script writes it in the
/// reader's zone by the same rules.
pub fn form(step: i64) -> &'static str {
    match step {
        step if step < HOUR / 60 => "seconds",
        step if step < DAY => "clock",
        step if step <= DAY => "weekday",
        _ => "date",
    }
}

pub fn told(at: Time, form: &str) -> String {
    let Parts {
        clock,
        seconds,
        weekday,
        day,
        month,
    } = parts(at);
    match form {
        "seconds" => seconds,
        "clock" => clock,
        "weekday" => format!("{weekday} {day}"),
        "hour" => format!("{weekday} {clock}"),
        _ => format!("{day} {}", month.get(..3).unwrap_or(month)),
    }
}

/// A moment outside of a picture.
pub fn time(at: Time, form: &str) -> Markup {
    html! { time datetime=(at) data-form=(form) title=(at) { (told(at, form)) } }
}

/// A window in words: `16 November, 13:30 to now`.
pub fn sentence(window: Window, live: bool) -> String {
    let (from, to) = (parts(window.from), parts(window.to));
    let same = (&from.day, from.month) == (&to.day, to.month);
    if window.length() >= DAY {
        return match from.month == to.month {
            true => format!("{} to {} {}", from.day, to.day, to.month),
            false => format!("{} {} to {} {}", from.day, from.month, to.day, to.month),
        };
    }
    let end = match (live, same) {
        (true, _) => "now".to_owned(),
        (false, true) => to.clock,
        (false, false) => format!("{} {}, {}", to.day, to.month, to.clock),
    };
    format!("{} {}, {} to {end}", from.day, from.month, from.clock)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Time {
        Time::parse("at", text).unwrap()
    }

    #[test]
    fn without_a_word_it_is_the_last_hour_of_activity() {
        let now = at("2026-11-16T14:32:00Z");
        let none = Query::default();
        let shown = asked(&none, now, None, Some(now)).unwrap();
        assert!(shown.live);
        assert_eq!(shown.window.from, at("2026-11-16T13:32:00Z"));
        // Three days later it is still what was done last.
        let later = Time(now.0 + 3 * DAY);
        let shown = asked(&none, later, None, Some(now)).unwrap();
        assert!(!shown.live && shown.window.holds(now));
        assert_eq!(shown.window.length(), HOUR);
        // One thing is looked at from when it was made.
        let made = at("2026-11-01T00:00:00Z");
        let shown = asked(&none, now, Some(made), Some(now)).unwrap();
        assert_eq!((shown.window.from, shown.window.to), (made, now));
    }

    #[test]
    fn a_window_is_never_empty_or_endless() {
        let now = at("2026-11-16T14:32:00Z");
        for query in [
            "from=2026-11-16&to=2026-11-15",
            "from=0001-01-01",
            "to=1969-12-31",
        ] {
            let shown = asked(&Query::parse(query), now, None, None).unwrap();
            let length = shown.window.length();
            assert!((SHORTEST..=LONGEST).contains(&length), "{query}: {length}");
        }
        assert!(asked(&Query::parse("from=yesterday"), now, None, None).is_err());
    }

    #[test]
    fn windows_are_written_as_people_say_them() {
        let window = |from: &str, to: &str| Window {
            from: at(from),
            to: at(to),
        };
        let hour = window("2026-11-16T13:30:00Z", "2026-11-16T14:32:00Z");
        assert_eq!(sentence(hour, true), "16 November, 13:30 to now");
        assert_eq!(sentence(hour, false), "16 November, 13:30 to 14:32");
        let week = window("2026-11-10T00:00:00Z", "2026-11-16T14:32:00Z");
        assert_eq!(sentence(week, true), "10 to 16 November");
        assert_eq!(told(at("2026-11-16T14:32:05Z"), "weekday"), "Mon 16");
        assert_eq!(told(at("2026-11-01T00:00:00Z"), "date"), "1 Nov");
    }

    #[test]
    fn zooming_in_and_out_ends_somewhere() {
        let mut window = Window {
            from: Time(0),
            to: Time(HOUR),
        };
        for _ in 0..100 {
            window = window.scaled(0.5);
        }
        assert_eq!(window.length(), SHORTEST);
        for _ in 0..100 {
            window = window.scaled_to_end(2.0);
        }
        assert_eq!(window.length(), LONGEST);
        assert_eq!(window.moved(0.5).length(), LONGEST);
    }
}
