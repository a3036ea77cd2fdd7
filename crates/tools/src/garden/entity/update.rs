//! `garden_entity_update`: change an entity from the version that you saw.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use understory_engine::garden::entity::update::{self, Relinked};
use understory_engine::garden::entity::{BasedOn, Changed};
use understory_engine::kernel::project;
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::{present, schema};
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    uuid: String,
    /// merged; null deletes
    #[serde(default)]
    data: Map<String, Value>,
    #[serde(default, deserialize_with = "present")]
    #[schemars(extend("nullable" = true, "type" = ["string", "null"]))]
    group_id: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    #[schemars(extend("nullable" = true, "type" = ["string", "null"]))]
    derived_from: Option<Option<String>>,
    based_on_hash: String,
    based_on_version: Option<i64>,
    reason: Option<String>,
    project: Option<String>,
}

pub const TOOL: Tool = Tool {
    name: "garden_entity_update",
    title: "Update entity",
    effect: Effect::Settles,
    surface: Surface::Garden,
    about: "Change an entity from the version you saw; CONFLICT if it moved on.",
    access: Access::Write,
    essential: false,
    schema: schema::<Input>,
    output: output::<Changed>,
    takes: &[Common::Key],
    example: r#"{"uuid": "entity_0199d3a0-0000-7000-8000-000000000000", "data": {"port": 9090}, "based_on_hash": "5f1c…"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Changed>, Fault> {
    let based_on = BasedOn {
        hash: input.based_on_hash,
        version: input.based_on_version,
    };
    let (uuid, data, reason, named) = (input.uuid, input.data, input.reason, input.project);
    let relinked = Relinked {
        group_id: input.group_id,
        derived_from: input.derived_from,
    };
    call.write(move |work| {
        project::check_known(work, named.as_deref())?;
        update::update(work, &uuid, &data, &relinked, &based_on, reason.as_deref())
    })
}
