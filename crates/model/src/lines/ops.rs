//! Operations on lines: `+15:^a7f -23 ~18:^b2e→^c3d >12@30`, read, written and carried out.
//!
//! Every number is a line of the version before, whatever the operations to the left did. What they
//! put at one place stands there in their order.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::sync::Arc;

use serde_json::json;

use super::{Line, Origin, Version, bare, settled};
use crate::Seq;
use crate::error::{Fault, Result};
use crate::fragment::PartName;
use crate::text::quoted;

/// A fragment as an operation names it: `^a7f`, or of one item alone `item_<uuid>#^a7f`; the second
/// of that id in the item is `item_<uuid>#^a7f.2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub of: Option<String>,
    pub id: String,
    pub nth: Option<usize>,
}

impl Piece {
    pub fn new(id: String) -> Piece {
        Piece {
            of: None,
            id,
            nth: None,
        }
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.of {
            Some(item) => write!(f, "{item}#{}", self.id)?,
            None => f.write_str(&self.id)?,
        }
        match self.nth {
            Some(nth) => write!(f, ".{nth}"),
            None => Ok(()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// A new line before line `at`; one past the last appends.
    Add {
        at: usize,
        piece: Piece,
    },
    Remove {
        at: usize,
    },
    /// Another text for line `at`, which has the fragment `from`.
    Replace {
        at: usize,
        from: String,
        to: Piece,
    },
    /// Line `line` goes before line `to`; one past the last is the end.
    Move {
        line: usize,
        to: usize,
    },
}

impl Op {
    /// The fragment that it brings.
    pub fn brings(&self) -> Option<&Piece> {
        match self {
            Op::Add { piece, .. } => Some(piece),
            Op::Replace { to, .. } => Some(to),
            Op::Remove { .. } | Op::Move { .. } => None,
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Add { at, piece } => write!(f, "+{at}:{piece}"),
            Op::Remove { at } => write!(f, "-{at}"),
            Op::Replace { at, from, to } => write!(f, "~{at}:{from}→{to}"),
            Op::Move { line, to } => write!(f, ">{line}@{to}"),
        }
    }
}

/// The operations as one text, a space between two.
pub fn print(ops: &[Op]) -> String {
    let mut text = String::new();
    for op in ops {
        if !text.is_empty() {
            text.push(' ');
        }
        // Writing to a String cannot fail.
        let _ = write!(text, "{op}");
    }
    text
}

/// An operation that cannot be carried out, by its place in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub op: usize,
    pub problem: String,
}

/// The refusal of one operation of a text, saying which and where.
pub fn fault(text: &str, wrong: &Wrong) -> Fault {
    let found = tokens(text).nth(wrong.op);
    let (at, token) = found.unwrap_or_else(|| (text.chars().count(), ""));
    let shown: String = token.chars().take(80).collect();
    let (number, problem) = (wrong.op + 1, &wrong.problem);
    Fault::invalid(
        "ops",
        format!(
            "operation {number} {} at character {at}: {problem}",
            quoted(&shown)
        ),
    )
    .details(json!({ "op": number, "text": shown, "at": at }))
    .hint("Operations are +15:^a7f, -23, ~18:^b2e→^c3d and >12@30, with the parent's line numbers.")
}

/// The words of a text with their places, in characters.
fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut chars = 0;
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(|c: char| !c.is_whitespace())?;
        chars += rest[..start].chars().count();
        rest = &rest[start..];
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (token, after) = rest.split_at(end);
        let at = chars;
        chars += token.chars().count();
        rest = after;
        Some((at, token))
    })
}

pub fn parse(text: &str) -> Result<Vec<Op>> {
    tokens(text)
        .enumerate()
        .map(|(op, (_, token))| {
            one(token).map_err(|problem| {
                let problem = problem.to_string();
                fault(text, &Wrong { op, problem })
            })
        })
        .collect()
}

fn one(token: &str) -> std::result::Result<Op, &'static str> {
    let mut rest = token.chars();
    let sign = rest.next();
    let rest = rest.as_str();
    match sign {
        Some('+') => {
            let (at, name) = rest.split_once(':').ok_or("has no `:` and fragment")?;
            Ok(Op::Add {
                at: number(at)?,
                piece: piece(name).ok_or(NO_FRAGMENT)?,
            })
        }
        Some('-') => Ok(Op::Remove { at: number(rest)? }),
        Some('~') => {
            let (at, names) = rest.split_once(':').ok_or("has no `:` and fragments")?;
            let (from, to) = names
                .split_once('→')
                .or_else(|| names.split_once("->"))
                .ok_or("has no `→` between its two fragments")?;
            if !is_fragment(from) {
                return Err(NO_FRAGMENT);
            }
            Ok(Op::Replace {
                at: number(at)?,
                from: from.to_string(),
                to: piece(to).ok_or(NO_FRAGMENT)?,
            })
        }
        Some('>') => {
            let (line, to) = rest.split_once('@').ok_or("has no `@` and place")?;
            Ok(Op::Move {
                line: number(line)?,
                to: number(to)?,
            })
        }
        _ => Err("must begin with +, -, ~ or >"),
    }
}

