//! Revoked tokens, by their own id or by their session. A revocation is never taken back.

use understory_model::error::Result;
use understory_model::{Time, Ws};

use crate::sql::{ReadTx, Row, Tx, args};

/// What a revocation names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One token, by its `jti`.
    Token,
    /// Every token of a session that was issued up to a moment.
    Session,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Token => "token",
            Kind::Session => "session",
        }
    }

    fn parse(text: &str) -> Option<Kind> {
        [Kind::Token, Kind::Session]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }
}

/// Keeps a revocation; of two, the later moment.
pub fn put(tx: &mut Tx<'_>, ws: Ws, kind: Kind, name: &str, at: Time) -> Result<()> {
    tx.run(
        "INSERT INTO core_revoked (ws, kind, name, at) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (ws, kind, name) DO UPDATE SET at = excluded.at",
        args![ws, kind.as_str(), name, at.0],
    )?;
    Ok(())
}

/// Revocations of a workspace, up to so many.
pub fn all(tx: &mut ReadTx<'_>, ws: Ws, most: i64) -> Result<Vec<(Kind, String, Time)>> {
    let rows = tx.rows(
        "SELECT kind, name, at FROM core_revoked WHERE ws = ?1 LIMIT ?2",
        args![ws, most],
    )?;
    let one = |mut row: Row| Ok((row.word(0, Kind::parse)?, row.text(1)?, Time(row.int(2)?)));
    rows.into_iter().map(one).collect()
}

/// The moment of a revocation, if there is one.
pub fn find(tx: &mut ReadTx<'_>, ws: Ws, kind: Kind, name: &str) -> Result<Option<Time>> {
    let row = tx.row(
        "SELECT at FROM core_revoked WHERE ws = ?1 AND kind = ?2 AND name = ?3",
        args![ws, kind.as_str(), name],
    )?;
    row.map(|row| Ok(Time(row.int(0)?))).transpose()
}
