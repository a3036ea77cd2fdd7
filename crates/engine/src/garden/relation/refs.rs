//! References in texts: what each stands for, and the text as a person reads it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::{Fit, Shape};
use understory_model::budget::Drop;
use understory_model::error::{Fault, Result};
use understory_model::fragment::Anchor;
use understory_model::id::item_name;
use understory_model::refs::{Around, LinesName, Target, Wide, parse_references, wide_references};
use understory_model::text::{check_text, cut};
use understory_model::{Caller, Id, Seq, limits};
use understory_storage::ReadTx;

use crate::garden::shape::Shapes;
use crate::kernel::artifact;
use crate::kernel::checked::{Check, Checked};
use crate::kernel::core::Thing;
use crate::kernel::names::{self, Found, Scope};
use crate::kernel::parts::{self};
use crate::kernel::references::{labelled, part};
use crate::kernel::titles::{self, PREVIEW};
use crate::kinds::{LOG, RELATION};

/// A text whose references are asked for.
#[derive(Debug, Clone)]
pub struct Text {
    pub content: String,
}

impl Check for Text {
    fn check(&self) -> Result<()> {
        check_text("content", &self.content, limits::BODY_BYTES, true)?;
        let (count, most) = (parse_references(&self.content).len(), limits::REFERENCES);
        if count > most {
            let problem = format!("has {count} references; at most {most} are resolved at once");
            return Err(Fault::invalid("content", problem).hint("Split the text."));
        }
        Ok(())
    }
}

/// The answer of `garden_refs`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct References {
    pub refs: Vec<Reference>,
}

impl Fit for References {
    const SHAPE: Shape = Shape::List {
        list: "refs",
        drop: Drop::Last,
    };
}

/// A reference in a text.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Reference {
    #[serde(flatten)]
    pub named: Named,
    /// Where it stands in the text, in characters.
    pub span: (usize, usize),
    /// Whether there is such a thing.
    pub resolved: bool,
    /// All that a person reads as the reference, where that is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<(usize, usize)>,
}

/// What a reference names, and what that is, if there is such a thing.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Named {
    /// A part of a message.
    Fragment {
        id: String,
        #[serde(flatten)]
        found: Option<FoundPart>,
    },
    /// A line of an artifact, or several.
    ArtifactLine {
        label: String,
        line: LineNumber,
        /// The last line of a range.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end: Option<i64>,
        commit: Option<String>,
        #[serde(flatten)]
        found: Option<FoundLines>,
    },
    ConversationLog {
        uuid: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary_or_first_fragment: Option<String>,
    },
    /// An item or entity.
    Item {
        uuid: String,
        #[serde(flatten)]
        found: Option<FoundThing>,
    },
}

impl Named {
    fn is_resolved(&self) -> bool {
        match self {
            Named::Fragment { found, .. } => found.is_some(),
            Named::ArtifactLine { found, .. } => found.is_some(),
            Named::ConversationLog {
                summary_or_first_fragment: told,
                ..
            } => told.is_some(),
            Named::Item { found, .. } => found.is_some(),
        }
    }
}

