//! Many times of one thing, and two things measured in turns.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::Outcome;

/// How long something took, each time.
#[derive(Debug, Clone, Default)]
pub struct Samples(Vec<Duration>);

impl Samples {
    pub fn push(&mut self, took: Duration) {
        self.0.push(took);
    }

    pub fn extend(&mut self, more: Samples) {
        self.0.extend(more.0);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The time within which this share of all was done.
    pub fn within(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = ((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1));
        sorted.get(at).map_or(f64::NAN, Duration::as_secs_f64)
    }

    pub fn p50(&self) -> f64 {
        self.within(0.50)
    }

    pub fn p99(&self) -> f64 {
        self.within(0.99)
    }
}

/// How often to measure.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Turns of each side, after one that is not counted.
    pub rounds: usize,
    /// Times in one turn.
    pub block: usize,
}

/// Something that can be done again and again, and timed.
pub type Timed<'a> = &'a mut dyn FnMut() -> Outcome<Duration>;

/// Keeps every core from falling asleep. A core of a virtual machine that waited for some 50 µs halts,
/// and takes longer to wake than many a call takes: who works for 60 µs would be charged for 150.
struct Awake(Vec<Child>);

impl Awake {
    fn new() -> Awake {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = || {
            let mut command = Command::new("nice");
            // Whoever has work to do goes first; a run that was killed leaves no loop behind.
            let spin = "while kill -0 $PPID 2>/dev/null; do :; done";
            command.args(["-n", "19", "sh", "-c", spin]);
            command.stdin(Stdio::null()).spawn().ok()
        };
        Awake((0..cores).filter_map(|_| spin()).collect())
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Times each side in turns, so that what else the machine does hits all of them alike.
pub fn in_turns(pace: Pace, sides: &mut [Timed<'_>]) -> Outcome<Vec<Samples>> {
    let _awake = Awake::new();
    let mut all = vec![Samples::default(); sides.len()];
    for round in 0..=pace.rounds {
        for (side, samples) in sides.iter_mut().zip(&mut all) {
            for _ in 0..pace.block {
                let took = side()?;
                // The first round is for caches, prepared statements and files to grow.
                if round > 0 {
                    samples.push(took);
                }
            }
        }
    }
    Ok(all)
}

/// The middle one.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_sorted_times() {
        let mut samples = Samples::default();
        (0..100)
            .rev()
            .for_each(|at| samples.push(Duration::from_secs(at)));
        assert_eq!((samples.p50(), samples.p99()), (50.0, 99.0));
        assert!(Samples::default().p50().is_nan());
    }

    #[test]
    fn sides_take_turns_and_the_first_is_not_counted() {
        let order = std::cell::RefCell::new(String::new());
        let side = |name: char| {
            let order = &order;
            move || {
                order.borrow_mut().push(name);
                Ok(Duration::ZERO)
            }
        };
        let (mut a, mut b) = (side('a'), side('b'));
        let samples = in_turns(
            Pace {
                rounds: 2,
                block: 2,
            },
            &mut [&mut a, &mut b],
        )
        .unwrap();
        assert_eq!(order.into_inner(), "aabbaabbaabb");
        assert_eq!((samples[0].len(), samples[1].len()), (4, 4));
    }
}
