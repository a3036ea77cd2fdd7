//! A tool's answer as MCP has it.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;
use understory_model::Fault;
use understory_model::answer::Written;

/// What writes the answer to its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// Our own transport, which copies the text to where the object belongs.
    Copies,
    /// The SDK, which writes the object again.
    Sdk,
}

/// The answer on the wire: the object, and the same object as compact text.
pub fn reply(answer: Result<Written, Fault>, request: &str, writer: Writer) -> CallToolResult {
    let (text, failed) = match answer {
        Ok(answer) => (answer.into_object().as_str().to_owned(), false),
        Err(fault) => (fault.envelope(request).to_string(), true),
    };
    let mut result = CallToolResult::default();
    result.structured_content = Some(match writer {
        Writer::Copies => Value::Null,
        Writer::Sdk => serde_json::from_str(&text).unwrap_or_default(),
    });
    result.content = vec![ContentBlock::text(text)];
    result.is_error = failed.then_some(true);
    result
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_twice_the_same() {
        let answer = Written::of(&json!({"b": 1, "a": "ü"})).unwrap();
        let result = reply(Ok(answer), "req_1", Writer::Sdk);
        let text = result.content[0].as_text().map(|text| text.text.clone());
        assert_eq!(text.as_deref(), Some(r#"{"a":"ü","b":1}"#));
        assert_eq!(result.structured_content, Some(json!({"a": "ü", "b": 1})));
        assert_eq!(result.is_error, None);
        let result = reply(Err(Fault::conflict("no")), "req_1", Writer::Sdk);
        assert_eq!(result.is_error, Some(true));
        let sent = result.structured_content.unwrap().to_string();
        for part in [r#""code":"CONFLICT""#, r#""request_id":"req_1""#] {
            assert!(sent.contains(part), "{sent}");
        }
    }
}
