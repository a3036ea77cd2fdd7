//! Acts on documents.

use serde_json::{Value, json};
use understory_model::Fault;

use super::{Act, Call, Form, Found, call};

pub fn act(name: &str, form: &Form<'_>) -> Found {
    Some(match name {
        "decide" => decide(form),
        "restore" => restore(form),
        "reconsider" => reconsider(form),
        "propose" => propose(form),
        "withdraw" => withdraw(form),
        "document" => document(form),
        _ => return None,
    })
}

/// Accepts or rejects one proposal or several, the first of them with other words if there are some.
fn decide(form: &Form<'_>) -> Result<Act, Fault> {
    let chosen = form.all("proposal");
    if chosen.is_empty() {
        return Err(Fault::invalid(
            "proposal",
            "is required: choose one at least",
        ));
    }
    let accept = form.text("accept") == Some("true");
    let mut calls: Vec<Call> = chosen
        .iter()
        .map(|proposal| {
            call(
                "reader_decide",
                json!({"proposal": proposal, "accept": accept}),
            )
        })
        .collect();
    // Nothing is an answer too: the lines go.
    let edited = accept && form.text("edited").is_some();
    if let (true, [only]) = (edited, calls.as_mut_slice()) {
        only.arguments["content"] = lines(form.text("content")).into();
    }
    let done = if accept { "accepted" } else { "rejected" };
    let said = match chosen.as_slice() {
        [one] => format!("{one} is {done}."),
        some => format!("{} proposals are {done}.", some.len()),
    };
    let act = Act::new(calls, said);
    if !accept {
        let fields: Vec<(&str, &str)> = chosen.iter().map(|one| ("proposal", *one)).collect();
        return Ok(act.undone_by("reconsider", &fields));
    }
    let act = act.undone_by_answer("restore", "artifact", "/proposal/artifact");
    // What was done last is taken back first.
    let last_first = (0..chosen.len()).rev();
    Ok(last_first.fold(act, |act, at| act.and_answer("commit", at, "/commit")))
}

/// Takes back what commits changed; what came after them stays.
fn restore(form: &Form<'_>) -> Result<Act, Fault> {
    let artifact = form.required("artifact")?;
    form.required("commit")?;
    let taken = form.all("commit").into_iter();
    let calls = taken.map(|commit| {
        let asked = json!({"artifact": artifact, "revert": commit, "reasoning": "Undone."});
        call("garden_artifact_commit", asked)
    });
    Ok(Act::new(
        calls.collect(),
        "The lines are as they were before.",
    ))
}

/// Opens again what was rejected.
fn reconsider(form: &Form<'_>) -> Result<Act, Fault> {
    form.required("proposal")?;
    let again = form.all("proposal").into_iter();
    let calls = again.map(|proposal| {
        let asked = json!({"proposal": proposal, "accept": Value::Null});
        call("reader_decide", asked)
    });
    Ok(Act::new(calls.collect(), "It is open again."))
}

fn propose(form: &Form<'_>) -> Result<Act, Fault> {
    let asked = json!({
        "artifact": form.required("artifact")?,
        "start": form.number("start")?,
        "end": form.number("end")?,
        "content": lines(form.text("content")),
        "reasoning": form.required("reasoning")?,
    });
    let act = Act::new(vec![call("reader_propose", asked)], "Proposed.");
    Ok(act
        .undone_by_answer("withdraw", "proposal", "/proposal/id")
        .and_answer("item", 0, "/item"))
}

/// Takes back what one proposed a moment ago: it waits for nobody, and its words are erased.
fn withdraw(form: &Form<'_>) -> Result<Act, Fault> {
    let proposal = form.required("proposal")?;
    let calls = vec![
        call(
            "reader_decide",
            json!({"proposal": proposal, "accept": false}),
        ),
        call("garden_undo", json!({"item": form.required("item")?})),
    ];
    Ok(Act::new(calls, format!("{proposal} is taken back.")))
}

fn document(form: &Form<'_>) -> Result<Act, Fault> {
    let label = form.required("label")?;
    let mut asked = json!({"label": label});
    if let Some(content) = form.text("content") {
        let mut content = lines(Some(content));
        if !content.ends_with('\n') {
            content.push('\n');
        }
        asked["content"] = content.into();
    }
    let calls = vec![call("garden_artifact_create", asked)];
    Ok(Act::new(calls, format!("{label} is there.")))
}

/// What was typed into a field, with the line ends of documents: browsers send two signs for each.
fn lines(typed: Option<&str>) -> String {
    typed.unwrap_or_default().replace("\r\n", "\n")
}
