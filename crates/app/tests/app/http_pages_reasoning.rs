//! The reasoning page.
