//! A project for a person: its goal and tree if it has a graph, and where its records stand.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use understory_engine::graph::open;
use understory_engine::records::shape::Reference;
use understory_model::Fault;

use super::Page;
use super::node::{Around, around};
use crate::cli::next::each;
use crate::cli::records::marked;
use crate::cli::render::words::count;
use crate::cli::text::Text;
use crate::cli::when::Clock;
use crate::cli::{Desk, Here};

/// Records and events of each kind that are printed.
const PRINTED: usize = 10;

/// What `get_project_overview` answers and, if the project has a graph, what is around its root.
#[derive(Serialize)]
pub struct Whole {
    #[serde(flatten)]
    overview: Value,
    #[serde(flatten)]
    graph: Option<Around>,
}

pub fn whole(desk: &Desk, name: &str) -> Result<Whole, Fault> {
    let overview = desk.call("get_project_overview", json!({ "project_id": name }))?;
    // `graph_open` would give it a root, and a look must not write.
    let opened = desk
        .engine
        .view(&desk.caller, |view| open::find(view, name, None))?;
    let graph = match opened {
        Some(found) => Some(around(desk, &found.root.id)?),
        None => None,
    };
    Ok(Whole { overview, graph })
}

impl Page for Whole {
    fn print(&self, here: &Here, clock: &Clock) {
        let totals = &self.overview["totals"];
        if let Some(graph) = &self.graph {
            graph.print(here, clock);
            if totals["records"] == json!(0) && totals["open_sessions"] == json!(0) {
                return;
            }
            here.out.blank();
        }
        print(here, clock, &self.overview, self.graph.is_some());
    }
}

fn print(here: &Here, clock: &Clock, answer: &Value, has_graph: bool) {
    let out = &here.out;
    let project = &answer["project"];
    let text = |name: &str| project[name].as_str().unwrap_or_default();
    let title = Text::new().name(text("id")).plain("  ");
    out.line(match text("name") == text("id") {
        true => title,
        false => title.bold(text("name")),
    });
    if !has_graph && !text("description").is_empty() {
        out.line(text("description"));
    }
    let number = |name: &str| answer["totals"][name].as_i64().unwrap_or(0);
    out.line(Text::new().dim(format!(
        "{}, {} open, {} later · {} open · tick {}",
        count(number("records"), "record"),
        number("open_records"),
        number("later_records"),
        count(number("open_sessions"), "session"),
        project["tick"]
    )));
    listed(here, "topmost records", &answer["root_records"]);
    listed(here, "open", &answer["open_records"]);
    listed(here, "later", &answer["later_records"]);
    happened(here, clock, &answer["recent_activity"]);
    if number("records") > 0 {
        let id = text("id");
        out.hint(format!("The whole tree: understory records --project {id}"));
    }
}

fn listed(here: &Here, title: &str, records: &Value) {
    let all: Vec<&Value> = each(records).collect();
    if all.is_empty() {
        return;
    }
    here.out.blank();
    here.out.line(Text::new().bold(title));
    for record in all.iter().take(PRINTED) {
        if let Ok(record) = Reference::deserialize(*record) {
            here.out.cut(Text::from("  ").then(marked(&record)));
        }
    }
    if all.len() > PRINTED {
        here.out.hint(format!("  {} more", all.len() - PRINTED));
    }
}

fn happened(here: &Here, clock: &Clock, events: &Value) {
    let all: Vec<&Value> = each(events).take(PRINTED).collect();
    if all.is_empty() {
        return;
    }
    here.out.blank();
    here.out.line(Text::new().bold("last events"));
    for event in all {
        let text = |name: &str| event[name].as_str().unwrap_or_default();
        let by = event["details"]["agent"].as_str().unwrap_or_default();
        let line = Text::new()
            .dim(format!("{:>10}  ", clock.ago_text(text("timestamp"))))
            .plain(format!("{by}  {}", text("summary")));
        here.out.cut(line);
    }
}
