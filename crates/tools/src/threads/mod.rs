//! The threads surface on the wire, one file a tool.

pub mod ack;
pub mod create;
pub mod get;
pub mod heartbeat;
pub mod list;
pub mod post;
pub mod read;
pub mod status;
pub mod summarize;
pub mod trigger;
pub mod wait;
pub mod wakes;

use std::borrow::Cow;

use crate::tool::Tool;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use understory_engine::threads::SCHEMA_VERSION;

/// In the order in which they are listed.
pub const TOOLS: &[Tool] = &[
    create::TOOL,
    list::TOOL,
    get::TOOL,
    post::TOOL,
    read::TOOL,
    wait::TOOL,
    ack::TOOL,
    status::TOOL,
    summarize::TOOL,
    heartbeat::TOOL,
    trigger::TOOL,
    wakes::TOOL,
];

/// The version of a payload, which every method takes: there is one so far.
struct SchemaVersion;

impl<'de> Deserialize<'de> for SchemaVersion {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<SchemaVersion, D::Error> {
        // 1.0 is 1: JSON does not tell them apart.
        if f64::deserialize(from)? == SCHEMA_VERSION as f64 {
            Ok(SchemaVersion)
        } else {
            Err(D::Error::custom(format!("must be {SCHEMA_VERSION}")))
        }
    }
}

impl JsonSchema for SchemaVersion {
    fn schema_name() -> Cow<'static, str> {
        "SchemaVersion".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer" })
    }
}
