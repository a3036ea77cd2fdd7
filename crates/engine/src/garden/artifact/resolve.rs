//! Which text a fragment stands for, where a commit brings or cites it.
//!
//! An id has sixteen bits, so two texts may share it: then the caller says which is meant, and
//! nothing is guessed. What somebody may not read cannot be brought out through its id.

use std::collections::BTreeMap;
use std::sync::Arc;

use understory_model::error::{Code, Fault, Result};
use understory_model::fragment::fragment_id;
use understory_model::lines::{self, Op, Piece, Version, Wrong, bare};
use understory_model::text::check_text;
use understory_model::{Id, Seq, limits};
use understory_storage::{artifacts, items};

use crate::Work;
use crate::garden::Mention;
use crate::kernel::artifact::{Found, key};
use crate::kernel::content::artifact_delta::Delta;
use crate::kernel::names::{self, Scope};
use crate::kernel::parts::{self, Part};

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
    /// Of each text, what it was made from.
    pub from: Vec<Option<From>>,
}

/// The part of a message that a line is made from.
#[derive(Debug, Clone)]
pub struct From {
    /// `item_<uuid>#^a7f`.
    pub part: String,
    /// Where the message was found for this commit, rather than in an earlier one.
    pub mention: Option<Mention>,
}

/// A text, and where it came from.
#[derive(Clone)]
struct Brought {
    text: Arc<str>,
    from: Option<From>,
}

impl Brought {
    fn bare(text: &str) -> Brought {
        Brought {
            text: text.into(),
            from: None,
        }
    }

    fn of(part: &Part) -> Brought {
        Brought {
            text: part.content.as_str().into(),
            from: Some(From {
                part: part.anchor(),
                mention: Some(mention(part)),
            }),
        }
    }
}

/// A citation of a part.
fn mention(part: &Part) -> Mention {
    Mention {
        target: Id::of(part.item.seq),
        kind: "fragment".into(),
        span: (0, 0),
        fragment: Some(part.name.to_string()),
    }
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
            return Err(Fault::invalid(
                field,
                format!("does not match its text, whose id is {is}"),
            ));
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
        from: Vec::new(),
    };
    let mut known: BTreeMap<String, Brought> = BTreeMap::new();
    for (at, op) in parsed.into_iter().enumerate() {
        let Some(piece) = op.brings() else {
            resolved.ops.push(op);
            resolved.sources.push(at);
            continue;
        };
        let key = piece.to_string();
        let brought = match (known.get(&key), given.get(&piece.id)) {
            (Some(brought), _) => brought.clone(),
            (None, Some(text)) if piece.of.is_none() => Brought::bare(text),
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
    fn add(&mut self, source: usize, op: Op, brought: &Brought) -> std::result::Result<(), &str> {
        let text = &brought.text;
        let several = bare(text).contains('\n');
        match op {
            Op::Replace { .. } if several => {
                return Err("brings several lines for one; remove the line and add them");
            }
            Op::Add { at, .. } if several => {
                for line in bare(text).split('\n') {
                    // The line's own id is that of its words; its origin keeps the whole part's.
                    let piece = Piece::new(fragment_id(line));
                    let line = Brought {
                        text: line.into(),
                        from: brought.from.clone(),
                    };
                    self.push(source, Op::Add { at, piece }, line);
                }
            }
            Op::Add { at, piece } => {
                let piece = Piece::new(piece.id);
                self.push(source, Op::Add { at, piece }, brought.clone());
            }
            Op::Replace { at, from, to } => {
                let to = Piece::new(to.id);
                self.push(source, Op::Replace { at, from, to }, brought.clone());
            }
            Op::Remove { .. } | Op::Move { .. } => {}
        }
        Ok(())
    }

    fn push(&mut self, source: usize, op: Op, brought: Brought) {
        self.ops.push(op);
        self.texts.push(brought.text);
        self.from.push(brought.from);
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
            "is not used by any operation",
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
) -> Result<Brought> {
    if let Some(part) = said(work, found, piece)? {
        return Ok(Brought::of(&part));
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

/// The part of a message that a piece stands for; the newest, where several say the same.
fn said(work: &mut Work<'_, '_>, found: &Found, piece: &Piece) -> Result<Option<Part>> {
    let scope = Scope {
        ws: work.ws(),
        project: Some(found.row.project),
        caller: work.caller,
    };
    let parts = match &piece.of {
        None => parts::all(work.read()?, scope, &piece.id, CANDIDATES)?,
        Some(item) => match names::look(work.read()?, scope, item)? {
            Some(names::Found::Item(item)) => parts::of_item(&item, &piece.id),
            _ => return Ok(None),
        },
    };
    let meant = |part: &Part| {
        let nth = part.name.nth.unwrap_or(1);
        piece.nth.is_none_or(|wanted| wanted == nth)
    };
    let mut parts = parts.into_iter().filter(meant);
    let Some(first) = parts.next() else {
        return Ok(None);
    };
    let others: Vec<Part> = parts.filter(|part| part.content != first.content).collect();
    if others.is_empty() {
        return Ok(Some(first));
    }
    let candidates: Vec<String> = std::iter::once(&first)
        .chain(&others)
        .map(Part::anchor)
        .collect();
    let hint = format!("Say which is meant, such as {}.", candidates[0]);
    Err(Fault::conflict(format!("{piece} stands for several texts"))
        .detail("candidates", &candidates)
        .hint(hint))
}

/// A text that a version of the artifact holds or held, with what that was made from.
fn in_artifact(
    work: &mut Work<'_, '_>,
    found: &Found,
    parent: &Version,
    id: &str,
) -> Result<Option<Brought>> {
    let ws = work.ws();
    let here = parent.lines.iter().find(|line| line.fragment() == id);
    if let Some(line) = here {
        let origin = key(line.origin);
        let sources = artifacts::sources(work.read()?, ws, found.id(), &[origin.0])?;
        let from = sources.get(&origin).map(|part| From {
            part: part.clone(),
            mention: None,
        });
        return Ok(Some(Brought {
            text: line.text.clone(),
            from,
        }));
    }
    for commit in artifacts::commits(work.read()?, ws, found.id(), Seq::MAX, COMMITS)? {
        let delta = items::get(work.read()?, ws, commit.seq)?.and_then(|item| Delta::of(&item));
        let texts = delta.map(|delta| delta.texts).unwrap_or_default();
        if let Some(text) = texts.into_iter().find(|text| fragment_id(text) == id) {
            return Ok(Some(Brought::bare(&text)));
        }
    }
    Ok(None)
}

pub fn check_references(references: &[String]) -> Result<()> {
    if references.len() > limits::COMMIT_REFERENCES {
        let problem = format!(
            "has {} entries; at most {} are allowed",
            references.len(),
            limits::COMMIT_REFERENCES
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
        let here = |fault: Fault| fault.detail("field", &field);
        match said(work, found, &piece) {
            Ok(Some(part)) => mentions.push(mention(&part)),
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
