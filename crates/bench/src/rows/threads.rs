//! Messages: over stdio and HTTP, by many clients at once, and to many who wait.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::Outcome;
use crate::bench::Bench;
use crate::measure::{Samples, in_turns, median};
use crate::server::Server;
use crate::table::Line;
use crate::web::{Client, Web};

const CLIENTS: usize = 64;
const WAITING: usize = 1_000;
/// How long the waiting are left alone, to see what they cost.
const IDLE: Duration = Duration::from_secs(5);
const BODY: &str = "The mapper drops the fallback when the profile has no name; see the test.";

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let mut lines = over_stdio(bench)?;
    let store = bench.file("threads.db");
    let web = Web::start(bench.serve(&store))?;
    let token = bench.token(&store, "bench")?;
    lines.extend(over_http(bench, &web, &token)?);
    lines.extend(many(bench, &web, &token)?);
    lines.extend(waiting(bench, &web, &store)?);
    Ok(lines)
}

fn thread(participants: &[&str]) -> Value {
    json!({ "title": "Review", "type": "workflow", "participants": participants })
}

fn message(thread: &str) -> Value {
    json!({ "thread_id": thread, "body": BODY })
}

fn over_stdio(bench: &Bench) -> Outcome<Vec<Line>> {
    let mut ours = Server::begin(bench.ours(&bench.file("talk.db")))?;
    let mut echo = Server::begin(bench.floor(&bench.file("talk-echo.db"), false))?;
    let made = ours.call("create_thread", &thread(&[]))?;
    let post = message(made["thread_id"].as_str().unwrap_or_default());
    for _ in 0..50 {
        ours.call("post_message", &post)?;
    }
    let read = json!({ "thread_id": made["thread_id"], "since_seq": 0, "limit": 20 });
    let mut reader = Server::begin(bench.ours(&bench.file("talk.db")))?;
    let samples = in_turns(
        bench.pace(40, 50),
        &mut [
            &mut || ours.time("post_message", &post),
            &mut || reader.time("read_messages", &read),
            &mut || echo.time("echo", &post),
        ],
    )?;
    Ok(to_echo("stdio", &samples))
}

fn over_http(bench: &Bench, web: &Web, token: &str) -> Outcome<Vec<Line>> {
    let floor = Web::start(bench.http_floor())?;
    let mut ours = Client::new(web, token)?;
    let mut reader = Client::new(web, token)?;
    let mut echo = Client::new(&floor, token)?;
    let made = ours.call("/v1/create_thread", &thread(&[]))?;
    let post = message(made["thread_id"].as_str().unwrap_or_default());
    for _ in 0..50 {
        ours.call("/v1/post_message", &post)?;
    }
    let read = json!({ "thread_id": made["thread_id"], "since_seq": 0, "limit": 20 });
    let samples = in_turns(
        bench.pace(40, 50),
        &mut [
            &mut || ours.time("/v1/post_message", &post),
            &mut || reader.time("/v1/read_messages", &read),
            &mut || echo.time("/echo", &post),
        ],
    )?;
    Ok(to_echo("HTTP", &samples))
}

fn to_echo(transport: &str, samples: &[Samples]) -> Vec<Line> {
    let [post, read, echo] = samples else {
        return Vec::new();
    };
    let line = |what: &str, ours: f64, limit: f64| {
        Line::times(format!("{what}, {transport}, to an echo"), ours, limit)
    };
    vec![
        line("post_message, p50", post.p50(), echo.p50()),
        line("post_message, p99", post.p99(), echo.p99()),
        line("read_messages of 20, p50", read.p50(), echo.p50()),
        line("read_messages of 20, p99", read.p99(), echo.p99()),
    ]
}

/// Many clients posting at once, each to a thread of its own.
fn many(bench: &Bench, web: &Web, token: &str) -> Outcome<Vec<Line>> {
    let mut raw = Raw::open(&bench.file("threads-raw.db"))?;
    let (mut all, mut one, mut limit) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=bench.pace(8, 1).rounds {
        let rates = [
            posted(web, token, CLIENTS)?,
            posted(web, token, 1)?,
            raw.rate()?,
        ];
        if round > 0 {
            all.push(rates[0]);
            one.push(rates[1]);
            limit.push(rates[2]);
        }
    }
    let (all, one, limit) = (median(all), median(one), median(limit));
    Ok(vec![
        Line::rates("64 HTTP clients posting, to one", all, one),
        Line::rates("64 HTTP clients posting, to raw batches of 64", all, limit),
    ])
}

