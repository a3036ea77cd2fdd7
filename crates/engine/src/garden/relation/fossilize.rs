//! `garden_fossilize`: relations that nobody cites any more move from core to soil, and come back
//! when they are cited enough. The way back is longer than the way there, so that none flaps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::error::{Fault, Result};
use understory_model::fact::{Fact, Fossilized};
use understory_model::fade::ONE;
use understory_model::{Seq, Time, Ws, limits};
use understory_storage::relations::Relation;
use understory_storage::{ReadTx, relations as rows};

use crate::Work;
use crate::garden::relation::closing::of_open_projects;
use crate::garden::relation::relations::{Shown, shown, strength};
use crate::kernel::content::relation::is_mutable;

/// Below this a relation becomes a fossil, unless the caller says otherwise.
pub const THRESHOLD: f64 = 0.1;
/// This many times the threshold brings one back.
const BACK: f64 = 3.0;
/// Relations that one call moves.
const CHUNK: i64 = 500;

/// The strength below which a relation becomes a fossil: between 0 and 1.
#[derive(Debug, Clone, Copy)]
pub struct Threshold(f64);

impl TryFrom<f64> for Threshold {
    type Error = Fault;

    fn try_from(threshold: f64) -> Result<Threshold> {
        if threshold > 0.0 && threshold < 1.0 {
            Ok(Threshold(threshold))
        } else {
            let problem = "lies between 0 and 1, both excluded";
            Err(Fault::invalid("threshold", problem))
        }
    }
}

/// Both lists of what would move now.
pub fn due(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    now: Time,
    Threshold(threshold): Threshold,
) -> Result<(Vec<Relation>, Vec<Relation>)> {
    let low = (threshold * ONE as f64) as i64;
    let high = ((threshold * BACK).min(1.0) * ONE as f64) as i64;
    let faded = moving(tx, ws, now, false, |strength| strength < low)?;
    let cited = moving(tx, ws, now, true, |strength| strength >= high)?;
    Ok((faded, of_open_projects(tx, ws, cited)?))
}

/// Whether a relation is cited enough to come back.
pub fn is_strong(tx: &mut ReadTx<'_>, ws: Ws, now: Time, one: &Relation) -> Result<bool> {
    let high = ((THRESHOLD * BACK).min(1.0) * ONE as f64) as i64;
    Ok(strength(tx, ws, one, now)? >= high)
}

fn moving(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    now: Time,
    fossil: bool,
    due: impl Fn(i64) -> bool,
) -> Result<Vec<Relation>> {
    let (mut found, mut after) = (Vec::new(), (Time(i64::MIN), Seq::MIN, 0));
    loop {
        let batch = rows::aged(tx, ws, fossil, now, (after, CHUNK))?;
        let Some(last) = batch.last() else {
            return Ok(found);
        };
        after = (last.at, last.made, last.n);
        for one in batch.into_iter().filter(|one| is_mutable(&one.kind)) {
            if due(strength(tx, ws, &one, now)?) {
                found.push(one);
            }
            if found.len() == limits::FOSSILS {
                return Ok(found);
            }
        }
    }
}

/// The answer of `garden_fossilize`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    /// Relations that came to rest.
    pub fossilized: Vec<Option<Shown>>,
    /// Relations that came back.
    pub revived: Vec<Option<Shown>>,
    /// Whether nothing was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// Whether there are more to move: call again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more: Option<bool>,
    /// The project that was closed or opened again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<bool>,
}

/// What moves, as it is told.
pub fn told(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    now: Time,
    faded: &[Relation],
    cited: &[Relation],
    dry_run: bool,
) -> Result<Moved> {
    let mut list = |relations: &[Relation]| -> Result<Vec<Option<Shown>>> {
        relations
            .iter()
            .map(|one| shown(tx, ws, now, one.made, one.n))
            .collect()
    };
    let (fossilized, revived) = (list(faded)?, list(cited)?);
    let more = faded.len() == limits::FOSSILS || cited.len() == limits::FOSSILS;
    Ok(Moved {
        fossilized,
        revived,
        dry_run: Some(dry_run),
        more: Some(more),
        project: None,
        closed: None,
    })
}

pub fn fossilize(work: &mut Work<'_, '_>, threshold: Threshold) -> Result<Moved> {
    let (ws, now) = (work.ws(), work.now);
    let (faded, cited) = due(work.read()?, ws, now, threshold)?;
    if !faded.is_empty() || !cited.is_empty() {
        let names = |relations: &[Relation]| -> Vec<(Seq, i64)> {
            relations.iter().map(|one| (one.made, one.n)).collect()
        };
        let moved = Fossilized {
            active: names(&cited),
            fossil: names(&faded),
            threshold: threshold.0,
        };
        work.note(None, Fact::Fossilized(moved))?;
    }
    told(work.read()?, ws, now, &faded, &cited, false)
}
