//! How texts are cut into fragments.

use understory_model::fragment::{Cut, Fragment, cut, fragment_id};
use understory_model::limits;
use understory_model::{lines, passage, topics};

use crate::target::{Outcome, Target, check, text};

pub struct Fragments;

impl Target for Fragments {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let content = text(input);
        let joined = cut(&content, Cut::Joined);
        let whole: String = joined.iter().map(|piece| piece.content.as_str()).collect();
        check(whole == content, || {
            format!("put together the pieces are {whole:?}")
        })?;
        let trimmed = cut(&content, Cut::Trimmed);
        in_order(&content, &trimmed)?;
        for piece in joined.iter().chain(&trimmed) {
            let named = piece.id == fragment_id(&piece.content) && lines::is_fragment(&piece.id);
            check(named, || format!("{piece:?} has another id"))?;
        }
        check(
            joined.len() <= limits::FRAGMENTS && trimmed.len() <= limits::FRAGMENTS,
            || format!("{} and {} pieces", joined.len(), trimmed.len()),
        )?;
        let rows: Vec<&str> = content.lines().collect();
        for range in passage::passages(&rows) {
            check(range.start < range.end && range.end <= rows.len(), || {
                format!("{range:?}")
            })?;
        }
        let found = passage::by_words(&rows, "clock drifts", 3);
        let most = topics::topics([&*content], 5);
        check(found.len() <= 3 && most.len() <= 5, || {
            "more than was asked for".into()
        })?;
        Ok(format!(
            "{} {}",
            joined.len().min(40),
            trimmed.len().min(40)
        ))
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "```\n",
            "~~~",
            "`",
            "- ",
            "1. ",
            "# ",
            "> ",
            "Yes. ",
            "No! ",
            "e.g. ",
            "3.14",
            "; ",
            " — ",
            "\u{3002}",
            "\u{ff1f}",
            "\"",
            "\u{201c}",
            "\u{201d}",
            "\u{ab}",
            "(",
            ")",
            "https://a.b/c.",
            "\n\n",
            "    ",
            "Dr. ",
            "clock drifts",
        ]
    }
}

/// Each piece is what stands at its place, and they do not overlap.
fn in_order(content: &str, pieces: &[Fragment]) -> Result<(), String> {
    let chars: Vec<char> = content.chars().collect();
    let mut at = 0;
    for piece in pieces {
        let Some((start, end)) = piece.span else {
            return Err(format!("{piece:?} has no place"));
        };
        check(at <= start && start <= end && end <= chars.len(), || {
            format!("{piece:?} begins before {at} or ends after the text")
        })?;
        let between: String = chars[at..start].iter().collect();
        check(between.trim().is_empty(), || {
            format!("{between:?} is in no piece")
        })?;
        let there: String = chars[start..end].iter().collect();
        check(there == piece.content, || {
            format!("{there:?} stands where {piece:?} should")
        })?;
        at = end;
    }
    let rest: String = chars[at..].iter().collect();
    check(rest.trim().is_empty(), || {
        format!("{rest:?} is in no piece")
    })
}
