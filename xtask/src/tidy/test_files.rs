//! Tests that would never run: files beside a `main.rs` of tests that it does not name.

use super::{Files, Violation};

/// Cargo builds `tests/<name>/main.rs` and what it declares; any other file there is silently left out.
pub fn check(sources: &Files) -> Vec<Violation> {
    let forgotten = |path: &&String| {
        let Some((folder, file)) = path.rsplit_once('/') else {
            return false;
        };
        // A folder of helpers is named by its `mod.rs`, whose own modules the compiler checks.
        let (folder, module) = match file {
            "main.rs" => return false,
            "mod.rs" => folder.rsplit_once('/').unwrap_or_default(),
            _ => (folder, file.trim_end_matches(".rs")),
        };
        folder.contains("/tests/")
            && sources
                .get(&format!("{folder}/main.rs"))
                .is_some_and(|main| !declares(main, module))
    };
    let what = "no test of this file runs: declare it in the main.rs beside it";
    let forgotten = sources.keys().filter(forgotten);
    forgotten
        .map(|path| Violation::new(path, 1, what))
        .collect()
}

fn declares(main: &str, module: &str) -> bool {
    let declared = main.lines().filter_map(|line| {
        let line = line.trim().trim_start_matches("pub ");
        line.strip_prefix("mod ")?.strip_suffix(';')
    });
    declared.into_iter().any(|name| name == module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_no_main_names_is_found() {
        let files = |main: &str| {
            let main = ("crates/a/tests/a/main.rs".to_owned(), main.to_owned());
            let rest = ["one.rs", "two/mod.rs", "two/more.rs", "two.txt.rs"]
                .map(|name| (format!("crates/a/tests/a/{name}"), String::new()));
            rest.into_iter().chain([main]).collect::<Files>()
        };
        assert_eq!(check(&files("mod one;\n#[cfg(unix)]\nmod two;\n")).len(), 1);
        let found = check(&files("mod two;\n"));
        assert!(found.iter().any(|wrong| wrong.file.ends_with("one.rs")));
        let found = check(&files("mod one;\n"));
        assert!(found.iter().any(|wrong| wrong.file.ends_with("two/mod.rs")));
    }

    #[test]
    fn files_without_a_main_beside_them_are_their_own_binaries() {
        let alone = ("crates/a/tests/alone.rs".to_owned(), String::new());
        assert!(check(&Files::from([alone])).is_empty());
    }
}
