//! Two texts side by side: which line stands for which, and which words of a line changed.

use std::collections::HashMap;
use std::ops::Range;

use similar::algorithms::{Capture, diff_slices};
use similar::{Algorithm, DiffTag};

use super::diff::hunks;

/// Lines of a hunk's two sides, multiplied, up to which the best pairs are sought; beyond it lines pair
/// up in order.
const COMPARED: usize = 2_500;
/// Words of two lines up to which they are compared one by one.
const WORDS: usize = 4_000;
/// How much two lines must have in common to stand for each other, in hundredths of the longer one.
const ALIKE: usize = 30;

/// A row of two texts side by side. Lines are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pair {
    /// A stretch that is the same on both sides.
    Same {
        old: usize,
        new: usize,
        count: usize,
    },
    Changed {
        old: usize,
        new: usize,
    },
    Gone {
        old: usize,
    },
    Come {
        new: usize,
    },
}

/// Two texts as rows.
pub fn pairs(old: &[&str], new: &[&str]) -> Vec<Pair> {
    let mut rows = Vec::new();
    let (mut left, mut right) = (0, 0);
    let same = |rows: &mut Vec<Pair>, upto: (usize, usize), at: &mut (usize, usize)| {
        let count = upto.0 - at.0;
        if count > 0 {
            let (old, new) = *at;
            rows.push(Pair::Same { old, new, count });
        }
        *at = upto;
    };
    for hunk in hunks(old, new) {
        let mut at = (left, right);
        same(&mut rows, (hunk.old.start, hunk.new.start), &mut at);
        let (gone, come) = (&old[hunk.old.clone()], &new[hunk.new.clone()]);
        let mut done = (0, 0);
        for (one, other) in matches(gone, come) {
            between(&mut rows, &hunk, (done.0..one, done.1..other));
            rows.push(Pair::Changed {
                old: hunk.old.start + one,
                new: hunk.new.start + other,
            });
            done = (one + 1, other + 1);
        }
        between(&mut rows, &hunk, (done.0..gone.len(), done.1..come.len()));
        (left, right) = (hunk.old.end, hunk.new.end);
    }
    same(&mut rows, (old.len(), new.len()), &mut (left, right));
    rows
}

/// What lies between two pairs of a hunk: in order, as far as both sides have lines.
fn between(
    rows: &mut Vec<Pair>,
    hunk: &super::diff::Hunk,
    (gone, come): (Range<usize>, Range<usize>),
) {
    let both = gone.len().min(come.len());
    for at in 0..gone.len().max(come.len()) {
        let (old, new) = (
            hunk.old.start + gone.start + at,
            hunk.new.start + come.start + at,
        );
        rows.push(if at < both {
            Pair::Changed { old, new }
        } else if at < gone.len() {
            Pair::Gone { old }
        } else {
            Pair::Come { new }
        });
    }
}

/// The lines that stand for each other although they differ, in the order of both sides: those that
/// have most in common in all.
fn matches(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let (rows, columns) = (old.len(), new.len());
    if rows * columns == 0 || rows * columns > COMPARED {
        return Vec::new();
    }
    let counted = |lines: &[&str]| -> Vec<HashMap<String, usize>> {
        lines.iter().map(|line| counts(line)).collect()
    };
    let (left, right) = (counted(old), counted(new));
    let score = |one: usize, other: usize| {
        let score = alike(&left[one], &right[other]);
        if score >= ALIKE { score } else { 0 }
    };
    let mut best = vec![vec![0; columns + 1]; rows + 1];
    for one in (0..rows).rev() {
        for other in (0..columns).rev() {
            let skip = best[one + 1][other].max(best[one][other + 1]);
            let pair = match score(one, other) {
                0 => 0,
                score => score + best[one + 1][other + 1],
            };
            best[one][other] = skip.max(pair);
        }
    }
    let (mut one, mut other, mut found) = (0, 0, Vec::new());
    while one < rows && other < columns {
        let score = score(one, other);
        if score > 0 && best[one][other] == score + best[one + 1][other + 1] {
            found.push((one, other));
            (one, other) = (one + 1, other + 1);
        } else if best[one][other] == best[one + 1][other] {
            one += 1;
        } else {
            other += 1;
        }
    }
    found
}

fn counts(line: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for word in line.split(|c: char| !c.is_alphanumeric()) {
        if !word.is_empty() {
            *counts.entry(word.to_lowercase()).or_insert(0) += 1;
        }
    }
    counts
}

/// How much of the longer line stands in the other, in hundredths.
fn alike(one: &HashMap<String, usize>, other: &HashMap<String, usize>) -> usize {
    let longer = one.values().sum::<usize>().max(other.values().sum());
    let shared = one.iter().map(|(word, count)| {
        let there = other.get(word).copied().unwrap_or(0);
        (*count).min(there)
    });
    (shared.sum::<usize>() * 100)
        .checked_div(longer)
        .unwrap_or(0)
}

/// A stretch of a line, in bytes, and whether the other line lacks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    pub range: Range<usize>,
    pub changed: bool,
}

