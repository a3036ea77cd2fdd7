//! Proving a store: the chain link by link, each entity's own chain, and the log against what is
//! known of it from elsewhere. `compare` holds core against a replay.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value;
use understory_model::canon::{entity_hash_map, hex, sha256};
use understory_model::error::{Code, Fault, Result};
use understory_model::fact::Fact;
use understory_model::item::{EntityDelta, Hash, Item};
use understory_model::text::quoted;
use understory_model::{Id, Seq, Time, Ws};
use understory_storage::workspaces::{self, Head, Workspace};
use understory_storage::{ReadTx, erased, items};

use crate::Engine;
use crate::kernel::versions::change_of;
use crate::kinds::PURGED;
use crate::system::{purge, rebuild};

const CHUNK: i64 = 1_000;
/// Breaks that are listed; a log that was damaged throughout needs no longer list.
const LISTED_BREAKS: usize = 100;

/// What a proof found.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub ok: bool,
    pub workspaces: Vec<Proof>,
    /// Core tables that a replay gives otherwise; `None` when that was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core: Option<Vec<String>>,
}

/// One workspace, proved or not.
#[derive(Debug, Clone, Serialize)]
pub struct Proof {
    pub workspace: String,
    pub items: i64,
    /// The last link of the chain: with a copy of it one can tell later that nothing before it
    /// changed.
    pub head: String,
    pub ok: bool,
    pub breaks: Vec<Break>,
}

pub use understory_model::fact::Break;

/// What a log is known to have held: this link of its chain, at this place or at any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    pub workspace: String,
    pub seq: Option<Seq>,
    pub link: Hash,
}

/// Walks one log.
struct Walk {
    head: Head,
    /// What the next item may be chained to. Where an item was changed there are two: the link it
    /// has and the one it should have, so that one change is one break. None is known behind a
    /// gap.
    links: Vec<Hash>,
    entities: HashMap<Id, (i64, String)>,
    /// Items without a content: each must have been taken back.
    erased: Vec<Seq>,
    /// Links that the log has to hold, each with its place if that is known; those that were met
    /// are taken out.
    expected: Vec<(Option<Seq>, Hash)>,
    breaks: Vec<Break>,
}

impl Walk {
    fn from(head: Head) -> Walk {
        Walk {
            links: vec![head.chain],
            head,
            entities: HashMap::new(),
            erased: Vec::new(),
            expected: Vec::new(),
            breaks: Vec::new(),
        }
    }

    /// From here on the log has to hold these links.
    fn expect(&mut self, links: Vec<(Option<Seq>, Hash)>) {
        self.expected = links;
        self.met();
    }

    /// Takes out what was expected here.
    fn met(&mut self) {
        let Head { seq, chain, .. } = self.head;
        self.expected
            .retain(|(at, link)| *link != chain || at.is_some_and(|at| at != seq));
    }

    /// What was expected and was not met.
    fn unmet(&mut self) {
        let end = self.head.seq;
        for (at, link) in std::mem::take(&mut self.expected) {
            let (seq, what) = match at {
                Some(at) if at > end => (
                    end + 1,
                    format!("is missing: the log was known to reach {at}, and ends at {end}"),
                ),
                Some(at) => (
                    at,
                    "it is not the item that was known: the log was rewritten here or before"
                        .to_string(),
                ),
                None => (
                    end,
                    format!("no item up to here has the head {}", hex(&link)),
                ),
            };
            self.breaks.push(Break { seq, what });
        }
    }

    fn broken(&mut self, seq: Seq, what: impl Into<String>) {
        if self.breaks.len() < LISTED_BREAKS {
            self.breaks.push(Break {
                seq,
                what: what.into(),
            });
        }
    }

    /// Takes in an item and, where its content was erased, what remains of it.
    fn step(&mut self, seq: Seq, item: Result<Item>, remains: Option<String>) {
        if seq <= self.head.seq {
            return self.broken(seq, "no item has this place");
        }
        if seq != self.head.seq + 1 {
            let goes_on = format!("is missing: the log goes on at {seq}");
            self.broken(self.head.seq + 1, goes_on);
            self.links.clear();
        }
        self.head.seq = seq;
        match item {
            Ok(item) => self.item(&item, remains),
            Err(fault) => {
                self.broken(seq, fault.message);
                self.links.clear();
            }
        }
    }

