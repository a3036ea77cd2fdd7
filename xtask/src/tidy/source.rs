//! Rules about one Rust file: its opening, its length, its clock, its SQL, its promises.

use super::Violation;
use super::lex::{Kind, Piece, pieces};

const TOO_LONG: usize = 600;
const LONG: usize = 500;
/// A file of tests is a list: one more test makes it longer, not harder to follow.
const TOO_LONG_OF_TESTS: usize = 800;

fn too_long(path: &str) -> usize {
    if path.contains("/tests/") {
        TOO_LONG_OF_TESTS
    } else {
        TOO_LONG
    }
}

/// The crates that are told the time and never ask for it.
const CLOCKLESS: [&str; 5] = ["model", "storage", "engine", "tools", "page"];

const CLOCKS: [&str; 4] = [
    "SystemTime::now",
    "Timestamp::now",
    "Zoned::now",
    "Instant::now",
];

/// The crates that may speak SQL: one for its living, two to test and to measure that one.
const SPEAKS_SQL: [&str; 3] = ["storage", "testkit", "bench"];

/// Everything that is wrong in one file.
pub fn check(path: &str, text: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    if path.contains("/src/") && !text.starts_with("//!") {
        let what = "starts without `//!`: a file opens with what it is and what it must never do";
        found.push(Violation::new(path, 1, what));
    }
    let lines = text.lines().count();
    let most = too_long(path);
    if lines > most {
        let what = format!("{lines} lines; over {most}, a file is about more than one thing");
        found.push(Violation::new(path, most + 1, what));
    }
    let place = Place::of(path);
    for piece in pieces(text) {
        match piece.kind {
            Kind::Code => found.extend(clock(path, &place, &piece)),
            Kind::Comment => found.extend(promise(path, &piece)),
            Kind::Text => found.extend(sql(path, &place, &piece)),
        }
    }
    found
}

/// A file that will soon be too long.
pub fn long(path: &str, text: &str) -> Option<Violation> {
    let (lines, most) = (text.lines().count(), too_long(path));
    (most - (TOO_LONG - LONG) < lines && lines <= most)
        .then(|| Violation::new(path, lines, format!("{lines} lines; the limit is {most}")))
}

/// Where in the workspace a file is.
struct Place<'a> {
    /// The directory under `crates/`; empty elsewhere.
    member: &'a str,
    file: &'a str,
    /// Part of what is shipped, rather than of a crate's own tests.
    product: bool,
}

