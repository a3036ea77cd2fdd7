//! One line of input as a message, or as a reason to refuse it.
//!
//! The SDK's own reading tries every kind of message in turn, which costs four times as much as
//! the parsing itself. Nearly all messages are calls of tools, so these are taken apart here.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, RequestId,
    RequestMetaObject,
};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use understory_model::limits;
use understory_model::number::check_numbers;
use understory_model::weight::check_weight;

/// What a line is.
pub enum Line {
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing that anybody waits for an answer to.
    Nothing,
    /// To be answered with this error.
    Refused(Option<RequestId>, ErrorData),
}

/// Reads a line without its end.
pub fn read(line: &[u8]) -> Line {
    let line = line
        .strip_prefix(b"\xEF\xBB\xBF")
        .unwrap_or(line)
        .trim_ascii();
    if line.is_empty() {
        return Line::Nothing;
    }
    // Before any value is built.
    if let Err(fault) = check_weight(line) {
        let mut finder = IdFinder::default();
        finder.feed(line);
        return Line::Refused(finder.id(), ErrorData::invalid_request(fault.message, None));
    }
    if let Some((id, call)) = ToolCall::read(line) {
        return match wrong_number(line) {
            Some(problem) => Line::Refused(Some(id), ErrorData::invalid_params(problem, None)),
            None => Line::Message(Box::new(ClientJsonRpcMessage::request(call, id))),
        };
    }
    match serde_json::from_slice::<Value>(line) {
        Ok(message @ Value::Object(_)) => match wrong_number(line) {
            Some(problem) => {
                let id = Asking::of(&message).request_id();
                Line::Refused(id, ErrorData::invalid_params(problem, None))
            }
            None => other(message),
        },
        Ok(_) => Line::Refused(
            None,
            ErrorData::invalid_request("a message is one object", None),
        ),
        Err(error) => unreadable(line, &error),
    }
}

/// What is wrong with a number of a message, as the caller of a tool names it.
pub fn wrong_number(line: &[u8]) -> Option<String> {
    let fault = check_numbers(line).err()?;
    let told = fault.message.strip_prefix("params.arguments.");
    Some(told.unwrap_or(&fault.message).to_owned())
}

/// To answer what cannot be read is to invite an echo of it, unless somebody clearly waits.
fn unreadable(line: &[u8], error: &serde_json::Error) -> Line {
    let mut finder = IdFinder::default();
    finder.feed(line);
    match finder.id() {
        Some(id) => {
            let problem = format!("the message is not valid JSON: {error}");
            Line::Refused(Some(id), ErrorData::parse_error(problem, None))
        }
        None => Line::Nothing,
    }
}

/// A message other than a usual call of a tool.
fn other(message: Value) -> Line {
    let asking = Asking::of(&message);
    match ClientJsonRpcMessage::deserialize(message) {
        Ok(message) => Line::Message(Box::new(message)),
        Err(_) if asking.id.is_some() => Line::Refused(
            asking.request_id(),
            ErrorData::invalid_request("not a message of this protocol", None),
        ),
        Err(_) => Line::Nothing,
    }
}

/// The `id` of any message. A message that has one, even an invalid one, is answered.
#[derive(Default, Deserialize)]
struct Asking {
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
}

impl Asking {
    fn of(message: &Value) -> Asking {
        Asking::deserialize(message).unwrap_or_default()
    }

    fn request_id(&self) -> Option<RequestId> {
        RequestId::deserialize(self.id.as_ref()?).ok()
    }
}

/// A field's value, null included.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// A call of a tool in its usual shape. Any other goes through the SDK.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolCall {
    #[serde(rename = "jsonrpc")]
    _version: Version,
    id: RequestId,
    #[serde(rename = "method")]
    _method: Method,
    params: Map<String, Value>,
}

#[derive(Deserialize)]
enum Version {
    #[serde(rename = "2.0")]
    Two,
}

#[derive(Deserialize)]
enum Method {
    #[serde(rename = "tools/call")]
    CallTool,
}

impl ToolCall {
    fn read(line: &[u8]) -> Option<(RequestId, ClientRequest)> {
        // A struct could be read from an array too.
        if !line.starts_with(b"{") {
            return None;
        }
        let ToolCall { id, mut params, .. } = serde_json::from_slice(line).ok()?;
        let Some(Value::String(name)) = params.remove("name") else {
            return None;
        };
        let mut call = CallToolRequestParams::new(name);
        match params.remove("arguments") {
            Some(Value::Object(arguments)) => call = call.with_arguments(arguments),
            Some(_) => return None,
            None => {}
        }
        let mut request = CallToolRequest::new(call);
        match params.remove("_meta") {
            Some(Value::Object(meta)) => {
                request.extensions.insert(RequestMetaObject::from(meta));
            }
            Some(_) => return None,
            None => {}
        }
        params
            .is_empty()
            .then_some((id, ClientRequest::CallToolRequest(request)))
    }
}

/// Finds the `id` of a message that is too long to keep or too broken to parse, as it passes.
#[derive(Debug, Default)]
pub struct IdFinder {
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// At the message's own level: whether a value is being read, and what was read last.
    in_value: bool,
    key: Vec<u8>,
    value: Vec<u8>,
    found: Option<RequestId>,
}

