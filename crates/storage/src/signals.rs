//! Items that a timeline shows from afar: what failed or cannot both be, and what waited.

use understory_model::error::Result;
use understory_model::{Seq, Ws};

use crate::lists::AT_ONCE;
use crate::sql::{Arg, ReadTx, Tx};
use crate::statement::Statement;
use crate::table::{self, table};

table! {
    /// An item with a sign.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Signal in core_signal as s key (sign, seq) {
        pub sign: String,
        pub seq: Seq,
        pub surface: String,
    }
}

pub fn add(tx: &mut Tx<'_>, ws: Ws, all: &[Signal]) -> Result<()> {
    table::insert(tx, ws, all)
}

/// Those of a sign in a part of the log, the newest first; not those of some surfaces.
pub fn within(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (sign, without): (&str, &[&str]),
    (from, before): (Seq, Seq),
    most: i64,
) -> Result<Vec<Signal>> {
    let args = vec![
        Arg::from(ws),
        Arg::Text(sign),
        Arg::from(from),
        Arg::from(before),
    ];
    let within = "s.ws = ?1 AND s.sign = ?2 AND s.seq >= ?3 AND s.seq < ?4";
    let mut query = Statement::new("core_signal s", within, args);
    for surface in without {
        query.and_arg("s.surface <> ?", *surface);
    }
    let most = query.arg(most);
    let selected = query.select("s.sign, s.seq, s.surface");
    let sql = format!("{selected} ORDER BY s.seq DESC LIMIT {most}");
    table::all(tx, &sql, &query.args)
}

/// Which of some stretches of the log have any of a sign, by their beginnings; each is one step into
/// the index, however many there are.
pub fn any_in(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    (sign, without): (&str, &[&str]),
    stretches: &[(Seq, Seq)],
) -> Result<Vec<Seq>> {
    let mut found = Vec::new();
    for some in stretches.chunks(AT_ONCE) {
        let mut args = vec![Arg::from(ws), Arg::Text(sign)];
        let others: Vec<String> = without
            .iter()
            .map(|surface| {
                args.push(Arg::Text(surface));
                format!(" AND s.surface <> ?{}", args.len())
            })
            .collect();
        let mut rows = Vec::with_capacity(some.len());
        for (from, before) in some {
            args.extend([Arg::from(*from), Arg::from(*before)]);
            let at = args.len();
            rows.push(format!(
                "(CAST(?{} AS BIGINT), CAST(?{at} AS BIGINT))",
                at - 1
            ));
        }
        let sql = format!(
            "SELECT b.column1 FROM (VALUES {}) b WHERE EXISTS (SELECT 1 FROM core_signal s \
             WHERE s.ws = ?1 AND s.sign = ?2 AND s.seq >= b.column1 AND s.seq < b.column2{})",
            rows.join(", "),
            others.concat()
        );
        for row in tx.rows(&sql, &args)? {
            found.push(row.int(0)?);
        }
    }
    Ok(found)
}
