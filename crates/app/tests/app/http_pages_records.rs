//! The record pages.
