//! What a write adds to the timeline seen from afar: counts, signs, and claims from their beginning to
//! their end. Held until the end of the write, so that many items cost as much as one.

use std::collections::BTreeMap;

use understory_model::error::Result;
use understory_model::item::Item;
use understory_model::{Id, Time, Ws};
use understory_storage::Tx;
use understory_storage::nodes::Node;
use understory_storage::signals::{self, Signal};
use understory_storage::spans::{self, Span};
use understory_storage::tallies::{self, Tally};

use crate::kernel::surface::{Sign, Surface};

/// The stretches that are counted, in microseconds: a minute, an hour, a day.
pub const GRAINS: [i64; 3] = [60_000_000, 3_600_000_000, 86_400_000_000];

/// The additions of one write.
#[derive(Default)]
pub struct Seen {
    counts: BTreeMap<(i64, i64, String, Surface, i64), i64>,
    signals: Vec<Signal>,
    begun: Vec<Span>,
    ended: Vec<(Id, Time, &'static str)>,
}

impl Seen {
    pub fn count(&mut self, item: &Item, surface: Surface) {
        let project = item.project.unwrap_or_default().0;
        for grain in GRAINS {
            let at = item.realized_at.0.div_euclid(grain) * grain;
            let key = (grain, at, item.actor.clone(), surface, project);
            *self.counts.entry(key).or_default() += 1;
        }
    }

    pub fn sign(&mut self, item: &Item, (sign, surface): (Sign, Surface)) {
        self.signals.push(Signal {
            sign: sign.as_str().to_string(),
            seq: item.seq,
            surface: surface.as_str().to_string(),
        });
    }

    /// What an item made of the claim on a node; `ended` says how it ended, if it did.
    pub fn claim(
        &mut self,
        item: &Item,
        (before, after): (Option<&Node>, Option<&Node>),
        ended: &'static str,
    ) {
        let holder = |node: &Node| {
            let held = !node.resolved && !node.claimed_by.is_empty();
            held.then(|| (node.claimed_by.clone(), node.claimed_session.clone()))
        };
        let (was, is) = (before.and_then(holder), after.and_then(holder));
        if was == is {
            return;
        }
        if let (Some(_), Some(node)) = (&was, before) {
            self.end(node.id, item.realized_at, ended);
        }
        if let (Some((agent, session)), Some(node)) = (is, after) {
            self.begun.push(Span {
                node: node.id,
                seq: item.seq,
                project: node.project,
                agent,
                session,
                since: item.realized_at,
                until: spans::OPEN,
                ended: String::new(),
            });
        }
    }

    fn end(&mut self, node: Id, until: Time, ended: &'static str) {
        let held = |span: &&mut Span| span.node == node && span.until == spans::OPEN;
        match self.begun.iter_mut().find(held) {
            Some(span) => {
                span.until = until;
                span.ended = ended.to_string();
            }
            None => self.ended.push((node, until, ended)),
        }
    }

    pub fn flush(&mut self, tx: &mut Tx<'_>, ws: Ws) -> Result<()> {
        if !self.counts.is_empty() {
            let counts = std::mem::take(&mut self.counts).into_iter();
            let rows: Vec<Tally> = counts
                .map(|((grain, at, actor, surface, project), n)| Tally {
                    grain,
                    at: Time(at),
                    actor,
                    surface: surface.as_str().to_string(),
                    project,
                    n,
                })
                .collect();
            tallies::add(tx, ws, &rows)?;
        }
        for (node, until, ended) in std::mem::take(&mut self.ended) {
            spans::end(tx, ws, node, until, ended)?;
        }
        if !self.begun.is_empty() {
            spans::begin(tx, ws, &std::mem::take(&mut self.begun))?;
        }
        if !self.signals.is_empty() {
            signals::add(tx, ws, &std::mem::take(&mut self.signals))?;
        }
        Ok(())
    }
}
