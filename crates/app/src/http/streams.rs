//! Streams that wait for news: how many there may be, and when each has to end.
//!
//! A stream outlives the moment its token was judged, so it is looked at again while it is open: it
//! ends with its token, with a revocation, and with the server.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::Frame;
use tokio_util::sync::{CancellationToken, DropGuard, WaitForCancellationFutureOwned};
use understory_model::{Caller, Fault, limits};

use super::auth::{self, Who};
use super::metrics::Metrics;
use super::signs::Sign;
use super::state::AppState;
use crate::call::heads;
use crate::limiter::{Limiter, Most, Place};

/// How long a stream has to end by itself when the server stops.
const POLITE: Duration = Duration::from_millis(500);

/// The open streams.
pub struct Streams {
    limiter: Limiter,
    metrics: Arc<Metrics>,
}

/// A stream's place among those that may be open.
pub struct Open {
    metrics: Arc<Metrics>,
    _place: Place,
}

impl Streams {
    pub fn new(metrics: Arc<Metrics>) -> Streams {
        let most = Most {
            caller: limits::STREAMS_PER_CALLER,
            workspace: limits::STREAMS_PER_WORKSPACE,
            all: limits::STREAMS,
        };
        Streams {
            limiter: Limiter::new("open streams", "Close a stream first.", most),
            metrics,
        }
    }

    /// Takes a place, unless the caller, its workspace or all together have too many.
    pub fn enter(&self, caller: &Caller) -> Result<Open, Fault> {
        let place = self.limiter.enter(caller)?;
        self.metrics.streams.add(1);
        Ok(Open {
            metrics: Arc::clone(&self.metrics),
            _place: place,
        })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.metrics.streams.add(-1);
    }
}

/// Lets an answer's body end when it has to; `place` is its own if it is a stream for news.
pub fn bounded(
    answer: Response,
    place: Option<Open>,
    sign: Sign,
    app: Arc<AppState>,
    who: Who,
) -> Response {
    let over = CancellationToken::new();
    let (watched, caller) = (Arc::clone(&app), who.clone());
    tokio::spawn(ended(over.clone(), watched, caller, place.is_some()));
    answer.map(|body| {
        Body::new(Bounded {
            body,
            over: Box::pin(over.clone().cancelled_owned()),
            _watch: over.drop_guard(),
            app,
            who,
            _place: place,
            _sign: sign,
        })
    })
}

/// Waits until a stream has to end, or has ended.
async fn ended(over: CancellationToken, app: Arc<AppState>, who: Who, news: bool) {
    let mut end = app.end.clone();
    tokio::select! {
        () = over.cancelled() => return,
        // The answer to a call is waited for when the server stops; news are not.
        () = heads::over(&mut end), if news => tokio::time::sleep(POLITE).await,
        _ = auth::until_refused(&app, &who) => {}
    }
    over.cancel();
}

struct Bounded {
    body: Body,
    app: Arc<AppState>,
    who: Who,
    over: Pin<Box<WaitForCancellationFutureOwned>>,
    _watch: DropGuard,
    _place: Option<Open>,
    _sign: Sign,
}

impl HttpBody for Bounded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            // Its end is polled for; news must not arrive before that is noticed.
            let holds = auth::holds(&self.app, &self.who);
            return Poll::Ready(frame.filter(|_| holds));
        }
        self.over.as_mut().poll(context).map(|()| None)
    }
}
