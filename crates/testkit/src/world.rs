//! A world: one store, an engine on it, and callers that use the real tools.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use understory_engine::system::verify::Report;
use understory_engine::{Engine, Options};
use understory_model::{Caller, Fault, Role, Via};
use understory_storage::seats::Seat;
use understory_tools::{Context, registry};

use crate::backend::Backend;
use crate::clock::TestClock;

/// A store with an engine on it and a default caller, `ada`.
pub struct World {
    pub backend: Backend,
    pub clock: Arc<TestClock>,
    pub engine: Arc<Engine>,
    pub caller: Caller,
}

impl From<Backend> for World {
    fn from(backend: Backend) -> World {
        World::new(backend)
    }
}

impl World {
    pub fn new(backend: Backend) -> World {
        let clock = Arc::new(TestClock::default());
        let options = Options {
            clock: clock.clone(),
            ..Options::default()
        };
        World::with(backend, clock, options)
    }

    pub fn with(backend: Backend, clock: Arc<TestClock>, options: Options) -> World {
        let engine = Engine::open(&backend.store(), options).expect("the store opens");
        World {
            backend,
            clock,
            engine: Arc::new(engine),
            caller: World::caller("ada"),
        }
    }

    /// An agent of the workspace `garden-shed`.
    pub fn caller(agent: &str) -> Caller {
        Caller {
            workspace: "garden-shed".into(),
            origin: None,
            agent: agent.into(),
            session: format!("sess_{agent}"),
            role: Role::Worker,
            project: "default".into(),
            via: Via::Local,
        }
    }

    /// Options that share this world's clock.
    pub fn options(&self) -> Options {
        Options {
            clock: self.clock.clone(),
            ..Options::default()
        }
    }

    /// Another engine on the same store, as another process would open.
    pub fn another(&self) -> Engine {
        Engine::open(&self.backend.store(), self.options()).expect("the store opens again")
    }

    /// Calls a tool as the default caller.
    pub fn call(&self, tool: &str, args: Value) -> Result<Value, Fault> {
        self.call_as(&self.caller, tool, args)
    }

    pub fn call_as(&self, caller: &Caller, tool: &str, args: Value) -> Result<Value, Fault> {
        World::call_on(&self.engine, caller, tool, args)
    }

    pub fn call_on(
        engine: &Engine,
        caller: &Caller,
        tool: &str,
        args: Value,
    ) -> Result<Value, Fault> {
        let context = Context {
            engine,
            caller,
            request_id: "req_test",
        };
        let known = registry::find(tool).ok_or_else(|| registry::unknown(tool))?;
        let written = registry::call(&context, known, args)?;
        let answer: Value = written.read()?;
        // Of a field that is written twice a reader keeps one.
        let (sent, read) = (written.as_str().len(), answer.to_string().len());
        assert_eq!(
            sent,
            read,
            "{tool} writes a field twice: {}",
            written.as_str()
        );
        Ok(answer)
    }

    /// Calls a tool that must succeed.
    #[track_caller]
    pub fn ok(&self, tool: &str, args: Value) -> Value {
        self.call(tool, args)
            .unwrap_or_else(|fault| panic!("{tool}: {fault:?}"))
    }

    /// Calls a tool that must be refused, and checks that it left no trace.
    #[track_caller]
    pub fn refused(&self, tool: &str, args: Value) -> Fault {
        let before = self.head();
        let fault = match self.call(tool, args) {
            Err(fault) => fault,
            Ok(answer) => panic!("{tool} was not refused: {answer}"),
        };
        assert_eq!(
            self.head(),
            before,
            "{tool} was refused and still wrote: {fault}"
        );
        fault
    }

    /// The place of the newest item, as the bare number that answers tell.
    #[track_caller]
    pub fn head(&self) -> i64 {
        self.engine
            .head(&self.caller)
            .expect("the head is readable")
            .0
    }

    /// Plans nodes with these summaries under the root; their ids.
    #[track_caller]
    pub fn plan(&self, summaries: &[&str]) -> Vec<String> {
        let nodes: Vec<Value> = summaries
            .iter()
            .enumerate()
            .map(|(at, summary)| serde_json::json!({"ref": at.to_string(), "summary": summary}))
            .collect();
        let answer = self.ok("graph_plan", serde_json::json!({ "nodes": nodes }));
        let created = answer["created"].as_array().expect("created");
        created
            .iter()
            .map(|node| node["id"].as_str().expect("id").to_string())
            .collect()
    }

    /// Makes a caller's session alive, as a process of it would be, until what this gives is dropped
    /// or, on a server, it was silent for too long.
    #[track_caller]
    pub fn alive(&self, caller: &Caller) -> Option<Seat> {
        let seat = self.engine.appear(caller).expect("a place");
        self.engine.arrive(caller, false, None).expect("it arrives");
        seat
    }

    /// Proves the log, and core against a replay.
    #[track_caller]
    pub fn verify(&self) -> Report {
        self.engine
            .verify(None, true, |_, _| {})
            .expect("the store can be verified")
    }

    /// Fails the test unless chain and core agree.
    #[track_caller]
    pub fn assert_sound(&self) {
        let report = self.verify();
        assert!(report.ok, "{report:?}");
    }

    /// An engine whose claims last this long.
    pub fn claims_last(&self, ttl: Duration) -> Engine {
        let options = Options {
            claim_ttl: ttl,
            ..self.options()
        };
        Engine::open(&self.backend.store(), options).expect("the store opens")
    }
}
