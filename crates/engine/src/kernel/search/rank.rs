//! How words and meaning are ranked together. The numbers were chosen on the questions in
//! `crates/bench/retrieval`; `docs/adr/0016` has the figures and what they are worth.

use std::collections::HashSet;

use understory_meaning::{Query, embed, passages, tokens};
use understory_model::Id;
use understory_model::text::{unaccented, words};

use crate::kernel::meaning::{borne, line_passages};
use crate::kernel::search::candidates::Candidate;
use crate::kernel::search::{Way, Ways};

/// What meeting the question word by word counts beside pointing the same way.
const MEETS: f32 = 0.75;
/// What an exact match of words counts beside meaning.
const BORNE: f32 = 0.06;
/// What a match of all of them side by side adds.
const PHRASE: f64 = 0.15;
/// What meaning alone has found must answer so well: of the right answers in the test set 19 in 20
/// do, of other texts one in two.
pub const LEAST: f64 = 0.2;

/// How well a text answers, 0 to 1: by where it points, by what it meets, by the words it has.
pub fn score(points: f32, meets: f32, borne: f32) -> f64 {
    let meaning = (points.max(0.0) + MEETS * meets) / (1.0 + MEETS);
    f64::from(meaning * (1.0 - BORNE) + BORNE * borne).clamp(0.0, 1.0)
}

/// Which candidate it is, and which of its passages answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    pub candidate: usize,
    pub part: usize,
}

struct Judged {
    at: At,
    id: Id,
    words: Option<f64>,
    points: f32,
    meets: f32,
    /// Which of the words it has.
    borne: Vec<bool>,
    phrase: bool,
}

/// Candidates as they are judged.
pub struct Ranking<'q> {
    words: &'q [String],
    bare: Vec<String>,
    phrase: String,
    way: Way,
    judged: Vec<Judged>,
    count: usize,
}

impl<'q> Ranking<'q> {
    pub fn new(query: &str, sought: &'q [String], way: Way) -> Ranking<'q> {
        let all = words(query);
        let phrase = match all.len() {
            0 | 1 => String::new(),
            _ => joined(&all),
        };
        Ranking {
            words: sought,
            bare: sought.iter().map(|word| unaccented(word)).collect(),
            phrase,
            way,
            judged: Vec::new(),
            count: 0,
        }
    }

    /// Takes a candidate in; they come in the order in which they are numbered.
    pub fn consider(&mut self, candidate: &Candidate, found: &Ways, query: &mut Query) {
        let at = self.count;
        self.count += 1;
        let near = found.near.iter();
        let own = near.filter(|near| candidate.parts.contains(&near.part));
        let mut parts: Vec<(usize, f32)> = own.map(|near| (near.part, near.closeness)).collect();
        if parts.is_empty() && found.words.is_some() {
            parts.push(self.closest_part(candidate, query));
        }
        for (part, points) in parts {
            if candidate.shows(part) {
                let at = At {
                    candidate: at,
                    part,
                };
                self.judge(at, candidate, found, points, query);
            }
        }
    }

    fn judge(
        &mut self,
        at: At,
        candidate: &Candidate,
        found: &Ways,
        points: f32,
        query: &mut Query,
    ) {
        let standing = candidate.standing(at.part);
        let standing: Vec<&str> = standing.iter().map(|(_, text)| *text).collect();
        let standing = standing.join("\n");
        let (passage, whole) = if candidate.lines.is_some() {
            (standing.as_str(), standing.as_str())
        } else {
            (candidate.passage(at.part), candidate.rest.as_str())
        };
        let said = format!("{}\n{passage}", candidate.title);
        let whole = words(&format!("{}\n{whole}", candidate.title));
        let there: HashSet<String> = whole.iter().map(|word| unaccented(word)).collect();
        let borne: Vec<bool> = self.bare.iter().map(|word| there.contains(word)).collect();
        let phrase = !self.phrase.is_empty() && joined(&whole).contains(&self.phrase);
        // What the index knows of lines, it may know of some that are gone, or of why they came.
        let found_by_words = !candidate.shares() || borne.contains(&true);
        self.judged.push(Judged {
            at,
            id: candidate.id,
            words: found.words.filter(|_| found_by_words),
            points,
            meets: query.meets(&said),
            borne,
            phrase,
        });
    }

    /// The passage that points most where the question does; of lines, which may be very many, the
    /// one that has most of its words.
    fn closest_part(&self, candidate: &Candidate, query: &Query) -> (usize, f32) {
        let points = |part: usize| {
            let passage = candidate.passage(part);
            let vector = embed(&format!("{}\n{passage}", candidate.title));
            vector.map_or(0.0, |vector| query.points(&vector))
        };
        if let Some(lines) = &candidate.lines {
            let mut best = (0, 0.0);
            for (part, range) in line_passages(lines).enumerate() {
                let share = borne(&lines[range].join("\n"), self.words);
                if share > best.1 && candidate.shows(part) {
                    best = (part, share);
                }
            }
            return (best.0, points(best.0));
        }
        let first = candidate.parts.start;
        let mut best = (first, 0.0);
        for part in first..first + passages(&candidate.rest).len() {
            let points = points(part);
            if points > best.1 {
                best = (part, points);
            }
        }
        best
    }

    /// How much each word tells: the fewer candidates have it the more, and names and numbers,
    /// which the model has no word for, twice as much.
    fn rarities(&self) -> Vec<f32> {
        let all = self.judged.len() as f32;
        let weigh = |(at, word): (usize, &String)| {
            let bearers = self
                .judged
                .iter()
                .filter(|one| one.borne.get(at) == Some(&true));
            let rarity = (1.0 + all / (1.0 + bearers.count() as f32)).ln();
            match tokens(word, 4).len() {
                0 | 1 => rarity,
                _ => 2.0 * rarity,
            }
        };
        self.words.iter().enumerate().map(weigh).collect()
    }

    /// The best, each with its score.
    pub fn best(self, most: usize) -> Vec<(At, f64)> {
        let rarities = self.rarities();
        let whole: f32 = rarities.iter().sum();
        let top = self.judged.iter().filter_map(|one| one.words);
        let top = top.fold(f64::MIN_POSITIVE, |top, score| top.max(score.abs()));
        let mut scored: Vec<(At, Id, f64)> = Vec::new();
        for one in &self.judged {
            let borne: f32 = rarities
                .iter()
                .zip(&one.borne)
                .filter(|(_, borne)| **borne)
                .map(|(rarity, _)| *rarity)
                .sum();
            let borne = borne / whole.max(f32::MIN_POSITIVE);
            let score = match self.way {
                Way::Words => one.words.unwrap_or_default().abs() / top,
                Way::Meaning => score(one.points, one.meets, 0.0),
                Way::Both => {
                    let phrase = if one.phrase { PHRASE } else { 0.0 };
                    (score(one.points, one.meets, borne) + phrase).min(0.999)
                }
            };
            if one.words.is_some() || score >= LEAST {
                scored.push((one.at, one.id, score));
            }
        }
        scored.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.1.cmp(&b.1)));
        scored.truncate(most);
        scored
            .into_iter()
            .map(|(at, _, score)| (at, score))
            .collect()
    }
}

/// Words between spaces, for whole words to be looked for side by side.
fn joined(words: &[String]) -> String {
    let mut text = String::from(" ");
    for word in words {
        text.push_str(&unaccented(word));
        text.push(' ');
    }
    text
}
