//! A project for a person: its goal and tree if it has a graph, and where its records stand.

use serde::Serialize;
use serde_json::json;
use understory_engine::graph::open::{self, Wanted};
use understory_engine::kernel::checked::Check;
use understory_engine::records::activity::Entry;
use understory_engine::records::overview::{Overview, Totals};
use understory_engine::records::shape::Reference;
use understory_model::Fault;

use super::Page;
use super::node::{Around, around};
use crate::cli::records::marked;
use crate::cli::render::words::count;
use crate::cli::text::Text;
use crate::cli::when::Clock;
use crate::cli::{CommandContext, Here};

/// Records and events of each kind that are printed.
const PRINTED: usize = 10;

/// What `get_project_overview` answers and, if the project has a graph, what is around its root.
#[derive(Serialize)]
pub struct Whole {
    #[serde(flatten)]
    overview: Overview,
    #[serde(flatten)]
    graph: Option<Around>,
}

pub fn whole(context: &CommandContext, name: &str) -> Result<Whole, Fault> {
    let overview = context.ask("get_project_overview", json!({ "project_id": name }))?;
    // `graph_open` would give it a root, and a look must not write.
    let wanted = Wanted {
        name: name.to_string(),
        goal: None,
    }
    .checked()?;
    let opened = context
        .engine
        .view(&context.caller, |view| open::find(view, &wanted))?;
    let graph = match opened {
        Some(found) => Some(around(context, &found.root.id)?),
        None => None,
    };
    Ok(Whole { overview, graph })
}

impl Page for Whole {
    fn print(&self, here: &Here, clock: &Clock) {
        let totals = self.overview.totals.as_ref();
        if let Some(graph) = &self.graph {
            graph.print(here, clock);
            if totals.is_some_and(|totals| totals.records == 0 && totals.open_sessions == 0) {
                return;
            }
            here.out.blank();
        }
        self.print_records(here, clock);
    }
}

impl Whole {
    fn print_records(&self, here: &Here, clock: &Clock) {
        let out = &here.out;
        let project = &self.overview.project;
        let title = Text::new().name(&project.id).plain("  ");
        out.line(if project.name == project.id {
            title
        } else {
            title.bold(&project.name)
        });
        if self.graph.is_none() && !project.description.is_empty() {
            out.line(project.description.as_str());
        }
        let totals = self.overview.totals.as_ref();
        let number = |of: fn(&Totals) -> i64| totals.map_or(0, of);
        out.line(Text::new().dim(format!(
            "{}, {} open, {} later · {} open · tick {}",
            count(number(|totals| totals.records), "record"),
            number(|totals| totals.open_records),
            number(|totals| totals.later_records),
            count(number(|totals| totals.open_sessions), "session"),
            project.tick
        )));
        listed(here, "topmost records", &self.overview.root_records);
        listed(here, "open", &self.overview.open_records);
        listed(here, "later", &self.overview.later_records);
        happened(here, clock, &self.overview.recent_activity);
        if number(|totals| totals.records) > 0 {
            let id = &project.id;
            out.hint(format!("The whole tree: understory records --project {id}"));
        }
    }
}

fn listed(here: &Here, title: &str, records: &[Reference]) {
    if records.is_empty() {
        return;
    }
    here.out.blank();
    here.out.line(Text::new().bold(title));
    for record in records.iter().take(PRINTED) {
        here.out.cut(Text::from("  ").then(marked(record)));
    }
    if records.len() > PRINTED {
        here.out.hint(format!("  {} more", records.len() - PRINTED));
    }
}

fn happened(here: &Here, clock: &Clock, events: &[Entry]) {
    if events.is_empty() {
        return;
    }
    here.out.blank();
    here.out.line(Text::new().bold("last events"));
    for event in events.iter().take(PRINTED) {
        let line = Text::new()
            .dim(format!("{:>10}  ", clock.ago(event.timestamp)))
            .plain(format!("{}  {}", event.details.agent, event.summary));
        here.out.cut(line);
    }
}
