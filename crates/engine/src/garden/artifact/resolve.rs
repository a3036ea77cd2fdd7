//! Which text a fragment stands for, where a commit brings or cites it.
//!
//! An id has sixteen bits, so two texts may share it: then the caller says which is meant, and
//! nothing is guessed. What somebody may not read cannot be brought out through its id.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use understory_model::error::{Code, Fault, Result};
use understory_model::fragment::fragment_id;
use understory_model::id::item_name;
use understory_model::item::Item;
use understory_model::lines::{self, Op, Piece, Version, Wrong, bare};
use understory_model::text::check_text;
use understory_model::{Seq, limits};
use understory_storage::{artifacts, fragments, items};

use super::Found;
use super::delta::Delta;
use crate::Work;
use crate::garden::shape::may_read;
use crate::garden::{Mention, name, refs};

/// Places of one id that are looked at, the newest first.
const CANDIDATES: i64 = 32;
/// Commits of an artifact that are searched for a text, the newest first.
const COMMITS: i64 = 1_000;

/// Operations with a text for each fragment that they bring.
pub struct Resolved {
    pub ops: Vec<Op>,
    pub texts: Vec<Arc<str>>,
    /// Of each operation, which one of those given it came from.
    pub sources: Vec<usize>,
}

/// Checks the texts that a caller gives beside its operations.
pub fn check_given(given: &BTreeMap<String, String>) -> Result<()> {
    for (id, text) in given {
        let shown: String = id.chars().take(20).collect();
        let field = format!("texts.{shown}");
        if !lines::is_fragment(id) {
            return Err(Fault::invalid(
                field,
                "must be a fragment id, for example ^a7f",
            ));
        }
        check_text(&field, text, limits::ARTIFACT_BYTES, true)?;
        let is = fragment_id(text);
        if is != *id {
            return Err(Fault::invalid(field, format!("is a text whose id is {is}")));
        }
    }
    Ok(())
}

/// Finds the texts of operations. One of several lines becomes several lines.
pub fn ops(
    work: &mut Work<'_, '_>,
    found: &Found,
    parent: &Version,
    (text, given): (&str, &BTreeMap<String, String>),
) -> Result<Resolved> {
    let parsed = lines::parse(text)?;
    check_used(&parsed, given)?;
    let mut resolved = Resolved {
        ops: Vec::with_capacity(parsed.len()),
        texts: Vec::new(),
        sources: Vec::with_capacity(parsed.len()),
    };
    let mut known: BTreeMap<String, Arc<str>> = BTreeMap::new();
    for (at, op) in parsed.into_iter().enumerate() {
        let Some(piece) = op.brings() else {
            resolved.ops.push(op);
            resolved.sources.push(at);
            continue;
        };
        let key = piece.to_string();
        let brought = match (known.get(&key), given.get(&piece.id)) {
            (Some(text), _) => text.clone(),
            (None, Some(text)) if piece.of.is_none() => text.as_str().into(),
            (None, _) => {
                let told = |fault: Fault| at_op(text, at, fault);
                brought(work, found, parent, piece).map_err(told)?
            }
        };
        known.insert(key, brought.clone());
        resolved.add(at, op, &brought).map_err(|problem| {
            let problem = problem.to_string();
            lines::fault(text, &Wrong { op: at, problem })
        })?;
    }
    Ok(resolved)
}

impl Resolved {
    fn add(&mut self, source: usize, op: Op, text: &Arc<str>) -> std::result::Result<(), &str> {
        let several = bare(text).contains('\n');
        match op {
            Op::Replace { .. } if several => {
                return Err("brings several lines for one; remove the line and add them");
            }
            Op::Add { at, .. } if several => {
                for line in bare(text).split('\n') {
                    let piece = Piece::new(fragment_id(line));
                    self.push(source, Op::Add { at, piece }, line.into());
                }
            }
            Op::Add { at, piece } => {
                let piece = Piece::new(piece.id);
                self.push(source, Op::Add { at, piece }, text.clone());
            }
            Op::Replace { at, from, to } => {
                let to = Piece::new(to.id);
                self.push(source, Op::Replace { at, from, to }, text.clone());
            }
            Op::Remove { .. } | Op::Move { .. } => {}
        }
        Ok(())
    }

    fn push(&mut self, source: usize, op: Op, text: Arc<str>) {
        self.ops.push(op);
        self.texts.push(text);
        self.sources.push(source);
    }
}

/// A text that no operation brings is a slip of the caller's.
fn check_used(ops: &[Op], given: &BTreeMap<String, String>) -> Result<()> {
    let used = |id: &String| {
        ops.iter()
            .any(|op| op.brings().is_some_and(|p| p.id == *id))
    };
    match given.keys().find(|id| !used(id)) {
        None => Ok(()),
        Some(id) => Err(Fault::invalid(
            format!("texts.{id}"),
            "is brought by no operation",
        )),
    }
}

/// A refusal, with the operation that it is about.
fn at_op(text: &str, op: usize, fault: Fault) -> Fault {
    let problem = fault.message.clone();
    let mut told = lines::fault(text, &Wrong { op, problem });
    told.code = fault.code;
    if let Some(details) = fault.details {
        told = told.details(details);
    }
    match fault.hint {
        Some(hint) => told.hint(hint),
        None => told,
    }
}

fn brought(
    work: &mut Work<'_, '_>,
    found: &Found,
    parent: &Version,
    piece: &Piece,
) -> Result<Arc<str>> {
    if let Some(part) = said(work, piece)? {
        return Ok(part.text);
    }
    let own = match piece.of {
        None => in_artifact(work, found, parent, &piece.id)?,
        Some(_) => None,
    };
    own.ok_or_else(|| nowhere(piece))
}

