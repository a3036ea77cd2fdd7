//! `garden_add`: something happened, or was said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use understory_model::answer::json_of;
use understory_model::error::{Code, Fault, Result};
use understory_model::fact::{Fact, Said};
use understory_model::fragment::{Fragment, fragments};
use understory_model::text::{check_text, cut};
use understory_model::{Caller, Id, Role, Seq, Time, Via, limits};
use understory_storage::items;

use crate::Work;
use crate::garden::shape::{ItemShape, Shapes};
use crate::garden::{Content, conversation};
use crate::kernel::content::call::{Call, Operation};
use crate::kernel::content::event::Event;
use crate::kernel::names::{self, Scope};
use crate::kernel::parts::placed;
use crate::kernel::work::Noted;
use crate::kernel::{project, references};
use crate::kinds::{ItemKind, MESSAGE, NOTE, TOOL_CALL, is_callers_type};

/// An item to be added.
#[derive(Debug, Clone)]
pub struct New {
    pub kind: String,
    pub fields: Map<String, Value>,
    /// Fields of the caller's own, beside those of the type.
    pub attributes: Map<String, Value>,
    /// The item that it answers.
    pub replies_to: Option<String>,
    pub canonical_at: Option<Time>,
    pub log: Option<String>,
    pub project: Option<String>,
}

/// Names that stand for relations and not for fields of an item.
const RESERVED: [&str; 6] = [
    "triggered_by",
    "superceded_by",
    "replies_to",
    "derived_from",
    "continues_from",
    "contained_by",
];

/// Names that the server fills.
const SYSTEM: [&str; 8] = [
    "uuid",
    "seq",
    "realized_at",
    "actor",
    "session",
    "caused_by",
    "hidden",
    "undone",
];

/// Names of the model that are not types of items.
const PARTS: [&str; 9] = [
    "Fragment",
    "Entity",
    "Artifact",
    "Relation",
    "UniqueRelation",
    "MultiRelation",
    "ConversationLog",
    "Summary",
    "Frame",
];

/// An item that was checked, with what its type needs and the caller left out.
#[derive(Debug, Clone)]
pub struct Complete(New);

impl Complete {
    pub fn of(mut new: New, caller: &Caller) -> Result<Complete> {
        complete(&mut new, caller)?;
        Ok(Complete(new))
    }
}

fn complete(new: &mut New, caller: &Caller) -> Result<()> {
    check_type(&new.kind)?;
    for name in new.fields.keys().chain(new.attributes.keys()) {
        check_field_name(name)?;
    }
    let bytes = |fields: &Map<String, Value>| {
        serde_json::to_string(fields).map_or(usize::MAX, |text| text.len())
    };
    let size = bytes(&new.fields).saturating_add(bytes(&new.attributes));
    if size > limits::BODY_BYTES {
        let problem = format!("have {size} bytes; at most {} fit", limits::BODY_BYTES);
        return Err(Fault::invalid("fields", problem)
            .hint("Keep the long part in an artifact and refer to it."));
    }
    check_type_fields(new, caller)?;
    for (name, value) in std::mem::take(&mut new.attributes) {
        if new.fields.contains_key(&name) || fields_of(&new.kind).contains(&name.as_str()) {
            return Err(Fault::invalid(
                format!("attributes.{}", cut(&name, 80)),
                format!("is a built-in field of {}", new.kind),
            )
            .hint("Pass it at the top level, or rename yours."));
        }
        new.fields.insert(name, value);
    }
    Ok(())
}

/// The fields of a type that the server knows; none for a type of the caller's own.
fn fields_of(kind: &str) -> &'static [&'static str] {
    match kind {
        NOTE => &["description", "summary", "title"],
        MESSAGE => &[
            "description",
            "summary",
            "title",
            "sender",
            "recipient",
            "subject",
            "fragments",
        ],
        TOOL_CALL => &["tool", "operation", "params", "result", "caller", "context"],
        _ => &[],
    }
}

