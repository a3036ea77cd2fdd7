//! Text as search, limits and terminals see it.

use proptest::prelude::*;
use understory_model::limits;
use understory_model::text::{
    MAX_GRAMS, check_text, fold, grams, is_unseen, printable, query_words, quoted, searchable,
    snippet, words,
};

/// Texts of ASCII alone take a shorter way, to the same words, letters and codes.
#[test]
fn plain_texts_are_read_as_others_are() {
    let all: String = (0..128_u8).map(char::from).collect();
    let long = "Word".repeat(40);
    for text in [
        "",
        "a",
        "Ab",
        "Fix THE parser\n of 3 things_now",
        "--x--",
        &all,
        &long,
    ] {
        // One letter that is not ASCII, set apart.
        let other = format!("{text} \u{e9}");
        let mut words = searchable(text);
        words.push_str(if words.is_empty() { "e" } else { " e" });
        assert_eq!(searchable(&other), words, "{text:?}");
        assert_eq!(fold(&other), fold(text) + " \u{e9}", "{text:?}");
        let (plain, more) = (grams(&fold(text)), grams(&fold(&other)));
        assert!(plain.iter().all(|code| more.contains(code)), "{text:?}");
        let distinct: std::collections::HashSet<&[u8]> = text.as_bytes().windows(3).collect();
        assert!(plain.len() <= distinct.len(), "{text:?}");
    }
    for word in ["a", "about", "their", "would", "your"] {
        assert!(understory_model::text::is_common(word), "{word}");
    }
}

#[test]
fn folding() {
    assert_eq!(fold("ÄRGER\0\tÉté İ"), "ärger  été i\u{307}");
}

#[test]
fn gram_codes_are_stored_and_must_not_change() {
    assert_eq!(grams("ab"), Vec::<i32>::new());
    assert_eq!(grams("abc"), [440_920_331]);
    assert_eq!(grams("aaaa").len(), 1);
    assert_eq!(grams("日本語文").len(), 2);
    let long: String = (0..5000)
        .filter_map(|i| char::from_u32(0x4e00 + i))
        .collect();
    assert_eq!(grams(&long).len(), MAX_GRAMS);
}

#[test]
fn words_of_many_scripts() {
    assert_eq!(
        words("Don't re-open TASK-001, ÉTÉ!"),
        ["don", "t", "re", "open", "task", "001", "été"]
    );
    assert_eq!(words("日本go語"), ["日", "本", "go", "語"]);
    assert_eq!(words(&"x".repeat(100)), ["x".repeat(64)]);
    assert_eq!(words("%_\"*:^"), Vec::<String>::new());
}

#[test]
fn query_words_drop_the_common_ones() {
    assert_eq!(query_words("the Lock of the lock file"), ["lock", "file"]);
    assert_eq!(query_words("to be or not to be"), ["to", "be", "or", "not"]);
    let many: String = (0..100).map(|i| format!("w{i} ")).collect();
    assert_eq!(query_words(&many).len(), 32);
}

#[test]
fn snippets_show_where_words_meet() {
    let text = "We lock early. Later on, nothing of note happens for quite a while, and then \
                the lock is\n\n  released by the retry loop, which is where it ended.";
    let found = snippet(text, &query_words("retries lock"), 60);
    assert!(
        found.contains("**lock** is released by the **retry** loop"),
        "{found}"
    );
    assert!(found.starts_with('…') && found.ends_with('…'), "{found}");
    assert_eq!(snippet("short and plain", &[], 60), "short and plain");
    assert_eq!(
        snippet("nothing is found in here", &query_words("zebra"), 12),
        "nothing is…"
    );
    assert_eq!(
        snippet("日本語の話", &query_words("日本"), 60),
        "**日本**語の話"
    );
    assert_eq!(snippet("", &query_words("a"), 10), "");
}

#[test]
fn limits_are_named() {
    assert!(check_text("title", "ééé", 3, false).is_ok());
    assert!(check_text("title", " ", 3, true).is_ok());
    let long = check_text("title", "éééé", 3, false).unwrap_err();
    assert_eq!(long.message, "title: is longer than 3 characters");
    assert!(check_text("title", " \n", 3, false).is_err());
    assert!(check_text("title", "a\0", 3, true).is_err());
}

#[test]
fn terminals_are_not_driven() {
    assert_eq!(
        printable("a\tb\n\u{1b}[31m\r\u{9b}"),
        "a\tb\n\\u{1b}[31m\\u{d}\\u{9b}"
    );
    assert_eq!(
        printable("\u{202e}x\u{2069} é😀"),
        "\\u{202e}x\\u{2069} é😀"
    );
}

