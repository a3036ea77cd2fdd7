//! Long texts in passages: the mean of a whole chapter points nowhere.

use understory_model::limits;

/// Bytes of a passage, about; a text that is not much longer stays whole.
const LENGTH: usize = 900;

/// A part of a text, by bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    pub start: usize,
    pub end: usize,
}

/// Cuts a text where a paragraph, a line, a sentence or a word ends, whichever comes first in this
/// order in the second half of a passage. An empty text has one empty passage.
pub fn passages(text: &str) -> Vec<Passage> {
    let mut found = Vec::new();
    let mut start = 0;
    while found.len() < limits::PASSAGES {
        let rest = text.get(start..).unwrap_or_default();
        let length = if rest.len() <= LENGTH + LENGTH / 2 {
            rest.len()
        } else {
            cut(rest)
        };
        let end = start + length;
        found.push(Passage { start, end });
        start = end;
        if start >= text.len() {
            break;
        }
    }
    found
}

/// Where to end a passage that is too long.
fn cut(rest: &str) -> usize {
    let most = floor(rest, LENGTH);
    let half = floor(rest, LENGTH / 2);
    let second = rest.get(half..most).unwrap_or_default();
    let found = ["\n\n", "\n", ". ", " "]
        .iter()
        .find_map(|end| Some(half + second.rfind(end)? + end.len()));
    found.unwrap_or(most)
}

/// The last place up to `at` between two characters.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(text: &str) -> Vec<usize> {
        let found = passages(text);
        let joined = found.windows(2).all(|two| two[0].end == two[1].start);
        assert!(joined, "passages lie one after the other");
        found.iter().map(|part| part.end - part.start).collect()
    }

    #[test]
    fn short_texts_stay_whole() {
        assert_eq!(lengths(""), [0]);
        assert_eq!(lengths(&"a ".repeat(600)), [1_200]);
    }

    #[test]
    fn long_texts_are_cut_at_the_best_end() {
        let paragraph = format!("{}\n\n{}", "word ".repeat(140), "other ".repeat(300));
        assert_eq!(lengths(&paragraph)[0], 702);
        let wide = "日".repeat(2_000);
        assert!(lengths(&wide).iter().all(|length| length % 3 == 0));
    }

    #[test]
    fn huge_texts_have_an_end() {
        let lengths = lengths(&"x".repeat(1_000_000));
        assert_eq!(lengths.len(), limits::PASSAGES);
    }
}
