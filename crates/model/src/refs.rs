//! References that stand in a text: what `parse_references` of the contract finds, found alike.
//!
//! The contract is four Python regular expressions. They are scanned by hand here, each in one
//! pass, so that no text of a caller can make a match slow; `tests/vectors` holds what Python
//! itself finds. Nothing is resolved here: whether a reference points anywhere is the engine's.

mod around;

pub use around::{Around, Lines, Wide, wide_references};

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// One reference and where it stands, in characters: the first, and one past the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ref {
    pub what: Target,
    pub span: (usize, usize),
}

/// What a reference names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// `^a7f`, the caret included.
    Fragment(String),
    /// `label:line[@commit]`; `line` is `None` when no artifact could have this many.
    Line {
        label: String,
        line: Option<i64>,
        commit: Option<String>,
    },
    /// `[text](uuid_…)`, with its prefix.
    Log(String),
    /// `@name`, without the sign.
    Item(String),
}

impl Target {
    /// The `type` that the contract gives it.
    pub fn kind(&self) -> &'static str {
        match self {
            Target::Fragment(_) => "fragment",
            Target::Line { .. } => "artifact_line",
            Target::Log(_) => "conversation_log",
            Target::Item(_) => "item",
        }
    }
}

/// All references of a text: fragments, then artifact lines, then logs, then items, each in the
/// order in which they stand. One stretch of text may be several of them.
pub fn parse_references(content: &str) -> Vec<Ref> {
    // Most texts have none of the signs that every reference needs.
    if !content.contains(['^', ':', '(', '@']) {
        return Vec::new();
    }
    let text: Vec<char> = content.chars().collect();
    let mut refs = Vec::new();
    fragments(&text, &mut refs);
    lines(&text, &mut refs);
    logs(&text, &mut refs);
    items(&text, &mut refs);
    refs
}

/// Lines of an artifact by their name: `label:3`, `label:3-7`, either with `@commit`; the label may
/// be `entity_<uuid>` or that of another project, `project/label`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinesName<'n> {
    pub label: &'n str,
    pub first: i64,
    pub last: i64,
    pub commit: Option<&'n str>,
}

/// Reads the name of a line or a range of lines; `None` for anything else.
pub fn parse_lines(name: &str) -> Option<LinesName<'_>> {
    let (label, rest) = name.rsplit_once(':')?;
    let (lines, commit) = match rest.split_once('@') {
        Some((lines, commit)) => (lines, Some(commit)),
        None => (rest, None),
    };
    let number = |digits: &str| {
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse::<i64>().ok())?
    };
    let (first, last) = match lines.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(lines)?, number(lines)?),
    };
    (!label.is_empty() && first <= last).then_some(LinesName {
        label,
        first,
        last,
        commit,
    })
}

/// Whether a text is a fragment's id and nothing else.
pub fn is_fragment_id(text: &str) -> bool {
    text.strip_prefix('^')
        .is_some_and(|hash| matches!(hash.len(), 3 | 4) && hash.chars().all(is_base36))
}

/// `\^[a-z0-9]{3,4}`
fn fragments(text: &[char], refs: &mut Vec<Ref>) {
    let mut at = 0;
    while at < text.len() {
        let end = if text[at] == '^' {
            run(text, at + 1, is_base36).min(at + 5)
        } else {
            at
        };
        if end < at + 4 {
            at += 1;
            continue;
        }
        push(
            refs,
            Target::Fragment(text[at..end].iter().collect()),
            at,
            end,
        );
        at = end;
    }
}

/// `([\w_]+):(\d+)(?:@([a-f0-9]+))?`
fn lines(text: &[char], refs: &mut Vec<Ref>) {
    let mut at = 0;
    while at < text.len() {
        let colon = run(text, at, is_word);
        if colon == at {
            at += 1;
            continue;
        }
        let digits = colon + 1;
        let end = match text.get(colon) {
            Some(':') => run(text, digits, is_digit),
            _ => colon,
        };
        if end <= digits {
            // A shorter label would end at the same sign: no match starts within this run.
            at = colon;
            continue;
        }
        let (commit, stop) = commit(text, end);
        let target = Target::Line {
            label: text[at..colon].iter().collect(),
            line: number(&text[digits..end]),
            commit,
        };
        push(refs, target, at, stop);
        at = stop;
    }
}

fn commit(text: &[char], at: usize) -> (Option<String>, usize) {
    if text.get(at) != Some(&'@') {
        return (None, at);
    }
    let end = run(text, at + 1, |c| matches!(c, 'a'..='f' | '0'..='9'));
    if end == at + 1 {
        return (None, at);
    }
    (Some(text[at + 1..end].iter().collect()), end)
}

