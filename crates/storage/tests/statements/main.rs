//! The statements that are assembled from pieces, as files: whoever changes one sees the whole of it
//! in review. A statement that differs between the databases has a file for each.
//!
//! `cargo xtask generate` writes the files anew.

mod cases;
mod layout;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use understory_model::Fault;
use understory_storage::{Options, Store, Tx};
use understory_testkit::Backend;

/// Set, it makes the test write the files instead of comparing them.
const WRITE: &str = "UNDERSTORY_WRITE_STATEMENTS";

/// Every statement that a case runs on a store, by the name of the case.
fn heard(backend: &Backend) -> BTreeMap<&'static str, String> {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = Arc::clone(&heard);
    let options = Options {
        probe: Some(Arc::new(move |sql: &str| {
            told.lock().unwrap().push(sql.to_string());
            false
        })),
        ..Options::default()
    };
    let store = Store::new(&backend.store(), options);
    let all = cases::CASES.iter().map(|(name, run)| {
        let heard = Arc::clone(&heard);
        let case = move |tx: &mut Tx<'_>| -> Result<String, Fault> {
            cases::fill(tx)?;
            heard.lock().unwrap().clear();
            run(tx)?;
            let statements: BTreeSet<String> = heard.lock().unwrap().drain(..).collect();
            tx.discard();
            let laid_out: Vec<String> = statements.iter().map(|sql| layout::lines(sql)).collect();
            Ok(laid_out.join("\n"))
        };
        let text = store.write("w", case);
        (
            *name,
            text.unwrap_or_else(|fault| panic!("{name}: {fault}")),
        )
    });
    all.collect()
}

/// The files as the code says today.
fn files() -> BTreeMap<String, String> {
    let (sqlite, postgres) = (heard(&Backend::sqlite()), heard(&Backend::postgres()));
    let mut files = BTreeMap::new();
    for (name, text) in sqlite {
        if postgres[name] == text {
            files.insert(format!("{name}.sql"), text);
        } else {
            files.insert(format!("{name}.sqlite.sql"), text);
            files.insert(format!("{name}.postgres.sql"), postgres[name].clone());
        }
    }
    files
}

/// The lines in which two texts differ, with the one before.
fn difference(kept: &str, fresh: &str) -> String {
    let (kept, fresh): (Vec<&str>, Vec<&str>) = (kept.lines().collect(), fresh.lines().collect());
    let same = kept.iter().zip(&fresh).take_while(|(a, b)| a == b).count();
    let ends = kept[same..].iter().rev().zip(fresh[same..].iter().rev());
    let end = ends.take_while(|(a, b)| a == b).count();
    let mut shown = vec![format!(
        "  {}",
        kept.get(same.wrapping_sub(1)).unwrap_or(&"")
    )];
    let removed = kept[same..kept.len() - end].iter();
    shown.extend(removed.map(|line| format!("- {line}")));
    let added = fresh[same..fresh.len() - end].iter();
    shown.extend(added.map(|line| format!("+ {line}")));
    shown.join("\n")
}

#[test]
fn statements_are_as_their_files_say() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/statements/sql");
    let fresh = files();
    let kept: BTreeMap<String, String> = fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    if std::env::var_os(WRITE).is_some() {
        fs::create_dir_all(&folder).unwrap();
        for name in kept.keys().filter(|name| !fresh.contains_key(*name)) {
            fs::remove_file(folder.join(name)).unwrap();
        }
        for (name, text) in &fresh {
            fs::write(folder.join(name), text).unwrap();
        }
        return;
    }
    let names: BTreeSet<&String> = kept.keys().chain(fresh.keys()).collect();
    let mut differing = Vec::new();
    for name in names {
        let of = |all: &BTreeMap<String, String>| all.get(name).cloned().unwrap_or_default();
        let (kept, fresh) = (of(&kept), of(&fresh));
        if kept != fresh {
            differing.push(format!("{name}\n{}", difference(&kept, &fresh)));
        }
    }
    assert!(
        differing.is_empty(),
        "statements changed; if that is meant, run `cargo xtask generate`\n\n{}",
        differing.join("\n\n")
    );
}
