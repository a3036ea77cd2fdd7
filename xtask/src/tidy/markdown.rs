//! Rules about the pages: decisions are numbered without gaps, links lead somewhere, and a test
//! that a page names exists.

use super::{Files, Violation};

const DECISIONS: &str = "docs/adr/";

/// Decisions are cited by number, so a number is used once and none is missing.
pub fn numbering<'a>(pages: impl Iterator<Item = &'a str>) -> Vec<Violation> {
    let mut names: Vec<&str> = pages
        .filter_map(|path| path.strip_prefix(DECISIONS))
        .filter(|name| *name != "README.md" && !name.contains('/'))
        .collect();
    names.sort_unstable();
    let mut found = Vec::new();
    let mut due = 1;
    for name in names {
        let number = name
            .split_once('-')
            .map(|(number, _)| number)
            .filter(|n| n.len() == 4);
        let path = format!("{DECISIONS}{name}");
        match number.and_then(|number| number.parse::<u32>().ok()) {
            Some(number) => {
                if number != due {
                    let what = format!(
                        "number {number:04} where {due:04} is due: numbers are \
                                        cited, so each is used once and none is missing"
                    );
                    found.push(Violation::new(&path, 1, what));
                }
                due = number + 1;
            }
            None => {
                let what = "a decision is named by its number and subject: 0001-one-log.md";
                found.push(Violation::new(&path, 1, what));
            }
        }
    }
    found
}

/// Every link to a file of the repository, and to a heading of a page, leads somewhere.
pub fn links(pages: &Files, exists: impl Fn(&str) -> bool) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in pages {
        for (line, target) in targets(text) {
            if target
                .split('/')
                .next()
                .is_some_and(|start| start.contains(':'))
            {
                continue; // https:, mailto:
            }
            let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
            let there = if file.is_empty() {
                Some(path.clone())
            } else {
                resolve(path, file)
            };
            let Some(there) = there.filter(|there| exists(there)) else {
                let what = format!("`{target}` leads nowhere: a reader who follows it is lost");
                found.push(Violation::new(path, line, what));
                continue;
            };
            if !heading.is_empty()
                && let Some(page) = pages.get(&there)
                && !headings(page).iter().any(|name| name == heading)
            {
                let what = format!("{there} has no heading `#{heading}`");
                found.push(Violation::new(path, line, what));
            }
        }
    }
    found
}

/// Every test that a page names as `crate/tests/file.rs::test` exists: a page that promises a
/// defence and names a test that was renamed or removed promises more than anybody checks.
pub fn tests(pages: &Files, sources: &Files) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in pages {
        for (line, name) in named_tests(text) {
            let Some((file, test)) = name.split_once("::") else {
                continue;
            };
            let source = ["crates/", ""]
                .iter()
                .find_map(|prefix| sources.get(&format!("{prefix}{file}")));
            let what = match source {
                None => format!("`{name}` names a test file that does not exist"),
                Some(source) if !source.contains(&format!("fn {test}(")) => {
                    format!("`{name}` names a test that {file} does not have")
                }
                Some(_) => continue,
            };
            found.push(Violation::new(path, line, what));
        }
    }
    found
}

/// The code spans of a page that name a test: `crate/tests/file.rs::test`.
fn named_tests(page: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (line, text) in prose(page) {
        for code in text.split('`').skip(1).step_by(2) {
            if code.contains(".rs::") && !code.contains(' ') {
                found.push((line, code));
            }
        }
    }
    found
}

/// A path from the root, given one from a page; `None` if it leaves the repository.
fn resolve(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    if target.starts_with('/') {
        parts.clear();
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The lines of a page outside of code blocks, each with its number.
fn prose(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    page.lines().enumerate().filter_map(move |(index, line)| {
        let start = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, None) => return Some((index + 1, line)),
            (None, Some(_)) => fence = mark,
            (Some(_), Some(_)) if fence == mark => fence = None,
            _ => {}
        }
        None
    })
}

