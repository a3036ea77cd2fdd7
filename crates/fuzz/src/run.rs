//! Runs one target: first what is in the corpus, then inputs made from a seed, until enough.
//!
//! A run stops at the first failure, makes its input small and says how to see it again.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::{Duration, Instant};

use crate::chance::Chance;
use crate::corpus;
use crate::target::{Outcome, Target};
use crate::targets::Kind;

/// Inputs that went a way of their own and are kept to make others of.
const MOST_KNOWN: usize = 4_096;
/// Ways that are told apart in one run.
const MOST_WAYS: usize = 100_000;
/// Tries to make a failing input smaller.
const SMALLER: usize = 400;

/// How long to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enough {
    Inputs(u64),
    Time(Duration),
}

/// What a run did.
#[derive(Debug, Clone)]
pub struct Report {
    pub name: String,
    pub seed: u64,
    pub replayed: usize,
    pub inputs: u64,
    /// Ways that inputs went.
    pub ways: usize,
    pub took: Duration,
    /// The input that took longest, and how long.
    pub slowest: (Duration, Vec<u8>),
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = String::from_utf8_lossy(&self.slowest.1)
            .chars()
            .take(120)
            .collect();
        write!(
            f,
            "{}: {} inputs after {} of the corpus in {:.1} s, seed {}, {} ways; slowest {:.1} ms: {shown:?}",
            self.name,
            self.inputs,
            self.replayed,
            self.took.as_secs_f64(),
            self.seed,
            self.ways,
            self.slowest.0.as_secs_f64() * 1e3,
        )
    }
}

/// A failure, with what is needed to see it again.
#[derive(Debug)]
pub struct Failure {
    pub name: String,
    pub seed: u64,
    /// Which input it was; none for one of the corpus.
    pub number: Option<u64>,
    pub problem: String,
    pub input: Vec<u8>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { name, seed, .. } = self;
        match self.number {
            Some(number) => writeln!(f, "{name} failed at input {number} of seed {seed}")?,
            None => writeln!(f, "{name} failed at an input of its corpus")?,
        }
        writeln!(f, "{}", self.problem)?;
        let shown: String = String::from_utf8_lossy(&self.input)
            .chars()
            .take(4_000)
            .collect();
        write!(
            f,
            "input, made small ({} bytes): {shown:?}",
            self.input.len()
        )
    }
}

thread_local! {
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Panics are kept to be reported with their input, and not printed meanwhile.
fn listen_for_panics() {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let told = format!("{info}");
            PANIC.with(|panic| *panic.borrow_mut() = Some(told));
        }));
    });
}

/// Runs one input; a panic becomes an error.
pub fn guarded(work: impl FnOnce() -> Outcome) -> Outcome {
    listen_for_panics();
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let told = PANIC.with(|panic| panic.borrow_mut().take());
        Err(told.unwrap_or_else(|| "it panicked".to_owned()))
    })
}

/// Runs a kind of target with a seed until it is enough.
pub fn run(kind: &Kind, seed: u64, enough: Enough) -> Result<Report, Box<Failure>> {
    let mut run = Run::new(kind, seed);
    run.replay()?;
    run.begin = Instant::now();
    while !run.is_over(enough) {
        run.one()?;
    }
    run.finish()
}

struct Run<'k> {
    kind: &'k Kind,
    target: Box<dyn Target>,
    known: Vec<Vec<u8>>,
    ways: HashSet<String>,
    report: Report,
    begin: Instant,
}

