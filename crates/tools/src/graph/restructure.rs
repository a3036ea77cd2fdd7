//! `graph_restructure`: replan.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::graph::restructure::{self, Op, Operation, Restructured};
use understory_model::answer::Answer;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    #[schemars(length(max = limits::BATCH))]
    operations: Vec<One>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct One {
    op: Op,
    /// move, drop
    node_id: Option<String>,
    /// move
    new_parent: Option<String>,
    /// merge: absorbed
    source: Option<String>,
    /// merge: survives
    target: Option<String>,
    /// drop
    reason: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "graph_restructure",
    title: "Restructure plan",
    effect: Effect::Adds,
    surface: Surface::Graph,
    about: "Replan, all or none: move a node under another, merge two, or drop a subtree with a reason.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Restructured>,
    takes: &[Common::Key],
    example: r#"{"operations": [{"op": "drop", "node_id": "TASK-002", "reason": "out of scope"}]}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Restructured>, Fault> {
    let operations: Vec<Operation> = input
        .operations
        .into_iter()
        .enumerate()
        .map(|(index, one)| operation(index, one))
        .collect::<Result<_, _>>()?;
    call.write(move |work| restructure::restructure(work, &operations))
}

/// Takes exactly the fields that the operation has.
fn operation(index: usize, one: One) -> Result<Operation, Fault> {
    let One {
        op,
        node_id,
        new_parent,
        source,
        target,
        reason,
    } = one;
    let (name, used): (&str, &[&str]) = match op {
        Op::Move => ("move", &["node_id", "new_parent"]),
        Op::Merge => ("merge", &["source", "target"]),
        Op::Drop => ("drop", &["node_id", "reason"]),
    };
    let given = [
        ("node_id", &node_id),
        ("new_parent", &new_parent),
        ("source", &source),
        ("target", &target),
        ("reason", &reason),
    ];
    for (field, value) in given {
        let field_path = format!("operations[{index}].{field}");
        match (used.contains(&field), value) {
            (true, None) => {
                return Err(Fault::invalid(
                    field_path,
                    format!("is required for {name}"),
                ));
            }
            (false, Some(_)) => {
                return Err(Fault::invalid(
                    field_path,
                    format!(
                        "does not belong to {name}, which takes {}",
                        used.join(" and ")
                    ),
                ));
            }
            _ => {}
        }
    }
    let text = Option::unwrap_or_default;
    Ok(match op {
        Op::Move => Operation::Move {
            node: text(node_id),
            parent: text(new_parent),
        },
        Op::Merge => Operation::Merge {
            source: text(source),
            target: text(target),
        },
        Op::Drop => Operation::Drop {
            node: text(node_id),
            reason: text(reason),
        },
    })
}
