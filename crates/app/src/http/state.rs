//! What every request has at hand: the store, the keys, the limits, and what is kept for callers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use understory_model::{Caller, Code, Fault};
use understory_tools::sets::ToolSet;

use super::audit::Refusals;
use super::care::Care;
use super::connections::{self, Connections};
use super::held::Held;
use super::hosts::Hosts;
use super::login::{Cookie, Logins};
use super::metrics::Metrics;
use super::rate::Rates;
use super::revoked::Lately;
use super::sessions::Sessions;
use super::signs::Signs;
use super::streams::Streams;
use super::tls::Tls;
use crate::call::{Calls, Ended};
use crate::ids::Requests;
use crate::log::{self, Level};
use crate::store::Store;
use crate::token::verify::Verifier;

/// The server's whole state.
pub struct AppState {
    pub store: Arc<Store>,
    pub calls: Arc<Calls>,
    pub requests: Arc<Requests>,
    pub verifier: Verifier,
    pub hosts: Hosts,
    pub metrics: Arc<Metrics>,
    pub rates: Arc<Rates>,
    pub held: Arc<Held>,
    pub connections: Arc<Connections>,
    pub tls: Option<Arc<Tls>>,
    pub streams: Streams,
    pub sessions: Sessions,
    pub signs: Arc<Signs>,
    pub logins: Logins,
    /// What the person's own programs get login links for.
    pub door: Option<String>,
    /// What Proof and care shows beside the store.
    pub care: Arc<Care>,
    /// What was revoked, for many who are answered at the same moment.
    pub lately: Lately,
    /// Refused tokens that are still to be told.
    pub refusals: Refusals,
    /// Becomes true when the server is told to stop.
    pub end: watch::Receiver<bool>,
    /// Cancelled when whatever is still in flight is given up.
    pub stop: CancellationToken,
    /// The tools that are listed where a request does not say.
    pub set: ToolSet,
}

/// What a server is made of.
pub struct Plan {
    pub store: Arc<Store>,
    pub verifier: Verifier,
    pub hosts: Hosts,
    /// The certificate that callers are shown; none where they connect in the clear.
    pub tls: Option<Tls>,
    pub set: ToolSet,
    pub rate_per_second: i64,
    pub person: Caller,
    /// What the person's own programs get login links for.
    pub door: Option<String>,
    /// What Proof and care shows beside the store.
    pub care: Care,
}

impl AppState {
    pub fn new(plan: Plan, end: watch::Receiver<bool>) -> Arc<AppState> {
        let metrics = Arc::new(Metrics::default());
        let counted = Arc::clone(&metrics);
        let observer = Box::new(move |ended: &Ended<'_>| count(&counted, ended));
        let rates = Arc::new(Rates::new(plan.rate_per_second));
        let charged = Arc::clone(&rates);
        let meter = Arc::new(move |caller: &Caller, took: Duration| {
            charged.spend_time(caller, took, Instant::now());
        });
        let calls = Calls::new(Arc::clone(&plan.store), end.clone());
        Arc::new(AppState {
            calls: Arc::new(calls.observed(observer).metered(meter)),
            signs: Signs::new(Arc::clone(&plan.store)),
            store: plan.store,
            requests: Arc::default(),
            verifier: plan.verifier,
            lately: Lately::default(),
            logins: Logins::new(
                plan.person,
                Cookie::new(plan.hosts.is_secure(), plan.hosts.port()),
            ),
            door: plan.door,
            care: Arc::new(plan.care),
            hosts: plan.hosts,
            rates,
            held: Arc::default(),
            connections: Connections::new(connections::most()),
            tls: plan.tls.map(Arc::new),
            streams: Streams::new(Arc::clone(&metrics)),
            metrics,
            sessions: Sessions::default(),
            refusals: Refusals::default(),
            end,
            stop: CancellationToken::new(),
            set: plan.set,
        })
    }

    /// Runs a short read of the store where it holds up nobody: a file is read at once, a server
    /// is asked by a thread that may wait.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&understory_engine::Engine) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        if let Some(engine) = self.store.ready().filter(|engine| engine.is_embedded()) {
            return work(engine);
        }
        let store = Arc::clone(&self.store);
        tokio::task::spawn_blocking(move || work(&*store.get()?))
            .await
            .unwrap_or_else(|_| Err(Fault::new(Code::Internal, "internal error: a read failed")))
    }
}

/// Counts a call, and logs it without anything that was said in it.
fn count(metrics: &Metrics, ended: &Ended<'_>) {
    let code = ended.code.map_or("ok", Code::wire);
    metrics.call(ended.tool, code, ended.took);
    log::write(
        Level::Info,
        format_args!(
            "{} {} {code} {:.1} ms agent {} workspace {}",
            ended.request,
            ended.tool,
            ended.took.as_secs_f64() * 1e3,
            ended.caller.agent,
            ended.caller.workspace
        ),
    );
}
