//! How a text became another, word by word: what diffs on the pages mark.

use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};

use crate::text::visible;

/// Words in which two texts may differ and still be compared by words; beyond, lines are.
const WORDS: usize = 4_000;
/// Words that stay on each side of a change where what is the same is left out.
const AROUND: usize = 6;

/// A stretch of two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part<'t> {
    Same(&'t str),
    /// What stood there, and what stands there now; either may be empty.
    Changed(&'t str, &'t str),
}

/// Two texts as stretches that are the same or differ, in their order.
pub fn parts<'t>(old: &'t str, new: &'t str) -> Vec<Part<'t>> {
    let start = common(old, new);
    let (before, old, new) = (&old[..start], &old[start..], &new[start..]);
    let end = common_end(old, new);
    let after = &old[old.len() - end..];
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    let mut all = vec![Part::Same(before)];
    let count = |text: &str| text.split_whitespace().count();
    if count(old) + count(new) <= WORDS {
        joined(
            &sizes(&TextDiff::from_words(old, new)),
            (old, new),
            &mut all,
        );
    } else if old.lines().count() + new.lines().count() <= WORDS {
        joined(
            &sizes(&TextDiff::from_lines(old, new)),
            (old, new),
            &mut all,
        );
    } else {
        all.push(Part::Changed(old, new));
    }
    all.push(Part::Same(after));
    all.retain(|part| !matches!(part, Part::Same("") | Part::Changed("", "")));
    all
}

/// How many bytes of words two texts begin with alike.
fn common(old: &str, new: &str) -> usize {
    let words = old.split_inclusive(char::is_whitespace);
    let words = words.zip(new.split_inclusive(char::is_whitespace));
    let alike = words.take_while(|(old, new)| old == new && old.ends_with(char::is_whitespace));
    alike.map(|(word, _)| word.len()).sum()
}

/// How many bytes of words two texts end with alike.
fn common_end(old: &str, new: &str) -> usize {
    let mut end = 0;
    for (old, new) in old
        .char_indices()
        .rev()
        .zip(new.char_indices().rev())
        .map(|(a, b)| (a.1, b.1))
    {
        if old != new {
            break;
        }
        end += old.len_utf8();
    }
    // Back to where a word begins in both.
    let tail = &old[old.len() - end..];
    match (
        end == old.len() || end == new.len(),
        tail.find(char::is_whitespace),
    ) {
        (true, _) if old.len() == new.len() => end,
        (_, Some(at)) => end - at,
        (_, None) => 0,
    }
}

/// Each word or line that is the same, was taken away or was added, by its size.
fn sizes(diff: &TextDiff<'_, '_, str>) -> Vec<Word> {
    let word = |change: similar::Change<&str>| Word {
        tag: change.tag(),
        size: change.value().len(),
        blank: change.value().trim().is_empty(),
    };
    diff.iter_all_changes().map(word).collect()
}

/// A word or line of a difference.
struct Word {
    tag: ChangeTag,
    size: usize,
    blank: bool,
}

/// Adds changes as stretches; blank space alone does not part two changes.
fn joined<'t>(changes: &[Word], (old, new): (&'t str, &'t str), all: &mut Vec<Part<'t>>) {
    // Where the stretch of changes that is open began, and what of it is the same so far.
    let (mut at_old, mut at_new) = (0, 0);
    let mut open: Option<(usize, usize)> = None;
    let (mut end_old, mut end_new) = (0, 0);
    let mut same_from = 0;
    for Word { tag, size, blank } in changes {
        match tag {
            ChangeTag::Equal => {
                if let Some((from_old, from_new)) = open
                    && !blank
                {
                    all.push(Part::Changed(
                        &old[from_old..end_old],
                        &new[from_new..end_new],
                    ));
                    open = None;
                    same_from = end_old;
                }
                at_old += size;
                at_new += size;
                continue;
            }
            ChangeTag::Delete | ChangeTag::Insert => {
                if open.is_none() {
                    all.push(Part::Same(&old[same_from..at_old]));
                    open = Some((at_old, at_new));
                }
                if *tag == ChangeTag::Delete {
                    at_old += size;
                } else {
                    at_new += size;
                }
                (end_old, end_new) = (at_old, at_new);
            }
        }
    }
    match open {
        Some((from_old, from_new)) => {
            all.push(Part::Changed(
                &old[from_old..end_old],
                &new[from_new..end_new],
            ));
            all.push(Part::Same(&old[end_old..at_old]));
        }
        None => all.push(Part::Same(&old[same_from..at_old])),
    }
}

