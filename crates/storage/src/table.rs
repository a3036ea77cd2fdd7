//! Tables declared once. From one declaration follow the struct of a row, the list of its columns,
//! the reader, and the statements that insert, update and upsert it.
//!
//! ```text
//! table! {
//!     /// What a branch is made of.
//!     #[derive(Debug, Clone)]
//!     pub struct Branch in core_branch as b key (name) fixed (id) {
//!         pub name: String,
//!         pub id: Id,
//!         pub kind: String = "type",
//!         pub priority: f64 = "rank_priority" as Descending,
//!     }
//!     derived { rank_depth: |branch| Arg::Int(-branch.depth) }
//! }
//! ```
//!
//! Every table has the column `ws` besides, first of its key. `as b` is the alias that the list of
//! columns uses, `key` and `fixed` name columns, the latter those that an update leaves alone. A field names its column where
//! they differ, and a codec where the type alone does not say how it is stored. A `derived` column is
//! written and never read. With `impl` instead of `pub struct` the struct is declared elsewhere.

use understory_model::Ws;
use understory_model::error::Result;

pub(crate) use crate::column::{Codec, Plain};
use crate::together::insert_text;
use crate::tx::{ReadTx, Tx};
use crate::value::{Arg, Row};

/// A row of a declared table.
pub(crate) trait Stored: Sized {
    const TABLE: &'static str;
    /// The alias of the table in [`Stored::COLUMNS`]; empty without one.
    const ALIAS: &'static str;
    /// What to select, for a statement that names the table by its alias.
    const COLUMNS: &'static str;
    /// How many columns that is.
    const WIDTH: usize;

    /// Reads a row from the columns that begin at a place.
    fn read_at(row: &mut Row, at: usize) -> Result<Self>;

    /// Adds the values of all columns but `ws`, in the order of [`Stored::COLUMNS`]; those of derived
    /// columns follow.
    fn write<'a>(&'a self, args: &mut Vec<Arg<'a>>);

    /// The statements of this table, assembled once.
    fn statements() -> &'static Statements;

    fn read(mut row: Row) -> Result<Self> {
        Self::read_at(&mut row, 0)
    }
}

/// The statements that follow from the declaration of a table.
pub(crate) struct Statements {
    /// Names of the written columns, `ws` first.
    pub columns: Vec<&'static str>,
    /// `INSERT INTO t (ws, a, b)`.
    pub into: String,
    pub insert: String,
    /// Selects one row by its key.
    pub get: String,
    pub update: String,
    /// Which of the written values the update takes, in the order of its arguments.
    update_args: Vec<usize>,
    /// ` ON CONFLICT (…) DO UPDATE SET …`, for [`Tx::upsert`].
    pub on_conflict: String,
    pub upsert: String,
}

/// What a declaration says of a table besides its columns.
pub(crate) struct Shape {
    pub key: &'static [&'static str],
    pub fixed: &'static [&'static str],
    pub derived: &'static [&'static str],
}

