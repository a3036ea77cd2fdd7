//! Artifacts as names, search and the log read them: which one, which version, which lines.

mod version;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::error::{Code, Fault, Result};
use understory_model::id::entity_name;
use understory_model::lines::Origin;
use understory_model::refs::LinesName;
use understory_model::text::quoted;
use understory_model::{Id, Seq, Time, Ws};
use understory_storage::artifacts::{self, Artifact, Commit};
use understory_storage::{ReadTx, entities, items};

use crate::View;
use crate::kernel::core::Thing;
use crate::kernel::names::{self, Scope};
use crate::kernel::project;

pub use version::{Changed, at, at_from_store, pack};

/// The field of an artifact's value that has the labels it had before.
pub const LABEL_HISTORY: &str = "label_history";

/// An artifact.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Shown {
    /// `entity_<uuid>`.
    pub uuid: String,
    pub label: String,
    /// The labels that it had before, oldest first. They still lead here.
    pub label_history: Vec<String>,
    /// The hash of its current commit; null before the first.
    pub head: Option<String>,
    pub commits: i64,
    pub lines: i64,
    pub created_at: Time,
    pub updated_at: Time,
    /// How its text begins, with each reference replaced by what it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<String>,
}

/// An artifact, and what is counted of it.
#[derive(Debug, Clone)]
pub struct Found {
    pub thing: Thing,
    pub row: Artifact,
    /// `entity_<uuid>`.
    pub name: String,
    /// The commit that it stands at.
    pub head: Option<Commit>,
}

impl Found {
    pub fn id(&self) -> Id {
        self.row.id
    }

    pub fn shown(&self) -> Shown {
        Shown {
            uuid: self.name.clone(),
            label: self.row.label.clone(),
            label_history: self.past_labels(),
            head: self.head.as_ref().map(|head| head.hash.clone()),
            commits: self.row.commits,
            lines: self.row.lines,
            created_at: self.thing.entity.created_at,
            updated_at: self.row.updated,
            rendered: None,
        }
    }

    /// The labels that it had before, oldest first.
    pub fn past_labels(&self) -> Vec<String> {
        let past = self.thing.data.get(LABEL_HISTORY).and_then(Value::as_array);
        let past = past.into_iter().flatten().filter_map(Value::as_str);
        past.map(str::to_string).collect()
    }
}

/// The artifact of a name.
pub fn find(tx: &mut ReadTx<'_>, scope: Scope<'_>, name: &str) -> Result<Found> {
    match names::artifact_id(tx, scope, name)? {
        Some(id) => load(tx, scope.ws, id),
        None => {
            let mut fault = names::nothing(tx, scope, "artifact", name)?;
            fault.message = format!("no artifact is called {}", quoted(name));
            Err(fault)
        }
    }
}

/// An artifact that a read means.
pub fn named(view: &mut View<'_, '_>, project: Option<&str>, artifact: &str) -> Result<Found> {
    let project = project::to_read(view, view.caller, project)?;
    let scope = Scope {
        ws: view.ws,
        project: project.map(|project| project.id),
        caller: view.caller,
    };
    find(view.tx, scope, artifact)
}

