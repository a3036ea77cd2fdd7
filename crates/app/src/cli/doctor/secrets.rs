//! `doctor --secrets`: looks through everything that is stored for what looks like a credential.
//!
//! It tells where each stands and of what kind it is. It must never print a credential.

use understory_engine::kernel::credentials::{Flagged, Stored};
use understory_model::Seq;
use understory_model::text::quoted;

use super::super::CommandContext;
use super::super::progress::Progress;
use super::super::render::words::count;
use super::{Check, LISTED_SECRETS, fail, ok, warn};

const NAME: &str = "secrets";

/// Looks through every workspace that the person may read.
pub fn scan(context: &CommandContext) -> Check {
    let mut progress = Progress::new();
    let tell = |workspace: &str, seq: Seq| {
        progress.tell(|| format!("{workspace}: looked through up to #{seq}"));
    };
    let scanned = context
        .engine
        .stored_credentials(&context.caller, LISTED_SECRETS, tell);
    drop(progress);
    let (items, found) = match scanned {
        Ok(found) => found,
        Err(fault) => return fail(NAME, &fault),
    };
    if items == 0 {
        return ok(NAME, "nothing stored looks like a credential");
    }
    let items = i64::try_from(items).unwrap_or(i64::MAX);
    let told: Vec<String> = found.iter().map(place).collect();
    let found = format!(
        "{} with what looks like a credential: {}",
        count(items, "item"),
        told.join("; ")
    );
    let advice = "Change each credential where it is valid, then erase it in its workspace: \
                  understory purge --credentials --workspace NAME --reason … --dry-run (all of \
                  them), or name items.";
    warn(NAME, found, advice)
}

fn place(one: &Stored) -> String {
    format!("{} in {}", line(&one.item), quoted(&one.workspace))
}

/// One item that holds a credential.
pub fn line(one: &Flagged) -> String {
    format!(
        "{} {} by {} at {}",
        one.item,
        one.kind.as_str(),
        quoted(&one.actor),
        one.at
    )
}
