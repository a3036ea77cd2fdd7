//! Passages of a text, and which of them answer a query by its words.
//!
//! A passage is a paragraph, a heading with what follows it, or a part of a long run. Words that
//! stand in few passages tell more than those that stand in many. Nothing here knows what words
//! mean; a caller that does may score the same passages better.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::text::{query_words, unaccented, words};

/// Lines of the longest passage.
const LONGEST: usize = 12;

/// A passage that answers, by its lines counted from 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    pub lines: Range<usize>,
    /// Above 0; 1 for one that has every word of the query.
    pub score: f64,
}

/// Cuts lines into passages: at empty lines, before headings, and where one grows too long. Empty
/// lines belong to none.
pub fn passages(lines: &[&str]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, line) in lines.iter().enumerate() {
        let blank = line.trim().is_empty();
        let heading = line.trim_start().starts_with('#');
        if let Some(from) = start
            && (blank || heading || at - from >= LONGEST)
        {
            found.push(from..at);
            start = None;
        }
        if !blank && start.is_none() {
            start = Some(at);
        }
    }
    found.extend(start.map(|from| from..lines.len()));
    found
}

/// The passages that have words of the query, the best first, at most this many. Of equally good
/// ones the earlier comes first.
pub fn by_words(lines: &[&str], query: &str, most: usize) -> Vec<Match> {
    let wanted: Vec<String> = query_words(query).iter().map(|w| unaccented(w)).collect();
    let passages = passages(lines);
    let has: Vec<Vec<bool>> = passages
        .iter()
        .map(|passage| {
            let there: HashSet<String> = lines[passage.clone()]
                .iter()
                .flat_map(|line| words(line))
                .map(|word| unaccented(&word))
                .collect();
            wanted.iter().map(|word| meets(&there, word)).collect()
        })
        .collect();
    let weights = weights(&has, wanted.len());
    let all: f64 = weights.iter().sum();
    let mut found: Vec<Match> = passages
        .into_iter()
        .zip(&has)
        .filter_map(|(lines, has)| {
            let sum: f64 = has
                .iter()
                .zip(&weights)
                .filter(|(has, _)| **has)
                .map(|(_, w)| w)
                .sum();
            (sum > 0.0).then(|| Match {
                lines,
                score: sum / all,
            })
        })
        .collect();
    found.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then(a.lines.start.cmp(&b.lines.start))
    });
    found.truncate(most);
    found
}

/// Whether a word stands there, or one that it begins, or that begins with it: `index` finds
/// `indexes`.
fn meets(there: &HashSet<String>, word: &str) -> bool {
    const STEM: usize = 4;
    if there.contains(word) {
        return true;
    }
    let long = |word: &str| word.chars().count() >= STEM;
    long(word)
        && there
            .iter()
            .any(|other| other.starts_with(word) || long(other) && word.starts_with(other.as_str()))
}

/// What each word is worth: the rarer the more. One that stands nowhere counts as the rarest, so
/// that a passage without it is not said to have everything.
fn weights(has: &[Vec<bool>], count: usize) -> Vec<f64> {
    let mut seen: HashMap<usize, usize> = HashMap::new();
    for passage in has {
        for (at, _) in passage.iter().enumerate().filter(|(_, has)| **has) {
            *seen.entry(at).or_default() += 1;
        }
    }
    (0..count)
        .map(|at| {
            let in_how_many = seen.get(&at).copied().unwrap_or(0).max(1);
            (1.0 + has.len() as f64 / in_how_many as f64).ln()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: [&str; 9] = [
        "# Storage",
        "We keep items in SQLite.",
        "",
        "The indexes are rebuilt at night.",
        "Élan counts.",
        "# 検索",
        "検索バーは上に置きます。",
        "",
        "Items are never deleted.",
    ];

    fn starts(query: &str) -> Vec<usize> {
        let found = by_words(&TEXT, query, 10);
        found.iter().map(|found| found.lines.start).collect()
    }

    #[test]
    fn paragraphs_and_headings() {
        assert_eq!(passages(&TEXT), [0..2, 3..5, 5..7, 8..9]);
        assert!(passages(&[]).is_empty());
        assert!(passages(&["", " "]).is_empty());
        assert_eq!(passages(&["x"; 30]), [0..12, 12..24, 24..30]);
    }

    #[test]
    fn the_rare_word_tells_more() {
        assert_eq!(starts("items deleted"), [8, 0]);
        assert_eq!(starts("index"), [3]);
        assert_eq!(starts("elan"), [3]);
        assert_eq!(starts("検索"), [5]);
        assert!(starts("nothing of that sort").is_empty());
        assert!(starts("").is_empty());
        assert_eq!(by_words(&TEXT, "sqlite", 10)[0].score, 1.0);
        assert!(by_words(&TEXT, "sqlite zebra", 10)[0].score < 0.6);
    }
}
