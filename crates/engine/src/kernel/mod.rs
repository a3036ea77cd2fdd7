//! What all surfaces stand on: the one write path, views over one log, names and references, access,
//! versions, the wording of the log, and search.
//!
//! Nothing here imports a surface. What the log's facts mean to core is told by the surfaces'
//! projections, which [`work::Work`] is given when it is made.

pub mod access;
pub mod alive;
pub mod artifact;
pub mod batch;
pub mod checked;
pub mod clock;
pub mod content;
pub mod core;
pub mod credentials;
pub mod inbox;
pub mod live;
pub mod log;
pub mod meaning;
pub mod mentions;
pub mod names;
pub mod parts;
pub mod process;
pub mod project;
pub mod quota;
pub mod references;
pub mod revoked;
pub mod search;
pub mod signs;
pub mod spoken;
pub mod surface;
pub mod texts;
pub mod titles;
pub mod touched;
pub mod versions;
pub mod view;
pub mod watch;
pub mod who;
pub mod work;
pub mod workspace;
