//! A thread that follows the log and has what was written embedded, beside everything else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use understory_engine::Engine;
use understory_engine::kernel::meaning::{Filler, Step};
use understory_model::{Caller, Fault};

use crate::log;
use crate::store::{STACK_BYTES, Store};

/// How often it looks for something new, and how long it rests after a failure at first and at
/// the most.
const LOOK: Duration = Duration::from_secs(1);
const REST: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_secs(120);
/// Looking takes no more than this part of the time, however many workspaces there are.
const SHARE: u32 = 50;

/// Follows until it is dropped.
pub struct Following(Arc<AtomicBool>);

impl Drop for Following {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Follows the caller's workspace, or all of them, where an external model is configured.
pub fn follow(store: &Arc<Store>, caller: Caller, all: bool) -> Option<Following> {
    if !store.embeds() {
        return None;
    }
    let over = Arc::new(AtomicBool::new(false));
    let follower = Follower {
        store: Arc::clone(store),
        caller,
        all,
        over: Arc::clone(&over),
        filler: Filler::new(),
    };
    let begun = std::thread::Builder::new()
        .name("embedding".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || follower.run());
    if let Err(error) = begun {
        log::warn(format_args!("no thread to embed texts: {error}"));
    }
    Some(Following(over))
}

struct Follower {
    store: Arc<Store>,
    caller: Caller,
    all: bool,
    over: Arc<AtomicBool>,
    filler: Filler,
}

impl Follower {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    fn run(mut self) {
        let mut rest = REST;
        let mut said = String::new();
        while !self.is_over() {
            let begun = Instant::now();
            let wait = match self.pass() {
                Ok(()) => {
                    (rest, said) = (REST, String::new());
                    LOOK.max(begun.elapsed() * SHARE).min(LONGEST)
                }
                Err(fault) => {
                    // Once is enough, however long it lasts.
                    if said != fault.message {
                        log::warn(format_args!("texts wait to be embedded: {}", fault.message));
                        said = fault.message;
                    }
                    rest = (rest * 2).min(LONGEST);
                    rest
                }
            };
            self.wait(wait);
        }
    }

    fn wait(&self, time: Duration) {
        let until = Instant::now() + time;
        while !self.is_over() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Has everything embedded that is missing now. What fails in one workspace keeps no other
    /// back.
    fn pass(&mut self) -> Result<(), Fault> {
        let engine = self.store.get()?;
        let mut failed = Ok(());
        for caller in self.callers(&engine)? {
            if let Err(fault) = self.fill(&engine, &caller) {
                failed = Err(fault);
            }
        }
        failed
    }

    fn fill(&mut self, engine: &Engine, caller: &Caller) -> Result<(), Fault> {
        while !self.is_over() {
            match self.filler.step(engine, caller)? {
                Step::Filled(_) => {}
                Step::Done | Step::Elsewhere => break,
            }
        }
        Ok(())
    }

    fn callers(&self, engine: &Engine) -> Result<Vec<Caller>, Fault> {
        if !self.all {
            return Ok(vec![self.caller.clone()]);
        }
        let state = engine.state()?;
        let logs = state.into_iter().flat_map(|state| state.logs);
        let caller = |workspace: String| Caller {
            workspace,
            origin: None,
            ..self.caller.clone()
        };
        Ok(logs.map(|log| caller(log.workspace)).collect())
    }
}
