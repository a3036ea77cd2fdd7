//! `garden_relate`: relations between things.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::{fields_of, json_of};
use understory_model::error::{Code, Fault, Result};
use understory_model::fact::{Corrected, Fact};
use understory_model::fragment::parse_anchor;
use understory_model::item::Gone;
use understory_model::refs::parse_lines;
use understory_model::text::quoted;
use understory_model::{Id, Role, Seq, limits, link};
use understory_storage::relations::End;
use understory_storage::{ReadTx, items, relations as rows};

use crate::Work;
use crate::garden::relation::relations;
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::relation::{KINDS, TRIGGERS, is_mutable};
use crate::kernel::names::{self, Found, Scope};
use crate::kernel::work::{Create, Edit};
use crate::kernel::{artifact, parts, project};
use crate::kinds::EntityKind;

/// A relation to be made or removed.
#[derive(Debug, Clone)]
pub struct New {
    pub kind: String,
    pub source: String,
    pub target: String,
    pub confidence: Option<f64>,
    pub metadata: Option<Map<String, Value>>,
    pub remove: bool,
}

/// Refuses what is not a kind of relation.
pub fn check_kind(named: &str) -> Result<()> {
    if KINDS.iter().any(|(kind, _)| *kind == named) {
        return Ok(());
    }
    let allowed = KINDS.map(|(kind, _)| kind);
    Err(
        Fault::invalid("kind", format!("must be one of {}", allowed.join(", ")))
            .detail("field", "kind")
            .detail("allowed", allowed),
    )
}

impl Check for New {
    fn check(&self) -> Result<()> {
        check_kind(&self.kind)?;
        if self
            .confidence
            .is_some_and(|sure| !(0.0..=1.0).contains(&sure))
        {
            return Err(Fault::invalid("confidence", "must be between 0 and 1"));
        }
        let size = self
            .metadata
            .as_ref()
            .map_or(Ok(0), |metadata| Ok(json_of(metadata)?.to_string().len()))?;
        if size > limits::METADATA_BYTES {
            let problem = format!("has {size} bytes; at most {} fit", limits::METADATA_BYTES);
            return Err(Fault::invalid("metadata", problem));
        }
        Ok(())
    }
}

/// One end of a relation.
#[derive(Debug, Clone)]
pub struct Side {
    pub id: Id,
    pub kind: &'static str,
    pub fragment: Option<String>,
}

/// The thing that a name stands for; a part of a message or a line only where it is related to.
fn side(tx: &mut ReadTx<'_>, scope: Scope<'_>, field: &str, named: &str) -> Result<Side> {
    let target = field == "target";
    if let Some(anchor) = parse_anchor(named).filter(|_| target) {
        let Some(part) = parts::anchored(tx, scope, &anchor)? else {
            return Err(names::nothing(tx, scope, field, named)?);
        };
        return Ok(Side {
            id: Id::of(part.item.seq),
            kind: "fragment",
            fragment: Some(part.name.to_string()),
        });
    }
    if let Some(lines) = parse_lines(named).filter(|_| target)
        && let Some(found) = artifact::lines_at(tx, scope, &lines)?
    {
        return Ok(Side {
            id: found.artifact.id(),
            kind: "artifact",
            fragment: found.lines.first().map(|line| line.fragment.clone()),
        });
    }
    let found = names::find(tx, scope, field, named)?;
    if matches!(found, Found::Relation(..)) {
        return Err(Fault::invalid(field, "is a relation itself"));
    }
    Ok(Side {
        id: found.id(),
        kind: found.type_name(),
        fragment: None,
    })
}

/// The answer of `garden_relate`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Related {
    pub relation: Option<relations::Shown>,
}

pub fn relate(work: &mut Work<'_, '_>, new: &Checked<New>) -> Result<Related> {
    let scope = work.scope()?;
    let source = side(work.read()?, scope, "source", &new.source)?;
    let target = side(work.read()?, scope, "target", &new.target)?;
    if source.id == target.id && source.kind == target.kind {
        return Err(Fault::invalid("target", "is the source itself"));
    }
    if new.remove {
        return remove(work, new, &source, &target);
    }
    check_free(work, &new.kind, &source, &target)?;
    check_circle(work, &new.kind, source.id, target.id)?;
    let (ws, now) = (scope.ws, work.now);
    // Between the same two the same is said once, unless it has come to rest since.
    let there = rows::between(work.read()?, ws, &new.kind, source.id, target.id)?;
    let there = there.filter(|one| one.fragment == target.fragment);
    let there = there.filter(|one| !one.fossil || !is_mutable(&new.kind));
    let made = match there.filter(|_| link::rule(&new.kind) == link::rule("")) {
        Some(there) => again(work, new, there.made)?,
        None => record(work, &new.kind, &source, &target, new)?,
    };
    let relation = relations::shown(work.read()?, ws, now, made, 0)?;
    Ok(Related { relation })
}

