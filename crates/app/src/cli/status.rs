//! `understory status`: what is open, who you are and where things are kept; with `--settings` also
//! what is set and by what. It says what it can even when the store cannot be used.

use std::process::ExitCode;

use serde::Serialize;
use serde_json::{Map, Value, json};
use understory_engine::graph::onboard::Onboard;
use understory_engine::graph::open::Projects;
use understory_engine::graph::shape::{Counts, Listed};
use understory_engine::kernel::quota::{self, Level, Used};
use understory_engine::system::status::{self, Log, Records, State};
use understory_engine::{Clash, Resolved, View};
use understory_model::{Caller, Fault, Role, thread};

use super::branch::{self, MAIN};
use super::records::counted;
use super::render::words::{count, size};
use super::table::Table;
use super::text::{Style, Text};
use super::when::Clock;
use super::{CommandContext, Here, Outcome, exit_code, hints, threads};
use crate::clash;
use crate::config::{Settings, Source};
use crate::identity::Identity;

const EXAMPLES: &str = "\
Examples:
  understory status
  understory status --settings           every setting, and what set it
  understory status --store ./team.db
  understory status --json | jq .head_seq";

/// Threads that are counted; nobody has more.
const THREADS: i64 = 10_000;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Also show every setting and what set it
    #[arg(long)]
    settings: bool,
    /// Print the page docs/settings.md
    #[arg(long, hide = true)]
    markdown: bool,
}

/// Everything that is shown.
struct Status {
    settings: Settings,
    caller: Caller,
    store: Result<Option<State>, Fault>,
    workspace: Option<Resolved>,
    clash: Option<Clash>,
    /// What `graph_onboard` counts.
    counts: Option<Counts>,
    records: Records,
    branches: Branches,
    threads: Threads,
    projects: Vec<Listed>,
    /// The quotas of which most is used.
    quotas: Vec<Used>,
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        if self.markdown {
            here.out.bytes(crate::config::page()?.as_bytes());
            return Ok(ExitCode::SUCCESS);
        }
        let status = Status::look(here)?;
        if here.out.json {
            here.out.value(&status.json());
        } else {
            status.show(here, self.settings);
        }
        match &status.store {
            Ok(_) => Ok(ExitCode::SUCCESS),
            Err(fault) => Ok(exit_code(fault.code)),
        }
    }
}

impl Status {
    fn look(here: &Here) -> Result<Status, Fault> {
        let settings = here.settings()?;
        let caller = Identity::shell(&settings, &here.around)?.caller(None);
        let mut status = Status {
            settings,
            caller,
            store: Ok(None),
            workspace: None,
            clash: None,
            counts: None,
            records: Records::default(),
            branches: Branches {
                made: 0,
                current: MAIN.to_owned(),
            },
            threads: Threads::default(),
            projects: Vec::new(),
            quotas: Vec::new(),
        };
        if let Err(fault) = here.context().and_then(|context| status.read(&context)) {
            status.store = Err(fault);
        }
        Ok(status)
    }

    fn read(&mut self, context: &CommandContext) -> Result<(), Fault> {
        self.store = Ok(context.engine.state()?);
        self.caller = context.caller.clone();
        self.workspace = Some(context.engine.workspace(&self.caller)?);
        self.clash = context.engine.clash(&self.caller)?;
        let onboard: Onboard = context.ask("graph_onboard", json!({}))?;
        self.counts = Some(onboard.summary);
        let records = |view: &mut View<'_, '_>| status::records(view, &self.caller);
        self.records = context.engine.view(&self.caller, records)?;
        self.quotas = context.engine.view(&self.caller, quota::near)?;
        self.branches = branches(context)?;
        self.threads = threads(context)?;
        let projects: Projects = context.ask("graph_open", json!({}))?;
        self.projects = projects.projects;
        Ok(())
    }

    /// The name that the workspace has here.
    fn name(&self) -> &str {
        self.workspace
            .as_ref()
            .map_or(&self.caller.workspace, |found| found.name())
    }

    fn log(&self) -> Option<&Log> {
        let state = self.store.as_ref().ok()?.as_ref()?;
        match &self.workspace {
            Some(Resolved::There(there)) => {
                state.logs.iter().find(|log| log.workspace == there.name)
            }
            _ => None,
        }
    }

    fn clash(&self) -> Option<String> {
        self.clash.as_ref().map(clash::told)
    }

