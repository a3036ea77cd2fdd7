//! Quotations: what stands between quotation marks is not cut.

use super::Text;

/// Characters of the longest quotation that stays whole: a mark that nobody closed must not hold
/// the rest of its paragraph together.
const LONGEST: usize = 400;

/// The stretches that nothing is cut in, those of quotations added, in order.
pub(super) fn with_quotations(
    text: &Text,
    (start, end): (usize, usize),
    code: Vec<(usize, usize)>,
) -> Vec<(usize, usize)> {
    let mut spans = code.clone();
    let mut inside = code.iter().peekable();
    let mut open: Option<(usize, char)> = None;
    let mut at = start;
    while at < end {
        if let Some((_, past)) = inside.next_if(|span| span.0 <= at) {
            at = at.max(*past);
            continue;
        }
        let c = text.chars[at];
        match open {
            Some((from, _)) if at - from > LONGEST => open = None,
            Some((from, closing)) if c == closing && closes(text, at) => {
                spans.push((from, protected(text, (from, at), end)));
                open = None;
            }
            None => {
                open = closing_of(c)
                    .filter(|_| opens(text, start, at))
                    .map(|c| (at, c))
            }
            _ => {}
        }
        at += 1;
    }
    spans.sort_unstable();
    // A quotation around code holds it already.
    spans.dedup_by(|next, before| next.1 <= before.1);
    spans
}

/// The mark that closes what a mark opens.
fn closing_of(c: char) -> Option<char> {
    Some(match c {
        '"' => '"',
        '“' => '”',
        '„' => '“',
        '«' => '»',
        '»' => '«',
        '‹' => '›',
        '「' => '」',
        '『' => '』',
        _ => return None,
    })
}

/// A mark opens where a word could begin: `5"` opens nothing.
fn opens(text: &Text, start: usize, at: usize) -> bool {
    let before = at.checked_sub(1).filter(|before| *before >= start);
    let before = before.and_then(|before| text.at(before));
    text.chars[at] != '"' || before.is_none_or(|c| !c.is_alphanumeric())
}

/// A straight mark closes where a word could end.
fn closes(text: &Text, at: usize) -> bool {
    text.chars[at] != '"' || text.at(at + 1).is_none_or(|c| !c.is_alphanumeric())
}

/// How far nothing is cut: past the closing mark, unless a sentence ends with the quotation and
/// another begins after it; then its signs are left to tell.
fn protected(text: &Text, (from, closing): (usize, usize), end: usize) -> usize {
    let next = text.after_space(closing + 1, end);
    let goes_on = text.at(next).is_some_and(char::is_lowercase) && next < end;
    if goes_on {
        closing + 1
    } else {
        // Only what is quoted is looked at: a text of nothing but marks must not cost its square.
        let quoted = text.chars[from + 1..closing].iter().rev();
        closing - quoted.take_while(|c| !c.is_alphanumeric()).count()
    }
}
