//! What happened to records and sessions: which items tell it, by project, kind and target.

use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::{Id, Seq, Ws};

use crate::items;
use crate::sql::{Arg, Tx, args};

/// An item of the log as the activity of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    pub project: Id,
    pub seq: Seq,
    pub kind: &'static str,
    /// The record it is about.
    pub target: Option<Id>,
}

pub fn add(tx: &mut Tx<'_>, ws: Ws, all: &[Activity]) -> Result<()> {
    let values: Vec<Arg> = all
        .iter()
        .flat_map(|one| {
            [
                Arg::Int(ws),
                Arg::Int(one.project),
                Arg::Int(one.seq),
                Arg::Text(one.kind),
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
    pub kinds: &'a [String],
    /// Not what this session did.
    pub except: Option<&'a str>,
    pub after: Seq,
    pub before: Seq,
    pub most: i64,
}

/// Activity newest first, each with its item.
pub fn newest(tx: &mut Tx<'_>, ws: Ws, wanted: &Wanted<'_>) -> Result<Vec<(String, Item)>> {
    let mut args = vec![
        Arg::Int(ws),
        Arg::Int(wanted.after),
        Arg::Int(wanted.before),
        Arg::Int(wanted.most),
    ];
    let whose = match wanted.target {
        Some(target) => {
            args.push(Arg::Int(target));
            "a.target = ?5"
        }
        None => {
            args.push(Arg::Int(wanted.project));
            "a.project = ?5"
        }
    };
    let mut sql = format!(
        "SELECT {}, a.type FROM core_activity a CROSS JOIN soil_item i \
         WHERE i.ws = ?1 AND i.seq = a.seq AND a.ws = ?1 AND {whose} AND a.seq > ?2 AND a.seq < ?3",
        items::columns()
    );
    if !wanted.kinds.is_empty() {
        let places: Vec<String> = (1..=wanted.kinds.len())
            .map(|n| format!("?{}", args.len() + n))
            .collect();
        args.extend(wanted.kinds.iter().map(|kind| Arg::Text(kind)));
        sql.push_str(&format!(" AND a.type IN ({})", places.join(", ")));
    }
    if let Some(session) = wanted.except {
        args.push(Arg::Text(session));
        sql.push_str(&format!(" AND i.session <> ?{}", args.len()));
    }
    sql.push_str(" ORDER BY a.seq DESC LIMIT ?4");
    told(tx, &sql, &args)
}

/// What others did after a place to what a session holds, newest first.
pub fn on_held(
    tx: &mut Tx<'_>,
    ws: Ws,
    session: (Id, &str),
    kinds: [&str; 3],
    after: Seq,
    most: i64,
) -> Result<Vec<(String, Item)>> {
    let sql = format!(
        "SELECT {}, a.type FROM core_lease l CROSS JOIN core_activity a \
         JOIN soil_item i ON i.ws = a.ws AND i.seq = a.seq \
         WHERE l.ws = ?1 AND l.session = ?2 AND a.ws = ?1 AND a.target = l.target AND a.seq > ?4 \
         AND a.type IN (?5, ?6, ?7) AND i.session <> ?3 ORDER BY a.seq DESC LIMIT ?8",
        items::columns()
    );
    let (id, name) = session;
    let [one, two, three] = kinds;
    told(tx, &sql, args![ws, id, name, after, one, two, three, most])
}

fn told(tx: &mut Tx<'_>, sql: &str, args: &[Arg]) -> Result<Vec<(String, Item)>> {
    let rows = tx.rows(sql, args)?;
    rows.into_iter()
        .map(|mut row| {
            let kind = row.text(items::WIDTH)?;
            Ok((kind, items::item(row)?))
        })
        .collect()
}
