//! The steps that a worker takes: each sends a prompt, starts an agent or tells a person, and reports what
//! came of it.

use std::time::{Duration, Instant};

use understory_engine::Engine;
use understory_engine::threads::ladder::Way;
use understory_engine::threads::wake::{self, Outcome, Taken};
use understory_model::thread::{Channel, WakeAction, WakeFailure, WakeResult};
use understory_model::{Caller, Code, Fault};

use super::runtimes::{self, Filling, Runtime, Template};
use super::{Worker, command, opencode, person};
use crate::log;
use crate::process;

/// How long a channel may take to accept a prompt.
const ACCEPT: Duration = Duration::from_secs(30);
/// How often a long step renews its lease.
const RENEW: Duration = Duration::from_secs(60);
/// After which pauses a report is tried again. A job that nobody reports is taken once more when its lease
/// ends, so these are much shorter than that.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(250),
    Duration::from_secs(2),
    Duration::from_secs(8),
];

impl Worker {
    /// Takes a step, and reports what came of it.
    pub(super) fn step(&self, engine: &Engine, caller: &Caller, taken: &Taken) {
        if taken.job.result == WakeResult::Failed {
            person::tell(&self.runtimes, taken);
            return;
        }
        let outcome = match taken.job.action {
            WakeAction::TriggerRuntime => self.type_in(engine, caller, std::slice::from_ref(taken)),
            _ => sent(self.act(engine, caller, taken)),
        };
        // What cannot be reported is in the diagnostics.
        let _ = self.report(engine, caller, taken, &outcome);
    }

    /// Reports what came of a step, again and again for a while if the store does not take it.
    pub(super) fn report(
        &self,
        engine: &Engine,
        caller: &Caller,
        taken: &Taken,
        outcome: &Outcome,
    ) -> Result<(), Fault> {
        let taken = self.as_told(taken);
        let rest = |pause| {
            self.rest(pause);
            !self.is_over()
        };
        let done = insist(&PAUSES, rest, || {
            wake::report(engine, caller, &taken, outcome)
        });
        done.inspect_err(|fault| {
            log::warn(format_args!(
                "{} cannot be reported: {fault}",
                taken.wake_id
            ));
        })
    }

    /// Gives a job back of which no step could be taken.
    pub(super) fn give_back(&self, engine: &Engine, caller: &Caller, taken: &Taken) {
        if let Err(fault) = wake::give_back(engine, caller, taken) {
            log::warn(format_args!(
                "{} cannot be given back: {fault}",
                taken.wake_id
            ));
        }
    }

    /// A job as it is reported: a program that was given no message was told of none.
    fn as_told(&self, taken: &Taken) -> Taken {
        let typed = taken.job.action == WakeAction::TriggerRuntime;
        let blank = typed && self.terminal.as_ref().is_some_and(|one| !one.reads_text());
        Taken {
            way: taken.way.clone().filter(|_| !blank),
            ..taken.clone()
        }
    }

    /// Types the prompt for some jobs into the terminal of the worker's own session.
    pub(super) fn type_in(&self, engine: &Engine, caller: &Caller, jobs: &[Taken]) -> Outcome {
        let Some(terminal) = &self.terminal else {
            return Failed::final_("this worker manages no terminal").outcome();
        };
        let text = if terminal.reads_text() {
            engine.view(caller, |view| wake::text(view, jobs))
        } else {
            Ok(wake::plain_text(jobs))
        };
        match text {
            Ok(text) => terminal.type_in(text, jobs.iter().any(|taken| taken.job.forced)),
            Err(fault) => Failed::later(fault.message).outcome(),
        }
    }

    fn act(
        &self,
        engine: &Engine,
        caller: &Caller,
        taken: &Taken,
    ) -> Result<Option<Channel>, Failed> {
        let text = engine.view(caller, |view| match taken.job.action {
            WakeAction::SpawnSession => wake::first_text(view, taken),
            _ => wake::text(view, std::slice::from_ref(taken)),
        });
        let text = text.map_err(|fault| Failed::later(fault.message))?;
        let way = taken.way.as_ref();
        let client = taken
            .client
            .as_deref()
            .or(way.map(|way| way.client.as_str()));
        let runtime = client.and_then(|client| self.runtimes.get(client));
        match taken.job.action {
            WakeAction::InSession => self.send(taken, way, runtime, &text),
            WakeAction::ResumeSession => {
                let template = runtime.and_then(|runtime| runtime.resume.as_ref());
                self.start(engine, caller, taken, template, &text)
            }
            WakeAction::SpawnSession => {
                let template = runtime.and_then(|runtime| runtime.start.as_ref());
                self.start(engine, caller, taken, template, &text)
            }
            other => Err(Failed::final_(format!("this worker does not know {other}"))),
        }
    }

