//! A moment: microseconds since 1970, UTC. It never asks a clock; whoever needs "now" is given it.

use std::fmt;

use jiff::Timestamp;

use crate::error::Fault;

/// A moment in microseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub i64);

impl Time {
    pub const ZERO: Time = Time(0);

    /// Reads RFC 3339 in any offset; `field` names the argument in the error.
    pub fn parse(field: &str, text: &str) -> Result<Time, Fault> {
        text.parse::<Timestamp>()
            .map(|t| Time(t.as_microsecond()))
            .map_err(|_| {
                Fault::invalid(field, "must be a time as RFC 3339 writes it")
                    .hint("Use RFC 3339, for example 2026-02-17T12:00:00Z.")
            })
    }

    #[must_use]
    pub fn plus(self, micros: i64) -> Time {
        Time(self.0.saturating_add(micros))
    }

    pub fn minus(self, micros: i64) -> Time {
        Time(self.0.saturating_sub(micros))
    }
}

/// RFC 3339, UTC, always six digits of fraction: fixed width, so that text order is time order.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Timestamp::from_microsecond(self.0) {
            Ok(at) => write!(f, "{at:.6}"),
            // Only a damaged store holds a moment outside the calendar; say so and go on.
            Err(_) => write!(f, "invalid-time({})", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_six_digits_and_reads_back() {
        assert_eq!(Time(0).to_string(), "1970-01-01T00:00:00.000000Z");
        assert_eq!(
            Time(1_771_329_600_000_001).to_string(),
            "2026-02-17T12:00:00.000001Z"
        );
        for micros in [0, 1, -1, 1_771_329_600_123_456, 253_402_207_200_000_000] {
            let at = Time(micros);
            assert_eq!(Time::parse("t", &at.to_string()), Ok(at));
        }
        assert_eq!(
            Time::parse("t", "2026-02-17T14:00:00+02:00"),
            Ok(Time(1_771_329_600_000_000))
        );
    }

    #[test]
    fn refuses_what_is_no_time() {
        for text in ["", "yesterday", "2026-02-30T00:00:00Z", "2026-02-17"] {
            assert!(Time::parse("since", text).is_err(), "{text}");
        }
        assert_eq!(
            Time(i64::MAX).to_string(),
            format!("invalid-time({})", i64::MAX)
        );
    }
}
