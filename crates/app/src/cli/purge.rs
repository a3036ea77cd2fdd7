//! `understory purge`: an operator erases content for good, after having seen what.
//!
//! It never prints what is erased.

use std::io::{BufRead, IsTerminal, Read};
use std::path::PathBuf;
use std::process::ExitCode;

use understory_engine::system::purge::{Asked, Report};
use understory_model::{Code, Fault, limits};

use super::progress::Progress;
use super::render::words::count;
use super::text::Text;
use super::{Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory purge item_0199… --reason \"a customer's address\" --dry-run
  understory purge TASK-012 R004 --reason \"asked to be forgotten\"
  understory purge --credentials --reason \"leaked keys\"
  understory purge --text-from secret.txt --reason \"rotated password\" --yes

A name erases what that thing says: an item, or an entity in all its versions. The same text is
erased wherever else it stands in the workspace, unless --only is given. Names, states and times
stay. The log says who did it, when and why; `understory verify` still proves it.

Core is derived anew, so others wait as long as `understory rebuild` takes. Backups, replicas and
what an external embedding endpoint was sent are not reached: change a credential in any case.";

/// Items that are listed before somebody is asked.
const LISTED: usize = 20;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What to erase: item_…, msg_…, TASK-001, R001, th_001, a document's label
    names: Vec<String>,
    /// The reason; kept in the log, where everybody can read it
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Only credentials: in the named things, or in the whole workspace
    #[arg(long)]
    credentials: bool,
    /// Only this text, wherever it occurs: a file, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["credentials", "names"])]
    text_from: Option<PathBuf>,
    /// Leave the same text in other things
    #[arg(long, conflicts_with_all = ["credentials", "text_from"])]
    only: bool,
    /// Show what would be erased, and erase nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        let text = self.text_from.as_ref().map(|file| read(here, file));
        let asked = Asked {
            names: self.names.clone(),
            credentials: self.credentials,
            texts: text.transpose()?.into_iter().collect(),
            only: self.only,
            reason: self.reason.clone(),
            project: None,
        };
        let planned = context.engine.plan_purge(&context.caller, &asked)?;
        if self.dry_run || !here.out.json {
            show(here, &planned, self.dry_run);
        }
        if self.dry_run {
            return Ok(ExitCode::SUCCESS);
        }
        if !self.yes && !confirmed(here, &planned)? {
            here.out.line("Nothing was erased.");
            return Ok(ExitCode::FAILURE);
        }
        let mut progress = Progress::new();
        let done = context
            .engine
            .purge(&context.caller, asked, move |workspace, seq| {
                progress.tell(|| format!("{workspace}: replayed up to #{seq}"));
            })?;
        if here.out.json {
            here.out.value(&serde_json::json!(done));
        } else {
            here.out.line(format!(
                "Erased, as #{} tells: {}.",
                done.purge.unwrap_or_default(),
                summary(&done)
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn summary(report: &Report) -> String {
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let mut parts = vec![format!(
        "content of {}",
        count(number(report.items.len()), "item")
    )];
    if report.answers > 0 {
        parts.push(count(number(report.answers), "kept answer"));
    }
    if report.scratchpads > 0 {
        parts.push(count(number(report.scratchpads), "scratchpad"));
    }
    parts.join(", ")
}

fn show(here: &Here, report: &Report, dry: bool) {
    if here.out.json {
        return here.out.value(&serde_json::json!(report));
    }
    let would = if dry { "Would erase" } else { "To be erased" };
    here.out.line(format!("{would}: {}", summary(report)));
    for place in report.items.iter().take(LISTED) {
        here.out.line(format!(
            "  #{}  {}  {}  by {}  {}",
            place.seq, place.item, place.kind, place.actor, place.at
        ));
    }
    if report.items.len() > LISTED {
        let more = report.items.len() - LISTED;
        here.out
            .line(format!("  and {more} more; --json lists all"));
    }
    if report.named_after > 0 {
        here.out.line(format!(
            "{} by an agent or session that is named so; such names stay.",
            count(
                i64::try_from(report.named_after).unwrap_or(i64::MAX),
                "item"
            )
        ));
    }
    here.out.line("Not reached:");
    for what in &report.out_of_reach {
        here.out.line(Text::from("  ").dim(*what));
    }
}

/// Asks the person at the terminal.
fn confirmed(here: &Here, report: &Report) -> Result<bool, Fault> {
    if here.out.json || !std::io::stdin().is_terminal() {
        return Err(Fault::new(
            Code::Validation,
            "nothing was erased: confirmation requires a terminal",
        )
        .hint("Look with --dry-run, then repeat the command with --yes."));
    }
    let question = format!(
        "Erase the content of {} for good? Type yes: ",
        count(
            i64::try_from(report.items.len()).unwrap_or(i64::MAX),
            "item"
        )
    );
    here.out.bytes(question.as_bytes());
    here.out.flush();
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.map_err(|error| unreadable("standard input", &error))?;
    Ok(line.trim() == "yes")
}

fn read(here: &Here, file: &std::path::Path) -> Result<String, Fault> {
    let most = limits::TEXT_CHARS as u64 * 4 + 1;
    let mut text = String::new();
    let done = if file.as_os_str() == "-" {
        std::io::stdin().lock().take(most).read_to_string(&mut text)
    } else {
        std::fs::File::open(here.around.folder.join(file))
            .and_then(|opened| opened.take(most).read_to_string(&mut text))
    };
    done.map_err(|error| unreadable(&file.display().to_string(), &error))?;
    Ok(text)
}

fn unreadable(what: &str, error: &std::io::Error) -> Fault {
    Fault::new(Code::Validation, format!("{what} cannot be read: {error}"))
}
