//! What a person does on a page: each act is the call of a tool, or of several, and most can be undone by
//! another act.

mod artifacts;
mod conversations;
mod reasoning;
mod records;
mod threads;
mod work;

use serde::Serialize;
use serde_json::Value;
use understory_model::{Code, Fault};
use understory_tools::registry;
use understory_tools::tool::Common;

use crate::visit::{PROJECT, Query, in_project};

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub tool: &'static str,
    pub arguments: Value,
}

/// What a form asks for.
#[derive(Debug, Clone)]
pub struct Act {
    /// In this order; what one refuses, ends the act.
    pub calls: Vec<Call>,
    /// What has happened then, as a sentence.
    pub said: String,
    undo: Option<Undo>,
}

/// The act that undoes another.
#[derive(Debug, Clone, Serialize)]
pub struct Undo {
    pub act: &'static str,
    pub fields: Vec<(String, String)>,
    /// A field, and where its value stands in the answer of which call.
    #[serde(skip)]
    answered: Vec<(&'static str, usize, &'static str)>,
}

/// The act of a name with a form's fields.
pub fn act(name: &str, workspace: &str, form: &Query) -> Result<Act, Fault> {
    let form = Form { workspace, form };
    let found = threads::act(name, &form)
        .or_else(|| work::act(name, &form))
        .or_else(|| records::act(name, &form))
        .or_else(|| reasoning::act(name, &form))
        .or_else(|| conversations::act(name, &form))
        .or_else(|| artifacts::act(name, &form));
    let no_act = || Err(Fault::new(Code::NotFound, "there is no act of this name"));
    let mut act = found.unwrap_or_else(no_act)?;
    if let Some(project) = form.text(PROJECT) {
        for call in &mut act.calls {
            in_project(call.tool, &mut call.arguments, project);
        }
    }
    if let Some(key) = form.text("key") {
        once(&mut act.calls, key);
    }
    if let (Some(cause), Some(first)) = (form.text("caused_by"), act.calls.first_mut()) {
        first.arguments["caused_by"] = Value::from(cause);
    }
    Ok(act)
}

impl Act {
    fn new(calls: Vec<Call>, said: impl Into<String>) -> Act {
        Act {
            calls,
            said: said.into(),
            undo: None,
        }
    }

    /// Undone by this act with these fields.
    fn undone_by(mut self, act: &'static str, fields: &[(&str, &str)]) -> Act {
        let fields = fields.iter();
        self.undo = Some(Undo {
            act,
            fields: fields
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            answered: Vec::new(),
        });
        self
    }

    /// Undone by an act that names what the first call answered at a place.
    fn undone_by_answer(
        mut self,
        act: &'static str,
        field: &'static str,
        place: &'static str,
    ) -> Act {
        self.undo = Some(Undo {
            act,
            fields: Vec::new(),
            answered: vec![(field, 0, place)],
        });
        self
    }

    /// What undoes it also takes this field from the answer of a call, counted from 0.
    fn and_answer(mut self, field: &'static str, call: usize, place: &'static str) -> Act {
        if let Some(undo) = &mut self.undo {
            undo.answered.push((field, call, place));
        }
        self
    }

    /// How it is undone, once its calls were answered.
    pub fn undo(&self, answers: &[Value]) -> Option<Undo> {
        let mut undo = self.undo.clone()?;
        for (field, call, place) in &undo.answered {
            let value = answers.get(*call)?.pointer(place)?.as_str()?;
            undo.fields.push(((*field).to_owned(), value.to_owned()));
        }
        Some(undo)
    }
}

/// Has a retry of the same form do nothing twice: each call gets a key of its own.
fn once(calls: &mut [Call], key: &str) {
    for (at, call) in calls.iter_mut().enumerate() {
        let takes = registry::find(call.tool).is_some_and(|tool| tool.takes.contains(&Common::Key));
        match at {
            0 => call.arguments["idempotency_key"] = Value::from(key),
            _ if takes => call.arguments["idempotency_key"] = format!("{key}-{at}").into(),
            _ => {}
        }
    }
}

