//! `understory backup`: a copy of a SQLite store as of one moment, proved before it is called one.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use understory_engine::system::verify::Report;
use understory_engine::{Engine, Options, files};
use understory_model::{Code, Fault};

use super::progress::Progress;
use super::render::words::{count, size};
use super::verify::there;
use super::{CommandContext, Here, Outcome};

const EXAMPLES: &str = "\
Examples:
  understory backup understory-2026-11-03.db
  understory verify --store understory-2026-11-03.db

The store may be in use. An existing file is never overwritten. A PostgreSQL store is backed up
with `pg_dump --format=custom`.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The new file
    file: PathBuf,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let context = here.context()?;
        there(&context, "copy")?;
        let file = here.around.folder.join(&self.file);
        let target = Target::reserve(&file)?;
        let report = copy(&context, &file)?;
        let bytes = target.keep()?;
        let items: i64 = report.workspaces.iter().map(|proof| proof.items).sum();
        if here.out.json {
            let file = file.to_string_lossy();
            here.out
                .value(&json!({ "file": file, "size_bytes": bytes, "items": items }));
        } else {
            here.out.line(format!(
                "{}: {}, {} of {}, proved.",
                self.file.display(),
                size(bytes),
                count(items, "item"),
                count(report.workspaces.len() as i64, "workspace"),
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn copy(context: &CommandContext, to: &Path) -> Result<Report, Fault> {
    let mut progress = Progress::new();
    context.engine.backup(to, |done, all| {
        let percent = done.saturating_mul(100) / all.max(1);
        progress.tell(|| format!("copied {percent} %"));
    })?;
    let copy = Engine::open(&to.to_string_lossy(), Options::default())?;
    let report = copy.verify(None, false, |workspace, seq| {
        progress.tell(|| format!("{workspace}: checked up to #{seq}"));
    })?;
    if !report.ok {
        return Err(Fault::new(
            Code::StoreCorrupt,
            "the log does not hold, so its copy was not kept",
        )
        .hint("`understory verify` names the place; keep the last good backup."));
    }
    Ok(report)
}

/// A file that is ours from the start, so that nobody's is overwritten, and that is gone again
/// unless it became a backup.
struct Target<'a> {
    path: &'a Path,
    kept: bool,
}

impl Target<'_> {
    fn reserve(path: &Path) -> Result<Target<'_>, Fault> {
        let shown = path.display();
        match files::create_private(path) {
            Ok(_) => Ok(Target { path, kept: false }),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(
                Fault::conflict(format!("{shown} exists and is not overwritten"))
                    .hint("Name a new file."),
            ),
            Err(error) => Err(Fault::new(
                Code::Validation,
                format!("{shown}: cannot be made: {error}"),
            )
            .hint("Name a file in a folder that exists and that you may write to.")),
        }
    }

    /// Makes the copy last; its size.
    fn keep(mut self) -> Result<i64, Fault> {
        let synced = File::open(self.path).and_then(|file| {
            file.sync_all()?;
            file.metadata()
        });
        let data = synced.map_err(|error| {
            Fault::new(
                Code::StoreUnavailable,
                format!("{}: cannot be kept: {error}", self.path.display()),
            )
        })?;
        self.kept = true;
        Ok(i64::try_from(data.len()).unwrap_or(i64::MAX))
    }
}

impl Drop for Target<'_> {
    fn drop(&mut self) {
        for ending in ["-wal", "-shm"] {
            let mut beside = self.path.as_os_str().to_owned();
            beside.push(ending);
            let _ = std::fs::remove_file(beside);
        }
        if !self.kept {
            let _ = std::fs::remove_file(self.path);
        }
    }
}