proptest! {
    #[test]
    fn a_part_has_the_grams_of_the_whole(whole in ".{0,60}", from in 0..60_usize, n in 0..20_usize) {
        let folded = fold(&whole);
        let part: String = folded.chars().skip(from).take(n).collect();
        let codes = grams(&folded);
        prop_assert!(codes.is_sorted() && codes.iter().all(|code| *code >= 0));
        prop_assert!(grams(&part).iter().all(|code| codes.binary_search(code).is_ok()));
    }

    #[test]
    fn snippets_are_never_wider(text in "\\PC{0,80}|([a-c]{1,6} ){0,30}", query in "[a-c ]{0,12}", width in 0..50_usize) {
        let found = snippet(&text, &query_words(&query), width);
        let kept = found.replace("**", "").replace('…', "").chars().count();
        prop_assert!(kept <= width, "{}", found);
        if !text.contains('*') {
            prop_assert_eq!(found.matches("**").count() % 2, 0);
        }
    }

    #[test]
    fn any_text_is_fine(text in any::<String>()) {
        prop_assert!(words(&text).iter().all(|word| word.chars().count() <= 64));
        prop_assert!(!fold(&text).chars().any(char::is_control));
        let shown = printable(&text);
        prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
    }
}

#[test]
fn what_is_indexed_are_words_without_accents_up_to_a_bound() {
    assert_eq!(
        searchable("Caf\u{e9}-Cr\u{e8}me, na\u{ef}ve!"),
        "cafe creme naive"
    );
    assert_eq!(
        searchable("e\u{301}tude \u{6f22}\u{5b57}"),
        "etude \u{6f22} \u{5b57}"
    );
    assert_eq!(searchable("\0 -- '\""), "");
    let long: String = (0..200_000).map(|n| format!("{n} ")).collect();
    let indexed = searchable(&long);
    assert!(indexed.len() < 2 * limits::INDEXED_BYTES);
    assert!(long.starts_with(&indexed), "whole words from the start");
    let repeated = format!("{}end", "again and ".repeat(50_000));
    assert_eq!(searchable(&repeated), "again and end");
}

#[test]
fn what_nobody_sees_is_shown_as_an_escape() {
    for c in [
        '\u{1b}',
        '\u{9b}',
        '\u{7f}',
        '\u{ad}',
        '\u{61c}',
        '\u{180e}',
        '\u{200b}',
        '\u{200e}',
        '\u{200f}',
        '\u{2028}',
        '\u{2029}',
        '\u{202e}',
        '\u{2060}',
        '\u{2064}',
        '\u{2066}',
        '\u{206a}',
        '\u{3164}',
        '\u{feff}',
        '\u{fff9}',
        '\u{fffb}',
        '\u{e0001}',
        '\u{e0041}',
        '\u{e007f}',
        '\u{e0100}',
        '\u{fe01}',
    ] {
        let shown = printable(&format!("a{c}b"));
        assert_eq!(shown, format!("a{}b", c.escape_unicode()));
    }
    // Joiners that say nothing between letters of ours, or by the dozen, are shown too.
    assert_eq!(printable("a\u{200d}b\u{200c}"), "a\\u{200d}b\\u{200c}");
    assert_eq!(printable("é\u{200d}\u{200c}é"), "é\\u{200d}\\u{200c}é");
    assert_eq!(
        printable("\u{2764}\u{fe0f}\u{fe0f}"),
        "\u{2764}\u{fe0f}\\u{fe0f}"
    );
    // Scripts and emoji that need them keep them.
    for text in [
        "می\u{200c}خواهم",
        "👩\u{200d}👩\u{200d}👧",
        "❤\u{fe0f}\u{200d}🔥",
        "1\u{fe0f}\u{20e3}",
        "日本語 ü\n\tx",
    ] {
        assert_eq!(printable(text), text);
    }
}

#[test]
fn what_is_quoted_hides_no_letter() {
    // Fillers count as letters, and nobody sees them.
    for unseen in [
        '\u{115f}',
        '\u{3164}',
        '\u{ffa0}',
        '\u{200b}',
        '\u{fe0f}',
        '\u{e0041}',
        '\u{1b}',
    ] {
        let shown = quoted(&format!("ab{unseen}c"));
        assert!(!shown.contains(is_unseen), "{shown:?}");
        assert!(shown.starts_with('"') && shown.contains("\\u{"), "{shown}");
    }
    assert_eq!(quoted("日本語"), "日本語");
    assert_eq!(quoted("a b"), "\"a b\"");
}
