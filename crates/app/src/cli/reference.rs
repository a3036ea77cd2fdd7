//! The reference page of a surface, written from its tools' declarations and from nothing else.

use serde_json::Value;
use understory_tools::{Surface, Tool};

use super::tools::access;

/// One argument, or one field within it.
#[derive(Debug, PartialEq, Eq)]
pub struct Argument {
    /// `nodes[].ref`
    pub path: String,
    pub kind: String,
    pub required: bool,
    pub meaning: String,
}

/// The arguments that a schema describes, each followed by what is inside it.
pub fn arguments(schema: &Value) -> Vec<Argument> {
    let mut found = Vec::new();
    inside(schema, "", &mut found);
    found
}

fn inside(schema: &Value, prefix: &str, found: &mut Vec<Argument>) {
    let Some(fields) = schema["properties"].as_object() else {
        return;
    };
    let required = |name: &str| {
        let list = schema["required"].as_array();
        list.is_some_and(|list| list.iter().any(|one| one == name))
    };
    // What must be given comes first; a page is read from the top.
    let (must, may): (Vec<_>, Vec<_>) = fields.iter().partition(|(name, _)| required(name));
    for (name, field) in must.into_iter().chain(may) {
        let path = format!("{prefix}{name}");
        found.push(Argument {
            kind: kind(field),
            required: required(name),
            meaning: field["description"].as_str().unwrap_or_default().to_owned(),
            path: path.clone(),
        });
        inside(field, &format!("{path}."), found);
        inside(&field["items"], &format!("{path}[]."), found);
    }
}

fn kind(field: &Value) -> String {
    if let Some(choices) = choices(field) {
        return choices.join(" | ");
    }
    match (&field["type"], field["items"].is_object()) {
        (Value::String(kind), true) if kind == "array" => {
            format!("list of {}", plural(&self::kind(&field["items"])))
        }
        (Value::String(kind), _) => match kind.as_str() {
            "array" => "list".to_owned(),
            kind => kind.to_owned(),
        },
        (Value::Array(kinds), _) => {
            let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
            kinds.join(" | ")
        }
        _ => "any".to_owned(),
    }
}

fn plural(kind: &str) -> String {
    match kind {
        "string" | "integer" | "number" | "boolean" | "object" => format!("{kind}s"),
        other => other.to_owned(),
    }
}

fn choices(field: &Value) -> Option<Vec<String>> {
    let list = match (&field["enum"], &field["oneOf"]) {
        (Value::Array(list), _) => list.clone(),
        (_, Value::Array(ways)) => ways.iter().map(|way| way["const"].clone()).collect(),
        _ => return None,
    };
    let texts: Option<Vec<String>> = list
        .iter()
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
         the same answer: `understory call <tool> '<json>'`.\n\n",
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
    let arguments = arguments(&tool.input_schema());
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
            cell(&argument.meaning)
        ));
    }
    page.push_str(&format!(
        "\n```sh\nunderstory call {} '{}'\n```\n",
        tool.name, tool.example
    ));
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
        let found = arguments(&schema);
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
