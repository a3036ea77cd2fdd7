//! What a screen means: whether the program waits for a line, works, or asks something.
//!
//! Pure: a profile, a screen and the modes of the terminal come in. Where the evidence for a prompt
//! is not complete, the answer is [`State::Unknown`].

use crate::profile::{Composer, Profile};
use crate::screen::{Row, Seen};

/// What the program does, as far as a delivery is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It waits for a line, and none is begun.
    Idle,
    /// It waits for a line, and something is written in it.
    Draft,
    Busy,
    /// A key would answer a question.
    Dialog,
    Unknown,
}

/// The terminal between us and the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tty {
    /// What reads the terminal is the program itself, not something that it started.
    pub foreground: bool,
    /// The terminal collects lines.
    pub canonical: bool,
    pub echo: bool,
}

/// What is on a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The text in the composer; `None` if the screen shows no composer.
    pub composer: Option<String>,
    dialog: bool,
    busy: bool,
    /// What shows an empty composer is there, or need not be.
    idle: bool,
}

/// Rows above the composer in which a program says that it works.
const NEAR: usize = 8;
/// The shortest line that frames a composer.
const RULE: usize = 10;

impl Reading {
    pub fn new(profile: &Profile, seen: &Seen, tty: Tty) -> Reading {
        match profile.composer {
            Composer::Marked { mark, rules } => marked(profile, seen, mark, rules),
            Composer::Cursor { ends } => at_cursor(profile, seen, tty, ends),
        }
    }

    /// What the program does.
    pub fn state(&self) -> State {
        let text = self.composer.as_deref();
        match text {
            _ if self.dialog => State::Dialog,
            Some(draft) if !draft.is_empty() => State::Draft,
            _ if self.busy => State::Busy,
            Some(_) if self.idle => State::Idle,
            _ => State::Unknown,
        }
    }

    pub fn busy(&self) -> bool {
        self.busy
    }
}

/// A program that takes its line after a mark.
fn marked(profile: &Profile, seen: &Seen, mark: char, rules: bool) -> Reading {
    let rows = &seen.rows;
    let found = (0..rows.len()).rev().find_map(|row| {
        let first = inner(&rows[row].text).strip_prefix(mark)?;
        let end = framed(rows, row, rules)?;
        Some((row, end, first.trim()))
    });
    let shown = |rows: &[Row], words: &[&str]| {
        rows.iter()
            .any(|row| words.iter().any(|word| row.text.contains(word)))
    };
    let title = seen.title.trim_start();
    let spins = title.starts_with(profile.busy_titles) && !profile.busy_titles.is_empty();
    let Some((start, end, first)) = found else {
        return Reading {
            composer: None,
            dialog: shown(rows, profile.dialogs) || choice(rows, mark),
            busy: spins || shown(rows, profile.busy),
            idle: false,
        };
    };
    let near = &rows[start.saturating_sub(NEAR)..];
    let above = &rows[start.saturating_sub(profile.above)..start];
    let idle = shown(&rows[end..], profile.idle) || shown(above, profile.idle);
    let hint =
        rows[start].dim || (idle && profile.placeholders.iter().any(|p| first.starts_with(p)));
    let more = rows[start + 1..end]
        .iter()
        .map(|row| inner(&row.text).trim());
    let text = if hint {
        String::new()
    } else {
        std::iter::once(first)
            .chain(more)
            .collect::<Vec<_>>()
            .join("\n")
    };
    Reading {
        composer: Some(text.trim().to_owned()),
        // The composer is where a dialog would be. Below it there is room for one more question.
        dialog: choice(&rows[start..], mark) || shown(&rows[end..], profile.dialogs),
        busy: spins || shown(near, profile.busy),
        idle,
    }
}

/// A row without the frame around it.
fn inner(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || "│┃|".contains(c))
}

fn is_rule(text: &str) -> bool {
    text.chars().filter(|c| "─━═▔▁".contains(*c)).count() >= RULE
}

/// The row after a composer that begins in `start`, if it is framed as it should be.
fn framed(rows: &[Row], start: usize, rules: bool) -> Option<usize> {
    let after = |is_end: fn(&str) -> bool| {
        let below = start + 1..rows.len();
        below.into_iter().find(|row| is_end(&rows[*row].text))
    };
    if !rules {
        return Some(after(|text| text.trim().is_empty()).unwrap_or(rows.len()));
    }
    let above = start.checked_sub(1)?;
    is_rule(&rows[above].text).then(|| after(is_rule))?
}

/// Whether one of several numbered answers is marked: `❯ 1. Yes`.
fn choice(rows: &[Row], mark: char) -> bool {
    rows.iter().any(|row| {
        let Some(rest) = inner(&row.text).strip_prefix(mark) else {
            return false;
        };
        let rest = rest.trim_start();
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        number.len() < rest.len() && number.starts_with(['.', ')'])
    })
}

/// A program that takes its line at the cursor, such as a shell.
fn at_cursor(profile: &Profile, seen: &Seen, tty: Tty, ends: &[char]) -> Reading {
    let before = seen.before_cursor.trim();
    // Whoever collects a line without showing it asks for a password.
    let secret = tty.canonical && !tty.echo;
    let asks = profile.dialogs.iter().any(|words| before.contains(words));
    // A lone `>` also is how shells ask for the rest of an unfinished command.
    let prompt = before.ends_with(ends) && before != ">";
    let free = seen.after_cursor.trim().is_empty() && !seen.alternate;
    Reading {
        composer: (prompt && free && tty.foreground).then(String::new),
        dialog: secret || asks,
        busy: !tty.foreground,
        idle: true,
    }
}

/// The end of a text, by which it is recognised on a screen that wraps and indents lines.
pub fn tail(text: &str) -> String {
    let squeezed = squeezed(text);
    let from = squeezed.char_indices().rev().nth(23);
    squeezed[from.map_or(0, |(at, _)| at)..].to_owned()
}

/// Letters and digits only: terminals disagree about the rest. A text without any is left as it is.
fn squeezed(text: &str) -> String {
    let letters: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
    if letters.is_empty() {
        text.chars().filter(|c| !c.is_whitespace()).collect()
    } else {
        letters
    }
}

/// How much of a text is on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Presence {
    /// It stands where the program takes its next line.
    in_composer: bool,
    /// How often it is anywhere on the screen.
    times: usize,
}

impl Presence {
    pub fn new(profile: &Profile, seen: &Seen, reading: &Reading, tail: &str) -> Presence {
        let all: Vec<&str> = seen.rows.iter().map(|row| inner(&row.text)).collect();
        let in_composer = match (&reading.composer, profile.composer) {
            (Some(text), Composer::Marked { .. }) => {
                squeezed(text).contains(tail) || profile.pasted.iter().any(|p| text.contains(p))
            }
            (None, Composer::Marked { .. }) => false,
            (_, Composer::Cursor { .. }) => {
                let above = all[..seen.cursor_row.min(all.len())].join("\n");
                squeezed(&format!("{above}\n{}", seen.before_cursor)).ends_with(tail)
            }
        };
        let times = squeezed(&all.join("\n")).matches(tail).count();
        Presence { in_composer, times }
    }

    /// It appeared, compared with the screen before.
    pub fn appeared(&self, before: &Presence) -> bool {
        self.in_composer || self.times > before.times
    }

    /// It is no longer where it was written.
    pub fn gone(&self, shown: &Presence) -> bool {
        if shown.in_composer {
            !self.in_composer
        } else {
            self.times < shown.times
        }
    }
}

#[cfg(test)]
mod tests;
