//! `understory rebuild`: derives core anew from the log, whatever state it is in.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::json;
use understory_engine::{Engine, Options};
use understory_model::Fault;

use super::progress::Progress;
use super::status::count;
use super::{Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory rebuild                    after an update that derives core in another way
  understory rebuild --store ./team.db

The log is only read. Others can go on reading; writers wait until it is done.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {}

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
        engine.rebuild(move |workspace, seq| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            told.insert(workspace.to_owned(), seq);
            progress.tell(|| format!("{workspace}: replayed up to #{seq}"));
        })?;
        let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let items: i64 = seen.values().sum();
        let seconds = begun.elapsed().as_secs_f64();
        if here.out.json {
            here.out
                .value(&json!({ "items": items, "workspaces": *seen, "seconds": seconds }));
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
