//! Streams that wait for news: how many there may be, and when each has to end.
//!
//! A stream outlives the moment its token was judged, so it is looked at again while it is open: it
//! ends with its token, with a revocation, and with the server.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::Frame;
use serde_json::json;
use tokio_util::sync::{CancellationToken, DropGuard, WaitForCancellationFutureOwned};
use understory_model::{Caller, Code, Fault, limits};

use super::auth::{self, Who};
use super::metrics::Metrics;
use super::site::Site;
use crate::mcp::notices;

/// How often a stream's token is looked at again.
const LOOK: Duration = Duration::from_secs(2);
/// How long a stream has to end by itself when the server stops.
const POLITE: Duration = Duration::from_millis(500);

/// The open streams, by caller.
pub struct Streams {
    open: Arc<Mutex<HashMap<Caller, usize>>>,
    metrics: Arc<Metrics>,
}

/// A stream's place among those that may be open.
pub struct Place {
    caller: Caller,
    open: Arc<Mutex<HashMap<Caller, usize>>>,
    metrics: Arc<Metrics>,
}

impl Streams {
    pub fn new(metrics: Arc<Metrics>) -> Streams {
        Streams {
            open: Arc::default(),
            metrics,
        }
    }

    /// Takes a place, unless the caller or all together have too many.
    pub fn enter(&self, caller: &Caller) -> Result<Place, Fault> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = open.values().sum();
        let own = open.get(caller).copied().unwrap_or_default();
        if own >= limits::STREAMS_PER_CALLER || all >= limits::STREAMS {
            let problem = format!(
                "too many open streams: at most {} of one caller and {} in all",
                limits::STREAMS_PER_CALLER,
                limits::STREAMS
            );
            return Err(Fault::new(Code::RateLimited, problem)
                .hint("Close a stream first.")
                .details(json!({ "retry_after_s": 5 })));
        }
        open.insert(caller.clone(), own + 1);
        self.metrics.streams.add(1);
        Ok(Place {
            caller: caller.clone(),
            open: Arc::clone(&self.open),
            metrics: Arc::clone(&self.metrics),
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = open.get_mut(&self.caller) {
            *own -= 1;
            if *own == 0 {
                open.remove(&self.caller);
            }
        }
        self.metrics.streams.add(-1);
    }
}

/// Lets an answer's body end when it has to.
pub fn bounded(answer: Response, place: Place, site: Arc<Site>, who: Who) -> Response {
    let over = CancellationToken::new();
    tokio::spawn(ended(over.clone(), site, who));
    answer.map(|body| {
        Body::new(Bounded {
            body,
            over: Box::pin(over.clone().cancelled_owned()),
            _watch: over.drop_guard(),
            _place: place,
        })
    })
}

/// Waits until a stream has to end, or has ended.
async fn ended(over: CancellationToken, site: Arc<Site>, who: Who) {
    let mut end = site.end.clone();
    loop {
        tokio::select! {
            () = over.cancelled() => return,
            () = notices::over(&mut end) => {
                tokio::time::sleep(POLITE).await;
                break;
            }
            () = tokio::time::sleep(LOOK) => {}
        }
        // A store that does not answer now is no reason to end what was allowed.
        let refused = auth::again(&site, &who).await;
        if refused.is_err_and(|fault| fault.code == Code::Unauthorized) {
            break;
        }
    }
    over.cancel();
}

struct Bounded {
    body: Body,
    over: Pin<Box<WaitForCancellationFutureOwned>>,
    _watch: DropGuard,
    _place: Place,
}

impl HttpBody for Bounded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            return Poll::Ready(frame);
        }
        self.over.as_mut().poll(context).map(|()| None)
    }
}

#[cfg(test)]
mod tests {
    use understory_model::Role;

    use super::*;

    fn caller(agent: usize) -> Caller {
        Caller {
            workspace: "w".into(),
            origin: None,
            agent: format!("a{agent}"),
            session: "s".into(),
            role: Role::Worker,
            project: "default".into(),
        }
    }

    #[test]
    fn one_caller_and_all_together_have_a_limit() {
        let streams = Streams::new(Arc::default());
        let mut open: Vec<Place> = (0..limits::STREAMS_PER_CALLER)
            .map(|_| streams.enter(&caller(0)).ok().unwrap())
            .collect();
        let fault = streams.enter(&caller(0)).err().unwrap();
        assert_eq!(fault.code, Code::RateLimited);
        open.pop();
        open.push(streams.enter(&caller(0)).ok().unwrap());
        for agent in 1..limits::STREAMS / limits::STREAMS_PER_CALLER {
            for _ in 0..limits::STREAMS_PER_CALLER {
                open.push(streams.enter(&caller(agent)).ok().unwrap());
            }
        }
        assert_eq!(open.len(), limits::STREAMS);
        assert!(streams.enter(&caller(999)).is_err());
        assert_eq!(streams.metrics.streams.get(), limits::STREAMS as i64);
        drop(open);
        assert!(streams.enter(&caller(999)).is_ok());
        assert_eq!(streams.metrics.streams.get(), 0);
    }
}
