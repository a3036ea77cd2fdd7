//! The engine without a protocol: many threads in one process share commits, so large stores are
//! made through the real tools in little time.

use serde_json::Value;
use understory_engine::{Engine, Options};
use understory_model::{Caller, Role};
use understory_tools::{Context, registry};

use crate::Outcome;
use crate::bench::WORKSPACE;

/// Threads that make a store.
pub const THREADS: usize = 64;

/// An engine and who calls it.
pub struct Inside {
    engine: Engine,
    caller: Caller,
}

pub fn caller() -> Caller {
    Caller {
        workspace: WORKSPACE.into(),
        origin: None,
        agent: "bench".into(),
        session: "sess_bench".into(),
        role: Role::Worker,
        project: "default".into(),
        via: understory_model::Via::Local,
    }
}

impl Inside {
    pub fn open(store: &str) -> Outcome<Inside> {
        let engine = Engine::open(store, Options::default()).map_err(|fault| fault.message)?;
        Ok(Inside {
            engine,
            caller: caller(),
        })
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    pub fn call(&self, tool: &str, arguments: Value) -> Outcome<Value> {
        let context = Context {
            engine: &self.engine,
            caller: &self.caller,
            request_id: "req_bench",
        };
        Ok(registry::call_named(&context, tool, arguments).map_err(|fault| fault.message)?)
    }

    /// Does the work of each number below `count`, in many threads.
    pub fn each(&self, count: usize, work: impl Fn(&Inside, usize) -> Outcome + Sync) -> Outcome {
        let threads = THREADS.min(count);
        let work = &work;
        std::thread::scope(|scope| -> Outcome {
            let working: Vec<_> = (0..threads)
                .map(|first| {
                    scope.spawn(move || {
                        (first..count)
                            .step_by(threads)
                            .try_for_each(|at| work(self, at))
                    })
                })
                .collect();
            for thread in working {
                thread.join().map_err(|_| "a thread broke off")??;
            }
            Ok(())
        })
    }

    /// Closes the store, so that its file can be moved.
    pub fn close(self) {
        self.engine.close();
    }
}
