//! Typed links between entities, found from both ends.

use std::collections::HashSet;
use std::sync::LazyLock;

use understory_model::error::Result;
use understory_model::{Id, Ws};

use crate::entities::Entity;
use crate::lists;
use crate::sql::{Arg, ReadTx, Tx, args};
use crate::table::Stored;

/// A link and the entity at its other end.
#[derive(Debug, Clone, PartialEq)]
pub struct Linked {
    pub relation: String,
    pub entity: Entity,
}

pub fn add(tx: &mut Tx<'_>, ws: Ws, links: &[(Id, String, Id)]) -> Result<()> {
    let mut values: Vec<Arg> = Vec::with_capacity(links.len() * 4);
    for (source, relation, target) in links {
        values.extend([
            Arg::from(ws),
            Arg::Text(relation),
            Arg::from(*source),
            Arg::from(*target),
        ]);
    }
    tx.insert(
        "INSERT INTO core_link (ws, relation, source, target)",
        4,
        &values,
    )
}

pub fn remove(tx: &mut Tx<'_>, ws: Ws, source: Id, relation: &str, target: Id) -> Result<()> {
    tx.run(
        "DELETE FROM core_link WHERE ws = ?1 AND source = ?2 AND relation = ?3 AND target = ?4",
        args![ws, source, relation, target],
    )?;
    Ok(())
}

pub fn exists(tx: &mut ReadTx<'_>, ws: Ws, source: Id, relation: &str, target: Id) -> Result<bool> {
    let row = tx.row(
        "SELECT 1 FROM core_link WHERE ws = ?1 AND source = ?2 AND relation = ?3 AND target = ?4",
        args![ws, source, relation, target],
    )?;
    Ok(row.is_some())
}

/// Where the links of a relation lead from here.
pub fn targets(tx: &mut ReadTx<'_>, ws: Ws, source: Id, relation: &str) -> Result<Vec<Id>> {
    let rows = tx.rows(
        "SELECT target FROM core_link WHERE ws = ?1 AND source = ?2 AND relation = ?3 \
         ORDER BY target",
        args![ws, source, relation],
    )?;
    rows.iter().map(|row| row.int(0)).collect()
}

/// Where the links of a relation come from.
pub fn sources(tx: &mut ReadTx<'_>, ws: Ws, target: Id, relation: &str) -> Result<Vec<Id>> {
    let rows = tx.rows(
        "SELECT source FROM core_link WHERE ws = ?1 AND target = ?2 AND relation = ?3 \
         ORDER BY source",
        args![ws, target, relation],
    )?;
    rows.iter().map(|row| row.int(0)).collect()
}

/// What a node depends on that is still open.
pub fn open_dependencies(tx: &mut ReadTx<'_>, ws: Ws, source: Id) -> Result<Vec<Id>> {
    let rows = tx.rows(
        "SELECT l.target FROM core_link l JOIN core_node n ON n.ws = l.ws AND n.id = l.target \
         WHERE l.ws = ?1 AND l.source = ?2 AND l.relation = 'depends_on' AND n.resolved = 0 \
         ORDER BY l.target",
        args![ws, source],
    )?;
    rows.iter().map(|row| row.int(0)).collect()
}

/// Which of some things a link of a relation leaves.
pub fn having(tx: &mut ReadTx<'_>, ws: Ws, ids: &[Id], relation: &str) -> Result<HashSet<Id>> {
    let mut found = HashSet::new();
    for some in ids.chunks(lists::AT_ONCE) {
        let mut args = vec![Arg::from(ws), Arg::Text(relation)];
        let places = lists::numbers(some, &mut args);
        let sql = format!(
            "SELECT source FROM core_link WHERE ws = ?1 AND relation = ?2 AND source IN ({places})"
        );
        for row in tx.rows(&sql, &args)? {
            found.insert(row.int(0)?);
        }
    }
    Ok(found)
}

/// The links of a relation that leave any of these, as pairs of source and target.
pub fn leaving(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    relation: &str,
    ids: &[Id],
    most: i64,
) -> Result<Vec<(Id, Id)>> {
    pairs(tx, ws, (relation, "source", "target"), ids, most)
}

/// The links of a relation that reach any of these, as pairs of source and target.
pub fn reaching(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    relation: &str,
    ids: &[Id],
    most: i64,
) -> Result<Vec<(Id, Id)>> {
    pairs(tx, ws, (relation, "target", "source"), ids, most)
}

