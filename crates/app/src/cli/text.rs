//! A line of text for a person: pieces with a style each, as wide as a terminal shows it.
//!
//! Whatever is put in here may come from anybody, so it is made harmless on the way in: nothing
//! stored can move the cursor, change colours or turn the writing direction of what follows.

use understory_model::text::printable;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How a piece looks where colours are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Plain,
    Bold,
    Dim,
    Good,
    Warn,
    Bad,
    Name,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Bold => "\x1b[1m",
            Style::Dim => "\x1b[2m",
            Style::Good => "\x1b[32m",
            Style::Warn => "\x1b[33m",
            Style::Bad => "\x1b[1;31m",
            Style::Name => "\x1b[36m",
        }
    }
}

const RESET: &str = "\x1b[0m";
/// With fewer columns than this, breaking lines makes them no more readable.
const ROOM: usize = 20;

/// One line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(Vec<(Style, String)>);

impl Text {
    pub fn new() -> Text {
        Text::default()
    }

    /// Adds a piece; line breaks and tabs become spaces.
    #[must_use]
    pub fn add(mut self, style: Style, piece: impl AsRef<str>) -> Text {
        let piece = printable(piece.as_ref()).replace(['\n', '\t'], " ");
        if !piece.is_empty() {
            self.0.push((style, piece));
        }
        self
    }

    #[must_use]
    pub fn plain(self, piece: impl AsRef<str>) -> Text {
        self.add(Style::Plain, piece)
    }

    #[must_use]
    pub fn bold(self, piece: impl AsRef<str>) -> Text {
        self.add(Style::Bold, piece)
    }

    #[must_use]
    pub fn dim(self, piece: impl AsRef<str>) -> Text {
        self.add(Style::Dim, piece)
    }

    /// A handle or another name that can be used again.
    #[must_use]
    pub fn name(self, piece: impl AsRef<str>) -> Text {
        self.add(Style::Name, piece)
    }

    #[must_use]
    pub fn then(mut self, more: Text) -> Text {
        self.0.extend(more.0);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The columns that it takes in a terminal.
    pub fn width(&self) -> usize {
        self.0.iter().map(|(_, piece)| piece.width()).sum()
    }

    /// The line in at most `most` columns, with an ellipsis where it was cut.
    #[must_use]
    pub fn fit(self, most: usize) -> Text {
        if self.width() <= most {
            return self;
        }
        let mut left = most.saturating_sub(1);
        let mut kept = Text::new();
        for (style, piece) in self.0 {
            let cut = prefix(&piece, left);
            left = left.saturating_sub(cut.width());
            let whole = cut.len() == piece.len();
            kept.0.push((style, cut.to_owned()));
            if !whole {
                break;
            }
        }
        kept.0.push((Style::Plain, "…".to_owned()));
        kept
    }

    /// The line broken between words into lines of at most `most` columns; those after the first
    /// begin `hang` columns in.
    pub fn wrap(self, most: usize, hang: usize) -> Vec<Text> {
        if self.width() <= most || most < hang + ROOM {
            return vec![self];
        }
        let (mut lines, mut line, mut used) = (Vec::new(), Text::new(), 0);
        for (style, piece) in self.0 {
            for word in piece.split_inclusive(' ') {
                if used > hang && used + word.trim_end().width() > most {
                    lines.push(std::mem::take(&mut line));
                    line = Text::from(" ".repeat(hang));
                    used = hang;
                }
                used += word.width();
                match line.0.last_mut() {
                    Some((last, text)) if *last == style => text.push_str(word),
                    _ => line.0.push((style, word.to_owned())),
                }
            }
        }
        lines.push(line);
        lines
    }

    /// What is written.
    pub fn rendered(&self, colour: bool) -> String {
        let mut out = String::new();
        for (style, piece) in &self.0 {
            if colour && *style != Style::Plain {
                out.push_str(style.code());
                out.push_str(piece);
                out.push_str(RESET);
            } else {
                out.push_str(piece);
            }
        }
        out
    }
}

/// The longest beginning that takes at most `most` columns.
fn prefix(text: &str, most: usize) -> &str {
    let mut width = 0;
    for (at, letter) in text.char_indices() {
        width += letter.width().unwrap_or(0);
        if width > most {
            return &text[..at];
        }
    }
    text
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::new().plain(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text::new().plain(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_take_two_columns_and_are_never_halved() {
        let text = Text::from("日本語のテスト");
        assert_eq!(text.width(), 14);
        let cut = text.fit(8);
        assert_eq!(cut.rendered(false), "日本語…");
        assert!(cut.width() <= 8);
        assert_eq!(Text::from("e\u{301}te\u{301}").width(), 3);
        assert_eq!(Text::from("🌱").width(), 2);
        assert_eq!(Text::from("abc").fit(3).rendered(false), "abc");
        assert_eq!(Text::from("abcd").fit(3).rendered(false), "ab…");
        assert_eq!(Text::from("abcd").fit(0).rendered(false), "…");
    }

    #[test]
    fn a_cut_goes_through_the_pieces() {
        let text = Text::new().bold("abc").plain(" ").dim("defgh");
        assert_eq!(text.width(), 9);
        assert_eq!(text.clone().fit(6).rendered(false), "abc d…");
        assert_eq!(text.fit(3).rendered(false), "ab…");
    }

    #[test]
    fn lines_break_between_words() {
        let text = Text::new().dim("name  ").plain("one two three four five");
        let lines = text.wrap(26, 6);
        let lines: Vec<String> = lines.iter().map(|line| line.rendered(false)).collect();
        assert_eq!(lines, ["name  one two three four ", "      five"]);
        let long = "x".repeat(50);
        assert_eq!(Text::from(long.as_str()).wrap(30, 0).len(), 1);
        assert_eq!(
            Text::from("a b c").wrap(2, 0).len(),
            1,
            "too narrow to bother"
        );
    }

    #[test]
    fn nothing_stored_drives_the_terminal() {
        let text = Text::from("a\x1b[31mb\u{9b}2J\u{202e}c\nd\te\x07");
        let shown = text.rendered(true);
        assert!(
            !shown.contains(|c: char| c.is_control() || c == '\u{202e}'),
            "{shown}"
        );
        assert!(shown.contains("a\\u{1b}[31mb") && shown.contains("c d e"));
    }

    #[test]
    fn colours_only_when_wanted() {
        let text = Text::new().bold("x").plain("y");
        assert_eq!(text.rendered(true), "\x1b[1mx\x1b[0my");
        assert_eq!(text.rendered(false), "xy");
    }
}
