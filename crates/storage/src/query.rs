//! Finding graph nodes by any mix of filters, a page at a time, in one of four orders.

use understory_model::error::Result;
use understory_model::page::Key;
use understory_model::text::grams;
use understory_model::{Id, Ws};

use crate::dialect::Dialect;
use crate::entities::{self, Entity};
use crate::keys::Pair;
use crate::nodes::{below, rarest};
use crate::sql::{Arg, Tx};
use crate::texts::gram_words;

/// The order of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Readiness,
    Depth,
    Recent,
    Created,
}

impl Sort {
    /// Columns that order the page; each but the last may repeat.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Sort::Readiness => &["waiting", "rank_priority", "rank_depth", "updated", "id"],
            Sort::Depth => &["rank_depth", "id"],
            Sort::Recent => &["updated", "id"],
            Sort::Created => &["id"],
        }
    }

    fn descends(self) -> bool {
        self == Sort::Recent
    }
}

/// What a node must be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    pub resolved: Option<bool>,
    /// Properties and types of evidence.
    pub keys: Vec<Pair>,
    /// Folded; a substring of the folded summary.
    pub text: Option<String>,
    /// The path of an ancestor.
    pub below: Option<String>,
    pub leaf: Option<bool>,
    pub actionable: Option<bool>,
    pub blocked: Option<bool>,
    /// `Some(None)`: by nobody.
    pub claimed_by: Option<Option<String>>,
}

/// One node of a page, with the keys that a cursor after it holds.
#[derive(Debug, Clone)]
pub struct Found {
    pub entity: Entity,
    pub parent: Option<String>,
    pub depth: i64,
    pub keys: Vec<Key>,
}

/// A query being put together: SQL from fixed pieces, values only as arguments.
struct Builder<'a> {
    from: String,
    conditions: String,
    args: Vec<Arg<'a>>,
}

impl<'a> Builder<'a> {
    fn arg(&mut self, value: impl Into<Arg<'a>>) -> usize {
        self.args.push(value.into());
        self.args.len()
    }

    fn and(&mut self, condition: &str) {
        self.conditions.push_str(" AND ");
        self.conditions.push_str(condition);
    }
}

/// How a filter is best answered, and the values that arguments borrow from.
pub struct Prepared {
    grams: Vec<i32>,
    gram_words: String,
    end: String,
    rare: Option<Pair>,
}

/// Looks which index to start from, once for the count and the page.
pub fn prepare(tx: &mut Tx<'_>, ws: Ws, filter: &Filter) -> Result<Prepared> {
    let grams = filter.text.as_deref().map(grams).unwrap_or_default();
    Ok(Prepared {
        gram_words: gram_words(&grams),
        grams,
        end: filter.below.as_deref().map(below).unwrap_or_default(),
        rare: rarest(tx, ws, &filter.keys)?,
    })
}

fn build<'a>(
    dialect: Dialect,
    ws: Ws,
    project: Id,
    filter: &'a Filter,
    prepared: &'a Prepared,
) -> Builder<'a> {
    let mut q = Builder {
        from: "core_node n".into(),
        conditions: "n.ws = ?1 AND n.project = ?2".into(),
        args: vec![Arg::Int(ws), Arg::Int(project)],
    };
    start_from_rarest(&mut q, dialect, filter, prepared);
    for pair in filter
        .keys
        .iter()
        .filter(|pair| Some(*pair) != prepared.rare.as_ref())
    {
        let (name, value) = (q.arg(&pair.0), q.arg(&pair.1));
        q.and(&format!(
            "EXISTS (SELECT 1 FROM core_key k WHERE k.ws = ?1 AND k.name = ?{name} \
             AND k.value = ?{value} AND k.id = n.id)"
        ));
    }
    if let Some(text) = filter.text.as_ref().filter(|text| !text.is_empty()) {
        let at = q.arg(text);
        q.and(&format!("{}(n.folded, ?{at}) > 0", dialect.position()));
    }
    if let Some(path) = &filter.below {
        let (start, end) = (q.arg(path), q.arg(&prepared.end));
        q.and(&format!("n.path > ?{start} AND n.path < ?{end}"));
    }
    states(&mut q, filter);
    q
}

/// The most selective index leads; SQLite takes a CROSS JOIN in the order it is written.
fn start_from_rarest<'a>(
    q: &mut Builder<'a>,
    dialect: Dialect,
    filter: &'a Filter,
    prepared: &'a Prepared,
) {
    if let Some(pair) = &prepared.rare {
        let (name, value) = (q.arg(&pair.0), q.arg(&pair.1));
        q.from = "core_key d CROSS JOIN core_node n".into();
        q.and(&format!(
            "d.ws = ?1 AND d.name = ?{name} AND d.value = ?{value} AND n.id = d.id"
        ));
    } else if filter.text.is_some() && !prepared.grams.is_empty() {
        let grams = match dialect {
            Dialect::Sqlite => q.arg(&prepared.gram_words),
            Dialect::Postgres => {
                q.args.push(Arg::Ints(&prepared.grams));
                q.args.len()
            }
        };
        q.from = format!(
            "({}) d CROSS JOIN core_node n",
            dialect.grams_match(1, grams)
        );
        q.and("n.id = d.id");
    }
}

