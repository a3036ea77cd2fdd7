//! Whether a file or folder is this user's alone to change.

use std::path::Path;

/// Whether it belongs to this user or the superuser, and nobody else may write to it. What cannot be
/// seen is not.
#[cfg(unix)]
pub fn is_ours(path: &Path) -> bool {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    std::fs::symlink_metadata(path).is_ok_and(|found| {
        belongs(found.uid()) && (found.is_symlink() || found.permissions().mode() & 0o022 == 0)
    })
}

#[cfg(not(unix))]
pub fn is_ours(_: &Path) -> bool {
    true
}

/// As [`is_ours`], and nobody else may read it either; a link is followed.
#[cfg(unix)]
pub fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    std::fs::metadata(path)
        .is_ok_and(|found| belongs(found.uid()) && found.permissions().mode() & 0o077 == 0)
}

#[cfg(not(unix))]
pub fn is_private(_: &Path) -> bool {
    true
}

/// Whether a user's number is this process's, or the superuser's.
#[cfg(unix)]
pub fn belongs(uid: u32) -> bool {
    uid == rustix::process::geteuid().as_raw() || uid == 0
}
