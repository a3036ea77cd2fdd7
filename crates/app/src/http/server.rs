//! `understory serve`: the listener, its connections, and a good end.
//!
//! It stops accepting first, then lets what is in flight finish, for a bounded time, and closes the
//! store last: nothing that was answered is lost.

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use understory_model::{Caller, Code, Fault, limits};
use understory_tools::sets::ToolSet;

use super::care::Care;
use super::connections::{Mark, Place};
use super::hosts::Hosts;
use super::login::LINK;
use super::mcp::{Answers, Product};
use super::progress::Progress;
use super::routes;
use super::state::{AppState, Plan};
use super::tls::Tls;
use crate::call::stop_signal;
use crate::cli::doctor;
use crate::config::{Settings, Surroundings};
use crate::door::Door;
use crate::embedding;
use crate::log;
use crate::store::{STACK_BYTES, Store};
use crate::token::allowed::Allowed;
use crate::token::issuer::Issuer;
use crate::token::keys::Keys;
use crate::token::verify::Verifier;
use crate::wake::Worker;
use crate::wake::runtimes::Runtimes;

/// How long what is in flight may take when the server stops.
const FINISH: Duration = Duration::from_secs(10);
/// The pause after a connection could not be accepted, so that a fault that stays does not keep a
/// core busy.
const PAUSE: Duration = Duration::from_millis(50);

/// Whether callers on other machines may be heard without TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain {
    Refused,
    Allowed,
}

/// Serves until the process is told to stop.
pub fn serve(
    settings: &Settings,
    around: &Surroundings,
    plain: Plain,
    set: ToolSet,
    (person, runtimes): (Caller, Runtimes),
) -> Result<ExitCode, Fault> {
    let store = Store::for_tools(settings, &runtimes);
    let verifier = verifier(settings)?;
    let tls = tls(settings)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(limits::HTTP_WORKING)
        .thread_stack_size(STACK_BYTES * 2)
        .build()
        .map_err(|error| Fault::new(Code::Internal, format!("no runtime: {error}")))?;
    let served = runtime.block_on(async {
        let guarded = tls.is_none() && plain == Plain::Refused;
        let (listener, address) = listen(settings, guarded).await?;
        let hosts = Hosts::new(address, settings.url.value.as_deref())?;
        let hosts = if tls.is_some() {
            hosts.over_tls()
        } else {
            hosts
        };
        log::in_background();
        store.begin();
        let following = embedding::follow(&store, person.clone(), true);
        let waking = Worker::new(runtimes, person.clone(), true).begin(&store);
        let door = Door::show(settings, around, &person, hosts.here());
        if let Err(fault) = &door {
            log::debug(format_args!("{fault}"));
        }
        let door = door.ok();
        let examine = doctor::without_a_trace(settings.clone(), around);
        let plan = Plan {
            care: Care::new(settings, &person, examine),
            store: Arc::clone(&store),
            verifier,
            hosts,
            tls,
            set,
            rate_per_second: settings.rate_per_second.value,
            person,
            door: door.as_ref().map(|shown| shown.door.key.clone()),
        };
        run::<Product>(listener, plan).await;
        drop((following, waking, door));
        Ok(ExitCode::SUCCESS)
    });
    // What still waits, waits for nobody.
    runtime.shutdown_background();
    store.close();
    log::flush();
    served
}

/// The certificate to show, if there is one.
fn tls(settings: &Settings) -> Result<Option<Tls>, Fault> {
    match (&settings.tls_cert.value, &settings.tls_key.value) {
        (None, None) => Ok(None),
        (Some(cert), Some(key)) => Tls::new(cert, key).map(Some),
        _ => Err(Fault::new(
            Code::Validation,
            "tls_cert and tls_key must be set together",
        )),
    }
}

/// Refuses an address that other machines reach.
fn may_listen(address: SocketAddr) -> Result<(), Fault> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    let problem = format!(
        "listen: {address} can be reached from other machines, which would send their tokens in \
         the clear"
    );
    Err(Fault::new(Code::Validation, problem).hint(
        "Use TLS (--tls-cert and --tls-key), or listen on 127.0.0.1 behind a proxy on this machine \
         that has TLS, or pass --insecure if the network is trusted.",
    ))
}

fn verifier(settings: &Settings) -> Result<Verifier, Fault> {
    let keys = Keys::in_folder(&settings.keys.value);
    // A key that others can read is better found now than by the first caller.
    keys.public()?;
    let (issuer, audience, jwks) = (
        settings.issuer.value.as_deref(),
        settings.audience.value.as_deref(),
        settings.jwks.value.as_deref(),
    );
    let issuer = match (issuer, audience, jwks) {
        (None, None, None) => None,
        (Some(issuer), Some(audience), Some(jwks)) => {
            let issuer = Issuer::new(issuer, audience, jwks)?;
            Some(issuer.allowing(allowed(settings)?))
        }
        _ => {
            let problem = "issuer, audience and jwks are set together or not at all";
            return Err(Fault::new(Code::Validation, problem));
        }
    };
    let project = settings.project.value.clone();
    Ok(Verifier::new(keys, issuer, project))
}

/// What the other issuer may say; without it each of its tokens is refused.
fn allowed(settings: &Settings) -> Result<Allowed, Fault> {
    let (workspaces, roles) = (
        &settings.issuer_workspaces.value,
        &settings.issuer_roles.value,
    );
    let allowed = Allowed::read(workspaces.as_deref(), roles.as_deref())?;
    if let Some(missing) = allowed.missing() {
        log::warn(format_args!(
            "no token of the issuer is accepted: set {missing}, to names with commas or to `*`"
        ));
    }
    Ok(allowed)
}