impl<'k> Run<'k> {
    fn new(kind: &'k Kind, seed: u64) -> Run<'k> {
        Run {
            kind,
            target: (kind.make)(),
            known: Vec::new(),
            ways: HashSet::new(),
            report: Report {
                name: kind.name.to_owned(),
                seed,
                replayed: 0,
                inputs: 0,
                ways: 0,
                took: Duration::ZERO,
                slowest: (Duration::ZERO, Vec::new()),
            },
            begin: Instant::now(),
        }
    }

    fn replay(&mut self) -> Result<(), Box<Failure>> {
        let inputs = corpus::read(self.kind.corpus)
            .unwrap_or_else(|error| panic!("the corpus of {}: {error}", self.kind.name));
        for (_, input) in inputs {
            self.input(input, None)?;
            self.report.replayed += 1;
        }
        for example in (self.kind.examples)() {
            self.input(example, None)?;
        }
        if self.known.is_empty() {
            self.known.push(Vec::new());
        }
        Ok(())
    }

    fn is_over(&self, enough: Enough) -> bool {
        match enough {
            Enough::Inputs(most) => self.report.inputs >= most,
            Enough::Time(most) => self.begin.elapsed() >= most,
        }
    }

    fn one(&mut self) -> Result<(), Box<Failure>> {
        let number = self.report.inputs;
        let mut chance = Chance::new(self.report.seed, number);
        let input = self.target.make(&mut chance, &self.known);
        self.report.inputs += 1;
        self.input(input, Some(number))
    }

    fn input(&mut self, input: Vec<u8>, number: Option<u64>) -> Result<(), Box<Failure>> {
        let start = Instant::now();
        let outcome = guarded(|| self.target.run(&input));
        let took = start.elapsed();
        if took > self.report.slowest.0 {
            self.report.slowest = (took, input.clone());
        }
        match outcome {
            Ok(way) => {
                let new = self.ways.len() < MOST_WAYS && self.ways.insert(way);
                let keep = number.is_none() || self.known.len() < MOST_KNOWN;
                if keep && (new || number.is_none()) {
                    self.known.push(input);
                }
                Ok(())
            }
            Err(problem) => {
                let input = self.target.trace().unwrap_or(input);
                Err(self.failure(problem, input, number))
            }
        }
    }

    fn failure(&self, problem: String, input: Vec<u8>, number: Option<u64>) -> Box<Failure> {
        // Making it small may take a while, and a run may be ended meanwhile.
        eprintln!("{} failed, input {number:?}: {problem}", self.kind.name);
        let (input, problem) = smaller(self.kind, input, problem);
        Box::new(Failure {
            name: self.kind.name.to_owned(),
            seed: self.report.seed,
            number,
            problem,
            input,
        })
    }

    fn finish(mut self) -> Result<Report, Box<Failure>> {
        let outcome = guarded(|| self.target.finish().map(|()| String::new()));
        if let Err(problem) = outcome {
            let input = self.target.trace().unwrap_or_default();
            return Err(self.failure(problem, input, Some(self.report.inputs)));
        }
        self.report.ways = self.ways.len();
        self.report.took = self.begin.elapsed();
        Ok(self.report)
    }
}

/// What an input alone comes to, on a fresh target.
pub fn alone(kind: &Kind, input: &[u8]) -> Outcome {
    guarded(|| {
        let mut target = (kind.make)();
        let way = target.run(input)?;
        target.finish()?;
        Ok(way)
    })
}

/// The smallest input found that still fails; the input as it is if it does not fail alone.
fn smaller(kind: &Kind, mut input: Vec<u8>, problem: String) -> (Vec<u8>, String) {
    let Err(mut problem) = alone(kind, &input).map_err(|again| {
        // A failure without its place says less than the first one.
        if again.len() < problem.len() / 2 {
            problem.clone()
        } else {
            again
        }
    }) else {
        return (
            input,
            format!("{problem}\n(not seen again with this input alone)"),
        );
    };
    let mut tries = kind.smaller.min(SMALLER);
    // Of a long trace the last line is often enough.
    let last = input
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    if last > 0
        && let Err(again) = alone(kind, &input[last..])
    {
        input.drain(..last);
        problem = again;
    }
    // Whole lines first: of most formats here they are the parts.
    for by_lines in [true, false] {
        let mut size = input.len() / 2;
        while size > 0 && tries > 0 {
            let mut at = 0;
            while at < input.len() && tries > 0 {
                let Some(cut) = without(&input, at, size, by_lines) else {
                    break;
                };
                tries -= 1;
                match alone(kind, &cut) {
                    Err(again) => {
                        input = cut;
                        problem = again;
                    }
                    Ok(_) => at += size,
                }
            }
            size /= 2;
        }
    }
    (input, problem)
}

/// The input without a stretch; by whole lines, that is grown to the ends of lines.
fn without(input: &[u8], at: usize, size: usize, by_lines: bool) -> Option<Vec<u8>> {
    let (mut from, mut to) = (at, (at + size).min(input.len()));
    if by_lines {
        from = input[..from]
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |p| p + 1);
        let rest = &input[to.max(from + 1).min(input.len())..];
        to = input.len() - rest.len()
            + rest
                .iter()
                .position(|b| *b == b'\n')
                .map_or(rest.len(), |p| p + 1);
    }
    let mut cut = input[..from].to_vec();
    cut.extend_from_slice(&input[to..]);
    (cut.len() < input.len()).then_some(cut)
}
