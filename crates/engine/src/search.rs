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
use crate::log::spellings;
use crate::projection::{PROJECT, RECORD, SESSION};
use crate::records::fields as record_fields;

/// Characters of a hit that are shown.
const WIDTH: usize = 160;

/// One thing that was found.
#[derive(Debug, Clone, Serialize)]
pub struct Hit {
    pub handle: String,
    /// Whose it is: `graph`, `records`, or `projects`, which belong to all.
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
    for handle in spellings(query.trim()) {
        if hits.is_empty()
            && let Some(entity) = entities::by_handle(view.tx, view.ws, &handle)?
        {
            hits.push(hit(entity, &words, 1.0)?);
        }
    }
    let found = texts::find_words(view.tx, view.ws, &words, most)?;
    let best = found
        .first()
        .map_or(1.0, |(_, score)| score.abs().max(f64::MIN_POSITIVE));
    for (id, score) in found {
        if let Some(entity) = view.entity(id)?
            && !hits.iter().any(|hit: &Hit| hit.handle == entity.handle)
        {
            hits.push(hit(entity, &words, (score.abs() / best).clamp(0.0, 1.0))?);
        }
    }
    hits.truncate(usize::try_from(most).unwrap_or(0));
    Ok(hits)
}

fn hit(entity: Entity, words: &[String], score: f64) -> Result<Hit> {
    let thing = Thing::open(entity)?;
    let (surface, title, body) = texts_of(&thing.entity.kind, &thing.data);
    let shown = if body.is_empty() {
        title.clone()
    } else {
        format!("{title}\n{body}")
    };
    Ok(Hit {
        handle: thing.entity.handle,
        surface,
        title,
        snippet: snippet(&shown, words, WIDTH),
        score: (score * 1_000.0).round() / 1_000.0,
    })
}

/// Whose a thing is, what it is called, and what else it says.
fn texts_of(kind: &str, data: &Map<String, Value>) -> (&'static str, String, String) {
    let text = |field: &str| record_fields::text(data, field).to_string();
    match kind {
        RECORD => {
            let body = [text("summary"), text("body")].join("\n");
            ("records", text("title"), body)
        }
        SESSION => ("records", text("name"), String::new()),
        PROJECT => {
            let about = [text("description"), text("goal")];
            let about = about.into_iter().find(|about| !about.is_empty());
            ("projects", text("name"), about.unwrap_or_default())
        }
        _ => {
            let summary = fields::summary(data).to_string();
            ("graph", summary, fields::evidence_text(data))
        }
    }
}
