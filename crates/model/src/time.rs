//! A moment: microseconds since 1970, UTC. It never asks a clock; "now" is always an argument.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::Fault;

/// A moment in microseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub i64);

/// The last second that can be written.
const LAST_SECOND: i64 = 253_402_207_200;

impl Time {
    pub const ZERO: Time = Time(0);

    /// Reads RFC 3339 in any offset, or a date, which means its beginning in UTC; `field` names the
    /// argument in the error.
    pub fn parse(field: &str, text: &str) -> Result<Time, Fault> {
        let read = if Time::is_date(text) {
            format!("{text}T00:00:00Z").parse::<Timestamp>()
        } else {
            text.parse::<Timestamp>()
        };
        let read = read.ok().or_else(|| Time::last(text));
        read.map(|at| Time(at.as_microsecond().min(LAST_SECOND * 1_000_000)))
            .ok_or_else(|| {
                Fault::invalid(field, "must be a time as RFC 3339 writes it, or a date")
                    .hint("Use RFC 3339, for example 2026-02-17T12:00:00Z, or a date: 2026-02-17.")
            })
    }

    /// Whether a text is written as a date without a time.
    pub fn is_date(text: &str) -> bool {
        text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-')
    }

    /// The last day that a calendar can write stands for "never": its hours are beyond what can be
    /// counted, and mean the last moment that can.
    fn last(text: &str) -> Option<Timestamp> {
        let rest = text
            .strip_prefix("9999-12-31")
            .or(text.strip_prefix("9999-12-30"))?;
        let rest = if rest.is_empty() { "T00:00:00Z" } else { rest };
        let day_before = format!("9999-12-29{rest}").parse::<Timestamp>();
        day_before
            .ok()
            .and_then(|_| Timestamp::from_second(LAST_SECOND).ok())
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

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Time, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        Time::parse("time", &text).map_err(|fault| de::Error::custom(fault.message))
    }
}

impl JsonSchema for Time {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
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
    fn reads_dates_and_the_end_of_the_calendar() {
        let noon = Time::parse("t", "2026-02-17T00:00:00Z");
        assert_eq!(Time::parse("t", "2026-02-17"), noon);
        let never = Time::parse("t", "9999-12-31").map(|at| at.to_string());
        assert!(never.is_ok_and(|at| at.starts_with("9999-12-30")));
        assert!(Time::parse("t", "9999-12-31T23:59:59+01:00").is_ok());
    }

    #[test]
    fn refuses_what_is_no_time() {
        for text in [
            "",
            "yesterday",
            "2026-02-30T00:00:00Z",
            "2026-02-30",
            "9999-12-31T25:00:00Z",
        ] {
            assert!(Time::parse("since", text).is_err(), "{text}");
        }
        assert_eq!(
            Time(i64::MAX).to_string(),
            format!("invalid-time({})", i64::MAX)
        );
    }
}