    fn item(&mut self, item: &Item, remains: Option<String>) {
        let before = self.breaks.len();
        if item.content.is_none() {
            self.erased.push(item.seq);
        }
        if let Some(content) = &item.content
            && sha256(content.as_bytes()) != item.digest
        {
            let what = "its content is not what was hashed when it was written";
            self.broken(item.seq, what);
        }
        self.link(item);
        if [item.project, item.entity].contains(&Some(Id::ZERO)) || item.cause == Some(Seq::ZERO) {
            self.broken(item.seq, "it names something that cannot be");
        }
        if item.realized_at < self.head.at {
            self.broken(item.seq, "it is older than the item before it");
        }
        self.head.chain = item.chain;
        self.met();
        if self.breaks.len() == before {
            self.head.at = item.realized_at;
        }
        // Behind a break, what follows from it would only repeat it.
        if self.breaks.is_empty() {
            let left = remains.map(|remains| Item {
                content: Some(remains),
                ..item.clone()
            });
            let erased = left.is_some();
            match change_of(left.as_ref().unwrap_or(item)) {
                Ok(Some(delta)) => self.delta(item, &delta, erased),
                Ok(None) => {}
                Err(_) => self.broken(item.seq, "its content is not a change of an entity"),
            }
        }
    }

    fn link(&mut self, item: &Item) {
        let should: Vec<Hash> = self
            .links
            .iter()
            .map(|link| item.expected_chain(link))
            .collect();
        self.links = vec![item.chain];
        if !should.is_empty() && !should.contains(&item.chain) {
            self.broken(item.seq, "it does not follow from the item before it");
            self.links.extend(should);
        }
    }

    /// Each entity has a chain of its own: version after version, hash after hash. A value of which
    /// something was erased no longer gives its hash; the item's digest still stands for it.
    fn delta(&mut self, item: &Item, delta: &EntityDelta, erased: bool) {
        let Some(entity) = item.entity else {
            return self.broken(item.seq, "it names no entity");
        };
        let before = self.entities.get(&entity);
        let follows = match before {
            None => delta.version == 1 && delta.parent.is_none(),
            Some((version, hash)) => {
                delta.version == version + 1 && delta.parent.as_ref() == Some(hash)
            }
        };
        if !follows {
            self.broken(
                item.seq,
                format!("{} does not follow its version before", delta.handle),
            );
        }
        if let Some(data) = &delta.data
            && !erased
            && entity_hash_map(data, None) != delta.commit
        {
            self.broken(
                item.seq,
                format!("{} does not have the hash it says", delta.handle),
            );
        }
        let now = (delta.version, delta.commit.clone());
        self.entities.insert(entity, now);
    }
}

impl Engine {
    /// Proves every workspace, or the one named. With `deep`, core is also compared with a replay.
    pub fn verify(
        &self,
        only: Option<&str>,
        deep: bool,
        tell: impl FnMut(&str, Seq),
    ) -> Result<Report> {
        self.verify_against(only, deep, &[], tell)
    }

    /// As [`Engine::verify`]; the logs must also hold what is expected of them.
    pub fn verify_against(
        &self,
        only: Option<&str>,
        deep: bool,
        expected: &[Expected],
        mut tell: impl FnMut(&str, Seq),
    ) -> Result<Report> {
        let mut report = Report {
            ok: true,
            workspaces: Vec::new(),
            core: None,
        };
        self.store().read(|tx| {
            tx.without_limits()?;
            for workspace in workspaces::list(tx)? {
                if only.is_some_and(|name| name != workspace.name) {
                    continue;
                }
                let proof = prove(tx, &workspace, expected, &mut tell)?;
                report.workspaces.push(proof);
            }
            if only.is_none() {
                for ws in items::strays(tx)? {
                    report.workspaces.push(stray(tx, ws)?);
                }
            }
            Ok(())
        })?;
        report.add_missing(only, expected);
        if let Some(name) = only.filter(|_| report.workspaces.is_empty()) {
            return Err(Fault::not_found(format!("no workspace {}", quoted(name)))
                .hint("`understory status` names those that exist."));
        }
        if deep {
            report.core = Some(match self.compare_core(&mut tell) {
                // A log that cannot be replayed is a finding, not a failure to look.
                Err(fault) if fault.code == Code::StoreCorrupt => vec![fault.message],
                compared => compared?,
            });
        }
        report.ok = report.workspaces.iter().all(|proof| proof.ok)
            && report.core.as_ref().is_none_or(Vec::is_empty);
        Ok(report)
    }
}

impl Report {
    /// Workspaces of which something is expected, and which are not there.
    fn add_missing(&mut self, only: Option<&str>, expected: &[Expected]) {
        for wanted in expected {
            let name = &wanted.workspace;
            let known = self.workspaces.iter().any(|proof| proof.workspace == *name);
            if known || only.is_some_and(|only| only != name) {
                continue;
            }
            let what = "the workspace is not in this store";
            self.workspaces.push(Proof {
                workspace: name.clone(),
                items: 0,
                head: String::new(),
                ok: false,
                breaks: vec![Break {
                    seq: wanted.seq.unwrap_or(Seq::ZERO),
                    what: what.into(),
                }],
            });
        }
    }
}