const NO_FRAGMENT: &str = "has something else where a fragment like ^a7f belongs";

fn number(digits: &str) -> std::result::Result<usize, &'static str> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("has something else where a line number belongs");
    }
    match digits.parse() {
        Ok(0) => Err("names line 0; the first is 1"),
        Ok(number) => Ok(number),
        Err(_) => Err("names a line that no text has"),
    }
}

/// Whether a text has the form `^a7f`.
pub fn is_fragment(text: &str) -> bool {
    let digits = text.strip_prefix('^').unwrap_or_default();
    let fits = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase();
    (3..=4).contains(&digits.len()) && digits.bytes().all(fits)
}

/// Reads `^a7f`, `<item>#^a7f` or `<item>#^a7f.2`.
pub fn piece(text: &str) -> Option<Piece> {
    let (of, part) = match text.split_once('#') {
        Some((of, part)) => (Some(of), PartName::parse(part)?),
        None if is_fragment(text) => (None, PartName::parse(text)?),
        None => return None,
    };
    let named = |of: &str| {
        !of.is_empty()
            && of
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    of.is_none_or(named).then(|| Piece {
        of: of.map(str::to_string),
        id: part.id,
        nth: part.nth,
    })
}

/// What a commit does to the version before it.
#[derive(Debug, Clone, Copy)]
pub struct Change<'c> {
    /// The commit's place in the log.
    pub commit: Seq,
    pub ops: &'c [Op],
    /// The texts that the operations bring, in their order.
    pub texts: &'c [Arc<str>],
    /// Where those texts were written, if not in this commit: what a merge brings from the other
    /// side. Shorter than `texts`, it says nothing about the rest.
    pub origins: &'c [Option<Origin>],
    /// Whether the text is to end with a line feed.
    pub ended: bool,
}

/// What stands at a place: a new text or a line from elsewhere.
enum Put {
    Text(usize),
    Line(usize),
}

/// What the operations do, by place.
#[derive(Default)]
struct Plan {
    /// By parent's line, from 0: whether it leaves its place.
    leaves: Vec<bool>,
    replaced: HashMap<usize, usize>,
    put: Vec<(usize, Put)>,
}

/// The version after a commit.
pub fn apply(parent: &Version, change: &Change<'_>) -> std::result::Result<Version, Wrong> {
    let plan = plan(parent, change)?;
    Ok(carry_out(parent.clone(), change, &plan))
}

/// As [`apply`], of a version that nobody needs any more: what stays is not copied.
pub fn apply_to(parent: Version, change: &Change<'_>) -> std::result::Result<Version, Wrong> {
    let plan = plan(&parent, change)?;
    Ok(carry_out(parent, change, &plan))
}

/// The line that each text becomes, in the order in which the operations bring them. It follows
/// from the operations alone.
pub fn places(ops: &[Op]) -> Vec<usize> {
    /// What an operation puts at a place.
    enum Puts {
        Text(usize),
        Line(usize),
    }
    let (mut leaves, mut puts, mut replaced) = (Vec::new(), Vec::new(), HashMap::new());
    let mut texts = 0;
    for op in ops {
        match op {
            Op::Add { at, .. } => {
                puts.push((*at, Puts::Text(texts)));
                texts += 1;
            }
            Op::Replace { at, .. } => {
                replaced.insert(*at, texts);
                texts += 1;
            }
            Op::Remove { at } => leaves.push(*at),
            Op::Move { line, to } => {
                leaves.push(*line);
                puts.push((*to, Puts::Line(*line)));
            }
        }
    }
    leaves.sort_unstable();
    puts.sort_by_key(|(at, _)| *at);
    let left_before = |line: usize| leaves.partition_point(|left| *left < line);
    let mut lines = vec![0; texts];
    for (before, (at, put)) in puts.iter().enumerate() {
        let line = at.saturating_sub(left_before(*at)) + before;
        match put {
            Puts::Text(text) => lines[*text] = line,
            Puts::Line(from) => {
                if let Some(text) = replaced.remove(from) {
                    lines[text] = line;
                }
            }
        }
    }
    for (at, text) in replaced {
        let put = puts.partition_point(|(place, _)| *place <= at);
        lines[text] = at.saturating_sub(left_before(at)) + put;
    }
    lines
}

