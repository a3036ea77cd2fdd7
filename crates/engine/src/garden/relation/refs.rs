//! References in texts: what each stands for, and the text as a person reads it.

use serde_json::{Value, json};
use understory_model::error::Result;
use understory_model::fragment::Anchor;
use understory_model::id::item_name;
use understory_model::refs::{Around, LinesName, Target, Wide, wide_references};
use understory_model::text::cut;
use understory_model::{Caller, Id, Seq};
use understory_storage::Tx;

use crate::garden::shape::Shapes;
use crate::kernel::artifact;
use crate::kernel::core::Thing;
use crate::kernel::names::{self, Found, Scope};
use crate::kernel::parts::{self};
use crate::kernel::references::{labelled, part};
use crate::kernel::titles::{self, PREVIEW};
use crate::kinds::LOG;

/// Characters of the lines that a reference to a range shows.
const RANGE_CHARS: usize = 2_000;

/// Each reference of a text with what it stands for.
pub fn resolve(
    tx: &mut Tx<'_>,
    scope: Scope<'_>,
    caller: &Caller,
    text: &str,
) -> Result<Vec<Value>> {
    let chars: Vec<char> = text.chars().collect();
    let refs = wide_references(text);
    refs.iter()
        .map(|one| Ok(resolved(tx, scope, caller, &chars, one)?.shape))
        .collect()
}

/// The same before anything was written.
pub fn unresolved(text: &str) -> Vec<Value> {
    let chars: Vec<char> = text.chars().collect();
    let refs = wide_references(text);
    refs.iter().map(|one| bare(&chars, one)).collect()
}

/// A reference as it is written: what the four patterns say of it, and what stands around it.
fn bare(text: &[char], one: &Wide) -> Value {
    let span = one.found.span;
    let mut shape = match &one.found.what {
        Target::Fragment(id) => json!({ "id": id }),
        Target::Line {
            label,
            line,
            commit,
        } => {
            // No artifact has so many lines; the number is shown as it was written.
            let written = || {
                let written = text[span.0..span.1]
                    .iter()
                    .skip_while(|c| **c != ':')
                    .skip(1);
                written.take_while(|c| **c != '@').collect::<String>()
            };
            let line = line.map_or_else(|| written().into(), Value::from);
            json!({ "label": label, "line": line, "commit": commit })
        }
        Target::Log(uuid) | Target::Item(uuid) => json!({ "uuid": uuid }),
    };
    shape["type"] = one.found.what.kind().into();
    shape["span"] = json!([span.0, span.1]);
    shape["resolved"] = false.into();
    if let Around::Lines(lines) = &one.around {
        if let Some(last) = lines.last {
            shape["end"] = last.into();
        }
        if let Some(commit) = &lines.commit {
            shape["commit"] = commit.clone().into();
        }
    }
    shape
}

/// A reference with what it stands for, and the stretch of the text that says it.
struct Known {
    shape: Value,
    whole: (usize, usize),
}

fn resolved(
    tx: &mut Tx<'_>,
    scope: Scope<'_>,
    caller: &Caller,
    text: &[char],
    one: &Wide,
) -> Result<Known> {
    let mut shape = bare(text, one);
    let mut whole = one.whole;
    let known = match &one.found.what {
        Target::Fragment(id) => of_fragment(tx, scope, id, &one.around)?,
        Target::Line {
            label,
            line,
            commit,
        } => {
            let place = (label.as_str(), *line, commit.as_deref());
            let (known, outer) = of_lines(tx, scope, place, &one.around)?;
            if !outer {
                whole.0 = one.found.span.0;
            }
            known
        }
        Target::Log(uuid) => of_log(tx, scope, caller, uuid)?,
        Target::Item(uuid) => of_item(tx, scope, caller, uuid)?,
    };
    shape["resolved"] = known.is_some().into();
    if known.is_some() && whole != one.found.span {
        shape["whole"] = json!([whole.0, whole.1]);
    }
    if let (Some(shape), Some(Value::Object(known))) = (shape.as_object_mut(), known) {
        shape.extend(known);
    }
    Ok(Known { shape, whole })
}

