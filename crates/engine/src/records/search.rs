//! `search_records`: records by their words, best first.

use serde_json::{Map, Value, json};
use understory_model::Caller;
use understory_model::budget::{Budget, Drop, fit_list};
use understory_model::error::Result;
use understory_model::text::{borne, query_words, snippet};
use understory_storage::keys::Pair;
use understory_storage::records::{self, Record, Sought};

use super::{fields, find, project, shape};
use crate::View;
use crate::core::Thing;

/// So many of what the index finds are compared, whatever the limit: the best is the best of these.
const CANDIDATES: i64 = 50;
/// Characters of a hit that are shown.
const WIDTH: usize = 160;

/// What a caller asks for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub query: String,
    pub types: Vec<String>,
    pub states: Vec<String>,
    pub metadata: Vec<Pair>,
    pub parent: Option<String>,
    pub limit: i64,
}

pub fn search(
    view: &mut View<'_, '_>,
    caller: &Caller,
    named: Option<&str>,
    asked: &Asked,
    budget: &Budget,
) -> Result<Value> {
    let (home, scope) = match &asked.parent {
        Some(parent) => {
            let thing = find(view, parent)?;
            project::check_holds(view, named, &thing)?;
            let row = records::get(view.tx, view.ws, thing.entity.id)?;
            (thing.entity.project, row.map(|row| row.path))
        }
        None => (
            project::find(view, caller, named)?.map(|(home, _)| home.id),
            None,
        ),
    };
    let Some(home) = home else {
        return Ok(json!({ "results": [], "total": 0 }));
    };
    let words = query_words(&asked.query);
    let sought = Sought {
        project: home,
        words: &words,
        scope: scope.as_deref(),
        states: &asked.states,
        types: &asked.types,
        keys: &asked.metadata,
        most: asked.limit.max(CANDIDATES),
    };
    let (found, mut total) = records::search(view.tx, view.ws, &sought)?;
    let mut hits = Vec::new();
    // Who knows the id has found it already.
    let exact = named_by(view, asked, home, scope.as_deref())?;
    if let Some(row) = exact.clone() {
        // It may bear the words too, be it beyond those that were asked for.
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
    let results: Vec<Value> = hits.iter().map(|hit| hit.shown(&words)).collect();
    let answer = json!({ "results": results, "total": total });
    Ok(fit_list(answer, "results", budget, Drop::Last))
}

/// The record that the query is the id of, if the filters let it through.
fn named_by(
    view: &mut View<'_, '_>,
    asked: &Asked,
    home: i64,
    scope: Option<&str>,
) -> Result<Option<Record>> {
    let handle = asked.query.trim();
    let found = understory_storage::entities::by_handle(view.tx, view.ws, handle)?;
    let row = match found {
        Some(entity) => records::get(view.tx, view.ws, entity.id)?,
        None => None,
    };
    let borne = match row.as_ref().filter(|_| !asked.metadata.is_empty()) {
        Some(row) => match view.entity(row.id)? {
            Some(entity) => fields::pairs(&Thing::open(entity)?.data),
            None => Vec::new(),
        },
        None => Vec::new(),
    };
    let fits = |wanted: &[String], is: &String| wanted.is_empty() || wanted.contains(is);
    Ok(row.filter(|row| {
        row.project == home
            && fits(&asked.states, &row.state)
            && fits(&asked.types, &row.kind)
            && asked.metadata.iter().all(|pair| borne.contains(pair))
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
            Some(entity) => Thing::open(entity)?.data,
            None => Map::new(),
        };
        let part = |field: &str| fields::text(&data, field).to_string();
        let parts = [
            part("title"),
            part("summary"),
            part("body"),
            fields::extra(&data),
        ];
        Ok(Hit {
            relevance: relevance.unwrap_or_else(|| relevance_of(&parts, words)),
            text: parts.join("\n"),
            row,
        })
    }

    fn shown(&self, words: &[String]) -> Value {
        let mut shown = shape::reference(&self.row);
        shown["relevance"] = json!(self.relevance);
        shown["snippet"] = snippet(&self.text, words, WIDTH).into();
        shown
    }
}

/// What a word counts for in the title, the summary, the body, and the type and metadata.
const WEIGHTS: [f64; 4] = [1.0, 0.8, 0.6, 0.6];

/// How much of a query a record answers, from near 0 to 1: the share of its words that the record
/// bears, each by the best place in which it stands. It says the same in every project, and of every
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
    // The index knows inflections that we do not; what it found bears a word.
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