impl Statements {
    pub fn of<T: Stored>(shape: &Shape) -> Statements {
        let prefix = format!("{}.", T::ALIAS);
        let bare = |column: &'static str| column.strip_prefix(&prefix).unwrap_or(column);
        let mut columns = vec!["ws"];
        columns.extend(T::COLUMNS.split(", ").map(bare));
        columns.extend(shape.derived);
        let named = shape.key.iter().chain(shape.fixed);
        debug_assert!(
            named.into_iter().all(|name| columns.contains(name)),
            "key and fixed name columns"
        );
        let place = |name: &&str| columns.iter().position(|column| column == name);
        let mut update_args = vec![0];
        update_args.extend(shape.key.iter().filter_map(place));
        let keys = update_args.len();
        let is_fixed = |at: &usize| update_args.contains(at) || shape.fixed.contains(&columns[*at]);
        let changed: Vec<usize> = (0..columns.len()).filter(|at| !is_fixed(at)).collect();
        update_args.extend(&changed);

        let table = T::TABLE;
        let into = format!("INSERT INTO {table} ({})", columns.join(", "));
        let insert = insert_text(&into, columns.len(), 1);
        let set = changed.iter().enumerate();
        let set = set.map(|(n, at)| format!("{} = ?{}", columns[*at], keys + n + 1));
        let set = set.collect::<Vec<_>>().join(", ");
        let whose = |prefix: &str| {
            let whose = update_args[..keys].iter().enumerate();
            let whose = whose.map(|(n, at)| format!("{prefix}{} = ?{}", columns[*at], n + 1));
            whose.collect::<Vec<_>>().join(" AND ")
        };
        let (named, prefix) = match T::ALIAS {
            "" => (table.to_string(), ""),
            alias => (format!("{table} {alias}"), prefix.as_str()),
        };
        let excluded = changed.iter().map(|at| columns[*at]);
        let excluded = excluded.map(|column| format!("{column} = excluded.{column}"));
        let excluded = excluded.collect::<Vec<_>>().join(", ");
        let key: Vec<&str> = update_args[..keys].iter().map(|at| columns[*at]).collect();
        let on_conflict = format!(" ON CONFLICT ({}) DO UPDATE SET {excluded}", key.join(", "));
        Statements {
            get: format!("SELECT {} FROM {named} WHERE {}", T::COLUMNS, whose(prefix)),
            update: format!("UPDATE {table} SET {set} WHERE {}", whose("")),
            upsert: format!("{insert}{on_conflict}"),
            into,
            insert,
            on_conflict,
            update_args,
            columns,
        }
    }

    /// A statement that changes `some` columns of a row of which all others are as given already. It
    /// takes the values of an insert.
    pub fn update_only(&self, table: &str, some: &[&str]) -> String {
        let place = |(n, column): (usize, &&'static str)| format!("{column} = ?{}", n + 1);
        let columns = || self.columns.iter().enumerate();
        let changed = columns().filter(|(_, column)| some.contains(column));
        let same = columns().filter(|(_, column)| !some.contains(column));
        format!(
            "UPDATE {table} SET {} WHERE {}",
            changed.map(place).collect::<Vec<_>>().join(", "),
            same.map(place).collect::<Vec<_>>().join(" AND ")
        )
    }
}

/// The values of one row, `ws` first, as an insert takes them.
pub(crate) fn values<T: Stored>(ws: Ws, row: &T) -> Vec<Arg<'_>> {
    let mut args = Vec::with_capacity(T::statements().columns.len());
    args.push(Arg::from(ws));
    row.write(&mut args);
    args
}

/// The values of many rows, one after the other.
pub(crate) fn all_values<'a, T: Stored + 'a>(
    ws: Ws,
    rows: impl IntoIterator<Item = &'a T>,
) -> Vec<Arg<'a>> {
    let mut args = Vec::new();
    for row in rows {
        args.push(Arg::from(ws));
        row.write(&mut args);
    }
    args
}

/// The row of a key.
pub(crate) fn get<T: Stored>(tx: &mut ReadTx<'_>, args: &[Arg]) -> Result<Option<T>> {
    one(tx, &T::statements().get, args)
}

/// The first row that a statement selects.
pub(crate) fn one<T: Stored>(tx: &mut ReadTx<'_>, sql: &str, args: &[Arg]) -> Result<Option<T>> {
    tx.row(sql, args)?.map(T::read).transpose()
}

/// Every row that a statement selects.
pub(crate) fn all<T: Stored>(tx: &mut ReadTx<'_>, sql: &str, args: &[Arg]) -> Result<Vec<T>> {
    tx.rows(sql, args)?.into_iter().map(T::read).collect()
}

/// Inserts one row at once.
pub(crate) fn add<T: Stored>(tx: &mut Tx<'_>, ws: Ws, row: &T) -> Result<()> {
    tx.run(&T::statements().insert, &values(ws, row)).map(drop)
}

