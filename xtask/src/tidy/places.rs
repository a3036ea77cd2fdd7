//! What has one place: maximums stand in `limits.rs`, and few files tell the two databases apart.

use super::Violation;
use super::lex::{Kind, pieces};

/// The files of storage that may distinguish the databases.
const DATABASES: [&str; 5] = [
    "conn.rs",
    "dialect.rs",
    "open.rs",
    "postgres.rs",
    "sqlite.rs",
];

const VARIANTS: [&str; 4] = [
    "Dialect::Sqlite",
    "Dialect::Postgres",
    "Conn::Sqlite",
    "Conn::Postgres",
];

/// The files that know where a store is: in a file or on a server.
const STORES: [&str; 2] = ["open.rs", "store.rs"];

const BACKENDS: [&str; 2] = ["Backend::Sqlite", "Backend::Postgres"];

const LIMITS: &str = "crates/model/src/limits.rs";

/// The crates that are shipped: what tests and measures may have sizes of its own.
const PRODUCT: [&str; 7] = [
    "app", "engine", "meaning", "model", "page", "storage", "tools",
];

/// Everything of one file that stands in the wrong place.
pub fn check(path: &str, text: &str) -> Vec<Violation> {
    let product = PRODUCT
        .iter()
        .any(|member| path.starts_with(&format!("crates/{member}/src/")));
    if !product || path == LIMITS {
        return Vec::new();
    }
    let mut found = Vec::new();
    for piece in pieces(text).iter().filter(|piece| piece.kind == Kind::Code) {
        for (index, line) in piece.text.lines().enumerate() {
            let at = piece.line + index;
            if let Some(name) = limit(line) {
                let what = format!(
                    "`{name}` is a maximum: declare it in {LIMITS}, where all of them can be found"
                );
                found.push(Violation::new(path, at, what));
            }
            if let Some(variant) = database(path, line) {
                let what = format!(
                    "`{variant}`: how the databases differ is said in storage's {}",
                    DATABASES.join(", ")
                );
                found.push(Violation::new(path, at, what));
            }
        }
    }
    found
}

fn database(path: &str, line: &str) -> Option<&'static str> {
    let file = path.strip_prefix("crates/storage/src/")?;
    let backend = BACKENDS.into_iter().find(|variant| line.contains(variant));
    if backend.is_some() && !STORES.contains(&file) {
        return backend;
    }
    let variant = VARIANTS
        .into_iter()
        .find(|variant| line.contains(variant))?;
    (!DATABASES.contains(&file)).then_some(variant)
}

/// The name of a constant that says it is a maximum and has a number of its own. One that is computed
/// from others is theirs. A size in characters or bytes is a maximum, unless it says that it is none.
fn limit(line: &str) -> Option<&str> {
    let line = line.trim();
    let line = match line.strip_prefix("pub") {
        Some(rest) => rest.trim_start_matches(|c: char| c != ' ').trim_start(),
        None => line,
    };
    let (name, rest) = line.strip_prefix("const ")?.split_once(": ")?;
    let (kind, value) = rest.split_once(" = ")?;
    let counts = ["usize", "i64", "u64", "u32", "i32"].contains(&kind);
    let words: Vec<&str> = name.split('_').collect();
    let any = |of: &[&str]| words.iter().any(|word| of.contains(word));
    let is_size = name.ends_with("_CHARS") || name.ends_with("_BYTES");
    let says = any(&["MAX", "MOST", "LIMIT"]) || is_size && !any(&["LEAST", "STACK"]);
    let number = value
        .chars()
        .all(|c| c.is_ascii_digit() || "_ <*();".contains(c));
    (counts && says && number).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(path, text)
            .into_iter()
            .map(|wrong| wrong.line)
            .collect()
    }

    #[test]
    fn a_maximum_is_in_limits() {
        let text = "const MAX_BYTES: usize = 4 << 10;\npub(crate) const MOST: i64 = 5_000;\n\
                    const CHUNK: i64 = 500;\n// const MAX: usize = 1;\n\
                    pub const MAX_LINE: usize = limits::LINE + 1;\nconst MOST_OF: &str = \"1\";\n\
                    const LINE_CHARS: usize = 80;\nconst FILE_BYTES: u64 = 1 << 20;\n\
                    const LEAST_CHARS: usize = 16;\nconst STACK_BYTES: usize = 1 << 20;\n";
        assert_eq!(lines("crates/engine/src/a.rs", text), [1, 2, 7, 8]);
        assert_eq!(lines("crates/model/src/limits.rs", text), []);
        assert_eq!(lines("crates/app/tests/app/a.rs", text), []);
        assert_eq!(lines("crates/bench/src/a.rs", text), []);
    }

    #[test]
    fn few_files_tell_the_databases_apart() {
        let text = "fn f() {\n    match tx.dialect() {\n        Dialect::Sqlite => {}\n    }\n}\n";
        assert_eq!(lines("crates/storage/src/query.rs", text), [3]);
        assert_eq!(lines("crates/storage/src/dialect.rs", text), []);
        assert_eq!(lines("crates/storage/src/a.rs", "// Conn::Sqlite\n"), []);
        let backend = "let Backend::Sqlite(path) = backend else {\n";
        assert_eq!(lines("crates/storage/src/a.rs", backend), [1]);
        assert_eq!(lines("crates/storage/src/store.rs", backend), []);
        assert_eq!(
            lines("crates/storage/src/a.rs", "use Dialect::finish;\n"),
            []
        );
    }
}
