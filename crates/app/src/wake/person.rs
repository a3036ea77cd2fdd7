//! Tells a person that an agent could not be woken: in the log, and with the command that the user's own
//! file of runtimes lists for it.

use std::time::Duration;

use understory_engine::threads::wake::Taken;

use super::runtimes::{Filled, PERSON, Runtimes};
use super::{Failed, command, filled};
use crate::config::Surroundings;
use crate::log;

/// How long the command may take.
const MOST: Duration = Duration::from_secs(30);

/// Tells of a job that has failed, and waits until the command has ended.
pub fn tell(runtimes: &Runtimes, taken: &Taken) {
    tell_by(runtimes, taken, |command| {
        command::run(command, "", (None, MOST), |_| {}, || true)
    });
}

/// Tells of jobs that have failed, for a hook: it leaves the command to itself, because its client waits
/// for the hook.
pub fn tell_and_go(around: &Surroundings, stopped: &[Taken]) {
    if stopped.is_empty() {
        return;
    }
    let runtimes = Runtimes::usable(around);
    for taken in stopped {
        tell_by(&runtimes, taken, command::leave);
    }
}

fn tell_by(runtimes: &Runtimes, taken: &Taken, run: impl FnOnce(&Filled) -> Result<(), String>) {
    let job = &taken.job;
    let why = job.tried.last().map_or("", |tried| tried.why.as_str());
    let text = format!(
        "{} could not be woken for {} ({}): {why}",
        job.target, job.thread, taken.wake_id
    );
    log::warn(format_args!("{text}"));
    let person = runtimes.get(PERSON);
    let Some(template) = person.and_then(|person| person.notify.as_ref()) else {
        return;
    };
    let told = filled(Some(template), taken, &text)
        .and_then(|command| run(&command).map_err(Failed::final_));
    if let Err(failed) = told {
        log::warn(format_args!("no person could be told: {}", failed.why));
    }
}
