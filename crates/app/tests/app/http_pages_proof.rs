//! Proof and care.
