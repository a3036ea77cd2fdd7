//! The artifact and why pages.
