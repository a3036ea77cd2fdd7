//! Two texts with a common ancestor become one, line by line.
//!
//! A merge must never lose a change: where both sides changed the same lines differently it says so
//! and leaves the choice to the caller. Changes that only touch each other are both taken.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use super::diff::{Edit, Hunk, Source, edit, hunks};
use super::{Line, Origin, Version, bare, split};

/// What is to stand where both sides differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    Base,
    Ours,
    Theirs,
    Content(String),
}

/// One side of a conflict: lines `start..end` of its version, from 0, the last not included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    pub range: Range<usize>,
    pub lines: Vec<Arc<str>>,
}

/// Lines that both sides changed, each in its own way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Its number among all conflicts of this merge, from 0.
    pub index: usize,
    pub base: Side,
    pub ours: Side,
    pub theirs: Side,
}

/// What came of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// The operations that turn our side into the merged text, and whether a line feed ends it.
    Clean { edit: Edit, ended: bool },
    /// What no choice was given for.
    Open(Vec<Conflict>),
}

/// Merges two versions of a text, and tells how many conflicts it met. A choice for one that there
/// is not is ignored.
pub fn merge(
    base: &Version,
    ours: &Version,
    theirs: &Version,
    choices: &BTreeMap<usize, Choice>,
) -> (Merged, usize) {
    let sides = (ours, theirs);
    let texts = (base.texts(), ours.texts(), theirs.texts());
    let areas = areas(hunks(&texts.0, &texts.1), hunks(&texts.0, &texts.2));
    let mut built = Built::new(ours);
    let (mut open, mut found) = (Vec::new(), 0);
    for area in &areas {
        let same = || texts.1[area.ours.clone()] == texts.2[area.theirs.clone()];
        match (area.by_us, area.by_them) {
            (true, true) if !same() => {
                let index = found;
                found += 1;
                match choices.get(&index) {
                    Some(choice) => built.chosen(area, choice, base, theirs),
                    None => open.push(conflict(index, area, base, sides)),
                }
            }
            // What we changed, they too or not, stands in our version already.
            (true, _) => {}
            (false, _) => built.replace(&area.ours, &theirs.lines[area.theirs.clone()]),
        }
    }
    if !open.is_empty() {
        return (Merged::Open(open), found);
    }
    let ended = if ours.ended == base.ended {
        theirs.ended
    } else {
        ours.ended
    };
    let edit = edit(ours, &built.hunks, &[], |at| {
        let (text, origin) = &built.lines[at];
        Source::Text(text.clone(), *origin)
    });
    (Merged::Clean { edit, ended }, found)
}

/// A stretch of the base that one side changed or both, and what stands for it on either.
struct Area {
    base: Range<usize>,
    ours: Range<usize>,
    theirs: Range<usize>,
    by_us: bool,
    by_them: bool,
}

/// Brings the changes of both sides together where they meet.
fn areas(ours: Vec<Hunk>, theirs: Vec<Hunk>) -> Vec<Area> {
    let mut sides = [Walk::new(ours), Walk::new(theirs)];
    let mut areas = Vec::new();
    while let Some((first, hunk)) = take_first(&mut sides) {
        let mut base = hunk.old.clone();
        // The last hunk taken of each side: those before it end before it begins.
        let mut last: [Option<Hunk>; 2] = [None, None];
        last[first] = Some(hunk);
        while let Some(side) = (0..2).find(|side| {
            let next = sides[*side].hunks.front();
            let other = last[1 - side].as_ref();
            next.zip(other)
                .is_some_and(|(next, other)| meet(next, other))
        }) {
            if let Some(hunk) = sides[side].hunks.pop_front() {
                base.end = base.end.max(hunk.old.end);
                last[side] = Some(hunk);
            }
        }
        areas.push(Area {
            ours: sides[0].range(last[0].as_ref(), &base),
            theirs: sides[1].range(last[1].as_ref(), &base),
            base,
            by_us: last[0].is_some(),
            by_them: last[1].is_some(),
        });
    }
    areas
}

/// The hunk that comes first, and whose it is; ours, where they begin and end together.
fn take_first(sides: &mut [Walk; 2]) -> Option<(usize, Hunk)> {
    let place = |walk: &Walk| {
        let hunk = walk.hunks.front()?;
        Some((hunk.old.start, hunk.old.end))
    };
    let first = match (place(&sides[0]), place(&sides[1])) {
        (Some(ours), Some(theirs)) => usize::from(theirs < ours),
        (ours, _) => usize::from(ours.is_none()),
    };
    Some((first, sides[first].hunks.pop_front()?))
}

