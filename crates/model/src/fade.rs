//! How a relation fades when nobody cites what it joins. Whole numbers only: the same log must give
//! the same strengths on every machine.

use crate::time::Time;

/// The strength of one citation, in millionths.
pub const ONE: i64 = 1_000_000;
/// However often a thing is cited, it fades from no more than this.
pub const MOST: i64 = 4 * ONE;
/// After this many microseconds half of it is left: thirty days.
pub const HALF_LIFE: i64 = 30 * 24 * 3_600 * 1_000_000;

/// What is left of a strength some time later. Between two halvings it falls in a straight line.
pub fn faded(strength: i64, since: Time, now: Time) -> i64 {
    let passed = now.0.saturating_sub(since.0).max(0);
    let halvings = passed / HALF_LIFE;
    if halvings > 40 {
        return 0;
    }
    let whole = strength >> halvings;
    let part = i128::from(whole) * i128::from(passed % HALF_LIFE) / i128::from(2 * HALF_LIFE);
    whole - i64::try_from(part).unwrap_or(0)
}

/// A strength after one more citation.
pub fn cited(strength: i64, since: Time, now: Time) -> i64 {
    (faded(strength, since, now) + ONE).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_halves_and_never_grows_by_itself() {
        let start = Time(1_000);
        let later = |halves: i64| Time(start.0 + HALF_LIFE * halves / 2);
        assert_eq!(faded(ONE, start, start), ONE);
        assert_eq!(faded(ONE, start, later(2)), ONE / 2);
        assert_eq!(faded(ONE, start, later(4)), ONE / 4);
        let strengths: Vec<i64> = (0..90).map(|at| faded(ONE, start, later(at))).collect();
        assert!(strengths.windows(2).all(|pair| pair[1] <= pair[0]));
        assert_eq!(faded(ONE, start, Time(i64::MAX)), 0);
        assert_eq!(
            faded(ONE, start, Time(0)),
            ONE,
            "a clock set back fades nothing"
        );
    }

    #[test]
    fn citing_adds_up_to_a_bound() {
        let at = Time(5);
        assert_eq!(cited(0, at, at), ONE);
        assert_eq!((0..10).fold(0, |s, _| cited(s, at, at)), MOST);
    }
}
