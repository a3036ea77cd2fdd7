//! Artifacts: what each is called, its commits, and which versions are kept whole.

use std::sync::Arc;

use serde_json::{Map, Value};
use understory_model::error::Result;
use understory_model::fact::{Content, damaged};
use understory_model::item::Item;
use understory_model::{Id, Seq, lines};
use understory_storage::Tx;
use understory_storage::artifacts::{self, Artifact, Commit};
use understory_storage::texts::Text;

use crate::kernel::artifact::{Changed, at_from_store, pack};
use crate::kernel::content::artifact_delta::Delta;
use crate::kernel::core::Core;
use crate::kernel::mentions::{self, Source, Text as Said};
use crate::kernel::search::sort;
use crate::kinds::ARTIFACT;

/// Most changes between a version and the last one kept whole.
const SNAPSHOT_EVERY: i64 = 256;
/// Bytes of changes for which no version of a short text is kept.
const LEAST_COST: i64 = 4_096;

pub fn made(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    data: &Map<String, Value>,
) -> Result<()> {
    let missing = || damaged(item, "its artifact is in no project");
    let artifact = Artifact {
        id: Id::of(item.seq),
        project: item.project.ok_or_else(missing)?,
        label: label(data),
        head: Seq::ZERO,
        commits: 0,
        lines: 0,
        updated: item.realized_at,
    };
    bear(tx, core, &artifact)?;
    called(core, &artifact, false);
    artifacts::put(tx, core.ws, &artifact)
}

/// An artifact is found by its label; its lines by the commits that wrote them.
fn called(core: &mut Core, artifact: &Artifact, again: bool) {
    let label = Text {
        title: artifact.label.clone(),
        ..Text::default()
    };
    core.texts.put(core.ws, artifact.id, ARTIFACT, label, again);
}

/// Another label; the one before keeps leading here until somebody else takes it.
pub fn changed(tx: &mut Tx<'_>, core: &mut Core, item: &Item) -> Result<()> {
    let mut artifact = of(tx, core, item)?;
    let Some(thing) = core.thing(tx, artifact.id)? else {
        return Ok(());
    };
    let now = label(&thing.data);
    if now != artifact.label {
        let (project, before) = (artifact.project, artifact.label.clone());
        artifacts::put_label(tx, core.ws, project, &before, (artifact.id, false))?;
        artifact.label = now;
        bear(tx, core, &artifact)?;
        called(core, &artifact, true);
    }
    artifact.updated = item.realized_at;
    artifacts::put(tx, core.ws, &artifact)
}

fn bear(tx: &mut Tx<'_>, core: &Core, artifact: &Artifact) -> Result<()> {
    let (project, label) = (artifact.project, &artifact.label);
    artifacts::put_label(tx, core.ws, project, label, (artifact.id, true))
}

fn label(data: &Map<String, Value>) -> String {
    let label = data.get("label").and_then(Value::as_str);
    label.unwrap_or_default().to_string()
}

/// A commit.
pub fn delta(tx: &mut Tx<'_>, core: &mut Core, item: &Item, said: &Content) -> Result<()> {
    let mut artifact = of(tx, core, item)?;
    let delta = Delta::said(said).ok_or_else(|| damaged(item, "its content is not a commit"))?;
    let (parent, other) = match delta.parent.hashes().as_slice() {
        [] => (None, None),
        [one] => (Some(found(tx, core, item, artifact.id, one)?), None),
        [ours, theirs, ..] => (
            Some(found(tx, core, item, artifact.id, ours)?),
            Some(found(tx, core, item, artifact.id, theirs)?),
        ),
    };
    let size = item.content.as_ref().map_or(0, String::len);
    let before = parent.as_ref().map_or((0, 0), |one| (one.steps, one.cost));
    let mut commit = Commit {
        artifact: artifact.id,
        seq: item.seq,
        hash: delta.commit.clone(),
        parent: parent.as_ref().map(|one| one.seq),
        other: other.map(|one| one.seq),
        steps: before.0 + 1,
        cost: before.1 + i64::try_from(size).unwrap_or(i64::MAX),
        lines: delta.lines,
        chain: item.chain,
    };
    // Changes that take more room than twice the text are slower to read than the text.
    let room = delta.bytes.saturating_mul(2).saturating_add(LEAST_COST);
    artifact.commits += 1;
    artifact.updated = item.realized_at;
    if !delta.fork {
        artifact.head = item.seq;
        artifact.lines = delta.lines;
    }
    if let Some(change) = delta.change() {
        crate::projection::next_version(tx, core, item, artifact.id, &change)?;
    }
    let place = |line: usize| i64::try_from(line).unwrap_or(i64::MAX);
    let sources = delta.sources.iter();
    let sources: Vec<(i64, &str)> = sources
        .map(|source| (place(source.line), source.part.as_str()))
        .collect();
    artifacts::add_sources(tx, core.ws, (artifact.id, item.seq), &sources)?;
    let why = delta.reasoning.as_deref().unwrap_or_default();
    core.texts.put_commit(
        core.ws,
        Id::of(item.seq),
        sort::LINES,
        &delta.own_lines(),
        why,
    );
    mentioned(tx, core, item, said, &delta)?;
    let change = Changed::of(delta);
    if commit.steps >= SNAPSHOT_EVERY || commit.cost > room {
        let before = at_from_store(tx, core.ws, artifact.id, commit.parent.unwrap_or(Seq::ZERO))?;
        let version = change.apply(Arc::unwrap_or_clone(before), item.seq)?;
        artifacts::put_snapshot(tx, core.ws, artifact.id, item.seq, &pack(&version)?)?;
        (commit.steps, commit.cost) = (0, 0);
    } else {
        artifacts::put_change(tx, core.ws, artifact.id, item.seq, &change.pack()?)?;
    }
    artifacts::add_commit(tx, core.ws, &commit)?;
    artifacts::put(tx, core.ws, &artifact)
}

/// What the lines that a commit wrote mention.
fn mentioned(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    said: &Content,
    delta: &Delta,
) -> Result<()> {
    let mut texts: Vec<Said<'_>> = delta
        .own_lines()
        .into_iter()
        .map(|line| Said::new("line", line))
        .collect();
    if !mentions::any(&texts) {
        return Ok(());
    }
    let unreadable = || damaged(item, "its operations cannot be read");
    let ops = lines::parse(&delta.ops).map_err(|_| unreadable())?;
    let places = lines::places(&ops);
    for (text, at) in texts.iter_mut().zip(delta.own_texts()) {
        text.line = places.get(at).copied();
    }
    let source = Source {
        kept: said.mentions.len(),
        ..Source::item(item, item.project)
    };
    mentions::said(tx, core, item, source, &texts)
}

/// A commit that must be there.
fn found(tx: &mut Tx<'_>, core: &Core, item: &Item, artifact: Id, hash: &str) -> Result<Commit> {
    let found = artifacts::by_hash(tx, core.ws, artifact, hash, 1)?.pop();
    found.ok_or_else(|| damaged(item, "the commit before it is not there"))
}

fn of(tx: &mut Tx<'_>, core: &Core, item: &Item) -> Result<Artifact> {
    let missing = || damaged(item, "its artifact is not there");
    let id: Id = item.entity.ok_or_else(missing)?;
    artifacts::get(tx, core.ws, id)?.ok_or_else(missing)
}
