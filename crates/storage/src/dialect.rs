//! The whole list of differences between the two databases.
//!
//! Everything else in this crate is one SQL text for both. A difference belongs here even when it
//! is a single word, so that a third database is this file again and a connection.

use understory_model::text::unaccented;

use crate::value::Arg;

/// Which database a statement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

/// What a word weighs in each column of SQLite's full-text index: a hit in the title outweighs any
/// number further down.
pub const WORD_WEIGHTS: [(&str, f64); 3] = [("title", 1e6), ("summary", 1e3), ("body", 1.0)];

impl Dialect {
    /// Column types and table options, as the words that the schema is written with.
    pub fn schema(self, text: &str) -> String {
        let words: [(&str, &str); 5] = match self {
            Dialect::Sqlite => [
                ("{int}", "INTEGER"),
                ("{real}", "REAL"),
                ("{bytes}", "BLOB"),
                ("{path}", "TEXT"),
                ("{clustered}", " WITHOUT ROWID"),
            ],
            // Paths are compared byte by byte whatever the database's collation is.
            Dialect::Postgres => [
                ("{int}", "BIGINT"),
                ("{real}", "DOUBLE PRECISION"),
                ("{bytes}", "BYTEA"),
                ("{path}", "TEXT COLLATE \"C\""),
                ("{clustered}", ""),
            ],
        };
        words.iter().fold(text.to_string(), |text, (word, sql)| {
            text.replace(word, sql)
        })
    }

    /// `?1` is SQLite's way to write an argument; PostgreSQL wants `$1`.
    ///
    /// The texts of this crate have no question mark inside a literal.
    pub fn statement(self, sql: &str) -> String {
        match self {
            Dialect::Sqlite => sql.to_string(),
            Dialect::Postgres => sql.replace('?', "$"),
        }
    }

