//! `garden_artifact_commit`: the next version of an artifact.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::artifact::commit::{self, Committed, Given, New, What};
use understory_engine::kernel::checked::Check;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// name or label
    artifact: String,
    /// the commit you changed; null for the first
    based_on: Option<String>,
    /// the whole new text
    #[schemars(extend("x-long" = true))]
    content: Option<String>,
    /// instead: +15:^a7f -23 ~18:^b2e→^c3d >12@30
    #[schemars(extend("x-long" = true))]
    ops: Option<String>,
    /// texts of fragments in ops: {"^a7f": text}
    #[schemars(extend("additionalProperties" = {"type": "string", "x-long": true}))]
    texts: Option<BTreeMap<String, String>>,
    /// undoes this commit
    revert: Option<String>,
    /// fragments that led to it
    references: Option<Vec<String>>,
    reasoning: Option<String>,
    /// beside the head, to be merged
    #[serde(default)]
    fork: bool,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_artifact_commit",
    title: "Commit to artifact",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Change an artifact's lines; refused when it has moved on.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Committed>,
    takes: &[Common::Key],
    example: r##"{"artifact": "goals_doc", "based_on": "0199d3a0", "content": "# Goals\n1. Fast\n2. Small\n", "reasoning": "asked for in review"}"##,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Committed>, Fault> {
    let new = New::try_from(input)?.checked()?;
    call.write(move |work| commit::commit(work, &new))
}

impl TryFrom<Input> for New {
    type Error = Fault;

    fn try_from(input: Input) -> Result<New, Fault> {
        let what = match (input.content, input.ops) {
            (None, None) if input.revert.is_some() && input.texts.is_none() => {
                What::Revert(input.revert.unwrap_or_default())
            }
            _ if input.revert.is_some() => {
                let problem = "cannot be combined with content, ops or texts";
                return Err(Fault::invalid("revert", problem));
            }
            (Some(content), None) if input.texts.is_none() => What::Content(content),
            (Some(_), None) => return Err(Fault::invalid("texts", "can only be used with ops")),
            (None, Some(ops)) => What::Ops {
                ops,
                texts: input.texts.unwrap_or_default(),
            },
            (None, None) => {
                return Err(Fault::invalid(
                    "content",
                    "either content, ops or revert is required",
                ));
            }
            (Some(_), Some(_)) => {
                return Err(Fault::invalid("ops", "cannot be combined with content"));
            }
        };
        Ok(New {
            artifact: input.artifact,
            based_on: input.based_on,
            what,
            given: Given {
                references: input.references.unwrap_or_default(),
                reasoning: input.reasoning,
            },
            fork: input.fork,
            project: input.project,
        })
    }
}