fn nowhere(piece: &Piece) -> Fault {
    Fault::not_found(format!("no text is known for {piece}"))
        .hint("Give it in texts, as {\"^a7f\": \"the text\"}.")
}

/// A part of a message.
struct Part {
    item: Item,
    text: Arc<str>,
}

/// The part of a message that a piece stands for; the newest, where several say the same.
fn said(work: &mut Work<'_, '_>, piece: &Piece) -> Result<Option<Part>> {
    let parts = match &piece.of {
        None => everywhere(work, &piece.id)?,
        Some(item) => {
            let ws = work.ws();
            let item = match name::look(work.tx, ws, item)? {
                Some(name::Found::Item(item)) => *item,
                _ => return Ok(None),
            };
            of_item(work, item, &piece.id)?
        }
    };
    let mut parts = parts.into_iter();
    let Some(first) = parts.next() else {
        return Ok(None);
    };
    let others: Vec<Part> = parts.filter(|part| part.text != first.text).collect();
    if others.is_empty() {
        return Ok(Some(first));
    }
    let all = std::iter::once(&first).chain(&others);
    let candidates: Vec<String> = all
        .map(|part| format!("{}#{}", item_name(&part.item.uuid), piece.id))
        .collect();
    Err(
        Fault::conflict(format!("{} stands for several texts", piece.id))
            .details(json!({ "candidates": candidates }))
            .hint("Say which message is meant, as item_<uuid>#^a7f, or give the text in texts."),
    )
}

fn everywhere(work: &mut Work<'_, '_>, id: &str) -> Result<Vec<Part>> {
    let ws = work.ws();
    let mut places: Vec<Seq> = fragments::places(work.tx, ws, id, CANDIDATES)?
        .into_iter()
        .map(|place| place.seq)
        .collect();
    places.dedup();
    let mut parts = Vec::new();
    for seq in places {
        if let Some(item) = items::get(work.tx, ws, seq)? {
            parts.extend(of_item(work, item, id)?);
        }
    }
    Ok(parts)
}

fn of_item(work: &mut Work<'_, '_>, item: Item, id: &str) -> Result<Vec<Part>> {
    let ws = work.ws();
    let caller = work.caller;
    if let Some(thread) = item.entity
        && !may_read(work.tx, ws, caller, thread)?
    {
        return Ok(Vec::new());
    }
    let parts = refs::parts(&item).into_iter();
    let parts = parts.filter(|(part, _)| part == id).map(|(_, text)| Part {
        item: item.clone(),
        text: text.into(),
    });
    Ok(parts.collect())
}

/// A text that a version of the artifact holds or held.
fn in_artifact(
    work: &mut Work<'_, '_>,
    found: &Found,
    parent: &Version,
    id: &str,
) -> Result<Option<Arc<str>>> {
    let here = parent.lines.iter().find(|line| line.fragment() == id);
    if let Some(line) = here {
        return Ok(Some(line.text.clone()));
    }
    let ws = work.ws();
    for commit in artifacts::commits(work.tx, ws, found.id(), Seq::MAX, COMMITS)? {
        let delta = items::get(work.tx, ws, commit.seq)?.and_then(|item| Delta::of(&item));
        let texts = delta.map(|delta| delta.texts).unwrap_or_default();
        if let Some(text) = texts.into_iter().find(|text| fragment_id(text) == id) {
            return Ok(Some(text.into()));
        }
    }
    Ok(None)
}

/// Most fragments that one commit cites.
const REFERENCES: usize = 1_000;

pub fn check_references(references: &[String]) -> Result<()> {
    if references.len() > REFERENCES {
        let problem = format!(
            "has {} entries; at most {REFERENCES} are allowed",
            references.len()
        );
        return Err(Fault::invalid("references", problem));
    }
    for (at, reference) in references.iter().enumerate() {
        if lines::piece(reference).is_none() {
            return Err(Fault::invalid(
                format!("references[{at}]"),
                "must be a fragment: ^a7f or item_<uuid>#^a7f",
            ));
        }
    }
    Ok(())
}

/// What a commit cites: each must stand for something.
pub fn references(
    work: &mut Work<'_, '_>,
    found: &Found,
    versions: [&Version; 2],
    references: &[String],
) -> Result<Vec<Mention>> {
    let mut mentions = Vec::new();
    for (at, reference) in references.iter().enumerate() {
        let field = format!("references[{at}]");
        let Some(piece) = lines::piece(reference) else {
            return Err(Fault::invalid(field, "must name a fragment"));
        };
        let here = |fault: Fault| fault.details(json!({ "field": field }));
        match said(work, &piece) {
            Ok(Some(part)) => mentions.push(Mention {
                target: part.item.seq,
                kind: "fragment".into(),
                span: (0, 0),
                fragment: Some(piece.id),
            }),
            Ok(None) => {
                let [before, after] = versions;
                let new = after.lines.iter().any(|line| line.fragment() == piece.id);
                let own = piece.of.is_none()
                    && (new || in_artifact(work, found, before, &piece.id)?.is_some());
                if !own {
                    return Err(here(nowhere(&piece).hint("Cite a part of a message.")));
                }
            }
            Err(fault) if fault.code == Code::Conflict => return Err(here(fault)),
            Err(fault) => return Err(fault),
        }
    }
    Ok(mentions)
}
