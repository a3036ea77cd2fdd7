//! Large stores, made through the real tools and kept between runs.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::bench::Bench;
use crate::plans::Plans;
use crate::server::Server;
use crate::table::{tell, time};

/// Nodes in one call.
const BATCH: usize = 5_000;

/// Nodes with a rare word, beside the others, in every store.
const MARKED: usize = 20;

/// The tables: a store that was made with others is of no use.
const SCHEMA: [&str; 6] = [
    include_str!("../../storage/src/sql/soil.sql"),
    include_str!("../../storage/src/sql/soil.2.sql"),
    include_str!("../../storage/src/sql/core.sql"),
    include_str!("../../storage/src/sql/live.sql"),
    include_str!("../../storage/src/sql/text.sqlite.sql"),
    include_str!("../../storage/src/sql/guards.sqlite.sql"),
];

/// A SQLite store with this many nodes, from an earlier run or made now.
pub fn with_nodes(bench: &Bench, count: usize) -> Outcome<String> {
    let folder = folder(bench);
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{count}.db"));
    if !path.exists() {
        let new = folder.join(format!("{count}.new.db"));
        forget(&new);
        let store = new.to_string_lossy().into_owned();
        let mut server = Server::begin(bench.ours(&store))?;
        let took = fill(&mut server, count)?;
        server.call("graph_plan", &Plans::new(0).marked(MARKED))?;
        server.leave()?;
        tell(format!(
            "made {count} nodes in {}",
            time(took.as_secs_f64())
        ));
        // The last to close it folded the write-ahead log into the file.
        std::fs::rename(&new, &path)?;
        std::fs::write(path.with_extension("took"), took.as_secs_f64().to_string())?;
    }
    Ok(path.to_string_lossy().into_owned())
}

/// A SQLite store of this name, from an earlier run or made now. The source of what makes it says
/// whether an earlier one is the same.
pub fn kept(
    bench: &Bench,
    name: &str,
    source: &str,
    make: impl FnOnce(&str) -> Outcome,
) -> Outcome<String> {
    let mut hasher = DefaultHasher::new();
    source.hash(&mut hasher);
    let folder = folder(bench);
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{name}-{:08x}.db", hasher.finish() >> 32));
    if !path.exists() {
        let new = folder.join(format!("{name}.new.db"));
        forget(&new);
        let begun = Instant::now();
        make(&new.to_string_lossy())?;
        tell(format!(
            "made {name} in {}",
            time(begun.elapsed().as_secs_f64())
        ));
        std::fs::rename(&new, &path)?;
    }
    Ok(path.to_string_lossy().into_owned())
}

/// How long it took to make a store, whenever that was.
pub fn took(store: &str) -> Option<f64> {
    std::fs::read_to_string(Path::new(store).with_extension("took"))
        .ok()?
        .parse()
        .ok()
}

fn folder(bench: &Bench) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    (
        SCHEMA,
        understory_storage::CORE_VERSION,
        include_str!("plans.rs"),
    )
        .hash(&mut hasher);
    bench.data.join(format!("{:016x}", hasher.finish()))
}

/// Removes a store, if it is there.
pub fn forget(path: &Path) {
    for ending in ["", "-wal", "-shm", "-queue"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        let _ = std::fs::remove_file(name);
    }
}

/// Plans nodes until there are this many below the root.
pub fn fill(server: &mut Server, count: usize) -> Outcome<Duration> {
    let begun = Instant::now();
    let mut plans = Plans::new(count as u64);
    let mut made = 0;
    while made < count {
        let batch = BATCH.min(count - made);
        server.call("graph_plan", &plans.many(batch))?;
        made += batch;
        if made % 50_000 == 0 {
            tell(format!(
                "  {made} of {count} nodes, {}",
                time(begun.elapsed().as_secs_f64())
            ));
        }
    }
    Ok(begun.elapsed())
}

/// Copies a store that nobody has open.
pub fn copy(from: &str, to: &str) -> Outcome {
    std::fs::copy(from, to)?;
    Ok(())
}