/// Listens where the settings say; `guarded` if only this machine may call. An address that is
/// refused is never listened on, not even for a moment.
async fn listen(settings: &Settings, guarded: bool) -> Result<(TcpListener, SocketAddr), Fault> {
    let wanted = &settings.listen;
    let wrong = |error: std::io::Error| wanted.wrong("listen", error);
    let found = tokio::net::lookup_host(&wanted.value)
        .await
        .map_err(wrong)?;
    let addresses: Vec<SocketAddr> = found.collect();
    if guarded {
        addresses
            .iter()
            .try_for_each(|address| may_listen(*address))?;
    }
    let listener = TcpListener::bind(&addresses[..]).await.map_err(wrong)?;
    let address = listener.local_addr().map_err(wrong)?;
    Ok((listener, address))
}

/// Answers on a listener until the process is told to stop.
pub async fn run<A: Answers>(listener: TcpListener, plan: Plan) {
    let (over, end) = watch::channel(false);
    let app = AppState::new(plan, end);
    greet(&app);
    tokio::spawn(Arc::clone(&app.signs).run(app.end.clone()));
    let router = routes::router::<A>(Arc::clone(&app));
    let graceful = accept(listener, &app, router).await;
    log::debug(format_args!("told to stop"));
    let _ = over.send(true);
    if tokio::time::timeout(FINISH, graceful.shutdown())
        .await
        .is_err()
    {
        log::warn(format_args!("some requests did not end in time"));
    }
    app.stop.cancel();
}

/// Takes connections until the process is told to stop; those that are still open.
async fn accept(listener: TcpListener, app: &Arc<AppState>, router: Router) -> GracefulShutdown {
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop_signal());
    loop {
        let next = async {
            let (stream, from) = listener.accept().await?;
            Ok((stream, app.connections.enter(from.ip()).await))
        };
        let accepted: io::Result<_> = tokio::select! {
            next = next => next,
            () = &mut stop => return graceful,
        };
        match accepted {
            Ok((stream, Some(place))) => {
                let connection = Connection {
                    place,
                    router: router.clone(),
                    watcher: graceful.watcher(),
                    app: Arc::clone(app),
                };
                tokio::spawn(connection.serve(stream));
            }
            Ok((_, None)) => log::debug(format_args!("an address has too many connections")),
            Err(error) => {
                log::debug(format_args!("a connection was not accepted: {error}"));
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// One connection that is being served.
struct Connection {
    place: Place,
    router: Router,
    watcher: Watcher,
    app: Arc<AppState>,
}

impl Connection {
    /// Answers its requests, until it ends or has to make room.
    async fn serve(self, stream: TcpStream) {
        // Small events are sent as they come, not when there are many.
        let _ = stream.set_nodelay(true);
        let patience = Duration::from_secs(limits::HTTP_WRITE_SECONDS);
        let stream = Progress::new(stream, patience);
        let Connection {
            place,
            router,
            watcher,
            app,
        } = self;
        let requests = Requests {
            router: TowerToHyperService::new(router),
            mark: place.mark(),
        };
        let serving = async {
            match &app.tls {
                None => answer(stream, requests, watcher).await,
                Some(tls) => match tls.accept(stream).await {
                    Ok(stream) => answer(stream, requests, watcher).await,
                    Err(error) => log::debug(format_args!("a TLS handshake failed: {error}")),
                },
            }
        };
        app.metrics.connections.add(1);
        tokio::select! {
            () = serving => {}
            () = place.closed() => log::debug(format_args!("a connection was closed to make room")),
        }
        app.metrics.connections.add(-1);
    }
}

/// Answers a stream's requests, one after the other.
async fn answer<S>(stream: S, requests: Requests, watcher: Watcher)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(limits::HTTP_HEAD_SECONDS))
        .max_buf_size(2 * limits::HTTP_HEAD_BYTES)
        .max_headers(limits::HTTP_HEADERS)
        .serve_connection(TokioIo::new(stream), requests);
    if let Err(error) = watcher.watch(connection).await {
        log::debug(format_args!("a connection ended: {error}"));
    }
}

/// The router, with the connection's mark on every request.
struct Requests {
    router: TowerToHyperService<Router>,
    mark: Mark,
}

impl Service<hyper::Request<Incoming>> for Requests {
    type Response = <TowerToHyperService<Router> as Service<hyper::Request<Incoming>>>::Response;
    type Error = <TowerToHyperService<Router> as Service<hyper::Request<Incoming>>>::Error;
    type Future = <TowerToHyperService<Router> as Service<hyper::Request<Incoming>>>::Future;

    fn call(&self, mut request: hyper::Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.mark.clone());
        self.router.call(request)
    }
}

fn greet(app: &AppState) {
    let place = app.hosts.both();
    log::say(format_args!(
        "Understory listens on {place}: MCP at /mcp, every tool at /v1/<tool>."
    ));
    if !app.hosts.is_encrypted() {
        log::warn(format_args!(
            "callers on other machines send their tokens and texts in the clear"
        ));
    }
    if let Ok(code) = app.logins.link(Instant::now()) {
        tell_link(&app.hosts, &code);
    }
}

/// Shows a link where the server was started.
pub fn tell_link(hosts: &Hosts, code: &str) {
    let minutes = LINK.as_secs() / 60;
    log::say(format_args!(
        "Log in once, within {minutes} minutes: {}/login/{code}",
        hosts.here()
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_heard_in_the_clear() {
        for (address, good) in [
            ("127.0.0.1:1", true),
            ("127.9.9.9:1", true),
            ("[::1]:1", true),
            ("0.0.0.0:1", false),
            ("10.0.0.1:1", false),
            ("[::]:1", false),
        ] {
            assert_eq!(
                may_listen(address.parse().unwrap()).is_ok(),
                good,
                "{address}"
            );
        }
    }
}
