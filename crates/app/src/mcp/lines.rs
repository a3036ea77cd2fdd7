//! The transport: one JSON message a line, in and out.
//!
//! Besides carrying messages it keeps a client from breaking the connection by mistake: a line
//! that is too long is skipped and refused by its id, so is a request whose id an unanswered one
//! has, a line that is not a message is skipped, and what comes before the first request is
//! ignored. All that is half read or half written stays
//! here, because the service may stop waiting for either at any moment.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::Arc;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorData, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use rmcp::{RoleServer, model::RequestId};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, watch};
use understory_model::limits;

use super::message::{self, IdFinder, Line};
use super::streams::{Reader, Writer};
use crate::log;

/// The longest line: the largest arguments, and room for what is around them.
pub const MAX_LINE: usize = limits::ARGUMENT_BYTES + (64 << 10);

/// As much as is read at once.
const AT_ONCE: usize = 32 << 10;

/// Buffers that grew beyond this for one message are given back after it.
const KEEP: usize = 1 << 20;

/// Ids of requests that were given up, which are kept from being used again.
const GIVEN_UP: usize = 256;

/// The standard streams as a transport.
pub struct Lines {
    read: BufReader<Reader>,
    line: Vec<u8>,
    /// Set while a line that is too long passes by.
    skipping: Option<IdFinder>,
    /// An answer that this transport gives itself, not yet handed to the output.
    refusal: Option<Vec<u8>>,
    /// The ids of requests that are not answered yet. The SDK would drop an answer of theirs if
    /// another request with the same id came meanwhile.
    open: HashSet<RequestId>,
    /// Those of them that the client gave up, the oldest first.
    given_up: VecDeque<RequestId>,
    /// Whether a request has come; before that nothing else means anything.
    begun: bool,
    over: bool,
    output: Arc<Mutex<Output>>,
    /// Told when the input ends.
    end: watch::Sender<bool>,
}

impl Lines {
    pub fn new(reader: Reader, writer: Writer, end: watch::Sender<bool>) -> Lines {
        Lines {
            read: BufReader::with_capacity(AT_ONCE, reader),
            line: Vec::new(),
            skipping: None,
            refusal: None,
            open: HashSet::new(),
            given_up: VecDeque::new(),
            begun: false,
            over: false,
            output: Arc::new(Mutex::new(Output {
                writer: Some(writer),
                waiting: Vec::new(),
                written: 0,
            })),
            end,
        }
    }

    /// Reads until a line is complete or the input ends; false at the end.
    async fn next_line(&mut self) -> io::Result<bool> {
        while !self.over {
            let available = self.read.fill_buf().await?;
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            self.over = available.is_empty();
            match &mut self.skipping {
                Some(finder) => finder.feed(&available[..taken]),
                None => self.line.extend_from_slice(&available[..taken]),
            }
            self.read.consume(taken);
            if self.line.len() > MAX_LINE {
                let mut finder = IdFinder::default();
                finder.feed(&self.line);
                self.skipping = Some(finder);
                self.line = Vec::new();
            }
            if end.is_some() {
                return Ok(true);
            }
        }
        // A last line may lack its end.
        Ok(!self.line.is_empty() || self.skipping.is_some())
    }

    /// What the complete line says.
    fn take_line(&mut self) -> Line {
        if let Some(finder) = self.skipping.take() {
            let problem = format!("a message has at most {MAX_LINE} bytes");
            return Line::Refused(finder.id(), ErrorData::invalid_request(problem, None));
        }
        let said = message::read(&self.line);
        self.line.clear();
        if self.line.capacity() > KEEP {
            self.line = Vec::new();
        }
        said
    }

