//! Acts on records. Each names the version that the page showed, so that nothing is written over unseen.

use serde_json::{Map, Value, json};
use understory_model::record::{Proposed, RecordState};
use understory_model::{Code, Fault};

use super::{Act, Call, Form, Found, call};

/// The texts of a record that a form edits.
const TEXTS: [&str; 3] = ["title", "summary", "body"];

pub fn act(name: &str, form: &Form<'_>) -> Found {
    Some(match name {
        "record-edit" => edit(form),
        "record-new" => new(form),
        "record-move" => place(form),
        "record-state" => state(form),
        "record-settle" => settle(form),
        _ => return None,
    })
}

/// What a field says, as it was typed: empty is a text, too. Browsers send lines with two signs at their end.
fn typed(form: &Form<'_>, name: &str) -> Option<String> {
    let mut fields = form.form.fields();
    let (_, text) = fields.find(|(known, _)| *known == name)?;
    Some(text.replace("\r\n", "\n"))
}

/// The texts that a form changed, from and to.
fn changed(form: &Form<'_>) -> Vec<(&'static str, String, String)> {
    let sides = TEXTS.iter().filter_map(|name| {
        let was = typed(form, &format!("was_{name}")).unwrap_or_default();
        Some((*name, was, typed(form, name)?))
    });
    sides.filter(|(_, was, is)| was != is).collect()
}

