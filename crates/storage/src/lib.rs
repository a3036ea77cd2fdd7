//! The only crate that knows SQL: one text for both engines, the differences in `dialect`.
//!
//! What the layers above see is [`Store`] (open, read, write) and [`Tx`] with one module of named
//! queries per table group. Nothing here decides a rule of the product.

mod batch;
mod column;
mod conn;
mod deadline;
mod dialect;
mod fresh;
mod lane;
mod lists;
mod open;
mod postgres;
mod queue;
mod schema;
mod sql;
mod sqlite;
mod statement;
mod store;
mod table;
mod tls;
mod together;
mod turn;
mod tx;
mod value;

pub mod activity;
pub mod agents;
pub mod answers;
pub mod artifacts;
pub mod asks;
pub mod branches;
pub mod care;
pub mod causes;
pub mod conflicts;
pub mod credentials;
pub mod cursors;
pub mod dump;
pub mod embeddings;
pub mod entities;
pub mod entries;
pub mod erased;
pub mod files;
pub mod fragments;
pub mod items;
pub mod keys;
pub mod links;
pub mod logs;
pub mod messages;
pub mod meta;
pub mod nodes;
pub mod presence;
pub mod projects;
pub mod purge;
pub mod query;
pub mod reader_positions;
pub mod ready;
pub mod records;
pub mod relations;
pub mod revoked;
pub mod scratch;
pub mod seats;
pub mod sessions;
pub mod texts;
pub mod threads;
pub mod timeline;
pub mod turns;
pub mod usage;
pub mod vectors;
pub mod vertices;
pub mod waits;
pub mod workspaces;

pub use deadline::Patience;
pub use schema::{CORE_VERSION, SOIL_VERSION};
pub use sql::{Arg, Cell, Row, Tx};
pub use store::{Engine, Options, Probe, Replay, Store};
