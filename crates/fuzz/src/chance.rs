//! Chance that repeats: the same seed and the same number give the same choices.
//!
//! It is good for choosing inputs and for nothing that has to be secret.

/// A stream of numbers (splitmix64).
#[derive(Debug, Clone)]
pub struct Chance {
    state: u64,
}

impl Chance {
    /// The stream of one input: each has its own, so that an input can be made again by its number.
    pub fn new(seed: u64, number: u64) -> Chance {
        let mut chance = Chance {
            state: seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        };
        chance.draw();
        chance
    }

    pub fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        match u64::try_from(end) {
            Ok(end) if end > 0 => usize::try_from(self.draw() % end).unwrap_or(0),
            _ => 0,
        }
    }

    /// A number from `first` to `last`, both included.
    pub fn between(&mut self, first: usize, last: usize) -> usize {
        first + self.below(last.saturating_sub(first) + 1)
    }

    /// True once in this many times.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of these. The list must not be empty.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// Few more often than many: 0 half of the time, 1 a quarter of it, and so on.
    pub fn few(&mut self, most: usize) -> usize {
        usize::try_from(self.draw().trailing_zeros())
            .unwrap_or(0)
            .min(most)
    }

    pub fn byte(&mut self) -> u8 {
        self.draw().to_le_bytes()[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_number_repeat() {
        let drawn = |seed, number| {
            let mut chance = Chance::new(seed, number);
            [chance.draw(), chance.draw(), chance.draw()]
        };
        assert_eq!(drawn(1, 2), drawn(1, 2));
        assert_ne!(drawn(1, 2), drawn(1, 3));
        assert_ne!(drawn(1, 2), drawn(2, 2));
    }

    #[test]
    fn numbers_stay_within_their_range() {
        let mut chance = Chance::new(0, 0);
        for _ in 0..1_000 {
            assert!(chance.below(7) < 7);
            assert!((3..=5).contains(&chance.between(3, 5)));
            assert!(chance.few(4) <= 4);
        }
        assert_eq!(chance.below(0), 0);
    }
}
