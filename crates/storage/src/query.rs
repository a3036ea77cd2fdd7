//! Finding graph nodes by any mix of filters, a page at a time, in one of four orders.

use understory_model::error::Result;
use understory_model::page::Key;
use understory_model::text::grams;
use understory_model::{Id, Time, Ws};

use crate::dialect::Dialect;
use crate::entities::Entity;
use crate::keys::{self, Pair};
use crate::nodes::below;
use crate::ready::{SCAN, rarest};
use crate::sql::{Arg, ReadTx, Row};
use crate::statement::Statement;
use crate::table::Stored;
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
            Sort::Readiness => &["standing", "rank_priority", "rank_depth", "updated", "id"],
            Sort::Depth => &["rank_depth", "id"],
            Sort::Recent => &["updated", "id"],
            Sort::Created => &["id"],
        }
    }

    /// These columns of an alias, each followed by `order`.
    fn listed(self, alias: &str, order: &str) -> String {
        let keys = self
            .keys()
            .iter()
            .map(|key| format!("{alias}.{key}{order}"));
        keys.collect::<Vec<_>>().join(", ")
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
    /// The claim of an open node from before this moment no longer counts.
    pub stale: Time,
    /// Names of properties that it must not have.
    pub without: Vec<String>,
}

/// One node of a page, with the keys that a cursor after it holds.
#[derive(Debug, Clone)]
pub struct Found {
    pub entity: Entity,
    pub parent: Option<String>,
    pub depth: i64,
    pub keys: Vec<Key>,
}

/// Which index leads to the nodes; the others are asked about each of them.
#[derive(Debug, Clone, PartialEq)]
enum Lead {
    /// The order of the page.
    Order,
    Key(Pair),
    Text,
    /// Those that both a key and the text lead to.
    Both(Pair),
}

/// Up to so many nodes are looked at one by one: to walk through two long lists and see what is in
/// both costs as much.
const FEW: i64 = 200;

/// How a filter is best answered, and the values that arguments borrow from.
pub struct Prepared {
    grams: Vec<i32>,
    gram_words: String,
    /// The code of one of them.
    gram: [u8; 4],
    end: String,
    lead: Lead,
    /// The lead when all have to be counted, and the order helps nobody.
    count: Lead,
}

/// Looks which index to start from, once for the count and the page.
pub fn prepare(tx: &mut ReadTx<'_>, ws: Ws, filter: &Filter) -> Result<Prepared> {
    let grams = filter.text.as_deref().map(cover).unwrap_or_default();
    let gram_words = gram_words(&grams);
    let rarest = rarest(tx, ws, &filter.keys)?;
    let lead = match (rarest, grams.is_empty()) {
        (Some((pair, count)), true) if count < SCAN => Lead::Key(pair.clone()),
        (_, true) => Lead::Order,
        (None, false) => Lead::Text,
        (Some((pair, count)), false) if count < FEW => Lead::Key(pair.clone()),
        (Some((pair, _)), false) => {
            if few_have(tx, ws, &grams, &gram_words)? {
                Lead::Text
            } else {
                Lead::Both(pair.clone())
            }
        }
    };
    let count = match (&lead, rarest) {
        (Lead::Order, Some((pair, _))) => Lead::Key(pair.clone()),
        _ => lead.clone(),
    };
    Ok(Prepared {
        gram_words,
        gram: grams.first().copied().unwrap_or_default().to_le_bytes(),
        grams,
        end: filter.below.as_deref().map(below).unwrap_or_default(),
        lead,
        count,
    })
}

/// Whether the text leads to few nodes.
fn few_have(tx: &mut ReadTx<'_>, ws: Ws, grams: &[i32], words: &str) -> Result<bool> {
    let gram = grams.first().copied().unwrap_or_default().to_le_bytes();
    let mut args = vec![Arg::from(ws)];
    args.extend(tx.dialect().gram_args(grams, words, &gram));
    let sql = format!(
        "SELECT COUNT(*) FROM (SELECT 1 FROM ({}) AS d LIMIT {FEW}) AS few",
        tx.dialect().grams_match(1, 2, None)
    );
    let row = tx.row(&sql, &args)?;
    Ok(row.map_or(Ok(0), |row| row.int(0))? < FEW)
}

