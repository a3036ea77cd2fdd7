//! Search within the lines of one text: no index is asked, a thousand lines take milliseconds.

use std::ops::Range;

use understory_meaning::{Query, embed};
use understory_model::text::{query_words, words};

use super::line_passages;
use crate::search::{LEAST, score};

/// Lines around the best one that are part of a find at the most.
const AROUND: usize = 3;

/// Lines that answer a question; counted from 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub lines: Range<usize>,
    /// The line that answers best.
    pub best: usize,
    /// 0 to 1.
    pub score: f64,
}

/// The lines that answer best, the best first: by meaning, and by their words where nothing is
/// close in meaning. A question without a word finds nothing.
pub fn in_lines<S: AsRef<str>>(query: &str, lines: &[S], most: usize) -> Vec<Found> {
    let mut asked = Query::new(query);
    let sought = query_words(query);
    let mut found = Vec::new();
    for range in line_passages(lines) {
        let texts: Vec<&str> = lines[range.clone()].iter().map(AsRef::as_ref).collect();
        let (whole, borne) = judged(&mut asked, &texts.join("\n"), &sought);
        let (best, line_score) = best_line(&mut asked, &texts, &sought);
        let score = whole.max(line_score);
        if borne == 0.0 && (score < LEAST || asked.vector.is_none()) {
            continue;
        }
        let line = range.start + best;
        let first = line.saturating_sub(AROUND).max(range.start);
        found.push(Found {
            lines: first..(line + AROUND + 1).min(range.end),
            best: line,
            score,
        });
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.best.cmp(&b.best)));
    found.truncate(most);
    found
}

/// How much of the words a text bears, 0 to 1.
pub fn borne(text: &str, sought: &[String]) -> f32 {
    if sought.is_empty() {
        return 0.0;
    }
    let there: std::collections::HashSet<String> = words(text).into_iter().collect();
    let count = sought.iter().filter(|word| there.contains(*word)).count();
    count as f32 / sought.len() as f32
}

/// How well a text answers, and how much of the words it bears.
fn judged(asked: &mut Query, text: &str, sought: &[String]) -> (f64, f32) {
    let points = embed(text).map_or(0.0, |vector| asked.points(&vector));
    let borne = borne(text, sought);
    (score(points, asked.meets(text), borne), borne)
}

fn best_line(asked: &mut Query, texts: &[&str], sought: &[String]) -> (usize, f64) {
    let mut best = (0, 0.0);
    for (at, text) in texts.iter().enumerate() {
        let (score, borne) = judged(asked, text, sought);
        // A line that bears the very words is what was meant.
        let score = (score + f64::from(borne) / 2.0).min(1.0);
        if score > best.1 {
            best = (at, score);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: [&str; 16] = [
        "# Running the shop",
        "",
        "Doors open at nine and close at six.",
        "The alarm code is changed every month.",
        "",
        "## Deliveries",
        "Parcels arrive before noon.",
        "Sign for them and put them on the left shelf.",
        "",
        "## Money",
        "Customers who bring something back are repaid in cash.",
        "The till is counted by two people each evening.",
        "",
        "## Plants",
        "Water the ferns on Mondays.",
        "ZX-81 is the model number of the lamp.",
    ];

    #[test]
    fn the_best_lines_come_first() {
        let found = in_lines("refund for returned goods", &PAGE, 3);
        assert_eq!(found.first().map(|found| found.best), Some(10), "{found:?}");
        let found = in_lines("ZX-81", &PAGE, 3);
        assert_eq!(found.first().map(|found| found.best), Some(15), "{found:?}");
        assert!(found.iter().all(|found| (0.0..=1.0).contains(&found.score)));
    }

    #[test]
    fn nothing_finds_nothing() {
        assert_eq!(in_lines("", &PAGE, 3), []);
        assert_eq!(in_lines(" \u{200b}", &PAGE, 3), []);
        assert_eq!(in_lines::<&str>("money", &[], 3), []);
        assert_eq!(in_lines("money", &PAGE, 0), []);
    }
}
