//! What stands around a reference and belongs to it.
//!
//! The contract's four patterns say that there is a reference, and their matches stay what they
//! are. But `^a7f` in `item_<uuid>#^a7f` means a part of that message and no other, `goals:3` in
//! `goals:3-7` means five lines, and in `shop/goals:3` the artifact of another project.

use super::{Ref, Target, is_fragment_id, parse_references};
use crate::fragment::{Anchor, PartName, is_message};
use crate::id::parse_name;

/// Characters of the longest name that is looked for before a reference.
const LONGEST: usize = 160;

/// A reference with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wide {
    pub found: Ref,
    pub around: Around,
    /// What a person reads as one reference, in characters.
    pub whole: (usize, usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Around {
    Nothing,
    /// A fragment of the message that is named before it, or a range that begins there.
    Part(Anchor),
    /// Lines of an artifact.
    Lines(Lines),
}

/// What is said around `label:line`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lines {
    /// The artifact, where it is named `entity_<uuid>`.
    pub entity: Option<String>,
    /// What stands before a slash: the name of a project, if there is one of that name.
    pub project: Option<String>,
    /// The last line of a range.
    pub last: Option<i64>,
    /// The commit that is named after a range.
    pub commit: Option<String>,
}

/// All references of a text, as [`parse_references`] finds them, each with what belongs to it.
pub fn wide_references(content: &str) -> Vec<Wide> {
    let refs = parse_references(content);
    if refs.is_empty() {
        return Vec::new();
    }
    let text: Vec<char> = content.chars().collect();
    refs.into_iter().map(|found| widen(&text, found)).collect()
}

fn widen(text: &[char], found: Ref) -> Wide {
    let span = found.span;
    let wider = match &found.what {
        Target::Fragment(id) => part(text, span, id),
        Target::Line { line, .. } => lines(text, span, *line),
        Target::Log(_) | Target::Item(_) => None,
    };
    let (around, whole) = wider.unwrap_or((Around::Nothing, span));
    Wide {
        found,
        around,
        whole,
    }
}

/// `item_<uuid>#^a7f[.2][:^b2e[.2]]` around the fragment at a place, be it the first or the last.
fn part(text: &[char], (start, end): (usize, usize), id: &str) -> Option<(Around, (usize, usize))> {
    let before = start.checked_sub(1)?;
    let (own, stop) = with_nth(text, end, id);
    match text[before] {
        '#' => {
            let (item, begin) = message(text, before)?;
            let (last, stop) = match range_end(text, stop) {
                Some((last, past)) => (Some(last), past),
                None => (None, stop),
            };
            let anchor = Anchor {
                item,
                first: own,
                last,
            };
            Some((Around::Part(anchor), (begin, stop)))
        }
        ':' => {
            // The end of a range: of the same message.
            let from = back(text, before, |c| c != '#' && !c.is_whitespace());
            let first: String = text[from..before].iter().collect();
            PartName::parse(&first)?;
            let (item, _) = message(text, from.checked_sub(1)?)?;
            let anchor = Anchor {
                item,
                first: own,
                last: None,
            };
            Some((Around::Part(anchor), (start, stop)))
        }
        _ => None,
    }
}

/// The name of a message that ends before a `#`, and where it begins, its `@` included.
fn message(text: &[char], hash: usize) -> Option<(String, usize)> {
    if text.get(hash) != Some(&'#') {
        return None;
    }
    let from = back(text, hash, |c| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
    });
    let name: String = text[from..hash].iter().collect();
    let at = from.checked_sub(1).filter(|at| text[*at] == '@');
    is_message(&name).then(|| (name, at.unwrap_or(from)))
}

/// A part's id with the number that may follow it, and where that ends.
fn with_nth(text: &[char], end: usize, id: &str) -> (PartName, usize) {
    let plain = PartName {
        id: id.to_string(),
        nth: None,
    };
    if text.get(end) != Some(&'.') {
        return (plain, end);
    }
    let digits = text[end + 1..].iter().take(6);
    let count = digits.take_while(|c| c.is_ascii_digit()).count();
    let stop = end + 1 + count;
    let name: String = text[end..stop].iter().collect();
    match PartName::parse(&format!("{id}{name}")) {
        Some(named) => (named, stop),
        None => (plain, end),
    }
}

/// `:^b2e` at a place.
fn range_end(text: &[char], at: usize) -> Option<(PartName, usize)> {
    if text.get(at) != Some(&':') || text.get(at + 1) != Some(&'^') {
        return None;
    }
    let digits = text[at + 2..].iter().take(4);
    let count = digits
        .take_while(|c| c.is_ascii_digit() || c.is_ascii_lowercase())
        .count();
    let id: String = text[at + 1..at + 2 + count].iter().collect();
    is_fragment_id(&id).then(|| with_nth(text, at + 2 + count, &id))
}