/// Trigrams side by side that touch every character of a text, or of the beginning of a long one.
///
/// A text that has them may still not contain it, but each trigram costs a walk through its list,
/// and those in between would rule out little more.
fn cover(text: &str) -> Vec<i32> {
    const WINDOWS: usize = 8;
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let Some(last) = starts.len().checked_sub(3) else {
        return Vec::new();
    };
    let mut places: Vec<usize> = (0..=last).step_by(3).take(WINDOWS).collect();
    if places.len() < WINDOWS {
        places.push(last);
    }
    let window = |at: usize| {
        let end = starts.get(at + 3).copied().unwrap_or(text.len());
        grams(&text[starts[at]..end])
    };
    let mut codes: Vec<i32> = places.into_iter().flat_map(window).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

fn build<'a>(
    dialect: Dialect,
    ws: Ws,
    project: Id,
    filter: &'a Filter,
    (prepared, lead): (&'a Prepared, &'a Lead),
) -> Statement<'a> {
    let first = vec![Arg::from(ws), Arg::from(project)];
    let mut q = Statement::new("core_node n", "n.ws = ?1 AND n.project = ?2", first);
    start_from(&mut q, dialect, prepared, lead);
    let asked = match lead {
        Lead::Key(pair) | Lead::Both(pair) => Some(pair),
        Lead::Order | Lead::Text => None,
    };
    let others = filter.keys.iter().filter(|pair| Some(*pair) != asked);
    if let Some(all) = keys::bears_all(others, &mut q.args) {
        q.and(&all);
    }
    if !filter.without.is_empty() {
        let names: Vec<String> = filter.without.iter().map(|name| q.arg(name)).collect();
        let names = names.join(", ");
        q.and(&format!(
            "n.id NOT IN (SELECT k.id FROM core_key k WHERE k.ws = ?1 AND k.name IN ({names}))"
        ));
    }
    if let Some(text) = filter.text.as_ref().filter(|text| !text.is_empty()) {
        q.and_arg(&format!("{}(n.folded, ?) > 0", dialect.position()), text);
    }
    if let Some(path) = &filter.below {
        q.and_below("n.path", path, &prepared.end);
    }
    states(&mut q, filter);
    q
}

/// The lead comes first; SQLite takes a CROSS JOIN in the order it is written.
fn start_from<'a>(q: &mut Statement<'a>, dialect: Dialect, prepared: &'a Prepared, lead: &'a Lead) {
    let key = match lead {
        Lead::Key(pair) | Lead::Both(pair) => {
            q.args.extend([Arg::Text(&pair.0), Arg::Text(&pair.1)]);
            Some((q.args.len() - 1, q.args.len()))
        }
        Lead::Order | Lead::Text => None,
    };
    let grams = match lead {
        Lead::Order | Lead::Key(_) => None,
        Lead::Text | Lead::Both(_) => {
            let first = q.args.len() + 1;
            let (grams, words) = (&prepared.grams, &prepared.gram_words);
            q.args
                .extend(dialect.gram_args(grams, words, &prepared.gram));
            Some(first)
        }
    };
    let lead = match (grams, key) {
        (None, None) => return,
        (Some(grams), key) => dialect.grams_match(1, grams, key),
        (None, Some((name, value))) => {
            format!("SELECT id FROM core_key WHERE ws = ?1 AND name = ?{name} AND value = ?{value}")
        }
    };
    q.from = format!("({lead}) d CROSS JOIN core_node n");
    q.and("n.id = d.id");
}

fn states<'a>(q: &mut Statement<'a>, filter: &'a Filter) {
    let mut either = |wanted: Option<bool>, yes: &str, no: &str| {
        if let Some(wanted) = wanted {
            q.and(if wanted { yes } else { no });
        }
    };
    either(filter.resolved, "n.resolved = 1", "n.resolved = 0");
    either(filter.leaf, "n.open_children = 0", "n.open_children > 0");
    either(filter.actionable, "n.standing = 0", "n.standing > 0");
    either(
        filter.blocked,
        "(n.resolved = 0 AND n.open_deps > 0)",
        "(n.resolved = 1 OR n.open_deps = 0)",
    );
    match &filter.claimed_by {
        None => {}
        Some(None) => q.and_arg(
            "(n.claimed_by = '' OR (n.resolved = 0 AND n.claimed_at <= ?))",
            filter.stale.0,
        ),
        // Nobody is called this; the column would answer for unclaimed nodes, or not at all.
        Some(Some(agent)) if agent.is_empty() || agent.contains('\0') => q.and("1 = 0"),
        Some(Some(agent)) => {
            let (at, stale) = (q.arg(agent), q.arg(filter.stale.0));
            q.and(&format!(
                "(n.claimed_by = {at} AND (n.resolved = 1 OR n.claimed_at > {stale}))"
            ));
        }
    }
}

