//! The text of a delivery, made harmless: what is left can be typed and does nothing but appear.

use std::fmt::Write as _;

use crate::profile::Profile;

/// A terminal in line mode drops or refuses what is beyond this many bytes of one line.
const CANONICAL_LINE: usize = 1000;

/// Why a text cannot be delivered, whatever the program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the text is empty")]
    Empty,
    #[error("the text has several lines, and the program accepts no pasted text")]
    SeveralLines,
    #[error("the text is longer than a terminal takes as one line")]
    TooLong,
    #[error("the text begins like a command of the program")]
    LikeACommand,
    #[error("standard input or output is not a terminal")]
    NoTerminal,
}

/// How the program reads what is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reader {
    /// It asked for pasted text to be marked (mode 2004).
    pub brackets: bool,
    /// The terminal collects a line for it.
    pub canonical: bool,
}

/// Text without anything that a terminal or a program acts on: no control characters, so no escape
/// sequence and no end of a paste, and nothing that hides or reorders what is shown.
pub fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' => {
                characters.next_if_eq(&'\n');
                cleaned.push('\n');
            }
            '\n' | '\u{2028}' | '\u{2029}' | '\u{85}' => cleaned.push('\n'),
            '\t' => cleaned.push(' '),
            hidden if hidden.is_control() || invisible(hidden) => {}
            visible => cleaned.push(visible),
        }
    }
    cleaned.trim().to_owned()
}

/// Characters that change the order of others, or carry text that nobody sees.
fn invisible(character: char) -> bool {
    matches!(
        character,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// The bytes that put a cleaned text in front of the program, without the Return that submits it.
pub fn typed(text: &str, reader: Reader, profile: &Profile) -> Result<Vec<u8>, Refusal> {
    if text.is_empty() {
        return Err(Refusal::Empty);
    }
    if text.starts_with(profile.commands) {
        return Err(Refusal::LikeACommand);
    }
    if reader.canonical && text.len() > CANONICAL_LINE {
        return Err(Refusal::TooLong);
    }
    if !reader.brackets {
        let one_line = !text.contains('\n');
        return if one_line {
            Ok(text.as_bytes().to_vec())
        } else {
            Err(Refusal::SeveralLines)
        };
    }
    let mut bracketed = String::with_capacity(text.len() + 12);
    // Writing to a string cannot fail.
    let _ = write!(bracketed, "\x1b[200~{text}\x1b[201~");
    Ok(bracketed.into_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PASTES: Reader = Reader {
        brackets: true,
        canonical: false,
    };
    const PLAIN: Reader = Reader {
        brackets: false,
        canonical: true,
    };

    #[test]
    fn a_paste_cannot_be_ended_from_inside() {
        for hostile in [
            "a\x1b[201~\rrm -rf /\r",
            "a\x1b[20\x1b[201~1~b",
            "a\u{9b}201~b",
            "\x1b\x1b[201~",
            "a\x03\x04\x15b",
        ] {
            let typed = typed(&clean(hostile), PASTES, &Profile::GENERIC).unwrap_or_default();
            let inner = &typed[6..typed.len() - 6];
            assert!(
                inner.iter().all(|byte| *byte >= 0x20 || *byte == b'\n'),
                "{hostile:?}"
            );
        }
    }

    #[test]
    fn lines_stay_lines_and_words_stay_apart() {
        assert_eq!(
            clean("one\r\ntwo\rthree\tfour\u{2028}five\n"),
            "one\ntwo\nthree four\nfive"
        );
    }

    #[test]
    fn what_is_read_is_what_is_seen() {
        assert_eq!(clean("a\u{202e}b\u{e0041}c\u{feff}"), "abc");
        assert_eq!(
            clean("👩\u{200d}🌾 für 日本"),
            "👩\u{200d}🌾 für 日本",
            "joined characters stay"
        );
    }

    #[test]
    fn several_lines_need_a_program_that_takes_pastes() {
        assert_eq!(
            typed("a\nb", PLAIN, &Profile::GENERIC),
            Err(Refusal::SeveralLines)
        );
        assert_eq!(typed("a b", PLAIN, &Profile::GENERIC), Ok(b"a b".to_vec()));
        assert_eq!(
            typed("a\nb", PASTES, &Profile::GENERIC),
            Ok(b"\x1b[200~a\nb\x1b[201~".to_vec())
        );
    }

    #[test]
    fn a_line_that_the_terminal_would_cut_is_refused() {
        let long = "x".repeat(CANONICAL_LINE + 1);
        assert_eq!(
            typed(&long, PLAIN, &Profile::GENERIC),
            Err(Refusal::TooLong)
        );
        assert!(typed(&long, PASTES, &Profile::GENERIC).is_ok());
    }

    #[test]
    fn an_agent_is_given_no_commands_of_its_own() {
        for command in ["!rm -rf /", "/clear", "#remember"] {
            assert_eq!(
                typed(command, PASTES, &Profile::CLAUDE),
                Err(Refusal::LikeACommand)
            );
        }
        assert_eq!(
            typed(&clean(" \n\x1b"), PASTES, &Profile::CLAUDE),
            Err(Refusal::Empty)
        );
    }

    proptest! {
        #[test]
        fn nothing_but_visible_text_and_line_breaks_is_left(text in "\\PC*|(?s).*|[\\x00-\\x1f\\x7f-\\x9f\\[~012]*") {
            let cleaned = clean(&text);
            prop_assert!(cleaned.chars().all(|c| c == '\n' || !c.is_control()));
            prop_assert_eq!(&clean(&cleaned), &cleaned, "cleaning is done after once");
        }

        #[test]
        fn text_that_was_harmless_is_not_changed(text in "[a-zA-Z0-9äöüß€日本 .,:;!?-]*") {
            prop_assert_eq!(clean(&text), text.trim());
        }
    }
}
