//! Cursors that were changed, made up or taken from another list.
//!
//! An input is a call of a tool that has pages, `{"tool": …, "args": {…}}`; the cursor in it may be
//! written as a list of keys, `["…kind…", 5, "x"]`, and is then given the right checksum.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use understory_model::Code;
use understory_model::page::{Cursor, Key};
use understory_tools::registry;

use super::stage::{Stage, caller};
use crate::chance::Chance;
use crate::target::{On, Outcome, Target, check, check_fault, shape, value};
use crate::{json, mutate};

/// The arguments that cursors are given in.
const FIELDS: [&str; 3] = ["cursor", "since_cursor", "after"];

pub struct Cursors {
    stage: Stage,
    /// Tools with pages: the name of the argument, and arguments that work.
    paged: Vec<(&'static str, &'static str, Value)>,
}

impl Cursors {
    pub fn new(on: On) -> Cursors {
        let mut stage = Stage::new(on);
        let mut paged = Vec::new();
        for tool in registry::tools() {
            let schema = tool.input_schema();
            let field = FIELDS
                .into_iter()
                .find(|field| !schema["properties"][field].is_null());
            let Some(field) = field else { continue };
            for mut args in stage.worked.get(tool.name).cloned().unwrap_or_default() {
                if !schema["properties"]["limit"].is_null() {
                    args["limit"] = json!(1);
                }
                let _ = stage.call(&caller("ada"), tool.name, args.clone());
                paged.push((tool.name, field, args));
            }
        }
        assert!(
            paged.len() > 10,
            "there are more tools with pages than {paged:?}"
        );
        Cursors { stage, paged }
    }

    /// A cursor of some list, taken apart.
    fn keys(&self, chance: &mut Chance) -> Value {
        let known = self.stage.names.of("next_cursor");
        let known = if known.is_empty() || chance.one_in(5) {
            self.stage.names.of("cursor")
        } else {
            known
        };
        if known.is_empty() {
            return json!(["graph_query", 1]);
        }
        let decoded = URL_SAFE_NO_PAD
            .decode(chance.pick(known))
            .unwrap_or_default();
        value(decoded.get(4..).unwrap_or_default()).unwrap_or_else(|| json!(["x", 1]))
    }
}

/// A list of keys as a cursor with a right checksum.
fn sealed(keys: &[Value]) -> String {
    let kind = keys.first().and_then(Value::as_str).unwrap_or_default();
    let keys = keys.iter().skip(1).map(|key| match key {
        Value::String(text) => Key::Text(text.clone()),
        Value::Number(number) if number.is_i64() => Key::Int(number.as_i64().unwrap_or(0)),
        Value::Number(number) => Key::Real(number.as_f64().unwrap_or(0.0)),
        Value::Bool(up) => Key::Real(if *up {
            f64::INFINITY
        } else {
            f64::NEG_INFINITY
        }),
        _ => Key::Real(f64::NAN),
    });
    Cursor::new(kind, keys.collect()).encode()
}

impl Target for Cursors {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let Some(said) = value(input) else {
            return Ok("no call".into());
        };
        let Some(tool) = said["tool"].as_str().and_then(registry::find) else {
            return Ok("no tool".into());
        };
        let mut args = said["args"].clone();
        for field in FIELDS {
            if let Some(Value::Array(keys)) = args.get(field) {
                args[field] = json!(sealed(keys));
            }
        }
        match self.stage.call(&caller("ada"), tool.name, args) {
            Ok(answer) => {
                check(answer.is_object(), || {
                    format!("{} answered {answer}", tool.name)
                })?;
                Ok(format!("{} page", tool.name))
            }
            Err(fault) => {
                check_fault(&fault).map_err(|problem| format!("{}: {problem}", tool.name))?;
                // The cursor of a list of branches is a branch's name.
                let known = matches!(fault.code, Code::Validation | Code::UnknownBranch);
                check(known, || format!("{}: {fault:?}", tool.name))?;
                Ok(format!("{} {}", tool.name, shape(&fault.message)))
            }
        }
    }

    fn make(&mut self, chance: &mut Chance, _: &[Vec<u8>]) -> Vec<u8> {
        let (tool, field, mut args) = chance.pick(&self.paged).clone();
        let mut keys = self.keys(chance);
        for _ in 0..chance.few(4) {
            json::mutate(chance, &mut keys, self.words());
        }
        args[field] = match (keys, chance.below(4)) {
            (Value::Array(keys), 0) => {
                let mut cursor = sealed(&keys).into_bytes();
                mutate::mutate(chance, &mut cursor, &["A", "-", "_", "="], &[]);
                json!(String::from_utf8_lossy(&cursor))
            }
            (_, 1) if chance.one_in(3) => json::any(chance, 1, self.words()),
            (keys, _) => keys,
        };
        json!({ "tool": tool, "args": args })
            .to_string()
            .into_bytes()
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "TASK-001",
            "R001",
            "th_001",
            "2026-02-17T12:00:00.000000Z",
            "a",
            "\0",
            "",
        ]
    }
}
