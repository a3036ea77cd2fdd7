//! Which crate may use which: the layers of the design, read from every `Cargo.toml`.

use super::Violation;

/// The crates of the workspace by directory, each with the ones it may be built on. A crate's own
/// tests may also use `testkit`.
const LAYERS: [(&str, &[&str]); 13] = [
    ("crates/model", &[]),
    ("crates/storage", &["model"]),
    ("crates/meaning", &["model"]),
    ("crates/engine", &["model", "meaning", "storage"]),
    ("crates/tools", &["model", "engine"]),
    ("crates/page", &["model", "engine", "tools"]),
    (
        "crates/app",
        &[
            "model", "storage", "engine", "tools", "page", "terminal", "testkit", "bench",
        ],
    ),
    ("crates/terminal", &[]),
    ("crates/on-both", &[]),
    (
        "crates/testkit",
        &["model", "storage", "engine", "tools", "on-both"],
    ),
    (
        "crates/bench",
        &[
            "model", "meaning", "storage", "engine", "tools", "page", "testkit", "app",
        ],
    ),
    (
        "crates/fuzz",
        &["model", "engine", "tools", "testkit", "app"],
    ),
    ("xtask", &[]),
];

/// Crates from outside that have one home, and why.
const HOMES: [(&[&str], &[&str], &str); 2] = [
    (
        &[
            "rusqlite",
            "libsqlite3-sys",
            "postgres",
            "tokio-postgres",
            "r2d2_postgres",
            "sqlx",
        ],
        &["crates/storage", "crates/testkit", "crates/bench"],
        "only storage knows a database",
    ),
    (
        &["rmcp", "axum"],
        &["crates/app", "crates/bench", "crates/fuzz"],
        "only the app knows a protocol",
    ),
];

/// Everything that is wrong in one manifest.
pub fn check(path: &str, manifest: &str) -> Vec<Violation> {
    let directory = path.strip_suffix("/Cargo.toml").unwrap_or_default();
    let Some((_, below)) = LAYERS.iter().find(|(member, _)| *member == directory) else {
        let what = "this crate has no layer: give it one in xtask/src/tidy/layers.rs";
        return vec![Violation::new(path, 1, what)];
    };
    let mut found = Vec::new();
    for Dependency {
        line,
        name,
        for_tests,
    } in dependencies(manifest)
    {
        let layer = match name {
            "understory" => Some("app"),
            _ => name.strip_prefix("understory-"),
        };
        if let Some(layer) = layer
            && !below.contains(&layer)
            && !(for_tests && layer == "testkit")
        {
            let may = if below.is_empty() {
                "none".to_owned()
            } else {
                below.join(", ")
            };
            let what = format!("`{name}` is not below this crate (below it: {may})");
            found.push(Violation::new(path, line, what));
        }
        for (crates, homes, why) in HOMES {
            if crates.contains(&name) && !homes.contains(&directory) {
                let what = format!("`{name}` belongs in {}: {why}", homes.join(", "));
                found.push(Violation::new(path, line, what));
            }
        }
    }
    found
}

#[derive(Debug, PartialEq, Eq)]
struct Dependency<'a> {
    line: usize,
    name: &'a str,
    for_tests: bool,
}

/// The dependencies of a manifest. Ours are plain enough to read line by line, which keeps the line
/// numbers and spares a parser: `name = …`, `name.workspace = true` or `[dependencies.name]`.
fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let mut found = Vec::new();
    let mut table = None;
    for (index, text) in manifest.lines().enumerate() {
        let (line, text) = (index + 1, text.trim());
        if let Some(header) = text.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            let for_tests = header.contains("dev-dependencies");
            table = header.ends_with("dependencies").then_some(for_tests);
            if let Some((_, name)) = header.rsplit_once("dependencies.") {
                found.push(Dependency {
                    line,
                    name,
                    for_tests,
                });
            }
        } else if let Some(for_tests) = table
            && let Some((key, value)) = text.split_once('=')
            && !key.starts_with('#')
        {
            let name = key
                .split('.')
                .next()
                .unwrap_or(key)
                .trim()
                .trim_matches('"');
            found.push(Dependency {
                line,
                name: renamed(value).unwrap_or(name),
                for_tests,
            });
        }
    }
    found
}

/// The crate behind a name of our own: `db = { package = "rusqlite" }`.
fn renamed(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("package")?;
    let (_, rest) = rest.split_once('"')?;
    rest.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, manifest: &str) -> Vec<usize> {
        check(path, manifest)
            .into_iter()
            .map(|violation| violation.line)
            .collect()
    }

    #[test]
    fn every_spelling_of_a_dependency_is_read() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\na = \"1\"\n# b = \"1\"\n\
                        c.workspace = true\n[target.'cfg(unix)'.dependencies]\nd = {}\n\
                        [dev-dependencies.e]\nversion = \"1\"\n[build-dependencies]\n\
                        f = { package = \"g\" }\n";
        let names: Vec<_> = dependencies(manifest)
            .iter()
            .map(|d| (d.line, d.name, d.for_tests))
            .collect();
        let expected = [
            (4, "a", false),
            (6, "c", false),
            (8, "d", false),
            (9, "e", true),
            (12, "g", false),
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn dependencies_point_down() {
        let uses = |name: &str| format!("[dependencies]\nunderstory-{name}.workspace = true\n");
        assert_eq!(lines("crates/model/Cargo.toml", &uses("engine")), [2]);
        assert_eq!(lines("crates/storage/Cargo.toml", &uses("engine")), [2]);
        assert_eq!(lines("crates/tools/Cargo.toml", &uses("storage")), [2]);
        assert_eq!(lines("crates/engine/Cargo.toml", &uses("storage")), []);
        assert_eq!(lines("crates/app/Cargo.toml", &uses("storage")), []);
        let app = "[dependencies]\nunderstory = { path = \"../app\" }\n";
        assert_eq!(lines("crates/testkit/Cargo.toml", app), [2]);
        assert_eq!(lines("crates/bench/Cargo.toml", app), []);
        assert_eq!(lines("crates/fuzz/Cargo.toml", app), []);
        assert_eq!(lines("crates/app/Cargo.toml", &uses("fuzz")), [2]);
        assert_eq!(lines("crates/app/Cargo.toml", &uses("terminal")), []);
        assert_eq!(lines("crates/tools/Cargo.toml", &uses("terminal")), [2]);
        assert_eq!(lines("crates/terminal/Cargo.toml", &uses("model")), [2]);
    }

    #[test]
    fn tests_may_use_the_testkit() {
        let testkit = "understory-testkit.workspace = true\n";
        let path = "crates/storage/Cargo.toml";
        assert_eq!(lines(path, &format!("[dev-dependencies]\n{testkit}")), []);
        assert_eq!(lines(path, &format!("[dependencies]\n{testkit}")), [2]);
    }

    #[test]
    fn databases_and_protocols_stay_at_home() {
        let uses = |name: &str| format!("[dev-dependencies]\n{name}.workspace = true\n");
        assert_eq!(lines("crates/engine/Cargo.toml", &uses("rusqlite")), [2]);
        assert_eq!(lines("crates/app/Cargo.toml", &uses("postgres")), [2]);
        assert_eq!(lines("crates/testkit/Cargo.toml", &uses("postgres")), []);
        assert_eq!(lines("crates/tools/Cargo.toml", &uses("rmcp")), [2]);
        assert_eq!(lines("crates/bench/Cargo.toml", &uses("rmcp")), []);
    }

    #[test]
    fn a_new_crate_needs_a_layer() {
        assert_eq!(lines("crates/misc/Cargo.toml", "[package]\n"), [1]);
    }
}
