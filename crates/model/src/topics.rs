//! What a talk is about: the words that several of its messages share.
//!
//! Counted, not understood, so that it costs nothing and says the same each time.

use std::collections::{BTreeMap, BTreeSet};

/// Words that say nothing about a topic.
const COMMON: [&str; 56] = [
    "about", "after", "again", "also", "because", "been", "before", "being", "both", "could",
    "does", "done", "each", "else", "even", "from", "good", "have", "here", "into", "just", "know",
    "like", "look", "made", "make", "more", "most", "much", "need", "only", "other", "over",
    "please", "same", "should", "some", "such", "than", "thanks", "that", "their", "them", "then",
    "there", "these", "they", "this", "were", "what", "when", "which", "will", "with", "would",
    "your",
];

/// The shortest and the longest word that can be a topic.
const SHORTEST: usize = 4;
const LONGEST: usize = 40;

/// At most `most` words that at least two of the texts use, those of most texts first.
pub fn topics<'t>(texts: impl IntoIterator<Item = &'t str>, most: usize) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for text in texts {
        let words = text.split(|letter: char| !is_part(letter));
        let words: BTreeSet<String> = words
            .map(|word| word.trim_matches(['-', '_', '.', '/']).to_lowercase())
            .filter(|word| (SHORTEST..=LONGEST).contains(&word.chars().count()))
            .filter(|word| word.chars().any(char::is_alphabetic))
            .filter(|word| !COMMON.contains(&word.as_str()))
            .collect();
        for word in words {
            *counts.entry(word).or_default() += 1;
        }
    }
    let mut shared: Vec<(String, usize)> = counts.into_iter().filter(|(_, n)| *n > 1).collect();
    shared.sort_by(|(a, many), (b, few)| few.cmp(many).then_with(|| a.cmp(b)));
    shared.truncate(most);
    shared.into_iter().map(|(word, _)| word).collect()
}

/// What a word is made of; a path or a dotted name is one word.
fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_words_that_messages_share() {
        let talk = [
            "The parser loses the fallback in src/token.rs.",
            "Which fallback? The parser has two, the parser's own and null.",
            "Parser, src/token.rs line 42; it should have been there.",
        ];
        assert_eq!(topics(talk, 8), ["parser", "fallback", "src/token.rs"]);
        assert_eq!(topics(talk, 1), ["parser"]);
        assert!(topics(["fallback fallback"], 8).is_empty(), "one says it");
        assert!(topics(["this with 1234 ok", "this with 1234 ok"], 8).is_empty());
    }
}
