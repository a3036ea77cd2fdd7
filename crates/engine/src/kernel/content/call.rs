//! A call of the reader as it stands in the log, read back: who looked where, and what they said.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::Time;
use understory_model::text::cut;

/// The tool that such a call names.
pub const TOOL: &str = "artifact_reader";

/// Characters of a quotation.
const QUOTED: usize = 80;

/// What can be done with the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Search,
    ScrollTo,
    ScrollUp,
    ScrollDown,
    Select,
    Note,
    Propose,
    Decide,
}

impl Operation {
    const ALL: [Operation; 8] = [
        Operation::Search,
        Operation::ScrollTo,
        Operation::ScrollUp,
        Operation::ScrollDown,
        Operation::Select,
        Operation::Note,
        Operation::Propose,
        Operation::Decide,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Operation::Search => "semantic_search",
            Operation::ScrollTo => "scroll_to",
            Operation::ScrollUp => "scroll_up",
            Operation::ScrollDown => "scroll_down",
            Operation::Select => "select_lines",
            Operation::Note => "note",
            Operation::Propose => "propose_edit",
            Operation::Decide => "decide_edit",
        }
    }
}

/// What a call asks for, as its item says it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Params {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<i64>,
    /// How many lines to go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// How sure who proposed it was, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What came of a call, as its item says it. Lines are counted from 1.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Output {
    Nothing,
    Matches {
        matches: Vec<(usize, usize)>,
        commit: Option<String>,
    },
    Lines {
        start: usize,
        end: usize,
        commit: Option<String>,
    },
    Selected {
        start: i64,
        end: i64,
        commit: Option<String>,
        fragments: Vec<String>,
    },
    Proposed {
        proposal: String,
        commit: Option<String>,
    },
    Decided {
        status: &'static str,
        artifact: String,
    },
}

/// A call that the server writes down.
#[derive(Debug, Serialize)]
pub struct NewCall<'c> {
    pub tool: &'static str,
    pub operation: &'static str,
    pub params: Params,
    pub result: Done,
    pub caller: &'c str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<&'c str>,
}

#[derive(Debug, Serialize)]
pub struct Done {
    pub status: &'static str,
    pub output: Output,
    pub timestamp: Time,
}

/// One call.
#[derive(Debug, Clone, Copy)]
pub struct Call<'f> {
    pub operation: Operation,
    params: &'f Value,
    output: &'f Value,
}

/// A call in words: what was done, to what, and the rest of the sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub action: &'static str,
    pub handle: Option<String>,
    pub text: String,
}

impl<'f> Call<'f> {
    /// What a `ToolCall` says; `None` where it is of another tool.
    pub fn of(fields: &'f Map<String, Value>) -> Option<Call<'f>> {
        if fields.get("tool").and_then(Value::as_str) != Some(TOOL) {
            return None;
        }
        let named = fields.get("operation").and_then(Value::as_str)?;
        let mut known = Operation::ALL.into_iter();
        let operation = known.find(|operation| operation.name() == named)?;
        let null = &Value::Null;
        Some(Call {
            operation,
            params: fields.get("params").unwrap_or(null),
            output: fields
                .get("result")
                .map_or(null, |result| &result["output"]),
        })
    }

    fn param(&self, name: &str) -> &'f str {
        self.params[name].as_str().unwrap_or_default()
    }

