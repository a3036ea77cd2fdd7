//! Metrics of the process, in Prometheus' text format.
//!
//! Every label's values come from a fixed list: no caller's text can make a new line here.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use understory_engine::kernel::clock::{Clock as _, System};

use crate::log;

/// The upper bounds of the histogram, in seconds.
const BOUNDS: [f64; 11] = [
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0,
];

/// A number that goes up and down.
#[derive(Debug, Default)]
pub struct Gauge(AtomicI64);

impl Gauge {
    pub fn add(&self, by: i64) {
        self.0.fetch_add(by, Ordering::Relaxed);
    }

    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Default, Clone)]
struct Histogram {
    buckets: [u64; BOUNDS.len()],
    count: u64,
    sum: f64,
}

impl Histogram {
    fn add(&mut self, seconds: f64) {
        self.count += 1;
        self.sum += seconds;
        for (bound, bucket) in BOUNDS.iter().zip(&mut self.buckets) {
            *bucket += u64::from(seconds <= *bound);
        }
    }
}

/// What others count.
#[derive(Debug, Clone, Copy, Default)]
pub struct Now {
    pub sessions: usize,
    pub held_bytes: usize,
}

/// All that is counted.
#[derive(Debug)]
pub struct Metrics {
    started: f64,
    pub in_flight: Gauge,
    pub streams: Gauge,
    pub connections: Gauge,
    /// By route and status.
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    /// By tool and code.
    calls: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    seconds: Mutex<BTreeMap<&'static str, Histogram>>,
    /// Looks at a token or login that the store did not answer; each is repeated.
    unjudged: AtomicU64,
    /// Refused tokens, by reason.
    refused: Mutex<BTreeMap<&'static str, u64>>,
}

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics {
            started: System.now().0 as f64 / 1e6,
            in_flight: Gauge::default(),
            streams: Gauge::default(),
            connections: Gauge::default(),
            requests: Mutex::default(),
            calls: Mutex::default(),
            seconds: Mutex::default(),
            unjudged: AtomicU64::default(),
            refused: Mutex::default(),
        }
    }
}

impl Metrics {
    pub fn request(&self, route: &'static str, status: u16) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((route, status)).or_default() += 1;
    }

    pub fn unjudged(&self) {
        self.unjudged.fetch_add(1, Ordering::Relaxed);
    }

    pub fn refused(&self, reason: &'static str) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        *refused.entry(reason).or_default() += 1;
    }

    pub fn call(&self, tool: &'static str, code: &'static str, took: Duration) {
        {
            let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            *calls.entry((tool, code)).or_default() += 1;
        }
        let mut seconds = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        seconds.entry(tool).or_default().add(took.as_secs_f64());
    }

