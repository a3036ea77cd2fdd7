//! What only the server knows and Proof and care shows, and what is done there beside the tools: proving the
//! log in the background, and signing a checkpoint of it.
//!
//! One proof runs at a time, because each reads a whole log.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::watch;
use understory_engine::Engine;
use understory_engine::kernel::clock::{Clock as _, System};
use understory_engine::system::verify::{Expected, Report};
use understory_model::{Caller, Code, Fault, Role, Seq, Time};
use understory_page as page;
use understory_page::{Finding, Proof, Proved, Running, Setting, Signed};

use crate::config::{Settings, Source};
use crate::token::checkpoint::{self, Checkpoint};
use crate::token::keys::Keys;

/// Checkpoints of a workspace that are kept for download.
const KEPT: usize = 20;
/// How often pages are told how far a proof is.
const TOLD: Duration = Duration::from_millis(500);

/// What a check-up finds.
pub type Examine = Box<dyn Fn(&Engine, &Caller) -> Vec<Finding> + Send + Sync>;

/// What a server knows beside its store.
pub struct Care {
    store: String,
    settings: Vec<Setting>,
    keys: PathBuf,
    examine: Examine,
    proofs: Mutex<HashMap<String, Known>>,
    /// Counts whatever pages have to show anew.
    changes: watch::Sender<u64>,
}

/// What is known of the proof of one workspace.
#[derive(Default)]
struct Known {
    running: Option<Running>,
    last: Option<Proved>,
    signed: Vec<(Signed, Checkpoint)>,
}

impl Care {
    /// Of these settings, as they may be shown to those who look after the server.
    pub fn new(settings: &Settings, person: &Caller, examine: Examine) -> Care {
        let shown = settings
            .shown()
            .into_iter()
            .map(|(name, value, source)| Setting {
                name: name.to_owned(),
                value: match (name, value.as_str()) {
                    ("workspace", "-") => Some(person.workspace.clone()),
                    ("agent", "-") => Some(person.agent.clone()),
                    ("role", "-") => Some(person.role.to_string()),
                    (_, "-") => None,
                    _ => Some(value),
                },
                set_by: source.to_string(),
                is_default: *source == Source::Default,
            });
        Care {
            store: settings.store.value.to_string(),
            settings: shown.collect(),
            examine,
            ..Care::without_settings(settings.keys.value.clone())
        }
    }

    /// Of a server without settings, which signs with the keys of a folder.
    pub fn without_settings(keys: PathBuf) -> Care {
        Care {
            store: String::new(),
            settings: Vec::new(),
            keys,
            examine: Box::new(|_, _| Vec::new()),
            proofs: Mutex::default(),
            changes: watch::Sender::new(0),
        }
    }

    /// As a page shows it; `looks_after` if it shows more than how far the log is proved.
    pub fn shown(
        &self,
        engine: &Engine,
        caller: &Caller,
        (workspace, looks_after): (&str, bool),
    ) -> page::Care {
        let proof = self.proof(workspace);
        if !looks_after {
            return page::Care {
                proof,
                ..page::Care::default()
            };
        }
        page::Care {
            store: self.store.clone(),
            settings: self.settings.clone(),
            findings: (self.examine)(engine, caller),
            proof,
        }
    }

    fn proof(&self, workspace: &str) -> Proof {
        let known = self.locked();
        let Some(known) = known.get(workspace) else {
            return Proof::default();
        };
        Proof {
            running: known.running.clone(),
            last: known.last.clone(),
            signed: known
                .signed
                .iter()
                .map(|(shown, _)| shown.clone())
                .collect(),
        }
    }

