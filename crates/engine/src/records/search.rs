//! `search_records`: records by their words, best first.

use serde_json::{Value, json};
use understory_model::Caller;
use understory_model::budget::{Budget, Drop, fit_list};
use understory_model::error::Result;
use understory_model::text::{query_words, snippet};
use understory_storage::records::{self, Record, Sought};

use super::{fields, find, project, shape};
use crate::View;
use crate::core::Thing;

/// Characters of a hit that are shown.
const WIDTH: usize = 160;

/// What a caller asks for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub query: String,
    pub types: Vec<String>,
    pub states: Vec<String>,
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
        most: asked.limit,
    };
    let (found, mut total) = records::search(view.tx, view.ws, &sought)?;
    let best = found
        .first()
        .map_or(1.0, |(_, score)| score.max(f64::MIN_POSITIVE));
    let mut results = Vec::new();
    // Who knows the id has found it already.
    let exact = named_by(view, asked, home, scope.as_deref())?;
    if let Some(row) = &exact {
        results.push(hit(view, row, &words, 1.0)?);
        // It may bear the words too, be it beyond those that were asked for.
        total += i64::from(!records::bears(view.tx, view.ws, row.id, &words)?);
    }
    for (row, score) in &found {
        if exact.as_ref().is_none_or(|exact| exact.id != row.id) {
            results.push(hit(view, row, &words, (score / best).clamp(0.0, 1.0))?);
        }
    }
    results.truncate(usize::try_from(asked.limit).unwrap_or(0));
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
    let fits = |wanted: &[String], is: &String| wanted.is_empty() || wanted.contains(is);
    Ok(row.filter(|row| {
        row.project == home
            && fits(&asked.states, &row.state)
            && fits(&asked.types, &row.kind)
            && scope.is_none_or(|scope| row.path.starts_with(scope) && row.path != scope)
    }))
}

fn hit(view: &mut View<'_, '_>, row: &Record, words: &[String], relevance: f64) -> Result<Value> {
    let mut shown = shape::reference(row);
    let text = match view.entity(row.id)? {
        Some(entity) => {
            let data = Thing::open(entity)?.data;
            let part = |field: &str| fields::text(&data, field).to_string();
            [part("title"), part("summary"), part("body")].join("\n")
        }
        None => String::new(),
    };
    shown["relevance"] = json!((relevance * 10_000.0).round() / 10_000.0);
    shown["snippet"] = snippet(&text, words, WIDTH).into();
    Ok(shown)
}
