//! `cargo xtask tidy`: the house rules that no compiler knows, each with its reason.
//!
//! A rule is a function from a file's path and text to what is wrong there, so that its tests are
//! small strings. This module finds the files and shows the answers; it changes nothing.

mod layers;
mod lex;
mod markdown;
mod places;
mod source;
mod surfaces;
mod test_files;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use crate::process::{Outcome, root};

/// Something against the rules: where, what, and why it matters.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    file: String,
    line: usize,
    what: String,
}

impl Violation {
    fn new(file: &str, line: usize, what: impl Into<String>) -> Violation {
        Violation {
            file: file.to_owned(),
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// Files by their path from the root, always with `/` between the parts.
pub type Files = BTreeMap<String, String>;

/// Checks the whole repository.
pub fn tidy() -> Outcome {
    let root = root();
    let sources = files(&root, "rs")?;
    let manifests = files(&root, "toml")?;
    let pages = files(&root, "md")?;

    let mut violations = Vec::new();
    for (path, text) in &sources {
        violations.extend(source::check(path, text));
        violations.extend(places::check(path, text));
        if let Some(warning) = source::long(path, text) {
            println!("warning: {warning}");
        }
    }
    for (path, text) in manifests
        .iter()
        .filter(|(path, _)| path.ends_with("/Cargo.toml"))
    {
        violations.extend(layers::check(path, text));
    }
    violations.extend(surfaces::check(&sources));
    violations.extend(test_files::check(&sources));
    violations.extend(markdown::numbering(pages.keys().map(String::as_str)));
    violations.extend(markdown::links(&pages, |path| root.join(path).exists()));
    violations.extend(markdown::tests(&pages, &sources));

    violations.sort();
    for violation in &violations {
        println!("{violation}");
    }
    match violations.len() {
        0 => {
            let looked_at = sources.len() + manifests.len() + pages.len();
            println!("{looked_at} files are in order");
            Ok(())
        }
        1 => Err("tidy: one thing is against the house rules".to_owned()),
        many => Err(format!("tidy: {many} things are against the house rules")),
    }
}

/// The repository's files with one ending, without what is built or hidden.
pub fn files(root: &Path, ending: &str) -> Outcome<Files> {
    let mut found = Files::new();
    let mut directories = vec![String::new()];
    while let Some(directory) = directories.pop() {
        let here = root.join(&directory);
        let entries = fs::read_dir(&here).map_err(|e| format!("{}: {e}", here.display()))?;
        for entry in entries {
            let entry = entry.map_err(|e| format!("{}: {e}", here.display()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || name == "target" || name == "node_modules" {
                continue;
            }
            let path = if directory.is_empty() {
                name.clone()
            } else {
                format!("{directory}/{name}")
            };
            let kind = entry.file_type().map_err(|e| format!("{path}: {e}"))?;
            if kind.is_dir() {
                directories.push(path);
            } else if kind.is_file() && name.strip_suffix(ending).is_some_and(|n| n.ends_with('.'))
            {
                let text = fs::read_to_string(entry.path()).map_err(|e| format!("{path}: {e}"))?;
                found.insert(path, text);
            }
        }
    }
    Ok(found)
}
