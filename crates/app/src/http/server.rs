//! `understory serve`: the listener, its connections, and a good end.
//!
//! It stops accepting first, then lets what is under way finish, for a bounded time, and closes the
//! store last: nothing that was answered is lost.

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use understory_model::{Caller, Code, Fault, limits};
use understory_tools::sets::ToolSet;

use super::hosts::Hosts;
use super::login::LINK;
use super::mcp::{Answers, Product};
use super::routes;
use super::site::{Plan, Site};
use crate::config::Settings;
use crate::embedding;
use crate::log;
use crate::mcp::stdio::told_to_stop;
use crate::store::{STACK_BYTES, Store};
use crate::token::allowed::Allowed;
use crate::token::issuer::Issuer;
use crate::token::keys::Keys;
use crate::token::verify::Verifier;

/// How long what is under way may take when the server stops.
const FINISH: Duration = Duration::from_secs(10);
/// The pause after a connection could not be accepted: there are too many files open.
const PAUSE: Duration = Duration::from_millis(50);
/// Calls that are at work at once, most of them waiting for a commit; more of them queue. Those that
/// wait for messages have no thread.
const MAX_THREADS: usize = 256;

/// Serves until the process is told to stop.
pub fn serve(settings: &Settings, set: ToolSet, person: Caller) -> Result<ExitCode, Fault> {
    let store = Store::new(settings);
    let verifier = verifier(settings)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(MAX_THREADS)
        .thread_stack_size(STACK_BYTES * 2)
        .build()
        .map_err(|error| Fault::new(Code::Internal, format!("no runtime: {error}")))?;
    let served = runtime.block_on(async {
        let (listener, address) = listen(settings).await?;
        let hosts = Hosts::new(address, settings.url.value.as_deref())?;
        store.begin();
        let following = embedding::follow(&store, person.clone(), true);
        let plan = Plan {
            store: Arc::clone(&store),
            verifier,
            hosts,
            set,
            rate_per_second: settings.rate_per_second.value,
            person,
        };
        run::<Product>(listener, plan).await;
        drop(following);
        Ok(ExitCode::SUCCESS)
    });
    // What still waits, waits for nobody.
    runtime.shutdown_background();
    store.close();
    served
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

async fn listen(settings: &Settings) -> Result<(TcpListener, SocketAddr), Fault> {
    let wanted = &settings.listen;
    let wrong = |error: std::io::Error| wanted.wrong("listen", error);
    let listener = TcpListener::bind(&wanted.value).await.map_err(wrong)?;
    let address = listener.local_addr().map_err(wrong)?;
    Ok((listener, address))
}

/// Answers on a listener until the process is told to stop.
pub async fn run<A: Answers>(listener: TcpListener, plan: Plan) {
    let (over, end) = watch::channel(false);
    let site = Site::new(plan, end);
    greet(&site);
    tokio::spawn(Arc::clone(&site.signs).run(site.end.clone()));
    let router = routes::router::<A>(Arc::clone(&site));
    let graceful = accept(listener, &site, router).await;
    log::debug(format_args!("told to stop"));
    let _ = over.send(true);
    if tokio::time::timeout(FINISH, graceful.shutdown())
        .await
        .is_err()
    {
        log::warn(format_args!("some requests did not end in time"));
    }
    site.stop.cancel();
}

/// Takes connections until the process is told to stop; those that are still open.
async fn accept(listener: TcpListener, site: &Arc<Site>, router: Router) -> GracefulShutdown {
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(limits::HTTP_CONNECTIONS));
    let mut stop = std::pin::pin!(told_to_stop());
    loop {
        let next = async {
            let place = Arc::clone(&room).acquire_owned().await.ok()?;
            Some((place, listener.accept().await))
        };
        let (place, accepted) = tokio::select! {
            next = next => match next {
                Some(next) => next,
                None => return graceful,
            },
            () = &mut stop => return graceful,
        };
        match accepted {
            Ok((stream, _)) => connect(stream, place, site, router.clone(), &graceful),
            Err(error) => {
                log::debug(format_args!("a connection was not accepted: {error}"));
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Answers one connection's requests.
fn connect(
    stream: TcpStream,
    place: OwnedSemaphorePermit,
    site: &Arc<Site>,
    router: Router,
    graceful: &GracefulShutdown,
) {
    // Small events are sent as they come, not when there are many.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(limits::HTTP_HEAD_SECONDS))
        .max_buf_size(2 * limits::HTTP_HEAD_BYTES)
        .max_headers(limits::HTTP_HEADERS)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let connection = graceful.watch(connection);
    let metrics = Arc::clone(&site.metrics);
    tokio::spawn(async move {
        metrics.connections.add(1);
        if let Err(error) = connection.await {
            log::debug(format_args!("a connection ended: {error}"));
        }
        metrics.connections.add(-1);
        drop(place);
    });
}

fn greet(site: &Site) {
    let place = site.hosts.both();
    say(format_args!(
        "Understory listens on {place}: MCP at /mcp, every tool at /v1/<tool>."
    ));
    if !site.hosts.is_encrypted() {
        log::warn(format_args!(
            "callers on other machines would send their tokens in the clear: let a proxy with TLS \
             stand before it, and set `url` to its https:// address"
        ));
    }
    if let Ok(code) = site.logins.link(Instant::now()) {
        tell_link(&site.hosts, &code);
    }
}

/// Shows a link where the server was started.
pub fn tell_link(hosts: &Hosts, code: &str) {
    let minutes = LINK.as_secs() / 60;
    say(format_args!(
        "Log in once, within {minutes} minutes: {}/login/{code}",
        hosts.here()
    ));
}

/// One line for whoever started the server; if nobody reads it, that is nobody's trouble.
fn say(line: std::fmt::Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}
