//! `cargo run -p understory-bench --bin retrieval`: how often search finds the right thing.
//!
//! Every record of `retrieval/records.tsv` is written through the product's own tools, then every
//! question of `retrieval/questions.tsv` is asked three times: by words alone, by meaning alone, and
//! as the product searches. What is printed is how often the right one came first, and the mean of
//! one over its place (MRR). With `UNDERSTORY_EMBEDDING_URL` and `UNDERSTORY_EMBEDDING_MODEL` the
//! model there says what texts mean, as in the product. `retrieval/README.md` says where the texts come from.

#![allow(clippy::print_stdout, reason = "the table is this program's result")]

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use understory::config::{Embedding, Secret};
use understory::embedding::Endpoint;
use understory_bench::Outcome;
use understory_bench::inside::caller;
use understory_engine::kernel::checked::Check;
use understory_engine::kernel::meaning::{Embedder, Filler, Step};
use understory_engine::kernel::search::{Asked, Way};
use understory_engine::{Engine, Options};
use understory_tools::{Context, registry};

const RECORDS: &str = include_str!("../../retrieval/records.tsv");
const QUESTIONS: &str = include_str!("../../retrieval/questions.tsv");
/// Places that are looked at.
const DEPTH: usize = 100;

struct Question<'t> {
    half: &'t str,
    class: &'t str,
    answer: &'t str,
    text: &'t str,
}

struct Store {
    engine: Engine,
    handles: HashMap<&'static str, String>,
}

impl Store {
    fn call(&self, tool: &str, arguments: Value) -> Outcome<Value> {
        let context = Context {
            engine: &self.engine,
            caller: &caller(),
            request_id: "req_retrieval",
        };
        Ok(registry::call_named(&context, tool, arguments).map_err(|fault| fault.message)?)
    }

    /// Each text where a team would keep it: decisions as records, tasks in the plan, and so on.
    fn fill(&mut self) -> Outcome {
        let thread = self.call("create_thread", json!({ "title": "Team" }))?;
        for line in RECORDS.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [key, kind, title, body] = fields[..] else {
                return Err(format!("not a record: {line}").into());
            };
            let whole = format!("{title}. {body}");
            let handle = match kind {
                "decision" => self.call(
                    "create_record",
                    json!({ "parent_id": null, "type": kind, "title": title, "summary": "", "body": body }),
                )?["record"]["id"]
                    .take(),
                "task" => self.call(
                    "graph_plan",
                    json!({ "nodes": [{ "ref": "a", "summary": whole }] }),
                )?["created"][0]["id"]
                    .take(),
                "message" => self.call(
                    "post_message",
                    json!({ "thread_id": thread["thread_id"], "body": whole }),
                )?["message_id"]
                    .take(),
                _ => self.call(
                    "garden_add",
                    json!({ "type": "Note", "title": title, "description": body }),
                )?["item"]["uuid"]
                    .take(),
            };
            let handle = handle.as_str().ok_or(format!("no handle: {line}"))?;
            self.handles.insert(key, handle.to_string());
        }
        Ok(())
    }

    /// One over the place of the answer; 0 where it was not found.
    fn ask(&self, question: &Question<'_>, way: Way) -> Outcome<f64> {
        let answer = self.handles.get(question.answer).ok_or("no such record")?;
        let named = question.text.trim_matches(['{', '}']);
        let query = self
            .handles
            .get(named)
            .map_or(question.text, |handle| handle);
        let asked = Asked {
            query: query.to_string(),
            limit: DEPTH,
            way,
            ..Asked::default()
        };
        let found = asked
            .checked()
            .and_then(|asked| self.engine.search(&caller(), asked));
        let found = found.map_err(|fault| fault.message)?;
        if let Some(note) = found.note {
            return Err(note.into());
        }
        let place = found.hits.iter().position(|hit| hit.handle == *answer);
        Ok(place.map_or(0.0, |place| 1.0 / (place + 1) as f64))
    }
}

fn questions() -> Outcome<Vec<Question<'static>>> {
    let read = |line: &'static str| {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            [half, class, answer, text] => Ok(Question {
                half,
                class,
                answer,
                text,
            }),
            _ => Err(format!("not a question: {line}").into()),
        }
    };
    QUESTIONS.lines().map(read).collect()
}

/// First hits in percent, and MRR, of the questions that are meant.
fn figures(of: &[(&Question<'_>, f64)], meant: impl Fn(&Question<'_>) -> bool) -> String {
    let some: Vec<f64> = of
        .iter()
        .filter(|(question, _)| meant(question))
        .map(|(_, found)| *found)
        .collect();
    let count = some.len().max(1) as f64;
    let first = some.iter().filter(|found| **found == 1.0).count() as f64;
    let mean: f64 = some.iter().sum();
    format!("{:5.1} % {:.3}", 100.0 * first / count, mean / count)
}

/// The external model that the settings of the product name, if they do.
fn endpoint() -> Option<Arc<dyn Embedder>> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let embedding = Embedding {
        url: set("UNDERSTORY_EMBEDDING_URL")?,
        model: set("UNDERSTORY_EMBEDDING_MODEL")?,
        key: set("UNDERSTORY_EMBEDDING_KEY").map(Secret::new),
    };
    Some(Arc::new(Endpoint::new(embedding)))
}

fn main() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("retrieval.db");
    let options = Options {
        embedder: endpoint(),
        ..Options::default()
    };
    let engine = Engine::open(&path.to_string_lossy(), options);
    let mut store = Store {
        engine: engine.map_err(|fault| fault.message)?,
        handles: HashMap::new(),
    };
    store.fill()?;
    let mut filler = Filler::new();
    loop {
        let step = filler.step(&store.engine, &caller());
        if step.map_err(|fault| fault.message)? == Step::Done {
            break;
        }
    }
    let questions = questions()?;
    let halves = ["tuned", "held"];
    let classes = ["paraphrase", "natural", "rare", "misleading", "handle"];
    let count = |meant: &dyn Fn(&Question<'_>) -> bool| {
        let some = questions.iter().filter(|question| meant(question));
        some.count()
    };
    println!(
        "{} texts, {} questions; first hit, MRR",
        store.handles.len(),
        questions.len()
    );
    print!("| search | all {} ", questions.len());
    for half in halves {
        print!("| {half} {} ", count(&|question| question.half == half));
    }
    for class in classes {
        print!("| {class} {} ", count(&|question| question.class == class));
    }
    println!("|\n|{}", "---|".repeat(2 + halves.len() + classes.len()));
    for (name, way) in [
        ("words", Way::Words),
        ("meaning", Way::Meaning),
        ("both", Way::Both),
    ] {
        let mut found = Vec::new();
        for question in &questions {
            found.push((question, store.ask(question, way)?));
        }
        print!("| {name} | {} ", figures(&found, |_| true));
        for half in halves {
            print!("| {} ", figures(&found, |question| question.half == half));
        }
        for class in classes {
            print!("| {} ", figures(&found, |question| question.class == class));
        }
        println!("|");
    }
    store.engine.close();
    Ok(())
}
