//! What a message leaves in core, whichever surface it was said in: its parts, what it answers, and what it mentions.

use understory_model::error::Result;
use understory_model::fact::Mention;
use understory_model::item::Item;
use understory_model::{Id, Seq, fade};
use understory_storage::relations::{self, Found, Place, Relation};
use understory_storage::{Tx, fragments};

use crate::kernel::content::relation::{MENTIONS, Said};
use crate::kernel::core::Core;
use crate::kernel::parts;

/// What was cited by a text that was taken back since.
pub fn counted(tx: &mut Tx<'_>, core: &Core, item: &Item, cites: &[Id]) -> Result<()> {
    cites
        .iter()
        .try_for_each(|thing| cited(tx, core, *thing, item))
}

/// Where the parts of a message are.
pub fn parts(tx: &mut Tx<'_>, core: &Core, item: &Item) -> Result<()> {
    let parts = parts::parts(item);
    let ids: Vec<&str> = parts.iter().map(|part| part.id.as_str()).collect();
    fragments::add(tx, core.ws, (item.seq, item.project), &ids)
}

/// What a message answers.
pub fn replied(tx: &mut Tx<'_>, core: &Core, item: &Item, answered: Seq) -> Result<()> {
    let said = Said::RepliesTo;
    let relation = Relation {
        made: item.seq,
        n: said.number(),
        kind: said.kind().to_string(),
        source: Id::of(item.seq),
        source_type: "item".to_string(),
        target: Id::of(answered),
        target_type: "item".to_string(),
        fragment: None,
        inferred: false,
        found: Default::default(),
        place: None,
        fossil: true,
        at: item.realized_at,
    };
    relations::put(tx, core.ws, &relation)
}

/// What a text refers to, as an index beside it.
pub fn mentioned(
    tx: &mut Tx<'_>,
    core: &Core,
    item: &Item,
    field: &str,
    mentions: &[Mention],
) -> Result<()> {
    let int = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    for (n, mention) in (1..).zip(mentions) {
        // What a commit cites beside its text stands nowhere in it.
        let (start, end) = mention.span;
        let place = (end > start).then(|| Place {
            field: field.to_string(),
            span: (int(start), int(end)),
            line: None,
        });
        let relation = Relation {
            made: item.seq,
            n,
            kind: MENTIONS.to_string(),
            source: Id::of(item.seq),
            source_type: "item".to_string(),
            target: mention.target,
            target_type: mention.kind.clone(),
            fragment: mention.fragment.clone(),
            inferred: true,
            found: Found::Kept,
            place,
            fossil: false,
            at: item.realized_at,
        };
        relations::put(tx, core.ws, &relation)?;
        cited(tx, core, mention.target, item)?;
    }
    Ok(())
}

/// Something was cited: that strengthens its relations.
pub fn cited(tx: &mut Tx<'_>, core: &Core, thing: Id, item: &Item) -> Result<()> {
    let now = item.realized_at;
    let strength = match relations::touch(tx, core.ws, thing)? {
        Some((strength, at)) => fade::cited(strength, at, now),
        None => fade::ONE,
    };
    relations::put_touch(tx, core.ws, thing, strength, now)
}
