//! A prompt for a chat of opencode, in the form of its server's `prompt_async`. Our plugin in opencode
//! takes it, see `hook/config/opencode.js`.

use std::time::Duration;

use serde::Serialize;
use understory_engine::threads::ladder::Way;

use super::Failed;
use crate::loopback::is_this_machine;

/// How long it may take to accept a prompt.
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
        // It is on this machine, and what is said to it is for nobody else.
        .proxy(None)
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

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread::{self, JoinHandle};

    use understory_model::thread::{Activity, Channel};

    use super::*;

    fn way(address: &str, chat: &str) -> Way {
        Way {
            session: "s1".into(),
            client: "opencode".into(),
            client_session: chat.into(),
            channel: Some(Channel::OpencodePrompt),
            address: address.into(),
            folder: "/shop".into(),
            terminal: None,
            activity: Activity::Idle,
            alive: true,
            resumable: true,
            here: true,
        }
    }

    /// Answers one request with a status, and returns it.
    fn answering(status: &'static str) -> (String, JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/secret/", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut all = String::new();
            while !all.ends_with("}]}") {
                let mut bytes = [0; 1_024];
                let read = stream.read(&mut bytes).unwrap();
                all.push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").unwrap();
            all
        });
        (address, server)
    }

    #[test]
    fn a_prompt_is_a_part_of_a_request_to_its_chat() {
        let (address, server) = answering("204 No Content");
        assert!(send(&way(&address, "ses_1"), "say \"hi\"\n/exit").is_ok());
        let asked = server.join().unwrap();
        assert!(asked.starts_with("POST /secret/session/ses_1/prompt_async HTTP/1.1\r\n"));
        let body = r#"{"parts":[{"type":"text","text":"say \"hi\"\n/exit"}]}"#;
        assert!(asked.ends_with(body), "{asked}");
    }

    #[test]
    fn a_refusal_is_a_failure_that_may_pass() {
        let (address, server) = answering("404 Not Found");
        let failed = send(&way(&address, "ses_1"), "hi").unwrap_err();
        assert!(failed.retry && failed.why.contains("404"), "{}", failed.why);
        server.join().unwrap();
        // Nobody listens there now.
        assert!(send(&way(&address, "ses_1"), "hi").unwrap_err().retry);
    }

    #[test]
    fn nothing_is_sent_elsewhere() {
        for (address, chat) in [
            ("http://example.com", "ses_1"),
            ("https://127.0.0.1:1", "ses_1"),
            ("http://127.0.0.1:1@example.com", "ses_1"),
            ("", "ses_1"),
            ("http://127.0.0.1:1", ""),
            ("http://127.0.0.1:1", "../../x"),
            ("http://127.0.0.1:1", "ses_1?x=/"),
        ] {
            let failed = send(&way(address, chat), "hi").unwrap_err();
            assert!(!failed.retry, "{address} {chat}: {}", failed.why);
        }
    }
}
