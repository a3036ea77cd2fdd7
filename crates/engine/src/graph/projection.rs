//! Graph nodes: readiness, rank and what a node is found by follow from its changes.

use serde_json::{Map, Value};
use understory_model::error::Result;
use understory_model::fact::damaged;
use understory_model::id::path_step;
use understory_model::item::{EntityDelta, Item};
use understory_model::link::DEPENDS_ON;
use understory_model::text::{fold, grams};
use understory_model::{Id, Time};
use understory_storage::keys::Pair;
use understory_storage::nodes::{Node, Standing};
use understory_storage::texts::Text;
use understory_storage::{Tx, relations};

use crate::kernel::content::node as fields;
use crate::kernel::content::node::renew;
use crate::kernel::core::Core;
use crate::kernel::mentions::{self, Source, Text as Said};
use crate::kernel::search::said::of_node;
use crate::kinds::NODE;

pub fn made(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    delta: &EntityDelta,
    data: &Map<String, Value>,
) -> Result<()> {
    let (id, at) = (Id::of(item.seq), item.realized_at);
    let project = item
        .project
        .ok_or_else(|| damaged(item, "a node without a project"))?;
    let parent = delta
        .place
        .as_ref()
        .and_then(|place| place.to.as_ref())
        .map(|to| to.id);
    let (path, depth) = match parent {
        None => (path_step(id), 0),
        Some(parent) => {
            let above = core
                .node(tx, parent)?
                .ok_or_else(|| damaged(item, "no such parent"))?;
            (format!("{}{}", above.path, path_step(id)), above.depth + 1)
        }
    };
    let folded = fold(fields::summary(data));
    let mut node = Node {
        id,
        project,
        path,
        depth,
        resolved: false,
        open_children: 0,
        open_deps: 0,
        standing: Standing::Ready,
        priority: 0.0,
        updated: at,
        claimed_by: String::new(),
        claimed_session: String::new(),
        claimed_at: Time::ZERO,
        resolved_at: Time::ZERO,
        resolved_by: String::new(),
        folded,
    };
    from_data(&mut node, data, item);
    node.open_deps = added_links(tx, core, item, id, delta)?;
    core.add_keys(id, pairs(data));
    core.texts
        .put(core.ws, id, NODE, text(data, &node.folded), false);
    mentions::said(tx, core, item, Source::entity(item, id), &texts(data))?;
    let open = !node.resolved;
    core.seen.claim(item, (None, Some(&node)), "");
    core.add_node(tx, node)?;
    core.touch_project(tx, project, |row| {
        row.updated = at;
        row.root = row.root.or(Some(id));
    })?;
    match parent {
        Some(parent) if open => core.touch_node(tx, parent, |above| above.open_children += 1),
        _ => Ok(()),
    }
}

/// What readiness and rank read off a node's value.
fn from_data(node: &mut Node, data: &Map<String, Value>, item: &Item) {
    let resolved = fields::resolved(data);
    if resolved && !node.resolved {
        node.resolved_at = item.realized_at;
        node.resolved_by = item.actor.clone();
    } else if !resolved {
        node.resolved_at = Time::ZERO;
        node.resolved_by = String::new();
    }
    node.resolved = resolved;
    node.priority = fields::priority(data);
    let claim = fields::claim(data).unwrap_or_default();
    let renewed = if is_same(node, &claim) {
        node.claimed_at
    } else {
        Time::ZERO
    };
    node.claimed_at = claim.at.max(renewed);
    node.claimed_by = claim.by;
    node.claimed_session = claim.session;
    renew(node, item);
}

/// How a claim ended whose node is now of this value.
fn ended(data: &Map<String, Value>) -> &'static str {
    if fields::dropped(data) {
        "dropped"
    } else if fields::resolved(data) {
        "done"
    } else if fields::claim(data).is_none() {
        "released"
    } else {
        "taken"
    }
}

fn is_same(node: &Node, claim: &fields::Claim) -> bool {
    node.claimed_by == claim.by && node.claimed_session == claim.session
}

/// Adds the links of a change; how many of them are dependencies that are open.
fn added_links(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    id: Id,
    delta: &EntityDelta,
) -> Result<i64> {
    let mut open = 0;
    for link in delta.links.iter().filter(|link| !link.remove) {
        core.add_link(id, &link.relation, link.to.id);
        if link.relation == DEPENDS_ON {
            open += i64::from(is_open(tx, core, item, link.to.id)?);
        }
    }
    Ok(open)
}

fn removed_links(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    id: Id,
    delta: &EntityDelta,
) -> Result<i64> {
    let mut open = 0;
    for link in delta.links.iter().filter(|link| link.remove) {
        core.remove_link(tx, id, &link.relation, link.to.id)?;
        if link.relation == DEPENDS_ON {
            open += i64::from(is_open(tx, core, item, link.to.id)?);
        }
    }
    Ok(open)
}

fn is_open(tx: &mut Tx<'_>, core: &mut Core, item: &Item, id: Id) -> Result<bool> {
    match core.node(tx, id)? {
        Some(node) => Ok(!node.resolved),
        // Nodes of one batch may name each other in any order, and are made open.
        None if id > Id::of(item.seq) => Ok(true),
        None => Err(damaged(item, "a link to no node")),
    }
}

