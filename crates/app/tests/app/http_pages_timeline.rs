//! The timeline page.
