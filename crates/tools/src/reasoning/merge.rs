//! `branchmind_merge`: notes of one branch copied into another, each once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_engine::reasoning::merge::{self, Asked, Merged};
use understory_engine::reasoning::place::{self, Kind};
use understory_engine::{View, Work};
use understory_model::answer::Answer;
use understory_model::{Fault, Seq};

use crate::answers::output;
use crate::args::schema;
use crate::call::{Call, typed};
use crate::tool::{Access, Common, Effect, Surface, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    workspace: String,
    from: String,
    into: String,
    /// default: the branches' own
    doc: Option<String>,
    cursor: Option<i64>,
    /// default 200
    limit: Option<i64>,
    #[serde(default)]
    dry_run: bool,
}

pub const TOOL: Tool = Tool {
    name: "branchmind_merge",
    title: "Merge notes",
    effect: Effect::Settles,
    surface: Surface::Reasoning,
    about: "Copy notes of branch `from` into `into`, each once. dry_run only looks.",
    access: Access::ReadOrWrite,
    essential: false,
    schema: schema::<Input>,
    output: output::<Merged>,
    takes: &[Common::Key],
    example: r#"{"workspace": "garden-shed", "from": "what-if", "into": "main"}"#,
    run: |call, args| typed(call, args, run),
};

fn run(call: &Call<'_>, input: Input) -> Result<Answer<Merged>, Fault> {
    let look = |view: &mut View<'_, '_>, asked: &Asked| merge::look(view.tx, view.ws, asked);
    merged(call, input, Kind::Notes, look, merge::merge)
}

/// Merges a page, or looks at what that would do.
pub(super) fn merged<T: Serialize + Send + 'static>(
    call: &Call<'_>,
    input: Input,
    kind: Kind,
    look: impl FnOnce(&mut View<'_, '_>, &Asked) -> Result<T, Fault>,
    merge: fn(&mut Work<'_, '_>, &Asked) -> Result<T, Fault>,
) -> Result<Answer<T>, Fault> {
    super::check_workspace(call, &input.workspace)?;
    let named = input.doc;
    named.as_deref().map_or(Ok(()), place::check_doc)?;
    let mut asked = Asked {
        doc: String::new(),
        cursor: input.cursor.map(Seq),
        limit: super::limit(input.limit, 200),
        from: input.from,
        into: input.into,
    };
    if input.dry_run {
        let looked = call.read(|view| {
            let branches = [asked.from.as_str(), asked.into.as_str()];
            asked.doc = place::of_both(view.tx, view.ws, branches, named.as_deref(), kind)?;
            look(view, &asked)
        })?;
        return Ok(Answer::Whole(looked));
    }
    call.write(move |work| {
        let (ws, mut asked) = (work.ws(), asked.clone());
        let branches = [asked.from.as_str(), asked.into.as_str()];
        asked.doc = place::of_both(work.read()?, ws, branches, named.as_deref(), kind)?;
        merge(work, &asked)
    })
}
