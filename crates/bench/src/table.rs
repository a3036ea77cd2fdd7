//! The table: what was measured, what it is held against, and whether it is good enough.

use std::fmt::Write as _;
use std::io::Write as _;

/// Where a ratio should be.
#[derive(Debug, Clone, Copy)]
pub enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// Told, not judged.
    Told,
}

/// One line of the table.
pub struct Line {
    pub what: String,
    pub ours: String,
    pub limit: String,
    pub ratio: f64,
    pub target: Target,
    /// What the ratio and the target count in; `×` unless it is an amount.
    pub unit: &'static str,
}

impl Line {
    pub fn new(what: impl Into<String>, ours: String, limit: String, ratio: f64) -> Line {
        Line {
            what: what.into(),
            ours,
            limit,
            ratio,
            target: Target::Told,
            unit: "×",
        }
    }

    /// Two times, in seconds.
    pub fn times(what: impl Into<String>, ours: f64, limit: f64) -> Line {
        Line::new(what, time(ours), time(limit), ours / limit)
    }

    /// Two rates, in calls a second.
    pub fn rates(what: impl Into<String>, ours: f64, limit: f64) -> Line {
        Line::new(what, rate(ours), rate(limit), ours / limit)
    }

    pub fn at_most(mut self, most: f64) -> Line {
        self.target = Target::AtMost(most);
        self
    }

    pub fn at_least(mut self, least: f64) -> Line {
        self.target = Target::AtLeast(least);
        self
    }

    pub fn in_unit(mut self, unit: &'static str) -> Line {
        self.unit = unit;
        self
    }

    fn verdict(&self) -> &'static str {
        match self.target {
            Target::AtMost(most) if self.ratio <= most => "ok",
            Target::AtLeast(least) if self.ratio >= least => "ok",
            Target::Told => "",
            _ => "**MISSED**",
        }
    }

    fn cells(&self) -> [String; 6] {
        let Line { ratio, unit, .. } = self;
        let target = match self.target {
            Target::AtMost(most) => format!("≤ {most}{unit}"),
            Target::AtLeast(least) => format!("≥ {least}{unit}"),
            Target::Told => String::new(),
        };
        let ratio = if ratio.is_nan() {
            String::new()
        } else if *ratio >= 100.0 {
            format!("{ratio:.0}{unit}")
        } else {
            format!("{ratio:.2}{unit}")
        };
        let (what, ours, limit) = (self.what.clone(), self.ours.clone(), self.limit.clone());
        [what, ours, limit, ratio, target, self.verdict().to_string()]
    }
}

pub fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.0} µs", s * 1e6),
    }
}

pub fn rate(per_second: f64) -> String {
    format!("{per_second:.0}/s")
}

pub fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// The table as people and Markdown read it.
pub fn render(lines: &[Line]) -> String {
    let head = ["", "Understory", "limit", "ratio", "target", ""].map(String::from);
    let cells: Vec<[String; 6]> = std::iter::once(head)
        .chain(lines.iter().map(Line::cells))
        .collect();
    let widths: Vec<usize> = (0..6)
        .map(|at| {
            cells
                .iter()
                .map(|row| row[at].chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for (number, row) in cells.iter().enumerate() {
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(text, "| {cell:<width$} ");
        }
        text.push_str("|\n");
        if number == 0 {
            for width in &widths {
                let _ = write!(text, "|{}", "-".repeat(width + 2));
            }
            text.push_str("|\n");
        }
    }
    text
}

/// Says what goes on, beside the table.
pub fn tell(text: impl AsRef<str>) {
    let _ = writeln!(std::io::stderr(), "{}", text.as_ref());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_judged_by_its_target() {
        let line = || Line::times("write", 0.003, 0.001);
        assert_eq!(line().at_most(3.5).verdict(), "ok");
        assert_eq!(line().at_most(2.5).verdict(), "**MISSED**");
        assert_eq!(line().at_least(2.5).verdict(), "ok");
        assert_eq!(line().verdict(), "");
        let missing = Line::times("nothing", f64::NAN, 1.0).at_most(9.0);
        assert_eq!(missing.verdict(), "**MISSED**");
    }

    #[test]
    fn the_table_is_markdown() {
        let text = render(&[Line::times("write", 0.000_3, 0.000_1).at_most(1.5)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[1].starts_with("|---"));
        assert!(lines[2].contains("| 300 µs") && lines[2].contains("≤ 1.5×"));
    }
}