/// An artifact that is there.
pub fn load(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Found> {
    let entity = entities::get(tx, ws, id)?.ok_or_else(not_in_core)?;
    let row = artifacts::get(tx, ws, id)?.ok_or_else(not_in_core)?;
    let uuids = items::uuids_of(tx, ws, &[id])?;
    let head = artifacts::get_commit(tx, ws, id, row.head)?;
    Ok(Found {
        thing: Thing::open(entity)?,
        name: uuids.get(&id).map(entity_name).ok_or_else(not_in_core)?,
        row,
        head,
    })
}

pub fn not_in_core() -> Fault {
    Fault::new(Code::StoreCorrupt, "an artifact is not in core").hint("Run `understory rebuild`.")
}

/// The fewest digits by which a commit may be named.
pub const LEAST_DIGITS: usize = 7;
/// Commits that are named where a name stands for several.
pub const CANDIDATES: i64 = 5;

/// The commit of an artifact that a name of 7 digits or more stands for.
pub fn commit_named(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    found: &Found,
    field: &str,
    name: &str,
) -> Result<Commit> {
    let digits = name.to_ascii_lowercase();
    let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !hex || !(LEAST_DIGITS..=64).contains(&digits.len()) {
        let problem = "must be a commit: 7 to 64 hexadecimal digits";
        return Err(Fault::invalid(field, problem).hint(LOG_HINT));
    }
    let mut named = artifacts::by_hash(tx, ws, found.id(), &digits, CANDIDATES)?;
    match (named.pop(), named.is_empty()) {
        (Some(commit), true) => Ok(commit),
        (None, _) => Err(
            Fault::not_found(format!("{} has no commit {digits}", found.row.label))
                .detail("field", field)
                .hint(LOG_HINT),
        ),
        (Some(last), false) => {
            named.push(last);
            let hashes: Vec<&str> = named.iter().map(|commit| commit.hash.as_str()).collect();
            Err(
                Fault::conflict(format!("{digits} stands for several commits"))
                    .detail("field", field)
                    .detail("candidates", &hashes)
                    .hint("Give more digits."),
            )
        }
    }
}

/// The commit of a name; the head without one.
pub fn wanted(
    view: &mut View<'_, '_>,
    found: &Found,
    field: &str,
    name: Option<&str>,
) -> Result<Option<Commit>> {
    match name {
        Some(name) => commit_named(view.tx, view.ws, found, field, name).map(Some),
        None => Ok(found.head.clone()),
    }
}

pub const LOG_HINT: &str = "garden_artifact_log lists the commits of an artifact.";

/// A line of an artifact, and the commit that wrote it.
#[derive(Debug, Clone)]
pub struct LineAt {
    pub line: usize,
    pub content: String,
    pub fragment: String,
    pub by: Commit,
    /// The part of a message that it was made from: `item_<uuid>#^a7f`.
    pub source: Option<String>,
}

/// Lines of an artifact at a commit: at least one.
#[derive(Debug, Clone)]
pub struct LinesAt {
    pub artifact: Found,
    pub at: Commit,
    pub lines: Vec<LineAt>,
}

impl LinesAt {
    /// The one that was written last.
    pub fn newest(&self) -> &LineAt {
        let newest = self.lines.iter().max_by_key(|line| line.by.seq);
        newest.unwrap_or(&self.lines[0])
    }
}

/// What `label:3-7[@commit]` stands for; `None` when there are no such lines.
pub fn lines_at(
    tx: &mut ReadTx<'_>,
    scope: Scope<'_>,
    wanted: &LinesName<'_>,
) -> Result<Option<LinesAt>> {
    match names::artifact_id(tx, scope, wanted.label)? {
        Some(id) => lines_of(tx, scope.ws, id, wanted),
        None => Ok(None),
    }
}

/// As [`lines_at`], of an artifact that was found.
pub fn lines_of(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    id: Id,
    wanted: &LinesName<'_>,
) -> Result<Option<LinesAt>> {
    let found = load(tx, ws, id)?;
    let commit = match wanted.commit {
        None => found.head.clone(),
        Some(name) => match commit_named(tx, ws, &found, "commit", name) {
            Ok(commit) => Some(commit),
            // A name in a text may be anything; what is wrong with the store is not passed over.
            Err(fault) if fault.code.status() < 500 => None,
            Err(fault) => return Err(fault),
        },
    };
    let Some(commit) = commit else {
        return Ok(None);
    };
    let version = at(tx, ws, id, commit.seq)?;
    let index = |line: i64| usize::try_from(line).ok()?.checked_sub(1);
    let range = index(wanted.first).zip(index(wanted.last));
    let some = range.and_then(|(first, last)| version.lines.get(first..=last));
    let (Some(some), Some((first, _))) = (some, range) else {
        return Ok(None);
    };
    let origins: Vec<Seq> = some.iter().map(|line| line.origin.commit).collect();
    let sources = artifacts::sources(tx, ws, id, &origins)?;
    let mut lines = Vec::with_capacity(some.len());
    for (line, there) in (first + 1..).zip(some) {
        let by = artifacts::get_commit(tx, ws, id, there.origin.commit)?;
        lines.push(LineAt {
            line,
            content: there.bare().to_string(),
            fragment: there.fragment(),
            by: by.unwrap_or_else(|| commit.clone()),
            source: sources.get(&key(there.origin)).cloned(),
        });
    }
    Ok(Some(LinesAt {
        artifact: found,
        at: commit,
        lines,
    }))
}

/// How sources are kept: by commit and line.
pub fn key(origin: Origin) -> (Seq, i64) {
    (
        origin.commit,
        i64::try_from(origin.line).unwrap_or(i64::MAX),
    )
}

/// The fault for lines that an artifact does not have.
pub fn no_lines(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    found: &Found,
    wanted: &LinesName<'_>,
    field: &str,
) -> Result<Fault> {
    let commit = match wanted.commit {
        Some(name) => match commit_named(tx, ws, found, field, name) {
            Ok(commit) => Some(commit),
            Err(fault) => return Ok(fault),
        },
        None => found.head.clone(),
    };
    let count = commit.map_or(0, |commit| commit.lines);
    let label = &found.row.label;
    let message = match count {
        0 => format!("{label} is empty"),
        1 => format!("{label} has 1 line"),
        count => format!("{label} has {count} lines"),
    };
    Ok(Fault::not_found(message)
        .detail("field", field)
        .detail("artifact", &found.name)
        .detail("lines", count)
        .hint("garden_artifact_show shows them, numbered from 1."))
}

/// The places of the log that lead to a commit being contained in another: whether `old` is `new`
/// or was merged or built upon by it, and the nearest commit that both contain.
pub fn common_ancestor(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    artifact: Id,
    (ours, theirs): (Seq, Seq),
) -> Result<Option<Seq>> {
    const AT_ONCE: i64 = 500;
    // What each side contains, among those not yet looked at. Parents come before their children
    // in the log, so going back through it meets every commit after all that contain it.
    let mut open = std::collections::BTreeMap::from([(ours, (true, false))]);
    open.entry(theirs).or_default().1 = true;
    let mut before = ours.max(theirs) + 1;
    loop {
        let page = artifacts::commits(tx, ws, artifact, before, AT_ONCE)?;
        let Some(last) = page.last() else {
            return Ok(None);
        };
        before = last.seq;
        for commit in page {
            let Some((by_us, by_them)) = open.remove(&commit.seq) else {
                continue;
            };
            if by_us && by_them {
                return Ok(Some(commit.seq));
            }
            for parent in [commit.parent, commit.other].into_iter().flatten() {
                let seen = open.entry(parent).or_default();
                *seen = (seen.0 | by_us, seen.1 | by_them);
            }
        }
        if open.is_empty() {
            return Ok(None);
        }
    }
}
