//! Whose turn it is among the workspaces that write through one connection.
//!
//! Each workspace has a line of its own. Light jobs of all lines share transactions, a job of each
//! line in turn. A workspace whose jobs are heavy has them run one at a time in transactions of
//! their own, and after each the lane is kept free for the others for a while, so that most of
//! their writes find it free. While one workspace writes alone, none of this applies. The time is
//! an argument, so that every decision can be tested.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

/// The largest number of jobs in one transaction: bounds how long the first of them waits.
const BATCH_JOBS: usize = 256;
/// How long a workspace that wrote counts as one that writes, and one that had a heavy job as
/// heavy.
const LATELY: Duration = Duration::from_secs(2);
/// After a heavy job the lane rests this many times as long as the job took: the others then find
/// it free two times out of three.
const REST: u32 = 2;
/// And no longer than this, so that heavy work always goes on.
const LONGEST_REST: Duration = Duration::from_secs(5);

/// What the leader does next.
pub enum Next<J> {
    /// Never empty while something is queued.
    Run(Vec<J>),
    /// Only heavy jobs wait, and it is not yet their time.
    Rest(Duration),
}

/// A job that was run.
pub struct Ran<'w> {
    pub workspace: &'w str,
    pub took: Duration,
}

struct Line<J> {
    workspace: String,
    jobs: VecDeque<J>,
}

/// What is known of a workspace that wrote lately.
struct Known {
    wrote: Instant,
    heavy: Option<Instant>,
}

pub struct Queue<J> {
    /// The lines that are not empty, in the order of their turns.
    lines: VecDeque<Line<J>>,
    /// Whether somebody leads.
    pub led: bool,
    known: HashMap<String, Known>,
    heavy: Duration,
    /// When heavy jobs may go on.
    rests_until: Option<Instant>,
    /// Whether light jobs had the last turn.
    light_last: bool,
}

impl<J> Queue<J> {
    pub fn new(heavy: Duration) -> Queue<J> {
        Queue {
            lines: VecDeque::new(),
            led: false,
            known: HashMap::new(),
            heavy,
            rests_until: None,
            light_last: false,
        }
    }

    pub fn push(&mut self, workspace: &str, job: J) {
        let line = self
            .lines
            .iter_mut()
            .find(|line| line.workspace == workspace);
        match line {
            Some(line) => line.jobs.push_back(job),
            None => self.lines.push_back(Line {
                workspace: workspace.to_string(),
                jobs: VecDeque::from([job]),
            }),
        }
    }

    /// A job that waits.
    pub fn first(&self) -> Option<&J> {
        self.lines.front().and_then(|line| line.jobs.front())
    }

    /// What to do now; nothing is run when nothing is queued.
    pub fn next(&mut self, now: Instant) -> Next<J> {
        self.known.retain(|_, known| now < known.wrote + LATELY);
        if !self.is_shared() {
            return Next::Run(self.take(BATCH_JOBS, |_| true));
        }
        let heavy: Vec<String> = self.heavy_lines(now);
        let has_light = self.lines.len() > heavy.len();
        let rest = self
            .rests_until
            .map_or(Duration::ZERO, |until| until.saturating_duration_since(now));
        let is_heavy = |workspace: &str| heavy.iter().any(|one| one == workspace);
        if has_light && (heavy.is_empty() || !rest.is_zero() || !self.light_last) {
            self.light_last = true;
            return Next::Run(self.take(BATCH_JOBS, |workspace| !is_heavy(workspace)));
        }
        if !rest.is_zero() {
            return Next::Rest(rest);
        }
        self.light_last = false;
        Next::Run(self.take(1, is_heavy))
    }

    /// Whether more than one workspace writes, or did lately.
    fn is_shared(&self) -> bool {
        let first = self.lines.front().map(|line| line.workspace.as_str());
        let other = |workspace: &str| Some(workspace) != first;
        self.lines.len() > 1 || self.known.keys().any(|workspace| other(workspace))
    }

    fn heavy_lines(&self, now: Instant) -> Vec<String> {
        let lately = |at: Instant| now < at + LATELY;
        let is_heavy = |line: &&Line<J>| {
            let known = self.known.get(&line.workspace);
            known.and_then(|known| known.heavy).is_some_and(lately)
        };
        let heavy = self.lines.iter().filter(is_heavy);
        heavy.map(|line| line.workspace.clone()).collect()
    }

    /// Takes a job of each line that is meant, in turn, until there are `most` or no more. Those of
    /// one workspace then stand together: each begins with what the one before it read.
    fn take(&mut self, most: usize, meant: impl Fn(&str) -> bool) -> Vec<J> {
        let mut taken: Vec<(String, Vec<J>)> = Vec::new();
        let (mut count, mut passed) = (0, 0);
        while count < most && passed < self.lines.len() {
            let Some(mut line) = self.lines.pop_front() else {
                break;
            };
            if meant(&line.workspace) {
                let together = taken.iter_mut().find(|(name, _)| *name == line.workspace);
                match together {
                    Some((_, jobs)) => jobs.extend(line.jobs.pop_front()),
                    None => taken.push((
                        line.workspace.clone(),
                        line.jobs.pop_front().into_iter().collect(),
                    )),
                }
                (count, passed) = (count + 1, 0);
            } else {
                passed += 1
            }
            if !line.jobs.is_empty() {
                self.lines.push_back(line);
            }
        }
        taken.into_iter().flat_map(|(_, jobs)| jobs).collect()
    }