pub fn changed(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    delta: &EntityDelta,
    before: &Map<String, Value>,
) -> Result<()> {
    let id = item.entity.unwrap_or_default();
    let Some(thing) = core.thing(tx, id)? else {
        return Ok(());
    };
    let (data, project) = (thing.data.clone(), thing.entity.project.unwrap_or_default());
    let added = added_links(tx, core, item, id, delta)?;
    let removed = removed_links(tx, core, item, id, delta)?;
    core.touch_project(tx, project, |row| row.updated = item.realized_at)?;
    let was = fields::resolved(before);
    let held = core.node(tx, id)?.cloned();
    if delta.gone.is_some() {
        core.seen.claim(item, (held.as_ref(), None), "dropped");
        return gone(tx, core, id, !was, before);
    }
    core.touch_node(tx, id, |node| {
        node.updated = item.realized_at;
        node.open_deps += added - removed;
        from_data(node, &data, item);
    })?;
    let now = core.node(tx, id)?.cloned();
    core.seen
        .claim(item, (held.as_ref(), now.as_ref()), ended(&data));
    if delta.place.is_some() {
        moved(tx, core, item, id, delta, was)?;
    }
    reindex(tx, core, id, before, &data)?;
    let said = (&texts(before)[..], &texts(&data)[..]);
    mentions::changed(tx, core, item, Source::entity(item, id), said)?;
    let is = fields::resolved(&data);
    if was == is {
        Ok(())
    } else {
        neighbours(tx, core, id, if is { -1 } else { 1 })
    }
}

/// A node opened or closed: what stands above it and what waits for it must know.
fn neighbours(tx: &mut Tx<'_>, core: &mut Core, id: Id, by: i64) -> Result<()> {
    let parent = core.thing(tx, id)?.and_then(|thing| thing.entity.parent);
    if let Some(parent) = parent {
        core.touch_node(tx, parent, |above| above.open_children += by)?;
    }
    for waiting in core.sources(tx, id, DEPENDS_ON)? {
        core.touch_node(tx, waiting, |node| node.open_deps += by)?;
    }
    Ok(())
}

/// `was_resolved` is the state before this change, which the old parent counted by.
fn moved(
    tx: &mut Tx<'_>,
    core: &mut Core,
    item: &Item,
    id: Id,
    delta: &EntityDelta,
    was_resolved: bool,
) -> Result<()> {
    let Some(place) = &delta.place else {
        return Ok(());
    };
    let missing = || damaged(item, "a move from or to no node");
    let (from, to) = (
        place.from.as_ref().ok_or_else(missing)?,
        place.to.as_ref().ok_or_else(missing)?,
    );
    let above = core.node(tx, to.id)?.ok_or_else(missing)?;
    let (path, depth) = (format!("{}{}", above.path, path_step(id)), above.depth + 1);
    let node = core.node(tx, id)?.ok_or_else(missing)?;
    let (old_path, deeper) = (node.path.clone(), depth - node.depth);
    core.move_below(tx, &old_path, &path, deeper)?;
    core.touch_node(tx, id, |node| {
        node.path = path;
        node.depth = depth;
    })?;
    let open = i64::from(!was_resolved);
    core.touch_node(tx, from.id, |above| above.open_children -= open)?;
    core.touch_node(tx, to.id, |above| above.open_children += open)
}

fn gone(
    tx: &mut Tx<'_>,
    core: &mut Core,
    id: Id,
    open: bool,
    before: &Map<String, Value>,
) -> Result<()> {
    let path = core
        .node(tx, id)?
        .map(|node| node.path.clone())
        .unwrap_or_default();
    let above = understory_model::id::path_ids(&path).unwrap_or_default();
    if let (true, [.., parent, _]) = (open, above.as_slice()) {
        core.touch_node(tx, *parent, |node| node.open_children -= 1)?;
    }
    for pair in pairs(before) {
        core.remove_key(tx, id, &pair)?;
    }
    core.texts.remove(core.ws, id);
    relations::remove_found(tx, core.ws, id)?;
    core.drop_node(tx, id)
}

fn reindex(
    tx: &mut Tx<'_>,
    core: &mut Core,
    id: Id,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> Result<()> {
    let (old, new) = (pairs(before), pairs(after));
    for pair in old.iter().filter(|pair| !new.contains(pair)) {
        core.remove_key(tx, id, pair)?;
    }
    core.add_keys(id, new.into_iter().filter(|pair| !old.contains(pair)));
    let (old, new) = (fields::summary(before), fields::summary(after));
    let (old_body, new_body) = (of_node(before), of_node(after));
    if old != new || old_body != new_body {
        let folded = fold(new);
        core.texts
            .put(core.ws, id, NODE, text(after, &folded), true);
        core.touch_node(tx, id, |node| node.folded = folded)?;
    }
    Ok(())
}

/// What a node is found by.
fn text(data: &Map<String, Value>, folded: &str) -> Text {
    Text {
        title: fields::summary(data).to_string(),
        summary: String::new(),
        body: of_node(data),
        extra: String::new(),
        grams: grams(folded),
    }
}

/// The texts in which a node mentions something: its summary, its evidence, and the words among
/// its properties.
fn texts(data: &Map<String, Value>) -> Vec<Said<'_>> {
    let mut texts = vec![Said::new("summary", fields::summary(data))];
    texts.extend(fields::evidence_refs(data).map(|said| Said::new("evidence", said)));
    for (name, value) in fields::properties(data) {
        // What the server keeps there names agents and sessions.
        if let (Some(said), false) = (value.as_str(), name.starts_with('_')) {
            texts.push(Said::new("properties", said));
        }
    }
    texts
}

/// What a node can be found by exactly: its properties and its types of evidence, each once.
fn pairs(data: &Map<String, Value>) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = fields::properties(data)
        .map(|(name, value)| fields::property_pair(name, value))
        .chain(fields::evidence_types(data).map(fields::evidence_pair))
        .collect();
    pairs.sort();
    pairs.dedup();
    pairs
}
