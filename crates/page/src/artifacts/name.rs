//! The name of a document in an address, with what of it is meant: `goals`, `goals@14`, `goals@10..14`,
//! `goals:3`, `goals:3-5@14`.

use std::ops::RangeInclusive;

use crate::text::segment;

/// A document, versions and lines of it, as an address names them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Name {
    pub label: String,
    /// The version, by its number or by how its commit begins.
    pub version: Option<String>,
    /// The later version that it is compared with.
    pub with: Option<String>,
    /// Lines, from 1.
    pub lines: Option<RangeInclusive<usize>>,
}

impl Name {
    pub fn parse(text: &str) -> Name {
        let (rest, first) = lines_of(text);
        let (label, version) = match rest.rsplit_once('@') {
            Some((label, version)) if !label.is_empty() => (label, Some(version)),
            _ => (rest, None),
        };
        // Lines stand before the version, too.
        let (label, second) = match first {
            Some(_) => (label, None),
            None => lines_of(label),
        };
        let (version, with) = match version.map(|version| version.split_once("..")) {
            Some(Some((from, to))) => (Some(from), Some(to)),
            _ => (version, None),
        };
        Name {
            label: label.to_owned(),
            version: version.map(str::to_owned),
            with: with.map(str::to_owned),
            lines: first.or(second),
        }
    }

    /// The place of its page.
    pub fn place(&self) -> String {
        let mut name = self.label.clone();
        if let Some(lines) = &self.lines {
            name.push_str(&lines_told(lines));
        }
        if let Some(version) = &self.version {
            name.push('@');
            name.push_str(version);
        }
        if let Some(with) = &self.with {
            name.push_str("..");
            name.push_str(with);
        }
        format!("artifacts/{}", segment(&name))
    }

    pub fn at(&self, version: Option<usize>) -> Name {
        Name {
            version: version.map(|version| version.to_string()),
            with: None,
            ..self.clone()
        }
    }

    pub fn compared(&self, from: usize, to: usize) -> Name {
        Name {
            version: Some(from.to_string()),
            with: Some(to.to_string()),
            lines: None,
            label: self.label.clone(),
        }
    }

    pub fn line(&self, lines: Option<RangeInclusive<usize>>) -> Name {
        Name {
            lines,
            ..self.clone()
        }
    }
}

/// As references say it: `:3`, `:3-5`.
pub fn lines_told(lines: &RangeInclusive<usize>) -> String {
    match (lines.start(), lines.end()) {
        (first, last) if first == last => format!(":{first}"),
        (first, last) => format!(":{first}-{last}"),
    }
}

fn lines_of(text: &str) -> (&str, Option<RangeInclusive<usize>>) {
    let Some((label, lines)) = text.rsplit_once(':') else {
        return (text, None);
    };
    let number = |text: &str| text.parse::<usize>().ok().filter(|n| *n > 0);
    let range = match lines.split_once('-') {
        Some((first, last)) => number(first).zip(number(last)),
        None => number(lines).map(|line| (line, line)),
    };
    match range {
        Some((first, last)) if first <= last && !label.is_empty() => (label, Some(first..=last)),
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_address_names() {
        let told = |text: &str| {
            let name = Name::parse(text);
            (name.label, name.version, name.with, name.lines)
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(told("goals"), ("goals".into(), None, None, None));
        assert_eq!(told("goals@14"), ("goals".into(), some("14"), None, None));
        assert_eq!(
            told("goals@10..14"),
            ("goals".into(), some("10"), some("14"), None)
        );
        assert_eq!(told("goals:3"), ("goals".into(), None, None, Some(3..=3)));
        let lines = ("goals".into(), some("b85c2b2"), None, Some(3..=5));
        assert_eq!(told("goals:3-5@b85c2b2"), lines);
        assert_eq!(told("goals@b85c2b2:3-5"), lines);
        assert_eq!(told("a:0").0, "a:0");
        for name in ["goals", "goals:3-5@14", "goals@10..14"] {
            let place = Name::parse(name).place();
            let back = crate::text::unescaped(place.strip_prefix("artifacts/").unwrap());
            assert_eq!(back, name);
        }
    }
}
