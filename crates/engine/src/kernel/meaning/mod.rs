//! What texts mean: how they are cut and turned into vectors, and where the vectors are kept.
//!
//! A text is cut the same way when it is indexed and when a hit is shown, so that the number of a
//! vector is enough to find its passage again. A change of that requires raising CORE_VERSION.

use std::ops::Range;

use understory_meaning::{BYTES, embed};
use understory_model::limits;
use understory_storage::texts::Text;

mod external;
mod kept;
mod lines;

pub use external::{Embedder, Filler, Meant, QUESTION, Seen, Step};
pub use kept::{Kept, Near};
pub use lines::{best_line, borne, in_lines};

pub use understory_meaning::Passage;
pub use understory_meaning::passages;

/// Lines of a passage at most, and the bytes after which it ends.
const LINES: usize = 12;
const PASSAGE_SIZE: usize = 700;

/// The vectors of a text, one for each of its passages.
pub fn of_text(text: &Text) -> Vec<u8> {
    let rest = rest(&text.summary, &text.body);
    let mut vectors = Vec::with_capacity(BYTES);
    for part in passages(&rest) {
        push(&mut vectors, &text.title, &rest[part.start..part.end]);
    }
    vectors
}

/// The passages of a commit: those of its lines, then those of its reason.
pub fn of_commit(lines: &[&str], why: &str) -> Vec<String> {
    let written = line_passages(lines).take(limits::LINE_PASSAGES);
    let mut parts: Vec<String> = written.map(|range| lines[range].join("\n")).collect();
    if !why.trim().is_empty() {
        let reasons = passages(why).into_iter();
        parts.extend(reasons.map(|part| why[part.start..part.end].to_string()));
    }
    parts
}

/// The number of the first passage of a commit that is not of its lines.
pub fn lines_end<S: AsRef<str>>(lines: &[S]) -> usize {
    line_passages(lines).take(limits::LINE_PASSAGES).count()
}

/// The vectors of passages, one for each.
pub fn of_passages(parts: &[String]) -> Vec<u8> {
    let mut vectors = Vec::with_capacity(parts.len() * BYTES);
    parts.iter().for_each(|part| push(&mut vectors, "", part));
    vectors
}

fn push(vectors: &mut Vec<u8>, title: &str, passage: &str) {
    // A passage without a vector points nowhere, but keeps its number.
    match embed(&[title, "\n", passage].concat()) {
        Some(vector) => vectors.extend(vector.bytes()),
        None => vectors.extend([0; BYTES]),
    }
}

/// What a text says beside its title.
pub fn rest(summary: &str, body: &str) -> String {
    match (summary.is_empty(), body.is_empty()) {
        (true, _) => body.to_string(),
        (_, true) => summary.to_string(),
        _ => format!("{summary}\n{body}"),
    }
}

/// The passage that a vector of a text stands for.
pub fn passage(rest: &str, part: usize) -> &str {
    let found = passages(rest).get(part).copied();
    found
        .and_then(|part| rest.get(part.start..part.end))
        .unwrap_or(rest)
}

/// Lines in passages: some together say more than each alone.
pub fn line_passages<S: AsRef<str>>(lines: &[S]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let (from, mut bytes, mut end) = (start, 0, start);
        while end < lines.len() && end - from < LINES && (bytes < PASSAGE_SIZE || end == from) {
            bytes += lines[end].as_ref().len();
            end += 1;
        }
        start = end;
        (end > from).then_some(from..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_together_and_none_is_lost() {
        let lines: Vec<String> = (0..100).map(|n| "x".repeat(n * n % 300)).collect();
        let ranges: Vec<_> = line_passages(&lines).collect();
        assert_eq!(ranges.first().map(|range| range.start), Some(0));
        assert_eq!(ranges.last().map(|range| range.end), Some(100));
        assert!(ranges.windows(2).all(|two| two[0].end == two[1].start));
        assert!(ranges.iter().all(|range| range.len() <= LINES));
        assert_eq!(line_passages::<&str>(&[]).count(), 0);
    }

    #[test]
    fn a_vector_leads_back_to_its_passage() {
        let body = format!("{}\n\n{}", "alpha ".repeat(200), "omega ".repeat(200));
        let text = Text {
            title: "title".into(),
            body: body.clone(),
            ..Text::default()
        };
        let count = of_text(&text).len() / BYTES;
        assert!(count > 1);
        assert!(passage(&body, count - 1).contains("omega"));
        assert!(passage(&body, 0).contains("alpha"));
        assert_eq!(passage(&body, 99), body);
    }
}
