//! What a person does on a page: each act is the call of a tool, or of several, and most can be undone by
//! another act.

mod artifacts;
mod conversations;
mod reasoning;
mod records;
mod threads;
mod told;
mod work;

pub use told::told;

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
    unless: Option<Refusal>,
}

/// Finds in what a tool answered that nothing was done, and says so to a person. Where there is something to
/// look at, the fault has its address as `place`.
type Refusal = fn(Result<&Value, &Fault>) -> Option<Fault>;

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
        for (at, call) in act.calls.iter_mut().enumerate() {
            keyed(call, key, at);
        }
    }
    if let (Some(cause), Some(first)) = (form.text("caused_by"), act.calls.first_mut()) {
        first.arguments["caused_by"] = Value::from(cause);
    }
    Ok(act)
}

/// A key for each call of an act, so that sending a form again does none of them twice.
fn keyed(call: &mut Call, key: &str, at: usize) {
    let takes = registry::find(call.tool).is_some_and(|tool| tool.takes.contains(&Common::Key));
    if takes {
        let key = if at == 0 {
            key.to_owned()
        } else {
            format!("{key}.{at}")
        };
        call.arguments["idempotency_key"] = key.into();
    }
}

impl Act {
    fn new(calls: Vec<Call>, said: impl Into<String>) -> Act {
        Act {
            calls,
            said: said.into(),
            undo: None,
            unless: None,
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

    /// Not done where the answer says so without being an error.
    fn unless(mut self, refusal: Refusal) -> Act {
        self.unless = Some(refusal);
        self
    }

    /// What a tool's answer, or its error, means to the person who asked for this.
    pub fn refused(&self, answer: Result<&Value, &Fault>) -> Option<Fault> {
        self.unless.and_then(|refusal| refusal(answer))
    }

    /// Further fields of the act that undoes this one.
    fn with_undo(mut self, fields: &[(&str, &str)]) -> Act {
        if let Some(undo) = &mut self.undo {
            let fields = fields.iter();
            undo.fields
                .extend(fields.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        }
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

    /// The files beside this one, with a value for every field of their forms.
    const FILES: [(&str, &str); 6] = [
        (
            include_str!("artifacts.rs"),
            "proposal=prop_001&accept=true&artifact=goals&commit=0199d3a0&start=2&end=2&content=two&reasoning=R&label=goals&item=msg_3",
        ),
        (
            include_str!("conversations.rs"),
            "log=uuid_0199d3a0&from=uuid_0199d3a1&title=T&summary=S&body=B&reasoning=R&item=msg_3",
        ),
        (
            include_str!("reasoning.rs"),
            "conflict=c&keep=use_from&name=what-if&from=main&into=main&branch=main&doc=graph\
             &op=%7B%22op%22%3A%22node_delete%22%2C%22id%22%3A%22h1%22%7D",
        ),
        (
            include_str!("records.rs"),
            "record=R002&seen=3&title=T&type=note&state=LATER&reason=r&choice=write&summary=S&body=B&parent=R001\
             &was_parent=R003&was_state=OPEN&resolved_by=R004",
        ),
        (
            include_str!("threads.rs"),
            "thread=th_001&upto=3&body=Hi+there&to=bob,ada&agent=bob&item=msg_3&message=msg_3&status=resolved\
             &from=active&name=bob&conflict=c&reason=r",
        ),
        (
            include_str!("work.rs"),
            "summary=S&node=TASK-001&after=TASK-002&priority=2&rev=1&evidence=git:0c77d1e&from=bob&first=TASK-002\
             &parent=TASK-002&reason=R&was=1&item=msg_3&body=B",
        ),
    ];

    /// Every name of an act, with the form of its file.
    fn names() -> Vec<(&'static str, Query)> {
        // The first function of each file is its list of acts.
        let lists = FILES.iter().map(|(file, form)| {
            let list = file.split("\n}\n").next().unwrap_or_default();
            (list, form)
        });
        let arms = lists.flat_map(|(list, form)| list.lines().map(move |line| (line, form)));
        arms.filter_map(|(line, form)| {
            let (name, rest) = line.trim().strip_prefix('"')?.split_once('"')?;
            rest.trim_start()
                .starts_with("=>")
                .then_some((name, Query::parse(form)))
        })
        .collect()
    }

    #[test]
    fn every_act_is_a_call_that_its_tool_takes() {
        assert!(names().len() > 10);
        for (name, form) in names() {
            for call in act(name, "w", &form).unwrap().calls {
                let tool = registry::find(call.tool).unwrap();
                registry::checked(tool, call.arguments)
                    .unwrap_or_else(|fault| panic!("{name}: {fault}"));
            }
        }
    }

    #[test]
    fn what_undoes_an_act_is_an_act() {
        for (name, form) in names() {
            let act = act(name, "w", &form).unwrap();
            if let Some(undo) = &act.undo {
                let mut known = names().into_iter();
                assert!(
                    known.any(|(known, _)| known == undo.act),
                    "{name}: {}",
                    undo.act
                );
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
