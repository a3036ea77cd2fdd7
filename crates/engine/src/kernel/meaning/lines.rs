//! Search within the lines of one text: no index is asked, a thousand lines take milliseconds.

use std::collections::{HashMap, HashSet};

use understory_meaning::{Query, embed};
use understory_model::passage::{Match, by_words, passages};
use understory_model::text::{query_words, words};

use crate::kernel::search::{LEAST, score};

/// The passages that answer, the best first: by meaning and by words together, by words alone where
/// the question means nothing.
pub fn in_lines(query: &str, lines: &[&str], most: usize) -> Vec<Match> {
    let mut asked = Query::new(query);
    let worded = by_words(lines, query, usize::MAX);
    let worded: HashMap<usize, f64> = worded
        .into_iter()
        .map(|found| (found.lines.start, found.score))
        .collect();
    let mut found = Vec::new();
    for range in passages(lines) {
        let text = lines[range.clone()].join("\n");
        let borne = worded.get(&range.start).copied();
        let meant = judged(&mut asked, &text);
        let close = meant >= LEAST && asked.vector.is_some();
        if close || borne.is_some() {
            // A question within one text uses its words: they count as much.
            let score = (meant + borne.unwrap_or(0.0)) / 2.0;
            found.push(Match {
                lines: range,
                score: score.clamp(0.001, 1.0),
            });
        }
    }
    found.sort_by(|a, b| {
        let order = b.score.total_cmp(&a.score);
        order.then(a.lines.start.cmp(&b.lines.start))
    });
    found.truncate(most);
    found
}

/// The line that answers best.
pub fn best_line(query: &str, lines: &[&str]) -> usize {
    let mut asked = Query::new(query);
    let sought = query_words(query);
    let mut best = (0, 0.0);
    for (at, text) in lines.iter().enumerate() {
        // A line with exactly these words is what was meant.
        let score = judged(&mut asked, text) + f64::from(borne(text, &sought));
        if score > best.1 {
            best = (at, score);
        }
    }
    best.0
}

/// How well a text answers by what it means.
fn judged(asked: &mut Query, text: &str) -> f64 {
    let points = embed(text).map_or(0.0, |vector| asked.points(&vector));
    score(points, asked.meets(text), 0.0)
}

/// How much of the words a text has, 0 to 1.
pub fn borne(text: &str, sought: &[String]) -> f32 {
    if sought.is_empty() {
        return 0.0;
    }
    let there: HashSet<String> = words(text).into_iter().collect();
    let count = sought.iter().filter(|word| there.contains(*word)).count();
    count as f32 / sought.len() as f32
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
    fn the_best_passages_come_first() {
        for (query, start, line) in [("refund for returned goods", 9, 10), ("ZX-81", 13, 15)] {
            let found = in_lines(query, &PAGE, 3);
            let first = found.first().map(|found| found.lines.start);
            assert_eq!(first, Some(start), "{query}: {found:?}");
            assert!(found.iter().all(|found| (0.0..=1.0).contains(&found.score)));
            assert_eq!(best_line(query, &PAGE), line, "{query}");
        }
    }

    #[test]
    fn nothing_finds_nothing() {
        assert_eq!(in_lines("", &PAGE, 3), []);
        assert_eq!(in_lines(" \u{200b}", &PAGE, 3), []);
        assert_eq!(in_lines("money", &[], 3), []);
        assert_eq!(in_lines("money", &PAGE, 0), []);
        assert_eq!(best_line("money", &[]), 0);
    }
}