fn check_type_fields(new: &mut New, caller: &Caller) -> Result<()> {
    let (kind, fields) = (new.kind.as_str(), &mut new.fields);
    for field in ["sender", "caller"] {
        check_speaker(field, fields, caller)?;
    }
    match kind {
        NOTE => {
            only(fields, kind)?;
            text(fields, "description", true)?;
            optional_texts(fields, &["summary", "title"])
        }
        MESSAGE => message(fields, caller),
        TOOL_CALL => tool_call(fields, caller),
        _ => Ok(()),
    }
}

/// Names that stand for nobody in particular: the person whom an agent works for, and an agent.
const ANYBODY: [&str; 2] = ["user", "agent"];

/// Refuses to put words into another agent's mouth. An item says who wrote it down (`actor`); who
/// said it may be the caller, or its user. Those who direct may write down what others said, and so
/// may a process on this machine, where nobody is verified.
fn check_speaker(field: &str, fields: &Map<String, Value>, caller: &Caller) -> Result<()> {
    let Some(named) = fields.get(field).and_then(Value::as_str) else {
        return Ok(());
    };
    let own = named == caller.agent || ANYBODY.contains(&named);
    if own || caller.via != Via::Token || caller.role.directs() {
        return Ok(());
    }
    let message = format!("{field}: must be you ({}), user or agent", caller.agent);
    Err(Fault::new(Code::ClaimMismatch, message)
        .detail("field", field)
        .hint("Leave it out, and say in the text whose words these are."))
}

/// `Note`, `DeployFinished`: CamelCase, and none of those that only the server writes.
fn check_type(kind: &str) -> Result<()> {
    // `Item` is the name of all of them.
    if kind == "Item" || ItemKind::of(kind).is_servers() {
        let problem = format!("{kind} is written by the server alone");
        let hint = "Artifacts and entities have tools of their own; another name is free.";
        return Err(Fault::invalid("type", problem).hint(hint));
    }
    // What is one of these but for its case, or a part of the model, would be taken for it.
    let known = ItemKind::OWN.map(ItemKind::as_str).into_iter();
    let known = known.chain(["Item"]).filter(|known| *known != kind);
    let near = known
        .chain(PARTS)
        .find(|known| known.eq_ignore_ascii_case(kind));
    if let Some(known) = near {
        let problem = format!("would be taken for {known}");
        return Err(Fault::invalid("type", problem).hint("Use another name."));
    }
    if is_callers_type(kind) {
        return Ok(());
    }
    let known = [NOTE, MESSAGE, TOOL_CALL];
    Err(Fault::invalid("type", "must be a name in CamelCase")
        .detail("field", "type")
        .detail("allowed", known)
        .hint("Use one of these, or a name of your own such as DeployFinished."))
}

fn check_field_name(name: &str) -> Result<()> {
    if RESERVED.contains(&name) {
        return Err(
            Fault::invalid(name, "is a reserved name: it stands for a relation")
                .hint("Say it with garden_relate or caused_by."),
        );
    }
    if SYSTEM.contains(&name) || name.starts_with('_') {
        return Err(Fault::invalid(
            cut(name, 80),
            "is a reserved name: the server fills it",
        ));
    }
    check_text("fields", name, limits::NAME_CHARS, false)
}

fn only(fields: &Map<String, Value>, kind: &str) -> Result<()> {
    let allowed = fields_of(kind);
    match fields.keys().find(|name| !allowed.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(
            Fault::invalid(cut(name, 80), format!("unknown field of a {kind}"))
                .detail("field", name)
                .detail("allowed", allowed)
                .hint("Put fields of your own under attributes."),
        ),
    }
}

fn text(fields: &Map<String, Value>, name: &str, required: bool) -> Result<()> {
    match fields.get(name) {
        Some(Value::String(text)) => check_text(name, text, limits::BODY_BYTES, !required),
        None | Some(Value::Null) if !required => Ok(()),
        None => Err(Fault::required(name)),
        Some(_) => Err(Fault::invalid(name, "must be a text")),
    }
}

