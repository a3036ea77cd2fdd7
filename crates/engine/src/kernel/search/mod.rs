//! Search across every surface: exact handles first, then what the words and the meaning of a
//! question find, ranked together.
//!
//! A question is text and nothing else; no character in it is an operator. What the caller may not
//! read is not found.

mod candidates;
pub mod glance;
pub mod offer;
mod rank;
pub(crate) mod said;

use std::collections::HashMap;

use candidates::{Candidate, may_be};
use rank::Ranking;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_meaning::Query;
use understory_model::answer::{Fit, Shape};
use understory_model::budget::Drop;
use understory_model::error::{Fault, Result};
use understory_model::text::{check_text, query_words, snippet};
use understory_model::{Caller, Id, limits};
use understory_storage::{entities, links, relations, texts};

use crate::kernel::access::Reader;
use crate::kernel::checked::{Check, Checked};
use crate::kernel::content::relation::{SUPERCEDES, SUPERSEDED_BY};
use crate::kernel::meaning::{Meant, Near};
use crate::kernel::names::{self, Found};
use crate::kernel::project;
use crate::{Engine, View};

pub(crate) use candidates::passages_of;
pub use candidates::{SURFACES, sort};
pub(crate) use rank::{LEAST, score};

/// Characters of a hit that are shown.
const WIDTH: usize = 160;
/// What each way of searching may bring in.
const BY_WORDS: i64 = 150;
const BY_MEANING: usize = 150;
/// The same where a filter will throw most of it away.
const FILTERED: i64 = 1_000;

/// One thing that was found.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    pub handle: String,
    /// Whose it is: records, reasoning, threads, garden or graph, or `projects`, which belong to
    /// all.
    pub surface: String,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub snippet: String,
    /// 0 to 1; 1 is the thing that was named.
    pub score: f64,
    /// The project that it stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The artifact that a label means, whatever it is called later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
    /// Whether something else took its place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub superseded: bool,
}

/// Which way to search. The product does both; the others are for measuring what each adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Way {
    Words,
    Meaning,
    #[default]
    Both,
}

/// What a caller asks for.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub query: String,
    /// Any, where empty.
    pub surfaces: Vec<String>,
    /// Any, where empty.
    pub types: Vec<String>,
    pub limit: usize,
    pub way: Way,
    /// Where the query points by an external model; [`Engine::search`] asks it.
    pub meant: Option<Meant>,
}

/// The answer of `search`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Best first.
    #[serde(rename = "results")]
    pub hits: Vec<Hit>,
    /// There is more than is shown.
    pub truncated: bool,
    /// What did not work as it should, and was done without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Fit for Answer {
    const SHAPE: Shape = Shape::List {
        list: "results",
        drop: Drop::Last,
    };
}

impl Engine {
    /// Searches the caller's workspace: the external model is asked before, if there is one, and
    /// done without if it does not answer.
    pub fn search(&self, caller: &Caller, asked: Checked<Asked>) -> Result<Answer> {
        let mut asked = asked.into_inner();
        let mut note = None;
        if asked.way != Way::Words && asked.meant.is_none() {
            match self.meant(caller, &asked.query) {
                Ok(meant) => asked.meant = meant,
                Err(fault) => {
                    note = Some(format!("{}; ranked by the built-in model", fault.message));
                }
            }
        }
        let most = asked.limit;
        // One more tells whether there are more.
        asked.limit = most.saturating_add(1);
        let mut hits = self.view(caller, |view| find(view, caller, &asked))?;
        let truncated = hits.len() > most;
        hits.truncate(most);
        Ok(Answer {
            hits,
            truncated,
            note,
        })
    }
}

impl Check for Asked {
    fn check(&self) -> Result<()> {
        check_text("query", &self.query, limits::TEXT_CHARS, true)?;
        for kind in &self.types {
            check_text("types", kind, limits::NAME_CHARS, false)?;
        }
        match self
            .surfaces
            .iter()
            .find(|surface| !SURFACES.contains(&surface.as_str()))
        {
            None => Ok(()),
            Some(_) => Err(
                Fault::invalid("surfaces", "names a surface that does not exist")
                    .hint(format!("Surfaces are {}.", SURFACES.join(", "))),
            ),
        }
    }
}

impl Asked {
    fn wants(&self, surface: &str) -> bool {
        self.surfaces.is_empty() || self.surfaces.iter().any(|wanted| wanted == surface)
    }

    fn takes(&self, candidate: &Candidate) -> bool {
        let named = |kind: &String| kind.eq_ignore_ascii_case(&candidate.kind);
        self.wants(candidate.surface) && (self.types.is_empty() || self.types.iter().any(named))
    }

    /// What meaning may bring in.
    fn by_meaning(&self) -> usize {
        if self.types.is_empty() {
            BY_MEANING
        } else {
            FILTERED.unsigned_abs() as usize
        }
    }

    fn filters(&self) -> bool {
        !self.surfaces.is_empty() || !self.types.is_empty()
    }
}

/// Finds what answers a question, the best first.
fn find(view: &mut View<'_, '_>, caller: &Caller, asked: &Asked) -> Result<Vec<Hit>> {
    let words = query_words(&asked.query);
    let mut reader = Reader::new(caller);
    let mut hits: Vec<(Hit, Place)> = Vec::new();
    let mut named = None;
    if let Some(candidate) = exact(view, &asked.query, &mut reader)?.filter(|c| asked.takes(c)) {
        named = Some(candidate.id);
        let shown = hit(&candidate, 1.0, &whole(&candidate), &words);
        hits.push((shown, candidate.place()));
    }
    let mut query = Query::new(&asked.query);
    let found = gather(view, asked, &words, &query)?;
    let ids: Vec<Id> = found.keys().copied().collect();
    let mut candidates = candidates::load(view, &mut reader, &ids)?;
    candidates.retain(|candidate| asked.takes(candidate) && Some(candidate.id) != named);
    let mut ranking = Ranking::new(&asked.query, &words, asked.way);
    for candidate in &candidates {
        if let Some(found) = found.get(&candidate.id) {
            ranking.consider(candidate, found, &mut query);
        }
    }
    for (at, score) in ranking.best(asked.limit.saturating_sub(hits.len())) {
        if let Some(candidate) = candidates.get(at.candidate) {
            let asked = (asked.query.as_str(), &mut query, at.part);
            let shown = answering(candidate, score, asked, &words);
            hits.push((shown, candidate.place()));
        }
    }
    hits.truncate(asked.limit);
    placed(view, hits)
}

