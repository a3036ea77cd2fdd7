//! Items for people who read them one after the other: as a line of the log, and with all they say.

use serde::Serialize;
use serde_json::Value;
use understory_model::error::Result;
use understory_model::id::parse_name;
use understory_model::item::Item;
use understory_storage::items;

use crate::View;
use crate::kernel::access::Reader;
use crate::kernel::content::content;
use crate::kernel::content::message::said;
use crate::kernel::log::{self, Entry, Known};

/// An item as a line, and its words whole.
#[derive(Debug, Clone, Serialize)]
pub struct Whole {
    #[serde(flatten)]
    pub entry: Entry,
    /// What it says, where it is words: of a message, a note.
    pub words: Option<String>,
    /// The thread that a message stands in, and its number there.
    pub message: Option<(String, i64)>,
    /// Whether its author took back what it said.
    pub undone: bool,
}

/// Items by their names, in their order, as far as the caller may read them.
pub fn whole(view: &mut View<'_, '_>, names: &[&str]) -> Result<Vec<Whole>> {
    let mut reader = Reader::new(view.caller);
    let mut found: Vec<Item> = Vec::with_capacity(names.len());
    for uuid in names.iter().filter_map(|name| parse_name(name)) {
        if let Some(item) = items::by_uuid(view.tx, view.ws, &uuid)?
            && reader.item(view.tx, view.ws, &item)?
        {
            found.push(item);
        }
    }
    let shown: Vec<&Item> = found.iter().collect();
    let known = Known::of(view.tx, view.ws, &shown)?;
    Ok(found.iter().map(|item| of(item, &known)).collect())
}

fn of(item: &Item, known: &Known) -> Whole {
    let entry = log::entry(item, known);
    if let Some(said) = said(item).filter(|_| item.entity.is_some()) {
        return Whole {
            entry,
            words: Some(said.body).filter(|_| !said.undone),
            message: Some((said.thread, said.n)),
            undone: said.undone,
        };
    }
    let content = content(item).unwrap_or_default();
    let words = content.fields.get("description").and_then(Value::as_str);
    Whole {
        words: words.map(str::to_owned),
        message: None,
        undone: content.undone,
        entry,
    }
}
