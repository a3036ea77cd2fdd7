//! The rules of typing, one by one, and for any bytes.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::Typing;

/// What is typed in one go, followed by a pause.
fn after(chunks: &[&[u8]]) -> Typing {
    let start = Instant::now();
    let mut typing = Typing::default();
    for (index, chunk) in (0..).zip(chunks) {
        typing.feed(chunk, start + Duration::from_secs(index));
    }
    typing
}

fn later() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

fn half_typed(bytes: &[u8]) -> bool {
    after(&[bytes]).half_typed(later())
}

#[test]
fn a_line_is_half_typed_until_it_is_submitted_or_cleared() {
    assert!(!half_typed(b""));
    assert!(half_typed(b"ls"));
    assert!(half_typed("ü".as_bytes()));
    for end in [b'\r', 0x03, 0x15] {
        assert!(!half_typed(&[b'l', b's', end]), "{end:#x}");
        assert!(half_typed(&[b'l', end, b's']), "{end:#x}");
    }
}

#[test]
fn deleting_every_character_empties_the_line() {
    assert!(!half_typed(b"ab\x7f\x7f"));
    assert!(half_typed(b"abc\x7f\x7f"));
    assert!(!half_typed("日ü\x7f\x7f".as_bytes()));
    assert!(!half_typed(b"a\x7f\x7f\x7f"));
    assert!(half_typed(b"\x7f\x7fa"));
}

#[test]
fn deleting_empties_nothing_when_the_cursor_may_be_elsewhere() {
    assert!(half_typed(b"ab\x1b[D\x7f\x7f"), "arrow");
    assert!(half_typed(b"ab\x01\x7f\x7f"), "Ctrl-A");
    assert!(half_typed(b"ab\t\x7f\x7f"), "Tab");
    assert!(
        half_typed(b"ab\x1b[D\x15"),
        "Ctrl-U deletes up to the cursor"
    );
    assert!(
        !half_typed(b"ab\t\x15"),
        "after Tab the cursor is at the end"
    );
    assert!(
        !half_typed(b"ab\x1b[D\x7f\r"),
        "Return submits it in any case"
    );
}

#[test]
fn reports_of_the_terminal_are_not_typing() {
    for report in [
        &b"\x1b[A\x1b[B\x1bOA"[..],
        b"\x1b[I\x1b[O",
        b"\x1b[24;80R",
        b"\x1b[?64;1;2c\x1b[>0;276;0c",
        b"\x1b[<0;10;20M\x1b[<0;10;20m\x1b[<64;1;1M",
        b"\x1b[M #!",
        b"\x1b]11;rgb:0000/0000/0000\x07",
        b"\x1b]11;rgb:0000/0000/0000\x1b\\",
        b"\x1bP>|tmux 3.3a\x1b\\",
        b"\x1bP1+r524742=38\x1b\\",
        b"\x1b_Gi=31;OK\x1b\\",
        b"\x1b[?2026;2$y\x1b[?0u\x1b[8;24;80t",
        b"\x1b[15~\x1b[3;5~",
    ] {
        let typing = after(&[report]);
        assert!(!typing.half_typed(later()), "{report:?}");
        assert_eq!(typing.last_key(), None, "{report:?}");
    }
}

#[test]
fn a_sequence_may_come_in_parts() {
    let report = b"\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[24;80R\x1b[<0;10;20M";
    let now = Instant::now();
    for cut in 0..report.len() {
        let mut typing = Typing::default();
        typing.feed(&report[..cut], now);
        typing.feed(&report[cut..], now);
        assert!(!typing.half_typed(later()), "cut at {cut}");
    }
}

#[test]
fn nothing_may_come_between_the_parts_of_a_sequence() {
    let now = Instant::now();
    for part in [&b"\x1b"[..], b"\x1b[", b"\x1b[1;"] {
        let mut typing = Typing::default();
        typing.feed(part, now);
        assert!(typing.half_typed(now), "{part:?}");
    }
}

#[test]
fn the_escape_key_is_not_typing_but_the_key_after_it_is() {
    assert!(!half_typed(b"\x1b"));
    assert!(after(&[b"\x1b", b"h"]).half_typed(later()));
    assert!(after(&[b"\x1b", b"[", b"h"]).half_typed(later()));
    assert!(half_typed(b"\x1bh"), "Alt may insert");
    assert!(!after(&[b"\x1b", b"\x1b[A"]).half_typed(later()));
}