fn optional_texts(fields: &Map<String, Value>, names: &[&str]) -> Result<()> {
    names.iter().try_for_each(|name| text(fields, name, false))
}

fn object(fields: &Map<String, Value>, name: &str, required: bool) -> Result<()> {
    match fields.get(name) {
        Some(Value::Object(_)) => Ok(()),
        None | Some(Value::Null) if !required => Ok(()),
        _ => Err(Fault::invalid(name, "must be an object")),
    }
}

fn message(fields: &mut Map<String, Value>, caller: &Caller) -> Result<()> {
    only(fields, MESSAGE)?;
    optional_texts(
        fields,
        &["summary", "title", "sender", "recipient", "subject"],
    )?;
    let given = match fields.remove("fragments") {
        None | Some(Value::Null) => None,
        Some(Value::Array(parts)) => Some(given_parts(&parts)?),
        Some(_) => return Err(Fault::invalid("fragments", "must be a list")),
    };
    let parts = match given {
        None => {
            text(fields, "description", true)?;
            fragments(fields["description"].as_str().unwrap_or_default())
        }
        Some(parts) => {
            text(fields, "description", false)?;
            let contents: Vec<&str> = parts.iter().map(|part| part.content.as_str()).collect();
            if !fields.get("description").is_some_and(Value::is_string) {
                fields.insert("description".into(), contents.join(" ").into());
            }
            placed(
                &contents,
                fields["description"].as_str().unwrap_or_default(),
            )
        }
    };
    fields.insert("fragments".into(), json_of(&parts)?);
    let sender = fields.entry("sender").or_insert(Value::Null);
    if sender.is_null() {
        *sender = caller.agent.clone().into();
    }
    Ok(())
}

/// Parts that the caller made: texts, or objects with their text and, to be checked, their id.
fn given_parts(parts: &[Value]) -> Result<Vec<Fragment>> {
    let mut made = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        let field = format!("fragments[{at}]");
        let content = match part {
            Value::String(content) => content,
            Value::Object(part) => match part.get("content") {
                Some(Value::String(content)) => content,
                _ => return Err(Fault::invalid(format!("{field}.content"), "must be a text")),
            },
            _ => return Err(Fault::invalid(field, "must be a string or an object")),
        };
        check_text(&field, content, limits::BODY_BYTES, false)?;
        if content.trim().is_empty() {
            return Err(Fault::invalid(field, "is blank"));
        }
        let fragment = Fragment::new(content.trim());
        if let Some(id) = part.get("id").filter(|id| **id != fragment.id) {
            let problem = format!("is {id}, but this text has {}", fragment.id);
            return Err(Fault::invalid(format!("{field}.id"), problem)
                .hint("Leave it out: the text gives it."));
        }
        made.push(fragment);
    }
    if made.is_empty() {
        Err(Fault::invalid("fragments", "must have at least 1 entry"))
    } else {
        Ok(made)
    }
}

fn tool_call(fields: &mut Map<String, Value>, caller: &Caller) -> Result<()> {
    only(fields, TOOL_CALL)?;
    text(fields, "tool", true)?;
    text(fields, "operation", true)?;
    optional_texts(fields, &["caller", "context"])?;
    object(fields, "params", false)?;
    object(fields, "result", false)?;
    let ways = ["success", "error", "cancelled"];
    if let Some(Value::Object(result)) = fields.get("result") {
        let status = result
            .get("status")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !ways.contains(&status) {
            return Err(
                Fault::invalid("result.status", "must be success, error or cancelled")
                    .detail("field", "result.status")
                    .detail("allowed", ways),
            );
        }
    }
    if !fields.get("params").is_some_and(Value::is_object) {
        fields.insert("params".into(), Map::new().into());
    }
    if !fields.get("caller").is_some_and(Value::is_string) {
        fields.insert("caller".into(), caller_name(caller).into());
    }
    Ok(())
}