/// Two lines with the words that each has for itself.
pub fn changed_words(old: &str, new: &str) -> (Vec<Stretch>, Vec<Stretch>) {
    let (before, after) = (tokens(old), tokens(new));
    let whole = |text: &str| {
        let all = Stretch {
            range: 0..text.len(),
            changed: true,
        };
        if text.is_empty() {
            Vec::new()
        } else {
            vec![all]
        }
    };
    if before.len() + after.len() > WORDS {
        return (whole(old), whole(new));
    }
    let words = |text: &'_ str, ranges: &[Range<usize>]| -> Vec<String> {
        ranges
            .iter()
            .map(|range| text[range.clone()].to_owned())
            .collect()
    };
    let mut found = Capture::new();
    // Capturing cannot fail.
    let _ = diff_slices(
        Algorithm::Myers,
        &mut found,
        &words(old, &before),
        &words(new, &after),
    );
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for op in found.into_ops() {
        let changed = op.tag() != DiffTag::Equal;
        put(&mut left, &before[op.old_range()], changed);
        put(&mut right, &after[op.new_range()], changed);
    }
    (joined(old, left), joined(new, right))
}

fn put(stretches: &mut Vec<Stretch>, tokens: &[Range<usize>], changed: bool) {
    if let (Some(first), Some(last)) = (tokens.first(), tokens.last()) {
        let range = first.start..last.end;
        stretches.push(Stretch { range, changed });
    }
}

/// Neighbours of one sort become one; a gap between two changed words is part of the change.
fn joined(text: &str, stretches: Vec<Stretch>) -> Vec<Stretch> {
    let mut out: Vec<Stretch> = Vec::new();
    let count = stretches.len();
    for (at, mut stretch) in stretches.into_iter().enumerate() {
        let blank = text[stretch.range.clone()].trim().is_empty();
        let inside = out.last().is_some_and(|last| last.changed) && at + 1 < count;
        stretch.changed |= blank && inside;
        match out.last_mut() {
            Some(last) if last.changed == stretch.changed => last.range.end = stretch.range.end,
            _ => out.push(stretch),
        }
    }
    out
}

/// Words, spaces, and every other sign for itself.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let sort = |c: char| match c {
        c if c.is_alphanumeric() => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut before = 2;
    for (at, c) in text.char_indices() {
        let (now, end) = (sort(c), at + c.len_utf8());
        match found.last_mut() {
            Some(last) if now == before && now != 2 => last.end = end,
            _ => found.push(at..end),
        }
        before = now;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_beside_those_they_came_from() {
        let old = [
            "# Goals",
            "We store all in SQLite.",
            "",
            "A key is changed every year.",
        ];
        let new = [
            "# Goals",
            "Nobody waits.",
            "We store all in PostgreSQL.",
            "",
            "A key is changed every month.",
            "The end.",
        ];
        let same = |old, new, count| Pair::Same { old, new, count };
        let wanted = [
            same(0, 0, 1),
            Pair::Come { new: 1 },
            Pair::Changed { old: 1, new: 2 },
            same(2, 3, 1),
            Pair::Changed { old: 3, new: 4 },
            Pair::Come { new: 5 },
        ];
        assert_eq!(pairs(&old, &new), wanted);
        assert_eq!(pairs(&[], &[]), []);
        assert_eq!(pairs(&["a"], &[]), [Pair::Gone { old: 0 }]);
        assert_eq!(pairs(&["a"], &["b"]), [Pair::Changed { old: 0, new: 0 }]);
    }

    #[test]
    fn every_line_of_both_sides_is_in_one_row() {
        let old: Vec<String> = (0..300).map(|n| format!("line {}", n * 7 % 90)).collect();
        let new: Vec<String> = (0..280).map(|n| format!("line {}", n * 5 % 80)).collect();
        let (old, new): (Vec<&str>, Vec<&str>) = (
            old.iter().map(String::as_str).collect(),
            new.iter().map(String::as_str).collect(),
        );
        let (mut left, mut right) = (0, 0);
        for pair in pairs(&old, &new) {
            match pair {
                Pair::Same {
                    old: o,
                    new: n,
                    count,
                } => {
                    assert_eq!((o, n), (left, right));
                    assert_eq!(old[o..o + count], new[n..n + count]);
                    (left, right) = (left + count, right + count);
                }
                Pair::Changed { old, new } => {
                    assert_eq!((old, new), (left, right));
                    (left, right) = (left + 1, right + 1);
                }
                Pair::Gone { old } => {
                    assert_eq!(old, left);
                    left += 1;
                }
                Pair::Come { new } => {
                    assert_eq!(new, right);
                    right += 1;
                }
            }
        }
        assert_eq!((left, right), (old.len(), new.len()));
    }

    #[test]
    fn the_words_that_changed_are_one_stretch() {
        let old = "An old key is accepted for two hours.";
        let new = "An old key is accepted for 65 minutes: an hour, and five.";
        let (left, right) = changed_words(old, new);
        let marked = |text: &str, all: &[Stretch]| -> Vec<String> {
            let changed = all.iter().filter(|one| one.changed);
            changed
                .map(|one| text[one.range.clone()].to_owned())
                .collect()
        };
        assert_eq!(marked(old, &left), ["two hours"]);
        assert_eq!(marked(new, &right).len(), 1, "{right:?}");
        let whole: String = right.iter().map(|one| &new[one.range.clone()]).collect();
        assert_eq!(whole, new);
        assert_eq!(changed_words("", "é x").0, []);
    }
}