    fn json(&self) -> Value {
        let mut store = Map::new();
        store.insert(
            "address".into(),
            self.settings.store.value.to_string().into(),
        );
        match &self.store {
            Ok(None) => {
                store.insert("exists".into(), false.into());
            }
            Ok(Some(state)) => {
                store.insert("exists".into(), true.into());
                store.insert("engine".into(), state.engine.clone().into());
                store.insert("size_bytes".into(), state.size.into());
                store.insert("soil_version".into(), state.soil_version.into());
                store.insert("core_version".into(), state.core_version.into());
                store.insert("workspaces".into(), json!(state.logs));
            }
            Err(fault) => {
                let mut envelope = fault.envelope("status");
                let error = envelope.as_object_mut();
                store.extend(error.and_then(|fields| fields.remove_entry("error")));
            }
        }
        let settings: Vec<Value> = self
            .settings
            .shown()
            .into_iter()
            .map(|(name, value, source)| {
                let value = Some(value).filter(|value| value != "-");
                json!({ "name": name, "value": value, "source": source.to_string() })
            })
            .collect();
        let ignored: Vec<Value> = self
            .settings
            .ignored
            .iter()
            .map(|one| {
                json!({ "setting": one.setting, "file": one.file, "reason": one.why.to_string(),
                        "instead": one.advice() })
            })
            .collect();
        let quotas: Vec<Value> = self
            .quotas
            .iter()
            .map(|one| {
                json!({ "quota": one.what, "used": one.used, "max": one.max,
                        "state": one.level() })
            })
            .collect();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "store": store,
            "workspace": {
                "name": self.name(),
                "wanted": self.caller.workspace,
                "exists": matches!(self.workspace, Some(Resolved::There(_))),
                "clash": self.clash(),
            },
            "project": self.caller.project,
            "agent": self.caller.agent,
            "role": self.caller.role.as_str(),
            "head_seq": self.log().map_or(0, |log| log.items),
            "updated_at": self.log().map(|log| log.updated_at.to_string()),
            "counts": self.counts,
            "records": self.records,
            "branches": self.branches,
            "threads": self.threads,
            "projects": self.projects,
            "quotas": quotas,
            "settings": settings,
            "ignored": ignored,
        })
    }

    fn show(&self, here: &Here, settings: bool) {
        let out = &here.out;
        let clock = Clock::here();
        out.fields(0, self.fields(&clock));
        if settings {
            out.blank();
            out.table(self.settings_table());
        }
        let mut table = Table::new(&["workspace", "items", "changed"]);
        for log in self.others() {
            table.row([
                Text::new().name(&log.workspace),
                Text::from(log.items.to_string()),
                Text::from(clock.ago(log.updated_at)),
            ]);
        }
        if !table.is_empty() {
            out.blank();
            out.line(Text::new().bold("other workspaces in this store"));
            out.table(table);
        }
        if !settings {
            out.blank();
            out.hint("`understory status --settings` shows every setting and what set it.");
        }
    }

    fn fields(&self, clock: &Clock) -> Vec<(String, Text)> {
        let mut fields = Vec::new();
        let mut field = |name: &str, value: Text| fields.push((name.to_owned(), value));
        field("workspace", self.workspace_line());
        if let Some(clash) = self.clash() {
            field("", Text::new().add(Style::Warn, clash));
        }
        field("project", self.project_line());
        field("records", counted(&self.records));
        field("branches", self.branches_line());
        field("threads", self.threads_line());
        let Caller { agent, role, .. } = &self.caller;
        field("agent", Text::new().bold(agent).plain(format!("  {role}")));
        let log = self.log().map(|log| {
            let last = clock.ago(log.updated_at);
            Text::from(format!("{}, the last {last}", count(log.items, "item")))
        });
        field("log", log.unwrap_or_else(|| Text::new().dim("nothing yet")));
        for one in &self.quotas {
            field("quota", quota_line(one));
        }
        let store = Text::from(self.settings.store.value.to_string());
        field(
            "store",
            match &self.settings.store.source {
                Source::Repository(file) => store.dim(format!(
                    "  in the repository, allowed by you for {}",
                    file.display()
                )),
                _ => store,
            },
        );
        field("", self.store_line());
        for one in &self.settings.ignored {
            let text = Text::new().add(Style::Warn, one.to_string());
            field(
                "ignored",
                text.plain(format!(". Instead: {}.", one.advice())),
            );
        }
        fields
    }

    fn store_line(&self) -> Text {
        match &self.store {
            Ok(Some(state)) => Text::from(format!(
                "{}, {}, {}",
                state.engine,
                size(state.size),
                count(state.logs.len() as i64, "workspace")
            )),
            Ok(None) => Text::new().dim("not there yet: the first write makes it"),
            Err(fault) => {
                let hint = hints::for_shell(fault.hint.as_deref().unwrap_or_default());
                Text::new()
                    .add(Style::Bad, format!("{}. ", fault.message))
                    .plain(hint)
            }
        }
    }

    fn workspace_line(&self) -> Text {
        let text = Text::new().bold(self.name());
        if let Source::Joined(path) = &self.settings.workspace.source {
            return text.dim(format!("  shared by {}, allowed by you", path.display()));
        }
        let origin = self.caller.origin.as_deref();
        let path = origin.and_then(|lines| lines.lines().find_map(|l| l.strip_prefix("path:")));
        match path {
            Some(path) => text.dim(format!("  from {path}")),
            None => text,
        }
    }

    fn project_line(&self) -> Text {
        let text = Text::new().bold(&self.caller.project);
        match &self.counts {
            None | Some(Counts { total: 0, .. }) => text.dim("  nothing planned yet"),
            Some(counts) => text.plain(format!(
                "  {} open ({} ready, {} blocked), {} done",
                counts.unresolved, counts.actionable, counts.blocked, counts.resolved
            )),
        }
    }

    fn branches_line(&self) -> Text {
        let Branches { made, current } = &self.branches;
        match (*made, current.as_str()) {
            (0, MAIN) => Text::new().dim("none made yet"),
            _ => Text::from(format!("{} made, ", many(*made)))
                .plain(format!("{current} checked out")),
        }
    }

    fn threads_line(&self) -> Text {
        let Threads {
            threads,
            open,
            unread,
        } = self.threads;
        if threads == 0 {
            return Text::new().dim("none yet");
        }
        let all = count(threads as i64, "thread");
        let text = Text::from(format!("{all}: {open} not closed"));
        match unread {
            0 => text,
            unread => text.add(Style::Warn, format!(" · {unread} unread")),
        }
    }

    /// Each setting as it takes effect, and what won.
    fn settings_table(&self) -> Table {
        let mut table = Table::new(&["setting", "value", "set by"]);
        for (name, value, source) in self.settings.shown() {
            let value = match (name, value.as_str()) {
                ("workspace", "-") => self.name().to_owned(),
                ("agent", "-") => self.caller.agent.clone(),
                ("role", "-") => self.caller.role.to_string(),
                ("session", "-") => "one a command".to_owned(),
                _ => value,
            };
            let source = match source {
                Source::Default => Text::new().dim("default"),
                source => Text::from(source.to_string()),
            };
            table.row([Text::from(name), Text::from(value), source]);
        }
        table
    }

    fn others(&self) -> impl Iterator<Item = &Log> {
        let state = self.store.as_ref().ok().and_then(Option::as_ref);
        state
            .into_iter()
            .flat_map(|state| &state.logs)
            .filter(|log| log.workspace != self.name())
    }
}