/// What belongs to `label:line` at a place.
fn lines(
    text: &[char],
    (start, end): (usize, usize),
    first: Option<i64>,
) -> Option<(Around, (usize, usize))> {
    let mut around = Lines::default();
    let (mut begin, mut stop) = (start, end);
    match start.checked_sub(1).map(|before| text[before]) {
        Some('-') => {
            let from = back(text, start, |c| {
                c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
            });
            let label = text[start..end].iter().take_while(|c| **c != ':').count();
            let name: String = text[from..start + label].iter().collect();
            if name.starts_with("entity_") && parse_name(&name).is_some() {
                around.entity = Some(name);
                begin = from;
            }
        }
        Some('/') => {
            let from = back(text, start - 1, |c| {
                !c.is_whitespace() && !"()[]{}<>\"'`,;".contains(c)
            });
            let name: String = text[from..start - 1].iter().collect();
            if !name.is_empty() {
                around.project = Some(name);
                begin = from;
            }
        }
        _ => {}
    }
    if let Some((last, past)) = last_line(text, end).filter(|(last, _)| Some(*last) >= first) {
        around.last = Some(last);
        let (commit, past) = super::commit(text, past);
        around.commit = commit;
        stop = past;
    }
    (around != Lines::default()).then_some((Around::Lines(around), (begin, stop)))
}

/// `-7` at a place, where a line's number has just ended.
fn last_line(text: &[char], at: usize) -> Option<(i64, usize)> {
    if text.get(at) != Some(&'-') || !text.get(at.checked_sub(1)?)?.is_numeric() {
        return None;
    }
    let digits = text[at + 1..].iter().take_while(|c| c.is_ascii_digit());
    let past = at + 1 + digits.count();
    Some((
        super::number(text.get(at + 1..past).filter(|d| !d.is_empty())?)?,
        past,
    ))
}

/// Where a run of such characters begins that ends before `end`.
fn back(text: &[char], end: usize, is: impl Fn(char) -> bool) -> usize {
    let before = text[end.saturating_sub(LONGEST)..end].iter().rev();
    end - before.take_while(|c| is(**c)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEM: &str = "item_0192c0de-0000-7000-8000-000000000001";

    fn wholes(text: &str) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        let all = wide_references(text).into_iter();
        all.map(|one| chars[one.whole.0..one.whole.1].iter().collect())
            .collect()
    }

    #[test]
    fn an_anchor_names_its_message() {
        let text = format!("é see {ITEM}#^a7f and @{ITEM}#^2my.2.");
        let refs = wide_references(&text);
        let Around::Part(first) = &refs[0].around else {
            panic!("{refs:?}")
        };
        assert_eq!(
            (first.item.as_str(), first.first.id.as_str()),
            (ITEM, "^a7f")
        );
        let Around::Part(second) = &refs[1].around else {
            panic!("{refs:?}")
        };
        assert_eq!(second.first.nth, Some(2));
        assert_eq!(
            wholes(&text)[..2],
            [format!("{ITEM}#^a7f"), format!("@{ITEM}#^2my.2")]
        );
        assert_eq!(
            wide_references("#^a7f x#^a7f ^a7f.2")[0].around,
            Around::Nothing
        );
    }

    #[test]
    fn a_range_of_parts_is_one_reference() {
        let text = format!("{ITEM}#^a7f:^b2e.3 then");
        let refs = wide_references(&text);
        let Around::Part(range) = &refs[0].around else {
            panic!("{refs:?}")
        };
        assert_eq!(range.last.as_ref().unwrap().to_string(), "^b2e.3");
        let Around::Part(last) = &refs[1].around else {
            panic!("{refs:?}")
        };
        assert_eq!((last.item.as_str(), last.first.id.as_str()), (ITEM, "^b2e"));
        assert_eq!(wholes(&text)[0], format!("{ITEM}#^a7f:^b2e.3"));
    }

    #[test]
    fn ranges_of_lines_projects_and_entities() {
        let lines = |text: &str| match wide_references(text).remove(0).around {
            Around::Lines(lines) => lines,
            other => panic!("{other:?}"),
        };
        let range = lines("see goals:3-7@c4f2a1b.");
        assert_eq!(
            (range.last, range.commit.as_deref()),
            (Some(7), Some("c4f2a1b"))
        );
        assert_eq!(
            lines("(web-shop/goals:3)").project.as_deref(),
            Some("web-shop")
        );
        let entity = "entity_0192c0de-0000-7000-8000-000000000001";
        assert_eq!(
            lines(&format!("{entity}:3")).entity.as_deref(),
            Some(entity)
        );
        assert_eq!(
            wholes("see b/goals:3-7@c4f2a1b now"),
            ["b/goals:3-7@c4f2a1b", "@c4f2a1b"]
        );
        for plain in ["goals:3", "goals:7-3", "goals:3-x", "goals:3@c4f-7"] {
            assert_eq!(wide_references(plain)[0].around, Around::Nothing, "{plain}");
        }
    }

    #[test]
    fn hostile_text_is_read_in_bounded_steps() {
        for unit in ["#^abc", "^abc:", "a:1-", "a/", "/a:1", "-a:1", "^abc.1"] {
            wide_references(&unit.repeat(60_000));
        }
    }
}