/// Whether two changes, one of each side, cannot both be taken. Neighbours can: each has its own
/// lines. Two that put something at one place cannot, for nobody said in which order.
fn meet(a: &Hunk, b: &Hunk) -> bool {
    let adds = |hunk: &Hunk| hunk.new.len() > hunk.old.len();
    let inside = a.old.start < b.old.end && b.old.start < a.old.end;
    let touch = a.old.start <= b.old.end && b.old.start <= a.old.end;
    let at_a_point = a.old.is_empty() || b.old.is_empty();
    inside || (touch && at_a_point && adds(a) && adds(b))
}

/// One side's hunks, in order, and how far its lines are shifted against the base's.
struct Walk {
    hunks: VecDeque<Hunk>,
    /// Lines of the base that are dealt with, and the lines of this side that stand for them.
    base: usize,
    side: usize,
}

impl Walk {
    fn new(hunks: Vec<Hunk>) -> Walk {
        Walk {
            hunks: hunks.into(),
            base: 0,
            side: 0,
        }
    }

    /// This side's lines for a stretch of the base; `last` is its last hunk in there.
    fn range(&mut self, last: Option<&Hunk>, base: &Range<usize>) -> Range<usize> {
        let start = self.side + (base.start - self.base);
        let end = match last {
            Some(last) => last.new.end + (base.end - last.old.end),
            None => start + base.len(),
        };
        (self.base, self.side) = (base.end, end);
        start..end
    }
}

fn conflict(
    index: usize,
    area: &Area,
    base: &Version,
    (ours, theirs): (&Version, &Version),
) -> Conflict {
    let side = |of: &Version, range: &Range<usize>| Side {
        range: range.clone(),
        lines: of.lines[range.clone()]
            .iter()
            .map(|line| line.bare().into())
            .collect(),
    };
    Conflict {
        index,
        base: side(base, &area.base),
        ours: side(ours, &area.ours),
        theirs: side(theirs, &area.theirs),
    }
}

/// The merged text as changes of our side.
struct Built<'m> {
    ours: &'m Version,
    hunks: Vec<Hunk>,
    /// The lines that the hunks bring, one after the other.
    lines: Vec<(Arc<str>, Option<Origin>)>,
}

impl<'m> Built<'m> {
    fn new(ours: &'m Version) -> Built<'m> {
        Built {
            ours,
            hunks: Vec::new(),
            lines: Vec::new(),
        }
    }

    fn chosen(&mut self, area: &Area, choice: &Choice, base: &Version, theirs: &Version) {
        match choice {
            Choice::Ours => {}
            Choice::Theirs => self.replace(&area.ours, &theirs.lines[area.theirs.clone()]),
            Choice::Base => self.replace(&area.ours, &base.lines[area.base.clone()]),
            Choice::Content(text) => {
                let lines = split(text).0.into_iter();
                self.put(&area.ours, lines.map(|line| (line.into(), None)).collect());
            }
        }
    }

    /// Puts lines of another version in place of ours.
    fn replace(&mut self, ours: &Range<usize>, lines: &[Line]) {
        let lines = lines.iter();
        let lines = lines.map(|line| (line.text.clone(), Some(line.origin)));
        self.put(ours, lines.collect());
    }

    /// Puts lines in place of ours; what is the same at either end stays ours.
    fn put(&mut self, ours: &Range<usize>, mut lines: Vec<(Arc<str>, Option<Origin>)>) {
        let there = &self.ours.lines[ours.clone()];
        let same = |(a, b): &(&Line, &(Arc<str>, Option<Origin>))| a.bare() == bare(&b.0);
        let lead = there.iter().zip(&lines).take_while(same).count();
        lines.drain(..lead);
        let there = &there[lead..];
        let tail = there.iter().rev().zip(lines.iter().rev());
        let tail = tail.take_while(same).count();
        lines.truncate(lines.len() - tail);
        let start = self.lines.len();
        self.lines.extend(lines);
        self.hunks.push(Hunk {
            old: ours.start + lead..ours.end - tail,
            new: start..self.lines.len(),
        });
    }
}
