//! Bodies: what people and agents write at length, with the little markdown that is shown as such.
//!
//! Paragraphs, lists, code, emphasis, quotes and links, and nothing else: no headings, tables, pictures
//! or markup. That is less than any renderer of markdown can be told to do, and each of its leaves goes
//! through the same three questions (is it a credential, is it a name, can it be seen), so it is written
//! here and not taken from elsewhere. Every part is a piece of the text itself, escaped by maud, in
//! elements that are named here; no text can become one.

use std::ops::Range;

use maud::{Markup, html};
use understory_model::secret;

use super::names::{Name, is_address, names};
use super::secrets::credential;
use super::{exact, segment, visible};
use crate::visit::Visit;

/// Signs of a body that are shown without being asked for.
const FOLD: usize = 1_200;
/// What is shown of a longer one.
const SHOWN: usize = 600;
/// Quotes and lists within each other.
const DEEPEST: usize = 4;
/// Emphasis within emphasis.
const MARKS: usize = 3;

/// What knows the addresses of things, and of which of them there are any.
pub trait Linker {
    fn go(&self, name: &str) -> String;
    /// Whether there is a document that these lines may be of.
    fn has_lines(&self, lines: &str) -> bool;
}

impl Linker for Visit<'_> {
    fn go(&self, name: &str) -> String {
        self.link(&format!("go/{}", segment(name)))
    }

    fn has_lines(&self, lines: &str) -> bool {
        self.has_label(lines)
    }
}

/// A body.
pub fn linked(linker: &impl Linker, text: &str) -> Markup {
    let chars = text.chars().count();
    let whole = words(linker, text);
    if chars <= FOLD {
        return whole;
    }
    let end = text
        .char_indices()
        .nth(SHOWN)
        .map_or(text.len(), |(at, _)| at);
    // Where a credential begins, the part that is shown ends.
    let secrets = secret::find(text);
    let cut = secrets
        .iter()
        .find(|one| one.span.start < end && end < one.span.end);
    let end = cut.map_or(end, |one| one.span.start);
    html! {
        details.fold {
            summary {
                span.shown dir="auto" { (super::told(&text[..end])) "…" }
                span.button { "Show all " (exact(chars)) " characters" }
            }
            (whole)
        }
    }
}

fn words(linker: &dyn Linker, text: &str) -> Markup {
    let secrets = secret::find(text).into_iter().map(|found| found.span);
    let words = Words {
        linker,
        text,
        secrets: secrets.collect(),
    };
    let lines: Vec<&str> = text.lines().collect();
    words.blocks(&lines, 0)
}

/// A text that is being shown.
struct Words<'w> {
    linker: &'w dyn Linker,
    text: &'w str,
    /// Where it holds what looks like credentials.
    secrets: Vec<Range<usize>>,
}

/// The part of a line in which a mark that was opened has to be closed, so that no line is read again
/// and again.
fn near(text: &str) -> &str {
    const NEAR: usize = 400;
    &text[..text.floor_char_boundary(NEAR)]
}

/// How a line begins a block.
enum Begins<'t> {
    Nothing,
    /// The sign and how often it stands there.
    Code(char, usize),
    Quote,
    /// Of a list with numbers or without, and its own words.
    Entry(bool, &'t str),
    Words,
}

fn begins(line: &str) -> Begins<'_> {
    let bare = line.trim_start();
    if bare.is_empty() {
        return Begins::Nothing;
    }
    for sign in ['`', '~'] {
        let count = bare.len() - bare.trim_start_matches(sign).len();
        if count >= 3 && !bare[count..].contains(sign) {
            return Begins::Code(sign, count);
        }
    }
    if bare.starts_with('>') {
        return Begins::Quote;
    }
    match entry(bare) {
        Some((numbered, words)) => Begins::Entry(numbered, words),
        None => Begins::Words,
    }
}

/// The words of an entry of a list, and whether it has a number.
fn entry(line: &str) -> Option<(bool, &str)> {
    let plain = ["- ", "* ", "+ "];
    if let Some(words) = plain.iter().find_map(|sign| line.strip_prefix(sign)) {
        return Some((false, words));
    }
    let count = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[count..];
    let words = rest
        .strip_prefix(". ")
        .or_else(|| rest.strip_prefix(") "))?;
    (1..=3).contains(&count).then_some((true, words))
}

