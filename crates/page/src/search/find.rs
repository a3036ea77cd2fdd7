//! What a question finds: first what is called so, then what has its words, then what means the same.

use serde_json::json;
use understory_engine::kernel::search::glance::{Glance, Sort, glance};
use understory_engine::kernel::search::offer::offer;
use understory_engine::kernel::search::{Answer, Hit};
use understory_model::text::{borne, query_words};
use understory_model::{Code, Fault};

use crate::visit::Visit;

/// Things whose name begins so.
const NAMED: usize = 5;

/// What was found.
#[derive(Default)]
pub struct Hits {
    pub goes_there: Vec<Glance>,
    pub answer: Answer,
    /// What each hit is, in a line; what is gone meanwhile has none.
    told: Vec<Option<Glance>>,
}

pub fn find(visit: &Visit<'_>, query: &str, most: i64) -> Result<Hits, Fault> {
    if query.is_empty() {
        return Ok(Hits::default());
    }
    let goes_there = named(visit, query)?;
    let answer: Answer = match query.starts_with(['@', '^', '#']) {
        true => Answer::default(),
        false => visit.ask("search", json!({"query": query, "limit": most}))?,
    };
    let mut answer = answer;
    answer
        .hits
        .retain(|hit| !goes_there.iter().any(|one| one.name == hit.handle));
    let (engine, caller) = (visit.context.engine, visit.context.caller);
    let told = engine.view(caller, |view| {
        let told = answer.hits.iter().map(|hit| glance(view, &hit.handle));
        told.collect::<Result<Vec<_>, _>>()
    })?;
    Ok(Hits {
        goes_there,
        answer,
        told,
    })
}

/// What is called so, and what begins so.
fn named(visit: &Visit<'_>, query: &str) -> Result<Vec<Glance>, Fault> {
    if query.contains(char::is_whitespace) {
        return Ok(Vec::new());
    }
    let (engine, caller) = (visit.context.engine, visit.context.caller);
    let exact = match engine.view(caller, |view| glance(view, query)) {
        Ok(found) => found,
        // A name may be of any form; what is wrong with the store is not passed over.
        Err(fault) if fault.code != Code::Internal && fault.code.status() < 500 => None,
        Err(fault) => return Err(fault),
    };
    let begun = match query.starts_with(['@', '^', '#']) || query.contains(':') {
        true => query.to_owned(),
        false => format!("@{query}"),
    };
    let more = engine.view(caller, |view| offer(view, &begun, None, NAMED))?;
    let mut found: Vec<Glance> = exact.into_iter().collect();
    for one in more {
        let known = |there: &Glance| there.name == one.name && there.sort == one.sort;
        if !found.iter().any(known) {
            found.push(one);
        }
    }
    // A word of one letter begins too many names.
    found.retain(|one| query.chars().count() > 1 || one.sort != Sort::Agent || one.name == query);
    found.truncate(NAMED);
    Ok(found)
}

/// The words of a question, as they are looked for.
pub fn words(query: &str) -> Vec<String> {
    query_words(query)
}

type Told<'h> = (&'h Glance, &'h Hit);

impl Hits {
    pub fn count(&self) -> i64 {
        (self.goes_there.len() + self.told.iter().flatten().count()) as i64
    }

    /// Those that have any of the words, and those that only mean the same.
    pub fn groups(&self, words: &[String]) -> (Vec<Told<'_>>, Vec<Told<'_>>) {
        let hits = self.told.iter().zip(&self.answer.hits);
        let hits = hits.filter_map(|(told, hit)| Some((told.as_ref()?, hit)));
        let has = |(told, hit): &Told<'_>| {
            let text = format!("{} {}", told.title, hit.snippet);
            borne(&text, words).contains(&true)
        };
        hits.partition(has)
    }
}
