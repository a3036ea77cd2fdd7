//! `understory verify`: proves that the log is what was written, that what is derived from it is
//! what the log says, and that it extends what was known of it earlier.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use understory_engine::system::verify::{Expected, Proof, Report};
use understory_model::text::quoted;
use understory_model::{Code, Fault, Seq};

use super::progress::Progress;
use super::render::words::count;
use super::text::{Style, Text};
use super::{CommandContext, Here, Outcome};
use crate::object::with;
use crate::token::checkpoint::{self, Checkpoint};
use crate::token::jwk::Public;
use crate::token::keys::Keys;

const EXAMPLES: &str = "\
Examples:
  understory verify                     every workspace of the store, and core against a replay
  understory verify --shallow           the chain alone: faster
  understory verify --workspace app
  understory verify --json | jq '.workspaces[].breaks'
  understory verify --workspace app --head 42:5feceb66…   the log still holds this head, at #42
  understory verify --checkpoint app.checkpoint           and what was signed then
  understory verify --checkpoint app.checkpoint --key keys.json --signature-only

A chain that was written anew from the beginning proves by itself: only a head or a checkpoint that was
kept elsewhere shows it. Give the public key with --key, from where you keep it: whoever can write the
store may have changed the key files too.

It ends with 1 when something is not what it was, and names the workspace and the seq.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Prove only the log, not the tables derived from it
    #[arg(long)]
    shallow: bool,
    /// A head that the log of --workspace must contain, as `[SEQ:]HASH`
    #[arg(long, value_name = "[SEQ:]HASH")]
    head: Vec<String>,
    /// A file of checkpoints that the logs must extend; can be repeated
    #[arg(long, value_name = "FILE")]
    checkpoint: Vec<PathBuf>,
    /// The public keys to check them with (JSON key set or PEM; default: the store's)
    #[arg(long, value_name = "FILE", requires = "checkpoint")]
    key: Option<PathBuf>,
    /// Check only the signatures of the checkpoints; needs no store
    #[arg(long, requires = "checkpoint", conflicts_with_all = ["head", "shallow"])]
    signature_only: bool,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let signed = self.signed(here)?;
        if self.signature_only {
            show_signed(here, &signed);
            return Ok(ExitCode::SUCCESS);
        }
        let context = here.context()?;
        there(&context, "prove")?;
        let only = here.flags.workspace.as_deref();
        let mut expected: Vec<Expected> = Vec::new();
        for head in &self.head {
            let workspace = only.ok_or_else(|| Fault::invalid("head", "needs --workspace"))?;
            expected.push(expected_head(workspace, head)?);
        }
        for one in signed.iter().map(|signed| &signed.checkpoint) {
            expected.push(one.expected()?);
        }
        let report = proved(&context, only, !self.shallow, &expected)?;
        if here.out.json {
            here.out.value(&json!(report));
        } else {
            show(here, &report);
            show_signed(here, &signed);
        }
        Ok(if report.ok {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

/// A checkpoint whose signature is good, and whether its key was retired since.
struct Signed {
    checkpoint: Checkpoint,
    retired: bool,
}

impl Args {
    /// The checkpoints, each signed by a key that counts.
    fn signed(&self, here: &Here) -> Result<Vec<Signed>, Fault> {
        if self.checkpoint.is_empty() {
            return Ok(Vec::new());
        }
        let (keys, retired) = match &self.key {
            Some(path) => (checkpoint::read_keys(&text(path)?)?, Vec::new()),
            None => {
                let keys = Keys::in_folder(&here.settings()?.keys.value);
                (keys.public()?, keys.retired()?)
            }
        };
        let mut all = Vec::new();
        let only = here.flags.workspace.as_deref();
        for path in &self.checkpoint {
            let mut read = checkpoint::read(&text(path)?)?;
            read.retain(|one| only.is_none_or(|name| name == one.workspace));
            if read.is_empty() {
                let problem = format!("{} has none of this workspace", path.display());
                return Err(Fault::invalid("checkpoint", problem));
            }
            for checkpoint in read {
                let was = checkpoint.is_signed_by(&retired);
                if !was && !checkpoint.is_signed_by(&keys) {
                    return Err(forged(path, &checkpoint, &keys));
                }
                all.push(Signed {
                    checkpoint,
                    retired: was,
                });
            }
        }
        Ok(all)
    }
}

fn text(path: &Path) -> Result<String, Fault> {
    std::fs::read_to_string(path).map_err(|error| {
        let problem = format!("{} cannot be read: {error}", path.display());
        Fault::new(Code::Validation, problem)
    })
}

fn forged(path: &Path, checkpoint: &Checkpoint, keys: &[(String, Public)]) -> Fault {
    let Checkpoint {
        workspace,
        seq,
        kid,
        ..
    } = checkpoint;
    let why = if keys.iter().any(|(known, _)| known == kid) {
        "its signature is not valid"
    } else {
        "the key that it names is not known"
    };
    let problem = format!(
        "{}: the checkpoint of {} at #{seq}, key {}, proves nothing: {why}",
        path.display(),
        quoted(workspace),
        quoted(kid)
    );
    // A proof that does not hold ends with 1.
    Fault::new(Code::Unauthorized, problem)
        .hint("--key names a file with the public key; `understory token keys --public` prints it.")
}

/// `HASH` or `SEQ:HASH`.
fn expected_head(workspace: &str, text: &str) -> Result<Expected, Fault> {
    let (seq, hash) = match text.split_once(':') {
        Some((seq, hash)) => (
            Some(seq.trim_start_matches('#').parse().ok().map(Seq)),
            hash,
        ),
        None => (None, text),
    };
    let link = checkpoint::link(hash);
    match (seq, link) {
        (Some(None), _) | (_, None) => {
            let problem = "must be the 64 hexadecimal digits of a head, or SEQ:HASH";
            Err(Fault::invalid("head", problem))
        }
        (seq, Some(link)) => Ok(Expected {
            workspace: workspace.to_owned(),
            seq: seq.flatten(),
            link,
        }),
    }
}

fn show_signed(here: &Here, signed: &[Signed]) {
    for Signed {
        checkpoint,
        retired,
    } in signed
    {
        if here.out.json {
            let told = with(json!(checkpoint), [("retired_key", (*retired).into())]);
            here.out.value(&told);
            continue;
        }
        let Checkpoint {
            workspace,
            seq,
            time,
            kid,
            ..
        } = checkpoint;
        let since = if *retired {
            ", which was retired since"
        } else {
            ""
        };
        let line = verdict(true).plain(format!("the signature of {workspace} #{seq}, {time}, "));
        here.out.line(line.plain(format!("by key {kid}{since}")));
    }
}

/// Refuses to say that nothing is in order.
pub fn there(context: &CommandContext, what: &str) -> Result<(), Fault> {
    match context.engine.state()? {
        Some(_) => Ok(()),
        None => Err(Fault::not_found(format!(
            "there is no store at {}: nothing to {what}",
            context.settings.store.value
        ))
        .hint("Name another with --store or UNDERSTORY_STORE.")),
    }
}

/// Proves a store, telling somebody at a terminal how far it is.
pub fn proved(
    context: &CommandContext,
    only: Option<&str>,
    deep: bool,
    expected: &[Expected],
) -> Result<Report, Fault> {
    let mut progress = Progress::new();
    let tell = |workspace: &str, seq: Seq| {
        progress.tell(|| format!("{workspace}: checked up to #{seq}"));
    };
    context.engine.verify_against(only, deep, expected, tell)
}

/// What was proved, a line a workspace.
pub fn show(here: &Here, report: &Report) {
    let out = &here.out;
    for proof in &report.workspaces {
        show_proof(here, proof);
    }
    match &report.core {
        None => {}
        Some(tables) if tables.is_empty() => {
            out.line(verdict(true).plain("core is what a replay of the log gives"))
        }
        Some(tables) => {
            let tables = tables.join(", ");
            out.line(verdict(false).plain(format!("core is not what the log says: {tables}")));
            out.hint("        The log itself decides: `understory rebuild` derives core anew.");
        }
    }
    if report.workspaces.is_empty() {
        out.line("The store has no workspace yet: there is nothing to prove.");
    }
}

fn show_proof(here: &Here, proof: &Proof) {
    let out = &here.out;
    let head: String = proof.head.chars().take(16).collect();
    let line = verdict(proof.ok).bold(&proof.workspace);
    let line = line.plain(format!("  {}", count(proof.items, "item")));
    out.line(line.dim(format!("  head {head}…")));
    for found in &proof.breaks {
        out.line(
            Text::from("        ")
                .add(Style::Bad, format!("{} #{}", proof.workspace, found.seq))
                .plain(format!(": {}", found.what)),
        );
    }
}

/// `ok` or `BROKEN`, in a column of its own.
fn verdict(ok: bool) -> Text {
    if ok {
        Text::new().add(Style::Good, "ok").plain("      ")
    } else {
        Text::new().add(Style::Bad, "BROKEN").plain("  ")
    }
}
