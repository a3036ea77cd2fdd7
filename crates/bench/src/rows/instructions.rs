//! Instructions of one write and of one read over stdio, counted by callgrind: the one figure that a busy
//! machine does not change.
//!
//! A process is run twice, with few calls and with many, and the difference is divided by the calls, so
//! that its start does not count. `UNDERSTORY_BENCH_BEFORE` names an earlier binary to compare with.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;
use crate::bench::Bench;
use crate::plans::Plans;
use crate::rows::read::{COUNT, leaf, numbers};
use crate::server::Server;
use crate::stores;
use crate::table::{Line, tell};

/// Every so many writes the buffered texts go into the indexes: both runs have whole rounds of that.
const FEW: usize = 128;
const MANY: usize = 384;

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let known = Command::new("valgrind").arg("--version").output();
    if !known.is_ok_and(|known| known.status.success()) {
        return Err("valgrind is not installed (Debian: apt-get install valgrind)".into());
    }
    let now = [write(bench, &bench.binary)?, read(bench, &bench.binary)?];
    let floor = [floor(bench, true)?, floor(bench, false)?];
    let what = ["one write", "one read"];
    let line = |(what, (ours, limit)): (&str, (&f64, &f64))| {
        let ours_told = format!("{:.0}k", ours / 1e3);
        Line::new(
            what,
            ours_told,
            format!("{:.0}k", limit / 1e3),
            ours / limit,
        )
    };
    let to_floor = what.map(|what| format!("{what}, instructions, to the floor's"));
    let to_floor = to_floor.iter().map(String::as_str);
    let mut lines: Vec<Line> = to_floor.zip(now.iter().zip(&floor)).map(line).collect();
    if let Some(before) = std::env::var_os("UNDERSTORY_BENCH_BEFORE").map(PathBuf::from) {
        let then = [write(bench, &before)?, read(bench, &before)?];
        let to_before = what.map(|what| format!("{what}, instructions, to the binary before"));
        let to_before = to_before.iter().map(String::as_str);
        lines.extend(to_before.zip(now.iter().zip(&then)).map(line));
    }
    Ok(lines)
}

/// `graph_plan` of one node.
fn write(bench: &Bench, binary: &Path) -> Outcome<f64> {
    per_call(bench, |store, calls| {
        let mut first = Server::begin(bench.ours_of(binary, store))?;
        first.call("graph_plan", &Plans::new(9).one())?;
        first.leave()?;
        let mut plans = Plans::new(1);
        counted(bench, bench.ours_of(binary, store), |server| {
            (0..calls).try_for_each(|_| server.call("graph_plan", &plans.one()).map(drop))
        })
    })
}

/// `graph_context` of a node among a thousand.
fn read(bench: &Bench, binary: &Path) -> Outcome<f64> {
    per_call(bench, |store, calls| {
        let mut first = Server::begin(bench.ours_of(binary, store))?;
        stores::fill(&mut first, COUNT)?;
        first.leave()?;
        let mut next = numbers();
        counted(bench, bench.ours_of(binary, store), |server| {
            (0..calls).try_for_each(|_| server.call("graph_context", &leaf(next())).map(drop))
        })
    })
}

/// The floor's insert of the same arguments, or its read of a row.
fn floor(bench: &Bench, writes: bool) -> Outcome<f64> {
    per_call(bench, |store, calls| {
        let mut plans = Plans::new(1);
        counted(bench, bench.floor(store, false), |server| {
            server.call("insert", &plans.one())?;
            (0..calls).try_for_each(|_| {
                if writes {
                    server.call("insert", &plans.one()).map(drop)
                } else {
                    server
                        .call("read", &serde_json::json!({ "id": 1 }))
                        .map(drop)
                }
            })
        })
    })
}

/// What one call takes, from a run with few and one with many, each on a store of its own.
fn per_call(bench: &Bench, mut run: impl FnMut(&str, usize) -> Outcome<u64>) -> Outcome<f64> {
    let mut count = |calls: usize| {
        let store = bench.file("instructions.db");
        stores::forget(Path::new(&store));
        run(&store, calls)
    };
    let (few, many) = (count(FEW)?, count(MANY)?);
    let each = many.saturating_sub(few) as f64 / (MANY - FEW) as f64;
    tell(format!("  {few} and {many} instructions: {each:.0} a call"));
    Ok(each)
}

/// The instructions of a server from its start to its end.
fn counted(
    bench: &Bench,
    command: Command,
    calls: impl FnOnce(&mut Server) -> Outcome,
) -> Outcome<u64> {
    let out = bench.file("callgrind.out");
    let mut watched = Command::new("valgrind");
    watched
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={out}"))
        .arg(command.get_program())
        .args(command.get_args())
        .stderr(Stdio::null());
    if let Some(folder) = command.get_current_dir() {
        watched.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => watched.env(name, value),
            None => watched.env_remove(name),
        };
    }
    let mut server = Server::begin(watched)?;
    calls(&mut server)?;
    server.leave()?;
    let told = std::fs::read_to_string(&out)?;
    let total = told
        .lines()
        .find_map(|line| line.strip_prefix("totals:"))
        .ok_or("callgrind told no total")?;
    Ok(total.trim().parse()?)
}
