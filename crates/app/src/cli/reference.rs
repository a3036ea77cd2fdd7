//! The reference page of a surface, written from its tools' declarations and from nothing else.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use understory_tools::{Surface, Tool};

use super::here::typed;
use super::tools::access;

/// How deep an answer is described: what is further in has the shape of what is above it.
const DEPTH: usize = 5;

/// What is read of a JSON Schema.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Schema {
    #[serde(rename = "type")]
    kind: Option<Kinds>,
    description: String,
    properties: BTreeMap<String, Inner>,
    required: Vec<String>,
    items: Option<Box<Inner>>,
    #[serde(rename = "additionalProperties")]
    values: Option<Box<Inner>>,
    #[serde(rename = "enum")]
    choices: Option<Vec<Value>>,
    #[serde(rename = "const")]
    constant: Option<Value>,
    #[serde(rename = "oneOf")]
    one_of: Vec<Schema>,
    #[serde(rename = "anyOf")]
    any_of: Vec<Schema>,
}

/// A schema inside another; `true` allows anything.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Inner {
    Schema(Box<Schema>),
    Any(IgnoredAny),
}

impl Inner {
    fn schema(&self) -> Option<&Schema> {
        match self {
            Inner::Any(_) => None,
            Inner::Schema(schema) => Some(schema),
        }
    }
}

/// One type, or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Kinds {
    One(String),
    Several(Vec<String>),
}

/// One argument or field of an answer, or one field within it.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// `nodes[].ref`
    pub path: String,
    pub kind: String,
    pub required: bool,
    pub meaning: String,
}

/// The fields that a schema describes, each followed by what is inside it.
pub fn fields(schema: &Value) -> Vec<Field> {
    let mut found = Vec::new();
    if let Ok(schema) = typed::<Schema>(schema) {
        inside(&schema, "", DEPTH, &mut found);
    }
    found
}

fn inside(schema: &Schema, prefix: &str, depth: usize, found: &mut Vec<Field>) {
    let Some(deeper) = depth.checked_sub(1) else {
        return;
    };
    let required = |name: &String| schema.required.contains(name);
    // What is always there comes first; a page is read from the top.
    let (must, may): (Vec<_>, Vec<_>) = schema
        .properties
        .iter()
        .partition(|(name, _)| required(name));
    for (name, inner) in must.into_iter().chain(may) {
        let path = format!("{prefix}{name}");
        // Several forms of an answer may share a field.
        if found.iter().any(|known| known.path == path) {
            continue;
        }
        let field = inner.schema();
        found.push(Field {
            kind: field.map_or_else(|| "any".to_owned(), kind),
            required: required(name),
            meaning: field.map(meaning).unwrap_or_default(),
            path: path.clone(),
        });
        if let Some(field) = field {
            within(field, &path, deeper, found);
        }
    }
    for form in forms(schema) {
        inside(form, prefix, depth, found);
    }
}

/// What is inside a field: its own fields, those of its elements, or those of its values.
fn within(field: &Schema, path: &str, depth: usize, found: &mut Vec<Field>) {
    inside(field, &format!("{path}."), depth, found);
    for (inner, step) in [(&field.items, "[]"), (&field.values, ".<name>")] {
        if let Some(inner) = inner.as_ref().and_then(|inner| inner.schema()) {
            within(inner, &format!("{path}{step}"), depth, found);
        }
    }
    for form in forms(field) {
        for inner in [&form.items, &form.values].into_iter().flatten() {
            if let Some(inner) = inner.schema() {
                within(inner, &format!("{path}[]"), depth, found);
            }
        }
    }
}

/// The forms that something may have, besides not being there.
fn forms(schema: &Schema) -> impl Iterator<Item = &Schema> {
    let forms = schema.one_of.iter().chain(&schema.any_of);
    forms.filter(|form| !is_null(form))
}

fn is_null(schema: &Schema) -> bool {
    matches!(&schema.kind, Some(Kinds::One(kind)) if kind == "null")
}

/// What is said of a field, on one line.
fn meaning(field: &Schema) -> String {
    let said = match field.description.as_str() {
        "" => forms(field).map(|form| form.description.as_str()).next(),
        said => Some(said),
    };
    let words: Vec<&str> = said.unwrap_or_default().split_whitespace().collect();
    words.join(" ")
}

fn kind(field: &Schema) -> String {
    if let Some(choices) = choices(field) {
        return choices.join(" | ");
    }
    let element = || {
        let items = field.items.as_ref().and_then(|items| items.schema());
        items.map(|items| plural(&kind(items)))
    };
    match &field.kind {
        Some(Kinds::One(name)) if name == "array" => match element() {
            Some(element) => format!("list of {element}"),
            None => "list".to_owned(),
        },
        Some(Kinds::One(name)) => name.clone(),
        Some(Kinds::Several(names)) => {
            // A question mark says already that there may be nothing.
            let names = names.iter().filter(|name| *name != "null");
            let names = names.map(|name| match name.as_str() {
                "array" => element().map_or("list".to_owned(), |inner| format!("list of {inner}")),
                name => name.to_owned(),
            });
            names.collect::<Vec<_>>().join(" | ")
        }
        None => {
            let mut kinds: Vec<String> = forms(field).map(kind).collect();
            kinds.dedup();
            if kinds.is_empty() {
                "any".to_owned()
            } else {
                kinds.join(" | ")
            }
        }
    }
}

