//! `garden_artifact_merge`: two lines of versions become one again.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use understory_model::Seq;
use understory_model::error::{Fault, Result};
use understory_model::lines::{self, Choice, Conflict, Merged, Side};
use understory_storage::artifacts::Commit;

use crate::Work;
use crate::garden::artifact::Shown;
use crate::garden::artifact::commit::{self, Committed, Given, check_content, check_given};
use crate::garden::artifact::write::{Made, Next, write};
use crate::kernel::artifact::{Found, at, commit_named, common_ancestor};
use crate::kernel::checked::{Check, Checked};

/// A merge to be made.
#[derive(Debug, Clone)]
pub struct New {
    pub artifact: String,
    pub ours: String,
    pub theirs: String,
    /// What is to stand at each conflict, by its index.
    pub choices: BTreeMap<usize, Choice>,
    pub given: Given,
    pub project: Option<String>,
}

/// Reads the choices: `"ours"`, `"theirs"`, `"base"` or `{"content": text}`, in a list in the order
/// of the conflicts or in an object by their index.
pub fn choices(given: Option<&Value>) -> Result<BTreeMap<usize, Choice>> {
    let each: Vec<(usize, &Value)> = match given {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list.iter().enumerate().collect(),
        Some(Value::Object(map)) => {
            let mut each = Vec::with_capacity(map.len());
            for (key, choice) in map {
                let index = key.parse().ok().filter(|n: &usize| n.to_string() == *key);
                let index = index.ok_or_else(|| {
                    let shown: String = key.chars().take(20).collect();
                    Fault::invalid(
                        format!("resolutions.{shown}"),
                        "must be the index of a conflict",
                    )
                })?;
                each.push((index, choice));
            }
            each
        }
        Some(_) => {
            return Err(Fault::invalid(
                "resolutions",
                "must be an array or an object",
            ));
        }
    };
    let each = each.into_iter().filter(|(_, choice)| !choice.is_null());
    each.map(|(index, given)| Ok((index, choice(index, given)?)))
        .collect()
}

fn choice(index: usize, given: &Value) -> Result<Choice> {
    let field = format!("resolutions.{index}");
    let content = given.as_object().filter(|fields| fields.len() == 1);
    let content = content.and_then(|fields| fields.get("content")?.as_str());
    match (given.as_str(), content) {
        (Some("ours"), _) => Ok(Choice::Ours),
        (Some("theirs"), _) => Ok(Choice::Theirs),
        (Some("base"), _) => Ok(Choice::Base),
        (_, Some(content)) => {
            check_content(&field, content)?;
            Ok(Choice::Content(content.to_string()))
        }
        _ => Err(Fault::invalid(
            field,
            "must be ours, theirs, base or {\"content\": text}",
        )),
    }
}

impl Check for New {
    fn check(&self) -> Result<()> {
        check_given(&self.given)
    }
}

/// The answer of `garden_artifact_merge`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Merge {
    /// Both sides changed the same lines; nothing was written.
    Open(Open),
    Done(Done),
    /// The head contains the other side already; nothing was written.
    Contained(Contained),
}

/// What a merge has to be told before it can be made.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Open {
    pub conflicts: Vec<Disputed>,
    pub ours: String,
    pub theirs: String,
    /// Always false.
    pub merged: bool,
    pub artifact: Shown,
}

/// Lines that both sides changed.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Disputed {
    /// By which `resolutions` names it.
    pub index: usize,
    pub base: Stretch,
    pub ours: Stretch,
    pub theirs: Stretch,
}

/// Lines from `start`, counted from 1, to `end`, included; none where `end` is before `start`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Stretch {
    pub start: usize,
    pub end: usize,
    pub lines: Vec<String>,
}

/// The commit that a merge made.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Done {
    #[serde(flatten)]
    pub made: Committed,
    /// Always true.
    pub merged: bool,
}

/// The commit that contains both sides.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Contained {
    pub commit: String,
    /// Always false.
    pub merged: bool,
    pub artifact: Shown,
}

pub fn merge(work: &mut Work<'_, '_>, new: &Checked<New>) -> Result<Merge> {
    let (found, log) = commit::to_write(work, new.project.as_deref(), &new.artifact)?;
    let (ws, id) = (work.ws(), found.id());
    let ours = commit_named(work.read()?, ws, &found, "ours", &new.ours)?;
    let theirs = commit_named(work.read()?, ws, &found, "theirs", &new.theirs)?;
    check_head(&found, &ours, &theirs)?;
    let base = common_ancestor(work.read()?, ws, id, (ours.seq, theirs.seq))?;
    // Nothing to do where the head contains the other side already.
    if base == Some(theirs.seq) && ours.seq == found.row.head {
        return Ok(contained(&found, &ours));
    }
    if base == Some(ours.seq) && theirs.seq == found.row.head {
        return Ok(contained(&found, &theirs));
    }
    let base = at(work.read()?, ws, id, base.unwrap_or(Seq::ZERO))?;
    let our_version = at(work.read()?, ws, id, ours.seq)?;
    let their_version = at(work.read()?, ws, id, theirs.seq)?;
    let (merged, met) = lines::merge(&base, &our_version, &their_version, &new.choices);
    if let Some(index) = new.choices.keys().find(|index| **index >= met) {
        let problem = format!("names no conflict: there are {met}, numbered from 0");
        return Err(Fault::invalid(format!("resolutions.{index}"), problem));
    }
    let (edit, ended) = match merged {
        Merged::Clean { edit, ended } => (edit, ended),
        Merged::Open(open) => return Ok(conflicts(&found, (&ours, &theirs), &open)),
    };
    let next = Next {
        edit,
        ended,
        field: "resolutions",
        given: None,
        from: Vec::new(),
    };
    let made = Made {
        before: &our_version,
        parent: Some(&ours),
        other: Some(&theirs),
        fork: false,
    };
    let made = write(work, &found, log, next, made, &new.given)?;
    Ok(Merge::Done(Done { made, merged: true }))
}

/// A merge moves the head, so the head is one of its sides: otherwise what it holds would be lost.
fn check_head(found: &Found, ours: &Commit, theirs: &Commit) -> Result<()> {
    if [ours.seq, theirs.seq].contains(&found.row.head) {
        return Ok(());
    }
    let head = found.head.as_ref().map(|head| &head.hash);
    Err(
        Fault::conflict(format!("neither side is the head of {}", found.row.label))
            .detail("current_commit", head)
            .hint("Merge with the current commit."),
    )
}

fn contained(found: &Found, head: &Commit) -> Merge {
    Merge::Contained(Contained {
        commit: head.hash.clone(),
        merged: false,
        artifact: found.shown(),
    })
}

fn conflicts(found: &Found, (ours, theirs): (&Commit, &Commit), open: &[Conflict]) -> Merge {
    let side = |side: &Side| Stretch {
        start: side.range.start + 1,
        end: side.range.end,
        lines: side.lines.iter().map(|line| line.to_string()).collect(),
    };
    let conflicts = open.iter().map(|conflict| Disputed {
        index: conflict.index,
        base: side(&conflict.base),
        ours: side(&conflict.ours),
        theirs: side(&conflict.theirs),
    });
    Merge::Open(Open {
        conflicts: conflicts.collect(),
        ours: ours.hash.clone(),
        theirs: theirs.hash.clone(),
        merged: false,
        artifact: found.shown(),
    })
}
