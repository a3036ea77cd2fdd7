//! Calls of tools with arguments made from their schemas: right, nearly right, and wrong.
//!
//! A line of an input is one call, `{"as": "ada", "tool": "graph_plan", "args": {…}}`, or a turn of
//! the clock, `{"turn": 60}`. What was called since the store was new is the trace of a failure.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use understory_engine::Engine;
use understory_model::budget::chars;
use understory_model::{Caller, Code, Fault, Seq};
use understory_tools::{Access, Effect, Tool, registry};

use super::stage::{CALLERS, Names, Stage, caller};
use crate::chance::Chance;
use crate::target::{On, Outcome, Target, check, check_fault, shape, value};
use crate::{json, mutate};

/// Calls on one store; after that it is proved, and a new one made.
const CALLS: usize = 1_500;
/// The tools that would wait.
pub const WAITS: [&str; 2] = ["wait_for_messages", "garden_changes"];
/// The longest message of a refusal.
const MESSAGE: usize = 20_000;

pub struct Calls {
    on: On,
    stage: Stage,
    schemas: Vec<Value>,
    trace: Vec<String>,
}

impl Calls {
    pub fn new(on: On) -> Calls {
        Calls {
            on,
            stage: Stage::new(on),
            schemas: registry::tools().iter().map(Tool::input_schema).collect(),
            trace: Vec::new(),
        }
    }

    fn line(&mut self, line: &str) -> Outcome {
        let Some(said) = value(line.as_bytes()) else {
            return Ok("no call".into());
        };
        if let Some(seconds) = said["turn"].as_i64() {
            self.stage
                .world
                .clock
                .turn(seconds.clamp(-100_000, 1_000_000));
            return Ok("turn".into());
        }
        let (Some(agent), Some(name)) = (said["as"].as_str(), said["tool"].as_str()) else {
            return Ok("no call".into());
        };
        let (caller, mut args) = (caller(agent), said["args"].clone());
        // Nobody waits here: a time to wait, if it is one, is none.
        let waits = args
            .get("timeout_s")
            .is_none_or(|time| time.is_number() || time.is_null());
        if let Some(args) = args
            .as_object_mut()
            .filter(|_| WAITS.contains(&name) && waits)
        {
            args.insert("timeout_s".into(), json!(0));
        }
        self.call(&caller, name, args)
    }

    fn call(&mut self, caller: &Caller, name: &str, args: Value) -> Outcome {
        let engine = Arc::clone(&self.stage.world.engine);
        let before = head(&engine, caller)?;
        let answer = self.stage.call(caller, name, args.clone());
        let after = head(&engine, caller)?;
        let Some(tool) = registry::find(name) else {
            check(answer.is_err(), || format!("{name} is a tool?"))?;
            return Ok("no tool".into());
        };
        match answer {
            Ok(answer) => {
                let reads = tool.effect == Effect::Nothing;
                check(!reads || before == after, || {
                    format!("{name} reads, and wrote")
                })?;
                let barred = tool.access == Access::Write && !caller.role.may_write();
                check(!barred, || format!("{name} let an auditor write"))?;
                check(answer.is_object(), || format!("{name} answered {answer}"))?;
                fits(name, &args, &answer)?;
                let fields = answer.as_object().into_iter().flat_map(Map::keys);
                Ok(format!(
                    "{name} {}",
                    fields.map(String::as_str).collect::<String>()
                ))
            }
            Err(fault) => {
                refused(name, &fault)?;
                let kept = fault.code == Code::Conflict;
                check(kept || before == after, || {
                    format!("{name} was refused and wrote: {fault:?}")
                })?;
                Ok(format!(
                    "{name} {} {}",
                    fault.code.wire(),
                    shape(&fault.message)
                ))
            }
        }
    }
}

fn head(engine: &Engine, caller: &Caller) -> Result<Seq, String> {
    engine
        .head(caller)
        .map_err(|fault| format!("the head: {fault:?}"))
}

/// A refusal is well formed and short.
fn refused(name: &str, fault: &Fault) -> Result<(), String> {
    check_fault(fault).map_err(|problem| format!("{name}: {problem}"))?;
    let length = fault.message.chars().count();
    check(length <= MESSAGE, || {
        format!("{name}: a message of {length} characters")
    })
}

/// An answer is within its budget, or there is next to nothing in it.
fn fits(name: &str, args: &Value, answer: &Value) -> Result<(), String> {
    let Some(most) = args["max_chars"].as_i64() else {
        return Ok(());
    };
    let most = usize::try_from(most.max(0)).unwrap_or(usize::MAX);
    let size = chars(answer);
    // An answer without content says little, and has to say it.
    let bare = size <= 400;
    check(size <= most || bare, || {
        format!("{name}: {size} characters for {most}: {answer}")
    })
}