/// The number of a line. One that no artifact can have is shown as it was written.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LineNumber {
    Number(i64),
    Written(String),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct FoundPart {
    /// How it begins.
    pub preview: String,
    pub message_uuid: String,
    pub position: usize,
    /// The last part of a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// Another text has the same id.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ambiguous: bool,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct FoundLines {
    /// The artifact.
    pub uuid: String,
    pub content: String,
    /// The commit at which they were read.
    pub at: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct FoundThing {
    #[serde(rename = "_type")]
    pub kind: String,
    pub preview: String,
}

/// Each reference of a text with what it stands for.
pub fn resolve(
    tx: &mut ReadTx<'_>,
    scope: Scope<'_>,
    caller: &Caller,
    text: &Checked<Text>,
) -> Result<References> {
    let text = text.content.as_str();
    let chars: Vec<char> = text.chars().collect();
    let refs = wide_references(text).into_iter().map(|one| {
        let span = one.found.span;
        let (named, whole) = resolved(tx, scope, caller, &chars, one)?;
        let resolved = named.is_resolved();
        Ok(Reference {
            named,
            span,
            resolved,
            whole: Some(whole).filter(|whole| resolved && *whole != span),
        })
    });
    let refs = refs.collect::<Result<_>>()?;
    Ok(References { refs })
}

/// The number of a line as it stands in `label:line[@commit]`.
fn written_line(text: &[char]) -> LineNumber {
    let number = text.iter().skip_while(|c| **c != ':').skip(1);
    LineNumber::Written(number.take_while(|c| **c != '@').collect())
}

/// A reference with what it stands for, and the stretch of the text that says it.
fn resolved(
    tx: &mut ReadTx<'_>,
    scope: Scope<'_>,
    caller: &Caller,
    text: &[char],
    one: Wide,
) -> Result<(Named, (usize, usize))> {
    let (span, mut whole) = (one.found.span, one.whole);
    let named = match one.found.what {
        Target::Fragment(id) => Named::Fragment {
            found: of_fragment(tx, scope, &id, &one.around)?,
            id,
        },
        Target::Line {
            label,
            line,
            commit,
        } => {
            let (end, at) = match &one.around {
                Around::Lines(lines) => (lines.last, lines.commit.clone()),
                _ => (None, None),
            };
            let commit = at.or(commit);
            let wanted = line.map(|first| LinesName {
                label: &label,
                first,
                last: end.unwrap_or(first),
                commit: commit.as_deref(),
            });
            let found = of_lines(tx, scope, wanted, &one.around)?;
            // What stands before the label belongs to it only if it was needed to find it.
            if found.as_ref().is_none_or(|(_, outer)| !outer) {
                whole.0 = span.0;
            }
            let written = || written_line(&text[span.0..span.1]);
            Named::ArtifactLine {
                line: line.map_or_else(written, LineNumber::Number),
                end,
                found: found.map(|(found, _)| found),
                commit,
                label,
            }
        }
        Target::Log(uuid) => Named::ConversationLog {
            summary_or_first_fragment: of_log(tx, scope, caller, &uuid)?,
            uuid,
        },
        Target::Item(uuid) => Named::Item {
            found: of_item(tx, scope, caller, &uuid)?,
            uuid,
        },
    };
    Ok((named, whole))
}

fn of_fragment(
    tx: &mut ReadTx<'_>,
    scope: Scope<'_>,
    id: &str,
    around: &Around,
) -> Result<Option<FoundPart>> {
    let last = match around {
        Around::Part(Anchor { last, .. }) => last.as_ref().map(ToString::to_string),
        _ => None,
    };
    Ok(part(tx, scope, id, around)?.map(|part| FoundPart {
        preview: cut(&part.content, PREVIEW),
        message_uuid: item_name(&part.item.uuid),
        position: part.position,
        last,
        ambiguous: part.ambiguous,
    }))
}

/// Lines of an artifact, and whether what stands before the label was needed to find it.
fn of_lines(
    tx: &mut ReadTx<'_>,
    scope: Scope<'_>,
    wanted: Option<LinesName<'_>>,
    around: &Around,
) -> Result<Option<(FoundLines, bool)>> {
    let Some(wanted) = wanted else {
        return Ok(None);
    };
    let Some((id, outer)) = labelled(tx, scope, wanted.label, around)? else {
        return Ok(None);
    };
    let found = artifact::lines_of(tx, scope.ws, id, &wanted)?;
    Ok(found.map(|found| {
        let contents: Vec<&str> = found.lines.iter().map(|line| &*line.content).collect();
        let content = match contents.as_slice() {
            [one] => one.to_string(),
            some => some.join("\n").chars().take(limits::RANGE_CHARS).collect(),
        };
        let found = FoundLines {
            uuid: found.artifact.name,
            content,
            at: found.at.hash,
        };
        (found, outer)
    }))
}

fn of_log(
    tx: &mut ReadTx<'_>,
    scope: Scope<'_>,
    caller: &Caller,
    uuid: &str,
) -> Result<Option<String>> {
    let Some(Found::Entity(entity)) = names::look(tx, scope, uuid)? else {
        return Ok(None);
    };
    if entity.kind != LOG {
        return Ok(None);
    }
    let id = entity.id;
    let thing = Thing::open(*entity)?;
    let told = match thing
        .data
        .get("summary")
        .and_then(|summary| summary["content"].as_str())
    {
        Some(summary) => cut(summary, PREVIEW),
        None => first_words(tx, scope, caller, id)?,
    };
    Ok(Some(told))
}

/// How a conversation begins.
fn first_words(tx: &mut ReadTx<'_>, scope: Scope<'_>, caller: &Caller, log: Id) -> Result<String> {
    let ws = scope.ws;
    let first = understory_storage::logs::items(tx, ws, log, (Seq::ZERO, Seq::MAX), 1)?.pop();
    let Some(first) = first else {
        return Ok(String::new());
    };
    match parts::parts(&first).into_iter().next() {
        Some(part) => Ok(cut(&part.content, PREVIEW)),
        None => Ok(Shapes::load(tx, ws, caller, [&first])?.text(&first)),
    }
}

fn of_item(
    tx: &mut ReadTx<'_>,
    scope: Scope<'_>,
    caller: &Caller,
    uuid: &str,
) -> Result<Option<FoundThing>> {
    let ws = scope.ws;
    let (kind, preview) = match names::look(tx, scope, uuid)? {
        None => return Ok(None),
        Some(Found::Item(item)) => {
            let text = Shapes::load(tx, ws, caller, [&*item])?.text(&item);
            (item.kind, text)
        }
        Some(Found::Entity(entity)) => {
            let text = titles::entity_text(tx, ws, caller, entity.id)?;
            (entity.kind, text)
        }
        Some(Found::Relation(..)) => (RELATION.to_string(), String::new()),
    };
    Ok(Some(FoundThing { kind, preview }))
}

/// The text with each reference as what a person reads: `[what it stands for]`.
pub fn render(
    tx: &mut ReadTx<'_>,
    scope: Scope<'_>,
    caller: &Caller,
    text: &str,
) -> Result<String> {
    let mut refs = wide_references(text);
    // Where one stretch is several references, the longest says most.
    refs.sort_by_key(|one| (one.whole.0, std::cmp::Reverse(one.whole.1)));
    let chars: Vec<char> = text.chars().collect();
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for one in refs {
        if one.found.span.0 < at {
            continue;
        }
        let (named, (start, end)) = resolved(tx, scope, caller, &chars, one)?;
        if start < at {
            continue;
        }
        let Some(shown) = readable(&named, &chars[start..end]) else {
            continue;
        };
        out.extend(&chars[at..start]);
        out.push_str(&shown);
        at = end;
    }
    out.extend(&chars[at..]);
    Ok(out)
}

/// What a person reads in place of a reference; `None` leaves it as it is written.
fn readable(named: &Named, written: &[char]) -> Option<String> {
    let told = match named {
        Named::ArtifactLine {
            label,
            line: LineNumber::Number(line),
            end,
            found: Some(_),
            ..
        } => match end {
            Some(end) => format!("{} lines {line} to {end}", label.trim()),
            None => format!("{} line {line}", label.trim()),
        },
        // The author said already what to call it.
        Named::ConversationLog {
            summary_or_first_fragment: Some(told),
            ..
        } => {
            let written: String = written.iter().collect();
            let (said, _) = written.strip_prefix('[')?.rsplit_once("](")?;
            match said.trim() {
                "" => told.trim().to_string(),
                said => said.to_string(),
            }
        }
        Named::Fragment {
            found: Some(FoundPart { preview, .. }),
            ..
        }
        | Named::Item {
            found: Some(FoundThing { preview, .. }),
            ..
        } => preview.trim().to_string(),
        _ => return None,
    };
    (!told.is_empty()).then(|| format!("[{}]", cut(&told, 80)))
}
