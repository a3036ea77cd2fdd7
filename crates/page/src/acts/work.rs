//! Acts on tasks.

use serde_json::{Value, json};
use understory_model::Fault;

use super::{Act, Form, Found, call};

pub fn act(name: &str, form: &Form<'_>) -> Found {
    Some(match name {
        "plan" => plan(form),
        "unplan" => unplan(form),
        "resolve" => resolve(form),
        "reopen" => update(form, json!({"resolved": false}), "is open again", "resolve"),
        "claim" => update(form, json!({"claim": true}), "is yours", "release"),
        "release" => update(form, json!({"claim": false}), "is free", "claim"),
        "take_over" => take_over(form),
        "prioritise" => prioritise(form),
        "rename" => rename(form),
        "note" => note(form),
        "depend" => depend(form, false),
        "undepend" => depend(form, true),
        "move" => move_under(form),
        "drop" => drop_task(form),
        _ => return None,
    })
}

fn plan(form: &Form<'_>) -> Result<Act, Fault> {
    let mut node = json!({"ref": "new", "summary": form.required("summary")?});
    let after = form.words("after");
    if !after.is_empty() {
        node["depends_on"] = after.into();
    }
    if let Some(priority) = priority_of(form, "priority")? {
        node["properties"] = json!({"priority": priority});
    }
    let calls = vec![call("graph_plan", json!({"nodes": [node]}))];
    Ok(Act::new(calls, "Added.").undone_by_answer("unplan", "node", "/created/0/id"))
}

/// What was added a moment ago is dropped: a task that exists stays in the history.
fn unplan(form: &Form<'_>) -> Result<Act, Fault> {
    let node = form.required("node")?;
    let drop = json!({"op": "drop", "node_id": node, "reason": "added by mistake"});
    let calls = vec![call("graph_restructure", json!({"operations": [drop]}))];
    Ok(Act::new(calls, format!("{node} is dropped.")))
}

fn priority_of(form: &Form<'_>, field: &str) -> Result<Option<f64>, Fault> {
    let Some(text) = form.text(field) else {
        return Ok(None);
    };
    let number = text
        .trim()
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite());
    number
        .map(Some)
        .ok_or_else(|| Fault::invalid(field, "must be a number"))
}

/// Done, with what shows it: `git:0c77d1e`, or a sentence.
fn resolve(form: &Form<'_>) -> Result<Act, Fault> {
    let mut fields = json!({"resolved": true});
    if let Some(text) = form.text("evidence") {
        let (kind, reference) = evidence(text);
        fields["add_evidence"] = json!([{"type": kind, "ref": reference}]);
    }
    update(form, fields, "is done", "reopen")
}

/// A word before a colon is the type of evidence, unless it begins an address.
fn evidence(text: &str) -> (&str, &str) {
    let is_type = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    match text.split_once(':') {
        Some((kind, reference))
            if is_type(kind) && !reference.starts_with("//") && !reference.trim().is_empty() =>
        {
            (kind, reference.trim())
        }
        _ => ("note", text),
    }
}

/// From whoever has it: given back and taken in one step, so that nobody comes in between.
fn take_over(form: &Form<'_>) -> Result<Act, Fault> {
    let node = form.required("node")?;
    let from = form.text("from").unwrap_or("somebody");
    let updates = json!([
        {"node_id": node, "claim": false, "reason": "taken over"},
        {"node_id": node, "claim": true, "reason": "taken over"},
    ]);
    let calls = vec![call("graph_update", json!({"updates": updates}))];
    let said = format!("{node} is yours; {from} had it.");
    Ok(Act::new(calls, said).undone_by("release", &[("node", node)]))
}

fn prioritise(form: &Form<'_>) -> Result<Act, Fault> {
    let node = form.required("node")?;
    let priority =
        priority_of(form, "priority")?.ok_or_else(|| Fault::invalid("priority", "is required"))?;
    let fields = json!({"node_id": node, "properties": {"priority": priority}});
    let said = format!("{node} has priority {priority}.");
    let act = Act::new(vec![updating(form, fields)?], said);
    Ok(act.undone_by(
        "prioritise",
        &[
            ("node", node),
            ("priority", form.text("was").unwrap_or("0")),
        ],
    ))
}

fn rename(form: &Form<'_>) -> Result<Act, Fault> {
    let node = form.required("node")?;
    let fields = json!({"node_id": node, "summary": form.required("summary")?});
    let act = Act::new(
        vec![updating(form, fields)?],
        format!("{node} has another title."),
    );
    Ok(match form.text("was") {
        Some(was) => act.undone_by("rename", &[("node", node), ("summary", was)]),
        None => act,
    })
}

