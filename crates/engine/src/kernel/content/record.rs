//! Records as they stand in core.

use serde_json::{Map, Value};
use understory_model::error::{Code, Fault, Result};
use understory_model::record::RecordData;
use understory_storage::keys::Pair;

use crate::kernel::content::node::metadata_pair;
use crate::kernel::core::Thing;

/// The value of a record.
pub fn opened(thing: &Thing) -> Result<RecordData> {
    read(&thing.data, &thing.entity.handle)
}

/// A value that a record has or had.
pub fn read(data: &Map<String, Value>, handle: &str) -> Result<RecordData> {
    RecordData::read(data).ok_or_else(|| {
        Fault::new(
            Code::StoreCorrupt,
            format!("the value of {handle} is damaged"),
        )
        .hint("Run `understory verify`, then `understory rebuild`.")
    })
}

/// What a record can be found by exactly: each value of its metadata.
pub fn pairs(data: &RecordData) -> Vec<Pair> {
    let metadata = data.metadata.iter().flatten();
    let mut pairs: Vec<Pair> = metadata
        .map(|(name, value)| metadata_pair(name, value))
        .collect();
    pairs.sort();
    pairs.dedup();
    pairs
}
