//! `get_record_diff`: a record then and now.

use schemars::JsonSchema;
use serde::Deserialize;
use understory_engine::records::diff::{self, Asked, RecordDiff};
use understory_model::Fault;
use understory_model::answer::Answer;

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::claims;
use crate::tool::{Access, Common, Effect, Surface, Tool};

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
    output: output::<RecordDiff>,
    takes: &[Common::MaxChars],
    example: r#"{"id": "R001", "from": "last_save"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<RecordDiff>, Fault> {
    claims::read_session(call, input.session_id.as_deref())?;
    let (from, to) = (input.from.text(), input.to.map(Moment::text));
    let asked = Asked {
        from: &from,
        to: to.as_deref(),
        session: input.session_id.as_deref(),
    };
    call.read_fit(|view| diff::diff(view, &input.id, &asked))
}
