//! `understory merge`: a branch's notes and graph go back into what it came from. What both
//! changed is settled one by one at a terminal; elsewhere nothing is asked and nothing guessed.

use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;

use clap::ValueEnum;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use understory_engine::reasoning::conflict_resolve::Settled;
use understory_engine::reasoning::conflict_show::Conflict;
use understory_engine::reasoning::graph_conflicts::Conflicts;
use understory_engine::reasoning::graph_merge::GraphMerged;
use understory_engine::reasoning::merge::Merged;
use understory_model::{Code, Fault, Seq};

use super::branch::{self, MAIN, ask, conflict_head};
use super::render::words::count;
use super::show::reasoning::print_sides;
use super::text::{Style, Text};
use super::{CommandContext, Here, OPEN_CONFLICTS, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory merge what-if              into the branch that it was made from
  understory merge what-if --dry-run    only say what would happen
  understory merge what-if main --use from
  understory merge what-if --json | jq '.conflicts[].conflict_id'

Where both changed the same thing there is a conflict. At a terminal each is shown and asked for;
elsewhere they are listed and the exit code is 6.";

/// Conflicts that are settled in one go.
const SETTLED: usize = 10_000;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The branch to merge
    #[arg(value_name = "FROM")]
    from: String,
    /// The branch to merge into (default: the one it was made from)
    #[arg(value_name = "INTO")]
    into: Option<String>,
    /// The document (default: `notes` and the graph document that both branches have)
    #[arg(long, value_name = "DOC")]
    doc: Option<String>,
    /// Show what would be merged, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Resolve all conflicts in favour of one side
    #[arg(long = "use", value_name = "SIDE")]
    side: Option<Side>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Side {
    /// Keep the merged branch's values
    From,
    /// Keep the destination's values
    Into,
}

impl Side {
    fn resolution(self) -> &'static str {
        match self {
            Side::From => "use_from",
            Side::Into => "use_into",
        }
    }
}

/// What a merge did, over all its pages or on one.
#[derive(Default)]
struct Tally {
    doc: String,
    merged: usize,
    skipped: usize,
    new_conflicts: usize,
    /// Documents that have something, where this one has nothing to merge.
    others: Vec<String>,
    /// Where the next page begins.
    next: Option<Seq>,
}

impl From<Merged> for Tally {
    fn from(page: Merged) -> Tally {
        Tally {
            doc: page.doc,
            merged: page.merged,
            skipped: page.skipped,
            new_conflicts: 0,
            others: page.documents,
            next: page.pagination.next_cursor,
        }
    }
}

impl From<GraphMerged> for Tally {
    fn from(page: GraphMerged) -> Tally {
        Tally {
            doc: page.doc,
            merged: page.merged,
            skipped: page.skipped,
            new_conflicts: page.conflicts_created,
            others: page.documents,
            next: page.pagination.next_cursor,
        }
    }
}

impl Tally {
    fn json(&self) -> Value {
        json!({ "doc": self.doc, "merged": self.merged, "skipped": self.skipped })
    }

    fn line(&self, name: &str, what: &str, dry: bool) -> Text {
        let would = if dry { "would be " } else { "" };
        let doc = &self.doc;
        let text = Text::new().bold(name).plain("  ");
        text.plain(format!("{} {would}merged", count(self.merged as i64, what)))
            .plain(match self.skipped {
                0 => String::new(),
                skipped => format!(", {skipped} left alone"),
            })
            .dim(format!("  {doc}"))
    }
}

