//! From one text to another: the operations that lead there, and the same for people to read.
//!
//! The operations are the fewest while that can be found in bounded work; beyond that they may be
//! more than needed, up to replacing every line, and lead to the same text all the same. No clock
//! decides, so one pair of texts has one answer.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use similar::Algorithm;
use similar::algorithms::{Capture, Replace, diff_slices};

use super::{Op, Origin, Piece, Version};
use crate::fragment::fragment_id;

/// Up to this many lines between the common beginning and end, the search is exact: its work
/// grows with their square.
const EXACT: usize = 4_000;

/// Above this many, all of them count as replaced: to search even for a good answer would take
/// seconds, and nobody reads a difference of that length. It is a number of lines and not a time,
/// so that one pair of texts has one answer on every machine.
pub(crate) const COARSE: usize = 50_000;

/// A stretch of the old lines and what stands for it in the new; one of the two may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hunk {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// Where two lists of lines differ, in order; two hunks never touch.
pub(super) fn hunks(old: &[&str], new: &[&str]) -> Vec<Hunk> {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[same..], &new[same..]);
    let tail = old.iter().rev().zip(new.iter().rev());
    let tail = tail.take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    if old.len() + new.len() > COARSE {
        return vec![Hunk {
            old: same..same + old.len(),
            new: same..same + new.len(),
        }];
    }
    let algorithm = if old.len() + new.len() <= EXACT {
        Algorithm::RawMyers
    } else {
        Algorithm::Myers
    };
    let (old, new) = numbered(old, new);
    let mut found = Replace::new(Capture::new());
    // Capturing cannot fail.
    let _ = diff_slices(algorithm, &mut found, &old, &new);
    let mut hunks: Vec<Hunk> = Vec::new();
    for op in found.into_inner().into_ops() {
        if op.tag() == similar::DiffTag::Equal {
            continue;
        }
        let shift = |range: Range<usize>| range.start + same..range.end + same;
        let (old, new) = (shift(op.old_range()), shift(op.new_range()));
        match hunks.last_mut() {
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            _ => hunks.push(Hunk { old, new }),
        }
    }
    hunks
}

/// Numbers in place of lines, so that comparing two costs nothing however long they are.
fn numbered<'t>(old: &[&'t str], new: &[&'t str]) -> (Vec<u32>, Vec<u32>) {
    let mut numbers: HashMap<&'t str, u32> = HashMap::new();
    let mut number = |line: &&'t str| {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry(line).or_insert(next)
    };
    let old = old.iter().map(&mut number).collect();
    (old, new.iter().map(number).collect())
}

/// Operations with the texts that they bring, and where those were written if not here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    pub ops: Vec<Op>,
    pub texts: Vec<Arc<str>>,
    pub origins: Vec<Option<Origin>>,
}

impl Edit {
    /// Whether a text comes from elsewhere.
    pub fn borrows(&self) -> bool {
        self.origins.iter().any(Option::is_some)
    }
}

/// A line of a new text, by what is known of it.
pub(super) enum Source {
    /// That line of the old text, moved here from another hunk.
    Moved(usize),
    Text(Arc<str>, Option<Origin>),
}

/// The operations that turn a version into other lines.
pub fn diff(old: &Version, new: &[&str]) -> Edit {
    let before = old.texts();
    let hunks = hunks(&before, new);
    let moves = moves(&before, new, &hunks);
    let taken: Vec<usize> = moves.values().copied().collect();
    edit(old, &hunks, &taken, |at| match moves.get(&at) {
        Some(line) => Source::Moved(*line),
        None => Source::Text(new[at].into(), None),
    })
}

/// The new lines that are old ones in another place, by their index. Only a line that left one
/// place and came to one other is told from a new line with an old text.
fn moves(old: &[&str], new: &[&str], hunks: &[Hunk]) -> HashMap<usize, usize> {
    #[derive(Default)]
    struct Seen {
        left: Vec<usize>,
        came: Vec<usize>,
    }
    let mut seen: HashMap<&str, Seen> = HashMap::new();
    for hunk in hunks {
        for at in hunk.old.clone() {
            seen.entry(old[at]).or_default().left.push(at);
        }
        for at in hunk.new.clone() {
            seen.entry(new[at]).or_default().came.push(at);
        }
    }
    let single = seen
        .into_iter()
        .filter(|(text, _)| !text.trim().is_empty())
        .filter_map(|(_, seen)| match (&seen.left[..], &seen.came[..]) {
            ([left], [came]) => Some((*came, *left)),
            _ => None,
        });
    single.collect()
}

