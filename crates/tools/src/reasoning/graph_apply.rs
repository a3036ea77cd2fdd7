//! `branchmind_graph_apply`: nodes and edges written and deleted, all or none.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::reasoning::graph_apply::{self, Applied, Ops};
use understory_engine::reasoning::place::{self, Kind, Wanted};
use understory_engine::reasoning::writing::{Edge, Node};
use understory_model::answer::Answer;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    target: Option<String>,
    branch: Option<String>,
    doc: Option<String>,
    #[schemars(length(max = limits::BATCH))]
    ops: Vec<Op>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_graph_apply",
    title: "Change graph document",
    effect: Effect::Adds,
    surface: Surface::Reasoning,
    about: "Write and delete nodes and edges of a graph document, all or none.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Applied>,
    takes: &[Common::Key],
    example: r#"{"workspace": "garden-shed", "target": "TASK-001", "ops": [{"op": "node_upsert", "id": "h1", "type": "hypothesis", "title": "The cache is stale"}, {"op": "edge_upsert", "from": "h1", "rel": "about", "to": "task:TASK-001"}]}"#,
    run: |call, args| typed(call, args, run),
};

/// node_upsert {id, type, …} replaces the whole node, node_update {id, …} only what is given;
/// node_delete {id}; edge_upsert, edge_delete {from, rel, to}
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Op {
    #[schemars(extend("enum" = OPS))]
    op: String,
    id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    title: Option<String>,
    text: Option<String>,
    status: Option<String>,
    tags: Option<Vec<String>>,
    from: Option<String>,
    rel: Option<String>,
    to: Option<String>,
    meta: Option<Map<String, Value>>,
}

const OPS: [&str; 5] = [
    "node_upsert",
    "node_update",
    "node_delete",
    "edge_upsert",
    "edge_delete",
];
const NODE: [&str; 7] = ["id", "type", "title", "text", "status", "tags", "meta"];
const EDGE: [&str; 4] = ["from", "rel", "to", "meta"];

impl Op {
    fn given(&self) -> Vec<&'static str> {
        let all = [
            ("id", self.id.is_some()),
            ("type", self.kind.is_some()),
            ("title", self.title.is_some()),
            ("text", self.text.is_some()),
            ("status", self.status.is_some()),
            ("tags", self.tags.is_some()),
            ("from", self.from.is_some()),
            ("rel", self.rel.is_some()),
            ("to", self.to.is_some()),
            ("meta", self.meta.is_some()),
        ];
        all.into_iter()
            .filter(|(_, given)| *given)
            .map(|(name, _)| name)
            .collect()
    }

    /// The operation, if it has the fields that it needs and no others.
    fn read(self, at: usize) -> Result<graph_apply::Op, Fault> {
        let (needed, allowed): (&[&str], &[&str]) = match self.op.as_str() {
            "node_upsert" => (&["id", "type"], &NODE),
            "node_update" => (&["id"], &NODE),
            "node_delete" => (&["id"], &["id"]),
            "edge_upsert" => (&["from", "rel", "to"], &EDGE),
            "edge_delete" => (&["from", "rel", "to"], &["from", "rel", "to"]),
            _ => {
                return Err(Fault::one_of(format!("ops[{at}].op"), &OPS));
            }
        };
        let given = self.given();
        if let Some(missing) = needed.iter().find(|name| !given.contains(name)) {
            return Err(Fault::required(format!("ops[{at}].{missing}")));
        }
        if let Some(odd) = given.iter().find(|name| !allowed.contains(name)) {
            let problem = format!("cannot be used with {}", self.op);
            return Err(Fault::invalid(format!("ops[{at}].{odd}"), problem));
        }
        let text = |text: Option<String>| text.unwrap_or_default();
        Ok(match self.op.as_str() {
            name @ ("node_upsert" | "node_update") => {
                let node = Node {
                    id: text(self.id),
                    kind: text(self.kind),
                    title: self.title,
                    text: self.text,
                    status: self.status,
                    tags: self.tags,
                    meta: self.meta,
                };
                match name {
                    "node_upsert" => graph_apply::Op::Node(node),
                    _ => graph_apply::Op::Change(node),
                }
            }
            "node_delete" => graph_apply::Op::DropNode { id: text(self.id) },
            name => {
                let edge = Edge {
                    from: text(self.from),
                    rel: text(self.rel),
                    to: text(self.to),
                    meta: self.meta,
                };
                match name {
                    "edge_upsert" => graph_apply::Op::Edge(edge),
                    _ => graph_apply::Op::DropEdge(edge),
                }
            }
        })
    }
}

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Applied>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let ops = input.ops.into_iter().enumerate();
    let ops = ops
        .map(|(at, op)| op.read(at))
        .collect::<Result<Vec<_>, Fault>>()?;
    let ops = Ops::try_from(ops)?;
    let wanted = Wanted {
        target: input.target,
        branch: input.branch,
        doc: input.doc,
    };
    call.write(move |work| {
        let ws = work.ws();
        let place = place::find(work.read()?, ws, &wanted, Kind::Graph, false)?;
        graph_apply::apply(work, &place, &ops)
    })
}
