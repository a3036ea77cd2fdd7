//! What a hook that waits costs its client's machine: ten minutes of it while nothing happens, and a
//! while in which somebody writes to the store once a second.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::Outcome;
use crate::bench::Bench;
use crate::chat::Chat;
use crate::plans::Plans;
use crate::server::{Server, memory_of};
use crate::stores;
use crate::table::{Line, megabytes};

const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_secs(30);
/// How long its start may take.
const SETTLE: Duration = Duration::from_secs(3);

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let long = if bench.quick { SHORT } else { LONG };
    let busy = long / 5;
    let (kept, store) = (stores::with_nodes(bench, 1_000)?, bench.file("waits.db"));
    stores::copy(&kept, &store)?;
    let mut writer = Server::begin(bench.ours(&store))?;
    writer.call("graph_plan", &Plans::new(1).one())?;
    let chat = Chat::claude(bench, &store, "waits")?;
    chat.fire(
        "session-start",
        "SessionStart",
        &json!({ "source": "startup" }),
    )?;
    let hook = Ends(chat.waits()?);
    let plain = Ends(plain()?);
    std::thread::sleep(SETTLE);
    let (quiet, floor) = (
        worked_in(long, &[&hook, &plain], || Ok(()))?,
        memory(&plain)?,
    );
    let [quiet, nothing] = quiet.as_slice() else {
        return Err("processes".into());
    };
    let mut plans = Plans::new(2);
    let told = worked_in(busy, &[&hook], || {
        writer.call("graph_plan", &plans.one()).map(drop)
    })?;
    let held = memory(&hook)?;
    let line = |what: String, cost: &Cost| {
        Line::new(what, cost.told(), nothing.told(), cost.share * 100.0)
            .at_most(0.1)
            .in_unit("%")
    };
    let written = told.first().ok_or("processes")?;
    let (minutes, seconds) = (long.as_secs_f64() / 60.0, busy.as_secs());
    Ok(vec![
        line(
            format!("a waiting hook for {minutes} minutes, to a process that waits: processor"),
            quiet,
        ),
        Line::new(
            format!("… while somebody writes once a second, for {seconds} s"),
            written.told(),
            String::new(),
            written.share * 100.0,
        )
        .in_unit("%"),
        Line::new(
            "… its memory: resident (peak, own, share of what processes have in common)",
            held.told(),
            floor.told(),
            megabytes(held.resident),
        )
        .at_most(25.0)
        .in_unit(" MB"),
    ])
}

/// A process that does nothing but wait, as little as one can.
fn plain() -> Outcome<Child> {
    Ok(Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?)
}

/// Ends with the measurement.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What processes cost while a time passes.
struct Cost {
    /// Of one core.
    share: f64,
    wakes_per_second: f64,
}

impl Cost {
    fn told(&self) -> String {
        format!(
            "{:.4}%, wakes {:.2}/s",
            self.share * 100.0,
            self.wakes_per_second
        )
    }
}

fn worked_in(
    time: Duration,
    of: &[&Ends],
    mut each_second: impl FnMut() -> Outcome,
) -> Outcome<Vec<Cost>> {
    let now = || -> Outcome<Vec<(u64, u64)>> { of.iter().map(|one| used(one.0.id())).collect() };
    let (before, begun) = (now()?, Instant::now());
    while begun.elapsed() < time {
        std::thread::sleep(Duration::from_secs(1));
        each_second()?;
    }
    let (after, took) = (now()?, begun.elapsed().as_secs_f64());
    let cost = |((worked, woke), (before, slept)): (&(u64, u64), &(u64, u64))| Cost {
        share: worked.saturating_sub(*before) as f64 / 1e9 / took,
        wakes_per_second: woke.saturating_sub(*slept) as f64 / took,
    };
    Ok(after.iter().zip(&before).map(cost).collect())
}

/// The nanoseconds that the threads of a process have worked, and how often they began to.
fn used(process: u32) -> Outcome<(u64, u64)> {
    let (mut worked, mut woke) = (0, 0);
    for thread in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let told = std::fs::read_to_string(thread?.path().join("schedstat"))?;
        let mut numbers = told.split_whitespace().map(str::parse::<u64>);
        worked += numbers.next().ok_or("no time")??;
        woke += numbers.nth(1).ok_or("no count")??;
    }
    Ok((worked, woke))
}

struct Held {
    resident: u64,
    peak: u64,
    own: u64,
    share: u64,
}

impl Held {
    fn told(&self) -> String {
        format!(
            "{:.1} MB ({:.1}, {:.1}, {:.1})",
            megabytes(self.resident),
            megabytes(self.peak),
            megabytes(self.own),
            megabytes(self.share)
        )
    }
}

fn memory(one: &Ends) -> Outcome<Held> {
    let held = memory_of(one.0.id())?;
    let rollup = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", one.0.id()))?;
    let share = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    let share = share.and_then(|share| share.split_whitespace().next());
    Ok(Held {
        resident: held.resident,
        peak: held.peak,
        own: held.own,
        share: share.ok_or("no share")?.parse::<u64>()? * 1024,
    })
}
