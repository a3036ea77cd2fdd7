//! `understory tour`: agents plan, claim, wait and finish, one goes on with another's reasoning, a
//! branch of thought is merged back, a review is held, and somebody asks why, in a store of their
//! own. Every line of an answer is taken from what a tool really answered; nothing is told that did
//! not happen.

mod garden;
mod graph;
mod reasoning;
mod records;
mod threads;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use understory_engine::graph::open::Projects;
use understory_engine::{Engine, Options};
use understory_model::{Caller, Fault, Role, Via};
use understory_tools::{Context, registry};

use super::here::typed;
use super::out::Out;
use super::render::telling;
use super::text::{Style, Text};
use super::{Here, Outcome, verify};
use crate::ids;

const EXAMPLES: &str = "\
Examples:
  understory tour                       in a temporary store, which is gone afterwards
  understory tour --store ./tour.db     in a store to look around in
  understory log --store ./tour.db --workspace tour";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {}

/// A folder that is gone when the tour is over.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, Fault> {
        let path = std::env::temp_dir().join(format!("understory-tour-{}", ids::short()));
        understory_engine::files::new_private_folder(&path).map_err(|error| {
            Fault::new(
                understory_model::Code::StoreUnavailable,
                format!("{}: cannot be made: {error}", path.display()),
            )
            .hint("Name a store with --store.")
        })?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let begun = Instant::now();
        // Only a store that was named for it: a tour must not land in somebody's real work.
        let (scratch, store) = match &here.flags.store {
            Some(_) => (None, here.settings()?.store.value.reveal().to_owned()),
            None => {
                let scratch = Scratch::new()?;
                let store = scratch.0.join("tour.db").to_string_lossy().into_owned();
                (Some(scratch), store)
            }
        };
        let engine = Engine::open(&store, Options::default())?;
        let workspace = here
            .flags
            .workspace
            .clone()
            .unwrap_or_else(|| "tour".into());
        let mut play = Play {
            out: &here.out,
            engine: &engine,
            workspace,
            project: "shop".to_owned(),
        };
        play.find_room()?;
        // Both are here while the tour lasts, as two windows of a client would be.
        let _seats = ["ada", "bob"].map(|agent| engine.appear(&play.caller(agent)));
        graph::act(&play)?;
        records::act(&play)?;
        reasoning::act(&play)?;
        threads::act(&play)?;
        garden::act(&play)?;
        let report = engine.verify(Some(&play.workspace), true, |_, _| {})?;
        if here.out.json {
            here.out.value(&json!({ "verify": report }));
        } else {
            play.say("And is it true? The log is proved, item by item, and core against a replay:");
            verify::show(here, &report);
            here.out.blank();
            play.end(begun, scratch.is_none());
        }
        engine.close();
        Ok(if report.ok {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

/// The stage, and what is said on it.
struct Play<'a> {
    out: &'a Out,
    engine: &'a Engine,
    workspace: String,
    project: String,
}

impl Play<'_> {
    /// A project that nobody has yet: in a store that was named, the tour may not be the first.
    fn find_room(&mut self) -> Result<(), Fault> {
        let list = self.ask("ada", "graph_open", json!({}))?;
        let list: Projects = typed(&list)?;
        let taken = |name: &str| list.projects.iter().any(|project| project.id == name);
        let mut number = 1;
        while taken(&self.project) {
            number += 1;
            self.project = format!("shop-{number}");
        }
        Ok(())
    }

    /// Calls a tool and shows the call and its answer.
    fn call(&self, agent: &str, tool: &str, args: Value) -> Result<Value, Fault> {
        let answer = self.ask(agent, tool, args.clone())?;
        self.show(agent, tool, &args, &answer);
        Ok(answer)
    }

    /// As [`Play::call`], for the type of the answer.
    fn answer<T: DeserializeOwned>(
        &self,
        agent: &str,
        tool: &str,
        args: Value,
    ) -> Result<T, Fault> {
        typed(&self.call(agent, tool, args)?)
    }

    /// Calls a tool that refuses, and shows what it says.
    fn refused(&self, agent: &str, tool: &str, args: Value) -> Result<(), Fault> {
        let fault = match self.ask(agent, tool, args.clone()) {
            Err(fault) => fault,
            Ok(answer) => {
                self.show(agent, tool, &args, &answer);
                return Ok(());
            }
        };
        if self.out.json {
            self.show(agent, tool, &args, &fault.envelope("req_tour"));
        } else {
            self.show_call(agent, tool, &args);
            let line = Text::from("         ").add(Style::Bad, fault.code.wire());
            self.out.line(line.plain(format!(": {}", fault.message)));
        }
        Ok(())
    }

    fn show(&self, agent: &str, tool: &str, args: &Value, answer: &Value) {
        if self.out.json {
            let call = json!({ "agent": agent, "tool": tool, "arguments": args, "answer": answer });
            self.out.value(&call);
        } else {
            self.show_call(agent, tool, args);
            for line in told(tool, answer) {
                self.out.line(Text::from("         ").then(line));
            }
        }
    }

    fn ask(&self, agent: &str, tool: &str, args: Value) -> Result<Value, Fault> {
        let caller = self.caller(agent);
        let context = Context {
            engine: self.engine,
            caller: &caller,
            request_id: "req_tour",
        };
        registry::call_named(&context, tool, args)
    }

    fn caller(&self, agent: &str) -> Caller {
        Caller {
            workspace: self.workspace.clone(),
            origin: None,
            agent: agent.to_owned(),
            session: format!("tour-{agent}"),
            role: Role::Worker,
            project: self.project.clone(),
            via: Via::Local,
        }
    }

    fn show_call(&self, agent: &str, tool: &str, args: &Value) {
        let style = if agent == "ada" {
            Style::Name
        } else {
            Style::Warn
        };
        let line = Text::new().add(style, format!("  {agent} ▸ ")).bold(tool);
        let line = line.dim(format!(" {}", telling(args)));
        self.out.cut(line);
    }

    fn say(&self, text: &str) {
        if !self.out.json {
            self.out.blank();
            self.out.line(text);
        }
    }

    fn end(&self, begun: Instant, kept: bool) {
        let took = begun.elapsed().as_millis();
        let place = if kept {
            format!("the workspace {} of your store", self.workspace)
        } else {
            "a store that is gone now".to_owned()
        };
        self.out.hint(format!(
            "All of it was real, in {place}, and took {took} ms."
        ));
        self.out
            .line("Your own: put `understory mcp` into your agent's configuration, then watch");
        self.out
            .line("with `understory log --follow`. `understory --help` has the rest.");
    }
}

/// What lines an answer makes; one that has not its type is shown as it is.
fn read<T: DeserializeOwned>(answer: &Value, lines: fn(T) -> Vec<Text>) -> Option<Vec<Text>> {
    typed(answer).ok().map(lines)
}

/// An answer in a few lines, each taken from it.
fn told(tool: &str, answer: &Value) -> Vec<Text> {
    graph::told(tool, answer)
        .or_else(|| records::told(tool, answer))
        .or_else(|| reasoning::told(tool, answer))
        .or_else(|| threads::told(tool, answer))
        .or_else(|| garden::told(tool, answer))
        .unwrap_or_else(|| vec![Text::from(answer.to_string())])
}