    /// Notes what a batch cost each workspace.
    pub fn finished<'w>(&mut self, now: Instant, ran: impl Iterator<Item = Ran<'w>>) {
        for job in ran {
            let heavy = (job.took > self.heavy).then_some(now);
            let known = self.known.entry(job.workspace.to_string());
            let known = known.or_insert(Known {
                wrote: now,
                heavy: None,
            });
            known.wrote = now;
            known.heavy = heavy.or(known.heavy);
            if heavy.is_some() {
                self.rests_until = Some(now + (job.took * REST).min(LONGEST_REST));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAVY: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_millis(500);

    fn queue(jobs: &[(&str, u32)]) -> Queue<u32> {
        let mut queue = Queue::new(HEAVY);
        for (workspace, job) in jobs {
            queue.push(workspace, *job);
        }
        queue
    }

    fn run(queue: &mut Queue<u32>, now: Instant) -> Vec<u32> {
        match queue.next(now) {
            Next::Run(jobs) => jobs,
            Next::Rest(time) => panic!("rests for {time:?}"),
        }
    }

    fn ran(queue: &mut Queue<u32>, now: Instant, workspace: &str, took: Duration) {
        queue.finished(now, [Ran { workspace, took }].into_iter());
    }

    #[test]
    fn workspaces_take_turns_in_one_transaction() {
        let mut queue = queue(&[
            ("a", 1),
            ("a", 2),
            ("a", 3),
            ("b", 10),
            ("c", 20),
            ("c", 21),
        ]);
        assert_eq!(run(&mut queue, Instant::now()), [1, 2, 3, 10, 20, 21]);
        assert!(queue.first().is_none());
    }

    #[test]
    fn a_full_transaction_has_jobs_of_everybody() {
        let mut queue = Queue::new(HEAVY);
        for job in 0..1_000 {
            queue.push("flood", job);
        }
        queue.push("one", 5_000);
        let jobs = run(&mut queue, Instant::now());
        assert_eq!((jobs.len(), jobs.contains(&5_000)), (BATCH_JOBS, true));
    }

    #[test]
    fn a_workspace_that_writes_alone_never_rests() {
        let now = Instant::now();
        let mut queue = queue(&[("a", 1), ("a", 2)]);
        ran(&mut queue, now, "a", LONG);
        assert_eq!(run(&mut queue, now), [1, 2]);
    }

    #[test]
    fn a_heavy_job_shares_no_transaction_and_is_followed_by_a_rest() {
        let mut now = Instant::now();
        let mut queue = queue(&[("heavy", 1), ("heavy", 2), ("light", 10)]);
        ran(&mut queue, now, "heavy", LONG);
        assert_eq!(
            run(&mut queue, now),
            [10],
            "the lane is free for light ones"
        );
        ran(&mut queue, now, "light", Duration::from_millis(1));
        let Next::Rest(rest) = queue.next(now) else {
            panic!("heavy jobs rest while others write")
        };
        assert_eq!(rest, LONG * REST);
        queue.push("light", 11);
        assert_eq!(run(&mut queue, now), [11]);
        now += rest;
        queue.push("light", 12);
        assert_eq!(
            run(&mut queue, now),
            [1],
            "then it is their turn, one at a time"
        );
        ran(&mut queue, now, "heavy", LONG);
        assert_eq!(run(&mut queue, now), [12]);
    }

    #[test]
    fn a_flood_of_light_jobs_does_not_starve_heavy_ones() {
        let mut now = Instant::now();
        let mut queue = queue(&[("heavy", 1), ("heavy", 2), ("heavy", 3)]);
        ran(&mut queue, now, "heavy", LONG);
        let mut heavy = 0;
        for _ in 0..40 {
            queue.push("light", 100);
            let jobs = run(&mut queue, now);
            heavy += jobs.iter().filter(|job| **job < 100).count();
            let who = if jobs[0] < 100 { "heavy" } else { "light" };
            let took = if jobs[0] < 100 {
                LONG
            } else {
                Duration::from_millis(1)
            };
            now += Duration::from_millis(100);
            ran(&mut queue, now, who, took);
        }
        assert_eq!(heavy, 3);
    }

    #[test]
    fn no_rest_is_longer_than_five_seconds() {
        let now = Instant::now();
        let mut queue = queue(&[("heavy", 1)]);
        ran(&mut queue, now, "light", Duration::from_millis(1));
        ran(&mut queue, now, "heavy", Duration::from_secs(60));
        assert!(matches!(queue.next(now), Next::Rest(rest) if rest == LONGEST_REST));
        // By then nobody else writes any more, and there is nothing to wait for.
        assert_eq!(run(&mut queue, now + LATELY), [1]);
    }
}
