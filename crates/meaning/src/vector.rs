//! Vectors: where a text points, and how close two of them are.

use understory_model::limits;
use understory_model::text::is_common;

use crate::table::{self, DIMS};
use crate::tokens::{cut, each_word};
use crate::unicode::is_punctuation;

/// Bytes of a vector.
pub const BYTES: usize = DIMS;
/// The length that vectors have before rounding: nearly all numbers then fit a byte.
const LENGTH: f64 = 480.0;

/// Where a text points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector(pub [i8; DIMS]);

impl Vector {
    /// As it is stored.
    pub fn bytes(&self) -> [u8; BYTES] {
        self.0.map(i8::cast_unsigned)
    }
}

/// The tokens that tell something: without punctuation and without the words that are everywhere,
/// unless there is nothing else.
pub(crate) fn telling(text: &str) -> Vec<u16> {
    let (mut telling, mut rest) = (Vec::new(), Vec::new());
    each_word(text, |word| {
        if is_common(word) || word.chars().all(is_punctuation) {
            cut(word, &mut rest);
        } else {
            cut(word, &mut telling);
        }
        telling.len() < limits::EMBEDDED_TOKENS && rest.len() < 4 * limits::EMBEDDED_TOKENS
    });
    let mut all = if telling.is_empty() { rest } else { telling };
    all.truncate(limits::EMBEDDED_TOKENS);
    all
}

/// A text's vector; none where there is nothing that the model knows.
pub fn embed(text: &str) -> Option<Vector> {
    mean(&telling(text))
}

pub(crate) fn mean(tokens: &[u16]) -> Option<Vector> {
    // 512 tokens of at most 7 × 255 are far from the end of an i32, and exact.
    let mut sum = [0_i32; DIMS];
    for token in tokens {
        let scale = table::scale(*token);
        let row = table::row(*token);
        for (sum, step) in sum.iter_mut().zip(row) {
            *sum += i32::from(step) * scale;
        }
    }
    let square: i64 = sum.iter().map(|n| i64::from(*n) * i64::from(*n)).sum();
    if square == 0 {
        return None;
    }
    // Only operations that IEEE 754 defines to the last bit.
    let factor = LENGTH / (square as f64).sqrt();
    Some(Vector(sum.map(|n| {
        rounded(f64::from(n) * factor).clamp(-127, 127) as i8
    })))
}

/// `f64::round` for numbers that fit an i32, to the same bit: what is cut off is exact. Without the
/// call, several numbers are rounded by one instruction.
fn rounded(number: f64) -> i32 {
    let whole = number as i32;
    let rest = number - f64::from(whole);
    whole + i32::from(rest >= 0.5) - i32::from(rest <= -0.5)
}

/// How close two vectors are, as an exact number; see `closeness`.
pub fn dot(a: &[i8; DIMS], b: &[i8; DIMS]) -> i32 {
    // Sixteen-bit products in lanes: LLVM makes one instruction of each pair.
    let mut lanes = [0_i32; 16];
    for (a, b) in a.chunks_exact(16).zip(b.chunks_exact(16)) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += i32::from(i16::from(*a) * i16::from(*b));
        }
    }
    lanes.iter().sum()
}

/// A dot product as a cosine: 1 for the same direction, 0 for nothing in common.
pub fn closeness(dot: i32) -> f32 {
    (f64::from(dot) / (LENGTH * LENGTH)).clamp(-1.0, 1.0) as f32
}

/// The closest of many vectors that lie one after the other, of those that count: place and
/// closeness, best first, places in order where they are equally close.
pub fn closest(
    to: &Vector,
    all: &[[i8; DIMS]],
    most: usize,
    counts: impl Fn(usize) -> bool,
) -> Vec<(usize, f32)> {
    let mut best: Vec<(i32, usize)> = Vec::with_capacity(2 * most + 1);
    let mut least = i32::MIN;
    if most == 0 {
        return Vec::new();
    }
    for (at, vector) in all.iter().enumerate() {
        let dot = dot(&to.0, vector);
        // Few come so far; asking whether they count before would cost more than comparing.
        if (dot > least || best.len() < most) && counts(at) {
            best.push((dot, at));
            if best.len() >= 2 * most {
                keep(&mut best, most);
                least = best.last().map_or(i32::MIN, |(dot, _)| *dot);
            }
        }
    }
    keep(&mut best, most);
    best.into_iter()
        .map(|(dot, at)| (at, closeness(dot)))
        .collect()
}

fn keep(best: &mut Vec<(i32, usize)>, most: usize) {
    best.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    best.truncate(most);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_as_the_standard_library_does() {
        let near: [f64; 10] = [
            0.0,
            0.25,
            0.5,
            0.499_999_999_999_999_94,
            0.75,
            1.0,
            1.5,
            2.5,
            126.5,
            1e6 + 0.5,
        ];
        for number in near
            .iter()
            .flat_map(|n: &f64| [*n, -n, n.next_up(), n.next_down()])
        {
            assert_eq!(f64::from(rounded(number)), number.round() + 0.0, "{number}");
        }
    }
}