/// Inserts rows, with other statements in one round trip where that saves one.
pub(crate) fn insert<'a, T: Stored + 'a>(
    tx: &mut Tx<'_>,
    ws: Ws,
    rows: impl IntoIterator<Item = &'a T>,
) -> Result<()> {
    let statements = T::statements();
    let (width, values) = (statements.columns.len(), all_values(ws, rows));
    if values.len() == width {
        return tx.run_together(&statements.insert, &values);
    }
    tx.insert(&statements.into, width, &values)
}

/// Updates the row of a key, with other statements in one round trip where that saves one.
pub(crate) fn update<T: Stored>(tx: &mut Tx<'_>, ws: Ws, row: &T) -> Result<()> {
    let (statements, values) = (T::statements(), values(ws, row));
    let args: Vec<Arg> = statements
        .update_args
        .iter()
        .map(|at| values[*at])
        .collect();
    tx.run_together(&statements.update, &args)
}

/// Inserts or updates the row of a key at once.
pub(crate) fn put<T: Stored>(tx: &mut Tx<'_>, ws: Ws, row: &T) -> Result<()> {
    tx.run(&T::statements().upsert, &values(ws, row)).map(drop)
}

/// As [`put`], with other statements in one round trip where that saves one.
pub(crate) fn put_together<T: Stored>(tx: &mut Tx<'_>, ws: Ws, row: &T) -> Result<()> {
    tx.run_together(&T::statements().upsert, &values(ws, row))
}

/// The name of a field's column.
macro_rules! column_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $column:literal) => {
        $column
    };
}
pub(crate) use column_name;

/// A column as a list of columns names it, with the alias of its table.
macro_rules! prefixed {
    ([] $name:expr) => {
        $name
    };
    ([$alias:ident] $name:expr) => {
        concat!(stringify!($alias), ".", $name)
    };
}
pub(crate) use prefixed;

/// All columns, each after a comma and a space.
macro_rules! listed {
    ($alias:tt $([$field:ident $($column:literal)?])+) => {
        concat!($(
            ", ",
            $crate::table::prefixed!($alias $crate::table::column_name!($field $($column)?))
        ),+)
    };
}
pub(crate) use listed;

/// The codec of a field.
macro_rules! codec {
    () => {
        $crate::table::Plain
    };
    ($codec:ident) => {
        $codec
    };
}
pub(crate) use codec;

/// Declares a table; see the head of this file.
macro_rules! table {
    (
        $(#[$meta:meta])*
        pub struct $name:ident in $table:ident $(as $alias:ident)?
        key ($($key:ident),*) $(fixed ($($fixed:ident),+))?
        {
            $($(#[$says:meta])* pub $field:ident: $type:ty $(= $column:literal)? $(as $codec:ident)?,)+
        }
        $(derived { $($derived:ident: |$of:ident| $value:expr),+ $(,)? })?
    ) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[$says])* pub $field: $type,)+
        }

        $crate::table::table! {
            impl $name in $table $(as $alias)? key ($($key),*) $(fixed ($($fixed),+))? {
                $($field: $type $(= $column)? $(as $codec)?,)+
            }
            $(derived { $($derived: |$of| $value),+ })?
        }
    };
    (
        impl $name:ident in $table:ident $(as $alias:ident)?
        key ($($key:ident),*) $(fixed ($($fixed:ident),+))?
        {
            $($field:ident: $type:ty $(= $column:literal)? $(as $codec:ident)?,)+
        }
        $(derived { $($derived:ident: |$of:ident| $value:expr),+ $(,)? })?
    ) => {
        impl $crate::table::Stored for $name {
            const TABLE: &'static str = stringify!($table);
            const ALIAS: &'static str = concat!($(stringify!($alias))?);
            const COLUMNS: &'static str = {
                const LISTED: &str =
                    $crate::table::listed!([$($alias)?] $([$field $($column)?])+);
                LISTED.split_at(2).1
            };
            const WIDTH: usize = 0
                $(+ <$crate::table::codec!($($codec)?) as $crate::table::Codec<$type>>::COLUMNS)+;

            fn read_at(
                row: &mut $crate::value::Row,
                at: usize,
            ) -> understory_model::error::Result<$name> {
                let mut next = at;
                $(
                    let $field =
                        <$crate::table::codec!($($codec)?) as $crate::table::Codec<$type>>::read(row, next)?;
                    next += <$crate::table::codec!($($codec)?) as $crate::table::Codec<$type>>::COLUMNS;
                )+
                let _ = next;
                Ok($name { $($field),+ })
            }

            fn write<'a>(&'a self, args: &mut Vec<$crate::value::Arg<'a>>) {
                $(<$crate::table::codec!($($codec)?) as $crate::table::Codec<$type>>::write(&self.$field, args);)+
                $($({
                    let $of = self;
                    args.push($value);
                })+)?
            }

            fn statements() -> &'static $crate::table::Statements {
                static ONCE: std::sync::OnceLock<$crate::table::Statements> =
                    std::sync::OnceLock::new();
                ONCE.get_or_init(|| {
                    $crate::table::Statements::of::<$name>(&$crate::table::Shape {
                        key: &[$(stringify!($key)),*],
                        fixed: &[$($(stringify!($fixed)),+)?],
                        derived: &[$($(stringify!($derived)),+)?],
                    })
                })
            }
        }
    };
}
pub(crate) use table;