fn of_fragment(
    tx: &mut Tx<'_>,
    scope: Scope<'_>,
    id: &str,
    around: &Around,
) -> Result<Option<Value>> {
    let Some(part) = part(tx, scope, id, around)? else {
        return Ok(None);
    };
    let mut known = json!({
        "preview": cut(&part.content, PREVIEW),
        "message_uuid": item_name(&part.item.uuid),
        "position": part.position,
    });
    if let Around::Part(Anchor {
        last: Some(last), ..
    }) = around
    {
        known["last"] = last.to_string().into();
    }
    if part.ambiguous {
        known["ambiguous"] = true.into();
    }
    Ok(Some(known))
}

/// Lines of an artifact, and whether what stands before the label was needed to find it.
fn of_lines(
    tx: &mut Tx<'_>,
    scope: Scope<'_>,
    (label, line, commit): (&str, Option<i64>, Option<&str>),
    around: &Around,
) -> Result<(Option<Value>, bool)> {
    let Some(first) = line else {
        return Ok((None, false));
    };
    let Some((id, outer)) = labelled(tx, scope, label, around)? else {
        return Ok((None, false));
    };
    let (mut last, mut at) = (first, commit);
    if let Around::Lines(lines) = around {
        last = lines.last.unwrap_or(first);
        at = lines.commit.as_deref().or(commit);
    }
    let wanted = LinesName {
        label,
        first,
        last,
        commit: at,
    };
    let found = artifact::lines_of(tx, scope.ws, id, &wanted)?;
    let known = found.map(|found| {
        let contents: Vec<&str> = found.lines.iter().map(|line| &*line.content).collect();
        let content = match contents.as_slice() {
            [one] => one.to_string(),
            some => some.join("\n").chars().take(RANGE_CHARS).collect(),
        };
        json!({ "uuid": found.artifact.name, "content": content, "at": found.at.hash })
    });
    Ok((known, outer))
}

fn of_log(tx: &mut Tx<'_>, scope: Scope<'_>, caller: &Caller, uuid: &str) -> Result<Option<Value>> {
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
    Ok(Some(json!({ "summary_or_first_fragment": told })))
}

/// How a conversation begins.
fn first_words(tx: &mut Tx<'_>, scope: Scope<'_>, caller: &Caller, log: Id) -> Result<String> {
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
    tx: &mut Tx<'_>,
    scope: Scope<'_>,
    caller: &Caller,
    uuid: &str,
) -> Result<Option<Value>> {
    let ws = scope.ws;
    Ok(match names::look(tx, scope, uuid)? {
        None => None,
        Some(Found::Item(item)) => {
            let shapes = Shapes::load(tx, ws, caller, [&*item])?;
            Some(json!({ "_type": item.kind, "preview": shapes.text(&item) }))
        }
        Some(Found::Entity(entity)) => {
            let preview = titles::entity_text(tx, ws, caller, entity.id)?;
            Some(json!({ "_type": entity.kind, "preview": preview }))
        }
        Some(Found::Relation(..)) => Some(json!({ "_type": "relation", "preview": "" })),
    })
}

/// The text with each reference as what a person reads: `[what it stands for]`.
pub fn render(tx: &mut Tx<'_>, scope: Scope<'_>, caller: &Caller, text: &str) -> Result<String> {
    let mut refs = wide_references(text);
    // Where one stretch is several references, the longest says most.
    refs.sort_by_key(|one| (one.whole.0, std::cmp::Reverse(one.whole.1)));
    let chars: Vec<char> = text.chars().collect();
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for one in refs {
        if one.found.span.0 < at {
            continue;
        }
        let known = resolved(tx, scope, caller, &chars, &one)?;
        let (start, end) = known.whole;
        if start < at {
            continue;
        }
        let Some(shown) = readable(&known.shape, &chars[start..end]) else {
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
fn readable(known: &Value, written: &[char]) -> Option<String> {
    if known["resolved"] != true {
        return None;
    }
    let text = |field: &str| known[field].as_str().unwrap_or_default().trim().to_string();
    let told = match known["type"].as_str()? {
        "artifact_line" => match known.get("end") {
            Some(end) => format!("{} lines {} to {end}", text("label"), known["line"]),
            None => format!("{} line {}", text("label"), known["line"]),
        },
        // The author said already what to call it.
        "conversation_log" => {
            let written: String = written.iter().collect();
            let (said, _) = written.strip_prefix('[')?.rsplit_once("](")?;
            match said.trim() {
                "" => text("summary_or_first_fragment"),
                said => said.to_string(),
            }
        }
        _ => text("preview"),
    };
    (!told.is_empty()).then(|| format!("[{}]", cut(&told, 80)))
}
