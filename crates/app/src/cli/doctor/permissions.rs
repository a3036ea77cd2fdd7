//! Who else may read or change what is the user's: the store and the files beside it, the keys, and
//! what was allowed. It tells; only `--fix` changes a mode, and only of what Understory made.

use std::path::{Path, PathBuf};

use super::{Check, ok, warn};
use crate::config::{Settings, Surroundings};

const NAME: &str = "permissions";

/// What ends the names of the files beside a store.
const BESIDE: [&str; 5] = ["", "-wal", "-shm", "-queue", "-turn"];

/// Looks at each of them, and tightens what is too wide if that is wished.
pub fn check(settings: &Settings, around: &Surroundings, fix: bool) -> Vec<Check> {
    let mut checks = Vec::new();
    let (mut seen, mut fixed) = (0, 0);
    for path in ours(settings, around) {
        let Some(found) = Found::at(&path) else {
            continue;
        };
        seen += 1;
        match found.problem(&path) {
            None => {}
            Some((_, true)) if fix && found.tighten(&path) => fixed += 1,
            Some((problem, mendable)) => checks.push(warn(
                NAME,
                problem,
                if mendable {
                    "`understory doctor --fix` makes it yours alone.".to_owned()
                } else {
                    format!("Look at what is there; then `chown` {}.", path.display())
                },
            )),
        }
    }
    checks.extend(shared_folder(settings));
    if checks.is_empty() && seen > 0 {
        let also = match fixed {
            0 => String::new(),
            fixed => format!(", after {fixed} were changed"),
        };
        checks.push(ok(
            NAME,
            format!("{seen} files and folders are yours alone{also}"),
        ));
    }
    checks
}

/// What Understory made for this user.
fn ours(settings: &Settings, around: &Surroundings) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    if let Some(data) = &around.data_dir {
        paths.push(data.join("understory"));
        paths.push(data.join("understory/allowed"));
    }
    if !settings.store.value.is_server() {
        let store = settings.store.value.reveal();
        paths.extend(BESIDE.map(|ending| PathBuf::from(format!("{store}{ending}"))));
        paths.push(PathBuf::from(format!("{store}-sessions")));
    }
    let keys = &settings.keys.value;
    paths.push(keys.clone());
    let files = std::fs::read_dir(keys).into_iter().flatten().flatten();
    paths.extend(files.map(|file| file.path()));
    paths
}

/// A folder that others may write to lets them put files in the place of the store's. It is not
/// ours to change.
#[cfg(unix)]
fn shared_folder(settings: &Settings) -> Option<Check> {
    use std::os::unix::fs::PermissionsExt;
    if settings.store.value.is_server() {
        return None;
    }
    let folder = Path::new(settings.store.value.reveal()).parent()?;
    let mode = std::fs::metadata(folder).ok()?.permissions().mode();
    let sticky = mode & 0o1000 != 0;
    (mode & 0o022 != 0 && !sticky).then(|| {
        warn(
            NAME,
            format!(
                "others may replace files in the store's folder {} (mode {:03o})",
                folder.display(),
                mode & 0o777
            ),
            "Keep the store in a folder of your own, or share it on purpose.",
        )
    })
}

#[cfg(not(unix))]
fn shared_folder(_: &Settings) -> Option<Check> {
    None
}

/// The mode and the owner of a file or folder.
#[cfg(unix)]
struct Found {
    mode: u32,
    uid: u32,
    is_folder: bool,
}

#[cfg(unix)]
impl Found {
    fn at(path: &Path) -> Option<Found> {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let found = std::fs::symlink_metadata(path).ok()?;
        // What a link leads to is not ours to judge.
        (!found.is_symlink()).then(|| Found {
            mode: found.permissions().mode() & 0o777,
            uid: found.uid(),
            is_folder: found.is_dir(),
        })
    }

    /// What is wrong, and whether a mode would mend it.
    fn problem(&self, path: &Path) -> Option<(String, bool)> {
        let shown = path.display();
        if !crate::owner::belongs(self.uid) {
            return Some((
                format!("{shown} belongs to another user ({})", self.uid),
                false,
            ));
        }
        let may = match self.mode {
            mode if mode & 0o022 != 0 => "read and change",
            mode if mode & 0o077 != 0 => "read",
            _ => return None,
        };
        let problem = format!("other users may {may} {shown} (mode {:03o})", self.mode);
        Some((problem, true))
    }

    fn tighten(&self, path: &Path) -> bool {
        use std::os::unix::fs::PermissionsExt;
        let mode = if self.is_folder { 0o700 } else { 0o600 };
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).is_ok()
    }
}

#[cfg(not(unix))]
struct Found;

#[cfg(not(unix))]
impl Found {
    fn at(_: &Path) -> Option<Found> {
        None
    }

    fn problem(&self, _: &Path) -> Option<(String, bool)> {
        None
    }

    fn tighten(&self, _: &Path) -> bool {
        false
    }
}
