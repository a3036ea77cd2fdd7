//! Messages: over stdio and HTTP, and by many clients at once.

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
pub const BODY: &str = "The mapper drops the fallback when the profile has no name; see the test.";

pub fn measure(bench: &Bench) -> Outcome<Vec<Line>> {
    let mut lines = over_stdio(bench)?;
    let store = bench.file("threads.db");
    let web = Web::start(bench.serve(&store))?;
    let token = bench.token(&store, "bench")?;
    lines.extend(over_http(bench, &web, &token)?);
    lines.extend(many(bench, &web, &token)?);
    Ok(lines)
}

pub fn thread(participants: &[&str]) -> Value {
    json!({ "title": "Review", "type": "workflow", "participants": participants })
}

pub fn message(thread: &str) -> Value {
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