    /// Sends a prompt into a live session.
    pub(super) fn send(
        &self,
        taken: &Taken,
        way: Option<&Way>,
        runtime: Option<&Runtime>,
        text: &str,
    ) -> Result<Option<Channel>, Failed> {
        let way = way.ok_or_else(|| Failed::final_("no session is known"))?;
        if way.channel == Some(Channel::OpencodePrompt) {
            opencode::send(way, text)?;
            return Ok(way.channel);
        }
        let template = runtime.and_then(|runtime| runtime.queue.as_ref());
        let command = filled(template, taken, text)?;
        command::run(
            &command,
            &way.folder,
            (None, ACCEPT),
            |_| {},
            || !self.is_over(),
        )
        .map_err(Failed::later)?;
        Ok(way.channel)
    }

    /// Starts an agent, and waits for its end: only then is it known that it took the prompt.
    fn start(
        &self,
        engine: &Engine,
        caller: &Caller,
        taken: &Taken,
        template: Option<&Template>,
        text: &str,
    ) -> Result<Option<Channel>, Failed> {
        let command = filled(template, taken, text)?;
        let folder = match taken.way.as_ref().map(|way| way.folder.clone()) {
            Some(folder) if !folder.is_empty() => folder,
            _ => engine.folder_of(caller).ok().flatten().unwrap_or_default(),
        };
        let named =
            (taken.job.action == WakeAction::SpawnSession).then_some(taken.job.target.as_str());
        let mut renewed = Instant::now();
        let begun = |id| {
            let Some(process) = process::of(id) else {
                return;
            };
            if let Err(fault) = wake::begun(engine, caller, taken, &process) {
                log::warn(format_args!(
                    "{} was started and cannot be noted: {fault}",
                    taken.wake_id
                ));
            }
        };
        command::run(&command, &folder, (named, wake::WORK), begun, || {
            if renewed.elapsed() > RENEW {
                renewed = Instant::now();
                // A lease that cannot be renewed ends; the job is then somebody else's.
                let renewed = wake::renew(engine, caller, taken);
                return !renewed.is_err_and(|fault| fault.code == Code::Conflict);
            }
            !self.is_over()
        })
        .map_err(Failed::later)?;
        Ok(None)
    }
}

/// Calls until a call succeeds or the pauses between them are over; `rest` is false where there is no time
/// for one.
pub fn insist(
    pauses: &[Duration],
    rest: impl Fn(Duration) -> bool,
    mut call: impl FnMut() -> Result<(), Fault>,
) -> Result<(), Fault> {
    for pause in pauses {
        match call() {
            Ok(()) => return Ok(()),
            Err(fault) if !rest(*pause) => return Err(fault),
            Err(_) => {}
        }
    }
    call()
}

/// A step that failed, and whether it may succeed later.
pub struct Failed {
    pub why: String,
    pub retry: bool,
}

impl Failed {
    pub(super) fn outcome(self) -> Outcome {
        Outcome::Failed {
            code: WakeFailure::WakeFailed,
            why: self.why,
            retry: self.retry,
        }
    }

    pub fn later(why: impl Into<String>) -> Failed {
        Failed {
            why: why.into(),
            retry: true,
        }
    }

    pub fn final_(why: impl Into<String>) -> Failed {
        Failed {
            why: why.into(),
            retry: false,
        }
    }
}

/// What came of sending a prompt.
pub(super) fn sent(done: Result<Option<Channel>, Failed>) -> Outcome {
    match done {
        Ok(channel) => Outcome::Delivered { channel },
        Err(failed) => failed.outcome(),
    }
}

pub(super) fn filled(
    template: Option<&Template>,
    taken: &Taken,
    text: &str,
) -> Result<runtimes::Filled, Failed> {
    let template =
        template.ok_or_else(|| Failed::final_("your settings list no command for it"))?;
    let way = taken.way.as_ref();
    let with = Filling {
        session: way.map_or("", |way| way.client_session.as_str()),
        prompt: text,
        thread: &taken.job.thread,
    };
    template.fill(&with).map_err(Failed::final_)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_tried_again_while_there_is_time() {
        let pauses = [Duration::ZERO; 3];
        for (fails, has_time, calls, reported) in [
            (0, true, 1, true),
            (2, true, 3, true),
            (3, true, 4, true),
            (9, true, 4, false),
            (1, false, 1, false),
        ] {
            let mut called = 0;
            let done = insist(
                &pauses,
                |_| has_time,
                || {
                    called += 1;
                    if called > fails {
                        Ok(())
                    } else {
                        Err(Fault::new(Code::StoreUnavailable, "not now"))
                    }
                },
            );
            assert_eq!((called, done.is_ok()), (calls, reported), "{fails}");
        }
    }
}
