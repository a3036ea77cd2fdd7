//! What a purge erases, and where: found by reading the log, changing nothing.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;
use understory_model::canon::python_json;
use understory_model::error::{Code, Fault, Result};
use understory_model::id::item_name;
use understory_model::item::{ENTITY_DELTA, Item};
use understory_model::{Id, Seq, Time, Ws, limits, secret};
use understory_storage::answers::Key;
use understory_storage::scratch::Scratch;
use understory_storage::{ReadTx, items, purge};

use crate::kernel::names::{self, Found, Scope};
use crate::kinds::ARTIFACT_DELTA;
use crate::system::purge::redact::{self, Rule, Words};
use crate::system::purge::{Asked, Place};

/// Items read at once.
const CHUNK: i64 = 500;
/// A shorter text is looked for in the same thing only: elsewhere it may mean something else.
const LEAST_CHARS: usize = 16;
/// Texts of named things that are also looked for inside of others.
const PARTS: usize = 64;
/// A shorter text is in too many words.
const LEAST_TEXT: usize = 4;

/// What is to be erased.
#[derive(Default)]
pub struct Plan {
    /// Items, and what remains of each.
    pub items: Vec<(Place, String)>,
    /// Ids by which indexes and models know those.
    pub ids: BTreeSet<Id>,
    /// Answers kept for retries, and what is answered instead; none where the key itself goes.
    pub answers: Vec<(Key, Option<String>)>,
    pub scratches: Vec<(Id, Scratch)>,
    /// Items whose author or session has such a text: those names stay.
    pub named_after: usize,
}

/// What is known of the things that were named.
#[derive(Default)]
struct Targets {
    whole: BTreeSet<Seq>,
    /// Values that go from every change of an entity.
    values: BTreeMap<Id, HashSet<String>>,
    /// Things whose working text goes too.
    things: BTreeSet<Id>,
    words: Words,
}

pub fn plan(tx: &mut ReadTx<'_>, scope: Scope, asked: &Asked) -> Result<Plan> {
    let mut targets = targets(tx, scope, asked)?;
    let words = &mut targets.words;
    words
        .parts
        .sort_by_key(|part| std::cmp::Reverse(part.len()));
    words.parts.dedup();
    if asked.names.is_empty() && words.is_empty() {
        return Err(nothing());
    }
    if words.erase_from(&asked.reason).is_some() {
        return Err(Fault::invalid(
            "reason",
            "repeats what is to be erased; say why without it",
        ));
    }
    let mut plan = Plan::default();
    let mut calls: HashSet<(String, Time)> = HashSet::new();
    let mut after = Seq::ZERO;
    loop {
        let batch = items::after(tx, scope.ws, after, CHUNK)?;
        let Some(last) = batch.last() else { break };
        after = last.seq;
        for item in &batch {
            let said_by = [&item.actor, &item.session];
            let bears = |name: &&String| targets.words.erase_from(name).is_some();
            plan.named_after += usize::from(said_by.iter().any(bears));
            let Some(remains) = targets.remains(item) else {
                continue;
            };
            if targets.whole.contains(&item.seq) {
                calls.insert((item.actor.clone(), item.realized_at));
            }
            plan.ids
                .extend([Some(Id::of(item.seq)), item.entity].into_iter().flatten());
            plan.items.push((Place::of(item), remains));
        }
        if plan.items.len() > limits::PURGED_ITEMS {
            return Err(Fault::new(
                Code::TooLarge,
                format!(
                    "more than {} items would be erased at once",
                    limits::PURGED_ITEMS
                ),
            )
            .hint("Purge fewer things at a time, or use --only."));
        }
    }
    targets.live(tx, scope.ws, &calls, &mut plan)?;
    if plan.items.is_empty() && plan.answers.is_empty() && plan.scratches.is_empty() {
        Err(nothing())
    } else {
        Ok(plan)
    }
}

fn nothing() -> Fault {
    Fault::not_found("there is nothing to erase: no content holds it, or it was erased before")
        .hint("Name a thing (TASK-001, R002, item_…), or use --credentials or --text-from.")
}

fn targets(tx: &mut ReadTx<'_>, scope: Scope, asked: &Asked) -> Result<Targets> {
    let mut targets = Targets::default();
    let mut named: BTreeMap<Seq, Item> = BTreeMap::new();
    for name in &asked.names {
        match names::find(tx, scope, "name", name)? {
            Found::Entity(entity) => {
                targets.things.insert(entity.id);
                for item in of_entity(tx, scope.ws, entity.id)? {
                    targets.whole.insert(item.seq);
                    named.insert(item.seq, item);
                }
            }
            Found::Item(item) => targets.item(*item, &mut named),
            Found::Relation(made, _) => {
                if let Some(item) = items::get(tx, scope.ws, made)? {
                    targets.item(item, &mut named);
                }
            }
        }
    }
    if asked.credentials {
        credentials(tx, scope.ws, asked, &named, &mut targets.words)?;
    }
    if asked.credentials || !asked.texts.is_empty() {
        // What is named says where to look for credentials, not what to erase.
        targets.whole.clear();
        targets.values.clear();
        targets.things.clear();
        asked
            .texts
            .iter()
            .try_for_each(|text| part(&mut targets.words, text))?;
        return Ok(targets);
    }
    if !asked.only {
        for item in named.values() {
            widen(&mut targets.words, item);
        }
        targets
            .words
            .parts
            .sort_by_key(|part| std::cmp::Reverse(part.len()));
        targets.words.parts.truncate(PARTS);
    }
    Ok(targets)
}

