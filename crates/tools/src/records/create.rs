//! `create_record`: a new record under an active one, or on its own.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::records::create::{self, Created, Fields, NewRecord};
use understory_model::answer::Answer;
use understory_model::{Fault, limits};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// null or absent: a root
    #[schemars(extend("nullable" = true, "type" = ["string", "null"]))]
    parent_id: Option<String>,
    #[serde(flatten)]
    fields: Fields,
    /// default: your own
    session_id: Option<String>,
    #[serde(default)]
    #[schemars(extend("maxProperties" = limits::LIST), extend("x-about" = super::SEEN))]
    seen: BTreeMap<String, i64>,
    project_id: Option<String>,
    /// false: only its head comes back
    echo: Option<bool>,
}

pub const TOOL: Tool = Tool {
    name: "create_record",
    title: "Create record",
    effect: Effect::Adds,
    surface: Surface::Records,
    about: "Create a record under an active one, or a root. It is active at once. The body must explain itself. Several: create_records.",
    access: Access::Write,
    essential: true,
    schema: schema::<Input>,
    output: output::<Created>,
    takes: &[Common::Key],
    example: r#"{"parent_id": null, "type": "question", "title": "How do we rotate tokens?", "summary": "Keys must change without logging people out.", "body": "Tokens live an hour. Rotation must not end a session."}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Created>, Fault> {
    super::check_project("project_id", input.project_id.as_deref())?;
    let new = NewRecord::new(input.parent_id, input.fields)?;
    let (session, project, seen) = (input.session_id, input.project_id, input.seen.into());
    let answer = call.write(move |work| {
        create::create(work, &new, session.as_deref(), project.as_deref(), &seen)
    })?;
    let mut created = answer.typed()?;
    created.record = created.record.echoed(input.echo);
    Ok(created.into())
}