#[test]
fn pasted_text_is_typing_and_its_line_breaks_submit_nothing() {
    assert!(half_typed(b"\x1b[200~hello\x1b[201~"));
    assert!(half_typed(b"\x1b[200~one\rtwo\r\x1b[201~"));
    assert!(
        half_typed(b"\x1b[200~one\rtwo\x1b[201~\x15"),
        "of several lines, Ctrl-U drops one"
    );
    assert!(!half_typed(b"\x1b[200~one\rtwo\x1b[201~\r"));
    assert!(half_typed(b"\x1b[200~a\x1b[20"), "not ended");
    assert!(half_typed(b"\x1b[200~\x1b[201~"), "an image, perhaps");
    assert!(
        half_typed(b"\x1b[200~\x03\x15\r\x1b[201~"),
        "control characters are text here"
    );
}

#[test]
fn a_return_that_continues_the_line_does_not_submit_it() {
    assert!(half_typed(b"one\\\r"), "after a backslash");
    assert!(half_typed(b"one\x1b\r"), "with Alt");
    assert!(half_typed(b"one\n"), "Ctrl-J");
    assert!(half_typed(b"one\x1b[13;2u"), "with Shift");
    assert!(!half_typed(b"one\\\rtwo\r"));
}

#[test]
fn keys_in_the_newer_encodings_are_the_same_keys() {
    assert!(half_typed(b"\x1b[97u"), "a");
    assert!(half_typed(b"\x1b[97;2u"), "A");
    assert!(half_typed(b"\x1b[57400u"), "1 of the keypad");
    assert!(!half_typed(b"a\x1b[127u"), "Backspace");
    assert!(!half_typed(b"ab\x1b[13u"), "Return");
    assert!(!half_typed(b"ab\x1b[99;5u"), "Ctrl-C");
    assert!(!half_typed(b"ab\x1b[27;5;117~"), "Ctrl-U");
    assert!(
        !half_typed(b"ab\x1b[117;5:1u\x1b[117;5:3u"),
        "pressed and released"
    );
    assert!(
        !half_typed(b"\x1b[97;1:3u\x1b[57441;2u"),
        "released; a Shift key of its own"
    );
    assert!(
        half_typed(b"ab\x1b[57414;1:3u"),
        "releasing Enter submits nothing"
    );
}

#[test]
fn the_last_key_is_remembered_beyond_the_line() {
    let typing = after(&[b"ls\r", b"\x1b[I"]);
    let first = typing.last_key();
    assert!(first.is_some() && !typing.half_typed(later()));
}

proptest! {
    #[test]
    fn how_bytes_are_cut_changes_nothing(
        bytes in prop::collection::vec(any_byte(), 0..60),
        cut in 0_usize..60,
    ) {
        let now = Instant::now();
        let cut = cut.min(bytes.len());
        let (mut whole, mut parts) = (Typing::default(), Typing::default());
        whole.feed(&bytes, now);
        parts.feed(&bytes[..cut], now);
        parts.feed(&bytes[cut..], now);
        prop_assert_eq!(whole.half_typed(later()), parts.half_typed(later()));
    }

    #[test]
    fn a_character_after_anything_is_typing(
        bytes in prop::collection::vec(any_byte(), 0..40),
        character in "[a-zA-Z0-9äß日]",
    ) {
        let start = Instant::now();
        let mut typing = Typing::default();
        typing.feed(&bytes, start);
        // A key that a person presses comes later than any sequence lasts.
        typing.feed(character.as_bytes(), start + Duration::from_secs(1));
        prop_assert!(typing.half_typed(start + Duration::from_secs(2)));
    }

    #[test]
    fn visible_text_is_empty_again_once_it_is_submitted(text in "[^\\\\\\p{C}]*") {
        let text = format!("{text}\r");
        prop_assert!(!half_typed(text.as_bytes()));
    }
}

/// Bytes of which many belong to sequences, so that random ones reach every state.
fn any_byte() -> impl Strategy<Value = u8> {
    prop_oneof![
        Just(0x1b_u8),
        prop::sample::select(b"[]OPM~;<?u0123456789ABR\\\r\n\x07\x7f\x15".to_vec()),
        any::<u8>(),
    ]
}
