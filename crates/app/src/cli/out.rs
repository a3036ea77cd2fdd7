//! Standard output, and the only way to it: one place decides on colours and width, and a reader
//! that has gone away (`| head`) ends the output, not the command with an error.

use std::cell::RefCell;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;
use understory_model::answer::json_of;
use understory_model::text::{is_unseen, printable};
use understory_model::{Code, Fault};

use super::table::Table;
use super::text::Text;

/// How results are shown.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct Look {
    /// Print compact JSON, for scripts
    #[arg(long, global = true)]
    pub json: bool,
    /// When to use colours; NO_COLOR and CLICOLOR_FORCE are respected
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: When,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    #[default]
    Auto,
    Always,
    Never,
}

/// Whether to colour a stream: the flag, then the two conventions, then what the stream is.
pub fn coloured(when: When, terminal: bool, var: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name| var(name).filter(|value| !value.is_empty());
    let is_zero = |value: &String| value == "0";
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto if set("NO_COLOR").is_some() => false,
        When::Auto if set("CLICOLOR_FORCE").is_some_and(|value| !is_zero(&value)) => true,
        When::Auto if set("CLICOLOR").is_some_and(|value| is_zero(&value)) => false,
        When::Auto => terminal && set("TERM").is_some_and(|term| term != "dumb"),
    }
}

/// An environment variable as text; one that is not text says nothing here.
pub fn var(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Standard output.
pub struct Out {
    pub json: bool,
    colour: bool,
    terminal: bool,
    /// The terminal's columns; none where the output is not seen by a person.
    width: Option<usize>,
    stream: RefCell<Stream>,
}

struct Stream {
    to: BufWriter<Stdout>,
    failed: Option<io::Error>,
}

impl Out {
    pub fn new(look: &Look) -> Out {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        let size = terminal
            .then(|| terminal_size::terminal_size_of(&stdout))
            .flatten();
        Out {
            json: look.json,
            colour: coloured(look.color, terminal, var),
            terminal,
            width: size.map(|(columns, _)| usize::from(columns.0)),
            stream: RefCell::new(Stream {
                to: BufWriter::new(stdout),
                failed: None,
            }),
        }
    }

    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// Bytes as they are: for what is not made of anybody's text.
    pub fn bytes(&self, bytes: &[u8]) {
        let mut stream = self.stream.borrow_mut();
        if stream.failed.is_none() {
            stream.failed = stream.to.write_all(bytes).err();
        }
    }

    /// Anybody's text, byte for byte; at a terminal without what gives it orders.
    pub fn text(&self, text: &str) {
        if self.terminal {
            self.bytes(printable(text).as_bytes())
        } else {
            self.bytes(text.as_bytes())
        }
    }

    /// A line, broken between words where the terminal is too narrow for it.
    pub fn line(&self, text: impl Into<Text>) {
        self.hanging(text.into(), 0);
    }

    /// A line that is cut where the terminal ends.
    pub fn cut(&self, text: Text) {
        self.written(&match self.width {
            Some(width) => text.fit(width),
            None => text,
        });
    }

    /// A line whose continuation begins `hang` columns in.
    pub fn hanging(&self, text: Text, hang: usize) {
        match self.width {
            Some(width) => {
                let lines = text.wrap(width, hang);
                lines.iter().for_each(|line| self.written(line));
            }
            None => self.written(&text),
        }
    }

    /// A line as it is, for what may be copied.
    pub fn written(&self, text: &Text) {
        self.bytes(text.rendered(self.colour).trim_end().as_bytes());
        self.bytes(b"\n");
    }

    /// A line of advice, less important than the rest.
    pub fn hint(&self, text: impl AsRef<str>) {
        self.line(Text::new().dim(text));
    }

    pub fn blank(&self) {
        self.bytes(b"\n");
    }

    pub fn table(&self, table: Table) {
        self.indented_table(table, 0);
    }

    pub fn indented_table(&self, table: Table, indent: usize) {
        let most = self.width.map(|width| width.saturating_sub(indent));
        for line in table.lines(most) {
            self.written(&Text::from(" ".repeat(indent)).then(line));
        }
    }

    /// Values beside their names; one without a name belongs to the one before it.
    pub fn fields(&self, indent: usize, fields: Vec<(String, Text)>) {
        let names = fields.iter().map(|(name, _)| Text::from(name.as_str()));
        let width = names.map(|name| name.width()).max().unwrap_or(0).min(24);
        let mut before = String::new();
        for (name, value) in fields {
            // A name stands once for a run of its values.
            let shown = if name == before { "" } else { &name };
            let shown = Text::new().dim(shown);
            let pad = width.saturating_sub(shown.width()) + 2;
            let start = Text::from(" ".repeat(indent)).then(shown);
            let hang = indent + width + 2;
            self.hanging(start.plain(" ".repeat(pad)).then(value), hang);
            before = name;
        }
    }

    /// An answer as compact JSON on one line.
    pub fn answer(&self, answer: &impl Serialize) -> Result<(), Fault> {
        self.value(&json_of(answer)?);
        Ok(())
    }

    /// Compact JSON on one line.
    pub fn value(&self, value: &Value) {
        self.bytes(harmless(&value.to_string()).as_bytes());
        self.bytes(b"\n");
    }

    /// Lets what was written so far be seen.
    pub fn flush(&self) {
        let mut stream = self.stream.borrow_mut();
        if stream.failed.is_none() {
            stream.failed = stream.to.flush().err();
        }
    }

    /// Whether nobody reads any more.
    pub fn is_over(&self) -> bool {
        self.stream.borrow().failed.is_some()
    }

    /// Ends the output; says what went wrong with it. A closed pipe is not an error.
    pub fn finish(&self) -> Result<(), Fault> {
        self.flush();
        match &self.stream.borrow().failed {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Fault::new(
                Code::Internal,
                format!("standard output cannot be written: {error}"),
            )),
            _ => Ok(()),
        }
    }
}

/// JSON leaves some characters as they are that a terminal takes for orders, that turn the writing
/// direction, or that nobody sees; escaped, they are the same values.
pub fn harmless(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for letter in json.chars() {
        if !is_unseen(letter) {
            out.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_the_conventions() {
        let with = |set: &'static [(&str, &str)]| {
            move |name: &str| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            }
        };
        let term = with(&[("TERM", "xterm")]);
        assert!(coloured(When::Auto, true, term));
        assert!(!coloured(When::Auto, false, term));
        assert!(!coloured(When::Auto, true, with(&[("TERM", "dumb")])));
        let none = with(&[("TERM", "xterm"), ("NO_COLOR", "1")]);
        assert!(!coloured(When::Auto, true, none));
        assert!(coloured(When::Always, false, none));
        let empty = with(&[("TERM", "xterm"), ("NO_COLOR", "")]);
        assert!(coloured(When::Auto, true, empty));
        assert!(coloured(
            When::Auto,
            false,
            with(&[("CLICOLOR_FORCE", "1")])
        ));
        assert!(!coloured(
            When::Auto,
            false,
            with(&[("CLICOLOR_FORCE", "0")])
        ));
        let both = with(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]);
        assert!(!coloured(When::Auto, true, both));
        assert!(!coloured(
            When::Never,
            true,
            with(&[("CLICOLOR_FORCE", "1")])
        ));
        assert!(!coloured(
            When::Auto,
            true,
            with(&[("TERM", "xterm"), ("CLICOLOR", "0")])
        ));
    }

    #[test]
    fn harmless_json_is_the_same_value() {
        let value = Value::from("a\u{9b}31m\u{7f}\u{202e}ü\x1b");
        let text = harmless(&value.to_string());
        assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
