//! Texts on their way out: what a terminal gets, what is quoted, cut, searched and marked.

use understory_model::text::{
    borne, check_text, cut, fold, grams, printable, query_words, quoted, searchable, slug, snippet,
    unaccented, words,
};
use understory_model::{Time, name, nearest, shell};

use crate::target::{Outcome, Target, check, check_fault, text};

pub struct Texts;

impl Target for Texts {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let content = text(input);
        let shown = printable(&content);
        check(is_harmless(&shown, true), || {
            format!("{shown:?} reaches a terminal")
        })?;
        check(printable(&shown) == shown, || {
            format!("{shown:?} is shown otherwise again")
        })?;
        let named = quoted(&content);
        check(
            is_harmless(&named, false) && named.chars().count() <= 800,
            || format!("{named:?} stands in a sentence"),
        )?;
        for most in [1, 7, 60] {
            let line = cut(&content, most);
            let fits = line.chars().count() <= most && !line.contains('\n');
            check(fits, || {
                format!("{line:?} is longer than {most} or has lines")
            })?;
        }
        let folded = fold(&content);
        check(fold(&folded) == folded, || {
            format!("{content:?} folds to {folded:?}, and on")
        })?;
        let _ = (
            grams(&folded),
            searchable(&content),
            unaccented(&content),
            shell::line([&*content]),
        );
        let asked = query_words(&content);
        let marked = snippet(&content, &asked, 80);
        check(!marked.chars().any(char::is_control), || {
            format!("{marked:?} has controls")
        })?;
        check(borne(&content, &asked).len() == asked.len(), || {
            "words were lost".into()
        })?;
        let id = slug(&content);
        check(
            !id.contains(char::is_whitespace) && !id.starts_with('-'),
            || format!("{id:?}"),
        )?;
        let way = checked(&content)?;
        Ok(format!(
            "{way} {} {}",
            words(&content).len().min(9),
            shown.len() == content.len()
        ))
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "\u{1b}]0;x\u{7}",
            "\u{9b}31m",
            "\u{85}",
            "\u{7f}",
            "\u{2066}",
            "\u{202d}",
            "2026-02-17",
            "T12:00:00Z",
            "2026-02-17T12:00:00+14:00",
            "-009999-01-01T00:00:00Z",
            "naïve",
            "ﬁ",
            "İ",
            "Σς",
            "'\\''",
            "$(x)",
        ]
    }
}

/// Nothing that a terminal would obey.
fn is_harmless(text: &str, lines: bool) -> bool {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let kept = |c: char| lines && matches!(c, '\n' | '\t');
    !text
        .chars()
        .any(|c| turns(c) && lines || c.is_control() && !kept(c))
}

/// What is refused is refused well, and what is accepted reads the same again.
fn checked(content: &str) -> Outcome {
    let mut way = String::new();
    if let Err(fault) = check_text("field", content, 64, false) {
        check_fault(&fault)?;
        way.push('t');
    }
    match Time::parse("at", content) {
        Ok(time) => {
            let written = time.to_string();
            check(Time::parse("at", &written) == Ok(time), || {
                format!("{content:?} is {written}")
            })?;
            way.push('T');
        }
        Err(fault) => check_fault(&fault)?,
    }
    if name::is_name(content) {
        check(quoted(content) == content, || {
            format!("{content:?} is a name and quoted")
        })?;
        way.push('n');
    }
    let near = nearest::nearest(content, ["graph_plan", "graph_next", ""], 2);
    check(near.len() <= 2, || format!("{near:?}"))?;
    Ok(way)
}
