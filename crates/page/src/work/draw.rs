//! The parts of the picture: boxes with their text, lines between them, and folds. SVG has no lines of text
//! of its own, so titles are broken here by how wide their signs usually are.

use maud::{Markup, html};

use super::layout::{Point, Size};
use crate::text::plain;

/// A card of an open task, what is left of a done one, and what is counted rather than drawn.
pub const CARD: Size = Size {
    width: 148.0,
    height: 76.0,
};
pub const DONE: Size = Size {
    width: 116.0,
    height: 44.0,
};
pub const FOLD: Size = Size {
    width: 148.0,
    height: 44.0,
};

/// A title in at most two lines of so many ems; what does not fit ends in `…`.
pub fn lines(text: &str, ems: f64) -> Vec<String> {
    // Of ten thousand signs, two lines show few.
    let text: String = plain(text).chars().take(200).collect();
    let mut words = text.split_whitespace();
    let mut found: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in words.by_ref() {
        let with = match line.is_empty() {
            true => word.to_owned(),
            false => format!("{line} {word}"),
        };
        if wide(&with) <= ems {
            line = with;
            continue;
        }
        if line.is_empty() {
            // A word that is longer than a line breaks anywhere.
            let (begin, rest) = broken(word, ems);
            found.push(begin);
            line = rest;
        } else {
            found.push(std::mem::take(&mut line));
            line = word.to_owned();
        }
        if wide(&line) > ems && found.len() < 2 {
            let (begin, rest) = broken(&line, ems);
            found.push(begin);
            line = rest;
        }
        if found.len() >= 2 {
            break;
        }
    }
    let whole = words.next().is_none();
    if found.len() < 2 && !line.is_empty() {
        found.push(std::mem::take(&mut line));
    }
    if (!line.is_empty() || !whole || found.len() > 2) && !found.is_empty() {
        found.truncate(2);
        if let Some(last) = found.last_mut() {
            while wide(last) > ems - 1.0 && last.pop().is_some() {}
            *last = format!("{}…", last.trim_end());
        }
    }
    found
}

fn broken(word: &str, ems: f64) -> (String, String) {
    let mut width = 0.0;
    let end = word.char_indices().find(|(_, sign)| {
        width += em(*sign);
        width > ems
    });
    let at = end.map_or(word.len(), |(at, _)| at);
    (word[..at].to_owned(), word[at..].to_owned())
}

fn wide(text: &str) -> f64 {
    text.chars().map(em).sum()
}

/// About how wide a sign is, in ems of a sans-serif font.
fn em(sign: char) -> f64 {
    match sign {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | ' ' | '.' | ',' | ':' | ';' | '\'' | '|'
        | '!' | '(' | ')' => 0.34,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.88,
        'A'..='Z' => 0.68,
        '\u{0300}'..='\u{036F}' | '\u{200B}'..='\u{200D}' | '\u{FE00}'..='\u{FE0F}' => 0.0,
        '\u{1100}'..='\u{11FF}'
        | '\u{2E80}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FF00}'..='\u{FF60}' => 1.05,
        '\u{1F000}'.. => 1.3,
        _ => 0.58,
    }
}

/// Whether a text begins from the right.
fn from_right(text: &str) -> bool {
    let strong = text.chars().find(|sign| sign.is_alphabetic());
    strong.is_some_and(|sign| matches!(sign, '\u{0590}'..='\u{08FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}'))
}

/// A title within a box, cut off at its edges.
pub fn title(text: &str, corner: Point, room: Size, step: f64) -> Markup {
    let shown = lines(text, room.width / 13.0 / 1.04);
    let right = from_right(text);
    let x = if right { room.width } else { 0.0 };
    html! {
        svg.text x=(corner.x) y=(corner.y) width=(room.width) height=(room.height) {
            @if shown.is_empty() { text.quiet x="0" y="13" { "(no title)" } }
            @for (at, line) in shown.iter().enumerate() {
                text x=(x) y=(13.0 + at as f64 * step) direction=[right.then_some("rtl")] { (line) }
            }
        }
    }
}

/// A line through points, with a head at its end.
pub fn line(points: &[Point], class: &str) -> Markup {
    let Some((first, last)) = points.first().zip(points.last()) else {
        return html! {};
    };
    // The line ends where its head begins.
    let end = last.x - 6.0;
    let mut path = format!("M{} {}", round(first.x), round(first.y));
    for (at, pair) in points.windows(2).enumerate() {
        let to = if at + 2 == points.len() {
            end
        } else {
            pair[1].x
        };
        let (from, y) = (pair[0], pair[1].y);
        if (from.y - y).abs() < 0.5 {
            path.push_str(&format!("L{} {}", round(to), round(y)));
        } else {
            let half = round(from.x.midpoint(to));
            path.push_str(&format!(
                "C{half} {} {half} {} {} {}",
                round(from.y),
                round(y),
                round(to),
                round(y)
            ));
        }
    }
    let (x, y) = (round(last.x), round(last.y));
    html! {
        g class={ "line " (class) } {
            path d=(path) {}
            path.head d={ "M" (x) " " (y) "l-7 -3.5v7z" } {}
        }
    }
}

/// To half a pixel.
fn round(at: f64) -> f64 {
    (at * 2.0).round() / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_broken_at_words() {
        assert_eq!(lines("Launch", 10.0), ["Launch"]);
        assert_eq!(
            lines("Move the store to PostgreSQL", 10.0),
            ["Move the store to", "PostgreSQL"]
        );
        assert_eq!(lines("", 10.0), [""; 0]);
        assert_eq!(lines(" \n ", 10.0), [""; 0]);
    }

    #[test]
    fn what_does_not_fit_is_cut() {
        let long = lines(&"word ".repeat(400), 10.0);
        assert_eq!(long.len(), 2);
        assert!(long[1].ends_with('…'), "{long:?}");
        let one = lines(&"W".repeat(10_000), 10.0);
        assert_eq!(one.len(), 2, "{one:?}");
        assert!(one.iter().all(|line| wide(line) <= 11.0), "{one:?}");
        assert!(one[1].ends_with('…'), "{one:?}");
        let emoji = lines(&"🐢".repeat(100), 10.0);
        assert!(emoji[0].chars().count() < 10, "{emoji:?}");
        assert!(lines("a\u{202E}b", 10.0)[0].contains("U+202E"));
    }

    #[test]
    fn each_direction_has_its_side() {
        assert!(from_right("שלום"));
        assert!(from_right("1. مرحبا"));
        assert!(!from_right("Sell שלום"));
    }

    #[test]
    fn a_line_ends_in_a_head() {
        let points = [Point { x: 0.0, y: 10.0 }, Point { x: 100.0, y: 30.0 }];
        let drawn = line(&points, "half").into_string();
        assert!(drawn.contains("M0 10C47 10 47 30 94 30"), "{drawn}");
        assert!(drawn.contains("M100 30l-7 -3.5v7z"), "{drawn}");
        assert_eq!(line(&[], "").into_string(), "");
    }
}