fn states<'a>(q: &mut Builder<'a>, filter: &'a Filter) {
    if let Some(resolved) = filter.resolved {
        q.and(if resolved {
            "n.resolved = 1"
        } else {
            "n.resolved = 0"
        });
    }
    if let Some(leaf) = filter.leaf {
        q.and(if leaf {
            "n.open_children = 0"
        } else {
            "n.open_children > 0"
        });
    }
    if let Some(actionable) = filter.actionable {
        q.and(if actionable {
            "n.waiting = 0"
        } else {
            "n.waiting = 1"
        });
    }
    if let Some(blocked) = filter.blocked {
        q.and(if blocked {
            "(n.resolved = 0 AND n.open_deps > 0)"
        } else {
            "(n.resolved = 1 OR n.open_deps = 0)"
        });
    }
    match &filter.claimed_by {
        None => {}
        Some(None) => q.and("n.claimed_by = ''"),
        // Nobody is called this; the column would answer for unclaimed nodes, or not at all.
        Some(Some(agent)) if agent.is_empty() || agent.contains('\0') => q.and("1 = 0"),
        Some(Some(agent)) => {
            let at = q.arg(agent);
            q.and(&format!("n.claimed_by = ?{at}"));
        }
    }
}

/// How many nodes fit the filter.
pub fn count(
    tx: &mut Tx<'_>,
    ws: Ws,
    project: Id,
    (filter, prepared): (&Filter, &Prepared),
) -> Result<i64> {
    let q = build(tx.dialect(), ws, project, filter, prepared);
    let sql = format!("SELECT COUNT(*) FROM {} WHERE {}", q.from, q.conditions);
    tx.row(&sql, &q.args)?.map_or(Ok(0), |row| row.int(0))
}

/// A page of nodes that fit the filter, after the given keys.
pub fn page(
    tx: &mut Tx<'_>,
    ws: Ws,
    project: Id,
    (filter, prepared): (&Filter, &Prepared),
    sort: Sort,
    after: Option<&[Key]>,
    most: i64,
) -> Result<Vec<Found>> {
    let mut q = build(tx.dialect(), ws, project, filter, prepared);
    let keys = sort.keys();
    let (order, sign) = if sort.descends() {
        (" DESC", "<")
    } else {
        ("", ">")
    };
    if let Some(after) = after {
        let places: Vec<String> = after
            .iter()
            .map(|key| {
                let at = match key {
                    Key::Int(value) => q.arg(*value),
                    Key::Real(value) => q.arg(*value),
                    Key::Text(value) => q.arg(value.as_str()),
                };
                format!("?{at}")
            })
            .collect();
        let columns: Vec<String> = keys.iter().map(|key| format!("n.{key}")).collect();
        q.and(&format!(
            "({}) {sign} ({})",
            columns.join(", "),
            places.join(", ")
        ));
    }
    let most = q.arg(most);
    let listed = |prefix: &str, order: &str| {
        keys.iter()
            .map(|key| format!("{prefix}.{key}{order}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let sql = format!(
        "SELECT {}, p.handle, g.depth, {} FROM (SELECT n.depth, n.ws, {}{} FROM {} WHERE {} \
         ORDER BY {} LIMIT ?{most}) g JOIN core_entity e ON e.ws = g.ws AND e.id = g.id \
         LEFT JOIN core_entity p ON p.ws = e.ws AND p.id = e.parent ORDER BY {}",
        entities::columns(),
        listed("g", ""),
        listed("n", ""),
        "",
        q.from,
        q.conditions,
        listed("n", order),
        listed("g", order),
    );
    let rows = tx.rows(&sql, &q.args)?;
    rows.into_iter()
        .map(|mut row| {
            let entity = entities::entity(&mut row)?;
            let parent = row.opt_text(entities::WIDTH)?;
            let depth = row.int(entities::WIDTH + 1)?;
            let start = entities::WIDTH + 2;
            let keys = keys.iter().enumerate().map(|(at, key)| match *key {
                "rank_priority" => row.real(start + at).map(Key::Real),
                _ => row.int(start + at).map(Key::Int),
            });
            let keys = keys.collect::<Result<_>>()?;
            Ok(Found {
                entity,
                parent,
                depth,
                keys,
            })
        })
        .collect()
}
