//! A text as numbered lines, and how it becomes another: operations, differences, merges.
//!
//! Lines are what stands between line feeds; a carriage return belongs to its line. Whether the
//! text ends with a line feed is kept beside the lines, so that it comes out byte for byte as it
//! went in. Nothing here may depend on anything but its arguments: versions are made again from
//! their changes, and must come out the same.

mod diff;
mod merge;
mod ops;
mod pairs;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::Seq;
use crate::fragment::fragment_id;

pub(crate) use diff::is_coarse;
pub use diff::{Edit, diff, unified};
pub use merge::{Choice, Conflict, Merged, Side, merge};
pub use ops::{
    Change, Op, Piece, Wrong, apply, apply_to, fault, is_fragment, parse, piece, places, print,
};
pub use pairs::{Pair, Stretch, changed_words, pairs};

/// Where a line was written: the commit, and its number in that version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Origin {
    pub commit: Seq,
    pub line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// As it was brought: a fragment of a message often has the line feeds that follow it, and its
    /// name is made of them too.
    pub text: Arc<str>,
    pub origin: Origin,
}

impl Line {
    pub fn fragment(&self) -> String {
        fragment_id(&self.text)
    }

    /// What stands in the line.
    pub fn bare(&self) -> &str {
        bare(&self.text)
    }
}

/// A text without the line feeds at its end.
pub fn bare(text: &str) -> &str {
    text.trim_end_matches('\n')
}

/// A text at one commit, each line with where it came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Version {
    pub lines: Vec<Line>,
    /// Whether a line feed ends it.
    pub ended: bool,
}

impl Version {
    /// A text of which nobody knows who wrote which line.
    pub(crate) fn of(content: &str) -> Version {
        let (lines, ended) = split(content);
        let line = |text: &str| Line {
            text: text.into(),
            origin: Origin {
                commit: Seq::ZERO,
                line: 0,
            },
        };
        Version {
            lines: lines.into_iter().map(line).collect(),
            ended,
        }
    }

    pub fn content(&self) -> String {
        join(self.texts().into_iter(), self.ended)
    }

    /// About as many bytes as its content has.
    pub fn bytes(&self) -> usize {
        self.lines.iter().map(|line| line.text.len() + 1).sum()
    }

    pub fn texts(&self) -> Vec<&str> {
        self.lines.iter().map(Line::bare).collect()
    }
}

/// The lines of a text, and whether a line feed ends it. The empty text has none.
pub fn split(content: &str) -> (Vec<&str>, bool) {
    if content.is_empty() {
        return (Vec::new(), false);
    }
    match content.strip_suffix('\n') {
        Some(body) => (body.split('\n').collect(), true),
        None => (content.split('\n').collect(), false),
    }
}

fn join<'t>(lines: impl Iterator<Item = &'t str>, ended: bool) -> String {
    let mut content = String::new();
    let mut any = false;
    for line in lines {
        if any {
            content.push('\n');
        }
        content.push_str(line);
        any = true;
    }
    if any && ended {
        content.push('\n');
    }
    content
}

/// Whether a text of these lines ends with a line feed, when it is `wanted` to. A last line that is
/// empty would vanish without one, and where there is no line there is nothing to end.
fn settled(last: Option<&Line>, wanted: bool) -> bool {
    last.is_some_and(|last| wanted || last.bare().is_empty())
}
