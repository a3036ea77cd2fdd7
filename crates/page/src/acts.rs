//! What a person does on a page: each act is the call of a tool, or of two.

use serde_json::{Map, Value, json};
use understory_model::{Code, Fault};

use crate::visit::Query;

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Act {
    pub tool: &'static str,
    pub arguments: Value,
}

/// The acts of a form, in order; `key` makes the first harmless to repeat.
pub fn acts(
    name: &str,
    workspace: &str,
    form: &Query,
    key: Option<&str>,
) -> Result<Vec<Act>, Fault> {
    let field = |name: &str| {
        form.get(name)
            .map(Value::from)
            .ok_or_else(|| Fault::invalid(name, "is required"))
    };
    let number = |name: &str| -> Result<Value, Fault> {
        let value = form.get(name).and_then(|value| value.parse::<i64>().ok());
        value
            .map(Value::from)
            .ok_or_else(|| Fault::invalid(name, "must be a number"))
    };
    let update = |fields: Value| -> Result<Vec<Act>, Fault> {
        let mut one = Map::from_iter([("node_id".to_owned(), field("node")?)]);
        one.extend(fields.as_object().cloned().unwrap_or_default());
        Ok(vec![act("graph_update", json!({"updates": [one]}))])
    };
    let mut acts = match name {
        "post" => vec![
            act(
                "post_message",
                json!({"thread_id": field("thread")?, "body": field("body")?}),
            ),
            read(field("thread")?, number("upto")?),
        ],
        "read" => vec![read(field("thread")?, number("upto")?)],
        "send" => {
            let to = form.get("to").unwrap_or_default();
            let to: Vec<&str> = to
                .split([' ', ','])
                .filter(|name| !name.is_empty())
                .collect();
            vec![act(
                "post_message",
                json!({"to": to, "body": field("body")?}),
            )]
        }
        "wake" => vec![act(
            "trigger_participant",
            json!({"thread_id": field("thread")?, "target_agent_id": field("agent")?}),
        )],
        "decide" => vec![act(
            "reader_decide",
            json!({"proposal": field("proposal")?, "accept": form.get("accept") == Some("true")}),
        )],
        "settle" => vec![act(
            "branchmind_graph_conflict_resolve",
            json!({"workspace": workspace, "conflict_id": field("conflict")?, "resolution": field("keep")?}),
        )],
        "plan" => vec![act(
            "graph_plan",
            json!({"nodes": [{"ref": "new", "summary": field("summary")?}]}),
        )],
        "resolve" => update(json!({"resolved": true}))?,
        "reopen" => update(json!({"resolved": false}))?,
        "claim" => update(json!({"claim": true}))?,
        "release" => update(json!({"claim": false}))?,
        _ => return Err(Fault::new(Code::NotFound, "there is no act of this name")),
    };
    if let (Some(key), Some(first)) = (key, acts.first_mut()) {
        first.arguments["idempotency_key"] = Value::from(key);
    }
    Ok(acts)
}

fn act(tool: &'static str, arguments: Value) -> Act {
    Act { tool, arguments }
}

fn read(thread: Value, upto: Value) -> Act {
    act(
        "ack_read",
        json!({"thread_id": thread, "last_read_seq": upto}),
    )
}

#[cfg(test)]
mod tests {
    use understory_tools::registry;

    use super::*;

    const FORM: &str = "thread=th_001&upto=3&body=Hi+there&to=bob,ada&agent=bob&proposal=prop_001&accept=true\
                        &conflict=c&keep=use_from&summary=S&node=TASK-001";

    #[test]
    fn every_act_is_a_call_that_its_tool_takes() {
        let form = Query::parse(FORM);
        for name in [
            "post", "read", "send", "wake", "decide", "settle", "plan", "resolve", "reopen",
            "claim", "release",
        ] {
            for act in acts(name, "w", &form, Some("k1")).unwrap() {
                let tool = registry::find(act.tool).unwrap();
                registry::checked(tool, act.arguments)
                    .unwrap_or_else(|fault| panic!("{name}: {fault}"));
            }
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let fault = acts("post", "w", &Query::parse("thread=th_001&upto=1"), None).unwrap_err();
        assert!(fault.message.contains("body"), "{fault}");
        let fault = acts("erase_everything", "w", &Query::default(), None).unwrap_err();
        assert_eq!(fault.code, Code::NotFound);
    }
}
