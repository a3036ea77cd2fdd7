//! Git directories as they are found on a disk: a configuration, a `.git` file, a `commondir`.
//!
//! The input is a configuration; if it begins with `gitdir:` it is a `.git` file instead, and if it
//! begins with `commondir:`, that.

use std::fs;

use tempfile::TempDir;
use understory::git::Repository;

use crate::chance::Chance;
use crate::mutate;
use crate::target::{Outcome, Target, check, text};

/// Stands in the place of a password in the addresses that are made here.
const SECRET: &str = "hunter2secret";

pub struct Git {
    folder: TempDir,
}

impl Git {
    pub fn new() -> Git {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for part in ["shop/.git/objects", "shop/.git/refs", "shop/deep", "linked"] {
            fs::create_dir_all(folder.path().join(part)).expect("a folder");
        }
        fs::write(
            folder.path().join("shop/.git/HEAD"),
            "ref: refs/heads/main\n",
        )
        .expect("a file");
        Git { folder }
    }
}

impl Target for Git {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let at = |name: &str| self.folder.path().join(name);
        let write = |name: &str, bytes: &[u8]| {
            fs::write(at(name), bytes).map_err(|error| format!("{name}: {error}"))
        };
        let _ = fs::remove_file(at("shop/.git/commondir"));
        if input.starts_with(b"gitdir:") {
            write("linked/.git", input)?;
            let found = Repository::find(&at("linked"));
            let named = found.as_ref().and_then(Repository::name).map(str::len);
            return Ok(format!("linked {:?} {named:?}", found.is_some()));
        }
        match input.strip_prefix(b"commondir:") {
            Some(common) => write("shop/.git/commondir", common)?,
            None => write("shop/.git/config", input)?,
        }
        let Some(found) = Repository::find(&at("shop/deep")) else {
            return Ok("no repository".into());
        };
        let Some(remote) = found.remote() else {
            return Ok("no remote".into());
        };
        let plain = !remote.is_empty() && !remote.contains(char::is_control);
        check(plain, || format!("the remote {remote:?}"))?;
        // With two addresses, or a secret in two parts, it is not known which was taken.
        let once = |word: &str| text(input).to_lowercase().matches(word).count() == 1;
        let single = once(SECRET) && once("url");
        // Where a secret stood before the host, it must be gone; elsewhere it is just a name.
        let guarded = text(input).lines().all(|line| {
            let address = line.split_once("://").map_or("", |(_, rest)| rest);
            let login = address.split_once('/').map_or(address, |(login, _)| login);
            !login.contains(&format!(":{SECRET}@")) || !remote.contains(SECRET)
        });
        check(guarded || !single, || {
            format!("the remote {remote:?} shows a password")
        })?;
        Ok(format!(
            "remote {} {}",
            remote.contains(':'),
            remote.starts_with('/')
        ))
    }

    fn make(&mut self, chance: &mut Chance, known: &[Vec<u8>]) -> Vec<u8> {
        let mut input = if chance.one_in(3) {
            let scheme = chance.pick(&["https://", "ssh://", "git://", "file://", "", "HTTP://"]);
            let login = chance.pick(&["", "ann@", "ann:hunter2secret@", ":hunter2secret@"]);
            let host = chance.pick(&["GitHub.com", "h:22", "[::1]:443", "..", ""]);
            let path = mutate::text(chance, &["/a/b.git", ":a/b", "?token=", "#x", "/"]);
            format!("[remote \"origin\"]\n\turl = {scheme}{login}{host}/{path}\n").into_bytes()
        } else {
            chance.pick(known).clone()
        };
        mutate::mutate(chance, &mut input, self.words(), known);
        input
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "[remote \"origin\"]\n",
            "[remote \"x\"]\n",
            "url = ",
            "https://",
            "git@github.com:a/b.git",
            "gitdir: ",
            "../shop/.git",
            "commondir:",
            "..",
            "[include]\n\tpath = ",
            "\"",
            "\\",
            "#",
            ";",
            "=",
            "]",
            "insteadOf = ",
        ]
    }
}
