//! An artifact line by line, a conversation as it went, and any other entity as it stands.

use serde_json::{Value, json};
use understory_model::Fault;

use crate::cli::log::did;
use crate::cli::next::each;
use crate::cli::render::Render;
use crate::cli::status::count;
use crate::cli::text::Text;
use crate::cli::when::Clock;
use crate::cli::{Desk, Here};

pub const ARTIFACT: &str = "artifact";
pub const LOG: &str = "log";

/// Commits, and items of a conversation, that are shown.
const COMMITS: i64 = 5;
const ITEMS: i64 = 50;

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

fn short(commit: &str) -> String {
    commit.chars().take(7).collect()
}

pub fn artifact(desk: &Desk, handle: &str) -> Result<Value, Fault> {
    let mut answer = desk.call("garden_artifact_show", json!({ "artifact": handle }))?;
    let asked = json!({ "artifact": handle, "limit": COMMITS });
    answer["deltas"] = desk.call("garden_artifact_log", asked)?["deltas"].take();
    Ok(answer)
}

pub fn print_artifact(here: &Here, clock: &Clock, answer: &Value) {
    let (out, artifact) = (&here.out, &answer["artifact"]);
    let (lines, commits) = (&artifact["lines"], &artifact["commits"]);
    let lines = count(lines.as_i64().unwrap_or(0), "line");
    let commits = count(commits.as_i64().unwrap_or(0), "commit");
    let head = Text::new().name(text(artifact, "label"));
    out.line(head.dim(format!("  {lines}, {commits}  {}", text(artifact, "uuid"))));
    let former: Vec<&str> = each(&artifact["label_history"])
        .filter_map(Value::as_str)
        .collect();
    if !former.is_empty() {
        out.line(Text::new().dim(format!("formerly {}", former.join(", "))));
    }
    out.blank();
    let width = each(&answer["lines"])
        .last()
        .map_or(1, |line| line["line"].to_string().len());
    for line in each(&answer["lines"]) {
        let number = format!("{:>width$}", line["line"].to_string());
        let place = Text::new().dim(format!("{}  {number}  ", short(text(line, "commit"))));
        out.cut(place.plain(text(line, "content")));
    }
    if answer["truncated"] == true {
        out.hint("It goes on: garden_artifact_show with `start` has the rest.");
    }
    out.blank();
    for delta in each(&answer["deltas"]) {
        let line = Text::new().name(short(text(delta, "commit")));
        let line = line.plain(format!("  {}", text(delta, "actor")));
        let line = line.dim(format!(
            "  {}  ",
            clock.ago_text(text(delta, "realized_at"))
        ));
        let said = match text(delta, "reasoning") {
            "" => text(delta, "ops"),
            reasoning => reasoning,
        };
        out.cut(line.plain(said));
    }
    out.hint(format!(
        "`understory why {}:3` says why a line is there.",
        text(artifact, "label")
    ));
}

pub fn log(desk: &Desk, handle: &str) -> Result<Value, Fault> {
    desk.call("garden_log", json!({ "log": handle, "limit": ITEMS }))
}

pub fn print_log(here: &Here, clock: &Clock, answer: &Value) {
    let (out, log) = (&here.out, &answer["log"]);
    let state = match log["summary"].is_object() {
        true => "collapsed",
        false => "open",
    };
    out.line(
        Text::new()
            .name(text(log, "uuid"))
            .dim(format!("  {state}")),
    );
    if log["summary"].is_object() {
        out.hanging(Text::from(text(&log["summary"], "content")), 0);
    }
    out.blank();
    for item in each(&answer["items"]) {
        let said = ["description", "event_type", "operation", "ops", "label"];
        let said = said
            .iter()
            .map(|name| text(item, name))
            .find(|said| !said.is_empty());
        let line = Text::new().dim(format!("{}  ", clock.clock_text(text(item, "realized_at"))));
        let line = line
            .plain(text(item, "actor"))
            .plain("  ")
            .then(did(text(item, "_type")));
        out.cut(line.plain(format!("  {}", said.unwrap_or_default())));
    }
}

pub fn entity(desk: &Desk, handle: &str) -> Result<Value, Fault> {
    Ok(desk.call("garden_get", json!({ "id": handle }))?["entity"].take())
}

pub fn print_entity(here: &Here, clock: &Clock, answer: &Value) {
    let render = Render {
        out: &here.out,
        clock,
    };
    render.answer(answer);
}
