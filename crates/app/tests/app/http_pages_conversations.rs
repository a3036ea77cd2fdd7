//! The conversation pages.