/// Messages a second that so many clients get answered.
fn posted(web: &Web, token: &str, clients: usize) -> Outcome<f64> {
    let mut connected = Vec::new();
    for _ in 0..clients {
        let mut client = Client::new(web, token)?;
        let made = client.call("/v1/create_thread", &thread(&[]))?;
        let thread = made["thread_id"].as_str().unwrap_or_default().to_string();
        connected.push((client, thread));
    }
    let (over, count) = (AtomicBool::new(false), AtomicU64::new(0));
    let begun = Instant::now();
    std::thread::scope(|scope| -> Outcome {
        let working: Vec<_> = connected
            .into_iter()
            .map(|(mut client, thread)| {
                let (over, count) = (&over, &count);
                scope.spawn(move || -> Outcome {
                    let post = message(&thread);
                    while !over.load(Ordering::Relaxed) {
                        client.time("/v1/post_message", &post)?;
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(())
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(1_000));
        over.store(true, Ordering::Relaxed);
        working
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| "a client failed")?)
    })?;
    Ok(count.into_inner() as f64 / begun.elapsed().as_secs_f64())
}

/// The least that keeps a message, in batches of 64: an item and its place in its thread.
struct Raw {
    file: Connection,
    n: i64,
}

impl Raw {
    fn open(path: &str) -> Outcome<Raw> {
        let file = Connection::open(path)?;
        file.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE item (ws INTEGER, seq INTEGER, uuid BLOB, actor TEXT, content TEXT,
               digest BLOB, chain BLOB, PRIMARY KEY (ws, seq)) WITHOUT ROWID;
             CREATE UNIQUE INDEX item_uuid ON item (ws, uuid);
             CREATE TABLE message (ws INTEGER, thread INTEGER, n INTEGER, seq INTEGER,
               PRIMARY KEY (ws, thread, n)) WITHOUT ROWID;
             CREATE INDEX message_seq ON message (ws, seq);",
        )?;
        Ok(Raw { file, n: 0 })
    }

    fn rate(&mut self) -> Outcome<f64> {
        let (begun, before) = (Instant::now(), self.n);
        while begun.elapsed() < Duration::from_millis(500) {
            let batch = self.file.transaction()?;
            for _ in 0..CLIENTS {
                self.n += 1;
                let (uuid, hash) = (self.n.to_be_bytes(), [7_u8; 32]);
                batch
                    .prepare_cached("INSERT INTO item VALUES (1, ?1, ?2, 'bench', ?3, ?4, ?4)")?
                    .execute((self.n, uuid, BODY, hash))?;
                batch
                    .prepare_cached("INSERT INTO message VALUES (1, ?1, ?2, ?2)")?
                    .execute((self.n % CLIENTS as i64, self.n))?;
            }
            batch.commit()?;
        }
        Ok((self.n - before) as f64 / begun.elapsed().as_secs_f64())
    }
}

/// A thousand who wait for one message.
fn waiting(bench: &Bench, web: &Web, store: &str) -> Outcome<Vec<Line>> {
    let count = bench.size(WAITING);
    let token = bench.token(store, "waiter")?;
    // A caller may have so many calls wait, so each waits as an agent of its own.
    let agents = count.div_ceil(25);
    let tokens: Vec<String> = (1..agents)
        .map(|at| bench.token(store, &format!("waiter-{at}")))
        .collect::<Outcome<_>>()?;
    let names: Vec<String> = (0..agents)
        .map(|at| match at {
            0 => "waiter".to_string(),
            at => format!("waiter-{at}"),
        })
        .collect();
    let mut poster = Client::new(web, &bench.token(store, "poster")?)?;
    let members: Vec<&str> = names.iter().map(String::as_str).collect();
    let made = poster.call("/v1/create_thread", &thread(&members))?;
    let id = made["thread_id"].as_str().unwrap_or_default().to_string();
    let before = web.memory()?;
    let mut clients = Vec::new();
    for at in 0..count {
        let token = match at % agents {
            0 => &token,
            other => &tokens[other - 1],
        };
        let mut client = Client::new(web, token)?;
        let wait = json!({ "thread_ids": [id], "since": 0, "timeout_s": 120 });
        client.send("/v1/wait_for_messages", &wait)?;
        clients.push(client);
    }
    std::thread::sleep(Duration::from_secs(2));
    let (idle, worked) = (web.memory()?, web.worked()?);
    std::thread::sleep(IDLE);
    let worked = (web.worked()? - worked).as_secs_f64() / IDLE.as_secs_f64();
    let post = message(&id);
    // A connection that was silent for long is not kept.
    let mut poster = Client::new(web, &bench.token(store, "poster")?)?;
    let begun = Instant::now();
    poster.call("/v1/post_message", &post)?;
    let posted = begun.elapsed();
    for client in &mut clients {
        client.receive()?;
    }
    let woken = begun.elapsed();
    let each = idle.resident.saturating_sub(before.resident) / count as u64;
    let first = format!("{count} waiting clients woken by one message, the last");
    Ok(vec![
        Line::times(first, woken.as_secs_f64(), posted.as_secs_f64()),
        Line::new(
            format!("… what {count} cost while they wait: processor, memory each"),
            format!("{:.1}%, {:.0} KB", worked * 100.0, each as f64 / 1e3),
            String::new(),
            f64::NAN,
        ),
    ])
}