    /// The words that the caller put into it, which are found again; what it asked is not.
    pub fn words(&self) -> Vec<&'f str> {
        match self.operation {
            Operation::Note => vec![self.param("content")],
            Operation::Propose => vec![self.param("content"), self.param("reasoning")],
            Operation::Decide => vec![self.param("content"), self.param("note")],
            _ => Vec::new(),
        }
    }

    /// The proposal that it made, and the label of its artifact.
    pub fn proposal(&self) -> Option<(String, String)> {
        let id = self.output["proposal"].as_str()?;
        (self.operation == Operation::Propose)
            .then(|| (id.to_string(), self.param("label").to_string()))
    }

    /// The lines that it was about, as the artifact stood.
    pub fn lines(&self) -> Option<(i64, i64)> {
        let line = |name: &str| self.output[name].as_i64().or(self.params[name].as_i64());
        Some((line("start")?, line("end")?))
    }

    /// The document that it was about: `entity_<uuid>`, and its label then.
    pub fn document(&self) -> Option<(String, String)> {
        let artifact = self.param("artifact");
        (!artifact.is_empty()).then(|| (artifact.to_string(), self.param("label").to_string()))
    }

    /// The commit in which its lines have their numbers.
    pub fn commit(&self) -> Option<String> {
        self.output["commit"].as_str().map(str::to_string)
    }

    /// The lines that a search found.
    pub fn matches(&self) -> Vec<(i64, i64)> {
        let all = self.output["matches"].as_array().into_iter().flatten();
        all.filter_map(|found| Some((found[0].as_i64()?, found[1].as_i64()?)))
            .collect()
    }

    /// What the caller noted, sought or proposed, whole.
    pub fn said(&self) -> Option<String> {
        let said = match self.operation {
            Operation::Search => self.param("query"),
            Operation::Note | Operation::Propose => self.param("content"),
            _ => "",
        };
        Some(said)
            .filter(|said| !said.is_empty())
            .map(str::to_string)
    }

    /// Why it was proposed.
    pub fn reasoning(&self) -> Option<&'f str> {
        let why = self.param("reasoning");
        Some(why).filter(|why| self.operation == Operation::Propose && !why.is_empty())
    }

    fn lines_told(&self) -> String {
        self.lines()
            .map_or_else(String::new, |(start, end)| lines(start, end))
    }

    pub fn told(&self) -> Told {
        let label = Some(self.param("label")).filter(|label| !label.is_empty());
        let artifact = label.map(str::to_string);
        let (action, handle, text) = match self.operation {
            Operation::Search => {
                let found = self.output["matches"].as_array().map_or(0, Vec::len);
                let found = match found {
                    0 => "nothing".to_string(),
                    1 => "1 passage".to_string(),
                    n => format!("{n} passages"),
                };
                let query = quoted(self.param("query"));
                ("searched", artifact, format!("for {query}, found {found}"))
            }
            Operation::ScrollTo | Operation::ScrollUp | Operation::ScrollDown => {
                ("read", artifact, self.lines_told())
            }
            Operation::Select => ("selected", artifact, self.lines_told()),
            Operation::Note => ("noted", None, self.param("content").to_string()),
            Operation::Propose => {
                let id = self.output["proposal"].as_str().map(str::to_string);
                let (start, end) = self.lines().unwrap_or_default();
                let place = format!("{} {}", self.param("label"), lines(start, end));
                let words = match self.param("content") {
                    "" => "nothing".to_string(),
                    words => quoted(words),
                };
                ("proposed", id, format!("{words} for {place}"))
            }
            Operation::Decide => {
                let id = Some(self.param("proposal").to_string());
                let action = match self.params["accept"].as_bool() {
                    Some(true) => "accepted",
                    Some(false) => "rejected",
                    None => "reopened",
                };
                (action, id, self.param("note").to_string())
            }
        };
        Told {
            action,
            handle,
            text,
        }
    }
}

/// A range of lines in words; an end before the start is a place between two of them.
pub fn lines(start: i64, end: i64) -> String {
    match end - start {
        0 => format!("line {start}"),
        1.. => format!("lines {start}–{end}"),
        _ => format!("before line {start}"),
    }
}

/// How a text begins, between quotation marks, on one line.
pub fn quoted(text: &str) -> String {
    let one: Vec<&str> = text.split_whitespace().collect();
    format!("“{}”", cut(&one.join(" "), QUOTED))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(operation: &str, params: Value, output: Value) -> (String, String, String) {
        let fields = json!({"tool": TOOL, "operation": operation, "params": params, "result": {"output": output}});
        let fields = fields.as_object().cloned().unwrap_or_default();
        let told = Call::of(&fields).expect("a call").told();
        (
            told.action.into(),
            told.handle.unwrap_or_default(),
            told.text,
        )
    }

    #[test]
    fn each_call_is_a_sentence() {
        let doc =
            json!({"label": "doc", "query": "who\npays?", "content": "new", "start": 2, "end": 3});
        let cases = [
            (
                told("semantic_search", doc.clone(), json!({"matches": [[1, 2]]})),
                ("searched", "doc", "for “who pays?”, found 1 passage"),
            ),
            (
                told("scroll_down", doc.clone(), json!({"start": 10, "end": 12})),
                ("read", "doc", "lines 10–12"),
            ),
            (
                told("select_lines", doc.clone(), json!({"start": 2, "end": 2})),
                ("selected", "doc", "line 2"),
            ),
            (
                told("note", json!({"content": "hm"}), Value::Null),
                ("noted", "", "hm"),
            ),
            (
                told("propose_edit", doc.clone(), json!({"proposal": "prop_001"})),
                ("proposed", "prop_001", "“new” for doc lines 2–3"),
            ),
            (
                told(
                    "decide_edit",
                    json!({"proposal": "prop_001", "accept": true, "note": "yes"}),
                    json!({}),
                ),
                ("accepted", "prop_001", "yes"),
            ),
        ];
        for ((action, handle, text), wanted) in &cases {
            assert_eq!((action.as_str(), handle.as_str(), text.as_str()), *wanted);
        }
        assert_eq!(lines(4, 3), "before line 4");
    }
}
