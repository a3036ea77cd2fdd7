//! opencode's own server takes a prompt for one of its sessions.

use std::time::Duration;

use serde::Serialize;
use understory_engine::threads::ladder::Way;

use super::Failed;
use crate::loopback::is_this_machine;

/// How long the server may take to accept a prompt.
const ACCEPT: Duration = Duration::from_secs(10);

#[derive(Serialize)]
struct Prompt<'p> {
    parts: [Part<'p>; 1],
}

#[derive(Serialize)]
struct Part<'p> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'p str,
}

/// Sends a prompt; the server has taken it when this returns.
pub fn send(way: &Way, text: &str) -> Result<(), Failed> {
    // Whoever registered the session chose the address: it must not lead away from this machine.
    let rest = way.address.strip_prefix("http://");
    if !rest.is_some_and(is_this_machine) {
        return Err(Failed::final_("its server is not on this machine"));
    }
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    if way.client_session.is_empty() || !way.client_session.chars().all(plain) {
        return Err(Failed::final_(
            "its session's name cannot be part of an address",
        ));
    }
    let address = way.address.trim_end_matches('/');
    let address = format!("{address}/session/{}/prompt_async", way.client_session);
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(ACCEPT))
        .max_redirects(0)
        .build()
        .into();
    let parts = [Part { kind: "text", text }];
    let body = serde_json::to_string(&Prompt { parts });
    let body = body.map_err(|error| Failed::final_(error.to_string()))?;
    let sent = agent
        .post(&address)
        .header("Content-Type", "application/json")
        .send(body);
    match sent {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => Err(Failed::later(format!(
            "its server answered {}",
            answer.status()
        ))),
        Err(error) => Err(Failed::later(format!("its server did not answer: {error}"))),
    }
}
