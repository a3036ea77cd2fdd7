//! The thread pages.