#[cfg(test)]
mod tests {
    use super::*;
    use understory_model::Id;

    table! {
        #[derive(Debug, Clone, PartialEq)]
        pub struct Sample in core_sample as s key (id, n) fixed (project) {
            pub id: Id,
            pub n: i64,
            pub project: Id,
            pub kind: String = "type",
            pub at: Option<i64>,
        }
        derived { rank: |sample| Arg::Int(-sample.n) }
    }

    #[test]
    fn every_statement_follows_from_the_declaration() {
        let of = Sample::statements();
        assert_eq!(Sample::COLUMNS, "s.id, s.n, s.project, s.type, s.at");
        assert_eq!(
            of.insert,
            "INSERT INTO core_sample (ws, id, n, project, type, at, rank) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
        );
        assert_eq!(
            of.get,
            "SELECT s.id, s.n, s.project, s.type, s.at FROM core_sample s \
             WHERE s.ws = ?1 AND s.id = ?2 AND s.n = ?3"
        );
        assert_eq!(
            of.update,
            "UPDATE core_sample SET type = ?4, at = ?5, rank = ?6 \
             WHERE ws = ?1 AND id = ?2 AND n = ?3"
        );
        assert_eq!(of.update_args, [0, 1, 2, 4, 5, 6]);
        assert_eq!(
            of.on_conflict,
            " ON CONFLICT (ws, id, n) DO UPDATE SET type = excluded.type, at = excluded.at, \
             rank = excluded.rank"
        );
        assert_eq!(
            of.update_only(Sample::TABLE, &["type"]),
            "UPDATE core_sample SET type = ?5 WHERE ws = ?1 AND id = ?2 AND n = ?3 \
             AND project = ?4 AND at = ?6 AND rank = ?7"
        );
    }

    #[test]
    fn a_row_reads_as_it_was_written() {
        use crate::value::Cell;
        let sample = Sample {
            id: Id(1),
            n: 2,
            project: Id(3),
            kind: "k".into(),
            at: None,
        };
        assert_eq!(values(Ws(9), &sample).len(), Sample::WIDTH + 2);
        let cells = [Cell::Int(1), Cell::Int(2), Cell::Int(3)];
        let mut cells = [vec![Cell::Null], cells.to_vec()].concat();
        cells.extend([Cell::Text("k".into()), Cell::Null]);
        assert_eq!(Sample::read_at(&mut Row(cells), 1), Ok(sample));
    }
}
