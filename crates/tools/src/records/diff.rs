//! `get_record_diff`: a record then and now.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use understory_engine::records::diff::{self, Asked};
use understory_engine::records::nothing_yet;
use understory_model::Fault;

use crate::answers::object;
use crate::args::{budget, decode, schema};
use crate::call::Call;
use crate::claims;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    id: String,
    /// RFC 3339, a version number or last_save
    #[schemars(with = "String", extend("type" = ["string", "integer"]))]
    from: Moment,
    /// default: now
    #[schemars(with = "Option<String>", extend("type" = ["string", "integer"]))]
    to: Option<Moment>,
    /// default: your own
    session_id: Option<String>,
    max_chars: Option<i64>,
}

/// A moment, a version's number, or a word.
#[derive(Deserialize)]
#[serde(untagged)]
enum Moment {
    Version(i64),
    Text(String),
}

impl Moment {
    fn text(self) -> String {
        match self {
            Moment::Version(number) => number.to_string(),
            Moment::Text(text) => text,
        }
    }
}

pub const TOOL: Tool = Tool {
    name: "get_record_diff",
    title: "Compare record versions",
    effect: Effect::Nothing,
    surface: Surface::Records,
    about: "Compare two versions of a record, or a record at two times.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"id": "R001", "from": "last_save"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    claims::read_session(context, input.session_id.as_deref())?;
    let (caller, budget) = (context.caller, budget(input.max_chars));
    let (from, to) = (input.from.text(), input.to.map(Moment::text));
    let asked = Asked {
        from: &from,
        to: to.as_deref(),
        session: input.session_id.as_deref(),
    };
    context.engine.read(caller, |view| match view {
        Some(view) => diff::diff(view, caller, &input.id, &asked, &budget),
        None => Err(nothing_yet(&input.id)),
    })
}