fn carry_out(parent: Version, change: &Change<'_>, plan: &Plan) -> Version {
    let new = |text: usize, line: usize| {
        let here = Origin {
            commit: change.commit,
            line,
        };
        let elsewhere = change.origins.get(text).copied().flatten();
        change.texts.get(text).map(|text| Line {
            text: text.clone(),
            origin: elsewhere.unwrap_or(here),
        })
    };
    let mut lines = parent.lines;
    if plan.put.is_empty() && !plan.leaves.contains(&true) {
        for (at, text) in &plan.replaced {
            if let (Some(line), Some(new)) = (lines.get_mut(*at), new(*text, at + 1)) {
                *line = new;
            }
        }
    } else {
        lines = rearranged(lines, plan, new);
    }
    let ended = settled(lines.last(), change.ended);
    Version { lines, ended }
}

/// The lines in their new places; each old one is taken once.
fn rearranged(
    old: Vec<Line>,
    plan: &Plan,
    new: impl Fn(usize, usize) -> Option<Line>,
) -> Vec<Line> {
    let count = old.len();
    let mut old: Vec<Option<Line>> = old.into_iter().map(Some).collect();
    let mut lines: Vec<Line> = Vec::with_capacity(count + plan.put.len());
    let mut kept = |at: usize, line: usize| match plan.replaced.get(&at) {
        Some(text) => new(*text, line),
        None => old.get_mut(at).and_then(Option::take),
    };
    let mut puts = plan.put.iter().peekable();
    for at in 0..=count {
        while let Some((_, put)) = puts.next_if(|(place, _)| *place == at) {
            let line = lines.len() + 1;
            lines.extend(match put {
                Put::Text(text) => new(*text, line),
                Put::Line(from) => kept(*from, line),
            });
        }
        if plan.leaves.get(at) == Some(&false) {
            let line = lines.len() + 1;
            lines.extend(kept(at, line));
        }
    }
    lines
}

/// Checks every operation and sorts them by place.
fn plan(parent: &Version, change: &Change<'_>) -> std::result::Result<Plan, Wrong> {
    let count = parent.lines.len();
    let mut plan = Plan {
        leaves: vec![false; count],
        ..Plan::default()
    };
    let (mut gone, mut moved) = (vec![false; count], vec![false; count]);
    let mut texts = 0;
    for (at, op) in change.ops.iter().enumerate() {
        let wrong = |problem: String| Wrong { op: at, problem };
        if op.brings().is_some() {
            let text = change.texts.get(texts);
            let text = text.ok_or_else(|| wrong("has no text".into()))?;
            if bare(text).contains('\n') {
                return Err(wrong("brings more than one line".into()));
            }
            texts += 1;
        }
        match op {
            Op::Add { at, .. } => {
                let place = place(*at, count).map_err(wrong)?;
                plan.put.push((place, Put::Text(texts - 1)));
            }
            Op::Remove { at } => {
                let line = known(*at, count).map_err(wrong)?;
                if gone[line] || plan.replaced.contains_key(&line) {
                    return Err(wrong(format!("line {at} is removed or replaced already")));
                }
                if moved[line] {
                    return Err(wrong(format!("line {at} moves and cannot be removed")));
                }
                (gone[line], plan.leaves[line]) = (true, true);
            }
            Op::Replace { at, from, .. } => {
                let line = known(*at, count).map_err(wrong)?;
                if gone[line] || plan.replaced.contains_key(&line) {
                    return Err(wrong(format!("line {at} is removed or replaced already")));
                }
                let is = parent.lines[line].fragment();
                if is != *from {
                    return Err(wrong(format!("line {at} is {is}, not {from}")));
                }
                plan.replaced.insert(line, texts - 1);
            }
            Op::Move { line: from, to } => {
                let line = known(*from, count).map_err(wrong)?;
                let place = place(*to, count).map_err(wrong)?;
                if gone[line] {
                    return Err(wrong(format!("line {from} is removed and cannot move")));
                }
                if moved[line] {
                    return Err(wrong(format!("line {from} moves already")));
                }
                (moved[line], plan.leaves[line]) = (true, true);
                plan.put.push((place, Put::Line(line)));
            }
        }
    }
    // Stable: what goes to one place keeps its order.
    plan.put.sort_by_key(|(place, _)| *place);
    Ok(plan)
}

/// The index of a line that is there.
fn known(line: usize, count: usize) -> std::result::Result<usize, String> {
    if line <= count {
        Ok(line.saturating_sub(1))
    } else {
        Err(format!("there is no line {line}; the parent has {count}"))
    }
}

/// The index of a place: before a line, or after the last.
fn place(line: usize, count: usize) -> std::result::Result<usize, String> {
    if line <= count + 1 {
        Ok(line.saturating_sub(1))
    } else {
        Err(format!(
            "line {line} is beyond the end; the parent has {count}, and {} appends",
            count + 1
        ))
    }
}