    /// Tells of each change of what is shown.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.proofs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, workspace: &str, work: impl FnOnce(&mut Known)) {
        work(self.locked().entry(workspace.to_owned()).or_default());
        self.changes.send_modify(|count| *count += 1);
    }

    /// What a pasted text of checkpoints says that the log must hold; none of them counts without a
    /// signature by a key of this store.
    fn expected(&self, workspace: &str, text: &str) -> Result<Vec<Expected>, Fault> {
        let keys = Keys::in_folder(&self.keys);
        let mut known = keys.public()?;
        known.extend(keys.retired()?);
        let read =
            checkpoint::read(text).map_err(|fault| Fault::invalid("checkpoint", fault.message))?;
        let ours = read.into_iter().filter(|one| one.workspace == workspace);
        let mut expected = Vec::new();
        for one in ours {
            if !one.is_signed_by(&known) {
                let problem = "proves nothing: no key of this store signed it as it is";
                return Err(Fault::invalid("checkpoint", problem));
            }
            expected.push(one.expected()?);
        }
        match expected.is_empty() {
            true => Err(Fault::invalid("checkpoint", "is of another workspace")),
            false => Ok(expected),
        }
    }

    /// Begins a proof, if none runs.
    fn begin(self: &Arc<Care>, workspace: &str, by: &str) -> Result<Turn, Fault> {
        let since = System.now();
        {
            let mut known = self.locked();
            if known.values().any(|known| known.running.is_some()) {
                let problem = "a proof is running already";
                return Err(Fault::conflict(problem).hint("It is shown here when it has ended."));
            }
            known.entry(workspace.to_owned()).or_default().running = Some(Running {
                done: 0,
                since,
                by: by.to_owned(),
            });
        }
        self.changes.send_modify(|count| *count += 1);
        Ok(Turn {
            care: Arc::clone(self),
            workspace: workspace.to_owned(),
            since,
            told: Instant::now(),
        })
    }

    /// Proves the caller's log on a thread of its own; it must also hold what was signed here, and what a
    /// pasted checkpoint says.
    pub fn prove(
        self: &Arc<Care>,
        engine: Arc<Engine>,
        caller: &Caller,
        pasted: Option<&str>,
    ) -> Result<(), Fault> {
        let workspace = name_of(&engine, caller);
        let mut expected: Vec<Expected> = Vec::new();
        for (_, one) in self
            .locked()
            .get(&workspace)
            .iter()
            .flat_map(|known| &known.signed)
        {
            expected.push(one.expected()?);
        }
        if let Some(text) = pasted {
            expected.extend(self.expected(&workspace, text)?);
        }
        let turn = self.begin(&workspace, &caller.agent)?;
        tokio::task::spawn_blocking(move || turn.prove(&engine, &expected));
        Ok(())
    }

    /// Proves the caller's log and signs what it is; the place up to which that counts.
    pub fn sign(self: &Arc<Care>, engine: &Engine, caller: &Caller) -> Result<Seq, Fault> {
        let workspace = name_of(engine, caller);
        let mut turn = self.begin(&workspace, &caller.agent)?;
        let key = Keys::in_folder(&self.keys).signing()?;
        let points = engine.checkpoints(Some(&workspace), |_, seq| turn.tell(seq))?;
        let point = points.into_iter().next();
        let point = point.ok_or_else(|| Fault::not_found("nothing is written yet"))?;
        let (seq, at) = (point.seq, point.at);
        let signed = Checkpoint::sign(point, &key)?;
        let shown = Signed {
            at,
            seq: seq.0,
            head: signed.head.clone(),
            kid: signed.kid.clone(),
        };
        self.change(&workspace, |known| {
            known.signed.retain(|(other, _)| other.seq != seq.0);
            known.signed.insert(0, (shown, signed));
            known.signed.truncate(KEPT);
        });
        Ok(seq)
    }

    /// A checkpoint as its file has it.
    pub fn checkpoint(&self, workspace: &str, seq: i64) -> Option<String> {
        let known = self.locked();
        let signed = &known.get(workspace)?.signed;
        let (_, found) = signed.iter().find(|(shown, _)| shown.seq == seq)?;
        Some(format!("{}\n", json!(found)))
    }
}

/// Whether a role may have the log proved.
pub fn may_prove(role: Role) -> Result<(), Fault> {
    match role {
        Role::Operator | Role::Orchestrator | Role::Auditor => Ok(()),
        Role::Worker => Err(not_for(role, "prove the log")),
    }
}

/// Whether a role may sign what the log is.
pub fn may_sign(role: Role) -> Result<(), Fault> {
    match role {
        Role::Operator => Ok(()),
        _ => Err(not_for(role, "sign a checkpoint")),
    }
}

fn not_for(role: Role, what: &str) -> Fault {
    Fault::new(Code::Forbidden, format!("you may not {what}"))
        .hint(format!("You are here as {role}; ask an operator."))
}

fn name_of(engine: &Engine, caller: &Caller) -> String {
    let found = engine.workspace(caller);
    found.map_or_else(
        |_| caller.workspace.clone(),
        |found| found.name().to_owned(),
    )
}

/// The one proof that runs; when it goes, whatever became of it, another may begin.
struct Turn {
    care: Arc<Care>,
    workspace: String,
    since: Time,
    told: Instant,
}

impl Turn {
    fn tell(&mut self, seq: Seq) {
        if self.told.elapsed() < TOLD {
            return;
        }
        self.told = Instant::now();
        self.care.change(&self.workspace, |known| {
            if let Some(running) = &mut known.running {
                running.done = seq.0;
            }
        });
    }

    fn prove(mut self, engine: &Engine, expected: &[Expected]) {
        let workspace = self.workspace.clone();
        let report =
            engine.verify_against(Some(&workspace), false, expected, |_, seq| self.tell(seq));
        let faults = engine.faults();
        let now = System.now();
        let proved = proved(report, faults, (self.since, now), expected.len());
        self.care.change(&workspace, |known| {
            known.running = None;
            known.last = Some(proved);
        });
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.care
            .change(&self.workspace, |known| known.running = None);
    }
}

/// What a proof came to; that it failed is told like a break.
fn proved(
    report: Result<Report, Fault>,
    faults: Result<Vec<String>, Fault>,
    (since, now): (Time, Time),
    checkpoints: usize,
) -> Proved {
    let mut proved = Proved {
        at: now,
        took_ms: (now.0 - since.0) / 1_000,
        items: 0,
        head: String::new(),
        breaks: Vec::new(),
        faults: faults.unwrap_or_else(|fault| vec![fault.message]),
        checkpoints,
    };
    match report {
        Ok(report) => {
            for proof in report.workspaces {
                (proved.items, proved.head) = (proof.items, proof.head);
                proved.breaks.extend(proof.breaks);
            }
        }
        Err(fault) => proved.faults.push(fault.message),
    }
    proved
}