impl Targets {
    /// One item: what it says, and where it is a change, the same values in the other changes of
    /// its entity.
    fn item(&mut self, item: Item, named: &mut BTreeMap<Seq, Item>) {
        let is_change = [ENTITY_DELTA, ARTIFACT_DELTA].contains(&item.kind.as_str());
        match item.entity.filter(|_| is_change) {
            Some(entity) => {
                let values = redact::said(&item);
                let values = values.iter().map(python_json);
                self.values.entry(entity).or_default().extend(values);
            }
            None => {
                self.whole.insert(item.seq);
            }
        }
        named.insert(item.seq, item);
    }

    fn remains(&self, item: &Item) -> Option<String> {
        let values = item.entity.and_then(|entity| self.values.get(&entity));
        let rule = match values {
            _ if self.whole.contains(&item.seq) => Rule::Whole,
            Some(values) => Rule::Values(values),
            None => Rule::Nothing,
        };
        redact::remains(item, &rule, &self.words)
    }

    /// What is kept beside the log.
    fn live(
        &self,
        tx: &mut ReadTx<'_>,
        ws: Ws,
        calls: &HashSet<(String, Time)>,
        plan: &mut Plan,
    ) -> Result<()> {
        for (key, answer, at) in purge::answers(tx, ws)? {
            let named = [&key.scope, &key.key];
            if named
                .iter()
                .any(|name| self.words.erase_from(name).is_some())
            {
                plan.answers.push((key, None));
            } else if calls.contains(&(key.agent.clone(), at)) {
                plan.answers
                    .push((key, Some(r#"{"erased":true}"#.to_string())));
            } else if let Ok(mut value) = serde_json::from_str::<Value>(&answer)
                && self.words.erase_in(&mut value)
            {
                plan.answers.push((key, Some(value.to_string())));
            }
        }
        for (thing, mut scratch) in purge::scratches(tx, ws)? {
            let left = if self.things.contains(&thing) {
                Some(String::new())
            } else {
                self.words.erase_from(&scratch.text)
            };
            if let Some(left) = left {
                scratch.text = left;
                scratch.rev += 1;
                plan.scratches.push((thing, scratch));
            }
        }
        Ok(())
    }
}

fn of_entity(tx: &mut ReadTx<'_>, ws: Ws, entity: Id) -> Result<Vec<Item>> {
    let (mut all, mut after) = (Vec::new(), Seq::ZERO);
    loop {
        let batch = items::of_entity_after(tx, ws, entity, after, CHUNK)?;
        let Some(last) = batch.last() else {
            return Ok(all);
        };
        after = last.seq;
        all.extend(batch);
    }
}

/// The same texts are looked for elsewhere, where they are long enough to be the same on purpose.
fn widen(words: &mut Words, item: &Item) {
    for value in redact::said(item) {
        let Some(text) = value.as_str().map(str::trim) else {
            continue;
        };
        if text.chars().count() >= LEAST_CHARS && !is_name(text) {
            words.whole.insert(text.to_string());
            words.parts.push(text.to_string());
            lines(text, |line| {
                words.whole.insert(line.to_string());
            });
        }
    }
}

/// A time, a hash or the name of a thing: others stand in the same form elsewhere.
fn is_name(text: &str) -> bool {
    let hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let time = text.ends_with('Z') && text.bytes().filter(|byte| *byte == b':').count() == 2;
    let id = ["item_", "entity_", "uuid_", "rel_"]
        .iter()
        .any(|kind| text.starts_with(kind));
    !text.contains(char::is_whitespace) && (hex || time || id)
}

/// The lines of a longer text, as a document holds them.
fn lines(text: &str, mut each: impl FnMut(&str)) {
    for line in text.lines().map(str::trim).filter(|_| text.contains('\n')) {
        if line.chars().count() >= LEAST_CHARS && !line.starts_with("-----") {
            each(line);
        }
    }
}

fn part(words: &mut Words, text: &str) -> Result<()> {
    let text = text.trim();
    if text.chars().count() < LEAST_TEXT {
        let problem = format!("must have at least {LEAST_TEXT} characters");
        return Err(Fault::invalid("text", problem));
    }
    words.parts.push(text.to_string());
    lines(text, |line| words.parts.push(line.to_string()));
    Ok(())
}

/// Credentials in the named things, or in the whole log.
fn credentials(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    asked: &Asked,
    named: &BTreeMap<Seq, Item>,
    words: &mut Words,
) -> Result<()> {
    let mut found: HashSet<String> = HashSet::new();
    named.values().for_each(|item| collect(item, &mut found));
    let mut after = if asked.names.is_empty() {
        Seq::ZERO
    } else {
        Seq::MAX
    };
    loop {
        let batch = items::after(tx, ws, after, CHUNK)?;
        let Some(last) = batch.last() else { break };
        after = last.seq;
        batch.iter().for_each(|item| collect(item, &mut found));
    }
    found.iter().try_for_each(|one| part(words, one))
}

fn collect(item: &Item, found: &mut HashSet<String>) {
    let content = item.content.as_deref().unwrap_or_default();
    let content: Value = serde_json::from_str(content).unwrap_or_default();
    secret::find_in(&content, |one, text| {
        let text = text.get(one.span).unwrap_or_default().trim();
        let is_line = text.chars().count() >= LEAST_TEXT && !text.starts_with("-----");
        if is_line || text.contains('\n') {
            found.insert(text.to_string());
        }
    });
}

impl Place {
    fn of(item: &Item) -> Place {
        Place {
            seq: item.seq,
            item: item_name(&item.uuid),
            kind: item.kind.clone(),
            actor: item.actor.clone(),
            at: item.realized_at.to_string(),
        }
    }
}
