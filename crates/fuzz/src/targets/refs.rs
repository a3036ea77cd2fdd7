//! References in texts, and names of lines and parts.

use understory_model::fragment::parse_anchor;
use understory_model::refs::{
    Around, Target as Named, parse_lines, parse_references, wide_references,
};
use understory_model::{id, lines};

use crate::target::{Outcome, Target, check, text};

pub struct Refs;

impl Target for Refs {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let content = text(input);
        let chars: Vec<char> = content.chars().collect();
        let refs = parse_references(&content);
        let mut way = String::new();
        let mut last: Option<(&str, usize)> = None;
        for found in &refs {
            let (start, end) = found.span;
            let kind = found.what.kind();
            check(start < end && end <= chars.len(), || {
                format!("{found:?} is out of place")
            })?;
            let follows = last.is_none_or(|(before, at)| before != kind || at <= start);
            check(follows, || {
                format!("{found:?} stands inside the one before it")
            })?;
            last = Some((kind, end));
            let alone: String = chars[start..end].iter().collect();
            let again = parse_references(&alone);
            let same = again.iter().any(|other| other.what == found.what);
            check(same, || {
                format!("{alone:?} alone is {again:?}, not {:?}", found.what)
            })?;
            fits(&found.what, &alone)?;
            way.push_str(&kind[..1]);
        }
        let wide = wide_references(&content);
        check(wide.len() == refs.len(), || {
            "some references were lost".into()
        })?;
        for (wide, found) in wide.iter().zip(&refs) {
            let inside = wide.whole.0 <= found.span.0
                && found.span.1 <= wide.whole.1
                && wide.whole.1 <= chars.len();
            check(wide.found == *found && inside, || {
                format!("{wide:?} is not around {found:?}")
            })?;
            way.push(match wide.around {
                Around::Nothing => '.',
                Around::Part(_) => 'P',
                Around::Lines(_) => 'L',
            });
        }
        names(&content)?;
        Ok(way.chars().take(24).collect())
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "^a7f",
            "^a7f.2",
            "goals_doc:15",
            "@c4f2a1b",
            "[old](uuid_",
            "uuid_0198c0de-0000-7000-8000-000000000001",
            "item_0198c0de-0000-7000-8000-000000000001#^a7f",
            "msg_12#^a7f:^b2e",
            "@item_1",
            "shop/goals:3-7",
            "entity_0198c0de-0000-7000-8000-000000000001:3",
            ":",
            "#",
            "^",
            "](",
            ")",
            "@",
            "-",
            "\u{661}",
        ]
    }
}

fn fits(what: &Named, alone: &str) -> Result<(), String> {
    let fits = match what {
        Named::Fragment(id) => alone == id && lines::is_fragment(id),
        Named::Line { label, line, .. } => {
            alone.starts_with(label.as_str()) && line.is_none_or(|line| line >= 0)
        }
        Named::Log(uuid) => alone.contains(uuid.as_str()) && uuid.starts_with("uuid_"),
        Named::Item(name) => alone.strip_prefix('@') == Some(name),
    };
    check(fits, || format!("{alone:?} was read as {what:?}"))
}

/// A text as one name.
fn names(content: &str) -> Result<(), String> {
    if let Some(name) = parse_lines(content) {
        check(
            name.first <= name.last && content.starts_with(name.label),
            || format!("{name:?}"),
        )?;
    }
    if let Some(anchor) = parse_anchor(content) {
        let last = anchor
            .last
            .as_ref()
            .map_or(String::new(), |last| format!(":{last}"));
        let written = format!("{}#{}{last}", anchor.item, anchor.first);
        check(written == content, || {
            format!("{content:?} is written as {written:?}")
        })?;
    }
    if let Some(piece) = lines::piece(content) {
        check(piece.to_string() == content, || {
            format!("{content:?} is written as {piece}")
        })?;
    }
    let _ = (id::parse_name(content), id::parse_message(content));
    Ok(())
}