    /// SQLite has one writer; PostgreSQL orders those of a workspace by its head row.
    pub fn for_update(self) -> &'static str {
        match self {
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR UPDATE",
        }
    }

    /// Whether a statement is a round trip.
    pub fn is_remote(self) -> bool {
        self == Dialect::Postgres
    }

    /// Rows that one statement inserts: SQLite is fastest with one, PostgreSQL with few round
    /// trips.
    pub fn rows_per_insert(self) -> usize {
        match self {
            Dialect::Sqlite => 1,
            Dialect::Postgres => 64,
        }
    }

    /// Whether an update writes the index of every column that it names, changed or not.
    pub fn rewrites_indexes(self) -> bool {
        self == Dialect::Sqlite
    }

    /// Starts a transaction that writes.
    pub fn begin_write(self) -> &'static str {
        match self {
            Dialect::Sqlite => "BEGIN IMMEDIATE",
            Dialect::Postgres => "BEGIN",
        }
    }

    /// Asks for core's version at the start of a transaction. A process of another version may
    /// have replayed core since; and where tables can be dropped under a reader's eyes, holding
    /// this one makes a replay and everybody else wait for each other.
    pub fn core_version(self) -> &'static str {
        match self {
            Dialect::Sqlite => "SELECT value FROM core_meta WHERE key = 'version'",
            Dialect::Postgres => {
                "LOCK TABLE core_meta IN ACCESS SHARE MODE; \
                 SELECT value FROM core_meta WHERE key = 'version'"
            }
        }
    }

    /// Starts a transaction whose queries all see one moment.
    pub fn begin_read(self) -> &'static str {
        match self {
            Dialect::Sqlite => "BEGIN",
            Dialect::Postgres => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        }
    }

    /// Whether a table of this name exists.
    pub fn table_exists(self) -> &'static str {
        match self {
            Dialect::Sqlite => "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1",
            Dialect::Postgres => {
                "SELECT 1 FROM pg_catalog.pg_class c \
                 WHERE c.oid = to_regclass(CAST(?1 AS TEXT))"
            }
        }
    }

    /// Where in a text another stands; 0 when it does not.
    pub fn position(self) -> &'static str {
        match self {
            Dialect::Sqlite => "instr",
            Dialect::Postgres => "strpos",
        }
    }

    /// What makes soil immutable: the database itself refuses.
    pub fn soil_guards(self) -> &'static str {
        match self {
            Dialect::Sqlite => include_str!("sql/guards.sqlite.sql"),
            Dialect::Postgres => include_str!("sql/guards.postgres.sql"),
        }
    }

    /// What version 2 of soil guards otherwise than version 1.
    pub fn soil_guards_2(self) -> &'static str {
        match self {
            Dialect::Sqlite => include_str!("sql/guards.2.sqlite.sql"),
            Dialect::Postgres => include_str!("sql/guards.2.postgres.sql"),
        }
    }

    /// What version 3 of soil guards otherwise than version 2.
    pub fn soil_guards_3(self) -> &'static str {
        match self {
            Dialect::Sqlite => include_str!("sql/guards.3.sqlite.sql"),
            Dialect::Postgres => include_str!("sql/guards.3.postgres.sql"),
        }
    }

    /// Makes everybody else wait before core is dropped, so that no two wait for each other. SQLite
    /// has one writer anyway.
    pub fn lock_core(self) -> &'static str {
        match self {
            Dialect::Sqlite => "",
            Dialect::Postgres => "LOCK TABLE core_meta IN ACCESS EXCLUSIVE MODE",
        }
    }

    /// After content was purged and committed, and core was made anew. The planner's statistics
    /// hold samples of what a column held, so they are taken again.
    pub fn finish_purging(self) -> &'static [&'static str] {
        match self {
            Dialect::Sqlite => &["PRAGMA wal_checkpoint(TRUNCATE)"],
            Dialect::Postgres => &[
                "VACUUM (ANALYZE) soil_item",
                "VACUUM (ANALYZE) soil_erased",
                "VACUUM (ANALYZE) live_answer",
                "VACUUM (ANALYZE) live_scratch",
                "VACUUM (ANALYZE) live_embedding",
            ],
        }
    }

    /// After content was erased and committed: nothing of it is left beside the tables either. Each
    /// is run outside of a transaction; `indexed` when the text indexes held it.
    pub fn finish_erasing(self, indexed: bool) -> &'static [&'static str] {
        match (self, indexed) {
            // The log of pages keeps them until they are all in the file.
            (Dialect::Sqlite, false) => &["PRAGMA wal_checkpoint(TRUNCATE)"],
            // An index keeps the words of what was taken out of it until it is merged.
            (Dialect::Sqlite, true) => &[
                "INSERT INTO core_words (core_words) VALUES ('optimize')",
                "INSERT INTO core_grams (core_grams) VALUES ('optimize')",
                "PRAGMA wal_checkpoint(TRUNCATE)",
            ],
            (Dialect::Postgres, _) => &[
                "VACUUM soil_item",
                "VACUUM live_answer",
                "VACUUM core_words",
                "VACUUM core_vector",
            ],
        }
    }

    /// What lets no working text remain beside the tables once it is forgotten.
    pub fn finish_forgetting(self) -> &'static [&'static str] {
        match self {
            Dialect::Sqlite => &["PRAGMA wal_checkpoint(TRUNCATE)"],
            Dialect::Postgres => &["VACUUM live_scratch"],
        }
    }

    /// The full-text and substring indexes: FTS5 here, GIN there.
    pub fn text_schema(self) -> &'static str {
        match self {
            Dialect::Sqlite => include_str!("sql/text.sqlite.sql"),
            Dialect::Postgres => include_str!("sql/text.postgres.sql"),
        }
    }

    /// What the planner should think of tables that have no rows yet; PostgreSQL finds out itself.
    pub fn statistics(self) -> &'static str {
        match self {
            Dialect::Sqlite => include_str!("sql/statistics.sqlite.sql"),
            Dialect::Postgres => "",
        }
    }

    /// Every table of those, for a replay to drop.
    pub fn text_tables(self) -> &'static [&'static str] {
        match self {
            Dialect::Sqlite => &["core_words", "core_grams", "core_fresh"],
            Dialect::Postgres => &["core_words", "core_grams"],
        }
    }

    /// Whether a few texts are kept beside the indexes until they are many. GIN does so itself.
    pub fn texts_wait(self) -> bool {
        self == Dialect::Sqlite
    }

    /// Puts the words of one thing into SQLite's full-text index: packed key, title, summary, body.
    ///
    /// Only `VALUES`: an `INSERT … SELECT` opens a savepoint, at which FTS5 writes out its
    /// segments.
    pub const WORDS_PUT: &'static str =
        "INSERT INTO core_words (rowid, title, summary, body) VALUES (?1, ?2, ?3, ?4)";

    /// Puts the trigrams of one thing into SQLite's substring index: packed key, trigrams as words.
    pub const GRAMS_PUT: &'static str = "INSERT INTO core_grams (rowid, grams) VALUES (?1, ?2)";

    /// Puts `count` things into both of PostgreSQL's text indexes: workspace, id, title, summary,
    /// body and trigrams of each.
    pub fn texts_put(count: usize) -> String {
        let row = |at: usize| {
            let [ws, id, title, summary, body, grams] = [1, 2, 3, 4, 5, 6].map(|n| at * 6 + n);
            format!(
                "(CAST(?{ws} AS BIGINT), CAST(?{id} AS BIGINT), CAST(?{title} AS TEXT), \
                 CAST(?{summary} AS TEXT), CAST(?{body} AS TEXT), CAST(?{grams} AS INTEGER[]))"
            )
        };
        let rows: Vec<String> = (0..count).map(row).collect();
        format!(
            "WITH v (ws, id, title, summary, body, grams) AS (VALUES {}), \
             words AS (INSERT INTO core_words (ws, id, tsv) SELECT v.ws, v.id, \
             setweight(to_tsvector('understory', v.title), 'A') || \
             setweight(to_tsvector('understory', v.summary), 'B') || \
             setweight(to_tsvector('understory', v.body), 'D') FROM v) \
             INSERT INTO core_grams (ws, id, grams) SELECT v.ws, v.id, v.grams FROM v \
             WHERE cardinality(v.grams) > 0",
            rows.join(", ")
        )
    }

    /// Takes one thing out of both text indexes again: workspace, id, packed key. One statement
    /// where that is a round trip.
    pub fn texts_drop(self) -> &'static [&'static str] {
        match self {
            Dialect::Sqlite => &[
                "DELETE FROM core_words WHERE rowid = ?3 AND ?1 > 0 AND ?2 > 0",
                "DELETE FROM core_grams WHERE rowid = ?3 AND ?1 > 0 AND ?2 > 0",
            ],
            Dialect::Postgres => &[
                "WITH words AS (DELETE FROM core_words WHERE ws = ?1 AND id = ?2) \
                 DELETE FROM core_grams WHERE ws = ?1 AND id = ?2 AND CAST(?3 AS BIGINT) > 0",
            ],
        }
    }

    /// A subquery with the `id` and `score` of a workspace's things by full text, argument 1 the
    /// workspace and argument 2 the query. The weights keep titles, summaries and bodies apart: no
    /// number of hits in one outweighs a hit of the same word in the one before.
    pub fn words_match(self) -> &'static str {
        match self {
            Dialect::Sqlite => {
                "SELECT rowid & 1099511627775 AS id, -bm25(core_words, 1e6, 1e3, 1.0) AS score \
                 FROM core_words WHERE core_words MATCH ?2 AND rowid >> 40 = ?1 \
                 AND rowid NOT IN (SELECT key FROM core_fresh)"
            }
            Dialect::Postgres => {
                "SELECT id, CAST(ts_rank('{0.01, 0.03, 0.1, 1.0}', tsv, q, 1) AS DOUBLE PRECISION) \
                 AS score FROM core_words, to_tsquery('understory', ?2) q WHERE ws = ?1 AND tsv @@ q"
            }
        }
    }

    /// The full-text query for any of these words. They are alphanumeric runs, so quoting is exact.
    pub fn words_query(self, words: &[String]) -> String {
        let (quote, or) = match self {
            Dialect::Sqlite => ('"', " OR "),
            Dialect::Postgres => ('\'', " | "),
        };
        let quoted: Vec<String> = words
            .iter()
            .map(|word| {
                unaccented(word)
                    .chars()
                    .filter(|c| c.is_alphanumeric())
                    .collect::<String>()
            })
            .filter(|word| !word.is_empty())
            .map(|word| format!("{quote}{word}{quote}"))
            .collect();
        quoted.join(or)
    }

    /// A query for the ids of a workspace whose text may contain all the trigrams and, where a key
    /// is given, that have its name and value: argument numbers. Ordered, so that the lists are
    /// merged in one walk over each. SQLite takes the trigrams as words and, in the argument after
    /// that, the code of one of them.
    pub fn grams_match(self, ws: usize, grams: usize, key: Option<(usize, usize)>) -> String {
        let (found, id) = match self {
            Dialect::Sqlite => (
                format!(
                    "SELECT rowid AS key FROM core_grams WHERE core_grams MATCH ?{grams} \
                     AND rowid >> 40 = ?{ws} UNION SELECT key FROM core_fresh \
                     WHERE key >= ?{ws} << 40 AND key < (?{ws} + 1) << 40 \
                     AND instr(grams, ?{}) > 0",
                    grams + 1
                ),
                "(ws << 40) | id",
            ),
            Dialect::Postgres => (
                format!(
                    "SELECT id FROM core_grams WHERE ws = ?{ws} \
                     AND grams @> CAST(?{grams} AS INTEGER[])"
                ),
                "id",
            ),
        };
        let both = match key {
            None => found,
            Some((name, value)) => format!(
                "{found} INTERSECT SELECT {id} FROM core_key WHERE ws = ?{ws} \
                 AND name = ?{name} AND value = ?{value}"
            ),
        };
        match self {
            Dialect::Sqlite => format!("SELECT key & 1099511627775 AS id FROM ({both} ORDER BY 1)"),
            Dialect::Postgres => both,
        }
    }

    /// The arguments of [`Dialect::grams_match`] for trigrams, which SQLite takes as words.
    pub fn gram_args<'a>(
        self,
        grams: &'a [i32],
        words: &'a str,
        one: &'a [u8],
    ) -> impl Iterator<Item = Arg<'a>> {
        let (first, second) = match self {
            Dialect::Sqlite => (Arg::Text(words), Some(Arg::Bytes(one))),
            Dialect::Postgres => (Arg::Ints(grams), None),
        };
        std::iter::once(first).chain(second)
    }

    /// The database's own name and version.
    pub fn version(self) -> &'static str {
        match self {
            Dialect::Sqlite => "SELECT 'SQLite ' || sqlite_version()",
            Dialect::Postgres => "SELECT 'PostgreSQL ' || current_setting('server_version')",
        }
    }

    /// Finds damage in the database's own files; a PostgreSQL server looks after its own.
    pub fn check_files(self) -> Option<&'static str> {
        match self {
            Dialect::Sqlite => Some("PRAGMA quick_check(20)"),
            Dialect::Postgres => None,
        }
    }

    /// Bytes that the store takes.
    pub fn size(self) -> &'static str {
        match self {
            Dialect::Sqlite => {
                "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
            }
            Dialect::Postgres => "SELECT pg_database_size(current_database())",
        }
    }

    /// Lifts the server's limits for the statements of one transaction; SQLite has none of its own.
    pub fn lift_limits(self) -> Option<&'static str> {
        match self {
            Dialect::Sqlite => None,
            Dialect::Postgres => Some(
                "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; \
                 SET LOCAL idle_in_transaction_session_timeout = 0",
            ),
        }
    }

    /// Empties every core table.
    pub fn clear(self, table: &str) -> String {
        match self {
            Dialect::Sqlite => format!("DROP TABLE IF EXISTS {table}"),
            Dialect::Postgres => format!("DROP TABLE IF EXISTS {table} CASCADE"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_renumbered() {
        let sql = "SELECT a FROM t WHERE b = ?2 AND c = ?1";
        assert_eq!(Dialect::Sqlite.statement(sql), sql);
        assert_eq!(
            Dialect::Postgres.statement(sql),
            "SELECT a FROM t WHERE b = $2 AND c = $1"
        );
    }

    #[test]
    fn a_query_is_quoted_words_only() {
        let words = vec!["a\"b'c".to_string(), "--".to_string(), "naïve".to_string()];
        assert_eq!(Dialect::Sqlite.words_query(&words), "\"abc\" OR \"naive\"");
        assert_eq!(Dialect::Postgres.words_query(&words), "'abc' | 'naive'");
    }
}
