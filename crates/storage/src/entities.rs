//! Entities: the mutable side of the log, one row each with its newest version.

use std::collections::HashMap;
use std::sync::LazyLock;

use understory_model::error::Result;
use understory_model::{Id, Time, Ws};

use crate::lists;
use crate::sql::{Arg, ReadTx, Tx, args};
use crate::table::{self, Stored, table};

table! {
    /// The newest version of an entity.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Entity in core_entity as e key (id) fixed (kind, handle, project, created_at, created_by) {
        pub id: Id,
        pub kind: String,
        pub handle: String,
        pub project: Option<Id>,
        pub parent: Option<Id>,
        pub version: i64,
        pub hash: String,
        pub previous_hash: Option<String>,
        pub created_at: Time,
        pub updated_at: Time,
        pub created_by: String,
        /// Gone from every view but history.
        pub gone: bool,
        /// JSON.
        pub data: String,
    }
}

const COLUMNS: &str = Entity::COLUMNS;

pub fn get(tx: &mut ReadTx<'_>, ws: Ws, id: Id) -> Result<Option<Entity>> {
    table::get(tx, args![ws, id])
}

pub fn by_handle(tx: &mut ReadTx<'_>, ws: Ws, handle: &str) -> Result<Option<Entity>> {
    // No handle holds NUL, and PostgreSQL does not even let one ask.
    if handle.contains('\0') {
        return Ok(None);
    }
    static SQL: LazyLock<String> = LazyLock::new(|| {
        format!("SELECT {COLUMNS} FROM core_entity e WHERE e.ws = ?1 AND e.handle = ?2")
    });
    table::one(tx, &SQL, args![ws, handle])
}

/// The ids behind some handles; handles of nothing are left out.
pub fn by_handles(tx: &mut ReadTx<'_>, ws: Ws, handles: &[&str]) -> Result<HashMap<String, Id>> {
    let mut found = HashMap::new();
    for some in handles.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws)];
        let places = lists::texts(some, &mut args);
        let sql =
            format!("SELECT handle, id FROM core_entity WHERE ws = ?1 AND handle IN ({places})");
        for mut row in tx.rows(&sql, &args)? {
            found.insert(row.text(0)?, row.int(1)?);
        }
    }
    Ok(found)
}

/// Some of them, by id; those that do not exist are left out.
pub fn some(tx: &mut ReadTx<'_>, ws: Ws, ids: &[Id]) -> Result<HashMap<Id, Entity>> {
    let mut found = HashMap::new();
    for some in ids.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws)];
        let places = lists::numbers(some, &mut args);
        let sql =
            format!("SELECT {COLUMNS} FROM core_entity e WHERE e.ws = ?1 AND e.id IN ({places})");
        for row in tx.rows(&sql, &args)? {
            let entity = Entity::read(row)?;
            found.insert(entity.id, entity);
        }
    }
    Ok(found)
}

/// Handles near a wanted one in the index, for "did you mean"; of one kind, or of any.
pub fn handles_near(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    kind: Option<&str>,
    wanted: &str,
    most: i64,
) -> Result<Vec<String>> {
    let wanted = wanted.replace('\0', "");
    let args = args![ws, &wanted, most, kind.unwrap_or_default()];
    let mut rows = tx.rows(
        "SELECT handle FROM core_entity WHERE ws = ?1 AND handle >= ?2 \
         AND (?4 = '' OR kind = ?4) ORDER BY handle LIMIT ?3",
        args,
    )?;
    rows.extend(tx.rows(
        "SELECT handle FROM core_entity WHERE ws = ?1 AND handle < ?2 \
         AND (?4 = '' OR kind = ?4) ORDER BY handle DESC LIMIT ?3",
        args,
    )?);
    rows.into_iter().map(|mut row| row.text(0)).collect()
}

/// Entities whose handles begin so, in the order of the index.
pub fn beginning(tx: &mut ReadTx<'_>, ws: Ws, prefix: &str, most: i64) -> Result<Vec<Entity>> {
    let prefix = prefix.replace('\0', "");
    let sql = format!(
        "SELECT {COLUMNS} FROM core_entity e WHERE e.ws = ?1 AND e.handle >= ?2 \
         ORDER BY e.handle LIMIT ?3"
    );
    let mut found: Vec<Entity> = table::all(tx, &sql, args![ws, &prefix, most])?;
    // Not every database orders all signs alike, so the range has no end in SQL.
    found.retain(|entity| entity.handle.starts_with(&prefix));
    Ok(found)
}

pub fn insert(tx: &mut Tx<'_>, ws: Ws, entities: &[&Entity]) -> Result<()> {
    table::insert(tx, ws, entities.iter().copied())
}

