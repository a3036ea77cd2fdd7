//! The managed terminal with real terminals: ours, tmux's and bash's.
#![cfg(unix)]

mod delivery;
mod end;
mod helpers;
mod shell;
mod transparent;