/// At most `most` links in all, in the order of this end and then of the other.
fn pairs(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (relation, here, there): (&str, &str, &str),
    ids: &[Id],
    most: i64,
) -> Result<Vec<(Id, Id)>> {
    let mut found = Vec::new();
    for some in ids.chunks(lists::AT_ONCE) {
        let left = most - found.len() as i64;
        if left <= 0 {
            break;
        }
        let mut args = vec![Arg::from(ws), Arg::Text(relation), Arg::Int(left)];
        let places = lists::numbers(some, &mut args);
        let sql = format!(
            "SELECT source, target FROM core_link WHERE ws = ?1 AND relation = ?2 \
             AND {here} IN ({places}) ORDER BY {here}, {there} LIMIT ?3"
        );
        for row in tx.rows(&sql, &args)? {
            found.push((row.int(0)?, row.int(1)?));
        }
    }
    Ok(found)
}

/// Every link that leaves an entity, with what it leads to.
pub fn outgoing(tx: &mut ReadTx<'_>, ws: Ws, source: Id, most: i64) -> Result<Vec<Linked>> {
    let sql = format!(
        "SELECT {}, l.relation FROM core_link l JOIN core_entity e \
         ON e.ws = l.ws AND e.id = l.target WHERE l.ws = ?1 AND l.source = ?2 \
         ORDER BY l.relation, l.target LIMIT ?3",
        Entity::COLUMNS
    );
    linked(tx, &sql, ws, source, most)
}

/// Every link that reaches an entity, with what it comes from.
pub fn incoming(tx: &mut ReadTx<'_>, ws: Ws, target: Id, most: i64) -> Result<Vec<Linked>> {
    let sql = format!(
        "SELECT {}, l.relation FROM core_link l JOIN core_entity e \
         ON e.ws = l.ws AND e.id = l.source WHERE l.ws = ?1 AND l.target = ?2 \
         ORDER BY l.relation, l.source LIMIT ?3",
        Entity::COLUMNS
    );
    linked(tx, &sql, ws, target, most)
}

/// The links of an entity: those of one relation, and all others.
#[derive(Debug, Default)]
pub struct Around {
    /// What the relation leads to, in the order of its making.
    pub to: Vec<Entity>,
    /// What the relation comes from.
    pub from: Vec<Entity>,
    /// The links of other relations, and whether each leads away from here.
    pub others: Vec<(Linked, bool)>,
}

static AROUND: LazyLock<String> = LazyLock::new(|| {
    let side = |here: &str, there: &str, sign: &str, leads: i64| {
        format!(
            "SELECT * FROM (SELECT {}, l.relation, CAST({leads} AS BIGINT) AS leads \
             FROM core_link l JOIN core_entity e ON e.ws = l.ws AND e.id = l.{there} \
             WHERE l.ws = ?1 AND l.{here} = ?2 AND l.relation {sign} ?3 \
             ORDER BY l.relation, l.{there} LIMIT ?4) AS side",
            Entity::COLUMNS
        )
    };
    // A range on each side of the relation: a thousand dependencies are not walked for one other.
    let sides = ["=", "<", ">"].iter().flat_map(|sign| {
        [
            side("source", "target", sign, 1),
            side("target", "source", sign, 0),
        ]
    });
    sides.collect::<Vec<_>>().join(" UNION ALL ")
});

/// All links of an entity in one round trip, at most `most` of each relation group and direction.
pub fn around(tx: &mut ReadTx<'_>, ws: Ws, id: Id, relation: &str, most: i64) -> Result<Around> {
    let mut found = Around::default();
    for mut row in tx.rows(&AROUND, args![ws, id, relation, most])? {
        let leads = row.flag(Entity::WIDTH + 1)?;
        let kind = row.text(Entity::WIDTH)?;
        let entity = Entity::read_at(&mut row, 0)?;
        match (kind == relation, leads) {
            (true, true) => found.to.push(entity),
            (true, false) => found.from.push(entity),
            (false, _) => found.others.push((
                Linked {
                    relation: kind,
                    entity,
                },
                leads,
            )),
        }
    }
    // All sides in one round trip come in no order that is promised.
    found.to.sort_by_key(|entity| entity.id);
    found.from.sort_by_key(|entity| entity.id);
    found.others.sort_by(|(a, a_leads), (b, b_leads)| {
        let key = |one: &Linked, leads: bool| (one.relation.clone(), !leads, one.entity.id);
        key(a, *a_leads).cmp(&key(b, *b_leads))
    });
    Ok(found)
}

fn linked(tx: &mut ReadTx<'_>, sql: &str, ws: Ws, id: Id, most: i64) -> Result<Vec<Linked>> {
    let rows = tx.rows(sql, args![ws, id, most])?;
    rows.into_iter()
        .map(|mut row| {
            let entity = Entity::read_at(&mut row, 0)?;
            Ok(Linked {
                relation: row.text(Entity::WIDTH)?,
                entity,
            })
        })
        .collect()
}