pub fn update(tx: &mut Tx<'_>, ws: Ws, entity: &Entity) -> Result<()> {
    table::update(tx, ws, entity)
}

/// The entities directly below one, in the order in which they were made.
pub fn children(tx: &mut ReadTx<'_>, ws: Ws, parent: Id, most: i64) -> Result<Vec<Entity>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_entity e WHERE e.ws = ?1 AND e.parent = ?2 \
         ORDER BY e.id LIMIT ?3"
    );
    table::all(tx, &sql, args![ws, parent, most])
}

/// What lies directly below an entity.
pub fn child_ids(tx: &mut ReadTx<'_>, ws: Ws, parent: Id) -> Result<Vec<Id>> {
    let rows = tx.rows(
        "SELECT id FROM core_entity WHERE ws = ?1 AND parent = ?2 ORDER BY id",
        args![ws, parent],
    )?;
    rows.iter().map(|row| row.int(0)).collect()
}

/// How many each of these has directly below it; those that have none are left out.
pub fn child_counts(tx: &mut ReadTx<'_>, ws: Ws, parents: &[Id]) -> Result<HashMap<Id, i64>> {
    let mut counts = HashMap::new();
    for some in parents.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws)];
        let places = lists::numbers(some, &mut args);
        let sql = format!(
            "SELECT parent, COUNT(*) FROM core_entity WHERE ws = ?1 AND parent IN ({places}) \
             GROUP BY parent"
        );
        for row in tx.rows(&sql, &args)? {
            counts.insert(row.int(0)?, row.int(1)?);
        }
    }
    Ok(counts)
}

/// What stands above an entity, root first.
///
/// One statement where each is a round trip; SQLite answers several small ones sooner than one that
/// refers to itself.
pub fn above(tx: &mut ReadTx<'_>, ws: Ws, of: &Entity) -> Result<Vec<Entity>> {
    if tx.dialect().is_remote() {
        let mut found = Vec::new();
        for row in tx.rows(&ABOVE, args![ws, of.id])? {
            found.push((row.int::<i64>(Entity::WIDTH)?, Entity::read(row)?));
        }
        found.sort_by_key(|(level, _)| -level);
        return Ok(found.into_iter().map(|(_, entity)| entity).collect());
    }
    let mut next = of.parent;
    let mut found = Vec::new();
    while let Some(parent) = next.map(|id| get(tx, ws, id)).transpose()?.flatten() {
        next = parent.parent;
        found.push(parent);
    }
    found.reverse();
    Ok(found)
}

/// One step up at a time, by the limit: PostgreSQL would read all entities to join them.
static ABOVE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH RECURSIVE up AS (\
         SELECT e.*, 0 AS level FROM core_entity e WHERE e.ws = ?1 AND e.id = ?2 UNION ALL \
         SELECT above.*, up.level + 1 FROM up CROSS JOIN LATERAL (SELECT a.* FROM core_entity a \
         WHERE a.ws = ?1 AND a.id = up.parent LIMIT 1) above) \
         SELECT {COLUMNS}, CAST(e.level AS BIGINT) FROM up e WHERE e.level > 0"
    )
});

/// The condition of an index that leaves out the kinds of which there are so many that they have lists
/// of their own. A query must repeat this condition verbatim to use the index.
const FEW: &str = "e.kind <> 'node' AND e.kind <> 'record' AND e.kind <> 'session' \
                   AND e.kind <> 'relation'";

/// Entities of a kind made before one, the last made first; of the kinds that have no list of their
/// own.
pub fn of_kind(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    kind: &str,
    before: Id,
    most: i64,
) -> Result<Vec<Entity>> {
    if kind.contains('\0') {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM core_entity e WHERE e.ws = ?1 AND e.kind = ?2 AND e.id < ?3 \
         AND {FEW} ORDER BY e.id DESC LIMIT ?4"
    );
    table::all(tx, &sql, args![ws, kind, before, most])
}

/// Entities of any such kind made before one, the last made first.
pub fn of_no_surface(tx: &mut ReadTx<'_>, ws: Ws, before: Id, most: i64) -> Result<Vec<Entity>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM core_entity e WHERE e.ws = ?1 AND e.id < ?2 AND {FEW} \
         ORDER BY e.id DESC LIMIT ?3"
    );
    table::all(tx, &sql, args![ws, before, most])
}

/// The handles of a kind before one, the last made first.
pub fn newest_of(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    kind: &str,
    before: Id,
    most: i64,
) -> Result<Vec<String>> {
    let rows = tx.rows(
        "SELECT handle FROM core_entity WHERE ws = ?1 AND kind = ?2 AND id < ?3 \
         ORDER BY id DESC LIMIT ?4",
        args![ws, kind, before, most],
    )?;
    rows.into_iter().map(|mut row| row.text(0)).collect()
}