impl<'a> Place<'a> {
    fn of(path: &'a str) -> Place<'a> {
        let mut parts = path.split('/');
        let member = match parts.next() {
            Some("crates") => parts.next().unwrap_or_default(),
            _ => "",
        };
        let product = parts.next() == Some("src") && !parts.clone().any(|part| part == "tests");
        Place {
            member,
            file: path.rsplit('/').next().unwrap_or_default(),
            product,
        }
    }
}

fn clock(path: &str, place: &Place<'_>, piece: &Piece<'_>) -> Vec<Violation> {
    if !place.product || place.file == "clock.rs" || !CLOCKLESS.contains(&place.member) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for clock in CLOCKS {
        if clock == "Instant::now" && place.member == "storage" {
            continue; // to wait for a lock, one has to know how long one has waited
        }
        for (at, _) in piece.text.match_indices(clock) {
            let what = format!(
                "`{clock}`: the time comes from the caller (or from a clock.rs), so that a test \
                 can choose it and a replay repeats it"
            );
            found.push(Violation::new(path, piece.line_at(at), what));
        }
    }
    found
}

/// Unfinished work is written down where it can be found, with a number to find it by.
fn promise(path: &str, piece: &Piece<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for (index, line) in piece.text.lines().enumerate() {
        let unfinished = words(line).any(|word| word == "TODO" || word == "FIXME");
        let numbered = line
            .split('#')
            .skip(1)
            .any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if unfinished && !numbered {
            let what = "unfinished work without an issue: write `#number` beside it, or do it";
            found.push(Violation::new(path, piece.line + index, what));
        }
    }
    found
}

fn sql(path: &str, place: &Place<'_>, piece: &Piece<'_>) -> Option<Violation> {
    let elsewhere = place.product && !place.member.is_empty();
    if !elsewhere || SPEAKS_SQL.contains(&place.member) || !is_sql(piece.text) {
        return None;
    }
    let what = "SQL outside of storage: both databases are served by one text, kept in one place";
    Some(Violation::new(path, piece.line, what))
}

/// Whether a text is SQL: a statement's keywords as one writes them, or one of our tables after a
/// keyword in any spelling. English that says "select a record from the list" is not.
fn is_sql(text: &str) -> bool {
    let words: Vec<&str> = words(text).collect();
    let follows = |first: &str, then: &str| {
        let start = words.iter().position(|word| *word == first);
        start.is_some_and(|at| words[at..].contains(&then))
    };
    let pair = |first: &str, then: &str| words.windows(2).any(|two| two == [first, then]);
    let names_table = words.windows(2).any(|two| {
        let keyword = ["from", "into", "update", "join"].iter();
        let table = ["soil_", "core_", "live_"].iter();
        keyword
            .clone()
            .any(|word| two[0].eq_ignore_ascii_case(word))
            && table.clone().any(|prefix| two[1].starts_with(prefix))
    });
    names_table
        || follows("SELECT", "FROM")
        || follows("UPDATE", "SET")
        || pair("INSERT", "INTO")
        || pair("DELETE", "FROM")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `check` says about a file with this body after a proper opening, line by line.
    fn lines(path: &str, body: &str) -> Vec<usize> {
        let text = format!("//! Opening.\n{body}");
        check(path, &text)
            .into_iter()
            .map(|violation| violation.line)
            .collect()
    }

    #[test]
    fn a_file_opens_with_what_it_is() {
        assert_eq!(check("crates/model/src/id.rs", "use std::fmt;\n").len(), 1);
        assert_eq!(
            check("crates/model/src/id.rs", "//! Ids.\nuse std::fmt;\n"),
            []
        );
        assert_eq!(
            check("crates/model/tests/id.rs", "use std::fmt;\n"),
            [],
            "tests may"
        );
    }

    #[test]
    fn length_is_warned_of_and_then_refused() {
        let file = |lines: usize| format!("//! Long.\n{}", "//\n".repeat(lines - 1));
        let path = "crates/engine/src/all.rs";
        assert_eq!(long(path, &file(500)), None);
        assert!(long(path, &file(501)).is_some() && check(path, &file(600)).is_empty());
        assert!(long(path, &file(601)).is_none() && check(path, &file(601)).len() == 1);
        let tests = "crates/engine/tests/engine/all.rs";
        assert!(long(tests, &file(701)).is_some() && check(tests, &file(800)).is_empty());
        assert_eq!(check(tests, &file(801)).len(), 1);
    }

    #[test]
    fn the_core_is_told_the_time() {
        let body = "\nfn f() { Timestamp::now(); }\n// not Timestamp::now\n";
        for path in ["crates/model/src/a.rs", "crates/tools/src/records/a.rs"] {
            assert_eq!(lines(path, body), [3]);
        }
        for path in [
            "crates/engine/src/kernel/clock.rs",
            "crates/app/src/a.rs",
            "crates/engine/tests/a.rs",
        ] {
            assert_eq!(lines(path, body), []);
        }
        let wait = "fn f() { Instant::now(); }";
        assert_eq!(lines("crates/engine/src/a.rs", wait), [2]);
        assert_eq!(
            lines("crates/storage/src/lock.rs", wait),
            [],
            "a wait for a lock"
        );
    }

    #[test]
    fn sql_stays_in_storage() {
        for statement in [
            "SELECT a\n FROM t",
            "INSERT INTO t VALUES (?1)",
            "UPDATE t SET a = ?1",
            "DELETE FROM t",
            "select a from soil_item",
        ] {
            let body = format!("const Q: &str = r#\"{statement}\"#;");
            for path in ["crates/engine/src/kernel/view.rs", "crates/app/src/main.rs"] {
                assert_eq!(lines(path, &body), [2], "{statement}");
            }
            for path in [
                "crates/storage/src/read.rs",
                "crates/testkit/src/world.rs",
                "crates/bench/src/main.rs",
                "crates/engine/tests/view.rs",
                "crates/app/src/web/tests/pages.rs",
            ] {
                assert_eq!(lines(path, &body), [], "{statement} in {path}");
            }
        }
        for english in [
            "select a record from the list",
            "Delete from here",
            "UPDATE failed",
        ] {
            assert_eq!(
                lines("crates/app/src/main.rs", &format!("say(\"{english}\")")),
                []
            );
        }
        assert_eq!(
            lines("crates/app/src/main.rs", "// SELECT a FROM t"),
            [],
            "a comment"
        );
    }

    #[test]
    fn unfinished_work_has_a_number() {
        let path = "crates/app/tests/a.rs";
        assert_eq!(
            lines(path, "/* first\n TODO: later */ let a; // FIXME"),
            [3, 3]
        );
        assert_eq!(
            lines(path, "// TODO(#12): later\nlet s = \"TODO\"; // TODOS"),
            []
        );
    }
}