impl Target for Calls {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let mut way = String::new();
        for line in String::from_utf8_lossy(input).lines() {
            self.trace.push(line.to_owned());
            way = self.line(line)?;
        }
        if self.trace.len() >= CALLS {
            self.stage.prove()?;
            self.stage = Stage::new(self.on);
            self.trace.clear();
        }
        Ok(way)
    }

    fn make(&mut self, chance: &mut Chance, known: &[Vec<u8>]) -> Vec<u8> {
        if chance.one_in(100) {
            return json!({ "turn": chance.below(8_000) })
                .to_string()
                .into_bytes();
        }
        if chance.one_in(10)
            && let Some(mut call) = value(chance.pick::<Vec<u8>>(known))
        {
            json::mutate(chance, &mut call["args"], self.words());
            return call.to_string().into_bytes();
        }
        let tools = registry::tools();
        let at = chance.below(tools.len());
        let tool = &tools[at];
        let mut args = match (self.stage.worked.get(tool.name), chance.below(10)) {
            (Some(worked), 0 | 1) => chance.pick(worked).clone(),
            _ => Maker {
                names: &self.stage.names,
            }
            .of(chance, "", &self.schemas[at], 0),
        };
        for _ in 0..chance.few(3).saturating_sub(1) {
            json::mutate(chance, &mut args, self.words());
        }
        let agent = if chance.one_in(3) {
            *chance.pick(&CALLERS)
        } else {
            "ada"
        };
        json!({"as": agent, "tool": tool.name, "args": args})
            .to_string()
            .into_bytes()
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "TASK-001",
            "R001",
            "th_001",
            "main",
            "default",
            "shop",
            "ada",
            "bob",
            "doc",
            "h1",
            "^a7f",
            "garden-shed",
            "note",
        ]
    }

    fn trace(&self) -> Option<Vec<u8>> {
        Some(self.trace.join("\n").into_bytes())
    }

    fn finish(&mut self) -> Result<(), String> {
        self.stage.prove()
    }
}

/// Makes values that a schema allows, mostly.
pub struct Maker<'n> {
    pub names: &'n Names,
}

impl Maker<'_> {
    pub fn of(&self, chance: &mut Chance, field: &str, schema: &Value, depth: usize) -> Value {
        if chance.one_in(60) {
            return json::any(chance, 3, &[]);
        }
        if let Some(choices) = choices(schema).filter(|choices| !choices.is_empty()) {
            return chance.pick(&choices).clone();
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) if !kinds.is_empty() => chance.pick(kinds).clone(),
            kind => kind.clone(),
        };
        match kind.as_str() {
            Some("string") => json!(self.text(chance, field)),
            Some("integer") => match chance.below(5) {
                0 => json::number(chance),
                1 => json!(0),
                _ => json!(chance.below(12)),
            },
            Some("number") => json::number(chance),
            Some("boolean") => json!(chance.one_in(2)),
            Some("null") => Value::Null,
            Some("array") => {
                let count = chance.few(4);
                let item = |_| self.of(chance, field, &schema["items"], depth + 1);
                (0..count).map(item).collect()
            }
            Some("object") if schema["properties"].is_object() => {
                self.object(chance, schema, depth)
            }
            _ => json::any(
                chance,
                3,
                &["a", "b", "priority", "status", "id", "type", "title"],
            ),
        }
    }

    fn object(&self, chance: &mut Chance, schema: &Value, depth: usize) -> Value {
        let required = |name: &str| {
            let required = schema["required"].as_array();
            required.is_some_and(|required| required.iter().any(|one| one == name))
        };
        let mut made = Map::new();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let given = if required(name) {
                !chance.one_in(50)
            } else {
                chance.one_in(4)
            };
            if given {
                made.insert(name.clone(), self.of(chance, name, field, depth + 1));
            }
        }
        Value::Object(made)
    }

    fn text(&self, chance: &mut Chance, field: &str) -> String {
        if field == "workspace" && !chance.one_in(30) {
            return "garden-shed".into();
        }
        match chance.below(4) {
            0 => mutate::text(chance, &["^a7f", "R001", "a:1@abc", "TASK-001"]),
            1 if chance.one_in(40) => "long ".repeat(chance.below(30_000)),
            _ => self.names.pick(chance, field).unwrap_or_default(),
        }
    }
}

fn choices(schema: &Value) -> Option<Vec<Value>> {
    match (schema.get("enum"), schema.get("oneOf")) {
        (Some(Value::Array(choices)), _) => Some(choices.clone()),
        (_, Some(Value::Array(ways))) => ways.iter().map(|way| way.get("const").cloned()).collect(),
        _ => None,
    }
}
