//! What unblocks the most: how many tasks wait, directly or through others, for each.
//!
//! Only so many of the waiting tasks are looked at, the best ranked, so that a plan of any size is told at
//! once. Where there are more, the counts say how many of those wait.

use std::collections::HashMap;

use understory_model::error::Result;
use understory_model::{Id, limits};
use understory_storage::plans::{self, Home, Wait};

use crate::View;

/// Who waits for whom, among the waiting tasks that were looked at.
pub struct Behind {
    places: HashMap<Id, usize>,
    ids: Vec<Id>,
    /// Those that wait for each, by their places.
    after: Vec<Vec<usize>>,
    /// Those that could be worked on now.
    ready: Vec<usize>,
}

/// Links that are read: a task that waits usually waits for a few.
const LINKS: i64 = 4 * limits::PICTURE_WAITING;
/// Tasks of which the whole is counted, chosen by how many wait for them directly.
const COUNTED: usize = 500;

impl Behind {
    pub fn of(view: &mut View<'_, '_>, home: Home) -> Result<Behind> {
        let waits = plans::waits(view.tx, view.ws, home, limits::PICTURE_WAITING, LINKS)?;
        Ok(Behind::from_waits(&waits))
    }

    fn from_waits(waits: &[Wait]) -> Behind {
        let mut behind = Behind {
            places: HashMap::new(),
            ids: Vec::new(),
            after: Vec::new(),
            ready: Vec::new(),
        };
        for wait in waits {
            let (waits, awaited) = (behind.place(wait.waits), behind.place(wait.awaited));
            behind.after[awaited].push(waits);
            if wait.ready {
                behind.ready.push(awaited);
            }
        }
        behind.ready.sort_unstable();
        behind.ready.dedup();
        behind
    }

    fn place(&mut self, id: Id) -> usize {
        let next = self.ids.len();
        let place = *self.places.entry(id).or_insert(next);
        if place == next {
            self.ids.push(id);
            self.after.push(Vec::new());
        }
        place
    }

    /// How many tasks wait for one, directly or through others.
    pub fn count(&self, id: Id) -> i64 {
        match self.places.get(&id) {
            Some(place) => self.count_at(*place),
            None => 0,
        }
    }

    fn count_at(&self, place: usize) -> i64 {
        let mut seen = vec![false; self.ids.len()];
        seen[place] = true;
        let (mut left, mut count) = (vec![place], 0);
        while let Some(at) = left.pop() {
            for next in &self.after[at] {
                if !seen[*next] {
                    seen[*next] = true;
                    count += 1;
                    left.push(*next);
                }
            }
        }
        count
    }

    /// Tasks that could be worked on and for which others wait, that for which most do first.
    pub fn most(&self, most: usize) -> Vec<(Id, i64)> {
        let mut direct = self.ready.clone();
        direct.sort_by_key(|place| {
            (
                std::cmp::Reverse(self.after[*place].len()),
                self.ids[*place],
            )
        });
        direct.truncate(COUNTED);
        let counted = direct
            .iter()
            .map(|place| (self.ids[*place], self.count_at(*place)));
        let mut counted: Vec<(Id, i64)> = counted.collect();
        counted.sort_by_key(|(id, count)| (std::cmp::Reverse(*count), *id));
        counted.truncate(most);
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(waits: i64, awaited: i64, ready: bool) -> Wait {
        Wait {
            waits: Id(waits),
            awaited: Id(awaited),
            ready,
        }
    }

    #[test]
    fn what_waits_through_others_counts_once() {
        // 2 and 3 wait for 1, 4 for both of them; 6 waits for 5; a circle of 7 and 8 ends.
        let waits = [
            wait(2, 1, true),
            wait(3, 1, true),
            wait(4, 2, false),
            wait(4, 3, false),
            wait(6, 5, true),
            wait(7, 8, false),
            wait(8, 7, false),
        ];
        let behind = Behind::from_waits(&waits);
        assert_eq!(behind.count(Id(1)), 3);
        assert_eq!(behind.count(Id(4)), 0);
        assert_eq!(behind.count(Id(7)), 1);
        assert_eq!(behind.count(Id(99)), 0);
        assert_eq!(behind.most(10), [(Id(1), 3), (Id(5), 1)]);
        assert_eq!(behind.most(1), [(Id(1), 3)]);
    }
}
