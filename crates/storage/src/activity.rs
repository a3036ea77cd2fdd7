//! What happened to records and sessions: which items tell it, by project, kind and target.

use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::record::ActivityKind;
use understory_model::{Id, Seq, Ws};

use crate::items;
use crate::sql::{Arg, ReadTx, Tx, args};
use crate::statement::Statement;

/// An item of the log as the activity of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    pub project: Id,
    pub seq: Seq,
    pub kind: ActivityKind,
    /// The record it is about.
    pub target: Option<Id>,
}

pub fn add(tx: &mut Tx<'_>, ws: Ws, all: &[Activity]) -> Result<()> {
    let values: Vec<Arg> = all
        .iter()
        .flat_map(|one| {
            [
                Arg::from(ws),
                Arg::from(one.project),
                Arg::from(one.seq),
                Arg::Text(one.kind.as_str()),
                Arg::from(one.target),
            ]
        })
        .collect();
    tx.insert(
        "INSERT INTO core_activity (ws, project, seq, type, target)",
        5,
        &values,
    )
}

/// Which activity is wanted.
pub struct Wanted<'a> {
    pub project: Id,
    pub target: Option<Id>,
    /// Any where empty.
    pub kinds: &'a [ActivityKind],
    /// Not what this session did.
    pub except: Option<&'a str>,
    pub after: Seq,
    pub before: Seq,
    pub most: i64,
}

/// Activity newest first, each with its item.
pub fn newest(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    wanted: &Wanted<'_>,
) -> Result<Vec<(ActivityKind, Item)>> {
    let args = vec![
        Arg::from(ws),
        Arg::from(wanted.after),
        Arg::from(wanted.before),
        Arg::Int(wanted.most),
    ];
    let mut query = Statement::new(
        "core_activity a CROSS JOIN soil_item i",
        "i.ws = ?1 AND i.seq = a.seq AND a.ws = ?1 AND a.seq > ?2 AND a.seq < ?3",
        args,
    );
    match wanted.target {
        Some(target) => query.and_arg("a.target = ?", target),
        None => query.and_arg("a.project = ?", wanted.project),
    }
    query.and_in("a.type", wanted.kinds.iter().map(|kind| kind.as_str()));
    if let Some(session) = wanted.except {
        query.and_arg("i.session <> ?", session);
    }
    let selected = query.select(&format!("{}, a.type", items::columns()));
    let sql = format!("{selected} ORDER BY a.seq DESC LIMIT ?4");
    told(tx, &sql, &query.args)
}

/// What a session was not told yet.
pub struct Untold<'a> {
    pub project: Id,
    /// The session, by id and by name.
    pub session: (Id, &'a str),
    /// The item up to which it was told everything.
    pub synced: Seq,
    pub kinds: [ActivityKind; 3],
    /// Only what follows this item.
    pub after: Seq,
    pub most: i64,
}

/// What others did to records that a session holds and was not told of, oldest first, each with
/// the version that the session last saw.
pub fn untold_of_held(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    untold: &Untold<'_>,
) -> Result<Vec<(ActivityKind, Item, i64)>> {
    let sql = format!(
        "SELECT {}, a.type, l.seen FROM core_lease l CROSS JOIN core_activity a \
         JOIN soil_item i ON i.ws = a.ws AND i.seq = a.seq \
         WHERE l.ws = ?1 AND l.session = ?2 AND a.ws = ?1 AND a.target = l.target \
         AND a.seq > ?4 AND a.seq > ?5 AND a.seq > l.told AND a.type IN (?6, ?7, ?8) \
         AND i.session <> ?3 ORDER BY a.seq LIMIT ?9",
        items::columns()
    );
    let ((id, name), [one, two, three]) = (untold.session, untold.kinds.map(ActivityKind::as_str));
    let (synced, after, most) = (untold.synced, untold.after, untold.most);
    let rows = tx.rows(
        &sql,
        args![ws, id, name, synced, after, one, two, three, most],
    )?;
    rows.into_iter()
        .map(|row| {
            let (kind, seen) = (
                row.word(items::WIDTH, ActivityKind::parse)?,
                row.int(items::WIDTH + 1)?,
            );
            Ok((kind, items::item(row)?, seen))
        })
        .collect()
}

/// What others did in a project to records that a session does not hold and was not told of,
/// oldest first.
pub fn untold_of_others(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    untold: &Untold<'_>,
) -> Result<Vec<(ActivityKind, Item)>> {
    let sql = format!(
        "SELECT {}, a.type FROM core_activity a CROSS JOIN soil_item i \
         WHERE i.ws = ?1 AND i.seq = a.seq AND a.ws = ?1 AND a.project = ?2 \
         AND a.seq > ?5 AND a.seq > ?6 AND a.type IN (?7, ?8, ?9) AND i.session <> ?4 \
         AND NOT EXISTS (SELECT 1 FROM core_lease l \
         WHERE l.ws = ?1 AND l.session = ?3 AND l.target = a.target) ORDER BY a.seq LIMIT ?10",
        items::columns()
    );
    let ((id, name), [one, two, three]) = (untold.session, untold.kinds.map(ActivityKind::as_str));
    let (project, synced) = (untold.project, untold.synced);
    let (after, most) = (untold.after, untold.most);
    told(
        tx,
        &sql,
        args![ws, project, id, name, synced, after, one, two, three, most],
    )
}

/// How many changes others made in a project after an item.
pub fn count_after(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Id,
    (session, kinds): (&str, [ActivityKind; 3]),
    after: Seq,
) -> Result<i64> {
    let [one, two, three] = kinds.map(ActivityKind::as_str);
    let row = tx.row(
        "SELECT COUNT(*) FROM core_activity a CROSS JOIN soil_item i \
         WHERE i.ws = ?1 AND i.seq = a.seq AND a.ws = ?1 AND a.project = ?2 AND a.seq > ?3 \
         AND a.type IN (?4, ?5, ?6) AND i.session <> ?7",
        args![ws, project, after, one, two, three, session],
    )?;
    row.map_or(Ok(0), |row| row.int(0))
}

fn told(tx: &mut ReadTx<'_>, sql: &str, args: &[Arg]) -> Result<Vec<(ActivityKind, Item)>> {
    let rows = tx.rows(sql, args)?;
    rows.into_iter()
        .map(|row| {
            let kind = row.word(items::WIDTH, ActivityKind::parse)?;
            Ok((kind, items::item(row)?))
        })
        .collect()
}
