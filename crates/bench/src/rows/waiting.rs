//! Many who wait for one message: how long until the last of them has it, and what they cost meanwhile.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::Outcome;
use crate::bench::Bench;
use crate::measure::Samples;
use crate::rows::threads::{message, thread};
use crate::table::Line;
use crate::web::{Client, Web};

const WAITING: usize = 1_000;
/// A caller may have so many calls wait, so each waits as an agent of its own.
const EACH: usize = 25;
/// How long the waiting are left alone, to see what they cost.
const IDLE: Duration = Duration::from_secs(5);
/// How long they take until all of them wait.
const SETTLE: Duration = Duration::from_secs(2);

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let store = bench.file("waiting.db");
    let web = Web::start(bench.serve(&store))?;
    let count = bench.size(WAITING);
    let names: Vec<String> = (0..count.div_ceil(EACH))
        .map(|at| format!("waiter-{at}"))
        .collect();
    let tokens: Vec<String> = names
        .iter()
        .map(|name| bench.token(&store, name))
        .collect::<Outcome<_>>()?;
    let poster = bench.token(&store, "poster")?;
    let members: Vec<&str> = names.iter().map(String::as_str).collect();
    let before = web.memory()?;
    let mut clients: Vec<Client> = (0..count)
        .map(|at| Client::new(&web, &tokens[at % tokens.len()]))
        .collect::<Outcome<_>>()?;
    let (mut last, mut first) = (Samples::default(), Samples::default());
    let (mut posts, mut idle) = (Samples::default(), None);
    for round in 0..=bench.pace(8, 1).rounds {
        // A thread of its own, so that nobody was told of it before.
        let mut opener = Client::new(&web, &poster)?;
        let made = opener.call("/v1/create_thread", &thread(&members))?;
        let id = made["thread_id"].as_str().unwrap_or_default().to_string();
        let wait = json!({ "thread_ids": [id], "since": 0, "timeout_s": 120 });
        for client in &mut clients {
            client.send("/v1/wait_for_messages", &wait)?;
        }
        std::thread::sleep(SETTLE);
        if idle.is_none() {
            let (held, worked) = (web.memory()?, web.worked()?);
            std::thread::sleep(IDLE);
            let worked = (web.worked()? - worked).as_secs_f64() / IDLE.as_secs_f64();
            let each = held.resident.saturating_sub(before.resident) / count as u64;
            idle = Some(format!(
                "{:.1}%, {:.0} KB",
                worked * 100.0,
                each as f64 / 1e3
            ));
        }
        let post = message(&id);
        // A connection that was silent for long is not kept.
        let mut poster = Client::new(&web, &poster)?;
        let begun = Instant::now();
        poster.call("/v1/post_message", &post)?;
        let posted = begun.elapsed();
        let mut woken = Vec::with_capacity(count);
        for client in &mut clients {
            client.receive()?;
            woken.push(begun.elapsed());
        }
        if round > 0 {
            posts.push(posted);
            first.push(woken[0]);
            last.push(woken[count - 1]);
        }
    }
    let what = format!("{count} waiting clients woken by one message, the last, p50");
    Ok(vec![
        Line::times(what, last.p50(), posts.p50()).at_most(50.0),
        Line::times("… the first, p50", first.p50(), posts.p50()),
        Line::new(
            format!("… what {count} cost while they wait: processor, memory each"),
            idle.unwrap_or_default(),
            String::new(),
            f64::NAN,
        ),
    ])
}