impl<'w> Words<'w> {
    fn blocks(&self, lines: &[&'w str], depth: usize) -> Markup {
        let (mut at, mut shown) = (0, Vec::new());
        while at < lines.len() {
            let rest = &lines[at..];
            let (block, count) = match begins(rest[0]) {
                Begins::Nothing => (html! {}, 1),
                Begins::Code(sign, count) => self.code(rest, sign, count),
                Begins::Quote if depth < DEEPEST => self.quote(rest, depth),
                Begins::Entry(numbered, _) if depth < DEEPEST => self.list(rest, numbered, depth),
                Begins::Quote | Begins::Entry(..) | Begins::Words => self.paragraph(rest, depth),
            };
            shown.push(block);
            at += count.max(1);
        }
        html! { @for block in shown { (block) } }
    }

    /// Lines between fences, or to the end.
    fn code(&self, lines: &[&'w str], sign: char, count: usize) -> (Markup, usize) {
        let closes = |line: &&&str| {
            let bare = line.trim();
            bare.len() >= count && bare.chars().all(|c| c == sign)
        };
        let inside = lines[1..].iter().take_while(|line| !closes(line)).count();
        let shown = &lines[1..=inside];
        let block = html! {
            pre dir="ltr" { code {
                @for (at, line) in shown.iter().enumerate() { @if at > 0 { "\n" } (self.unmarked(line)) }
            } }
        };
        (block, inside + 2)
    }

    fn quote(&self, lines: &[&'w str], depth: usize) -> (Markup, usize) {
        let quoted = lines
            .iter()
            .map_while(|line| line.trim_start().strip_prefix('>'));
        let quoted: Vec<&str> = quoted
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        let count = quoted.len();
        (
            html! { blockquote dir="auto" { (self.blocks(&quoted, depth + 1)) } },
            count,
        )
    }

    fn list(&self, lines: &[&'w str], numbered: bool, depth: usize) -> (Markup, usize) {
        let indent = |line: &str| line.len() - line.trim_start().len();
        let own = indent(lines[0]);
        let mut entries: Vec<Vec<&'w str>> = Vec::new();
        let mut count = 0;
        for line in lines {
            match begins(line) {
                Begins::Entry(same, words) if indent(line) <= own + 1 => {
                    if same != numbered {
                        break;
                    }
                    entries.push(vec![words]);
                }
                Begins::Nothing => break,
                // What stands further in belongs to the entry before.
                _ if indent(line) > own + 1 => {
                    let inner = line.trim_start();
                    let nested = matches!(begins(line), Begins::Entry(..));
                    if let Some(last) = entries.last_mut() {
                        last.push(if nested { line } else { inner });
                    }
                }
                _ => break,
            }
            count += 1;
        }
        let shown = html! {
            @for lines in &entries { li dir="auto" { (self.of_entry(lines, depth)) } }
        };
        let list = match numbered {
            true => html! { ol { (shown) } },
            false => html! { ul { (shown) } },
        };
        (list, count)
    }

    /// An entry's own words, and what stands beneath them.
    fn of_entry(&self, lines: &[&'w str], depth: usize) -> Markup {
        html! {
            (self.line(lines[0], MARKS))
            @if lines.len() > 1 { (self.blocks(&lines[1..], depth + 1)) }
        }
    }

    fn paragraph(&self, lines: &[&'w str], depth: usize) -> (Markup, usize) {
        let goes_on = |line: &&&str| match begins(line) {
            Begins::Words => true,
            Begins::Quote | Begins::Entry(..) => depth >= DEEPEST,
            Begins::Nothing | Begins::Code(..) => false,
        };
        let count = 1 + lines[1..].iter().take_while(goes_on).count();
        let block = html! {
            p dir="auto" {
                @for (at, line) in lines[..count].iter().enumerate() {
                    @if at > 0 { br; }
                    (self.line(line.trim(), MARKS))
                }
            }
        };
        (block, count)
    }

    /// A line with its marks: code, emphasis, links.
    fn line(&self, line: &'w str, depth: usize) -> Markup {
        let mut shown = Vec::new();
        let (mut rest, mut plain) = (line, 0);
        let mut at = 0;
        while let Some(found) = rest[at..].find(['`', '*', '_', '[']) {
            at += found;
            match self
                .marked(rest, at, depth)
                .filter(|_| !self.in_secret(&rest[at..at + 1]))
            {
                Some((markup, end)) => {
                    shown.push(self.unmarked_named(&rest[plain..at]));
                    shown.push(markup);
                    rest = &rest[end..];
                    (at, plain) = (0, 0);
                }
                None => {
                    // A run of signs that opens nothing is passed over at once.
                    let sign = rest[at..].chars().next().unwrap_or_default();
                    at += rest[at..].len() - rest[at..].trim_start_matches(sign).len();
                }
            }
        }
        shown.push(self.unmarked_named(&rest[plain..]));
        html! { @for part in shown { (part) } }
    }

    /// What a sign opens at a place, and where it ends; nothing where it is only a sign.
    fn marked(&self, text: &'w str, at: usize, depth: usize) -> Option<(Markup, usize)> {
        let rest = &text[at..];
        let sign = rest.chars().next()?;
        let count = rest.len() - rest.trim_start_matches(sign).len();
        match sign {
            '`' => {
                let fence = &rest[..count];
                let end = near(&rest[count..]).find(fence).map(|end| count + end)?;
                let shown = match rest[count..end].trim() {
                    "" => return None,
                    shown => shown,
                };
                Some((self.code_or_name(shown), at + end + count))
            }
            '[' => self.link(rest).map(|(link, end)| (link, at + end)),
            _ if depth > 0 && count <= 2 => self.emphasis(text, at, (sign, count), depth),
            _ => None,
        }
    }

    fn code_or_name(&self, shown: &'w str) -> Markup {
        match names(shown).as_slice() {
            [(place, Name::Thing(_) | Name::Lines(_))] if *place == (0..shown.len()) => {
                self.unmarked_named(shown)
            }
            _ => html! { code dir="auto" { (self.unmarked(shown)) } },
        }
    }

    /// `**words**` or `*words*`; a sign between letters, as in `a_b`, is a sign.
    fn emphasis(
        &self,
        text: &'w str,
        at: usize,
        (sign, count): (char, usize),
        depth: usize,
    ) -> Option<(Markup, usize)> {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == sign) {
            return None;
        }
        let inside = near(&text[at + count..]);
        let fence = &text[at..at + count];
        let mut from = 0;
        let end = loop {
            let end = from + inside.get(from..)?.find(fence)?;
            let after = text[at + count + end + count..].chars().next();
            let touches = inside[..end].ends_with(|c: char| !c.is_whitespace() && c != sign);
            if end > 0 && touches && !after.is_some_and(|c| c.is_alphanumeric() || c == sign) {
                break end;
            }
            from = end + count;
        };
        let shown = &inside[..end];
        if shown.starts_with(char::is_whitespace) {
            return None;
        }
        let shown = self.line(shown, depth - 1);
        let markup = match count {
            2 => html! { strong { (shown) } },
            _ => html! { em { (shown) } },
        };
        Some((markup, at + count + end + count))
    }

    /// `[words](address)`: only to the web, and to things of our own.
    fn link(&self, text: &'w str) -> Option<(Markup, usize)> {
        let middle = near(text).find("](")?;
        let end = middle + near(&text[middle..]).find(')')?;
        let (shown, target) = (&text[1..middle], &text[middle + 2..end]);
        if shown.trim().is_empty() || shown.contains(['[', '`']) || self.in_secret(target) {
            return None;
        }
        let link = match names(target).as_slice() {
            [(place, Name::Address(_))] if *place == (0..target.len()) => {
                html! { a href=(target) rel="noreferrer noopener" { (self.unmarked(shown)) } }
            }
            [(place, Name::Thing(_) | Name::Lines(_))] if *place == (0..target.len()) => {
                html! { a href=(self.linker.go(target)) data-ref=(target) { (self.unmarked(shown)) } }
            }
            _ => return None,
        };
        Some((link, end + 1))
    }

    /// A piece without marks, with the names in it as links.
    fn unmarked_named(&self, piece: &'w str) -> Markup {
        self.by_secrets(piece, |piece| {
            let (mut shown, mut at) = (Vec::new(), 0);
            for (place, name) in names(piece) {
                let Some(link) = self.name(name) else {
                    continue;
                };
                shown.push(visible(&piece[at..place.start]));
                shown.push(link);
                at = place.end;
            }
            shown.push(visible(&piece[at..]));
            html! { @for part in shown { (part) } }
        })
    }

    /// A piece as it is.
    fn unmarked(&self, piece: &'w str) -> Markup {
        self.by_secrets(piece, visible)
    }

    fn name(&self, name: Name<'_>) -> Option<Markup> {
        Some(match name {
            Name::Address(to) if is_address(to) => {
                html! { a href=(to) rel="noreferrer noopener" { (visible(to)) } }
            }
            Name::Address(_) => return None,
            Name::Hash(hash) => html! { span.handle { (hash) } },
            Name::Lines(lines) if !self.linker.has_lines(lines) => return None,
            Name::Thing(name) | Name::Lines(name) => {
                html! { a.handle href=(self.linker.go(name)) data-ref=(name) { (name) } }
            }
        })
    }

    /// Where a piece of the text stands in it.
    fn place(&self, piece: &str) -> Range<usize> {
        let start = (piece.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        start..start + piece.len()
    }

    fn in_secret(&self, piece: &str) -> bool {
        let place = self.place(piece);
        self.secrets
            .iter()
            .any(|one| one.start < place.end && place.start < one.end)
    }

    /// Shows a piece: its credentials shortened, once each, and all else as it is told.
    fn by_secrets(&self, piece: &'w str, show: impl Fn(&'w str) -> Markup) -> Markup {
        if !self.in_secret(piece) {
            return show(piece);
        }
        let place = self.place(piece);
        let (mut at, mut shown) = (place.start, Vec::new());
        let within = |one: &&Range<usize>| one.start < place.end && place.start < one.end;
        for one in self.secrets.iter().filter(within) {
            if at < one.start {
                shown.push(show(&self.text[at..one.start]));
            }
            // One of several lines is shown where it begins.
            if one.start >= place.start {
                shown.push(credential(&self.text[one.clone()]));
            }
            at = one.end.min(place.end);
        }
        shown.push(show(&self.text[at..place.end]));
        html! { @for part in shown { (part) } }
    }
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
