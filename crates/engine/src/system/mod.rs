//! What concerns the store as a whole and so stands above the surfaces: status, proof, rebuilding,
//! purging, the audit, working texts, the sessions of processes, and who is here.

pub mod audit;
pub mod care;
pub mod chat;
pub mod checkpoint;
mod compare;
pub mod orient;
pub mod presence;
pub mod pulse;
pub mod purge;
pub mod rebuild;
pub mod scratchpad;
pub mod status;
pub mod timeline;
pub mod untold;
pub mod verify;
pub mod who;
