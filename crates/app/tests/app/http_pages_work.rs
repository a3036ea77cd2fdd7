//! The work pages.