/// What is wrong with a log, before the head that core knew of it is dropped.
pub(crate) fn breaks_before_rebuild(
    tx: &mut ReadTx<'_>,
    workspace: &Workspace,
    known: Option<&Head>,
) -> Result<Vec<Break>> {
    let expected = known.map(|head| (None, head.chain)).into_iter().collect();
    let mut walk = walk(tx, workspace, expected, &mut |_, _| {})?;
    let end = walk.head.seq;
    match known {
        Some(head) if head.seq > end => {
            walk.expected.clear();
            let what = format!("is missing: the log went on to {}", head.seq);
            walk.broken(end + 1, what);
        }
        Some(_) if !walk.expected.is_empty() => {
            walk.expected.clear();
            walk.broken(
                end,
                "the head that core knew is not in the log: it was rewritten",
            );
        }
        None if end > Seq::ZERO => {
            let what =
                "core does not know the log's head: whether items are missing cannot be told";
            walk.broken(end, what);
        }
        _ => {}
    }
    Ok(walk.breaks)
}

fn prove(
    tx: &mut ReadTx<'_>,
    workspace: &Workspace,
    expected: &[Expected],
    tell: &mut impl FnMut(&str, Seq),
) -> Result<Proof> {
    let ours = expected
        .iter()
        .filter(|expected| expected.workspace == workspace.name);
    let links = ours.map(|expected| (expected.seq, expected.link)).collect();
    let mut walk = walk(tx, workspace, links, tell)?;
    let head = workspaces::head(tx, workspace.ws, false)?;
    check_end(&mut walk, head.as_ref());
    walk.unmet();
    Ok(Proof {
        workspace: workspace.name.clone(),
        items: walk.head.seq.0,
        head: hex(&walk.head.chain),
        ok: walk.breaks.is_empty(),
        breaks: walk.breaks,
    })
}

/// Walks a log from its beginning to its end.
fn walk(
    tx: &mut ReadTx<'_>,
    workspace: &Workspace,
    expected: Vec<(Option<Seq>, Hash)>,
    tell: &mut impl FnMut(&str, Seq),
) -> Result<Walk> {
    let mut walk = Walk::from(rebuild::start(workspace));
    walk.expect(expected);
    let mut after = Seq::MIN;
    loop {
        let batch = items::scan(tx, workspace.ws, after, CHUNK)?;
        let Some((last, _)) = batch.last() else { break };
        after = *last;
        for (seq, item) in batch {
            let gone = item.as_ref().is_ok_and(|item| item.content.is_none());
            let remains = if gone {
                erased::find(tx, workspace.ws, seq)?.map(|(_, remains)| remains)
            } else {
                None
            };
            walk.step(seq, item, remains);
        }
        tell(&workspace.name, walk.head.seq);
    }
    for seq in std::mem::take(&mut walk.erased) {
        if let Some(what) = wrongly_erased(tx, workspace.ws, seq)? {
            walk.broken(seq, what);
        }
    }
    walk.breaks.sort_by_key(|broken| broken.seq);
    Ok(walk)
}

/// What is wrong with an item that has no content: its author must have taken it back, and what is
/// said to remain of it must be what was said then.
fn wrongly_erased(tx: &mut ReadTx<'_>, ws: Ws, seq: Seq) -> Result<Option<&'static str>> {
    let gone = "its content is gone, and nobody took it back";
    let Some((by, remains)) = erased::find(tx, ws, seq)? else {
        return Ok(Some(gone));
    };
    let by = items::get(tx, ws, by)?;
    let other = "what remains of it is not what was left when it was erased";
    if let Some(purge) = by.as_ref().filter(|item| item.kind == PURGED) {
        return Ok((!purge::left(purge, seq, &remains)).then_some(other));
    }
    let undone = match by.as_ref().map(Fact::read) {
        Some(Ok(Fact::Undone(undone))) if undone.item == seq => undone,
        _ => return Ok(Some(gone)),
    };
    let same = serde_json::from_str::<Value>(&remains).ok() == Some(undone.remains);
    Ok((!same).then_some(other))
}

fn check_end(walk: &mut Walk, head: Option<&Head>) {
    match head {
        Some(head) if head.seq > walk.head.seq => walk.broken(
            walk.head.seq + 1,
            format!("is missing: the log went on to {}", head.seq),
        ),
        Some(head) if *head == walk.head => {}
        _ => {
            let seq = walk.head.seq;
            walk.broken(
                seq,
                "the log's end is not what core says; `understory rebuild` mends core",
            );
        }
    }
}

/// Items that no workspace owns: nobody wrote them through us.
fn stray(tx: &mut ReadTx<'_>, ws: Ws) -> Result<Proof> {
    let rows = items::scan(tx, ws, Seq::MIN, CHUNK)?;
    let mut walk = Walk::from(Head {
        seq: Seq::ZERO,
        chain: [0; 32],
        at: Time::ZERO,
    });
    for (seq, _) in &rows {
        walk.broken(*seq, "it belongs to no workspace");
    }
    Ok(Proof {
        workspace: format!("#{ws}"),
        items: 0,
        head: String::new(),
        ok: false,
        breaks: walk.breaks,
    })
}
