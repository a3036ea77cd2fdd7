//! What every transport shares: runs a tool, or reads what no tool reads, beside the others,
//! without holding up the messages, and without an internal error ending the process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use understory_engine::kernel::clock::{Clock as _, System};
use understory_engine::{Engine, Sought, handles, records};
use understory_model::answer::{self, Written};
use understory_model::budget::Budget;
use understory_model::{Caller, Code, Fault, limits};
use understory_tools::garden::entity::changes;
use understory_tools::threads::wait;
use understory_tools::{Access, Context, Tool, registry};

use self::heads::Heads;
use self::leases::Leases;
use self::receipts::Receipts;
pub use self::stop::stop_signal;
pub use self::transport::{Held, RequestName, Transport};
use self::turns::Turns;
use crate::limiter::{Limiter, Most, Place};
use crate::log;
use crate::pool::Pool;
use crate::store::Store;

mod batches;
pub mod heads;
mod leases;
mod receipts;
mod stop;
mod transport;
mod turns;
mod waits;

/// A read that takes longer than this is given a thread the next times.
const QUICK: Duration = Duration::from_millis(1);
/// The penalty of a slow call, in quick calls that make up for it, and of many.
const SLOW_CALL: u32 = 8;
const PENALTY_CAP: u32 = 64;

/// Handles that are looked for: one more than a client may be given.
const HANDLES: i64 = 101;

/// What is asked for.
pub enum Asked {
    Tool(&'static Tool, Value),
    /// A record with what is around it. The tool that answers this activates the record, and a
    /// resource must not write.
    Record(String),
    /// Handles that begin with these letters.
    Handles(Sought, String),
    /// The board that clients show as an app.
    Board,
}

impl Asked {
    /// Its place among those whose penalty is known: the registry's, and one for what is not a
    /// tool.
    fn place(&self) -> usize {
        let index = match self {
            Asked::Tool(tool, _) => registry::index(tool),
            Asked::Record(_) | Asked::Handles(..) | Asked::Board => None,
        };
        index.unwrap_or(registry::tools().len())
    }
}

/// One call.
pub struct Call {
    pub asked: Asked,
    pub caller: Caller,
    pub request: String,
    /// How long its caller waits for an answer.
    pub patience: Duration,
    /// The bytes that it came in, counted until it has ended, whether anybody still waits or not.
    pub held: Option<Held>,
}

/// How long a client of this name waits for an answer, at least: some say so to nobody and give up,
/// whatever they are told meanwhile; others go on as long as they hear that the call does.
pub fn patience(client: Option<&str>, told: bool) -> Duration {
    let gives_up = client.is_some_and(|name| name.starts_with("codex"));
    Duration::from_secs(if told && !gives_up {
        limits::WAIT_SECONDS_TOLD
    } else {
        limits::WAIT_SECONDS
    })
}

impl Call {
    /// Runs it, and says how long that took.
    fn metered(self, engine: &Engine, meter: Option<&Meter>) -> Result<Written, Fault> {
        let Some(meter) = meter else {
            return self.run(engine);
        };
        let (caller, begun) = (self.caller.clone(), Instant::now());
        let answer = self.run(engine);
        meter(&caller, begun.elapsed());
        answer
    }

    fn run(self, engine: &Engine) -> Result<Written, Fault> {
        let (caller, request_id) = (&self.caller, self.request.as_str());
        match self.asked {
            Asked::Tool(tool, arguments) => {
                let context = Context {
                    engine,
                    caller,
                    request_id,
                };
                guarded(tool.name, || registry::call(&context, tool, arguments))
            }
            Asked::Record(handle) => guarded("resources/read", || {
                let budget = Budget::default();
                let shown =
                    engine.view(caller, |view| records::show::show(view, &handle, &budget))?;
                answer::fit(shown, &budget)?.written()
            }),
            Asked::Handles(sought, begins) => guarded("completion/complete", || {
                Written::of(&engine.view(caller, |view| handles(view, sought, &begins, HANDLES))?)
            }),
            Asked::Board => guarded("resources/read", || {
                let context = Context {
                    engine,
                    caller,
                    request_id,
                };
                let workspace = engine.workspace(caller)?;
                let at = System.now();
                Written::of(&understory_page::board(context, workspace.name(), at)?)
            }),
        }
    }
}

/// An internal error ends the call, not the process. What it had begun in the store is undone.
fn guarded<T>(tool: &str, work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(
            Fault::new(Code::Internal, format!("internal error in {tool}"))
                .hint("The store is unharmed. Try again, and report it if it happens again."),
        )
    })
}

