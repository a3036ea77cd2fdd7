//! What the user allowed repositories to do: to keep a store inside themselves, and to share a
//! workspace that another folder made. Each is a small file in the user's data directory.
//!
//! Only `understory allow` writes here, and only for a person. A file that others could have
//! written counts as absent.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use understory_model::canon::{hex, sha256};
use understory_model::limits;
use understory_model::{Code, Fault};

use crate::config::Surroundings;
use crate::origin::Place;
use crate::owner;

/// No entry is larger; whatever is, is something else.
const ENDING: &str = "json";

/// One thing that was allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "allows", rename_all = "snake_case")]
pub enum Entry {
    /// A settings file with this content may name a store in its repository.
    Settings { file: PathBuf, digest: String },
    /// The repository at this place, with this remote, shares a workspace.
    Workspace {
        path: PathBuf,
        remote: Option<String>,
        workspace: String,
    },
}

impl Entry {
    pub fn settings(file: &Path, text: &str) -> Entry {
        let file = whole(file);
        let digest = hex(&sha256(format!("{}\n{text}", file.display()).as_bytes()));
        Entry::Settings { file, digest }
    }

    pub fn workspace(place: &Place, workspace: &str) -> Entry {
        Entry::Workspace {
            path: place.path.clone(),
            remote: place.remote(),
            workspace: workspace.to_owned(),
        }
    }

    /// The path that it is about.
    pub fn path(&self) -> &Path {
        match self {
            Entry::Settings { file, .. } => file,
            Entry::Workspace { path, .. } => path,
        }
    }

    /// The name of its file: one for a settings file's content, one for a repository at its place.
    fn name(&self) -> String {
        let about = match self {
            Entry::Settings { digest, .. } => format!("settings\n{digest}"),
            Entry::Workspace { path, remote, .. } => {
                let remote = remote.as_deref().unwrap_or_default();
                format!("workspace\n{}\n{remote}", path.display())
            }
        };
        format!("{}.{ENDING}", hex(&sha256(about.as_bytes())))
    }
}

/// Whether a settings file is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    Allowed,
    /// With another content.
    Changed,
    Not,
}

/// The directory.
pub struct Allowed {
    folder: Option<PathBuf>,
}

impl Allowed {
    pub fn of(around: &Surroundings) -> Allowed {
        let data = around.data_dir.as_ref();
        Allowed {
            folder: data.map(|data| data.join("understory/allowed")),
        }
    }

    /// Whether the settings file with this text was allowed.
    pub fn knows(&self, file: &Path, text: &str) -> Known {
        let entry = Entry::settings(file, text);
        if self.read(&entry.name()).is_some_and(|found| found == entry) {
            return Known::Allowed;
        }
        let same =
            |found: &Entry| matches!(found, Entry::Settings { file, .. } if file == entry.path());
        if self.list().iter().any(same) {
            Known::Changed
        } else {
            Known::Not
        }
    }

    /// The workspace that a place was allowed to share.
    pub fn workspace(&self, place: &Place) -> Option<String> {
        let wanted = Entry::workspace(place, "");
        match (self.read(&wanted.name())?, wanted) {
            (
                Entry::Workspace {
                    path,
                    remote,
                    workspace,
                },
                Entry::Workspace {
                    path: here,
                    remote: now,
                    ..
                },
            ) if path == here && remote == now => Some(workspace),
            _ => None,
        }
    }

    /// Everything that was allowed, by path.
    pub fn list(&self) -> Vec<Entry> {
        let Some(Ok(files)) = self.folder.as_ref().map(fs::read_dir) else {
            return Vec::new();
        };
        let names = files.flatten().map(|file| file.file_name());
        let mut entries: Vec<Entry> = names.filter_map(|name| self.read(name.to_str()?)).collect();
        entries.sort_by(|a, b| (a.path(), a.name()).cmp(&(b.path(), b.name())));
        entries
    }

    /// Remembers an entry, in place of what was allowed for the same thing before.
    pub fn put(&self, entry: &Entry) -> Result<(), Fault> {
        let Some(folder) = &self.folder else {
            return Err(Fault::new(
                Code::Validation,
                "there is no home directory to remember it in",
            )
            .hint("Set HOME or XDG_DATA_HOME."));
        };
        let failed = |error: &dyn std::fmt::Display| {
            let problem = format!("{}: cannot be written: {error}", folder.display());
            Fault::new(Code::Validation, problem).hint("Check the permissions of that folder.")
        };
        let text = serde_json::to_string(entry).map_err(|error| failed(&error))?;
        if let Entry::Settings { .. } = entry {
            self.remove(|old| matches!(old, Entry::Settings { .. }) && old.path() == entry.path());
        }
        let draft = folder.join(format!(".draft-{}", std::process::id()));
        let written = understory_engine::files::private_folder(folder)
            .and_then(|()| understory_engine::files::create_private(&draft))
            .and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&draft, folder.join(entry.name())));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        written.map_err(|error| failed(&error))?;
        match self.read(&entry.name()) {
            Some(_) => Ok(()),
            None => Err(Fault::new(
                Code::Validation,
                format!("{}: others may write there", folder.display()),
            )
            .hint("Make it yours alone with `chmod 700`.")),
        }
    }

    /// Forgets what fits; how many that were.
    pub fn remove(&self, fits: impl Fn(&Entry) -> bool) -> usize {
        let Some(folder) = &self.folder else {
            return 0;
        };
        let found = self.list().into_iter().filter(|entry| fits(entry));
        found
            .filter(|entry| fs::remove_file(folder.join(entry.name())).is_ok())
            .count()
    }

    fn read(&self, name: &str) -> Option<Entry> {
        let folder = self.folder.as_ref()?;
        let path = folder.join(name);
        if path.extension().is_none_or(|found| found != ENDING)
            || !owner::is_ours(folder)
            || !owner::is_ours(&path)
        {
            return None;
        }
        let found = fs::symlink_metadata(&path).ok()?;
        if !found.is_file() || found.len() > limits::ALLOWED_BYTES {
            return None;
        }
        let entry: Entry = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        Some(entry).filter(|entry| entry.name() == name)
    }
}

/// The file's path with no link in its folder's; a link in its place is not followed.
fn whole(file: &Path) -> PathBuf {
    match (file.parent().map(Path::canonicalize), file.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => file.to_owned(),
    }
}