    /// The page. `up` says whether the store can be read.
    pub fn page(&self, up: bool, now: Now) -> String {
        let mut page = Page(String::new());
        let version = env!("CARGO_PKG_VERSION");
        page.head("understory_build_info", "gauge", "The version that runs.");
        page.line("understory_build_info", &[("version", version)], 1.0);
        page.head(
            "understory_store_up",
            "gauge",
            "Whether the store can be read.",
        );
        page.line("understory_store_up", &[], f64::from(u8::from(up)));
        let gauges = [
            (
                "understory_http_requests_in_flight",
                "Requests being answered.",
                self.in_flight.get(),
            ),
            (
                "understory_http_connections",
                "Open connections.",
                self.connections.get(),
            ),
            (
                "understory_streams",
                "Streams that wait for news.",
                self.streams.get(),
            ),
            (
                "understory_mcp_sessions",
                "MCP sessions.",
                now.sessions as i64,
            ),
            (
                "understory_held_bytes",
                "Bytes held for calls that are not answered yet.",
                now.held_bytes as i64,
            ),
        ];
        for (name, help, value) in gauges {
            page.head(name, "gauge", help);
            page.line(name, &[], value as f64);
        }
        let dropped = "understory_log_lines_dropped_total";
        page.head(dropped, "counter", "Lines of the log that nobody read.");
        page.line(dropped, &[], log::dropped() as f64);
        let unjudged = "understory_token_checks_failed_total";
        let help = "Checks of a waiting caller's token or login that the store did not answer.";
        page.head(unjudged, "counter", help);
        page.line(unjudged, &[], self.unjudged.load(Ordering::Relaxed) as f64);
        page.head(
            "understory_http_requests_total",
            "counter",
            "Requests, by route and status.",
        );
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        for ((route, status), count) in requests.iter() {
            let labels = [("route", *route), ("status", &status.to_string())];
            page.line("understory_http_requests_total", &labels, *count as f64);
        }
        drop(requests);
        page.head(
            "understory_tokens_refused_total",
            "counter",
            "Tokens that were refused, by reason.",
        );
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        for (reason, count) in refused.iter() {
            let labels = [("reason", *reason)];
            page.line("understory_tokens_refused_total", &labels, *count as f64);
        }
        drop(refused);
        page.head(
            "understory_calls_total",
            "counter",
            "Calls of tools, by tool and code.",
        );
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        for ((tool, code), count) in calls.iter() {
            let labels = [("tool", *tool), ("code", *code)];
            page.line("understory_calls_total", &labels, *count as f64);
        }
        drop(calls);
        page.head(
            "understory_call_seconds",
            "histogram",
            "How long calls took, by tool.",
        );
        let seconds = self
            .seconds
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        for (tool, histogram) in &seconds {
            page.histogram("understory_call_seconds", tool, histogram);
        }
        page.head(
            "process_start_time_seconds",
            "gauge",
            "When the process began.",
        );
        page.line("process_start_time_seconds", &[], self.started);
        if let Some(bytes) = resident_bytes() {
            page.head("process_resident_memory_bytes", "gauge", "Memory in use.");
            page.line("process_resident_memory_bytes", &[], bytes as f64);
        }
        page.0
    }
}

struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.0.push_str(name);
        for (at, (label, text)) in labels.iter().enumerate() {
            let before = if at == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{before}{label}=\"{}\"", escaped(text));
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }

    fn histogram(&mut self, name: &str, tool: &str, histogram: &Histogram) {
        let bucket = format!("{name}_bucket");
        for (bound, count) in BOUNDS.iter().zip(histogram.buckets) {
            let labels = [("tool", tool), ("le", &bound.to_string())];
            self.line(&bucket, &labels, count as f64);
        }
        let count = histogram.count as f64;
        self.line(&bucket, &[("tool", tool), ("le", "+Inf")], count);
        self.line(&format!("{name}_sum"), &[("tool", tool)], histogram.sum);
        self.line(&format!("{name}_count"), &[("tool", tool)], count);
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

/// What the kernel says that this process has in memory; none where it does not say.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_each_figure_once_under_its_head() {
        let metrics = Metrics::default();
        metrics.request("v1", 200);
        metrics.request("v1", 200);
        metrics.call("graph_next", "ok", Duration::from_millis(2));
        metrics.call("graph_next", "CONFLICT", Duration::from_secs(9));
        metrics.in_flight.add(3);
        let page = metrics.page(true, Now::default());
        for line in [
            "understory_http_requests_total{route=\"v1\",status=\"200\"} 2",
            "understory_calls_total{tool=\"graph_next\",code=\"CONFLICT\"} 1",
            "understory_call_seconds_bucket{tool=\"graph_next\",le=\"0.0025\"} 1",
            "understory_call_seconds_bucket{tool=\"graph_next\",le=\"5\"} 1",
            "understory_call_seconds_bucket{tool=\"graph_next\",le=\"+Inf\"} 2",
            "understory_call_seconds_count{tool=\"graph_next\"} 2",
            "understory_http_requests_in_flight 3",
            "understory_store_up 1",
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
        for line in page.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split(['{', ' ']).next().unwrap();
            let family = ["_bucket", "_sum", "_count"]
                .iter()
                .find_map(|end| name.strip_suffix(end))
                .filter(|family| page.contains(&format!("# TYPE {family} histogram")))
                .unwrap_or(name);
            assert_eq!(
                page.matches(&format!("# TYPE {family} ")).count(),
                1,
                "{name}"
            );
        }
    }

    #[test]
    fn labels_are_escaped() {
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    }
}