/// The tool of that name, or the fault that says which names are near.
pub fn find(name: &str) -> Result<&'static Tool, Fault> {
    registry::find(name).ok_or_else(|| registry::unknown(name))
}

/// A call that has ended, as much of it as may be counted and logged.
pub struct Ended<'a> {
    pub tool: &'static str,
    pub caller: &'a Caller,
    pub request: &'a str,
    /// Why it was refused, if it was.
    pub code: Option<Code>,
    pub took: Duration,
}

/// Is told of each call that has ended.
pub type Observer = dyn Fn(&Ended<'_>) + Send + Sync;

/// Is told how long a caller's call took, not counting waits.
pub type Meter = dyn Fn(&Caller, Duration) + Send + Sync;

/// Where calls run. A quick read is done by the thread that has the message in hand: handing it to
/// another and back costs as much as the read. Everything else (what writes waits for its commit)
/// has a thread of its own, so that calls do not wait for one another.
pub struct Calls {
    store: Arc<Store>,
    /// One for each of the registry's tools, and one for everything else.
    penalties: Arc<[Penalty]>,
    observer: Option<Box<Observer>>,
    meter: Option<Arc<Meter>>,
    turns: Turns,
    heads: Pool<String, Heads>,
    waits: Limiter,
    watched: Limiter,
    leases: Arc<Leases>,
    looking: waits::Looking,
    receipts: Receipts,
    /// Becomes true when nobody is to wait any longer.
    end: watch::Receiver<bool>,
}

impl Calls {
    pub fn new(store: Arc<Store>, end: watch::Receiver<bool>) -> Calls {
        Calls {
            observer: None,
            meter: None,
            turns: Turns::default(),
            heads: Pool::default(),
            waits: waits::limiter(),
            watched: Limiter::new(
                "watched resources",
                "Stop watching some of them first.",
                Most {
                    caller: limits::WATCHED_PER_CALLER,
                    workspace: limits::WATCHED_PER_WORKSPACE,
                    all: limits::WATCHED,
                },
            ),
            leases: Leases::new(&store),
            looking: waits::Looking::new(&store),
            receipts: Receipts::default(),
            end,
            penalties: registry::tools()
                .iter()
                .map(Penalty::of)
                .chain([Penalty::default()])
                .collect(),
            store,
        }
    }

    /// The same, with an observer of each call.
    pub fn observed(self, observer: Box<Observer>) -> Calls {
        Calls {
            observer: Some(observer),
            ..self
        }
    }

    /// The same, with somebody who is told how long each was at work.
    pub fn metered(self, meter: Arc<Meter>) -> Calls {
        Calls {
            meter: Some(meter),
            ..self
        }
    }

    /// A place among the resources that the caller watches.
    pub fn watched(&self, caller: &Caller) -> Result<Place, Fault> {
        self.watched.enter(caller)
    }

    /// The end of the caller's log, for all who follow it.
    pub fn heads(&self, caller: &Caller) -> Arc<Heads> {
        let make = || Heads::new(Arc::clone(&self.store), caller.clone());
        self.heads.get(&caller.workspace, make)
    }

    /// Runs a call, unless it is cancelled before it begins: nobody waits for it any more.
    pub async fn run(&self, call: Call, cancel: CancellationToken) -> Result<Written, Fault> {
        if let Asked::Tool(..) = call.asked {
            self.receipts.called(&self.store, &call.caller);
        }
        let (Some(observer), Asked::Tool(tool, _)) = (&self.observer, &call.asked) else {
            return self.run_unobserved(call, cancel).await;
        };
        let (tool, begun) = (tool.name, Instant::now());
        let (caller, request) = (call.caller.clone(), call.request.clone());
        let answer = self.run_unobserved(call, cancel).await;
        observer(&Ended {
            tool,
            caller: &caller,
            request: &request,
            code: answer.as_ref().err().map(|fault| fault.code),
            took: begun.elapsed(),
        });
        answer
    }

    async fn run_unobserved(
        &self,
        call: Call,
        cancel: CancellationToken,
    ) -> Result<Written, Fault> {
        if cancel.is_cancelled() {
            return Err(given_up());
        }
        if matches!(&call.asked, Asked::Tool(tool, _) if tool.name == wait::TOOL.name) {
            return self.wait(call, cancel).await;
        }
        if matches!(&call.asked, Asked::Tool(tool, args)
            if tool.name == changes::TOOL.name && changes::waits(args))
        {
            return self.wait_for_change(call, cancel).await;
        }
        let place = call.asked.place();
        // A server is asked over a connection that has a runtime of its own and must not be driven
        // by this one's thread.
        let at_hand = self.store.ready().filter(|engine| engine.is_embedded());
        if let (Some(engine), true) = (at_hand, self.penalties[place].is_quick()) {
            return self.penalties[place].measure(|| call.metered(engine, self.meter.as_deref()));
        }
        // Taken before the thread, and kept by it: a caller that leaves does not get another.
        let turn = self.turns.take(&call.caller).await;
        let (store, penalties) = (Arc::clone(&self.store), Arc::clone(&self.penalties));
        let meter = self.meter.clone();
        let work = move || {
            let _turn = turn;
            let engine = store.get()?;
            if cancel.is_cancelled() {
                return Err(given_up());
            }
            penalties[place].measure(|| call.metered(&engine, meter.as_deref()))
        };
        run_blocking(work).await
    }
}

/// Does something that may take long in a thread of its own.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        log::debug(format_args!("a call did not end: {error}"));
        let problem = "internal error: the call did not end";
        Err(Fault::new(Code::Internal, problem))
    })
}