/// The conflicts of a merge: which were settled, and which are still open.
struct Rest {
    settled: Vec<String>,
    open: Vec<Conflict>,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        if let Some(why) = context.nothing_yet()? {
            let fault = Fault::new(
                Code::UnknownBranch,
                format!("no branch {}: {why}", self.from),
            );
            return Err(fault);
        }
        let into = self.destination(&context)?;
        // The graph first: it refuses what is not the branch's base, before anything is written.
        let graph = self.merged::<GraphMerged>(&context, "branchmind_graph_merge", &into)?;
        let notes = self.merged::<Merged>(&context, "branchmind_merge", &into)?;
        if !here.out.json {
            let title = Text::new().name(&self.from).plain(" into ").name(&into);
            here.out.line(title);
            here.out.line(notes.line("notes", "note", self.dry_run));
            here.out.line(graph.line("graph", "change", self.dry_run));
            self.point_elsewhere(here, [&notes, &graph]);
        }
        let rest = self.settle(here, &context, &into, &graph)?;
        let untold = if self.dry_run { graph.new_conflicts } else { 0 };
        let open = (rest.open.len() + untold) as i64;
        if here.out.json {
            here.out.value(&json!({
                "from": self.from,
                "into": into,
                "dry_run": self.dry_run,
                "notes": notes.json(),
                "graph": graph.json(),
                "conflicts": rest.open,
                "settled": rest.settled,
                "open": open,
            }));
        } else {
            self.close(here, &context, &into, &rest, open);
        }
        Ok(if open == 0 || (self.dry_run && self.side.is_some()) {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(OPEN_CONFLICTS)
        })
    }

    /// Where neither notes nor graph had anything to merge: what else there is.
    fn point_elsewhere(&self, here: &Here, looked: [&Tally; 2]) {
        if looked.iter().any(|tally| tally.others.is_empty()) {
            return;
        }
        let docs = looked.iter().flat_map(|tally| &tally.others);
        let mut docs: Vec<&str> = docs.map(String::as_str).collect();
        docs.retain(|doc| !looked.iter().any(|tally| tally.doc == *doc));
        docs.sort_unstable();
        docs.dedup();
        if !docs.is_empty() {
            let docs = docs.join(", ");
            here.out.hint(format!(
                "{} has other documents: {docs}. Merge one with --doc.",
                self.from
            ));
        }
    }

    /// Where to: as said, or where the branch came from.
    fn destination(&self, context: &CommandContext) -> Result<String, Fault> {
        if let Some(into) = &self.into {
            return Ok(into.clone());
        }
        let base = branch::base(&branch::all(context)?, &self.from);
        Ok(base.unwrap_or(MAIN.to_owned()))
    }

    /// Merges all pages.
    fn merged<P>(&self, context: &CommandContext, tool: &str, into: &str) -> Result<Tally, Fault>
    where
        P: DeserializeOwned + Into<Tally>,
    {
        let mut tally = Tally::default();
        loop {
            let args = json!({
                "from": self.from,
                "into": into,
                "dry_run": self.dry_run,
                "doc": self.doc,
                "cursor": tally.next,
            });
            let page: Tally = ask::<P>(context, tool, args)?.into();
            tally = Tally {
                merged: tally.merged + page.merged,
                skipped: tally.skipped + page.skipped,
                new_conflicts: tally.new_conflicts + page.new_conflicts,
                ..page
            };
            if tally.next.is_none() {
                return Ok(tally);
            }
        }
    }

    /// Settles what is open, as far as somebody says how.
    fn settle(
        &self,
        here: &Here,
        context: &CommandContext,
        into: &str,
        graph: &Tally,
    ) -> Result<Rest, Fault> {
        let args = json!({ "into": into, "doc": graph.doc, "status": "open" });
        let found =
            branch::rows::<Conflicts>(context, "branchmind_graph_conflicts", &args, SETTLED)?;
        // A merge begins with the newest change and the list with the newest conflict, so this is
        // the order in which the branch was thought.
        let ours = found.rows.into_iter();
        let ours = ours.filter(|conflict| conflict.from == self.from);
        let mut conflicts = Vec::new();
        for row in ours {
            conflicts.push(branch::conflict(context, &row.conflict_id)?);
        }
        let mut rest = Rest {
            settled: Vec::new(),
            open: Vec::new(),
        };
        if self.dry_run {
            rest.open = conflicts;
        } else if let Some(side) = self.side {
            for conflict in &conflicts {
                rest.settled.push(resolve(context, conflict, side)?);
            }
        } else if can_ask(here) {
            walk(here, context, conflicts, &mut rest)?;
        } else {
            rest.open = conflicts;
        }
        Ok(rest)
    }

    fn close(&self, here: &Here, context: &CommandContext, into: &str, rest: &Rest, open: i64) {
        let out = &here.out;
        if !rest.settled.is_empty() {
            let settled = rest.settled.len() as i64;
            let text = format!("{} settled", count(settled, "conflict"));
            out.line(Text::new().add(Style::Good, text));
        }
        if open == 0 {
            return;
        }
        let what = if self.dry_run { "to settle" } else { "open" };
        let text = format!("{} {what}", count(open, "conflict"));
        out.line(Text::new().add(Style::Warn, text));
        for conflict in &rest.open {
            out.line(Text::from("  ").then(conflict_head(conflict, into)));
        }
        if let Some(first) = rest.open.first().filter(|_| !self.dry_run) {
            self.advise(here, context, into, first);
        }
    }

    /// The commands that settle conflicts, as they can be copied.
    fn advise(&self, here: &Here, context: &CommandContext, into: &str, first: &Conflict) {
        let id = &first.conflict_id;
        let doc = self.doc.iter().map(|doc| format!(" --doc {doc}"));
        let doc: String = doc.collect();
        let from = &self.from;
        let workspace = &context.caller.workspace;
        let chosen = json!({ "workspace": workspace, "conflict_id": id, "resolution": "use_from" });
        for command in [
            format!("understory show {id}"),
            format!("understory merge {from} {into}{doc} --use from"),
            format!("understory merge {from} {into}{doc} --use into"),
            format!("understory call branchmind_graph_conflict_resolve '{chosen}'"),
        ] {
            here.out.written(&Text::from("  ").dim(command));
        }
    }
}