/// Both texts in one, with what was taken away struck and what was added marked; long stretches that
/// are the same are left out where `short`.
pub fn both(old: &str, new: &str, short: bool) -> Markup {
    let parts = parts(old, new);
    let last = parts.len().saturating_sub(1);
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @match part {
                Part::Same(text) if short => { (ends(text, at > 0, at < last)) }
                Part::Same(text) => { (visible(text)) }
                Part::Changed(old, new) => {
                    @if !old.trim().is_empty() { del { (visible(old)) } " " }
                    @if !new.trim().is_empty() { ins { (visible(new)) } }
                }
            }
        }
    }
}

/// A text with what differs from another marked.
pub fn against(from: &str, text: &str) -> Markup {
    html! {
        @for part in parts(from, text) {
            @match part {
                Part::Same(text) => { (visible(text)) }
                Part::Changed(_, "") => {}
                Part::Changed(_, new) => { ins { (visible(new)) } }
            }
        }
    }
}

/// The words beside the changes before and after a text.
fn ends(text: &str, before: bool, after: bool) -> Markup {
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let keep = AROUND * (usize::from(before) + usize::from(after));
    if words.len() <= keep + 1 {
        return visible(text);
    }
    let head: String = words[..if before { AROUND } else { 0 }].concat();
    let tail: String = words[words.len() - if after { AROUND } else { 0 }..].concat();
    html! { (visible(&head)) "… " (visible(&tail)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two texts that stretches are of.
    fn whole(parts: &[Part<'_>]) -> (String, String) {
        let side = |old: bool| {
            let sides = parts.iter().map(|part| match part {
                Part::Same(text) => *text,
                Part::Changed(text, _) if old => text,
                Part::Changed(_, text) => text,
            });
            sides.collect::<String>()
        };
        (side(true), side(false))
    }

    #[test]
    fn words_that_changed_are_marked_together() {
        let (old, new) = ("accepted for 65 minutes.", "accepted for two hours.");
        assert_eq!(
            parts(old, new),
            [
                Part::Same("accepted for "),
                Part::Changed("65 minutes.", "two hours.")
            ]
        );
        assert_eq!(parts("a b", "a b"), [Part::Same("a "), Part::Same("b")]);
        assert_eq!(parts("", "new"), [Part::Changed("", "new")]);
        assert_eq!(parts("old", ""), [Part::Changed("old", "")]);
    }

    #[test]
    fn nothing_is_lost_whatever_the_texts() {
        let texts = [
            "",
            " ",
            "one",
            "one two",
            "one  two\nthree",
            "two three",
            "é ü ö",
            "é ö",
            "a\n\nb c\n",
            "a\nb\n",
            "\u{202E}x y",
            "one two two two three",
            "two two one",
        ];
        for old in texts {
            for new in texts {
                let found = parts(old, new);
                assert_eq!(whole(&found), (old.to_owned(), new.to_owned()), "{found:?}");
            }
        }
    }

    #[test]
    fn long_texts_are_compared_by_lines_or_whole() {
        let old: String = (0..3_000).map(|n| format!("word{n} again\n")).collect();
        let new: String = (0..3_000).map(|n| format!("other{n} again\n")).collect();
        let found = parts(&old, &new);
        assert_eq!(whole(&found), (old.clone(), new.clone()));
        let shown = both(&old, &new, true).into_string();
        assert!(shown.contains("<del>"));
    }

    #[test]
    fn what_is_shown_stays_text() {
        let shown = both("a <b> c", "a <i> c", false).into_string();
        assert!(shown.contains("<del>&lt;b&gt;</del>"), "{shown}");
        assert!(shown.contains("<ins>&lt;i&gt;</ins>"), "{shown}");
    }
}
