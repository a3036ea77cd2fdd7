//! A tool's answer as MCP has it.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};
use understory_model::Fault;

/// The answer on the wire: the object, and the same object as compact text. The transport writes
/// the object by copying that text.
pub fn reply(answer: Result<Value, Fault>, request: &str) -> CallToolResult {
    let (value, failed) = match answer {
        Ok(value @ Value::Object(_)) => (value, false),
        Ok(value) => (json!({ "result": value }), false),
        Err(fault) => (fault.envelope(request), true),
    };
    let mut result = CallToolResult::default();
    result.content = vec![ContentBlock::text(value.to_string())];
    result.structured_content = Some(value);
    result.is_error = failed.then_some(true);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_twice_the_same() {
        let result = reply(Ok(json!({"b": 1, "a": "ü"})), "req_1");
        let text = result.content[0].as_text().map(|text| text.text.clone());
        assert_eq!(text.as_deref(), Some(r#"{"a":"ü","b":1}"#));
        assert_eq!(result.structured_content, Some(json!({"a": "ü", "b": 1})));
        assert_eq!(result.is_error, None);
        let result = reply(Err(Fault::conflict("no")), "req_1");
        assert_eq!(result.is_error, Some(true));
        let sent = result.structured_content.unwrap().to_string();
        for part in [r#""code":"CONFLICT""#, r#""request_id":"req_1""#] {
            assert!(sent.contains(part), "{sent}");
        }
    }
}
