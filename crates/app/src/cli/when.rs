//! Moments as people say them: how long ago, or the local date and time.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use understory_engine::kernel::clock::{Clock as _, System};
use understory_model::Time;

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const FORTNIGHT: i64 = 14 * DAY;
/// Less than this ago is now. Two clocks may disagree by as much, so it is not the future either.
const JUST: i64 = 2 * SECOND;
const SLACK: i64 = -5 * SECOND;

/// What time it is, and where.
pub struct Clock {
    pub now: Time,
    zone: TimeZone,
}

impl Clock {
    /// This machine's.
    pub fn here() -> Clock {
        Clock {
            now: System.now(),
            zone: TimeZone::system(),
        }
    }

    /// `3 min ago`, or the date where that says more.
    pub fn ago(&self, at: Time) -> String {
        let passed = self.now.0.saturating_sub(at.0);
        match passed {
            SLACK..JUST => "just now".to_owned(),
            JUST..MINUTE => format!("{} s ago", passed / SECOND),
            MINUTE..HOUR => format!("{} min ago", passed / MINUTE),
            HOUR..DAY => format!("{} h ago", passed / HOUR),
            DAY..FORTNIGHT => format!("{} d ago", passed / DAY),
            _ => self.date(at),
        }
    }

    /// As `ago`, for a time on the wire; anything else is shown unchanged.
    pub fn ago_text(&self, at: &str) -> String {
        Time::parse("time", at).map_or_else(|_| at.to_owned(), |at| self.ago(at))
    }

    /// The local time, with the date unless it is today's: it stays true while it is looked at.
    pub fn clock(&self, at: Time) -> String {
        let (Some(at), Some(now)) = (self.zoned(at), self.zoned(self.now)) else {
            return at.to_string();
        };
        if at.date() == now.date() {
            at.strftime("%H:%M:%S").to_string()
        } else if at.year() == now.year() {
            at.strftime("%b %e %H:%M").to_string()
        } else {
            at.strftime("%Y-%m-%d").to_string()
        }
    }

    /// As `clock`, for a time on the wire.
    pub fn clock_text(&self, at: &str) -> String {
        Time::parse("time", at).map_or_else(|_| at.to_owned(), |at| self.clock(at))
    }

    /// The local day, for a time on the wire.
    pub fn day_text(&self, at: &str) -> String {
        self.formatted(at, "%A, %-d %B %Y")
    }

    /// The local time of the day, for a time on the wire.
    pub fn time_text(&self, at: &str) -> String {
        self.formatted(at, "%H:%M")
    }

    fn formatted(&self, at: &str, format: &str) -> String {
        let time = Time::parse("time", at).ok();
        let zoned = time.and_then(|time| self.zoned(time));
        zoned.map_or_else(|| at.to_owned(), |at| at.strftime(format).to_string())
    }

    fn date(&self, at: Time) -> String {
        match self.zoned(at) {
            Some(at) => at.strftime("%Y-%m-%d %H:%M").to_string(),
            None => at.to_string(),
        }
    }

    fn zoned(&self, at: Time) -> Option<jiff::Zoned> {
        let at = Timestamp::from_microsecond(at.0).ok()?;
        Some(at.to_zoned(self.zone.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> Clock {
        Clock {
            now: Time::parse("now", "2026-06-15T12:00:00Z").unwrap(),
            zone: TimeZone::fixed(jiff::tz::offset(2)),
        }
    }

    #[test]
    fn moments_are_said_as_people_say_them() {
        for (at, said) in [
            ("2026-06-15T12:00:00Z", "just now"),
            ("2026-06-15T12:00:03Z", "just now"),
            ("2026-06-15T11:59:18Z", "42 s ago"),
            ("2026-06-15T11:55:00Z", "5 min ago"),
            ("2026-06-15T09:00:00Z", "3 h ago"),
            ("2026-06-12T12:00:00Z", "3 d ago"),
            ("2026-05-01T12:00:00Z", "2026-05-01 14:00"),
            ("2026-06-16T12:00:00Z", "2026-06-16 14:00"),
            ("no time", "no time"),
        ] {
            assert_eq!(clock().ago_text(at), said);
        }
    }

    #[test]
    fn a_clock_time_has_as_much_date_as_it_needs() {
        for (at, said) in [
            ("2026-06-15T05:06:07Z", "07:06:07"),
            ("2026-06-02T05:06:07Z", "Jun  2 07:06"),
            ("2025-06-15T05:06:07Z", "2025-06-15"),
        ] {
            assert_eq!(clock().clock_text(at), said);
        }
        // Two hours east of UTC the day is over earlier.
        assert_eq!(
            clock().day_text("2026-06-15T22:30:00Z"),
            "Tuesday, 16 June 2026"
        );
        assert_eq!(clock().time_text("2026-06-15T22:30:00Z"), "00:30");
        assert_eq!(clock().day_text("no time"), "no time");
        assert!(clock().clock(Time(i64::MAX)).starts_with("invalid-time"));
    }
}
