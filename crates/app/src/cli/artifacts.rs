//! `understory artifacts` and `understory artifact`: the documents of a project, and one of them
//! with its lines, its commits, or what a commit changed.

use std::process::ExitCode;

use serde_json::json;
use understory_engine::garden::artifact::diff::Diff;
use understory_engine::garden::artifact::list::Artifacts;
use understory_engine::garden::artifact::log::Commits;
use understory_engine::kernel::artifact;
use understory_engine::kernel::project;
use understory_model::Fault;

use super::here::typed;
use super::show::{garden, shown};
use super::table::Table;
use super::text::Text;
use super::{CommandContext, Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory artifacts
  understory artifacts goal             those with this in their label
  understory artifacts --json | jq -r '.artifacts[].label'";

/// Artifacts, and commits, that are listed.
const LISTED: i64 = 200;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only artifacts whose label contains this text
    #[arg(value_name = "TEXT")]
    text: Option<String>,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        let asked = json!({
            "text": self.text, "project": here.flags.project, "limit": LISTED,
        });
        let answer = context.call("garden_artifact_list", asked)?;
        if here.out.json {
            here.out.value(&answer);
            return Ok(ExitCode::SUCCESS);
        }
        let mut table = Table::new(&["label", "lines", "commits", "changed"]);
        let listed: Artifacts = typed(&answer)?;
        for one in &listed.artifacts {
            table.row([
                Text::new().name(&one.label),
                Text::from(one.lines.to_string()),
                Text::from(one.commits.to_string()),
                Text::from(context.clock.ago(one.updated_at)),
            ]);
        }
        match (table.is_empty(), context.nothing_yet()?) {
            (true, Some(why)) => here.out.line(why),
            (true, None) => here.out.line("There is no artifact here."),
            (false, _) => {
                here.out.table(table);
                if listed.paging.pagination.next_cursor.is_some() {
                    here.out.hint("There are more: name a part of the label.");
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

pub mod one {
    //! One artifact.

    use super::*;

    const EXAMPLES: &str = "\
Examples:
  understory artifact goals_doc         its lines, each with the commit that wrote it
  understory artifact goals_doc --plain > goals.txt
  understory artifact goals_doc --log   its commits, newest first
  understory artifact goals_doc --diff  what the last commit changed
  understory artifact goals_doc --diff 7a2722d";

    #[derive(Debug, clap::Args)]
    #[command(after_help = EXAMPLES)]
    pub struct Args {
        /// The artifact's current or former label, or `entity_<uuid>`
        #[arg(value_name = "LABEL")]
        label: String,
        /// Print only the artifact's text
        #[arg(long, conflicts_with_all = ["log", "diff"])]
        plain: bool,
        /// List the artifact's commits
        #[arg(long, conflicts_with = "diff")]
        log: bool,
        /// Show what changed since a commit (default: the last but one)
        #[arg(long, value_name = "COMMIT", num_args = 0..=1)]
        diff: Option<Option<String>>,
    }

    impl Args {
        pub fn run(self, here: &Here) -> Outcome {
            let context = here.context()?;
            let (label, project) = (self.label.as_str(), here.flags.project.as_deref());
            if self.plain {
                plain(here, &context, label, project)?;
            } else if self.log {
                commits(here, &context, label, project)?;
            } else if let Some(from) = self.diff {
                diff(here, &context, label, project, from)?;
            } else {
                shown(here, &context, &garden::artifact(&context, label, project)?)?;
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The text of an artifact, byte for byte unless a person reads it at a terminal.
pub fn plain(
    here: &Here,
    context: &CommandContext,
    label: &str,
    named: Option<&str>,
) -> Result<(), Fault> {
    let content = context.engine.view(&context.caller, |view| {
        project::to_read(view, &context.caller, named)?;
        let scope = view.scope(named)?;
        let found = artifact::find(view.tx, scope, label)?;
        let version = artifact::at(view.tx, view.ws, found.id(), found.row.head)?;
        Ok(version.content())
    })?;
    if here.out.json {
        here.out.value(&json!({ "content": content }))
    } else {
        here.out.text(&content)
    }
    Ok(())
}

fn commits(
    here: &Here,
    context: &CommandContext,
    label: &str,
    named: Option<&str>,
) -> Result<(), Fault> {
    let asked = json!({ "artifact": label, "project": named, "limit": LISTED });
    let answer = context.call("garden_artifact_log", asked)?;
    if here.out.json {
        here.out.value(&answer);
        return Ok(());
    }
    let mut table = Table::new(&["commit", "when", "who", "changed", "why"]);
    let log: Commits = typed(&answer)?;
    for delta in &log.deltas {
        let commit = Text::new().name(garden::short(&delta.commit));
        table.row(match &delta.said {
            Some(said) => vec![
                commit,
                Text::from(context.clock.ago(said.realized_at)),
                Text::from(said.actor.as_str()),
                Text::from(said.ops.as_str()),
                Text::from(said.reasoning.as_deref().unwrap_or_default()),
            ],
            None => vec![commit],
        });
    }
    here.out.table(table);
    if log.paging.pagination.next_cursor.is_some() {
        here.out.hint(format!("The last {LISTED} are shown."));
    }
    Ok(())
}

fn diff(
    here: &Here,
    context: &CommandContext,
    label: &str,
    named: Option<&str>,
    from: Option<String>,
) -> Result<(), Fault> {
    let from = match from {
        Some(from) => from,
        None => {
            let asked = json!({ "artifact": label, "project": named, "limit": 2 });
            let log: Commits = context.ask("garden_artifact_log", asked)?;
            match log.deltas.into_iter().nth(1) {
                Some(before) => before.commit,
                None => {
                    return Err(
                        Fault::not_found(format!("{label} has no commit before its last"))
                            .hint(format!("`understory artifact {label}` shows it.")),
                    );
                }
            }
        }
    };
    let asked = json!({ "artifact": label, "project": named, "from": from });
    let answer = context.call("garden_artifact_diff", asked)?;
    if here.out.json {
        here.out.value(&answer)
    } else {
        typed::<Diff>(&answer)?
            .diff
            .lines()
            .for_each(|line| here.out.line(line))
    }
    Ok(())
}
