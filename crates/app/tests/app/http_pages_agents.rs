//! Following and retracing agents.
