//! `garden_fossilize`: relations that nobody cites any more come to rest.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::garden::relation::closing;
use understory_engine::garden::relation::fossilize::{self, Moved, THRESHOLD, Threshold};
use understory_engine::kernel::project;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    dry_run: Option<bool>,
    /// 0 to 1, default 0.1
    threshold: Option<f64>,
    project: Option<String>,
    /// true closes the project, false reopens it
    close: Option<bool>,
}

pub const TOOL: Tool = Tool {
    name: "garden_fossilize",
    title: "Fossilize relations",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "Archive weak relations, or all of a closed project; dry_run only reports.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Moved>,
    takes: &[Common::Key],
    example: r#"{"dry_run": true}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Moved>, Fault> {
    let threshold = Threshold::try_from(input.threshold.unwrap_or(THRESHOLD))?;
    let (named, dry_run) = (input.project, input.dry_run.unwrap_or(false));
    if let Some(close) = input.close {
        if dry_run {
            return Err(Fault::invalid("dry_run", "cannot be combined with close"));
        }
        return call.write(move |work| closing::close(work, named.as_deref(), close));
    }
    if dry_run {
        let moved = call.read(|view| {
            project::to_read(view, view.caller, named.as_deref())?;
            let (faded, cited) = fossilize::due(view.tx, view.ws, view.now, threshold)?;
            fossilize::told(view.tx, view.ws, view.now, &faded, &cited, true)
        })?;
        return Ok(moved.into());
    }
    call.write(move |work| {
        project::check_known(work, named.as_deref())?;
        fossilize::fossilize(work, threshold)
    })
}
