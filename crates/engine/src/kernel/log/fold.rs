//! Rows of the log that only repeat another: one act is one line for its reader.

use std::collections::HashSet;

use understory_model::Id;
use understory_model::fact::Fact;
use understory_model::item::Item;

use crate::kernel::content;
use crate::kernel::content::artifact_delta::Delta;
use crate::kernel::content::event::Event;
use crate::kernel::log::delta;
use crate::kinds::{ARTIFACT_DELTA, EntityKind, ItemKind};

/// Items between that which makes a thing and what the same call writes about it.
const NEAR: i64 = 4;

/// The items that are told. Who asks about one thing is told all that its own items say.
pub fn folded(batch: &[Item], of_one: bool) -> Vec<&Item> {
    let with_content: HashSet<Id> = batch
        .iter()
        .filter(|item| item.kind == ARTIFACT_DELTA)
        .filter(|item| Delta::of(item).is_some_and(|delta| is_first(item, &delta)))
        .filter_map(|item| item.entity)
        .collect();
    let told = |item: &&Item| match ItemKind::of(&item.kind) {
        // The first commit says it, or where there is none the item that says so itself.
        ItemKind::ArtifactCreated => item.entity.is_none_or(|id| !with_content.contains(&id)),
        ItemKind::SystemEvent => {
            content::content(item).is_none_or(|said| Event::of(&said.fields).is_none())
        }
        ItemKind::FrameMoved => !of_fork(item),
        ItemKind::EntityDelta => {
            delta(item).is_none_or(|delta| match EntityKind::of(&delta.kind) {
                EntityKind::Artifact => !["created", "committed"].contains(&delta.action.as_str()),
                // The call that made or decided it says more.
                EntityKind::Proposal => of_one,
                // A project's first conversation is made by whatever is said first.
                EntityKind::Log => delta.action != "created" || delta.place.is_some(),
                _ => true,
            })
        }
        _ => true,
    };
    batch.iter().filter(told).collect()
}

/// Whether a commit is the content that its artifact was made with.
pub fn is_first(item: &Item, delta: &Delta) -> bool {
    let near = item
        .entity
        .is_some_and(|made| item.seq - made.seq() <= NEAR);
    near && delta.parent.hashes().is_empty()
}

/// Whether a participant moved because a conversation was just made for it.
fn of_fork(item: &Item) -> bool {
    match Fact::read(item) {
        Ok(Fact::FrameMoved(moved)) => item.seq - moved.frame.log.seq() <= NEAR,
        _ => false,
    }
}
