//! Files and folders that are the user's alone, whatever the umask says, and that are made where
//! they are said to be: never at the end of a symbolic link.
//!
//! Only what is made here gets its modes. What exists keeps them: it may be shared on purpose.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// Makes a folder and those above it that are missing, for this user alone.
pub fn private_folder(path: &Path) -> Result<()> {
    folder(path, true)
}

/// Makes a folder for this user alone; it is an error when there is anything of that name.
pub fn new_private_folder(path: &Path) -> Result<()> {
    folder(path, false)
}

fn folder(path: &Path, with_parents: bool) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(with_parents);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

/// Makes a new file; it is an error when there is anything of that name, a link included.
pub fn create_private(path: &Path) -> Result<File> {
    options().write(true).create_new(true).open(path)
}

/// Opens a file to lock it, and makes it if it is missing; a link is refused.
pub fn lock_file(path: &Path) -> Result<File> {
    options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(|error| named(path, &error))
}

/// Opens a file that exists, but not through a link.
pub(crate) fn open_plain(path: &Path) -> Result<File> {
    options().open(path)
}

/// Makes sure that a store's file exists. A link to a file is the user's affair; one to nothing
/// must not choose where a file is made.
pub(crate) fn reserve(path: &Path) -> Result<()> {
    match create_private(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => match path.metadata() {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::new(
                ErrorKind::InvalidInput,
                "a symbolic link whose target does not exist",
            )),
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
        options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    }
    options
}

/// An error that says which file it is about, where that is not the store's own.
fn named(path: &Path, error: &Error) -> Error {
    let link = path
        .symlink_metadata()
        .is_ok_and(|found| found.is_symlink());
    let (kind, problem) = if link {
        (ErrorKind::InvalidInput, "is a symbolic link".to_owned())
    } else {
        (error.kind(), error.to_string())
    };
    Error::new(kind, format!("{}: {problem}", path.display()))
}
