//! A question held against texts: first where both point, then word by word.
//!
//! The mean of a long text blurs the one sentence that answers. So the few texts that point the
//! right way are looked at again: each token of the question takes the token of the text that is
//! nearest to it, and rare tokens count for more.

use std::collections::HashMap;

use crate::table::{self, DIMS};
use crate::tokens::{UNKNOWN, cut, each_word};
use crate::vector::{Vector, closeness, closest, dot, embed, telling};

/// Tokens of a question that are held against each text.
const ASKED: usize = 48;

/// A question, ready to be held against many texts.
pub struct Query {
    pub vector: Option<Vector>,
    asked: Vec<Asked>,
    /// How near the tokens seen so far are to each token asked for.
    near: HashMap<u16, Vec<f32>>,
}

struct Asked {
    row: [i8; DIMS],
    length: f32,
    /// Its part of the whole question; all parts make 1.
    share: f32,
}

impl Query {
    pub fn new(text: &str) -> Query {
        let mut tokens = telling(text);
        let mut seen = std::collections::HashSet::new();
        tokens.retain(|token| seen.insert(*token));
        tokens.truncate(ASKED);
        let whole: f32 = tokens.iter().map(|token| table::weight(*token)).sum();
        let asked = tokens.iter().map(|token| {
            let row = table::row(*token);
            Asked {
                row,
                length: length(&row),
                share: table::weight(*token) / whole.max(f32::MIN_POSITIVE),
            }
        });
        Query {
            vector: embed(text).filter(|_| makes_sense(text)),
            asked: asked.collect(),
            near: HashMap::new(),
        }
    }

    /// Those of many vectors that count and point where the question does, best first.
    pub fn closest(
        &self,
        all: &[[i8; DIMS]],
        most: usize,
        counts: impl Fn(usize) -> bool,
    ) -> Vec<(usize, f32)> {
        match &self.vector {
            Some(vector) => closest(vector, all, most, counts),
            None => Vec::new(),
        }
    }

    /// How close a text is by where it points, -1 to 1.
    pub fn points(&self, text: &Vector) -> f32 {
        match &self.vector {
            Some(vector) => closeness(dot(&vector.0, &text.0)),
            None => 0.0,
        }
    }

    /// How much of the question a text meets, token by token: 0 to 1.
    pub fn meets(&mut self, text: &str) -> f32 {
        let mut best = vec![0.0_f32; self.asked.len()];
        for token in telling(text) {
            let asked = &self.asked;
            let near = self
                .near
                .entry(token)
                .or_insert_with(|| nearness(asked, token));
            for (best, near) in best.iter_mut().zip(near) {
                *best = best.max(*near);
            }
        }
        best.iter()
            .zip(&self.asked)
            .map(|(best, asked)| best * asked.share)
            .sum()
    }
}

/// Whether any of the words is one that the model can make something of. It cuts what it never saw
/// into letters, and letters point somewhere too.
fn makes_sense(text: &str) -> bool {
    let mut sense = false;
    each_word(text, |word| {
        let mut pieces = Vec::new();
        cut(word, &mut pieces);
        sense = word.chars().count() >= 2 * pieces.len() && !pieces.contains(&UNKNOWN);
        sense |= pieces.len() == 1 && word.chars().any(char::is_alphanumeric);
        !sense
    });
    sense
}

fn nearness(asked: &[Asked], token: u16) -> Vec<f32> {
    let row = table::row(token);
    let length = length(&row);
    asked
        .iter()
        .map(|asked| match asked.length * length {
            0.0 => 0.0,
            lengths => dot(&asked.row, &row) as f32 / lengths,
        })
        .collect()
}

fn length(row: &[i8; DIMS]) -> f32 {
    (dot(row, row) as f32).sqrt()
}
