//! `search_records`: records by their words, best first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::Id;
use understory_model::answer::{Fit, Shape};
use understory_model::budget::Drop;
use understory_model::error::Result;
use understory_model::limits;
use understory_model::text::{borne, check_text, query_words, snippet};
use understory_storage::records::{self, Record, Sought};

use super::list::Filter;
use super::shape::Reference;
use super::{find, project};
use crate::View;
use crate::kernel::content::record as stored;
use crate::kernel::core::Thing;

/// This many of what the index finds are compared, whatever the limit: the best is the best of
/// these.
const CANDIDATES: i64 = 50;
/// Characters of a hit that are shown.
const WIDTH: usize = 160;

/// What a caller looks for.
#[derive(Debug, Clone)]
pub struct Query(String);

impl TryFrom<&str> for Query {
    type Error = understory_model::Fault;

    fn try_from(text: &str) -> Result<Query> {
        // No word holds a NUL, so it parts words as a space does.
        let text = text.replace('\0', " ");
        check_text("query", &text, limits::LINE_CHARS, true)?;
        Ok(Query(text))
    }
}

/// What a caller asks for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub query: Query,
    pub filter: Filter,
    pub parent: Option<String>,
    pub limit: i64,
}

/// The answer of `search_records`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Results {
    /// Best first.
    pub results: Vec<Found>,
    pub total: i64,
}

/// A record that was found, and where.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    #[serde(flatten)]
    pub record: Reference,
    /// The share of the words that it has, 1 if all are in the title.
    pub relevance: f64,
    pub snippet: String,
}

impl Fit for Results {
    const SHAPE: Shape = Shape::List {
        list: "results",
        drop: Drop::Last,
    };
}

pub fn search(view: &mut View<'_, '_>, named: Option<&str>, asked: &Asked) -> Result<Results> {
    let (home, scope) = match &asked.parent {
        Some(parent) => {
            let thing = find(view, parent)?;
            project::check_holds(view, named, &thing)?;
            let row = records::get(view.tx, view.ws, thing.entity.id)?;
            (thing.entity.project, row.map(|row| row.path))
        }
        None => (project::find(view, named)?.map(|(home, _)| home.id), None),
    };
    let Some(home) = home else {
        return Ok(Results::default());
    };
    let words = query_words(&asked.query.0);
    let sought = Sought {
        project: home,
        words: &words,
        scope: scope.as_deref(),
        states: asked.filter.states(),
        types: asked.filter.types(),
        keys: asked.filter.metadata(),
        most: asked.limit.max(CANDIDATES),
    };
    let (found, mut total) = records::search(view.tx, view.ws, &sought)?;
    let mut hits = Vec::new();
    // Who knows the id has found it already.
    let exact = named_by(view, asked, home, scope.as_deref())?;
    if let Some(row) = exact.clone() {
        // It may have the words too, even if it is beyond the limit.
        total += i64::from(!records::bears(view.tx, view.ws, row.id, &words)?);
        hits.push(Hit::new(view, row, &words, Some(1.0))?);
    }
    for (row, _) in found {
        if exact.as_ref().is_none_or(|exact| exact.id != row.id) {
            hits.push(Hit::new(view, row, &words, None)?);
        }
    }
    let from = usize::from(exact.is_some());
    // Equal ones stay in the order of the index, which also weighs how rare a word is.
    hits[from..].sort_by(|a, b| b.relevance.total_cmp(&a.relevance));
    hits.truncate(usize::try_from(asked.limit).unwrap_or(0));
    Ok(Results {
        results: hits.iter().map(|hit| hit.shown(&words)).collect(),
        total,
    })
}

/// The record that the query is the id of, if the filters let it through.
fn named_by(
    view: &mut View<'_, '_>,
    asked: &Asked,
    home: Id,
    scope: Option<&str>,
) -> Result<Option<Record>> {
    let handle = asked.query.0.trim();
    let found = understory_storage::entities::by_handle(view.tx, view.ws, handle)?;
    let row = match found {
        Some(entity) => records::get(view.tx, view.ws, entity.id)?,
        None => None,
    };
    let borne = match row.as_ref().filter(|_| !asked.filter.metadata().is_empty()) {
        Some(row) => match view.entity(row.id)? {
            Some(entity) => stored::pairs(&stored::opened(&Thing::open(entity)?)?),
            None => Vec::new(),
        },
        None => Vec::new(),
    };
    let (states, types) = (asked.filter.states(), asked.filter.types());
    Ok(row.filter(|row| {
        row.project == home
            && (states.is_empty() || states.contains(&row.state))
            && (types.is_empty() || types.contains(&row.kind))
            && asked
                .filter
                .metadata()
                .iter()
                .all(|pair| borne.contains(pair))
            && scope.is_none_or(|scope| row.path.starts_with(scope) && row.path != scope)
    }))
}

/// A record that was found.
struct Hit {
    row: Record,
    text: String,
    relevance: f64,
}

impl Hit {
    fn new(
        view: &mut View<'_, '_>,
        row: Record,
        words: &[String],
        relevance: Option<f64>,
    ) -> Result<Hit> {
        let data = match view.entity(row.id)? {
            Some(entity) => Some(stored::opened(&Thing::open(entity)?)?),
            None => None,
        };
        let parts = data.map_or_else(Default::default, |data| {
            let extra = data.extra();
            [data.title, data.summary, data.body, extra]
        });
        Ok(Hit {
            relevance: relevance.unwrap_or_else(|| relevance_of(&parts, words)),
            text: parts.join("\n"),
            row,
        })
    }

    fn shown(&self, words: &[String]) -> Found {
        Found {
            record: Reference::of(&self.row),
            relevance: self.relevance,
            snippet: snippet(&self.text, words, WIDTH),
        }
    }
}

/// What a word counts for in the title, the summary, the body, and the type and metadata.
const WEIGHTS: [f64; 4] = [1.0, 0.8, 0.6, 0.6];

/// How much of a query a record answers, from near 0 to 1: the share of its words that the record
/// has, each by the best place in which it stands. It says the same in every project, and of every
/// hit alike; a hit is never 0.
fn relevance_of(parts: &[String; 4], words: &[String]) -> f64 {
    let mut best = vec![0.0_f64; words.len()];
    for (part, weight) in parts.iter().zip(WEIGHTS) {
        for (best, is) in best.iter_mut().zip(borne(part, words)) {
            if is {
                *best = best.max(weight);
            }
        }
    }
    let share = best.iter().sum::<f64>() / (words.len().max(1) as f64);
    // The index knows inflections that we do not, so what it found has a word.
    let least = WEIGHTS[3] / (words.len().max(1) as f64);
    (share.max(least).min(1.0) * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relevance_is_the_share_of_the_words_by_place() {
        let words = ["token".to_string(), "rotation".to_string()];
        let of = |parts: [&str; 4]| relevance_of(&parts.map(str::to_string), &words);
        assert_eq!(of(["Token rotation", "", "", ""]), 1.0);
        assert_eq!(of(["Tokens", "about rotations", "", ""]), 0.9);
        assert_eq!(of(["", "", "token token", ""]), 0.3);
        assert_eq!(of(["", "", "", "rotation"]), 0.3);
        assert_eq!(
            of(["", "", "", ""]),
            0.3,
            "the index found it, so one word is there"
        );
    }
}