/// Whether somebody sees a question and can answer it.
fn can_ask(here: &Here) -> bool {
    !here.out.json && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Settles a conflict; its name.
fn resolve(context: &CommandContext, conflict: &Conflict, side: Side) -> Result<String, Fault> {
    let args = json!({ "conflict_id": conflict.conflict_id, "resolution": side.resolution() });
    let settled: Settled = ask(context, "branchmind_graph_conflict_resolve", args)?;
    Ok(settled.conflict_id)
}

/// Shows conflict after conflict and does what the person says.
fn walk(
    here: &Here,
    context: &CommandContext,
    conflicts: Vec<Conflict>,
    rest: &mut Rest,
) -> Result<(), Fault> {
    let all = conflicts.len();
    let mut conflicts = conflicts.into_iter().enumerate();
    for (at, conflict) in conflicts.by_ref() {
        let into = &conflict.into;
        here.out.blank();
        let place = Text::new().dim(format!("{} of {all}  ", at + 1));
        here.out.line(place.then(conflict_head(&conflict, into)));
        print_sides(here, &conflict);
        match asked(here)? {
            Answer::Use(side) => rest.settled.push(resolve(context, &conflict, side)?),
            Answer::Skip => rest.open.push(conflict),
            Answer::Quit => {
                rest.open.push(conflict);
                break;
            }
        }
    }
    rest.open.extend(conflicts.map(|(_, conflict)| conflict));
    here.out.blank();
    Ok(())
}

enum Answer {
    Use(Side),
    Skip,
    Quit,
}

/// Asks until the answer is one.
fn asked(here: &Here) -> Result<Answer, Fault> {
    loop {
        here.out.bytes(b"[f]rom, [i]nto, [s]kip, [q]uit? ");
        here.out.flush();
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        let read = read.map_err(|error| {
            Fault::new(
                Code::Internal,
                format!("standard input cannot be read: {error}"),
            )
        })?;
        match line.trim().to_lowercase().as_str() {
            // End of input is not a choice.
            _ if read == 0 => return Ok(Answer::Quit),
            "f" | "from" => return Ok(Answer::Use(Side::From)),
            "i" | "into" => return Ok(Answer::Use(Side::Into)),
            "s" | "skip" => return Ok(Answer::Skip),
            "q" | "quit" => return Ok(Answer::Quit),
            _ => {}
        }
    }
}
