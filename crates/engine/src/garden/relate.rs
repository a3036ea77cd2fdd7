//! `garden_relate`: how two things stand to each other.

use serde_json::{Map, Value, json};
use understory_model::error::{Code, Fault, Result};
use understory_model::fragment::parse_anchor;
use understory_model::item::Gone;
use understory_model::link;
use understory_model::{Id, Seq, Ws, limits};
use understory_storage::relations::{self as rows, End};
use understory_storage::{Tx, items};

use super::name::{self, Found};
use super::{refs, relations};
use crate::Work;
use crate::project;
use crate::projection::RELATION;
use crate::work::{Create, Edit};

pub const TRIGGERS: &str = "triggers";
pub const CONTINUES: &str = "continues";
pub const SUPERCEDES: &str = "supercedes";
pub const MENTIONS: &str = "mentions";

/// Every kind, and whether somebody may change their mind about it.
pub const KINDS: [(&str, bool); 8] = [
    (TRIGGERS, false),
    (SUPERCEDES, false),
    ("replies_to", false),
    (CONTINUES, false),
    ("contains", false),
    (MENTIONS, true),
    ("derived_from", true),
    ("groups_with", true),
];

/// Whether relations of a kind can be removed and can fade.
pub fn is_mutable(kind: &str) -> bool {
    KINDS.contains(&(kind, true))
}

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

pub fn check(new: &New) -> Result<()> {
    if !KINDS.iter().any(|(kind, _)| *kind == new.kind) {
        let allowed = KINDS.map(|(kind, _)| kind);
        return Err(
            Fault::invalid("kind", format!("must be one of {}", allowed.join(", ")))
                .details(json!({ "field": "kind", "allowed": allowed })),
        );
    }
    if new
        .confidence
        .is_some_and(|sure| !(0.0..=1.0).contains(&sure))
    {
        return Err(Fault::invalid("confidence", "lies between 0 and 1"));
    }
    let size = new
        .metadata
        .as_ref()
        .map_or(0, |metadata| json!(metadata).to_string().len());
    if size > limits::METADATA_BYTES {
        let problem = format!("has {size} bytes; at most {} fit", limits::METADATA_BYTES);
        return Err(Fault::invalid("metadata", problem));
    }
    Ok(())
}

/// One end of a relation.
#[derive(Debug, Clone)]
pub struct Side {
    pub id: Id,
    pub kind: &'static str,
    pub fragment: Option<String>,
}

/// The thing that a name stands for; a part of a message only where it is related to.
fn side(tx: &mut Tx<'_>, ws: Ws, field: &str, named: &str) -> Result<Side> {
    if let Some(anchor) = parse_anchor(named).filter(|_| field == "target") {
        let part = refs::anchored(tx, ws, &anchor)?;
        let part = part.ok_or_else(|| Fault::not_found(format!("{field}: no such part")))?;
        return Ok(Side {
            id: part.item.seq,
            kind: "fragment",
            fragment: Some(anchor.first),
        });
    }
    let found = name::find(tx, ws, field, named)?;
    if matches!(found, Found::Relation(..)) {
        return Err(Fault::invalid(field, "is a relation itself"));
    }
    Ok(Side {
        id: found.id(),
        kind: found.type_name(),
        fragment: None,
    })
}

pub fn relate(work: &mut Work<'_, '_>, new: &New) -> Result<Value> {
    let ws = work.ws();
    let source = side(work.tx, ws, "source", &new.source)?;
    let target = side(work.tx, ws, "target", &new.target)?;
    if source.id == target.id && source.kind == target.kind {
        return Err(Fault::invalid("target", "is the source itself"));
    }
    if new.remove {
        return remove(work, new, &source, &target);
    }
    check_free(work, &new.kind, &source, &target)?;
    // Between the same two the same is said once.
    let there = rows::between(work.tx, ws, &new.kind, source.id, target.id)?;
    if let Some(there) = there.filter(|_| link::rule(&new.kind) == link::rule("")) {
        let shown = relations::shown(work.tx, ws, work.now, there.made, there.n)?;
        return Ok(json!({ "relation": shown }));
    }
    let made = record(work, &new.kind, &source, &target, new)?;
    let now = work.now;
    Ok(json!({ "relation": relations::shown(work.tx, ws, now, made, 0)? }))
}

/// Makes the relation itself.
fn record(
    work: &mut Work<'_, '_>,
    kind: &str,
    source: &Side,
    target: &Side,
    new: &New,
) -> Result<Seq> {
    let project = project::to_write(work, None, false)?;
    let mut data = Map::new();
    data.insert("kind".into(), kind.into());
    for (end, side) in [("source", source), ("target", target)] {
        data.insert(end.into(), side.id.into());
        data.insert(format!("{end}_type"), side.kind.into());
    }
    data.insert("fragment".into(), json!(target.fragment));
    data.insert("confidence".into(), json!(new.confidence));
    data.insert("metadata".into(), json!(new.metadata));
    let made = work.create(Create {
        kind: RELATION,
        project: Some(project),
        data,
        ..Create::default()
    })?;
    work.flush()?;
    Ok(made)
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
        let caused = items::get(work.tx, ws, target.id)?.and_then(|item| item.cause);
        if let Some(cause) = caused {
            return Err(taken(work, kind, "target", cause)?);
        }
    }
    if rule.one_per_target || kind == CONTINUES {
        let first = ((Seq::MIN, 0), 1);
        let there = rows::of(work.tx, ws, target.id, End::Target, Some(kind), first)?;
        if let Some(there) = there.first() {
            return Err(taken(work, kind, "target", there.source)?);
        }
    }
    if rule.one_per_source {
        let first = ((Seq::MIN, 0), 1);
        let there = rows::of(work.tx, ws, source.id, End::Source, Some(kind), first)?;
        if let Some(there) = there.first() {
            return Err(taken(work, kind, "source", there.target)?);
        }
    }
    Ok(())
}

fn taken(work: &mut Work<'_, '_>, kind: &str, end: &str, other: Seq) -> Result<Fault> {
    let ws = work.ws();
    let other = relations::name_of(work.tx, ws, other, "item")?;
    Ok(
        Fault::conflict(format!("the {end} has its one {kind} already"))
            .details(json!({ "kind": kind, "other": other })),
    )
}

fn remove(work: &mut Work<'_, '_>, new: &New, source: &Side, target: &Side) -> Result<Value> {
    let ws = work.ws();
    if !is_mutable(&new.kind) {
        return Err(Fault::new(
            Code::Immutable,
            format!("{} cannot be taken back", new.kind),
        )
        .hint("It says what happened. What is only believed can be removed."));
    }
    let Some(there) = rows::between(work.tx, ws, &new.kind, source.id, target.id)? else {
        let said = rows::of(
            work.tx,
            ws,
            source.id,
            End::Source,
            Some(&new.kind),
            ((0, 0), 200),
        )?;
        if said
            .iter()
            .any(|one| one.inferred && one.target == target.id)
        {
            let message = "the text itself says it, and stays as it is";
            return Err(Fault::new(Code::Immutable, message));
        }
        return Err(Fault::not_found(format!("no such relation {}", new.kind)));
    };
    if there.fossil {
        return Err(Fault::new(
            Code::Immutable,
            "it has become a fossil and stays",
        ));
    }
    let mut shown = relations::shown(work.tx, ws, work.now, there.made, 0)?;
    work.change(
        there.made,
        Edit {
            action: "removed",
            gone: Some(Gone { into: None }),
            ..Edit::default()
        },
    )?;
    shown["removed"] = true.into();
    Ok(json!({ "relation": shown }))
}
