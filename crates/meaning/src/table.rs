//! The model's numbers: for each token a row of 256, how far its steps reach, and how much it tells.
//!
//! The file holds a byte of scale for each token, then a byte of weight, then 128 bytes of row: two
//! numbers of four bits in each, the first half of the row in the low bits. `data/pack.py` wrote it.

/// Tokens that the model knows.
pub const TOKENS: usize = 30_522;
/// Numbers of a row and of a vector.
pub const DIMS: usize = 256;
const HALF: usize = DIMS / 2;

static DATA: &[u8] = include_bytes!("../data/table.bin");
/// The words, one a line; the line is the token.
pub static WORDS: &str = include_str!("../data/vocab.txt");

fn byte(at: usize) -> u8 {
    DATA.get(at).copied().unwrap_or(0)
}

/// What one step of a token's row is worth.
pub fn scale(token: u16) -> i32 {
    i32::from(byte(usize::from(token)))
}

/// How much a token tells: 0 for what is everywhere, 1 for what is rare.
pub fn weight(token: u16) -> f32 {
    f32::from(byte(TOKENS + usize::from(token))) / 255.0
}

/// A token's row, -7 to 7.
pub fn row(token: u16) -> [i8; DIMS] {
    let start = 2 * TOKENS + usize::from(token) * HALF;
    let mut row = [0_i8; DIMS];
    let (low, high) = row.split_at_mut(HALF);
    if let Some(packed) = DATA.get(start..start + HALF) {
        for ((low, high), byte) in low.iter_mut().zip(high).zip(packed) {
            // Shifting back keeps the sign.
            *low = (byte << 4).cast_signed() >> 4;
            *high = byte.cast_signed() >> 4;
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_a_row_for_every_word() {
        assert_eq!(DATA.len(), TOKENS * (2 + HALF));
        assert_eq!(WORDS.lines().count(), TOKENS);
    }

    #[test]
    fn rows_are_small_numbers_of_both_signs() {
        let row = row(2_000);
        assert!(row.iter().all(|n| (-7..=7).contains(n)));
        assert!(row.iter().any(|n| *n < 0) && row.iter().any(|n| *n > 0));
    }
}