/// The operations for the hunks: what leaves and what comes at one place pairs up, in order.
pub(super) fn edit(
    old: &Version,
    hunks: &[Hunk],
    taken: &[usize],
    source: impl Fn(usize) -> Source,
) -> Edit {
    let mut leaves = vec![true; old.lines.len()];
    for line in taken {
        leaves[*line] = false;
    }
    let mut edit = Edit::default();
    for hunk in hunks {
        let mut free = hunk.old.clone().filter(|at| leaves[*at]).peekable();
        for at in hunk.new.clone() {
            let here = free.peek().copied().unwrap_or(hunk.old.end);
            match source(at) {
                Source::Moved(line) => edit.ops.push(Op::Move {
                    line: line + 1,
                    to: here + 1,
                }),
                Source::Text(text, origin) => {
                    let piece = Piece::new(fragment_id(&text));
                    edit.ops.push(match free.next() {
                        Some(at) => Op::Replace {
                            at: at + 1,
                            from: old.lines[at].fragment(),
                            to: piece,
                        },
                        None => Op::Add {
                            at: here + 1,
                            piece,
                        },
                    });
                    edit.texts.push(text);
                    edit.origins.push(origin);
                }
            }
        }
        edit.ops.extend(free.map(|at| Op::Remove { at: at + 1 }));
    }
    edit
}

/// Lines around a change that are shown with it.
const CONTEXT: usize = 3;

/// Whether two texts differ in more lines than are compared one by one.
pub(crate) fn is_coarse(old: &str, new: &str) -> bool {
    // Every line has a byte at least.
    if old.len() + new.len() <= COARSE {
        return false;
    }
    let (old, new) = (super::split(old).0, super::split(new).0);
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = old[same..].iter().rev().zip(new[same..].iter().rev());
    let tail = tail.take_while(|(a, b)| a == b).count();
    old.len() + new.len() - 2 * (same + tail) > COARSE
}

/// Both texts side by side as `diff -u` shows them; empty when they are the same.
pub fn unified(old: &Version, new: &Version, names: (&str, &str)) -> String {
    let (before, after) = (marked(old), marked(new));
    let before: Vec<&str> = before.iter().map(|line| &**line).collect();
    let after: Vec<&str> = after.iter().map(|line| &**line).collect();
    let hunks = hunks(&before, &after);
    let mut out = String::new();
    if hunks.is_empty() {
        return out;
    }
    // Writing to a String cannot fail.
    let _ = writeln!(out, "--- {}\n+++ {}", names.0, names.1);
    let mut rest = hunks.as_slice();
    while !rest.is_empty() {
        let near = |pair: &[Hunk]| pair[1].old.start - pair[0].old.end <= 2 * CONTEXT;
        let group = 1 + rest.windows(2).take_while(|pair| near(pair)).count();
        write_group(&mut out, &rest[..group], (&before, &after));
        rest = &rest[group..];
    }
    out
}

/// The lines; a last one that no line feed ends is told from one that is ended.
fn marked(version: &Version) -> Vec<Cow<'_, str>> {
    let mut lines: Vec<Cow<'_, str>> = version.texts().into_iter().map(Cow::Borrowed).collect();
    if let Some(last) = lines.last_mut().filter(|_| !version.ended) {
        last.to_mut().push_str("\n\\ No newline at end of file");
    }
    lines
}

fn write_group(out: &mut String, group: &[Hunk], (old, new): (&[&str], &[&str])) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else {
        return;
    };
    let lead = first.old.start.min(CONTEXT);
    let tail = (old.len() - last.old.end).min(CONTEXT);
    let from = first.old.start - lead..last.old.end + tail;
    let to = first.new.start - lead..last.new.end + tail;
    let _ = writeln!(out, "@@ -{} +{} @@", span(&from), span(&to));
    let mut write = |sign: char, lines: &[&str]| {
        for line in lines {
            let _ = writeln!(out, "{sign}{line}");
        }
    };
    let mut at = from.start;
    for hunk in group {
        write(' ', &old[at..hunk.old.start]);
        write('-', &old[hunk.old.clone()]);
        write('+', &new[hunk.new.clone()]);
        at = hunk.old.end;
    }
    write(' ', &old[at..from.end]);
}

fn span(range: &Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        count => format!("{},{count}", range.start + 1),
    }
}
