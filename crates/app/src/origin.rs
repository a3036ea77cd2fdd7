//! Which place a folder belongs to: its repository, or itself. The place names a workspace, and
//! tells it from another of that name.

use std::path::{Path, PathBuf};

use crate::git::Repository;

/// What a folder belongs to.
#[derive(Debug)]
pub struct Place {
    /// The repository's common directory, or the folder.
    pub path: PathBuf,
    repository: Option<Repository>,
}

impl Place {
    pub fn of(folder: &Path) -> Place {
        let repository = Repository::find(folder);
        let path = match &repository {
            Some(repository) => repository.common.clone(),
            None => folder.canonicalize().unwrap_or_else(|_| folder.to_owned()),
        };
        Place { path, repository }
    }

    /// What people call it.
    pub fn name(&self) -> Option<&str> {
        match &self.repository {
            Some(repository) => repository.name(),
            None => self.path.file_name().and_then(|name| name.to_str()),
        }
    }

    pub fn remote(&self) -> Option<String> {
        self.repository.as_ref().and_then(Repository::remote)
    }

    /// The lines that tell it from another place of the same name. The path decides; the remote is
    /// whatever the repository says of itself, and only helps to explain.
    pub fn origin(&self) -> String {
        let remote = self
            .remote()
            .map(|remote| format!("url:{}\n", one_line(&remote)));
        let path = one_line(&self.path.display().to_string());
        format!("{}path:{path}", remote.unwrap_or_default())
    }
}

/// A folder may have a line break in its name, and must not so add a line to the origin.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() {
            line.extend(letter.escape_unicode())
        } else {
            line.push(letter)
        }
    }
    line
}
