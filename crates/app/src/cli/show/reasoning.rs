//! A branch and a conflict for a person: where a branch came from and what was thought on it, and
//! the sides of a conflict field by field.

use serde_json::{Value, json};
use understory_engine::log::Found;
use understory_model::Fault;

use super::{CHANGES, changes, show_change};
use crate::cli::branch::{self, MAIN, ask, sides};
use crate::cli::next::each;
use crate::cli::status::count;
use crate::cli::text::{Style, Text};
use crate::cli::when::Clock;
use crate::cli::{Desk, Here};

/// A branch, what was made from it, and its last notes, in one value.
pub fn branch(desk: &Desk, name: &str) -> Result<Value, Fault> {
    let all = branch::all(desk)?;
    let own = all.branches.iter().find(|branch| branch.name == name);
    let made: Vec<&str> = all
        .branches
        .iter()
        .filter(|branch| branch.base_branch.as_deref() == Some(name))
        .map(|branch| branch.name.as_str())
        .collect();
    let notes = ask(
        desk,
        "branchmind_log",
        json!({ "branch": name, "limit": CHANGES }),
    )?;
    let cards = json!({ "branch": name, "limit_cards": CHANGES });
    let cards = ask(desk, "branchmind_think_context", cards)?;
    let state = branch::state(desk, name)?;
    let conflicts = json!({ "into": name, "status": "open" });
    let conflicts = branch::rows(
        desk,
        "branchmind_graph_conflicts",
        &conflicts,
        "conflicts",
        100,
    )?;
    let history = match name {
        // The first branch is there without anything that happened.
        MAIN => json!([]),
        _ => changes(desk, &format!("branch:{name}"), CHANGES)?,
    };
    Ok(json!({
        "branch": own,
        "current": all.checkout.current == name,
        "branches": made,
        "documents": state.documents,
        "cards": cards["cards"],
        "notes": notes["entries"],
        "conflicts": conflicts.rows,
        "history": history,
    }))
}

pub fn print_branch(here: &Here, clock: &Clock, answer: &Value) {
    let out = &here.out;
    let own = &answer["branch"];
    let name = own["name"].as_str().unwrap_or_default();
    let title = Text::new().dim("branch ").name(name);
    out.line(match answer["current"] == true {
        true => title.add(Style::Good, "  checked out"),
        false => title,
    });
    let mut fields = Vec::new();
    let mut field = |name: &str, value: Text| fields.push((name.to_owned(), value));
    if let Some(base) = own["base_branch"].as_str() {
        let text = Text::new().name(base);
        field("from", text.plain(format!(" up to #{}", own["base_seq"])));
    }
    for other in each(&answer["branches"]) {
        let other = other.as_str().unwrap_or_default();
        field("branches", Text::new().name(other));
    }
    for document in each(&answer["documents"]) {
        let doc = document["doc"].as_str().unwrap_or_default();
        let size = match document["entries"].as_i64() {
            Some(entries) => count(entries, "note"),
            None => "graph".to_owned(),
        };
        field("documents", Text::new().plain(doc).dim(format!("  {size}")));
    }
    for conflict in each(&answer["conflicts"]) {
        field("open", branch::conflict_line(conflict, name));
    }
    out.fields(0, fields);
    if each(&answer["cards"]).next().is_some() {
        out.blank();
        out.line(Text::new().bold("last cards"));
    }
    for card in each(&answer["cards"]) {
        let text = |name: &str| card[name].as_str().unwrap_or_default();
        let line = Text::from("  ").name(text("id"));
        let line = line.dim(format!("  {}  ", text("type")));
        out.cut(line.plain(format!("{}  {}", text("title"), text("status"))));
    }
    if each(&answer["notes"]).next().is_some() {
        out.blank();
        out.line(Text::new().bold("last notes"));
    }
    for note in each(&answer["notes"]) {
        let text = |name: &str| note[name].as_str().unwrap_or_default();
        let line = Text::new().dim(format!("{:>10}  ", clock.ago_text(text("ts"))));
        out.cut(line.plain(format!("{}  {}", text("agent"), text("line"))));
    }
    if each(&answer["history"]).next().is_some() {
        out.blank();
        out.line(Text::new().bold("last changes"));
        each(&answer["history"]).for_each(|entry| show_change(here, clock, entry));
    }
    if let Some(base) = own["base_branch"].as_str() {
        out.hint(format!("understory diff {base} {name}"));
    }
}

/// A conflict and its last changes.
pub fn conflict(desk: &Desk, id: &str) -> Result<Value, Fault> {
    let mut answer = json!({ "conflict": branch::conflict(desk, id)? });
    answer["history"] = changes(desk, id, CHANGES)?;
    Ok(answer)
}

pub fn print_conflict(here: &Here, clock: &Clock, answer: &Value) {
    let out = &here.out;
    let conflict = &answer["conflict"];
    let text = |name: &str| conflict[name].as_str().unwrap_or_default();
    out.line(branch::conflict_line(conflict, text("into")).dim(format!(", {}", text("doc"))));
    out.line(match text("status") {
        "open" => Text::new().add(Style::Warn, "open"),
        status => Text::new()
            .add(Style::Good, status)
            .plain(format!(": {}", text("resolution"))),
    });
    print_sides(here, conflict);
    out.blank();
    out.line(Text::new().bold("last changes"));
    each(&answer["history"]).for_each(|entry| show_change(here, clock, entry));
    if text("status") == "open" {
        let (from, into) = (text("from"), text("into"));
        out.hint(format!(
            "Settle it: understory merge {from} {into} --doc {} --use from|into",
            text("doc")
        ));
        if conflict["now"]["agree"] == true {
            out.hint("Both sides say the same by now: the next merge closes it.");
        }
    }
}

/// The sides of a conflict, field by field.
pub fn print_sides(here: &Here, conflict: &Value) {
    for (name, block) in sides(conflict) {
        here.out.line(Text::from("  ").bold(name));
        here.out.fields(4, block);
    }
}

/// Which branch is checked out.
pub fn checkout(desk: &Desk, found: &Found) -> Result<Value, Fault> {
    Ok(json!({
        "current": branch::all(desk)?.checkout.current,
        "history": changes(desk, &found.handle, CHANGES)?,
    }))
}

pub fn print_checkout(here: &Here, clock: &Clock, answer: &Value) {
    let current = answer["current"].as_str().unwrap_or(MAIN);
    let line = Text::new().name(current);
    here.out.line(line.add(Style::Good, "  checked out"));
    here.out.blank();
    here.out.line(Text::new().bold("last changes"));
    each(&answer["history"]).for_each(|entry| show_change(here, clock, entry));
}
