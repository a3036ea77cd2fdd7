//! `reader_propose`: other words for some lines.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::reader::{self, Proposal, Proposed, Setting};
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
    project: Option<String>,
    artifact: String,
    start: i64,
    /// start - 1 inserts before start
    end: i64,
    /// empty takes the lines away
    #[schemars(extend("x-long" = true))]
    content: String,
    reasoning: String,
    /// how sure you are, 0 to 1
    confidence: Option<f64>,
    /// why
    context: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "reader_propose",
    title: "Propose change",
    effect: Effect::Adds,
    surface: Surface::Garden,
    about: "Propose other text for lines; reader_decide accepts or rejects it.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Proposed>,
    takes: &[Common::Key],
    example: r#"{"artifact": "goals_doc", "start": 2, "end": 2, "content": "1. Fast enough", "reasoning": "nobody waits longer"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Proposed>, Fault> {
    let setting = Setting {
        project: input.project,
        context: input.context,
    }
    .checked()?;
    let wish = Proposal {
        artifact: input.artifact,
        start: input.start,
        end: input.end,
        content: input.content,
        reasoning: input.reasoning,
        confidence: input.confidence,
    }
    .checked()?;
    call.write(move |work| reader::propose(work, &setting, &wish))
}
