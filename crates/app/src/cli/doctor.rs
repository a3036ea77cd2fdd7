//! `understory doctor`: looks for what is wrong, and says what to do. It changes nothing, except
//! with `--fix` the permissions of files that Understory made.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use serde_json::{Value, json};
use understory_engine::Engine;
use understory_engine::kernel::meaning::{QUESTION, Seen};
use understory_engine::kernel::quota;
use understory_engine::system::status::State;
use understory_model::{Caller, Code, Fault, Time};

use super::render::words::{count, size};
use super::text::{Style, Text};
use super::{CommandContext, Here, Outcome};
use crate::clash;
use crate::config::Settings;

mod permissions;
mod secrets;
mod served;

pub use served::without_a_trace;

const EXAMPLES: &str = "\
Examples:
  understory doctor
  understory doctor --fix
  understory doctor --secrets
  understory doctor --json | jq '.checks[] | select(.result != \"ok\")'

It ends with 1 when a check fails; a warning is not a failure.";

/// Where what was found begins.
const HANG: usize = 18;
/// Less room than this is soon none.
const LITTLE: u64 = 100 << 20;
/// Items with credentials that are listed.
const FEW_SECRETS: i64 = 5;
/// … and listed by `--secrets`.
const LISTED_SECRETS: usize = 10_000;
/// How far the log may be ahead of the clock before it is worth a word.
const AHEAD: i64 = 2_000_000;
/// No clock that is right says less: 2025-01-01.
const EARLIEST: i64 = 1_735_689_600_000_000;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Remove other users' access to the store, its files and the keys
    #[arg(long)]
    fix: bool,
    /// Search every workspace you may read for credentials, and list the items that hold one:
    /// where it is and of what kind, never the credential itself
    #[arg(long)]
    secrets: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Ok,
    Warn,
    Fail,
}

/// What one check found, and what to do about it.
struct Check {
    name: &'static str,
    verdict: Verdict,
    found: String,
    advice: Option<String>,
}

fn ok(name: &'static str, found: impl Into<String>) -> Check {
    Check {
        name,
        verdict: Verdict::Ok,
        found: found.into(),
        advice: None,
    }
}

