//! The surfaces: each stands alone, and a tool's rule is in the file that has the tool's name.

use super::{Files, Violation};

const SURFACES: [&str; 5] = ["graph", "records", "reasoning", "threads", "garden"];
/// What stands above the surfaces: the tools of all of them, and their rules.
const SYSTEM: &str = "system";

/// Rules about all files together.
pub fn check(sources: &Files) -> Vec<Violation> {
    let imports = sources
        .iter()
        .filter_map(|(path, text)| Some((path, text, owner_of(path)?)))
        .flat_map(|(path, text, owner)| imports(path, text, owner));
    imports.chain(names(sources)).collect()
}

/// What all surfaces stand on.
const KERNEL: &str = "kernel";

/// The surface whose rules or tools a file holds, or the kernel.
fn owner_of(path: &str) -> Option<&str> {
    let inside = path
        .strip_prefix("crates/engine/src/")
        .or_else(|| path.strip_prefix("crates/tools/src/"))?;
    let owner = inside.split('/').next()?;
    (owner == KERNEL || SURFACES.contains(&owner)).then_some(owner)
}

/// One surface that uses another cannot be understood, tested or changed alone, and a kernel that
/// uses a surface cannot be what all of them stand on.
fn imports(path: &str, text: &str, owner: &str) -> Vec<Violation> {
    let above = match owner {
        KERNEL => [SYSTEM, "projection"].as_slice(),
        _ => [SYSTEM].as_slice(),
    };
    let others = SURFACES.iter().chain(above);
    let others: Vec<&str> = others.copied().filter(|other| *other != owner).collect();
    let mut found = Vec::new();
    let mut report = |line, other| {
        let what = format!("{owner} uses {other}: what two surfaces need belongs in the kernel");
        found.push(Violation::new(path, line, what));
    };
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        let named = |root: &str, other: &str| names_module(code, &format!("{root}::{other}"));
        for other in &others {
            if named("crate", other) || named("understory_engine", other) {
                report(number + 1, *other);
            }
        }
    }
    for (line, name) in grouped(text) {
        if others.contains(&name) {
            report(line, name);
        }
    }
    found
}

/// The modules that imports in braces name first, with the line where the braces open: `garden` of
/// `use crate::{View, garden::shape};`.
fn grouped(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for root in ["crate::{", "understory_engine::{"] {
        for (at, _) in text.match_indices(root) {
            let line = text[..at].matches('\n').count() + 1;
            let inside = &text[at + root.len()..];
            let (mut depth, mut begins) = (0, 0);
            for (place, letter) in inside.char_indices() {
                match letter {
                    '{' => depth += 1,
                    '}' if depth > 0 => depth -= 1,
                    ',' | '}' if depth == 0 => {
                        let path = inside[begins..place].trim();
                        let name = path.split([':', ' ']).next().unwrap_or_default();
                        found.push((line, name));
                        begins = place + 1;
                        if letter == '}' {
                            break;
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    found
}

/// Whether a line has this path, and not one that only begins with the same letters.
fn names_module(code: &str, path: &str) -> bool {
    code.match_indices(path).any(|(at, _)| {
        let after = code[at + path.len()..].chars().next();
        !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// A tool's name leads to its rule: `tools/src/graph/update.rs`, `engine/src/graph/update.rs`.
fn names(sources: &Files) -> Vec<Violation> {
    let missing = |path: &&String| {
        let Some(inside) = path.strip_prefix("crates/tools/src/") else {
            return false;
        };
        let in_engine = match inside.split_once('/') {
            Some((SYSTEM, rest)) => vec![format!("{SYSTEM}/{rest}"), format!("{KERNEL}/{rest}")],
            Some((surface, _)) if SURFACES.contains(&surface) => vec![inside.to_string()],
            _ => return false,
        };
        let there = |inside: &String| {
            let file = format!("crates/engine/src/{inside}");
            sources.contains_key(&file) || sources.contains_key(&file.replace(".rs", "/mod.rs"))
        };
        !in_engine.iter().any(there)
    };
    let what =
        "this tool's rule has another file name: give the engine's file the name of the tool's";
    let tools = sources.keys().filter(|path| !path.ends_with("/mod.rs"));
    tools
        .filter(missing)
        .map(|path| Violation::new(path, 1, what))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(files: &[(&str, &str)]) -> usize {
        let files = files
            .iter()
            .map(|(path, text)| (path.to_string(), text.to_string()))
            .collect();
        check(&files).len()
    }

    #[test]
    fn surfaces_stand_alone() {
        let threads = "crates/engine/src/threads/post.rs";
        assert_eq!(wrong(&[(threads, "use crate::garden::shape;\n")]), 1);
        assert_eq!(wrong(&[(threads, "fn f() { crate::graph::at() }\n")]), 1);
        assert_eq!(wrong(&[(threads, "use crate::threads::said;\n")]), 0);
        let group = "use crate::{\n    View, garden::{shape, page},\n    graph,\n};\n";
        assert_eq!(wrong(&[(threads, group)]), 2);
        let own = "use crate::{View, threads::{garden, said}};\n";
        assert_eq!(wrong(&[(threads, own)]), 0);
        assert_eq!(wrong(&[(threads, "use crate::graphics::x;\n")]), 0);
        assert_eq!(wrong(&[(threads, "use crate::system::verify;\n")]), 1);
        let kernel = "crates/engine/src/kernel/search/mod.rs";
        assert_eq!(wrong(&[(kernel, "use crate::garden::shape;\n")]), 1);
        assert_eq!(wrong(&[(kernel, "use crate::projection::apply;\n")]), 1);
        let above = "crates/engine/src/system/purge/mod.rs";
        assert_eq!(wrong(&[(above, "use crate::garden::shape;\n")]), 0);
    }

    #[test]
    fn a_rule_has_the_name_of_its_tool() {
        let tool = ("crates/tools/src/graph/update.rs", "");
        assert_eq!(wrong(&[tool]), 1);
        assert_eq!(wrong(&[tool, ("crates/engine/src/graph/update.rs", "")]), 0);
        let search = ("crates/tools/src/system/search.rs", "");
        assert_eq!(wrong(&[search]), 1);
        assert_eq!(
            wrong(&[search, ("crates/engine/src/kernel/search/mod.rs", "")]),
            0
        );
    }
}
