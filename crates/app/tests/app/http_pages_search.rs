//! Search, palette and completion.