fn warn(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Check {
    Check {
        verdict: Verdict::Warn,
        advice: Some(advice.into()),
        ..ok(name, found)
    }
}

fn fail(name: &'static str, fault: &Fault) -> Check {
    Check {
        verdict: Verdict::Fail,
        advice: fault.hint.clone(),
        ..ok(name, &fault.message)
    }
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let checks = examine(here, &self);
        if here.out.json {
            let checks: Vec<Value> = checks.iter().map(Check::json).collect();
            here.out.value(&json!({ "checks": checks }));
        } else {
            checks.iter().for_each(|check| check.show(here));
        }
        let failed = checks.iter().any(|check| check.verdict == Verdict::Fail);
        Ok(if failed {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}

impl Check {
    fn json(&self) -> Value {
        let result = match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Warn => "warn",
            Verdict::Fail => "fail",
        };
        json!({ "check": self.name, "result": result, "found": self.found, "advice": self.advice })
    }

    fn show(&self, here: &Here) {
        let (style, word) = match self.verdict {
            Verdict::Ok => (Style::Good, "ok  "),
            Verdict::Warn => (Style::Warn, "warn"),
            Verdict::Fail => (Style::Bad, "FAIL"),
        };
        let head = Text::new()
            .add(style, word)
            .plain(format!("  {:<12}", self.name));
        here.out.hanging(head.plain(&self.found), HANG);
        if let Some(advice) = &self.advice {
            let start = Text::from(" ".repeat(HANG));
            here.out.hanging(start.dim(format!("→ {advice}")), HANG);
        }
    }
}

fn examine(here: &Here, asked: &Args) -> Vec<Check> {
    let mut checks = vec![program()];
    let settings = match here.settings() {
        Ok(settings) => settings,
        Err(fault) => {
            checks.push(fail("settings", &fault));
            return checks;
        }
    };
    let sources: Vec<String> = settings
        .shown()
        .into_iter()
        .filter(|(_, _, source)| **source != crate::config::Source::Default)
        .map(|(name, _, source)| format!("{name} by {source}"))
        .collect();
    let found = match sources.as_slice() {
        [] => "all by default".to_owned(),
        sources => sources.join(", "),
    };
    checks.push(ok("settings", found));
    let ignored = settings.ignored.iter();
    checks.extend(ignored.map(|one| warn("settings", one.to_string(), one.advice())));
    checks.extend(place(&settings));
    checks.extend(permissions::check(&settings, &here.around, asked.fix));
    match here.context() {
        Ok(context) => {
            inside(&context, &mut checks);
            checks.push(if asked.secrets {
                secrets::scan(&context)
            } else {
                credentials(&context)
            });
        }
        Err(fault) => checks.push(fail("store", &fault)),
    }
    checks
}

/// Items that hold what looks like a credential: which, of what kind, by whom and when.
fn credentials(context: &CommandContext) -> Check {
    const NAME: &str = "secrets";
    let (items, newest) = match context.engine.credentials(&context.caller, FEW_SECRETS) {
        Ok(found) => found,
        Err(fault) => return fail(NAME, &fault),
    };
    if items == 0 {
        return ok(NAME, "nothing stored looks like a credential");
    }
    let told: Vec<String> = newest.iter().map(secrets::line).collect();
    let found = format!(
        "{} with what looks like a credential: {}",
        count(items, "item"),
        told.join("; ")
    );
    let advice = "Change each credential where it is valid, then erase it: \
                  understory purge --credentials --reason … --dry-run (all of them), \
                  or name items. `understory doctor --secrets` looks through everything.";
    warn(NAME, found, advice)
}

/// The program that an agent's configuration names.
fn program() -> Check {
    const NAME: &str = "program";
    let Ok(this) = std::env::current_exe() else {
        return warn(
            NAME,
            "where this program is cannot be seen",
            "Name it by its whole path.",
        );
    };
    let found = format!("{} {}", this.display(), env!("CARGO_PKG_VERSION"));
    let same = |path: &Path| path.canonicalize().ok() == this.canonicalize().ok();
    match on_path() {
        Some(other) if same(&other) => ok(NAME, found),
        Some(other) => warn(
            NAME,
            format!(
                "{found}, but `understory` on the PATH is {}",
                other.display()
            ),
            format!(
                "An agent that should use this one names {} mcp.",
                this.display()
            ),
        ),
        None => ok(NAME, format!("{found}, not on the PATH")),
    }
}

fn on_path() -> Option<PathBuf> {
    let name = format!("understory{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(&name))
        .find(|file| file.is_file())
}

/// The folder of a SQLite file: whether it can be written, and how much room there is.
fn place(settings: &Settings) -> Vec<Check> {
    let Some(folder) = folder_of(settings) else {
        return Vec::new();
    };
    let file = Path::new(settings.store.value.reveal());
    let mut checks = vec![match writable(folder, file) {
        Ok(()) => ok("folder", format!("{} can be written", folder.display())),
        Err(error) => fail(
            "folder",
            &Fault::new(
                Code::StoreUnavailable,
                format!("{}: {error}", folder.display()),
            )
            .hint("Change its permissions, or name another store with --store."),
        ),
    }];
    checks.extend(room(folder));
    checks
}

/// The nearest folder that there is, of a store that is a file.
fn folder_of(settings: &Settings) -> Option<&Path> {
    let address = settings.store.value.reveal();
    if address.contains("://") {
        return None;
    }
    let mut folders = Path::new(address).ancestors().skip(1);
    folders.find(|folder| folder.is_dir())
}

/// Tries with a file of its own beside the store, which it takes away again.
fn writable(folder: &Path, file: &Path) -> std::io::Result<()> {
    if file.is_file() {
        std::fs::OpenOptions::new().append(true).open(file)?;
    }
    let probe = folder.join(format!(".understory-doctor-{}", std::process::id()));
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&probe)?;
    std::fs::remove_file(&probe)
}

#[cfg(unix)]
fn room(folder: &Path) -> Option<Check> {
    let found = rustix::fs::statvfs(folder).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let said = format!("{} free", size(i64::try_from(free).unwrap_or(i64::MAX)));
    Some(if free < LITTLE {
        warn(
            "disk",
            said,
            "Make room: a full disk refuses writes, and loses none.",
        )
    } else {
        ok("disk", said)
    })
}

#[cfg(not(unix))]
fn room(_: &Path) -> Option<Check> {
    None
}

fn inside(context: &CommandContext, checks: &mut Vec<Check>) {
    let state = match context.engine.state() {
        Ok(Some(state)) => state,
        Ok(None) => {
            let found = format!("{} is not there yet", context.settings.store.value);
            checks.push(warn(
                "store",
                found,
                "The first write makes it; nothing is to be done.",
            ));
            checks.push(clock(context.clock.now, None));
            return;
        }
        Err(fault) => return checks.push(fail("store", &fault)),
    };
    checks.push(ok(
        "store",
        format!(
            "{}: {}, {}",
            context.settings.store.value,
            state.engine,
            size(state.size)
        ),
    ));
    checks.push(ok(
        "versions",
        format!("log {}, core {}", state.soil_version, state.core_version),
    ));
    checks.extend(quotas(&context.engine, &context.caller));
    checks.push(match context.engine.faults() {
        Ok(faults) if faults.is_empty() => ok("integrity", "the database finds no fault in itself"),
        Ok(faults) => fail(
            "integrity",
            &Fault::new(Code::StoreCorrupt, faults.join("; "))
                .hint("Keep a copy of the file, then restore the last backup."),
        ),
        Err(fault) => fail("integrity", &fault),
    });
    checks.push(chain(context));
    checks.push(workspace(&context.engine, &context.caller, &state));
    checks.push(clock(context.clock.now, Some(&state)));
    checks.extend(embedding(context));
}

/// The external model, if there is one: asked for the vector of a text of ours.
fn embedding(context: &CommandContext) -> Option<Check> {
    const NAME: &str = "embedding";
    let embedder = context.engine.embedder()?;
    let begun = Instant::now();
    let asked = embedder.embed(&["Does anybody answer?".to_owned()], QUESTION);
    let seen = context.engine.embedded(&context.caller);
    Some(match (asked, seen) {
        (Err(fault), _) => warn(
            NAME,
            fault.message,
            format!(
                "{} Until then search is by the built-in model.",
                fault.hint.unwrap_or_default()
            ),
        ),
        (_, Err(fault)) => fail(NAME, &fault),
        (Ok(vectors), Ok(seen)) => {
            let Seen { texts, embedded } = seen.unwrap_or_default();
            let found = format!(
                "{}: {} numbers in {} ms, {embedded} of {texts} texts",
                embedder.model(),
                vectors.first().map_or(0, Vec::len),
                begun.elapsed().as_millis(),
            );
            if embedded < texts {
                warn(
                    NAME,
                    found,
                    "`understory embed` has the others embedded now.",
                )
            } else {
                ok(NAME, found)
            }
        }
    })
}

/// The chain alone: quick enough to be part of every check-up.
fn chain(context: &CommandContext) -> Check {
    match super::verify::proved(context, None, false, &[]) {
        Ok(report) => {
            let items: i64 = report.workspaces.iter().map(|proof| proof.items).sum();
            let broken = report
                .workspaces
                .iter()
                .find_map(|proof| Some((&proof.workspace, proof.breaks.first()?)));
            match broken {
                None => ok("log", format!("{} proved", count(items, "item"))),
                Some((name, found)) => fail(
                    "log",
                    &Fault::new(
                        Code::StoreCorrupt,
                        format!("{name} #{}: {}", found.seq, found.what),
                    )
                    .hint("`understory verify` tells all of it."),
                ),
            }
        }
        Err(fault) => fail("log", &fault),
    }
}

fn workspace(engine: &Engine, caller: &Caller, state: &State) -> Check {
    const NAME: &str = "workspace";
    match engine.workspace(caller) {
        Ok(found) => {
            if let Ok(Some(clash)) = engine.clash(caller) {
                return warn(NAME, clash::why(&clash), clash::join(&clash));
            }
            let known = state.logs.iter().any(|log| log.workspace == found.name());
            let new = if known { "" } else { ", not written to yet" };
            ok(NAME, format!("{}{new}", found.name()))
        }
        Err(fault) => fail(NAME, &fault),
    }
}

/// Told when 90 percent of one are used.
fn quotas(engine: &Engine, caller: &Caller) -> Option<Check> {
    const NAME: &str = "quota";
    let near = engine.view(caller, quota::near);
    let near = match near {
        Ok(near) => near,
        Err(fault) => return Some(fail(NAME, &fault)),
    };
    let told = near
        .iter()
        .map(|one| format!("{} of {} {}", one.used, one.max, one.what));
    let told: Vec<String> = told.collect();
    let advice = "Raise quota_items, quota_bytes or quota_threads before writes are refused.";
    (!told.is_empty()).then(|| warn(NAME, told.join(", "), advice))
}

/// A log never goes back in time, so a clock that does shows in its entries.
fn clock(now: Time, state: Option<&State>) -> Check {
    const NAME: &str = "clock";
    if now.0 < EARLIEST {
        return warn(NAME, format!("it says {now}"), "Set the machine's clock.");
    }
    let newest = state.and_then(|state| state.logs.iter().map(|log| log.updated_at).max());
    match newest {
        Some(newest) if newest.0 - now.0 > AHEAD => warn(
            NAME,
            format!("it says {now}, but the newest item is of {newest}"),
            "Set the clock; until then new items get the time of the newest.",
        ),
        _ => ok(NAME, "not behind the log"),
    }
}
