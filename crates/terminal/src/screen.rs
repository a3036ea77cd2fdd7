//! What the program shows: a terminal in memory that is fed with a copy of the output.
//!
//! It is only ever read. What the person sees are the program's own bytes.

use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// A row of the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Without the blanks at its end.
    pub text: String,
    /// Its text from the third column on is dim: a hint, not something that was written.
    pub dim: bool,
}

/// The screen at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub rows: Vec<Row>,
    pub cursor_row: usize,
    /// The cursor's row before and after the cursor.
    pub before_cursor: String,
    pub after_cursor: String,
    pub title: String,
    pub alternate: bool,
    /// The program asked for pasted text to be marked.
    pub brackets: bool,
    pub changed: Instant,
}

/// Remembers the title, which the screen does not contain.
#[derive(Debug, Default)]
struct Title(String);

impl vt100::Callbacks for Title {
    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.0 = String::from_utf8_lossy(title).into_owned();
    }
}

/// The terminal in memory.
pub struct Screen {
    /// None after it failed: what is shown is unknown from then on.
    parser: Option<vt100::Parser<Title>>,
    changed: Instant,
}

fn at_least_one(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap_or(NonZeroU16::MIN)
}

impl Screen {
    pub fn new(rows: u16, columns: u16, now: Instant) -> Screen {
        let (rows, columns) = (at_least_one(rows), at_least_one(columns));
        Screen {
            parser: Some(vt100::Parser::new_with_callbacks(
                rows,
                columns,
                0,
                Title::default(),
            )),
            changed: now,
        }
    }

    pub fn feed(&mut self, output: &[u8], now: Instant) {
        self.guarded(|parser| parser.process(output));
        self.changed = now;
    }

    pub fn resize(&mut self, rows: u16, columns: u16, now: Instant) {
        self.guarded(|parser| parser.set_size(at_least_one(rows), at_least_one(columns)));
        self.changed = now;
    }

    /// A fault in the emulator costs us what we know of the screen, and the person nothing.
    fn guarded(&mut self, work: impl FnOnce(&mut vt100::Parser<Title>)) {
        if let Some(parser) = &mut self.parser
            && catch_unwind(AssertUnwindSafe(|| work(parser))).is_err()
        {
            self.parser = None;
        }
    }

    /// What is shown, unless that is unknown.
    pub fn seen(&self) -> Option<Seen> {
        let parser = self.parser.as_ref()?;
        let screen = parser.screen();
        let (rows, columns) = screen.size();
        let (rows, columns) = (rows.get(), columns.get());
        let (cursor_row, cursor_column) = screen.cursor_position();
        let part = |from: u16, to: u16| -> String {
            let cells = (from..to).filter_map(|column| screen.cell(cursor_row, column));
            let cells = cells.filter(|cell| !cell.is_wide_continuation());
            let texts = cells.map(|cell| {
                if cell.has_contents() {
                    cell.contents()
                } else {
                    " "
                }
            });
            texts.collect()
        };
        Some(Seen {
            rows: (0..rows)
                .map(|row| Row::read(screen, row, columns))
                .collect(),
            cursor_row: usize::from(cursor_row),
            before_cursor: part(0, cursor_column.min(columns)),
            after_cursor: part(cursor_column, columns),
            title: parser.callbacks().0.clone(),
            alternate: screen.alternate_screen(),
            brackets: screen.bracketed_paste(),
            changed: self.changed,
        })
    }

    /// The bytes that undo what the program switched on and, being killed, could not switch off.
    pub fn undo(&self) -> Vec<u8> {
        let mut undo =
            b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l".to_vec();
        if let Some(parser) = &self.parser
            && parser.screen().alternate_screen()
        {
            undo.extend_from_slice(b"\x1b[?1049l");
        }
        undo.extend_from_slice(b"\x1b[<u\x1b[?1l\x1b>\x1b[?25h\x1b[0m");
        undo
    }
}

impl Row {
    fn read(screen: &vt100::Screen, row: u16, columns: u16) -> Row {
        let mut text = String::new();
        let mut dim = true;
        for column in 0..columns {
            let Some(cell) = screen.cell(row, column) else {
                break;
            };
            if cell.is_wide_continuation() {
                continue;
            }
            if cell.has_contents() {
                text.push_str(cell.contents())
            } else {
                text.push(' ')
            }
            // The first columns hold the mark, and the cursor may be drawn over the first letter.
            let written = cell.has_contents() && cell.contents() != " " && !cell.inverse();
            if column >= 2 && written && !cell.dim() {
                dim = false;
            }
        }
        text.truncate(text.trim_end().len());
        Row { text, dim }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What fails in the emulator is survived, but no screen is known afterwards.
        #[test]
        fn no_output_breaks_the_emulator(
            chunks in prop::collection::vec(
                prop_oneof![
                    prop::collection::vec(any::<u8>(), 0..40),
                    "(\x1b\\[[0-9;?]{0,6}[A-Za-z@`]|[a日é👩\u{200d}\u{301}]|\r\n|\x1b[78MD]){0,20}"
                        .prop_map(String::into_bytes),
                ],
                0..12,
            ),
            sizes in prop::collection::vec((0_u16..12, 0_u16..12), 1..4),
        ) {
            let now = Instant::now();
            let mut screen = Screen::new(5, 10, now);
            for (index, chunk) in chunks.iter().enumerate() {
                screen.feed(chunk, now);
                if index % 3 == 0 {
                    let (rows, columns) = sizes[index % sizes.len()];
                    screen.resize(rows, columns, now);
                }
                prop_assert!(screen.seen().is_some());
            }
        }
    }

    fn shown(output: &[u8]) -> Seen {
        let now = Instant::now();
        let mut screen = Screen::new(5, 20, now);
        screen.feed(output, now);
        screen
            .seen()
            .unwrap_or_else(|| Screen::new(1, 1, now).seen().expect("new"))
    }

    #[test]
    fn modes_and_title_are_known() {
        let seen = shown(b"\x1b[?2004h\x1b[?1049h\x1b]0;\xe2\xa0\xa6 bakery\x07");
        assert!(seen.brackets && seen.alternate);
        assert_eq!(seen.title, "⠦ bakery");
        assert!(!shown(b"\x1b[?2004h\x1b[?2004l").brackets);
    }

    #[test]
    fn the_row_of_the_cursor_is_split_at_it() {
        let seen = shown("日本 $ rest\x1b[4D".as_bytes());
        assert_eq!(seen.before_cursor, "日本 $ ");
        assert_eq!(seen.after_cursor.trim_end(), "rest");
    }

    #[test]
    fn a_hint_is_told_from_what_was_written() {
        let seen = shown("❯ \x1b[7mT\x1b[27m\x1b[2mry this\x1b[0m\r\n❯ this".as_bytes());
        assert!(seen.rows[0].dim && !seen.rows[1].dim);
    }

    #[test]
    fn a_terminal_without_a_size_is_no_fault() {
        let now = Instant::now();
        let mut screen = Screen::new(0, 0, now);
        screen.feed("a日\r\n\x1b[5;5H\x1b[2Jb".as_bytes(), now);
        screen.resize(0, 3, now);
        assert!(screen.seen().is_some());
    }
}