    /// Keeps account of the ids in use, and refuses a request that has one of them.
    fn note(&mut self, message: &ClientJsonRpcMessage) -> Result<(), (RequestId, ErrorData)> {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                self.begun = true;
                if !self.open.insert(request.id.clone()) {
                    let problem = format!(
                        "a request with the id {} was not answered yet; use another id for each request",
                        request.id
                    );
                    let error = ErrorData::invalid_request(problem, None);
                    return Err((request.id.clone(), error));
                }
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(given_up) =
                    &notification.notification
                    && let Some(id) = &given_up.params.request_id
                {
                    self.give_up(id);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A call that was given up gets no answer, but may be at work still: its end would be taken
    /// for the answer to another request with its id. So the id stays in use for a good while.
    fn give_up(&mut self, id: &RequestId) {
        if !self.open.contains(id) || self.given_up.contains(id) {
            return;
        }
        self.given_up.push_back(id.clone());
        if self.given_up.len() > GIVEN_UP
            && let Some(oldest) = self.given_up.pop_front()
        {
            self.open.remove(&oldest);
        }
    }

    async fn next_message(&mut self) -> io::Result<Option<ClientJsonRpcMessage>> {
        loop {
            if self.refusal.is_some() {
                let mut output = self.output.lock().await;
                output
                    .waiting
                    .append(&mut self.refusal.take().unwrap_or_default());
                output.write().await?;
            }
            if !self.next_line().await? {
                return Ok(None);
            }
            match self.take_line() {
                Line::Message(message) => match self.note(&message) {
                    Ok(()) if self.begun => return Ok(Some(*message)),
                    Ok(()) => {}
                    Err((id, error)) => self.refusal = refusal(Some(id), error),
                },
                Line::Nothing => log::debug(format_args!("skipped a line that is not a message")),
                Line::Refused(id, error) => self.refusal = refusal(id, error),
            }
        }
    }
}

fn refusal(id: Option<RequestId>, error: ErrorData) -> Option<Vec<u8>> {
    encode(ServerJsonRpcMessage::error(error, id)).ok()
}

fn encode(mut message: ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let text = written(&mut message);
    let mut line = serde_json::to_vec(&message)?;
    if let Some(text) = text {
        // The last two bytes end the result and the message.
        line.truncate(line.len() - 2);
        line.extend_from_slice(b",\"structuredContent\":");
        line.extend_from_slice(text.as_bytes());
        line.extend_from_slice(b"}}");
    }
    line.push(b'\n');
    Ok(line)
}

/// The text of what a tool answered, where the message has it as an object too: that is taken out of
/// the message, and written by copying the text (see [`super::reply::Writer::Copies`]).
fn written(message: &mut ServerJsonRpcMessage) -> Option<String> {
    let ServerJsonRpcMessage::Response(response) = message else {
        return None;
    };
    let ServerResult::CallToolResult(result) = &mut response.result else {
        return None;
    };
    let [content] = result.content.as_slice() else {
        return None;
    };
    let text = content.as_text()?.text.clone();
    result.structured_content.take().map(|_| text)
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let Some(id) = answered {
            self.open.remove(id);
        }
        let line = encode(message);
        let output = Arc::clone(&self.output);
        async move {
            let mut line = line?;
            let mut output = output.lock().await;
            output.waiting.append(&mut line);
            output.write().await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.next_message().await.unwrap_or_else(|error| {
            log::debug(format_args!("the streams are gone: {error}"));
            None
        });
        if message.is_none() {
            self.end.send_replace(true);
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.writer = None;
        Ok(())
    }
}

/// The output, with what has been given to it and not been written yet.
struct Output {
    writer: Option<Writer>,
    waiting: Vec<u8>,
    /// How much of it has been written.
    written: usize,
}

impl Output {
    /// Writes what waits. Stopped at any point, it leaves the rest for the next.
    async fn write(&mut self) -> io::Result<()> {
        let Some(writer) = &mut self.writer else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        while self.written < self.waiting.len() {
            match writer.write(&self.waiting[self.written..]).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => self.written += count,
            }
        }
        self.written = 0;
        self.waiting.clear();
        if self.waiting.capacity() > KEEP {
            self.waiting = Vec::new();
        }
        writer.flush().await
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{CallToolResult, NumberOrString};
    use serde_json::{Value, json};
    use understory_model::Fault;
    use understory_model::answer::Written;

    use super::*;
    use crate::mcp::reply::{Writer, reply};

    /// What the SDK would send, and what is sent.
    fn both(result: ServerResult) -> [Value; 2] {
        let message = ServerJsonRpcMessage::response(result, NumberOrString::Number(7));
        let sdk = serde_json::to_value(&message).unwrap();
        [
            sdk,
            serde_json::from_slice(&encode(message).unwrap()).unwrap(),
        ]
    }

    #[test]
    fn an_answer_is_sent_as_the_sdk_would_send_it() {
        let answers = [
            Ok(json!({"b": [1, {"c": null}], "a": "\u{fc}\n\"}}"})),
            Ok(json!([])),
            Err(Fault::conflict("no")),
        ];
        for answer in answers {
            let answer: Result<Written, Fault> =
                answer.map(|answer: Value| Written::of(&answer).unwrap());
            let [result, short] = [Writer::Sdk, Writer::Copies]
                .map(|writer| ServerResult::CallToolResult(reply(answer.clone(), "req_1", writer)));
            let ([sdk, sent], [_, copied]) = (both(result), both(short));
            assert!(sent.to_string().contains(r#""structuredContent":{"#));
            assert_eq!((&sdk, &sdk), (&sent, &copied));
        }
        let [sdk, sent] = both(ServerResult::CallToolResult(CallToolResult::default()));
        assert_eq!(sdk, sent);
        let [sdk, sent] = both(ServerResult::empty(()));
        assert_eq!(sdk, sent);
    }
}
