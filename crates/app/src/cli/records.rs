//! `understory records`: a project's records drawn as a tree, with their states.

use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use understory_engine::View;
use understory_engine::kernel::log;
use understory_engine::records::shape::Reference;
use understory_engine::records::tree::{self, Asked, Branch, Tree};
use understory_engine::system::status::{self, Records};
use understory_model::Fault;
use understory_model::answer::json_of;
use understory_model::record::RecordState;
use understory_model::text::cut;

use super::next::known_project;
use super::render::words::count;
use super::text::{Style, Text};
use super::{CommandContext, Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory records                    all records of the project
  understory records --state OPEN       what is open, and what it hangs from
  understory records r7                 one record and everything below it
  understory records --depth 1 --project shop
  understory records --json | jq '.records[].title'";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only this record and what is below it
    #[arg(value_name = "RECORD")]
    top: Option<String>,
    /// Only records in these states, with their ancestors
    #[arg(long, value_name = "STATE", value_delimiter = ',', ignore_case = true)]
    #[arg(value_parser = PossibleValuesParser::new(RecordState::WORDS.iter().copied()))]
    state: Vec<String>,
    /// Maximum depth
    #[arg(long, value_name = "LEVELS")]
    #[arg(value_parser = clap::value_parser!(i64).range(1..=64))]
    depth: Option<i64>,
    /// Continue after this record
    #[arg(long, value_name = "RECORD")]
    after: Option<String>,
    /// Maximum number of records
    #[arg(long, short = 'n', value_name = "N", default_value_t = 200)]
    #[arg(value_parser = clap::value_parser!(i64).range(1..=10_000))]
    limit: i64,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        if context.is_new()? {
            return self.nowhere(here, &context);
        }
        let (found, counts) = context.engine.view(&context.caller, |view| {
            let asked = self.asked(view)?;
            let found = tree::tree(view, &asked)?;
            Ok((found, status::records(view, &context.caller)?))
        })?;
        if found.records.is_empty() {
            known_project(&context)?;
        }
        if here.out.json {
            here.out.value(&json_of(&found)?);
        } else {
            self.show(here, &context, &found, &counts);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn asked(&self, view: &mut View<'_, '_>) -> Result<Asked, Fault> {
        let mut named = |name: &Option<String>| match name {
            Some(name) => record_named(view, name).map(Some),
            None => Ok(None),
        };
        Ok(Asked {
            top: named(&self.top)?,
            after: named(&self.after)?,
            states: self
                .state
                .iter()
                .filter_map(|name| RecordState::parse(&name.to_uppercase()))
                .collect(),
            levels: self.depth,
            most: self.limit,
        })
    }

    /// There is not even a workspace.
    fn nowhere(&self, here: &Here, context: &CommandContext) -> Outcome {
        let why = context.nothing_yet()?.unwrap_or_default();
        if let Some(name) = self.top.as_ref().or(self.after.as_ref()) {
            return Err(Fault::not_found(format!("no {name}: {why}")));
        }
        if here.out.json {
            here.out.value(&json_of(&Tree::default())?)
        } else {
            here.out.line(why)
        }
        Ok(ExitCode::SUCCESS)
    }

    fn show(&self, here: &Here, context: &CommandContext, found: &Tree, counts: &Records) {
        let (out, project) = (&here.out, &context.caller.project);
        if self.top.is_none() {
            out.line(Text::new().bold(project).dim("  ").then(counted(counts)));
        }
        let records = &found.records;
        // The top does not count as a level.
        let deepest = self
            .depth
            .map(|levels| levels - i64::from(self.top.is_none()));
        draw(records, deepest)
            .into_iter()
            .for_each(|line| out.cut(line));
        if let Some(last) = &found.next_after {
            out.hint(format!("There are more: add --after {last}, or --limit."));
        }
        if records.is_empty() && counts.records > 0 {
            out.hint("No record is in these states: understory records shows all of them.");
        } else if records.is_empty() {
            out.hint("Make one: understory call create_record --help");
        }
    }
}

/// The handle of a record that a person named.
fn record_named(view: &mut View<'_, '_>, name: &str) -> Result<String, Fault> {
    let found = log::find(view, name.trim())?;
    if found.is_record() {
        return Ok(found.handle);
    }
    Err(Fault::not_found(format!("{name} is not a record"))
        .hint(format!("`understory show {name}` tells what it is.")))
}

/// `12 records: 5 open, 2 later · 1 session open`
pub fn counted(counts: &Records) -> Text {
    if counts.records == 0 && counts.open_sessions == 0 {
        return Text::new().dim("no records yet");
    }
    let text = Text::from(format!(
        "{}: {} open, {} later · {} open",
        count(counts.records, "record"),
        counts.open,
        counts.later,
        count(counts.open_sessions, "session")
    ));
    match counts.stale_sessions {
        0 => text,
        stale => text.add(Style::Warn, format!(" ({stale} stale)")),
    }
}

/// Of a reason, what a line of the tree has.
const REASON: usize = 80;

/// What a state looks like.
pub fn mark(state: RecordState) -> Text {
    match state {
        RecordState::Resolved => Text::new().add(Style::Good, "✓ "),
        RecordState::Discarded => Text::new().dim("✗ "),
        RecordState::Later => Text::new().add(Style::Warn, "◌ "),
        RecordState::Open => Text::new().plain("○ "),
    }
}

/// `◌ R004 Which eviction?  LATER question: after the release`
pub fn marked(record: &Reference) -> Text {
    line(record, Text::from(record.title.as_str()))
}

fn line(record: &Reference, title: Text) -> Text {
    let line = mark(record.state)
        .name(&record.id)
        .plain(" ")
        .then(title)
        .dim(format!("  {} {}", record.state, record.kind));
    match record.reason.as_deref().unwrap_or_default() {
        "" => line,
        reason => line.dim(format!(": {}", cut(reason, REASON))),
    }
}

/// As [`marked`], with the sessions in which it is active: ` · in chat-1`
fn placed(branch: &Branch) -> Text {
    let title = branch.record.title.as_str();
    let title = if branch.context {
        Text::new().dim(title)
    } else {
        Text::from(title)
    };
    let line = line(&branch.record, title);
    match branch.active_in.as_slice() {
        [] => line,
        [first] => line.dim(format!(" · in {first}")),
        [first, rest @ ..] => line.dim(format!(" · in {first} and {} more", rest.len())),
    }
}

/// Records in the order of the tree, a line each; below the deepest level they are counted.
pub fn draw(records: &[Branch], deepest: Option<i64>) -> Vec<Text> {
    let depth = |branch: &Branch| usize::try_from(branch.depth).unwrap_or(0);
    let mut lines = Vec::with_capacity(records.len());
    let mut lasts: Vec<bool> = Vec::new();
    for (at, branch) in records.iter().enumerate() {
        let own = depth(branch);
        let next = records[at + 1..]
            .iter()
            .map(depth)
            .find(|other| *other <= own);
        lasts.truncate(own);
        lasts.resize(own, true);
        let mut line = Text::new();
        for last in lasts.iter().skip(1) {
            line = line.dim(if *last { "  " } else { "│ " });
        }
        let is_last = next != Some(own);
        if own > 0 {
            line = line.dim(if is_last { "└ " } else { "├ " });
        }
        lasts.push(is_last);
        line = line.then(placed(branch));
        let below = branch.record.children_count;
        if below > 0 && deepest.is_some_and(|deepest| own as i64 >= deepest) {
            line = line.dim(format!("  +{below} below"));
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_its_branches_where_they_belong() {
        let one = |id: &str, depth: i64, below: i64| Branch {
            record: Reference {
                id: id.to_owned(),
                kind: "q".to_owned(),
                title: "t".to_owned(),
                summary: String::new(),
                state: RecordState::Open,
                parent_id: None,
                children_count: below,
                open_children_count: 0,
                reason: None,
            },
            depth,
            context: false,
            active_in: Vec::new(),
        };
        let all = [
            one("R1", 0, 2),
            one("R2", 1, 1),
            one("R3", 2, 4),
            one("R4", 1, 0),
            one("R5", 0, 0),
        ];
        let lines = draw(&all, Some(2));
        let lines: Vec<String> = lines.iter().map(|line| line.rendered(false)).collect();
        let ends = "t  OPEN q";
        assert_eq!(
            lines,
            [
                format!("○ R1 {ends}"),
                format!("├ ○ R2 {ends}"),
                format!("│ └ ○ R3 {ends}  +4 below"),
                format!("└ ○ R4 {ends}"),
                format!("○ R5 {ends}"),
            ]
        );
        assert!(draw(&[], None).is_empty());
    }
}