fn update(record: &str, seen: i64, fields: &[(&'static str, String, String)]) -> Call {
    let mut asked = json!({"id": record, "seen": {record: seen}, "echo": false});
    for (name, _, text) in fields {
        asked[*name] = text.as_str().into();
    }
    call("update_record", asked)
}

fn edit(form: &Form<'_>) -> Result<Act, Fault> {
    let (record, seen) = (form.required("record")?, form.number("seen")?);
    let fields = changed(form);
    if fields.is_empty() {
        return Err(Fault::invalid("body", "nothing was changed")
            .hint("Change the title, the summary or the body, or leave it."));
    }
    let act = Act::new(
        vec![update(record, seen, &fields)],
        format!("{record} is saved."),
    );
    Ok(undone(act, record, seen, &fields).unless(refused))
}

/// Undone by what the texts were before.
fn undone(act: Act, record: &str, seen: i64, fields: &[(&'static str, String, String)]) -> Act {
    let next = (seen + 1).to_string();
    let old: Vec<String> = fields
        .iter()
        .map(|(name, _, _)| format!("was_{name}"))
        .collect();
    let mut all = vec![("record", record), ("seen", next.as_str())];
    for ((name, was, is), old) in fields.iter().zip(&old) {
        all.push((name, was));
        all.push((old, is));
    }
    act.undone_by("record-edit", &all)
}

/// Says to a person that somebody else was there first, and where both versions are.
fn refused(answer: Result<&Value, &Fault>) -> Option<Fault> {
    let (by, place) = match answer {
        Ok(answer) => {
            let conflict = answer.get("conflict")?;
            let record = conflict["other_version"]["id"].as_str()?;
            let by = conflict.get("by").and_then(Value::as_str);
            (by, Some(format!("records/{record}/settle")))
        }
        Err(fault) if fault.code == Code::Conflict => {
            let details = fault.details.as_ref();
            (details.and_then(|details| details["by"].as_str()), None)
        }
        Err(_) => return None,
    };
    let by = by.unwrap_or("somebody");
    let fault = Fault::conflict(format!(
        "{by} changed it meanwhile. Nothing of yours was written."
    ));
    let fault = fault.hint("Look at what is new, then choose again.");
    Some(match place {
        Some(place) => fault.detail("place", place),
        None => fault,
    })
}

fn new(form: &Form<'_>) -> Result<Act, Fault> {
    let text = |name: &str| typed(form, name).unwrap_or_default();
    let mut asked = json!({
        "title": form.required("title")?,
        "type": form.required("type")?,
        "summary": text("summary"),
        "body": text("body"),
    });
    if let Some(parent) = form.text("parent") {
        asked["parent_id"] = parent.into();
        asked["seen"] = json!({parent: form.number("seen")?});
    }
    let act = Act::new(vec![call("create_record", asked)], "Added.");
    // Nothing is ever taken out of the log: what was added by mistake is given up.
    Ok(act
        .undone_by_answer("record-state", "record", "/record/id")
        .with_undo(&[
            ("state", RecordState::Discarded.as_str()),
            ("was_state", RecordState::Open.as_str()),
            ("seen", "1"),
            ("reason", "It was added by mistake."),
        ]))
}

fn place(form: &Form<'_>) -> Result<Act, Fault> {
    let (record, seen) = (form.required("record")?, form.number("seen")?);
    let parent = form.text("parent").map(str::trim);
    let mut known = Map::new();
    known.insert(record.to_owned(), seen.into());
    if let Some(parent) = parent {
        // That it is there is all that a move asks of it.
        known.entry(parent).or_insert_with(|| 1.into());
    }
    let asked = json!({"id": record, "parent_id": parent, "seen": known, "echo": false});
    let said = match parent {
        Some(parent) => format!("{record} is below {parent}."),
        None => format!("{record} is at the top."),
    };
    let next = (seen + 1).to_string();
    let back = [
        ("record", record),
        ("seen", next.as_str()),
        ("parent", form.text("was_parent").unwrap_or_default()),
        ("was_parent", parent.unwrap_or_default()),
    ];
    let act = Act::new(vec![call("update_record", asked)], said);
    Ok(act.undone_by("record-move", &back).unless(refused))
}

fn state(form: &Form<'_>) -> Result<Act, Fault> {
    let (record, seen) = (form.required("record")?, form.number("seen")?);
    let wanted = form.required("state")?;
    let asked = json!({
        "id": record,
        "to_state": wanted,
        "reason": form.text("reason"),
        "resolved_by": form.text("resolved_by").map(str::trim),
        "seen": {record: seen},
        "echo": false,
    });
    let asked = without_nulls(asked);
    let said = RecordState::parse(wanted).map_or("changed", |state| match state {
        RecordState::Open => "open",
        RecordState::Later => "for later",
        RecordState::Resolved => "resolved",
        RecordState::Discarded => "discarded",
    });
    let act = Act::new(
        vec![call("transition", asked)],
        format!("{record} is {said}."),
    );
    Ok(back(act, form, wanted, record, seen).unless(refused))
}

/// Undone by the state that it was in, where the new one leads back to it.
fn back(act: Act, form: &Form<'_>, wanted: &str, record: &str, seen: i64) -> Act {
    let was = form.text("was_state").and_then(RecordState::parse);
    let is = RecordState::parse(wanted);
    let (Some(was), Some(is)) = (was, is) else {
        return act;
    };
    if !is.leads_to().contains(&was) {
        return act;
    }
    let next = (seen + 1).to_string();
    let text = |name: &str| form.text(name).unwrap_or_default();
    act.undone_by(
        "record-state",
        &[
            ("record", record),
            ("seen", next.as_str()),
            ("state", was.as_str()),
            ("was_state", is.as_str()),
            ("reason", text("was_reason")),
            ("resolved_by", text("was_resolved_by")),
            ("was_reason", text("reason")),
            ("was_resolved_by", text("resolved_by")),
        ],
    )
}

fn without_nulls(mut asked: Value) -> Value {
    if let Some(fields) = asked.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    asked
}

/// Chooses between the version in force and one that was refused, or writes a third. The refusal is the
/// cause of the update that settles it.
fn settle(form: &Form<'_>) -> Result<Act, Fault> {
    let (record, seen) = (form.required("record")?, form.number("seen")?);
    let fields = changed(form);
    let (first, said, undo) = match form.text("choice").unwrap_or("write") {
        "take" => {
            let wanted: Proposed = serde_json::from_str(form.required("proposed")?)
                .map_err(|_| Fault::invalid("proposed", "cannot be read"))?;
            let mut asked = json!(wanted);
            asked["id"] = record.into();
            asked["seen"] = json!({record: seen});
            asked["echo"] = false.into();
            if let Some(Some(parent)) = &wanted.parent_id {
                asked["seen"][parent] = 1.into();
            }
            let said = format!("{record} says now what was kept aside.");
            (call("update_record", asked), said, taken(form, &wanted))
        }
        "write" if !fields.is_empty() => {
            let said = format!("{record} is settled.");
            (update(record, seen, &fields), said, Some(fields))
        }
        _ => {
            // The title that it has changes nothing, and is an answer.
            let title = typed(form, "was_title").unwrap_or_default();
            let same = [("title", String::new(), title)];
            let said = format!("{record} stays as it is.");
            (update(record, seen, &same), said, None)
        }
    };
    let mut calls = vec![first];
    calls.extend(tell(form, record, &said)?);
    let act = Act::new(calls, said).unless(refused);
    Ok(match undo {
        Some(fields) => undone(act, record, seen, &fields),
        None => act,
    })
}

/// The texts that a refused update changes if it is taken, where it changes nothing else.
fn taken(form: &Form<'_>, wanted: &Proposed) -> Option<Vec<(&'static str, String, String)>> {
    let only_texts = wanted.names().iter().all(|name| TEXTS.contains(name));
    let texts = [&wanted.title, &wanted.summary, &wanted.body];
    let sides = TEXTS.iter().zip(texts).filter_map(|(name, text)| {
        let was = typed(form, &format!("was_{name}"))?;
        Some((*name, was, text.clone()?))
    });
    let sides: Vec<_> = sides.filter(|(_, was, is)| was != is).collect();
    (only_texts && !sides.is_empty()).then_some(sides)
}

/// Tells those who wrote the two versions, if that is wanted.
fn tell(form: &Form<'_>, record: &str, said: &str) -> Result<Option<Call>, Fault> {
    let Some(names) = form.text("tell") else {
        return Ok(None);
    };
    let names: Vec<String> =
        serde_json::from_str(names).map_err(|_| Fault::invalid("tell", "must be names as JSON"))?;
    if names.is_empty() {
        return Ok(None);
    }
    let title = format!("{record}: two versions");
    let body = format!("{said} Activate {record} to see it.");
    Ok(Some(call(
        "post_message",
        json!({"to": names, "title": title, "body": body}),
    )))
}