fn quota_line(one: &Used) -> Text {
    let Used { what, used, max } = one;
    let used = format!("{used} of {max} {what}");
    let raise = format!("Raise quota_{what}.");
    match one.level() {
        Level::Near => Text::new()
            .add(Style::Warn, used)
            .plain(format!(": soon nothing more is written. {raise}")),
        Level::Reached => Text::new()
            .add(Style::Bad, used)
            .plain(format!(": nothing more is written. {raise}")),
    }
}

/// How many branches were made, and which is checked out.
#[derive(Serialize)]
struct Branches {
    made: usize,
    current: String,
}

fn branches(context: &CommandContext) -> Result<Branches, Fault> {
    let all = branch::all(context)?;
    let made = all.branches.iter().filter(|one| one.base_branch.is_some());
    Ok(Branches {
        made: made.count(),
        current: all.checkout.current,
    })
}

/// How many threads there are, how many of them can still be posted to, and what the caller has not
/// read in them.
#[derive(Default, Serialize)]
struct Threads {
    threads: usize,
    open: usize,
    unread: i64,
}

fn threads(context: &CommandContext) -> Result<Threads, Fault> {
    let everybody = context.caller.role != Role::Worker;
    let all = threads::threads(context, None, false, everybody, THREADS)?;
    let open = all.threads.iter();
    let open = open.filter(|thread| thread.status != thread::Status::Closed);
    Ok(Threads {
        threads: all.threads.len(),
        open: open.count(),
        unread: all.unread.messages,
    })
}

/// `1 branch`, `2 branches`.
fn many(branches: usize) -> String {
    let plural = if branches == 1 { "" } else { "es" };
    format!("{branches} branch{plural}")
}