/// The scheduling penalty of a tool: after a slow call it is given threads for a while.
#[derive(Default)]
struct Penalty {
    /// It may wait for a commit.
    waits: bool,
    /// Quick calls before it counts as quick again.
    points: AtomicU32,
}

impl Penalty {
    fn of(tool: &Tool) -> Penalty {
        Penalty {
            waits: tool.access != Access::Read,
            points: AtomicU32::new(0),
        }
    }

    fn is_quick(&self) -> bool {
        !self.waits && self.points.load(Ordering::Relaxed) == 0
    }

    fn measure<T>(&self, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        let points = self.points.load(Ordering::Relaxed);
        let points = if begun.elapsed() > QUICK {
            (points + SLOW_CALL).min(PENALTY_CAP)
        } else {
            points.saturating_sub(1)
        };
        self.points.store(points, Ordering::Relaxed);
        done
    }
}

fn given_up() -> Fault {
    Fault::new(Code::Cancelled, "the call was cancelled before it began")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_before_its_client_gives_up() {
        let most = |client, told| patience(client, told).as_secs();
        assert!(most(None, false) < 300 && most(Some("gemini-cli-mcp-client"), false) < 300);
        assert!(most(Some("codex-mcp-client"), true) < 300);
        assert!(most(Some("claude-code"), true) > 300);
    }

    #[test]
    fn a_slow_tool_is_given_threads_until_it_is_quick_again() {
        let tool = find("graph_onboard").unwrap();
        let penalty = Penalty::of(tool);
        assert!(penalty.is_quick());
        penalty.measure(|| std::thread::sleep(QUICK * 2));
        for _ in 0..SLOW_CALL {
            assert!(!penalty.is_quick());
            penalty.points.fetch_sub(1, Ordering::Relaxed);
        }
        assert!(penalty.is_quick());
        (0..100).for_each(|_| penalty.measure(|| std::thread::sleep(QUICK * 2)));
        assert_eq!(penalty.points.load(Ordering::Relaxed), PENALTY_CAP);
        assert!(
            !Penalty::of(find("graph_update").unwrap()).is_quick(),
            "it waits for its commit"
        );
    }

    #[test]
    fn a_panic_is_an_answer_that_tells_nothing() {
        let fault = guarded::<()>("x", || panic!("secret")).unwrap_err();
        assert_eq!(fault.code, Code::Internal);
        assert!(!fault.to_string().contains("secret"));
    }

    #[test]
    fn an_unknown_tool_is_answered_with_its_neighbours() {
        let fault = find("graph_onbord").err().unwrap();
        assert_eq!(fault.code, Code::NotFound);
        assert!(fault.hint.unwrap().contains("graph_onboard"));
        assert!(find(&"x".repeat(1000)).err().unwrap().message.len() < 100);
    }
}