/// Which thing a hit is, and in which project.
pub(crate) struct Place {
    id: Id,
    project: Option<Id>,
}

/// Says of each hit in which project it stands and whether it was superseded: one question each for
/// all of them.
fn placed(view: &mut View<'_, '_>, hits: Vec<(Hit, Place)>) -> Result<Vec<Hit>> {
    let mut homes: Vec<Id> = hits.iter().filter_map(|(_, place)| place.project).collect();
    homes.sort_unstable();
    homes.dedup();
    let homes = entities::some(view.tx, view.ws, &homes)?;
    let ids: Vec<Id> = hits.iter().map(|(_, place)| place.id).collect();
    let mut over = links::having(view.tx, view.ws, &ids, SUPERSEDED_BY)?;
    over.extend(relations::reached(view.tx, view.ws, &ids, SUPERCEDES)?);
    let told = hits.into_iter().map(|(mut hit, place)| {
        let home = place.project.and_then(|id| homes.get(&id));
        hit.project = home.map(|home| project::name_of(&home.handle).to_string());
        hit.superseded = over.contains(&place.id);
        hit
    });
    Ok(told.collect())
}

/// How a thing was found.
#[derive(Debug, Clone, Default)]
struct Ways {
    /// What the word search thinks of it.
    words: Option<f64>,
    /// Its passages that point the right way: one, or of lines several.
    near: Vec<Near>,
    /// Whether an external model says so.
    external: bool,
}

/// Everything that either way brings in.
fn gather(
    view: &mut View<'_, '_>,
    asked: &Asked,
    words: &[String],
    query: &Query,
) -> Result<HashMap<Id, Ways>> {
    let mut found: HashMap<Id, Ways> = HashMap::new();
    if asked.way != Way::Meaning {
        let most = if asked.filters() { FILTERED } else { BY_WORDS };
        let most = most.max(i64::try_from(asked.limit).unwrap_or(most));
        for (id, score) in texts::find_words(view.tx, view.ws, words, most)? {
            found.entry(id).or_default().words = Some(score);
        }
    }
    if asked.way != Way::Words && query.vector.is_some() {
        let most = asked.by_meaning();
        let wanted = |kind: &str| may_be(kind, |surface| asked.wants(surface));
        for near in view.vectors.near(view.tx, view.ws, query, wanted, most)? {
            found.entry(near.id).or_default().near.push(near);
        }
    }
    if let Some(meant) = &asked.meant {
        let others: Vec<Id> = found.keys().copied().collect();
        let wanted = |kind: &str| may_be(kind, |surface| asked.wants(surface));
        let most = (asked.by_meaning(), &others[..]);
        for near in view
            .vectors
            .near_external(view.tx, view.ws, meant, wanted, most)?
        {
            let ways = found.entry(near.id).or_default();
            // It knows better: what our own model says of the same thing does not count.
            if !std::mem::replace(&mut ways.external, true) {
                ways.near.clear();
            }
            ways.near.push(near);
        }
    }
    Ok(found)
}

/// The thing that the query is the name of.
fn exact(
    view: &mut View<'_, '_>,
    query: &str,
    reader: &mut Reader<'_>,
) -> Result<Option<Candidate>> {
    let scope = view.scope(None)?;
    let id = match names::look(view.tx, scope, query.trim())? {
        Some(Found::Entity(entity)) => entity.id,
        Some(Found::Item(item)) => Id::of(item.seq),
        Some(Found::Relation(..)) | None => return Ok(None),
    };
    let found = candidates::load(view, reader, &[id])?;
    Ok(found.into_iter().next())
}

fn hit(candidate: &Candidate, score: f64, shown: &str, words: &[String]) -> Hit {
    Hit {
        handle: candidate.handle.clone(),
        surface: candidate.surface.to_string(),
        kind: candidate.kind.clone(),
        title: Some(candidate.title.clone()).filter(|title| !title.is_empty()),
        snippet: snippet(shown, words, WIDTH),
        score: (score * 1_000.0).round() / 1_000.0,
        project: None,
        entity: candidate.entity.clone(),
        superseded: false,
    }
}

/// All that a candidate says.
fn whole(candidate: &Candidate) -> String {
    match (candidate.title.is_empty(), candidate.rest.is_empty()) {
        (_, true) => candidate.title.clone(),
        (true, _) => candidate.rest.clone(),
        _ => format!("{}\n{}", candidate.title, candidate.rest),
    }
}

/// A candidate by the part of it that answers; of lines, by the one that does.
fn answering(
    candidate: &Candidate,
    score: f64,
    (asked, query, part): (&str, &mut Query, usize),
    words: &[String],
) -> Hit {
    if let Some((number, text)) = candidate.line(asked, part) {
        let mut hit = hit(candidate, score, text, words);
        hit.handle = format!("{}:{number}", candidate.title);
        return hit;
    }
    if candidate.rest.len() > WIDTH {
        return hit(candidate, score, candidate.telling(query, part), words);
    }
    hit(candidate, score, &whole(candidate), words)
}