fn call(tool: &'static str, arguments: Value) -> Call {
    Call { tool, arguments }
}

/// The fields of a form.
struct Form<'a> {
    workspace: &'a str,
    form: &'a Query,
}

impl<'a> Form<'a> {
    /// What a field says; empty counts as nothing.
    fn text(&self, name: &str) -> Option<&'a str> {
        self.form.get(name)
    }

    fn required(&self, name: &str) -> Result<&'a str, Fault> {
        self.text(name)
            .ok_or_else(|| Fault::invalid(name, "is required"))
    }

    fn number(&self, name: &str) -> Result<i64, Fault> {
        let value = self.text(name).and_then(|value| value.parse().ok());
        value.ok_or_else(|| Fault::invalid(name, "must be a number"))
    }

    /// All values of a field that a form may have several of, such as what was chosen in a list.
    fn all(&self, name: &str) -> Vec<&'a str> {
        let fields = self.form.fields();
        fields
            .filter(|(known, value)| *known == name && !value.is_empty())
            .map(|(_, value)| value)
            .collect()
    }

    fn words(&self, name: &str) -> Vec<&'a str> {
        let all = self.text(name).unwrap_or_default();
        all.split([' ', ','])
            .filter(|word| !word.is_empty())
            .collect()
    }
}

type Found = Option<Result<Act, Fault>>;

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = "thread=th_001&upto=3&body=Hi+there&to=bob,ada&agent=bob&proposal=prop_001&accept=true\
                        &conflict=c&keep=use_from&summary=S&node=TASK-001&item=msg_3&artifact=goals&commit=0199d3a0&start=2&end=2\
                        &content=two&reasoning=R&label=goals&log=uuid_0199d3a0&title=T";

    /// Every name of an act in the files beside this one.
    fn names() -> Vec<&'static str> {
        let files = [
            include_str!("artifacts.rs"),
            include_str!("conversations.rs"),
            include_str!("reasoning.rs"),
            include_str!("records.rs"),
            include_str!("threads.rs"),
            include_str!("work.rs"),
        ];
        let arms = files.iter().flat_map(|file| file.lines());
        arms.filter_map(|line| {
            let (name, rest) = line.trim().strip_prefix('"')?.split_once('"')?;
            rest.trim_start().starts_with("=>").then_some(name)
        })
        .collect()
    }

    #[test]
    fn every_act_is_a_call_that_its_tool_takes() {
        let form = Query::parse(FORM);
        assert!(names().len() > 10);
        for name in names() {
            for call in act(name, "w", &form).unwrap().calls {
                let tool = registry::find(call.tool).unwrap();
                registry::checked(tool, call.arguments)
                    .unwrap_or_else(|fault| panic!("{name}: {fault}"));
            }
        }
    }

    #[test]
    fn what_undoes_an_act_is_an_act() {
        let form = Query::parse(FORM);
        for name in names() {
            let act = act(name, "w", &form).unwrap();
            if let Some(undo) = &act.undo {
                assert!(names().contains(&undo.act), "{name}: {}", undo.act);
            }
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let fault = act("post", "w", &Query::parse("thread=th_001&upto=1")).unwrap_err();
        assert!(fault.message.contains("body"), "{fault}");
        let fault = act("erase_everything", "w", &Query::default()).unwrap_err();
        assert_eq!(fault.code, Code::NotFound);
    }

    #[test]
    fn a_form_of_a_project_acts_in_it() {
        let form = Query::parse("summary=S&project=shop&key=k1&caused_by=msg_3");
        let found = act("plan", "w", &form).unwrap();
        let arguments = &found.calls[0].arguments;
        assert_eq!(arguments["project"], "shop");
        assert_eq!(arguments["idempotency_key"], "k1");
        assert_eq!(arguments["caused_by"], "msg_3");
    }
}
