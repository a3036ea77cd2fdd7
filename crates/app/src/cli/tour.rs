//! `understory tour`: two agents plan, claim, wait and finish, in a store of their own. Every line
//! of an answer is taken from what a tool really answered; nothing is told that did not happen.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use serde_json::{Value, json};
use understory_engine::{Engine, Options};
use understory_model::{Caller, Fault, Role};
use understory_tools::{Context, registry};

use super::next::{each, evidence};
use super::out::Out;
use super::render::telling;
use super::text::{Style, Text};
use super::tree::{brief, mark};
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
        std::fs::create_dir(&path).map_err(|error| {
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
        play.act()?;
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
        let taken = |name: &str| each(&list["projects"]).any(|project| project["id"] == name);
        let mut number = 1;
        while taken(&self.project) {
            number += 1;
            self.project = format!("shop-{number}");
        }
        Ok(())
    }

    fn act(&self) -> Result<(), Fault> {
        self.say("Ada, an agent, opens a project and breaks its goal down.");
        let goal = json!({ "project": self.project, "goal": "Ship the web shop" });
        let root = self.call("ada", "graph_open", goal)?["root"]["id"].take();
        let [api, page, guide, launch] = self.plan()?;

        self.say("Ada and Bob each ask for work. Nobody is told what another has.");
        self.take("ada")?;
        self.take("bob")?;

        self.say("Bob is done first. What is left waits for Ada, so nothing is free.");
        self.finish("bob", &guide, "file", "docs/guide.md")?;
        self.take("bob")?;

        self.say("Ada finishes with evidence, and is told what that unblocked.");
        self.finish("ada", &api, "git", "4f2a91c")?;

        self.say("Bob gets it, with the evidence of what it was waiting for.");
        self.take("bob")?;

        self.say("A circle is refused, and shown.");
        let edge = json!({ "from": api, "to": launch, "type": "depends_on" });
        self.call("bob", "graph_connect", json!({ "edges": [edge] }))?;
        self.finish("bob", &page, "test", "37 passed")?;

        self.say("The last thing was waiting for both.");
        self.take("ada")?;
        self.finish("ada", &launch, "git", "9c31e07")?;
        let root = root.as_str().unwrap_or_default();
        self.finish("ada", root, "note", "the shop is live")?;

        self.say("Anybody can ask later what happened, and why.");
        self.call("bob", "graph_history", json!({ "node_id": page }))?;
        Ok(())
    }

    fn plan(&self) -> Result<[String; 4], Fault> {
        let nodes = json!([
            { "ref": "api", "summary": "Write the API", "properties": { "priority": 2 } },
            { "ref": "page", "summary": "Write the shop page", "depends_on": ["api"] },
            { "ref": "guide", "summary": "Write the guide" },
            { "ref": "launch", "summary": "Launch", "depends_on": ["page", "guide"] },
        ]);
        let answer = self.call("ada", "graph_plan", json!({ "nodes": nodes }))?;
        let id = |name: &str| {
            let made = each(&answer["created"]).find(|made| made["ref"] == name);
            made.and_then(|made| made["id"].as_str())
                .unwrap_or_default()
                .to_owned()
        };
        Ok([id("api"), id("page"), id("guide"), id("launch")])
    }

    fn take(&self, agent: &str) -> Result<Value, Fault> {
        self.call(agent, "graph_next", json!({ "claim": true }))
    }

    fn finish(&self, agent: &str, node: &str, kind: &str, proof: &str) -> Result<Value, Fault> {
        let proof = json!([{ "type": kind, "ref": proof }]);
        let update = json!({ "node_id": node, "resolved": true, "add_evidence": proof });
        self.call(agent, "graph_update", json!({ "updates": [update] }))
    }

    /// Calls a tool and shows the call and its answer.
    fn call(&self, agent: &str, tool: &str, args: Value) -> Result<Value, Fault> {
        let answer = self.ask(agent, tool, args.clone())?;
        if self.out.json {
            let call = json!({ "agent": agent, "tool": tool, "arguments": args, "answer": answer });
            self.out.value(&call);
        } else {
            self.show_call(agent, tool, &args);
            for line in told(tool, &answer) {
                self.out.line(Text::from("         ").then(line));
            }
        }
        Ok(answer)
    }

    fn ask(&self, agent: &str, tool: &str, args: Value) -> Result<Value, Fault> {
        let caller = Caller {
            workspace: self.workspace.clone(),
            origin: None,
            agent: agent.to_owned(),
            session: format!("tour-{agent}"),
            role: Role::Worker,
            project: self.project.clone(),
        };
        let context = Context {
            engine: self.engine,
            caller: &caller,
            request_id: "req_tour",
        };
        registry::call(&context, tool, args)
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

/// An answer in a few lines, each taken from it.
fn told(tool: &str, answer: &Value) -> Vec<Text> {
    match tool {
        "graph_open" => vec![brief(&answer["root"])],
        "graph_plan" => each(&answer["created"]).map(planned).collect(),
        "graph_next" => taken(answer),
        "graph_update" => updated(answer),
        "graph_connect" => each(&answer["rejected"]).map(rejected).collect(),
        "graph_history" => each(&answer["events"]).map(event).collect(),
        _ => vec![Text::from(answer.to_string())],
    }
}

fn planned(made: &Value) -> Text {
    let text = |name: &str| made[name].as_str().unwrap_or_default();
    Text::new()
        .name(text("id"))
        .dim(format!(" {}", text("ref")))
}

fn taken(answer: &Value) -> Vec<Text> {
    let mut lines = Vec::new();
    for found in each(&answer["nodes"]) {
        let by = found["node"]["properties"]["_claimed_by"].as_str();
        let by = format!("  claimed by {}", by.unwrap_or("nobody"));
        lines.push(brief(&found["node"]).dim(by));
        for done in each(&found["resolved_deps"]) {
            let proof: Vec<String> = each(&done["evidence"]).map(evidence).collect();
            let line = Text::new().dim("after ").then(mark(true)).then(brief(done));
            lines.push(line.dim(format!("  {}", proof.join(", "))));
        }
    }
    if lines.is_empty() {
        lines.push(Text::new().dim("nothing is free"));
    }
    lines
}

fn updated(answer: &Value) -> Vec<Text> {
    let mut lines = Vec::new();
    for done in each(&answer["updated"]) {
        let id = done["node_id"].as_str().unwrap_or_default();
        lines.push(mark(true).name(id).dim(format!(" rev {}", done["rev"])));
    }
    for free in each(&answer["newly_actionable"]) {
        lines.push(Text::new().dim("can start now: ").then(brief(free)));
    }
    lines
}

fn rejected(edge: &Value) -> Text {
    let path: Vec<&str> = each(&edge["cycle"]).filter_map(Value::as_str).collect();
    let reason = edge["reason"].as_str().unwrap_or_default();
    Text::new()
        .add(Style::Bad, reason)
        .plain(format!(": {}", path.join(" → ")))
}

fn event(event: &Value) -> Text {
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    let proof: Vec<String> = each(&event["changes"])
        .filter(|change| change["after"].get("ref").is_some())
        .map(|change| evidence(&change["after"]))
        .collect();
    Text::from(format!("{} {}", text("agent"), text("action")))
        .dim(format!("  {}", proof.join(", ")))
}
