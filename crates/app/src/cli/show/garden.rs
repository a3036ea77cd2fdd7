//! An artifact line by line, a conversation as it went, and any other entity as it stands.

use serde_json::{Value, json};
use understory_engine::log;
use understory_model::Fault;

use crate::cli::conversations::called;
use crate::cli::log::did;
use crate::cli::next::each;
use crate::cli::render::Render;
use crate::cli::status::count;
use crate::cli::text::Text;
use crate::cli::when::Clock;
use crate::cli::{Desk, Here};

pub const ARTIFACT: &str = "artifact";
pub const LOG: &str = "log";
pub const PROPOSAL: &str = "proposal";

/// Commits, and items of a conversation, that are shown.
const COMMITS: i64 = 5;
const ITEMS: i64 = 50;

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

pub fn short(commit: &str) -> String {
    commit.chars().take(7).collect()
}

pub fn artifact(desk: &Desk, (handle, project): (&str, Option<&str>)) -> Result<Value, Fault> {
    let asked = json!({ "artifact": handle, "project": project });
    let mut answer = desk.call("garden_artifact_show", asked)?;
    let asked = json!({ "artifact": handle, "project": project, "limit": COMMITS });
    answer["deltas"] = desk.call("garden_artifact_log", asked)?["deltas"].take();
    Ok(answer)
}

/// The lines that a name such as `goals_doc:3`, `goals_doc:3-7` or `goals_doc:3@7a2722d` means;
/// `None` where the text is not such a name.
pub fn lines(desk: &Desk, name: &str, project: Option<&str>) -> Option<Result<Value, Fault>> {
    let (label, rest) = name.rsplit_once(':')?;
    let (range, commit) = match rest.split_once('@') {
        Some((range, commit)) => (range, Some(commit)),
        None => (rest, None),
    };
    let (start, end) = range.split_once('-').unwrap_or((range, range));
    let (start, end): (i64, i64) = (start.parse().ok()?, end.parse().ok()?);
    let asked = json!({
        "artifact": label, "start": start, "end": end, "commit": commit, "project": project,
    });
    Some(desk.call("garden_artifact_show", asked))
}

pub fn print_lines(here: &Here, _: &Clock, answer: &Value) {
    let out = &here.out;
    draw_lines(here, answer);
    if answer["truncated"] == true {
        out.hint("There is more than fits here: name fewer lines.");
    }
    let label = text(&answer["artifact"], "label");
    let first = &answer["lines"][0]["line"];
    out.hint(format!(
        "`understory why {label}:{first}` says why it is there."
    ));
}

fn draw_lines(here: &Here, answer: &Value) {
    let width = each(&answer["lines"])
        .last()
        .map_or(1, |line| line["line"].to_string().len());
    for line in each(&answer["lines"]) {
        let number = format!("{:>width$}", line["line"].to_string());
        let place = Text::new().dim(format!("{}  {number}  ", short(text(line, "commit"))));
        here.out.cut(place.plain(text(line, "content")));
    }
}

/// A part of a message, or how two things stand to each other.
pub fn print_part(here: &Here, clock: &Clock, answer: &Value) {
    let out = &here.out;
    let fragment = &answer["fragment"];
    if fragment.is_object() {
        out.hanging(Text::new().bold(text(fragment, "content")), 0);
        out.hint(format!("of {}", text(fragment, "message_uuid")));
        return;
    }
    let render = Render { out, clock };
    render.answer(answer.get("relation").unwrap_or(answer));
}

/// A proposal as it is listed.
pub fn proposal(desk: &Desk, handle: &str) -> Result<Value, Fault> {
    Ok(desk.call("garden_get", json!({ "id": handle }))?["proposal"].take())
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
    draw_lines(here, answer);
    if answer["truncated"] == true {
        let label = text(artifact, "label");
        out.hint(format!(
            "It goes on: `understory artifact {label} --plain` has all of it."
        ));
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
    let mut answer = desk.call("garden_log", json!({ "log": handle, "limit": ITEMS }))?;
    let names: Vec<&str> = each(&answer["items"])
        .map(|item| text(item, "uuid"))
        .collect();
    let told = desk.engine.read(&desk.caller, |view| match view {
        Some(view) => log::named(view, &names),
        None => Ok(Vec::new()),
    })?;
    answer["told"] = json!(told);
    Ok(answer)
}

pub fn print_log(here: &Here, clock: &Clock, answer: &Value) {
    let (out, log) = (&here.out, &answer["log"]);
    let state = match log["summary"].is_object() {
        true => "collapsed",
        false => "open",
    };
    out.line(
        Text::new()
            .bold(called(log))
            .dim(format!("  {state}  {}", text(log, "uuid"))),
    );
    if log["summary"].is_object() && log["title"].is_string() {
        out.hanging(Text::from(text(&log["summary"], "content")), 0);
    }
    out.blank();
    for item in each(&answer["told"]) {
        let line = Text::new().dim(format!("{}  ", clock.clock_text(text(item, "at"))));
        let line = line
            .plain(text(item, "actor"))
            .plain(" ")
            .then(did(text(item, "action")))
            .plain(" ")
            .name(text(item, "handle"));
        out.cut(line.plain(format!("  {}", text(item, "text"))));
    }
    if answer["pagination"]["next_cursor"].is_string() {
        out.hint(format!("The first {ITEMS} are shown."));
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