/// What a tool call says of who made it.
pub fn caller_name(caller: &Caller) -> &'static str {
    match caller.role {
        Role::Operator => "user",
        _ => "agent",
    }
}

/// The answer of `garden_add`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Added {
    pub item: ItemShape,
}

/// Adds an item to a conversation.
pub fn add(work: &mut Work<'_, '_>, Complete(new): &Complete) -> Result<Added> {
    let project = project::to_write(work, new.project.as_deref(), false)?;
    let log = conversation::to_write(work, project, new.log.as_deref())?;
    let replies_to = match &new.replies_to {
        Some(named) => {
            let scope = Scope {
                ws: work.ws(),
                project: Some(project),
                caller: work.caller,
            };
            Some(names::item(work.read()?, scope, "replies_to", named)?.seq)
        }
        None => None,
    };
    let mut fields = new.fields.clone();
    if new.kind == TOOL_CALL
        && let Some(Value::Object(result)) = fields.get_mut("result")
    {
        let at = result.entry("timestamp").or_insert(Value::Null);
        if at.is_null() {
            *at = work.now.to_string().into();
        }
    }
    let content = Content {
        replies_to,
        ..said(work, project, log, fields)?
    };
    let seq = write(work, project, &new.kind, content, new.canonical_at)?;
    let item = shown(work, seq)?;
    Ok(Added { item })
}

/// Appends an item to a conversation; what its text refers to is kept with it.
pub fn append(
    work: &mut Work<'_, '_>,
    project: Id,
    log: Id,
    kind: &str,
    fields: Map<String, Value>,
    canonical_at: Option<Time>,
) -> Result<Seq> {
    let content = said(work, project, log, fields)?;
    write(work, project, kind, content, canonical_at)
}

/// What an item says, with what its text refers to.
fn said(
    work: &mut Work<'_, '_>,
    project: Id,
    log: Id,
    fields: Map<String, Value>,
) -> Result<Content> {
    let scope = Scope {
        ws: work.ws(),
        project: Some(project),
        caller: work.caller,
    };
    let mentions = references::mentions(work.read()?, scope, words(&fields).1)?;
    Ok(Content {
        log: Some(log),
        fields,
        mentions,
        ..Content::default()
    })
}

fn write(
    work: &mut Work<'_, '_>,
    project: Id,
    kind: &str,
    content: Content,
    canonical_at: Option<Time>,
) -> Result<Seq> {
    let kind = kind.to_string();
    work.append(Noted {
        project: Some(project),
        entity: None,
        canonical_at,
        fact: Fact::Said(Said { kind, content }),
    })
}

/// The field and the text of an item in which references count: what was said, noted while reading,
/// or reported as the outcome of a conversation.
pub fn words(fields: &Map<String, Value>) -> (&'static str, &str) {
    let at = |field: &str, inner: &str| fields.get(field)?.get(inner)?.as_str();
    if let Some(said) = fields.get("description").and_then(Value::as_str) {
        return ("description", said);
    }
    if Call::of(fields).is_some_and(|call| call.operation == Operation::Note) {
        let noted = at("params", "content");
        return ("params.content", noted.unwrap_or_default());
    }
    let reported = Event::of(fields).and_then(|_| at("payload", "summary"));
    ("payload.summary", reported.unwrap_or_default())
}

/// An item of this write, as it is shown.
pub fn shown(work: &mut Work<'_, '_>, seq: Seq) -> Result<ItemShape> {
    let ws = work.ws();
    let item = items::get(work.read()?, ws, seq)?;
    let item =
        item.ok_or_else(|| Fault::new(Code::Internal, "an item of this write was not written"))?;
    let caller = work.caller;
    Ok(Shapes::load(work.read()?, ws, caller, [&item])?.item(&item))
}
