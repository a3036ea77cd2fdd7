//! `understory rebuild`: derives core anew from the log, whatever state it is in.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::json;
use understory_engine::system::rebuild::Damage;
use understory_engine::{Engine, Options};
use understory_model::{Fault, Seq};

use super::progress::Progress;
use super::render::words::count;
use super::{Here, Outcome};
use crate::identity::Identity;
use crate::log;

const EXAMPLES: &str = "\
Examples:
  understory rebuild                    after an update that derives core in another way
  understory rebuild --store ./team.db

  understory rebuild --accept-damage    after reading what `understory verify` found

The log is proved first, and only read. Others can go on reading; writers wait until it is done.

A log that was cut off or changed is refused: core's head is what still tells. --accept-damage keeps what
is left of it, and notes in the log who accepted what.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Rebuild even from a damaged log, and record in it what was accepted
    #[arg(long)]
    accept_damage: bool,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let settings = here.settings()?;
        // A store whose core cannot be read is what this is for, so it is not checked first.
        let engine = Engine::open_unchecked(settings.store.value.reveal(), Options::default());
        if let Ok(None) = engine.state() {
            return Err(Fault::not_found(format!(
                "there is no store at {}: nothing to rebuild",
                settings.store.value
            )));
        }
        let begun = Instant::now();
        let seen: Arc<Mutex<BTreeMap<String, i64>>> = Arc::default();
        let told = Arc::clone(&seen);
        let mut progress = Progress::new();
        let tell = move |workspace: &str, seq: Seq| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            told.insert(workspace.to_owned(), seq.0);
            progress.tell(|| format!("{workspace}: replayed up to #{seq}"));
        };
        let damages = if self.accept_damage {
            let person = Identity::shell(&settings, &here.around)?.caller(None);
            engine.rebuild_accepting_damage(&person, tell)?
        } else {
            engine.rebuild(tell).map(|()| Vec::new())?
        };
        for Damage { workspace, breaks } in &damages {
            for found in breaks {
                let (seq, what) = (found.seq, &found.what);
                log::warn(format_args!("accepted: {workspace} #{seq}: {what}"));
            }
        }
        let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let items: i64 = seen.values().sum();
        let seconds = begun.elapsed().as_secs_f64();
        if here.out.json {
            here.out.value(
                &json!({ "items": items, "workspaces": *seen, "seconds": seconds,
                                "accepted": accepted(&damages) }),
            );
        } else {
            here.out.line(format!(
                "Core was derived anew from {} of {} in {seconds:.1} s.",
                count(items, "item"),
                count(seen.len() as i64, "workspace"),
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The damage that was accepted, by workspace.
fn accepted(damages: &[Damage]) -> serde_json::Value {
    let each = damages
        .iter()
        .map(|damage| json!({ "workspace": damage.workspace, "breaks": damage.breaks }));
    each.collect()
}