/// A note stays, as everything that was said of a task.
fn note(form: &Form<'_>) -> Result<Act, Fault> {
    let node = form.required("node")?;
    let said =
        json!({"workspace": form.workspace, "target": node, "content": form.required("body")?});
    let calls = vec![call("branchmind_notes_commit", said)];
    Ok(Act::new(calls, format!("Noted on {node}.")))
}

fn depend(form: &Form<'_>, remove: bool) -> Result<Act, Fault> {
    let (node, first) = (form.required("node")?, form.required("first")?);
    let edge = json!({"from": node, "to": first, "type": "depends_on", "remove": remove});
    let calls = vec![call("graph_connect", json!({"edges": [edge]}))];
    let (said, undo) = match remove {
        false => (format!("{node} comes after {first}."), "undepend"),
        true => (
            format!("{node} does not wait for {first} any more."),
            "depend",
        ),
    };
    let act = Act::new(calls, said).unless(rejected);
    Ok(act.undone_by(undo, &[("node", node), ("first", first)]))
}

/// The tool applies the edges that it can, and answers the others; here there is one.
fn rejected(answer: Result<&Value, &Fault>) -> Option<Fault> {
    let rejected = answer.ok()?.pointer("/rejected/0")?;
    let text = |field: &str| rejected[field].as_str().unwrap_or_default();
    Some(match text("reason") {
        "cycle_detected" => Fault::invalid("first", "would close a cycle")
            .detail("cycle", rejected["cycle"].clone()),
        "duplicate_edge" => Fault::conflict("it comes after that already"),
        "edge_not_found" => Fault::conflict("it does not wait for that any more"),
        _ => Fault::not_found(format!("there is no task {}", text("to")))
            .hint("Write its number, such as TASK-001."),
    })
}

fn move_under(form: &Form<'_>) -> Result<Act, Fault> {
    let (node, parent) = (form.required("node")?, form.required("parent")?);
    let moved = json!({"op": "move", "node_id": node, "new_parent": parent});
    let calls = vec![call("graph_restructure", json!({"operations": [moved]}))];
    let act = Act::new(calls, format!("{node} is a part of {parent} now."));
    Ok(match form.text("was") {
        Some(was) => act.undone_by("move", &[("node", node), ("parent", was)]),
        None => act,
    })
}

fn drop_task(form: &Form<'_>) -> Result<Act, Fault> {
    let node = form.required("node")?;
    let drop = json!({"op": "drop", "node_id": node, "reason": form.required("reason")?});
    let calls = vec![call("graph_restructure", json!({"operations": [drop]}))];
    let act = Act::new(calls, format!("{node} is dropped."));
    // Opening it again does not open the parts that were dropped with it.
    Ok(match form.text("parts") {
        None => act.undone_by("reopen", &[("node", node)]),
        Some(_) => act,
    })
}

/// Changes one task; what became of it, and the act that makes it as it was.
fn update(
    form: &Form<'_>,
    mut fields: Value,
    said: &str,
    undo: &'static str,
) -> Result<Act, Fault> {
    let node = form.required("node")?;
    fields["node_id"] = node.into();
    let act = Act::new(vec![updating(form, fields)?], format!("{node} {said}."));
    Ok(act.undone_by(undo, &[("node", node)]))
}

/// The call that changes one task, unless somebody changed it since the form was made.
fn updating(form: &Form<'_>, mut fields: Value) -> Result<super::Call, Fault> {
    if form.text("rev").is_some() {
        fields["expected_rev"] = form.number("rev")?.into();
    }
    Ok(call("graph_update", json!({"updates": [fields]})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_may_name_its_type() {
        assert_eq!(evidence("git:0c77d1e"), ("git", "0c77d1e"));
        assert_eq!(evidence("test: 212 pass"), ("test", "212 pass"));
        assert_eq!(
            evidence("https://example.org/x"),
            ("note", "https://example.org/x")
        );
        assert_eq!(evidence("It works"), ("note", "It works"));
        assert_eq!(evidence("Seen: it works"), ("note", "Seen: it works"));
        assert_eq!(evidence("git:"), ("note", "git:"));
    }

    #[test]
    fn an_edge_that_was_not_applied_is_a_refusal() {
        let answer = json!({"applied": 0, "rejected": [{"from": "a", "to": "b", "reason": "cycle_detected", "cycle": ["a", "b", "a"]}]});
        assert_eq!(
            rejected(Ok(&answer)).unwrap().details.unwrap()["cycle"],
            json!(["a", "b", "a"])
        );
        assert!(rejected(Ok(&json!({"applied": 1}))).is_none());
    }
}
