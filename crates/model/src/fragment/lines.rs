//! Blocks of a text: paragraphs, list items, headings, and code that stays whole.

use std::collections::HashMap;

use super::Text;

/// A line shorter than this was not broken because it was full.
const LEAST_WRAPPED: usize = 40;

/// A run of whole lines, from one character to before another.
pub(super) struct Block {
    pub start: usize,
    pub end: usize,
    /// Fenced code, the fences included.
    pub code: bool,
}

/// The blocks of a text, which together are all of it. Empty lines belong to what they follow.
pub(super) fn blocks(text: &Text) -> Vec<Block> {
    let lines = lines(text);
    let mut blocks: Vec<Block> = Vec::new();
    let mut fences = Fences::default();
    let mut at = 0;
    while let Some(&(start, end)) = lines.get(at) {
        if let Some(last) = fences.close(text, &lines, at) {
            let end = lines[last].1;
            blocks.push(Block {
                start,
                end,
                code: true,
            });
            at = last + 1;
            continue;
        }
        match blocks.last_mut() {
            Some(block) if is_blank(text, start, end) => block.end = end,
            Some(block) if !block.code && continues(text, block.end, start, end, &lines, at) => {
                block.end = end;
            }
            _ => blocks.push(Block {
                start,
                end,
                code: false,
            }),
        }
        at += 1;
    }
    lead(blocks, text)
}

/// White space before the first word belongs to it, as nothing comes before.
fn lead(mut blocks: Vec<Block>, text: &Text) -> Vec<Block> {
    if blocks.len() > 1 && is_blank(text, 0, blocks[0].end) {
        blocks[1].start = 0;
        blocks.remove(0);
    }
    blocks
}

fn lines(text: &Text) -> Vec<(usize, usize)> {
    let mut lines = Vec::new();
    let mut start = 0;
    for at in 0..text.len() {
        let ends = match text.chars[at] {
            '\n' | '\u{85}' | '\u{2028}' | '\u{2029}' => true,
            '\r' => text.at(at + 1) != Some('\n'),
            _ => false,
        };
        if ends {
            lines.push((start, at + 1));
            start = at + 1;
        }
    }
    if start < text.len() {
        lines.push((start, text.len()));
    }
    lines
}

fn is_blank(text: &Text, start: usize, end: usize) -> bool {
    text.weight(start, end) == 0
}

/// Whether a line goes on with the sentence of the line before: that one was full and left its
/// sentence open, and this one starts small and is not a list item, heading or quotation.
fn continues(
    text: &Text,
    block_end: usize,
    start: usize,
    end: usize,
    lines: &[(usize, usize)],
    at: usize,
) -> bool {
    let Some(&(before, before_end)) = at.checked_sub(1).and_then(|at| lines.get(at)) else {
        return false;
    };
    let words = before_end
        - text.chars[before..before_end]
            .iter()
            .rev()
            .take_while(|c| c.is_whitespace())
            .count();
    let open = words > before
        && words - before >= LEAST_WRAPPED
        && text.at(words - 1).is_some_and(|c| {
            c.is_alphanumeric() || matches!(c, ',' | '-' | '\'' | '’' | ')' | '`' | '"')
        });
    let first = text.after_space(start, end);
    let small = text.at(first).is_some_and(char::is_lowercase) && !is_item(text, first, end);
    open && small && block_end == start && !is_heading(text, before, before_end)
}

fn is_heading(text: &Text, start: usize, end: usize) -> bool {
    text.at(text.after_space(start, end)) == Some('#')
}

/// `a)` or `b.` at the start of a line.
fn is_item(text: &Text, first: usize, end: usize) -> bool {
    first + 2 < end
        && matches!(text.at(first + 1), Some('.' | ')'))
        && text.at(first + 2).is_some_and(char::is_whitespace)
}

/// Looks for the end of fenced code, and remembers what is not to be found below, so that a text
/// of nothing but opening fences is read once and not once a line.
#[derive(Default)]
struct Fences {
    hopeless: HashMap<char, usize>,
}

impl Fences {
    /// The line that closes the block which the line at `at` opens, if both are fences.
    fn close(&mut self, text: &Text, lines: &[(usize, usize)], at: usize) -> Option<usize> {
        let (sign, length, _) = fence(text, *lines.get(at)?)?;
        if self
            .hopeless
            .get(&sign)
            .is_some_and(|least| length >= *least)
        {
            return None;
        }
        let closes = |line: &(usize, usize)| {
            fence(text, *line)
                .is_some_and(|(other, count, bare)| other == sign && count >= length && bare)
        };
        let found = lines.iter().skip(at + 1).position(closes);
        if found.is_none() {
            self.hopeless.insert(sign, length);
        }
        found.map(|after| at + 1 + after)
    }
}

/// The sign of a fence, how many there are, and whether nothing follows them.
fn fence(text: &Text, (start, end): (usize, usize)) -> Option<(char, usize, bool)> {
    let first = text.after_space(start, end);
    let sign = text.at(first).filter(|c| matches!(c, '`' | '~'))?;
    let length = text.chars[first..end]
        .iter()
        .take_while(|c| **c == sign)
        .count();
    let rest = first + length;
    let info = &text.chars[rest..end];
    // `` `a` `` on one line is a span of code, not a fence.
    (length >= 3 && !info.contains(&'`')).then(|| (sign, length, is_blank(text, rest, end)))
}

/// Spans of code within a paragraph: from a run of backticks to the next of the same length.
/// In order, not overlapping.
pub(super) fn code_spans(text: &Text, start: usize, end: usize) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut at = start;
    while at < end {
        let length = text.chars[at..end]
            .iter()
            .take_while(|c| **c == '`')
            .count();
        if length > 0 {
            runs.push((at, length));
        }
        at += length.max(1);
    }
    let mut next: Vec<Option<usize>> = vec![None; runs.len()];
    let mut seen: HashMap<usize, usize> = HashMap::new();
    for (index, (_, length)) in runs.iter().enumerate().rev() {
        next[index] = seen.insert(*length, index);
    }
    let mut spans = Vec::new();
    let mut index = 0;
    while index < runs.len() {
        match next[index] {
            Some(close) => {
                spans.push((runs[index].0, runs[close].0 + runs[close].1));
                index = close + 1;
            }
            None => index += 1,
        }
    }
    spans
}