fn plural(kind: &str) -> String {
    match kind {
        "string" | "integer" | "number" | "boolean" | "object" => format!("{kind}s"),
        other => other.to_owned(),
    }
}

fn choices(field: &Schema) -> Option<Vec<String>> {
    let list: Vec<&Value> = match &field.choices {
        Some(list) => list.iter().collect(),
        None => {
            let ways = field.one_of.iter().map(|way| way.constant.as_ref());
            ways.collect::<Option<_>>()?
        }
    };
    let texts: Option<Vec<String>> = list
        .iter()
        .filter(|one| !one.is_null())
        .map(|one| one.as_str().map(|text| format!("`{text}`")))
        .collect();
    texts.filter(|texts| !texts.is_empty())
}

/// The page of a surface.
pub fn page(surface: Surface, tools: &[&Tool]) -> String {
    let mut page = format!(
        "<!-- Written by `cargo xtask generate` from the declarations in crates/tools. -->\n\n\
         # The {} tools\n\n\
         Every tool is called the same way over MCP and from a shell, with the same arguments and\n\
         the same answer: `understory call <tool> '<json>'`. A field of an answer with a question\n\
         mark is there when it has something to say.\n\n",
        surface.name()
    );
    let tools: Vec<&&Tool> = tools
        .iter()
        .filter(|tool| tool.surface == surface)
        .collect();
    page.push_str("| tool | access | essential | for |\n|---|---|---|---|\n");
    for tool in &tools {
        let essential = if tool.essential { "yes" } else { "" };
        page.push_str(&format!(
            "| [`{0}`](#{0}) | {1} | {essential} | {2} |\n",
            tool.name,
            access(tool),
            cell(tool.about)
        ));
    }
    for tool in tools {
        section(&mut page, tool);
    }
    page
}

fn section(page: &mut String, tool: &Tool) {
    page.push_str(&format!("\n## {}\n\n{}\n", tool.name, tool.about));
    let arguments = fields(&tool.described_schema());
    if arguments.is_empty() {
        page.push_str("\nIt takes no arguments.\n");
    } else {
        page.push_str("\n| argument | type | required | meaning |\n|---|---|---|---|\n");
    }
    for argument in arguments {
        page.push_str(&format!(
            "| `{}` | {} | {} | {} |\n",
            argument.path,
            cell(&argument.kind),
            if argument.required { "yes" } else { "" },
            cell(match argument.meaning.as_str() {
                "" => common(&argument.path),
                meaning => meaning,
            })
        ));
    }
    page.push_str(&format!(
        "\n```sh\nunderstory call {} '{}'\n```\n",
        tool.name, tool.example
    ));
    answer(page, tool);
}

/// What a tool answers. A budget (`max_chars`) may take more away than is said here.
fn answer(page: &mut String, tool: &Tool) {
    let fields = fields(&(tool.output)());
    if fields.is_empty() {
        page.push_str("\nIt answers an object.\n");
        return;
    }
    page.push_str("\n| answer | type | meaning |\n|---|---|---|\n");
    for field in fields {
        page.push_str(&format!(
            "| `{}`{} | {} | {} |\n",
            field.path,
            if field.required { "" } else { "?" },
            cell(&field.kind),
            cell(&field.meaning)
        ));
    }
}

/// What the arguments mean that many tools take. They are not said in every listing: each would
/// cost every client its words again.
fn common(argument: &str) -> &'static str {
    match argument {
        "caused_by" => "the item that led to this call",
        "idempotency_key" => "a retry with the same key and arguments is answered, not done again",
        "max_chars" => "how many characters of JSON the answer may have",
        "max_bytes" => "how many bytes of JSON the answer may have",
        "max_lines" => "how many lines the texts in the answer may have",
        "schema_version" => "the version of the payload: 1",
        "cursor" => "the next page's, from the last answer",
        "workspace" => "the caller's",
        _ => "",
    }
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_listed_with_what_is_inside() {
        let schema = json!({
            "properties": {
                "a": {"type": "integer", "description": "default 1"},
                "list": {"type": "array", "items": {
                    "type": "object", "required": ["x"],
                    "properties": {"x": {"enum": ["p", "q"]}, "y": {"type": "array", "items": {"type": "string"}}},
                }},
                "any": {},
            },
            "required": ["list"],
        });
        let found = fields(&schema);
        let lines: Vec<String> = found
            .iter()
            .map(|a| format!("{} {} {} {}", a.path, a.kind, a.required, a.meaning))
            .collect();
        assert_eq!(
            lines,
            [
                "list list of objects true ",
                "list[].x `p` | `q` true ",
                "list[].y list of strings false ",
                "a integer false default 1",
                "any any false ",
            ]
        );
    }
}
