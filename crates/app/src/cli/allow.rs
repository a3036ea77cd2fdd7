//! `understory allow`: a person's word that a repository may keep its store inside itself, or that
//! a folder shares a workspace which another made. An agent's shell cannot give it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use understory_engine::Resolved;
use understory_model::{Caller, Code, Fault};

use super::text::Text;
use super::{Here, Outcome};
use crate::allowed::{Allowed, Entry, Known};
use crate::client;
use crate::config::{self, File, Source};
use crate::identity::{Identity, is_name};
use crate::origin::Place;
use crate::store::Store;

const EXAMPLES: &str = "\
Examples:
  understory allow                     the store that this repository's understory.toml names
  understory allow --workspace bank    this folder shares the workspace bank
  understory allow --list
  understory allow --revoke

Read the file first. A change of the file needs to be allowed again.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The settings file or its folder (default: the nearest one)
    path: Option<PathBuf>,
    /// List everything that is allowed
    #[arg(long, conflicts_with_all = ["path", "revoke"])]
    list: bool,
    /// Revoke the permission of the file or, with --workspace, of the folder
    #[arg(long)]
    revoke: bool,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let allowed = Allowed::of(&here.around);
        if self.list {
            return list(here, &allowed);
        }
        if let Some(shell) = client::shell(&here.around)? {
            let problem = format!(
                "this is the shell of an agent ({:?}), and only a person can allow this",
                shell.agent
            );
            return Err(Fault::new(Code::InsufficientAuthority, problem)
                .hint("Ask the person to run it in a shell of their own."));
        }
        match (&here.flags.workspace, self.revoke) {
            (Some(name), false) => self.join(here, &allowed, name),
            (Some(_), true) => {
                let place = self.place(here);
                // A repository that is gone is known by its folder.
                let gone = place.path.join(".git");
                let taken = allowed.remove(|entry| {
                    matches!(entry, Entry::Workspace { path, .. }
                        if *path == place.path || *path == gone)
                });
                told(here, &place.path, taken)
            }
            (None, false) => self.allow(here, &allowed),
            (None, true) => {
                let file = self.file(here)?;
                let entry = Entry::settings(&file, "");
                let taken = allowed.remove(
                    |old| matches!(old, Entry::Settings { file, .. } if file == entry.path()),
                );
                told(here, &file, taken)
            }
        }
    }

    fn place(&self, here: &Here) -> Place {
        let folder = match &self.path {
            Some(path) => here.around.folder.join(path),
            None => here.around.folder.clone(),
        };
        Place::of(&folder.canonicalize().unwrap_or(folder))
    }

    /// The settings file that is meant.
    fn file(&self, here: &Here) -> Result<PathBuf, Fault> {
        let nothing = |place: &Path| {
            let problem = format!("{}: there is no {} here", place.display(), config::FILE);
            Fault::new(Code::NotFound, problem).hint("Name the file, or the folder it is in.")
        };
        let Some(path) = &self.path else {
            let folder = &here.around.folder;
            return config::nearest_file(folder).ok_or_else(|| nothing(folder));
        };
        let path = here.around.folder.join(path);
        let file = if path.is_dir() {
            path.join(config::FILE)
        } else {
            path
        };
        if file.is_file() || self.revoke {
            Ok(file)
        } else {
            Err(nothing(&file))
        }
    }

    fn allow(&self, here: &Here, allowed: &Allowed) -> Outcome {
        let path = self.file(here)?;
        let file = File::read(&path, Source::Repository)?;
        let Some(store) = file.get("store") else {
            let problem = format!("{}: it names no store", path.display());
            return Err(Fault::new(Code::Validation, problem).hint(
                "Nothing else in it needs to be allowed; `understory doctor` lists what is ignored.",
            ));
        };
        let store = config::inside(&path, store).map_err(|outside| {
            Fault::new(
                Code::Validation,
                format!(
                    "store in {}: {}",
                    path.display(),
                    config::Why::Outside(outside)
                ),
            )
            .hint("Name that store with UNDERSTORY_STORE, or in your own settings file.")
        })?;
        allowed.put(&Entry::settings(&path, file.text()))?;
        if here.out.json {
            here.out.value(&json!({ "file": path, "store": store }));
        } else {
            here.out.line(
                Text::from("Allowed ")
                    .bold(path.display().to_string())
                    .plain(format!(" to keep its store in {}.", store.display())),
            );
        }
        Ok(ExitCode::SUCCESS)
    }

    fn join(&self, here: &Here, allowed: &Allowed, name: &str) -> Outcome {
        if !is_name(name) {
            return Err(Fault::invalid(
                "workspace",
                format!("{name:?} is not a name"),
            ));
        }
        let place = self.place(here);
        allowed.put(&Entry::workspace(&place, name))?;
        if here.out.json {
            here.out
                .value(&json!({ "path": place.path, "workspace": name }));
            return Ok(ExitCode::SUCCESS);
        }
        let path = place.path.display();
        here.out.line(
            Text::from(format!("{path} shares the workspace "))
                .bold(name)
                .plain("."),
        );
        if !is_there(here, name) {
            here.out
                .hint("This store has no workspace of that name yet: the first write makes it.");
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether the store has a workspace of this name; one that cannot be asked is not said to lack it.
fn is_there(here: &Here, name: &str) -> bool {
    let found = here.settings().and_then(|settings| {
        let caller = Caller {
            workspace: name.to_owned(),
            origin: None,
            ..Identity::shell(&settings, &here.around)?.caller(None)
        };
        Store::new(&settings).get()?.workspace(&caller)
    });
    !matches!(found, Ok(Resolved::New(_)))
}

fn told(here: &Here, path: &Path, taken: usize) -> Outcome {
    if here.out.json {
        here.out.value(&json!({ "path": path, "revoked": taken }));
    } else if taken == 0 {
        let line = format!("Nothing was allowed for {}.", path.display());
        here.out.line(line);
    } else {
        let line = format!("Taken back for {}.", path.display());
        here.out.line(line);
    }
    Ok(ExitCode::SUCCESS)
}

fn list(here: &Here, allowed: &Allowed) -> Outcome {
    let entries = allowed.list();
    if here.out.json {
        here.out.value(&json!({ "allowed": entries }));
        return Ok(ExitCode::SUCCESS);
    }
    if entries.is_empty() {
        here.out.line("Nothing was allowed.");
    }
    for entry in &entries {
        let line = Text::new().bold(entry.path().display().to_string());
        here.out.line(match entry {
            Entry::Workspace { workspace, .. } => {
                line.plain(format!("  shares the workspace {workspace}"))
            }
            Entry::Settings { file, .. } => line.plain(match state(allowed, file) {
                Known::Allowed => "  keeps its store in the repository",
                _ => "  has changed or is gone since it was allowed",
            }),
        });
    }
    Ok(ExitCode::SUCCESS)
}

fn state(allowed: &Allowed, file: &Path) -> Known {
    match File::read(file, Source::Repository) {
        Ok(found) => allowed.knows(file, found.text()),
        Err(_) => Known::Changed,
    }
}
