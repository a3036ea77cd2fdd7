//! Words found anywhere in a workspace, best first, and handles found exactly.

use serde::Serialize;
use serde_json::{Map, Value};
use understory_model::error::Result;
use understory_model::text::{query_words, snippet};
use understory_storage::entities::{self, Entity};
use understory_storage::texts;

use crate::View;
use crate::core::Thing;
use crate::graph::fields;

/// Characters of a hit that are shown.
const WIDTH: usize = 160;

/// One thing that was found.
#[derive(Debug, Clone, Serialize)]
pub struct Hit {
    pub handle: String,
    pub surface: &'static str,
    pub title: String,
    pub snippet: String,
    /// 0 to 1; the best is 1.
    pub score: f64,
}

/// Finds any of the words. A query that is exactly a handle finds that thing first.
pub fn find(view: &mut View<'_, '_>, query: &str, most: i64) -> Result<Vec<Hit>> {
    let words = query_words(query);
    let mut hits = Vec::new();
    if let Some(entity) = entities::by_handle(view.tx, view.ws, query.trim())? {
        hits.extend(hit(entity, &words, 1.0)?);
    }
    let found = texts::find_words(view.tx, view.ws, &words, most)?;
    let best = found
        .first()
        .map_or(1.0, |(_, score)| score.abs().max(f64::MIN_POSITIVE));
    for (id, score) in found {
        if let Some(entity) = view.entity(id)?
            && !hits.iter().any(|hit: &Hit| hit.handle == entity.handle)
        {
            hits.extend(hit(entity, &words, (score.abs() / best).clamp(0.0, 1.0))?);
        }
    }
    hits.truncate(usize::try_from(most).unwrap_or(0));
    Ok(hits)
}

fn hit(entity: Entity, words: &[String], score: f64) -> Result<Option<Hit>> {
    let thing = Thing::open(entity)?;
    let (title, body) = texts_of(&thing.data);
    let shown = if body.is_empty() {
        title.clone()
    } else {
        format!("{title}\n{body}")
    };
    Ok(Some(Hit {
        handle: thing.entity.handle,
        surface: "graph",
        title,
        snippet: snippet(&shown, words, WIDTH),
        score: (score * 1_000.0).round() / 1_000.0,
    }))
}

fn texts_of(data: &Map<String, Value>) -> (String, String) {
    (
        fields::summary(data).to_string(),
        fields::evidence_text(data),
    )
}