impl IdFinder {
    pub fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.found.is_some() {
                return;
            }
            self.step(byte);
        }
    }

    pub fn id(&self) -> Option<RequestId> {
        self.found.clone()
    }

    fn step(&mut self, byte: u8) {
        let own_level = self.depth == 1;
        if self.in_text {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' if own_level => self.end(),
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b':' if own_level => self.in_value = true,
            b',' if own_level => self.end(),
            b'"' => {
                self.in_text = true;
                self.keep(byte);
            }
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        let part = if self.in_value {
            &mut self.value
        } else {
            &mut self.key
        };
        if self.depth == 1 && part.len() < limits::REQUEST_ID_CHARS {
            part.push(byte);
        }
    }

    /// A key and its value are complete.
    fn end(&mut self) {
        if self.key.trim_ascii() == b"\"id\"" {
            self.found = serde_json::from_slice(&self.value).ok();
        }
        self.in_value = false;
        self.key.clear();
        self.value.clear();
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{GetMeta, NumberOrString};

    use super::*;

    fn refused(line: &str) -> (Option<RequestId>, i32) {
        match read(line.as_bytes()) {
            Line::Refused(id, error) => (id, error.code.0),
            Line::Message(message) => panic!("{line} was read as {message:?}"),
            Line::Nothing => panic!("{line} was ignored"),
        }
    }

    fn ignored(line: &str) -> bool {
        matches!(read(line.as_bytes()), Line::Nothing)
    }

    #[test]
    fn too_many_values_are_refused_by_the_id_of_their_message() {
        let values = "[],".repeat(2_000_000);
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{{"name":"a","arguments":{{"x":[{values}[]]}}}}}}"#
        );
        let (id, code) = refused(&line);
        assert_eq!((id, code), (Some(NumberOrString::Number(5)), -32600));
    }

    #[test]
    fn a_call_is_read_as_the_sdk_would_read_it() {
        for line in [
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a","arguments":{"x":[1,{"y":null}]}}}"#,
            r#"{"method":"tools/call","params":{"name":"a"},"jsonrpc":"2.0","id":"five"}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"_meta":{"progressToken":"t","k":1},"name":"a","arguments":{}}}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a","requestState":"s"}}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a","arguments":null}}"#,
        ] {
            let Line::Message(message) = read(line.as_bytes()) else {
                panic!("{line}")
            };
            let sdk: ClientJsonRpcMessage = serde_json::from_str(line).unwrap();
            let (ours, our_id) = message.into_request().unwrap();
            let (theirs, their_id) = sdk.into_request().unwrap();
            assert_eq!(our_id, their_id);
            assert_eq!(ours.get_meta(), theirs.get_meta());
            let (ClientRequest::CallToolRequest(ours), ClientRequest::CallToolRequest(theirs)) =
                (ours, theirs)
            else {
                panic!("{line}")
            };
            assert_eq!(ours.params, theirs.params);
        }
    }

    #[test]
    fn what_is_wrong_is_refused_by_its_id_if_it_has_one() {
        let five = Some(NumberOrString::Number(5));
        assert_eq!(
            refused(r#"{"jsonrpc":"1.0","id":5,"method":"tools/list"}"#),
            (five.clone(), -32600)
        );
        assert_eq!(
            refused(r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"#),
            (five.clone(), -32700)
        );
        assert_eq!(
            refused(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#),
            (None, -32600)
        );
        assert_eq!(
            refused(r#"[{"jsonrpc":"2.0","id":5,"method":"ping"}]"#),
            (None, -32600)
        );
        assert_eq!(refused(r#"{"id":5,"method":3}"#), (five.clone(), -32600));
        let deep = format!(
            r#"{{"method":"x","params":{}1{},"id":5}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        assert_eq!(refused(&deep), (five, -32700));
        assert!(ignored(""));
        assert!(ignored("  \r"));
        assert!(ignored("hello"));
        assert!(ignored("{\"method\":"));
        assert!(ignored(r#"{"jsonrpc":"2.0","method":5}"#));
        assert!(matches!(read(b"{\"a\xff\":1}"), Line::Nothing));
    }

    #[test]
    fn an_id_is_found_wherever_it_stands() {
        let find = |text: &str| {
            let mut finder = IdFinder::default();
            text.as_bytes()
                .chunks(3)
                .for_each(|chunk| finder.feed(chunk));
            finder.id()
        };
        let seven = Some(NumberOrString::Number(7));
        assert_eq!(find(r#"{"id":7,"params":{"id":8}}"#), seven);
        assert_eq!(
            find(r#"{"params":{"id":8,"t":"}\"id\":9,{"}, "id" : 7 }"#),
            seven
        );
        assert_eq!(
            find(r#"{"a":"\\","id":"x\"y"}"#),
            Some(NumberOrString::String("x\"y".into()))
        );
        assert_eq!(find(r#"{"params":{"id":8}}"#), None);
        assert_eq!(find(r#"{"id":{"id":8}}"#), None);
        assert_eq!(find(r#"}}}]]{"id":7}"#), seven);
        assert_eq!(find("\"id\":7,"), None);
    }
}
