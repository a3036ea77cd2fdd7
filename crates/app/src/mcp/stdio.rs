//! `understory mcp`: one client on the standard streams, from its first message to its last.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::sync::watch;
use understory_engine::system::presence::BEAT_SECONDS;
use understory_model::{Code, Fault, limits};
use understory_tools::sets::ToolSet;

use super::handler::Handler;
use super::lines::Lines;
use super::listening::Listening;
use super::streams;
use crate::call::stop_signal;
use crate::chats::Chats;
use crate::identity::Identity;
use crate::store::{STACK_BYTES, Store};
use crate::{embedding, log};

/// Serves until the client leaves or the process is told to stop; both are a good end.
pub fn serve(identity: Identity, store: Arc<Store>, set: ToolSet) -> Result<ExitCode, Fault> {
    log::in_background();
    store.begin();
    let following = embedding::follow(&store, identity.caller(None), false);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(limits::STDIO_WORKING)
        .thread_stack_size(STACK_BYTES)
        .build()
        .map_err(|error| Fault::new(Code::Internal, format!("no runtime: {error}")))?;
    let chats = runtime.block_on(connection(identity, Arc::clone(&store), set));
    // Nothing more is answered: what still waits, waits for nobody.
    runtime.shutdown_background();
    if let Some(chats) = chats {
        chats.leave();
    }
    drop(following);
    store.close();
    log::flush();
    Ok(ExitCode::SUCCESS)
}

/// Serves one client; the chats that are over when it has left.
async fn connection(identity: Identity, store: Arc<Store>, set: ToolSet) -> Option<Arc<Chats>> {
    let (over, end) = watch::channel(false);
    let lines = Lines::new(streams::reader(), streams::writer(), over);
    let handler = Handler::new(identity, store, set, end);
    let chats = handler.chats();
    if let Some(chats) = chats.clone() {
        tokio::spawn(beating(chats));
    }
    let mut stop = std::pin::pin!(stop_signal());
    let running = tokio::select! {
        running = Listening(handler).serve(lines) => running,
        () = &mut stop => return chats,
    };
    let running = match running {
        Ok(running) => running,
        // A client that only asked what this is, and one that is gone already, are well served.
        Err(error) => {
            report(&error);
            return chats;
        }
    };
    let cancel = running.cancellation_token();
    let mut waiting = std::pin::pin!(running.waiting());
    tokio::select! {
        _ = &mut waiting => {}
        () = &mut stop => {
            log::debug(format_args!("told to stop"));
            // Calls that have begun are finished and answered.
            cancel.cancel();
            let _ = waiting.await;
        }
    }
    chats
}

/// Says every so often that this process is there, where a server has to be told.
async fn beating(chats: Arc<Chats>) {
    loop {
        tokio::time::sleep(Duration::from_secs(BEAT_SECONDS)).await;
        let chats = Arc::clone(&chats);
        let _ = tokio::task::spawn_blocking(move || chats.beat()).await;
    }
}

fn report(error: &ServerInitializeError) {
    match error {
        ServerInitializeError::ConnectionClosed(_) => {
            log::debug(format_args!("the client left before it began"))
        }
        _ => log::debug(format_args!("the connection did not begin: {error}")),
    }
}
