//! How stored text and figures stand on a page.
//!
//! What agents and people wrote is text in every place: maud escapes it, `bdi` keeps its direction to
//! itself, and what cannot be seen is shown by its code.

mod names;
mod secrets;
mod words;

use maud::{Markup, html};
use understory_model::Time;

pub use names::handles;
pub use words::linked;

use crate::visit::Visit;

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Stored text of a line or a few.
pub fn stored(text: &str) -> Markup {
    html! {
        @if text.trim().is_empty() { span.none { "(no title)" } }
        @else { bdi { (told(text)) } }
    }
}

/// A text without elements around it: direction is the caller's.
pub fn told(text: &str) -> Markup {
    match secrets::without(text) {
        Some(short) => visible(&short),
        None => visible(text),
    }
}

/// Signs that turn the direction of text, or that nobody sees, are shown by their code.
pub fn visible(text: &str) -> Markup {
    if !text.chars().any(is_hidden) {
        return html! { (text) };
    }
    html! {
        @for part in text.split_inclusive(is_hidden) {
            @let sign = part.chars().next_back().filter(|c| is_hidden(*c));
            @let plain = part.strip_suffix(is_hidden).unwrap_or(part);
            (plain)
            @if let Some(sign) = sign { span.sign { (format!("U+{:04X}", u32::from(sign))) } }
        }
    }
}

/// As [`stored`], where no element can stand: in a page's title.
pub fn plain(text: &str) -> String {
    let shown = |c: char| match is_hidden(c) {
        true => format!("U+{:04X}", u32::from(c)),
        false => c.to_string(),
    };
    let short = secrets::without(text);
    short
        .as_deref()
        .unwrap_or(text)
        .chars()
        .map(shown)
        .collect()
}

fn is_hidden(c: char) -> bool {
    let control = c.is_control() && !matches!(c, '\n' | '\t');
    control
        || matches!(c, '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

/// How long ago something was: short, with the full time for those who look closer.
pub fn age(visit: &Visit<'_>, at: Time) -> Markup {
    html! { time datetime=(at) title=(at) { (ago(visit.now, at)) } }
}

/// The time of day, which the script turns into the reader's own.
pub fn clock(at: Time) -> Markup {
    let shown = at.to_string();
    html! { time datetime=(at) data-clock title=(at) { (shown.get(11..16).unwrap_or_default()) } }
}

/// The months by name.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// `16 November`, with the year only if it is another.
pub fn day(visit: &Visit<'_>, at: Time) -> String {
    let (at, now) = (at.to_string(), visit.now.to_string());
    let part = |from: usize, to: usize| at.get(from..to).unwrap_or_default();
    let month = part(5, 7).parse::<usize>().unwrap_or(1);
    let month = MONTHS.get(month.wrapping_sub(1)).unwrap_or(&"");
    let day = part(8, 10).trim_start_matches('0');
    match now.get(..4) == at.get(..4) {
        true => format!("{day} {month}"),
        false => format!("{day} {month} {}", part(0, 4)),
    }
}

/// As [`age`], where no element can stand.
pub fn ago(now: Time, at: Time) -> String {
    let past = (now.0 - at.0).max(0);
    match past {
        past if past < MINUTE => format!("{} s", past / SECOND),
        past if past < HOUR => format!("{} min", past / MINUTE),
        past if past < DAY => format!("{} h", past / HOUR),
        past => format!("{} d", past / DAY),
    }
}

/// `1 task`, `2,114 tasks`, `9,999+ tasks`.
pub fn count(count: i64, one: &str, many: &str) -> String {
    let word = if count == 1 { one } else { many };
    format!("{} {word}", number(count))
}

pub fn number(count: i64) -> String {
    match count {
        10_000.. => "9,999+".to_owned(),
        1_000.. => format!("{},{:03}", count / 1_000, count % 1_000),
        _ => count.to_string(),
    }
}

/// A number with all its digits: `10,000`.
pub fn exact(count: usize) -> String {
    let digits = count.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// A text as one segment of an address.
pub fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'@' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The text of a part of an address or of a form.
pub fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let coded = match (first, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match (coded, first) {
            (Some((high, low)), _) => {
                bytes.push(high * 16 + low);
                rest = &after[2..];
            }
            (None, b'+') => {
                bytes.push(b' ');
                rest = after;
            }
            (None, other) => {
                bytes.push(*other);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use understory_model::Time;

    use super::*;

    #[test]
    fn ages_are_short() {
        let now = Time(100 * DAY);
        let told = |past: i64| ago(now, Time(now.0 - past));
        assert_eq!(told(-5 * SECOND), "0 s", "a clock that is ahead");
        assert_eq!(told(59 * SECOND), "59 s");
        assert_eq!(told(61 * SECOND), "1 min");
        assert_eq!(told(2 * HOUR), "2 h");
        assert_eq!(told(50 * HOUR), "2 d");
    }

    #[test]
    fn counts_are_read_at_a_glance() {
        assert_eq!(count(1, "task", "tasks"), "1 task");
        assert_eq!(count(2_114, "task", "tasks"), "2,114 tasks");
        assert_eq!(number(12_000), "9,999+");
        assert_eq!(exact(10_000), "10,000");
        assert_eq!(exact(999), "999");
        assert_eq!(exact(1_234_567), "1,234,567");
    }

    #[test]
    fn stored_text_stays_text() {
        let shown = stored("<script>alert(1)</script>\u{202E}x").into_string();
        assert!(!shown.contains("<script>"), "{shown}");
        assert!(shown.contains("U+202E"), "{shown}");
        assert!(stored(" ").into_string().contains("(no title)"));
    }

    #[test]
    fn an_address_goes_there_and_back() {
        let odd = "a/b?c=é&d%20 +";
        assert_eq!(unescaped(&segment(odd)), odd);
        assert_eq!(unescaped("%F0%28%8C"), "\u{FFFD}(\u{FFFD}");
    }
}
