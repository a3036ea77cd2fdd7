//! Whom a message `to` agents is for: names as people use them, and the thread in which those
//! agents talk already.

use std::collections::BTreeSet;

use understory_model::error::Result;
use understory_model::name::is_like;
use understory_model::text::quoted;
use understory_model::thread::Purpose;
use understory_storage::{agents, threads};

use super::create::NewThread;
use crate::Work;
use crate::kernel::alive::Alive;
use crate::kernel::content::message::participants;
use crate::kernel::content::text;
use crate::kernel::core::Thing;

/// Threads of the same agents that are looked at, the last changed first.
const LOOKED_AT: i64 = 200;

/// Replaces unknown names by those of live agents that were surely meant: another name of
/// the same client, or another case of the letters. Says which; what is left stays as it is.
pub fn correct(work: &mut Work<'_, '_>, names: &mut [String]) -> Result<Vec<String>> {
    let (ws, now, own) = (work.ws(), work.now, work.session.clone());
    let mut live: Option<BTreeSet<String>> = None;
    let mut notes = Vec::new();
    for name in names {
        if *name == work.caller.agent {
            continue;
        }
        let live = match &mut live {
            Some(live) => live,
            None => {
                live.insert(Alive::of(work.read()?, ws, now)?.agents(work.read()?, ws, &own)?)
            }
        };
        if live.contains(name) {
            continue;
        }
        let mut meant = live.iter().filter(|one| is_like(one, name));
        let (Some(one), None) = (meant.next(), meant.next()) else {
            continue;
        };
        // Two agents may differ by the case of their letters alone, and one of them be away.
        if one.eq_ignore_ascii_case(name) && agents::was_seen(work.read()?, ws, name)? {
            continue;
        }
        notes.push(format!("{} is {} here.", quoted(name), quoted(one)));
        name.clone_from(one);
    }
    Ok(notes)
}

/// The active conversation of exactly the caller and these agents, the last changed; of several
/// with a title, the one that has it.
pub fn conversation(
    work: &mut Work<'_, '_>,
    new: &NewThread,
    title: Option<&str>,
) -> Result<Option<String>> {
    let ws = work.ws();
    let own = work.caller.agent.clone();
    let named = new.participants.iter().map(String::as_str);
    let all: BTreeSet<&str> = named.chain([own.as_str()]).collect();
    let Some(other) = all.iter().find(|name| **name != own) else {
        return Ok(None);
    };
    let count = all.len() as i64;
    let found = threads::active_of(work.read()?, ws, (&own, other), count, LOOKED_AT)?;
    for entity in found {
        let thing = Thing::open(entity)?;
        let (data, creator) = (&thing.data, thing.entity.created_by.as_str());
        let there: BTreeSet<&str> = participants(data).chain([creator]).collect();
        let same = there == all
            && Purpose::parse(text(data, "type")) == Some(Purpose::Conversation)
            && title.is_none_or(|title| text(data, "title") == title);
        if same {
            return Ok(Some(thing.entity.handle));
        }
    }
    Ok(None)
}
