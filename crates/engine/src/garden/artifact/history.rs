//! The versions of an artifact along its head's line, numbered from 1, and who wrote each commit.
//!
//! People say "version 14", so pages number what the log names by hashes. A commit beside the head
//! has no number until a merge brings what it says.

use std::collections::HashMap;

use serde::Serialize;
use understory_model::error::{Fault, Result};
use understory_model::lines::{Pair, pairs};
use understory_model::{Seq, Time};
use understory_storage::artifacts::{self, Past};

use crate::View;
use crate::kernel::artifact::{Found, LEAST_DIGITS, at, commit_named};
use crate::kernel::project;

/// A version of an artifact.
#[derive(Debug, Clone, Serialize)]
pub struct Numbered {
    /// From 1, along the head's line.
    pub version: usize,
    pub commit: String,
    pub seq: Seq,
    pub at: Time,
    pub actor: String,
}

/// Who made a commit, and when.
#[derive(Debug, Clone)]
pub struct Wrote {
    pub seq: Seq,
    pub at: Time,
    pub actor: String,
    /// Its number, where it is on the head's line.
    pub version: Option<usize>,
}

/// All that became of an artifact.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Oldest first.
    pub versions: Vec<Numbered>,
    /// By the hash, those beside the head's line too.
    pub commits: HashMap<String, Wrote>,
}

impl History {
    /// How many different people and agents wrote its versions.
    pub fn authors(&self) -> usize {
        let actors = self.versions.iter().map(|one| one.actor.as_str());
        actors.collect::<std::collections::HashSet<_>>().len()
    }

    /// The version that stood at a place of the log.
    pub fn as_of(&self, seq: Seq) -> Option<&Numbered> {
        let after = self.versions.partition_point(|one| one.seq <= seq);
        self.versions.get(after.checked_sub(1)?)
    }
}

pub fn history(view: &mut View<'_, '_>, found: &Found) -> Result<History> {
    let all = artifacts::history(view.tx, view.ws, found.id())?;
    let place = |seq: Seq| all.binary_search_by_key(&seq, |one| one.seq).ok();
    let (mut line, mut next): (Vec<&Past>, Option<Seq>) = (Vec::new(), Some(found.row.head));
    while let Some(past) = next.and_then(place).map(|at| &all[at]) {
        line.push(past);
        next = past.parent;
    }
    line.reverse();
    let versions: Vec<Numbered> = (1..)
        .zip(line)
        .map(|(version, past)| Numbered {
            version,
            commit: past.hash.clone(),
            seq: past.seq,
            at: past.at,
            actor: past.actor.clone(),
        })
        .collect();
    let numbers: HashMap<Seq, usize> = versions.iter().map(|one| (one.seq, one.version)).collect();
    let wrote = |past: Past| {
        let wrote = Wrote {
            seq: past.seq,
            at: past.at,
            actor: past.actor,
            version: numbers.get(&past.seq).copied(),
        };
        (past.hash, wrote)
    };
    let commits = all.into_iter().map(wrote).collect();
    Ok(History { versions, commits })
}

/// Who wrote the newest version of some artifacts of a project, by label.
pub fn last_authors(
    view: &mut View<'_, '_>,
    project: Option<&str>,
    labels: &[&str],
) -> Result<HashMap<String, String>> {
    match project::to_read(view, view.caller, project)? {
        Some(project) => artifacts::last_authors(view.tx, view.ws, project.id, labels),
        None => Ok(HashMap::new()),
    }
}

/// The commit that a person names: by the number of a version, or by how its hash begins.
pub fn version_named(
    view: &mut View<'_, '_>,
    found: &Found,
    history: &History,
    name: &str,
) -> Result<String> {
    if name.len() >= LEAST_DIGITS {
        return Ok(commit_named(view.tx, view.ws, found, "commit", name)?.hash);
    }
    let number = name.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    let version = number.and_then(|at| history.versions.get(at));
    version.map(|one| one.commit.clone()).ok_or_else(|| {
        let (label, count) = (&found.row.label, history.versions.len());
        Fault::not_found(format!("{label} has {count} versions, and none is {name}"))
    })
}

/// Two versions side by side.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    pub rows: Vec<Pair>,
    pub old: Vec<String>,
    pub new: Vec<String>,
}

/// Compares the versions of two commits; nothing stands for what was before the first.
pub fn compare(
    view: &mut View<'_, '_>,
    found: &Found,
    history: &History,
    (from, to): (Option<&str>, Option<&str>),
) -> Result<Comparison> {
    let seq = |hash: Option<&str>| {
        let known = hash.and_then(|hash| history.commits.get(hash));
        known.map_or(Seq::ZERO, |wrote| wrote.seq)
    };
    let old = at(view.tx, view.ws, found.id(), seq(from))?;
    let new = at(view.tx, view.ws, found.id(), seq(to))?;
    let (before, after) = (old.texts(), new.texts());
    let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    Ok(Comparison {
        rows: pairs(&before, &after),
        old: owned(&before),
        new: owned(&after),
    })
}