/// `\[.*?\]\((uuid_[\w-]+)\)`
fn logs(text: &[char], refs: &mut Vec<Ref>) {
    // The leftmost bracket of a line takes the first address that follows on it, whatever else
    // opens or closes between them; so one bracket is remembered, and no text is read twice.
    let mut open = None;
    let mut at = 0;
    while at < text.len() {
        match (text[at], open) {
            ('\n', _) => open = None,
            ('[', None) => open = Some(at),
            (']', Some(start)) => {
                if let Some((uuid, end)) = address(text, at + 1) {
                    push(refs, Target::Log(uuid), start, end);
                    open = None;
                    at = end;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
}

fn address(text: &[char], at: usize) -> Option<(String, usize)> {
    let opening: [char; 6] = ['(', 'u', 'u', 'i', 'd', '_'];
    let rest = at + opening.len();
    if text.get(at..rest)? != opening {
        return None;
    }
    let end = run(text, rest, |c| is_word(c) || c == '-');
    (end > rest && text.get(end) == Some(&')'))
        .then(|| (text[at + 1..end].iter().collect(), end + 1))
}

/// `@([a-z0-9_-]+)`
fn items(text: &[char], refs: &mut Vec<Ref>) {
    let mut at = 0;
    while at < text.len() {
        let end = match text[at] {
            '@' => run(text, at + 1, |c| is_base36(c) || matches!(c, '_' | '-')),
            _ => at,
        };
        if end <= at + 1 {
            at += 1;
            continue;
        }
        push(
            refs,
            Target::Item(text[at + 1..end].iter().collect()),
            at,
            end,
        );
        at = end;
    }
}

fn push(refs: &mut Vec<Ref>, what: Target, start: usize, end: usize) {
    refs.push(Ref {
        what,
        span: (start, end),
    });
}

/// Where a run of such characters that starts at `at` ends.
fn run(text: &[char], at: usize, is: impl Fn(char) -> bool) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|c| is(**c)).count()
}

fn is_base36(c: char) -> bool {
    matches!(c, 'a'..='z' | '0'..='9')
}

/// Python's `\w`: letters and numbers of any script, and the underscore. `char::is_alphanumeric`
/// says yes to vowel signs too, and would read other labels.
fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    matches!(
        c.general_category_group(),
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number
    )
}

/// Python's `\d`: decimal digits of any script.
fn is_digit(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_digit();
    }
    c.general_category() == GeneralCategory::DecimalNumber
}

/// The number that such digits spell, as Python's `int` reads them.
fn number(digits: &[char]) -> Option<i64> {
    digits.iter().try_fold(0_i64, |sum, digit| {
        sum.checked_mul(10)?.checked_add(value(*digit))
    })
}

/// Unicode keeps every script's ten digits together and in order, so a digit's value is its
/// distance from where they begin; the mathematical ones are five such tens in a row.
fn value(digit: char) -> i64 {
    if let Some(plain) = digit.to_digit(10) {
        return i64::from(plain);
    }
    let code = u32::from(digit);
    let before = (1..=code)
        .take_while(|back| char::from_u32(code - back).is_some_and(is_digit))
        .count();
    i64::try_from(before % 10).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str) -> Vec<(&'static str, usize, usize)> {
        parse_references(text)
            .iter()
            .map(|found| (found.what.kind(), found.span.0, found.span.1))
            .collect()
    }

    #[test]
    fn each_pattern_in_its_order() {
        let text = "@item_1 see [old](uuid_ab-1) and goals_doc:15@c4f2a1b, ^k3m";
        let refs = parse_references(text);
        let kinds: Vec<_> = refs.iter().map(|found| found.what.kind()).collect();
        assert_eq!(
            kinds,
            [
                "fragment",
                "artifact_line",
                "conversation_log",
                "item",
                "item"
            ]
        );
        assert_eq!(
            refs[1].what,
            Target::Line {
                label: "goals_doc".into(),
                line: Some(15),
                commit: Some("c4f2a1b".into())
            }
        );
        assert_eq!(refs[2].what, Target::Log("uuid_ab-1".into()));
    }

    #[test]
    fn spans_count_characters() {
        assert_eq!(spans("😀é ^a7f"), [("fragment", 3, 7)]);
        assert_eq!(spans("目标:٣"), [("artifact_line", 0, 4)]);
    }

    #[test]
    fn a_line_no_artifact_has_is_kept_without_number() {
        let refs = parse_references("a:99999999999999999999");
        assert!(matches!(refs[0].what, Target::Line { line: None, .. }));
        let refs = parse_references("a:9223372036854775807");
        assert!(matches!(
            refs[0].what,
            Target::Line {
                line: Some(i64::MAX),
                ..
            }
        ));
    }

    #[test]
    fn names_of_lines() {
        let range = parse_lines("b/goals:3-7@c4f2a1b").unwrap();
        assert_eq!((range.label, range.first, range.last), ("b/goals", 3, 7));
        assert_eq!(range.commit, Some("c4f2a1b"));
        assert_eq!(parse_lines("goals:3").unwrap().last, 3);
        for bad in [
            "goals",
            "goals:",
            ":3",
            "goals:7-3",
            "goals:-3",
            "goals:3-",
            "goals:+3",
        ] {
            assert_eq!(parse_lines(bad), None, "{bad}");
        }
    }

    #[test]
    fn hostile_text_takes_one_pass() {
        for unit in ["[", "](uuid_", "[](uuid_a", "a:", "^", "@", "a", "^ab"] {
            parse_references(&unit.repeat(300_000));
        }
    }
}