/// The same relation again: with another confidence or other metadata it is changed.
fn again(work: &mut Work<'_, '_>, new: &New, made: Seq) -> Result<Seq> {
    let relation = Id::of(made);
    let before = &work.thing(relation)?.data;
    let mut data = before.clone();
    if new.confidence.is_some() {
        data.insert("confidence".into(), new.confidence.into());
    }
    if new.metadata.is_some() {
        data.insert("metadata".into(), new.metadata.clone().into());
    }
    if data == *before {
        return Ok(made);
    }
    if !is_mutable(&new.kind) {
        let message = format!("{} says what happened and stays as it was said", new.kind);
        return Err(Fault::new(Code::Immutable, message)
            .hint("Leave out confidence and metadata, or add an item that corrects it."));
    }
    work.change(
        relation,
        Edit {
            action: "updated",
            data: Some(data),
            ..Edit::default()
        },
    )?;
    Ok(made)
}

/// The value of a relation that was just made.
#[derive(Serialize)]
struct NewRelation<'n> {
    kind: &'n str,
    source: Id,
    source_type: &'n str,
    target: Id,
    target_type: &'n str,
    fragment: Option<&'n str>,
    confidence: Option<f64>,
    metadata: Option<&'n Map<String, Value>>,
}

/// Makes the relation itself.
fn record(
    work: &mut Work<'_, '_>,
    kind: &str,
    source: &Side,
    target: &Side,
    new: &New,
) -> Result<Seq> {
    let named = work.project.clone();
    let project = project::to_write(work, named.as_deref(), false)?;
    let data = fields_of(&NewRelation {
        kind,
        source: source.id,
        source_type: source.kind,
        target: target.id,
        target_type: target.kind,
        fragment: target.fragment.as_deref(),
        confidence: new.confidence,
        metadata: new.metadata.as_ref(),
    })?;
    let made = work.create(Create {
        kind: EntityKind::Relation,
        project: Some(project),
        data,
        ..Create::default()
    })?;
    Ok(made.seq())
}

/// A relation that the server itself makes: no rule of how many there may be is asked.
pub fn by_server(work: &mut Work<'_, '_>, kind: &str, source: Id, target: Id) -> Result<Seq> {
    let side = |id| Side {
        id,
        kind: "entity",
        fragment: None,
    };
    let new = New {
        kind: kind.to_string(),
        source: String::new(),
        target: String::new(),
        confidence: None,
        metadata: None,
        remove: false,
    };
    record(work, kind, &side(source), &side(target), &new)
}

/// Refuses a second relation where there may be only one.
fn check_free(work: &mut Work<'_, '_>, kind: &str, source: &Side, target: &Side) -> Result<()> {
    let (ws, rule) = (work.ws(), link::rule(kind));
    if kind == TRIGGERS && target.kind != "fragment" {
        let caused = items::get(work.read()?, ws, target.id.seq())?.and_then(|item| item.cause);
        if let Some(cause) = caused {
            return Err(taken(work, kind, "target", Id::of(cause))?);
        }
    }
    if rule.one_per_target {
        let first = ((Seq::MIN, i64::MIN), 1);
        let there = rows::of(work.read()?, ws, target.id, End::Target, Some(kind), first)?;
        if let Some(there) = there.first() {
            return Err(taken(work, kind, "target", there.source)?);
        }
    }
    if rule.one_per_source {
        let first = ((Seq::MIN, i64::MIN), 1);
        let there = rows::of(work.read()?, ws, source.id, End::Source, Some(kind), first)?;
        if let Some(there) = there.first() {
            return Err(taken(work, kind, "source", there.target)?);
        }
    }
    Ok(())
}

/// Steps that are followed to see whether a relation would close a circle.
const STEPS: usize = 100_000;

