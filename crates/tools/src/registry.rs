//! Every tool of the product, in the order in which they are listed.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use serde_json::{Value, json};
use understory_model::answer::Written;
use understory_model::budget;
use understory_model::nearest::nearest;
use understory_model::text::quoted;
use understory_model::{Code, Fault, limits};

use crate::call::Call;
use crate::check;
use crate::garden;
use crate::graph;
use crate::reasoning;
use crate::records;
use crate::secrets;
use crate::system;
use crate::threads;
use crate::tool::{Access, CAUSED_BY, Context, SCHEMA_VERSION, Tool};

/// Each surface lists its own; they stand together here, so that a tool has a place.
static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    [
        records::TOOLS,
        reasoning::TOOLS,
        threads::TOOLS,
        garden::timeline::TOOLS,
        garden::entity::TOOLS,
        garden::artifact::TOOLS,
        garden::relation::TOOLS,
        garden::conversation::TOOLS,
        garden::reader::TOOLS,
        graph::TOOLS,
        system::TOOLS,
    ]
    .concat()
});

/// All tools.
pub fn tools() -> &'static [Tool] {
    &TOOLS
}

pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The place of a tool in [`tools`], by its address; `None` for a tool that did not come from
/// there.
pub fn index(tool: &'static Tool) -> Option<usize> {
    TOOLS.element_offset(tool)
}

/// What a call's arguments are checked against: made once for each tool.
#[derive(Clone)]
struct Shape {
    /// As callers are shown it, with marks for the check.
    schema: Value,
    /// Whether the version of a payload is the tool's own argument.
    has_version: bool,
}

impl Shape {
    fn of(tool: &Tool) -> Shape {
        Shape {
            schema: tool.checked_schema(),
            has_version: (tool.schema)()["properties"].get(SCHEMA_VERSION).is_some(),
        }
    }
}

fn shape(tool: &'static Tool) -> Cow<'static, Shape> {
    static SHAPES: OnceLock<Vec<Shape>> = OnceLock::new();
    let shapes = SHAPES.get_or_init(|| TOOLS.iter().map(Shape::of).collect());
    match index(tool).and_then(|index| shapes.get(index)) {
        Some(shape) => Cow::Borrowed(shape),
        None => Cow::Owned(Shape::of(tool)),
    }
}

/// The fault for a name that no tool has.
pub fn unknown(name: &str) -> Fault {
    let near = nearest(name, TOOLS.iter().map(|tool| tool.name), 3);
    let fault = Fault::not_found(format!("there is no tool {}", quoted(name)));
    if near.is_empty() {
        return fault.hint("`toolset` lists all tools.");
    }
    fault
        .hint(format!("Did you mean {}?", near.join(" or ")))
        .detail("nearest", &near)
}

/// As [`call`], by the tool's name, for whoever looks into the answer.
pub fn call_named(context: &Context<'_>, name: &str, args: Value) -> Result<Value, Fault> {
    call(context, find(name).ok_or_else(|| unknown(name))?, args)?.read()
}

/// Calls a tool; its answer as it is sent.
pub fn call(context: &Context<'_>, tool: &'static Tool, args: Value) -> Result<Written, Fault> {
    if tool.access == Access::Write && !context.caller.role.may_write() {
        return Err(Fault::new(
            Code::Forbidden,
            format!("{} writes, and an auditor may only read", tool.name),
        )
        .hint("Call with the role worker, orchestrator or operator."));
    }
    let mut args = checked(tool, args)?;
    let found = match tool.access {
        Access::Read => Vec::new(),
        Access::Write | Access::ReadOrWrite => secrets::found(context.engine.secrets(), &args)?,
    };
    let told = secrets::told(&found, tool, &mut args);
    let call = Call::new(context, tool, &mut args);
    secrets::tell(told, (tool.run)(&call, args)?)
}

/// A call's arguments as the tool's schema has them, or what is wrong with them.
pub fn checked(tool: &'static Tool, args: Value) -> Result<Value, Fault> {
    let mut args = match args {
        Value::Null => json!({}),
        args => args,
    };
    check_nesting(&args)?;
    check_size(&args)?;
    check_cause(tool, &args)?;
    let shape = shape(tool);
    check::fit(&shape.schema, &mut args).map_err(|fault| with_example(tool, fault))?;
    if let Some(fields) = args.as_object_mut().filter(|_| !shape.has_version) {
        fields.remove(SCHEMA_VERSION);
    }
    Ok(args)
}

/// Wrong arguments are best answered with an example of right ones.
fn with_example(tool: &Tool, fault: Fault) -> Fault {
    match fault.hint {
        Some(_) => fault,
        None => fault.hint(format!("For example: {}", tool.example)),
    }
}

/// A read leads to nothing, so nothing led to it.
fn check_cause(tool: &Tool, args: &Value) -> Result<(), Fault> {
    match args.get(CAUSED_BY) {
        Some(_) if tool.access == Access::Read => Err(Fault::invalid(
            CAUSED_BY,
            format!("is for calls that write; {} only reads", tool.name),
        )),
        _ => Ok(()),
    }
}

fn check_nesting(args: &Value) -> Result<(), Fault> {
    if !deeper_than(limits::NESTING, args) {
        return Ok(());
    }
    let problem = format!("are nested deeper than {} levels", limits::NESTING);
    Err(Fault::invalid("arguments", problem).hint("Keep deep structures as text."))
}

/// Never looks further down than it has to, so that no depth overflows the stack.
fn deeper_than(levels: usize, value: &Value) -> bool {
    let deeper = |value: &Value| deeper_than(levels - 1, value);
    match value {
        Value::Array(values) => levels == 0 || values.iter().any(deeper),
        Value::Object(map) => levels == 0 || map.values().any(deeper),
        _ => false,
    }
}

fn check_size(args: &Value) -> Result<(), Fault> {
    if budget::at_most(args) <= limits::ARGUMENT_BYTES {
        return Ok(());
    }
    let size = budget::chars(args);
    if size <= limits::ARGUMENT_BYTES {
        return Ok(());
    }
    Err(Fault::new(
        Code::TooLarge,
        format!(
            "the arguments have {size} characters; at most {} are allowed",
            limits::ARGUMENT_BYTES
        ),
    )
    .hint("Split the call."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_by_its_address() {
        for (place, tool) in tools().iter().enumerate() {
            assert_eq!(index(tool), Some(place), "{}", tool.name);
        }
        static COPY: Tool = graph::onboard::TOOL;
        assert_eq!(index(&COPY), None);
        let wrong = checked(&COPY, json!({ "no_such": 1 })).unwrap_err();
        assert_eq!(wrong.code, Code::Validation);
    }
}
