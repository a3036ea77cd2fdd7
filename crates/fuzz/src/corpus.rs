//! The inputs kept in the repository: `corpus/<target>/`, one file each.
//!
//! A name says what the input is about; one that begins with `found-` failed once.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where a target's inputs are.
pub fn folder(target: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("corpus").join(target)
}

/// A target's inputs, in the order of their names.
pub fn read(target: &str) -> io::Result<Vec<(String, Vec<u8>)>> {
    let folder = folder(target);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut inputs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        inputs.push((name.into_owned(), fs::read(&path)?));
    }
    inputs.sort();
    Ok(inputs)
}

/// Keeps an input that failed; the path of its file.
pub fn keep(target: &str, input: &[u8]) -> io::Result<PathBuf> {
    let folder = folder(target);
    fs::create_dir_all(&folder)?;
    let digest = understory_model::canon::hex(&understory_model::canon::sha256(input));
    let path = folder.join(format!("found-{}", &digest[..12]));
    fs::write(&path, input)?;
    Ok(path)
}
