//! Several processes on one file, as every agent starts its own.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::bench::Bench;
use crate::measure::{Samples, median};
use crate::plans::Plans;
use crate::server::Server;
use crate::table::{Line, time};

const PROCESSES: usize = 8;

/// Eight servers on one file.
struct Crowd {
    servers: Vec<Server>,
    tool: &'static str,
    seeds: u64,
    rates: Vec<f64>,
    fairness: Vec<f64>,
    times: Samples,
}

impl Crowd {
    fn begin(tool: &'static str, command: impl Fn() -> Command) -> Outcome<Crowd> {
        let servers = (0..PROCESSES)
            .map(|_| Server::begin(command()))
            .collect::<Outcome<_>>()?;
        let (rates, fairness, times) = (Vec::new(), Vec::new(), Samples::default());
        Ok(Crowd {
            servers,
            tool,
            seeds: 0,
            rates,
            fairness,
            times,
        })
    }

    /// All write at once for a while.
    fn work(&mut self, span: Duration) -> Outcome<()> {
        self.seeds += 100;
        let (over, begun, tool) = (&AtomicBool::new(false), Instant::now(), self.tool);
        let all = std::thread::scope(|scope| -> Outcome<Vec<Samples>> {
            let work = move |server: &mut Server, seed: u64| {
                let (mut plans, mut times) = (Plans::new(seed), Samples::default());
                while !over.load(Ordering::Relaxed) {
                    times.push(server.time(tool, &plans.one())?);
                }
                Outcome::Ok(times)
            };
            let working: Vec<_> = (self.seeds..)
                .zip(&mut self.servers)
                .map(|(seed, server)| scope.spawn(move || work(server, seed)))
                .collect();
            std::thread::sleep(span);
            over.store(true, Ordering::Relaxed);
            working
                .into_iter()
                .map(|thread| thread.join().map_err(|_| "broken off")?)
                .collect()
        })?;
        let took = begun.elapsed().as_secs_f64();
        let counts: Vec<f64> = all.iter().map(|times| times.len() as f64).collect();
        let (most, least) = (
            counts.iter().copied().fold(0.0, f64::max),
            counts.iter().copied().fold(f64::MAX, f64::min),
        );
        self.rates.push(counts.iter().sum::<f64>() / took);
        self.fairness.push(most / least);
        all.into_iter().for_each(|times| self.times.extend(times));
        Ok(())
    }

    fn forget(&mut self) {
        self.rates.clear();
        self.fairness.clear();
        self.times = Samples::default();
    }
}

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let (store, limit) = (bench.file("crowd.db"), bench.file("crowd-floor.db"));
    let mut ours = Crowd::begin("graph_plan", || bench.ours(&store))?;
    let mut floor = Crowd::begin("insert", || bench.floor(&limit, false))?;
    for round in 0..=bench.pace(8, 1).rounds {
        ours.work(Duration::from_secs(2))?;
        floor.work(Duration::from_secs(2))?;
        if round == 0 {
            ours.forget();
            floor.forget();
        }
    }
    let spread = |crowd: &Crowd| crowd.times.p99() / crowd.times.p50();
    let (fair, floor_fair) = (
        median(ours.fairness.clone()),
        median(floor.fairness.clone()),
    );
    let shown = |value: f64| format!("{value:.2}×");
    let times =
        |crowd: &Crowd| format!("{} / {}", time(crowd.times.p99()), time(crowd.times.p50()));
    Ok(vec![
        Line::rates(
            "8 processes on one file, to 8 floors",
            median(ours.rates.clone()),
            median(floor.rates.clone()),
        )
        .at_least(0.5),
        Line::new(
            "… the busiest to the least",
            shown(fair),
            shown(floor_fair),
            fair,
        )
        .at_most(2.0),
        Line::new("… p99 to p50", times(&ours), times(&floor), spread(&ours)).at_most(50.0),
    ])
}