/// How many nodes fit the filter.
pub fn count(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Id,
    (filter, prepared): (&Filter, &Prepared),
) -> Result<i64> {
    let q = build(
        tx.dialect(),
        ws,
        project,
        filter,
        (prepared, &prepared.count),
    );
    let row = tx.row(&q.select("COUNT(*)"), &q.args)?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// A page of nodes that fit the filter, after the given keys, and how many fit it in all, where
/// the page itself tells.
pub fn page(
    tx: &mut ReadTx<'_>,
    ws: Ws,
    project: Id,
    (filter, prepared): (&Filter, &Prepared),
    sort: Sort,
    after: Option<&[Key]>,
    most: i64,
) -> Result<(Vec<Found>, Option<i64>)> {
    let mut q = build(
        tx.dialect(),
        ws,
        project,
        filter,
        (prepared, &prepared.lead),
    );
    let later = after.map(|after| later(&mut q, sort, after));
    let most = q.arg(most);
    let sql = page_text(&q, sort, prepared.lead != Lead::Order, later, &most);
    let rows = tx.rows(&sql, &q.args)?;
    let total = match rows.first() {
        Some(row) => row.opt_int(Entity::WIDTH + 1)?,
        None => None,
    };
    let found = rows.into_iter().map(|row| found(row, sort));
    Ok((found.collect::<Result<Vec<Found>>>()?, total))
}

/// The condition for what comes after a node with these keys in the order of a page.
fn later<'a>(q: &mut Statement<'a>, sort: Sort, after: &'a [Key]) -> String {
    let places = after.iter().map(|key| match key {
        Key::Int(value) => q.arg(*value),
        Key::Real(value) => q.arg(*value),
        Key::Text(value) => q.arg(value.as_str()),
    });
    let places = places.collect::<Vec<_>>().join(", ");
    let sign = if sort.descends() { "<" } else { ">" };
    format!("({}) {sign} ({places})", sort.listed("n", ""))
}

/// The statement of a page. What a lead leads to is looked up once, for the page and for the total;
/// in its order a page is found without looking at all.
fn page_text(
    q: &Statement<'_>,
    sort: Sort,
    led: bool,
    later: Option<String>,
    most: &str,
) -> String {
    let order = if sort.descends() { " DESC" } else { "" };
    let columns = format!("n.depth, n.ws, {}", sort.listed("n", ""));
    let hits = q.select(&columns);
    let (with, mut page, total) = if led {
        (
            format!("WITH hits AS MATERIALIZED ({hits}) "),
            format!("SELECT {columns} FROM hits n WHERE 1 = 1"),
            "(SELECT COUNT(*) FROM hits)",
        )
    } else {
        (String::new(), hits, "NULL")
    };
    if let Some(later) = later {
        page.push_str(" AND ");
        page.push_str(&later);
    }
    format!(
        "{with}SELECT {}, p.handle, {total}, g.depth, {} FROM ({page} ORDER BY {} LIMIT {most}) g \
         JOIN core_entity e ON e.ws = g.ws AND e.id = g.id \
         LEFT JOIN core_entity p ON p.ws = e.ws AND p.id = e.parent ORDER BY {}",
        Entity::COLUMNS,
        sort.listed("g", ""),
        sort.listed("n", order),
        sort.listed("g", order),
    )
}

/// A row of a page: entity, handle of the parent, total, depth and the keys of the order.
fn found(mut row: Row, sort: Sort) -> Result<Found> {
    let entity = Entity::read_at(&mut row, 0)?;
    let parent = row.opt_text(Entity::WIDTH)?;
    let depth = row.int(Entity::WIDTH + 2)?;
    let start = Entity::WIDTH + 3;
    let keys = sort.keys().iter().enumerate().map(|(at, key)| match *key {
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
}
