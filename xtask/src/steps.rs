//! The steps of a long task, each with its time.
//!
//! It measures and remembers; what a step does is its caller's business.

use std::fmt;
use std::time::{Duration, Instant};

use crate::process::Outcome;

#[derive(Default)]
pub struct Steps {
    done: Vec<Step>,
}

struct Step {
    name: String,
    time: Duration,
    passed: bool,
}

impl Steps {
    /// Does one step and remembers how long it took and how it ended.
    pub fn step<T>(&mut self, name: &str, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = work();
        self.done.push(Step {
            name: name.to_owned(),
            time: start.elapsed(),
            passed: outcome.is_ok(),
        });
        outcome
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self
            .done
            .iter()
            .map(|step| step.name.len())
            .max()
            .unwrap_or(0)
            .max(5);
        for Step { name, time, passed } in &self.done {
            let verdict = if *passed { "passed" } else { "FAILED" };
            writeln!(f, "{verdict}  {name:width$}  {:>8.1} s", time.as_secs_f64())?;
        }
        let total: Duration = self.done.iter().map(|step| step.time).sum();
        write!(
            f,
            "        {:width$}  {:>8.1} s",
            "total",
            total.as_secs_f64()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_is_marked_and_counted() {
        let mut steps = Steps::default();
        assert_eq!(steps.step("first", || Ok(1)), Ok(1));
        assert!(
            steps
                .step("second", || Err::<(), _>("no".to_owned()))
                .is_err()
        );
        let table = steps.to_string();
        assert!(table.contains("passed  first"), "{table}");
        assert!(table.contains("FAILED  second"), "{table}");
        assert!(table.ends_with(" s") && table.contains("total"), "{table}");
    }
}
