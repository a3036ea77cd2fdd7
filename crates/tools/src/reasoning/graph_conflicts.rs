//! `branchmind_graph_conflicts`: conflicts of a merge destination.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::reasoning::conflict::{self, Asked};
use understory_engine::reasoning::place::{self, Kind};
use understory_model::Fault;

use crate::answers::object;
use crate::args::{decode, schema};
use crate::call::Call;
use crate::tool::{Access, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    workspace: String,
    into: String,
    doc: Option<String>,
    /// default both
    #[schemars(extend("enum" = ["open", "resolved"]))]
    status: Option<String>,
    cursor: Option<i64>,
    /// default 50
    limit: Option<i64>,
    max_chars: Option<i64>,
    max_bytes: Option<i64>,
    max_lines: Option<i64>,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_graph_conflicts",
    title: "List merge conflicts",
    effect: Effect::Nothing,
    surface: Surface::Reasoning,
    about: "Conflicts of merges into a branch, newest first.",
    access: Access::Read,
    essential: false,
    schema: schema::<Input>,
    output: object,
    takes: &[],
    example: r#"{"workspace": "garden-shed", "into": "main"}"#,
    run,
};

fn run(context: &Call<'_>, args: Value) -> Result<Value, Fault> {
    let input: Input = decode(args)?;
    super::check_workspace(context, &input.workspace)?;
    let budget = super::budget(input.max_chars, input.max_bytes, input.max_lines);
    let open = match input.status.as_deref() {
        None => None,
        Some("open") => Some(true),
        Some("resolved") => Some(false),
        Some(_) => {
            return Err(Fault::one_of("status", &["open", "resolved"]));
        }
    };
    let named = input.doc.as_deref();
    named.map_or(Ok(()), place::check_doc)?;
    let sides = (input.into.as_str(), input.into.as_str());
    let mut asked = Asked {
        doc: String::new(),
        into: input.into.clone(),
        open,
        cursor: input.cursor,
        limit: super::limit(input.limit, 50),
    };
    context.engine.read(context.caller, |view| match view {
        Some(view) => {
            asked.doc = place::of_both(view.tx, view.ws, sides, named, Kind::Graph)?;
            conflict::list(view.tx, view.ws, &asked, &budget)
        }
        None => {
            let nothing = json!({
                "into": asked.into,
                "doc": place::of_both_nothing(sides, named, Kind::Graph)?,
                "conflicts": [],
                "pagination": super::no_page(asked.cursor, asked.limit),
            });
            Ok(super::nothing_yet(nothing, &budget))
        }
    })
}