/// Refuses a relation that, followed from either end, leads back to where it began.
fn check_circle(work: &mut Work<'_, '_>, kind: &str, source: Id, target: Id) -> Result<()> {
    let (ws, rule) = (work.ws(), link::rule(kind));
    // Along the end that has one at most, so that there is one way to follow.
    let (mut at, end, goal) = match (rule.one_per_target, rule.one_per_source) {
        (true, _) => (source, End::Target, target),
        (_, true) => (target, End::Source, source),
        _ => return Ok(()),
    };
    for _ in 0..STEPS {
        let said = rows::of(
            work.read()?,
            ws,
            at,
            end,
            Some(kind),
            ((Seq::MIN, i64::MIN), 1),
        )?;
        let next = match (said.first(), end) {
            (Some(one), End::Target) => Some(one.source),
            (Some(one), End::Source) => Some(one.target),
            (None, _) if kind == TRIGGERS => {
                let item = items::get(work.read()?, ws, at.seq())?;
                item.and_then(|item| item.cause).map(Id::of)
            }
            (None, _) => None,
        };
        match next {
            Some(next) if next == goal => {
                let message = format!("this would close a circle of {kind}");
                return Err(Fault::conflict(message)
                    .detail("kind", kind)
                    .hint("One of the two came before the other: relate them that way."));
            }
            Some(next) => at = next,
            None => return Ok(()),
        }
    }
    Ok(())
}

fn taken(work: &mut Work<'_, '_>, kind: &str, end: &str, other: Id) -> Result<Fault> {
    let ws = work.ws();
    let other = relations::name_of(work.read()?, ws, other, "item")?;
    Ok(
        Fault::conflict(format!("the {end} has its one {kind} already"))
            .detail("kind", kind)
            .detail("other", &other),
    )
}

fn remove(work: &mut Work<'_, '_>, new: &New, source: &Side, target: &Side) -> Result<Related> {
    let ws = work.ws();
    if !is_mutable(&new.kind) {
        return Err(
            Fault::new(Code::Immutable, format!("{} cannot be removed", new.kind))
                .hint("It records what happened. Only asserted relations can be removed."),
        );
    }
    let there = rows::between(work.read()?, ws, &new.kind, source.id, target.id)?;
    let Some(there) =
        there.filter(|one| target.fragment.is_none() || one.fragment == target.fragment)
    else {
        return correct(work, new, source, target);
    };
    if there.fossil {
        return Err(Fault::new(
            Code::Immutable,
            "an archived relation cannot be changed",
        ));
    }
    let now = work.now;
    let mut shown = relations::shown(work.read()?, ws, now, there.made, 0)?;
    work.change(
        Id::of(there.made),
        Edit {
            action: "removed",
            gone: Some(Gone { into: None }),
            ..Edit::default()
        },
    )?;
    if let Some(relations::Shown::Relation(relation)) = &mut shown {
        relation.removed = true;
    }
    Ok(Related { relation: shown })
}

/// Mentions of one text that a correction takes back.
const MENTIONS_AT_ONCE: i64 = 500;

/// An operator removes mentions that were wrongly found in a text. That is an item of its own: the
/// text and the earlier reading stay in the log.
fn correct(work: &mut Work<'_, '_>, new: &New, source: &Side, target: &Side) -> Result<Related> {
    let ws = work.ws();
    let page = ((Seq::MIN, i64::MIN), MENTIONS_AT_ONCE);
    let mut said = rows::of(
        work.read()?,
        ws,
        source.id,
        End::Source,
        Some(&new.kind),
        page,
    )?;
    said.retain(|one| {
        one.inferred
            && one.target == target.id
            && (target.fragment.is_none() || one.fragment == target.fragment)
    });
    let Some(first) = said.first() else {
        return Err(
            Fault::not_found(format!("no {} relates these two", quoted(&new.kind)))
                .hint("garden_relations lists the relations of a thing."),
        );
    };
    if work.caller.role != Role::Operator {
        let message = "only an operator can correct a mention found in a text";
        return Err(Fault::new(Code::Forbidden, message)
            .hint("Ask an operator, or have its author reword the text."));
    }
    let project = items::get(work.read()?, ws, first.made)?.and_then(|item| item.project);
    let now = work.now;
    let mut shown = relations::shown(work.read()?, ws, now, first.made, first.n)?;
    let wrong: Vec<(Seq, i64)> = said.iter().map(|one| (one.made, one.n)).collect();
    work.note(project, Fact::Corrected(Corrected { wrong }))?;
    if let Some(relations::Shown::Relation(relation)) = &mut shown {
        relation.removed = true;
    }
    Ok(Related { relation: shown })
}
