//! `understory checkpoint`: signs what each log is now. Kept where whoever can write the store cannot,
//! it proves later that nothing before it was changed or cut off.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use understory_model::{Code, Fault};

use super::progress::Progress;
use super::verify::there;
use super::{Here, Outcome};
use crate::token::checkpoint::Checkpoint;
use crate::token::keys::Keys;

const EXAMPLES: &str = "\
Examples:
  understory checkpoint                                  one line of JSON for each workspace
  understory checkpoint --workspace shop --out shop.checkpoint
  understory checkpoint >> /mnt/elsewhere/checkpoints    keep them on another machine
  understory verify --checkpoint shop.checkpoint

Each log is proved before it is signed. The signature (Ed25519, by the key that also signs tokens) is
over these seven lines, each with its line break:
  understory.checkpoint.1
  store <store>
  workspace <workspace>
  seq <seq>
  head <head>
  time <time>
  kid <kid>";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Write to this new file (default: standard output)
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        there(&context, "sign")?;
        let mut progress = Progress::new();
        let only = here.flags.workspace.as_deref();
        let points = context.engine.checkpoints(only, |workspace, seq| {
            progress.tell(|| format!("{workspace}: checked up to #{seq}"));
        })?;
        let key = Keys::in_folder(&context.settings.keys.value).signing()?;
        let mut lines = String::new();
        let count = points.len();
        for point in points {
            let signed = Checkpoint::sign(point, &key)?;
            lines.push_str(&json!(signed).to_string());
            lines.push('\n');
        }
        match &self.out {
            None => here.out.bytes(lines.as_bytes()),
            Some(path) => {
                let made = std::fs::File::create_new(path);
                made.and_then(|mut file| std::io::Write::write_all(&mut file, lines.as_bytes()))
                    .map_err(|error| unwritten(path, &error))?;
                let told = format!("Signed {count} by key {} in {}.", key.kid(), path.display());
                here.out.line(told);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn unwritten(path: &std::path::Path, error: &std::io::Error) -> Fault {
    let problem = format!("{} cannot be written: {error}", path.display());
    Fault::new(Code::Validation, problem).hint("Name a file that does not exist yet.")
}
