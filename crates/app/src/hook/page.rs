//! A text of limited size: what is most important is written first, and what has no room is counted.

use understory_model::limits;

/// What the last lines need: what was left out, and the tools.
const TAIL: usize = 500;

/// A text that grows up to a size.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
    chars: usize,
    left_out: Vec<String>,
}

impl Page {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Characters that are left.
    pub fn room(&self) -> usize {
        (limits::HOOK_CHARS - TAIL).saturating_sub(self.chars)
    }

    /// Adds a line if there is room for it.
    pub fn line(&mut self, line: &str) -> bool {
        self.within(line, self.room())
    }

    /// Adds a line if it takes no more than so many characters.
    pub fn within(&mut self, line: &str, most: usize) -> bool {
        let chars = line.chars().count() + 1;
        if chars > most.min(self.room()) {
            return false;
        }
        self.add(line, chars);
        true
    }

    fn add(&mut self, line: &str, chars: usize) {
        self.text.push_str(line);
        self.text.push('\n');
        self.chars += chars;
    }

    /// Adds a heading and what belongs below it, within a share of the room; what has none is
    /// counted under this name.
    pub fn list(&mut self, heading: &str, lines: &[String], most: usize, name: &str) {
        let Some(first) = lines.first() else {
            return;
        };
        let least = heading.chars().count() + first.chars().count() + 2;
        let end = self.chars + most.min(self.room());
        if self.chars + least > end {
            return self.leave_out(lines.len(), name);
        }
        self.line(heading);
        for (at, line) in lines.iter().enumerate() {
            if !self.within(line, end.saturating_sub(self.chars)) {
                return self.leave_out(lines.len() - at, name);
            }
        }
    }

    /// Counts what had no room.
    pub fn leave_out(&mut self, count: usize, name: &str) {
        if count > 0 {
            self.left_out.push(format!("{count} {name}"));
        }
    }

    /// The whole text, with what was left out and one last line.
    pub fn end(mut self, last: &str) -> String {
        if !self.left_out.is_empty() {
            let left_out = format!("Left out here: {}.", self.left_out.join(", "));
            let chars = left_out.chars().count() + 1;
            self.add(&left_out, chars);
        }
        self.add(last, last.chars().count() + 1);
        self.text.truncate(self.text.trim_end().len());
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_never_longer_than_its_limit() {
        let mut page = Page::default();
        let lines: Vec<String> = (0..10_000).map(|n| format!("- line {n} of many")).collect();
        page.list("First:", &lines, 3_000, "lines of the first");
        page.list("Second:", &lines, usize::MAX, "lines of the second");
        page.list("Third:", &lines, usize::MAX, "lines of the third");
        let text = page.end("The end.");
        assert!(text.chars().count() <= limits::HOOK_CHARS);
        assert!(text.contains("Second:") && !text.contains("Third:"));
        assert!(text.contains("10000 lines of the third") && text.ends_with("The end."));
    }
}