/// What the links of a page point at: `[text](target)`, `![image](target)`, `[name]: target`.
fn targets(page: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (line, text) in prose(page) {
        // Every other stretch between backticks is code.
        let text: String = text.split('`').step_by(2).collect();
        let mut ends: Vec<&str> = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
            .collect();
        if text.starts_with('[')
            && let Some((_, target)) = text.split_once("]: ")
        {
            ends.push(target);
        }
        for end in ends {
            // A title may follow the target; brackets may stand around it.
            let target = end.split_whitespace().next().unwrap_or_default();
            found.push((line, target.trim_matches(['<', '>']).to_owned()));
        }
    }
    found
}

/// The names under which a page's headings can be reached, as common viewers form them.
fn headings(page: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (_, line) in prose(page) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let name: String = title.trim().to_lowercase().chars().filter(kept).collect();
        let name = name.replace(' ', "-");
        let again = names.iter().filter(|known| **known == name).count();
        if again > 0 {
            names.push(format!("{name}-{again}"));
        }
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_numbered_without_gaps() {
        let numbered = |names: &[&str]| numbering(names.iter().copied());
        assert_eq!(
            numbered(&["docs/adr/0001-a.md", "docs/adr/0002-b.md", "README.md"]),
            []
        );
        assert_eq!(
            numbered(&["docs/adr/0001-a.md", "docs/adr/0003-b.md"]).len(),
            1,
            "a gap"
        );
        assert_eq!(
            numbered(&["docs/adr/0001-a.md", "docs/adr/0001-b.md"]).len(),
            1,
            "twice"
        );
        assert_eq!(
            numbered(&["docs/adr/1-a.md", "docs/adr/README.md"]).len(),
            1,
            "a short one"
        );
    }

    /// The lines of the links of `docs/page.md` that lead nowhere.
    fn broken(page: &str) -> Vec<usize> {
        let pages = Files::from([
            ("docs/page.md".to_owned(), page.to_owned()),
            (
                "README.md".to_owned(),
                "# One *thing*, `two`\n## Same\n## Same\n".to_owned(),
            ),
        ]);
        let exists = |path: &str| ["docs/page.md", "README.md", "docs"].contains(&path);
        links(&pages, exists)
            .into_iter()
            .map(|violation| violation.line)
            .collect()
    }

    #[test]
    fn links_lead_somewhere() {
        assert_eq!(
            broken("[a](../README.md) [b](page.md) [c](/README.md \"title\") [d](.)"),
            []
        );
        assert_eq!(
            broken("text\n[a](../README.md) [b](gone.md)\n[c]: gone.md"),
            [2, 3]
        );
        assert_eq!(broken("[a](../../outside.md)"), [1]);
        assert_eq!(
            broken("[a](https://example.org/x) [b](mailto:a@example.org)"),
            []
        );
    }

    #[test]
    fn code_has_no_links() {
        assert_eq!(
            broken("`[a](gone.md)`\n```\n[a](gone.md)\n```\n[b](gone.md)"),
            [5]
        );
    }

    #[test]
    fn headings_are_links_too() {
        assert_eq!(
            broken("# Here\n[a](#here) [b](../README.md#one-thing-two)"),
            []
        );
        assert_eq!(
            broken("[a](../README.md#same-1) [b](../README.md#same-2)"),
            [1]
        );
        assert_eq!(broken("[a](#there)"), [1]);
    }

    #[test]
    fn a_test_that_a_page_names_exists() {
        let files = |all: &[(&str, &str)]| -> Files {
            let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
            all.iter().map(owned).collect()
        };
        let sources = files(&[
            ("crates/app/tests/http.rs", "fn holds() {}"),
            ("xtask/src/tidy.rs", "fn rule() {}"),
        ]);
        let wrong = |page: &str| tests(&files(&[("docs/security.md", page)]), &sources).len();
        assert_eq!(
            wrong("`app/tests/http.rs::holds`, `xtask/src/tidy.rs::rule`"),
            0
        );
        assert_eq!(wrong("`app/tests/http.rs::hold`"), 1, "the test");
        assert_eq!(wrong("`app/tests/none.rs::holds`"), 1, "the file");
        assert_eq!(
            wrong("```\n`app/tests/none.rs::holds`\n```"),
            0,
            "an example"
        );
        assert_eq!(wrong("`Keys::public` and `keys.rs`"), 0, "not a test");
    }
}
