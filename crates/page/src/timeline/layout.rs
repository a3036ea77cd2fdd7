//! Where things stand on the timeline: pure arithmetic over times, in parts of a window's width.

use std::collections::HashSet;

use understory_engine::kernel::surface::{Sign, Surface};
use understory_engine::system::timeline::{Claim, Dot};
use understory_model::{Seq, Time};

/// The width that distances are reckoned by, in pixels; a wider picture only has more room.
pub const WIDTH: f64 = 700.0;
/// Marks closer than this become one, in pixels.
const CLOSE: f64 = 10.0;
/// Rows of claims in a lane.
pub const ROWS: usize = 4;

/// A window of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub from: Time,
    pub to: Time,
}

impl Window {
    pub fn length(self) -> i64 {
        (self.to.0 - self.from.0).max(1)
    }

    /// Where a moment stands, from 0 to 1; outside of the window beyond these.
    pub fn part(self, at: Time) -> f64 {
        (at.0 - self.from.0) as f64 / self.length() as f64
    }

    /// As [`Window::part`], in percent and within the window.
    pub fn percent(self, at: Time) -> f64 {
        (self.part(at).clamp(0.0, 1.0) * 10_000.0).round() / 100.0
    }

    pub fn holds(self, at: Time) -> bool {
        self.from <= at && at < self.to
    }
}

/// One mark of a lane: an item, or several that are too close to tell apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    pub from: Time,
    pub to: Time,
    /// The item, if it is one.
    pub seq: Option<Seq>,
    pub surface: Surface,
    pub sign: Option<Sign>,
    pub count: i64,
}

impl Placed {
    /// The moment at which it is drawn: the middle of what it stands for.
    pub fn at(&self) -> Time {
        Time(self.from.0 + (self.to.0 - self.from.0) / 2)
    }
}

/// The marks of a lane, of which those that are closer than `close` pixels become one. What is kept
/// apart (what was chosen, and what has a sign) never becomes part of another.
pub fn merged(dots: &[Dot], window: Window, close: f64, apart: &HashSet<Seq>) -> Vec<Placed> {
    let least = (close / WIDTH * window.length() as f64) as i64;
    let (mut placed, mut open): (Vec<Placed>, Option<Placed>) = (Vec::new(), None);
    for dot in dots {
        let one = Placed {
            from: dot.at,
            to: dot.at,
            seq: dot.seq.filter(|_| dot.count == 1),
            surface: dot.surface,
            sign: dot.sign,
            count: dot.count,
        };
        let alone = dot.sign.is_some() || dot.seq.is_some_and(|seq| apart.contains(&seq));
        if alone {
            placed.push(one);
            continue;
        }
        match &mut open {
            // A box ends after a while, so that a busy hour is several and not one in its middle.
            Some(last) if dot.at.0 - last.to.0 < least && dot.at.0 - last.from.0 < 4 * least => {
                last.to = dot.at;
                last.count += dot.count;
                last.seq = None;
            }
            _ => placed.extend(open.replace(one)),
        }
    }
    placed.extend(open);
    placed.sort_by_key(|one| (one.at(), one.seq));
    placed
}

/// The lanes' marks, merged as little as it takes to have at most `most` of them.
pub fn bounded(
    lanes: &[&[Dot]],
    window: Window,
    apart: &HashSet<Seq>,
    most: usize,
) -> Vec<Vec<Placed>> {
    let mut close = CLOSE;
    loop {
        let placed: Vec<Vec<Placed>> = lanes
            .iter()
            .map(|dots| merged(dots, window, close, apart))
            .collect();
        let count: usize = placed.iter().map(Vec::len).sum();
        if count <= most || close > WIDTH {
            return placed;
        }
        close *= 1.5;
    }
}

/// In which row each claim of a lane is drawn, so that none lies over another; `None` where there are
/// too many at once.
pub fn rows(claims: &[Claim], now: Time) -> Vec<Option<usize>> {
    let mut ends: Vec<Time> = Vec::new();
    let mut place = |claim: &Claim| {
        let end = claim.until.unwrap_or(now);
        let free = ends.iter().position(|there| *there <= claim.since);
        match free {
            Some(row) => {
                ends[row] = end;
                Some(row)
            }
            None if ends.len() < ROWS => {
                ends.push(end);
                Some(ends.len() - 1)
            }
            None => None,
        }
    };
    claims.iter().map(&mut place).collect()
}

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;

/// The distances between lines of the grid.
const STEPS: [i64; 19] = [
    SECOND,
    5 * SECOND,
    10 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    7 * DAY,
    30 * DAY,
];

/// The lines of the grid, at round times and at most `most`, and how far they are apart.
pub fn ticks(window: Window, most: i64) -> (i64, Vec<Time>) {
    let least = window.length() / most.max(1);
    let step = STEPS.into_iter().find(|step| *step >= least);
    let step = step.unwrap_or_else(|| (least / DAY + 1) * DAY);
    let first = (window.from.0 + step - 1).div_euclid(step) * step;
    let ticks = (0..=most).map(|n| Time(first + n * step));
    (step, ticks.filter(|at| *at <= window.to).collect())
}

/// The height of a bar: linear, and the first pixel for one.
pub fn height(count: i64, largest: i64, room: f64) -> f64 {
    if count <= 0 {
        return 0.0;
    }
    let more = (count - 1) as f64 / (largest - 1).max(1) as f64;
    ((1.0 + more * (room - 1.0)) * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_LONG: Window = Window {
        from: Time(0),
        to: Time(HOUR),
    };

    fn dot(seq: i64, at: i64) -> Dot {
        Dot {
            seq: Some(Seq(seq)),
            at: Time(at),
            surface: Surface::Work,
            sign: None,
            count: 1,
        }
    }

    #[test]
    fn what_is_too_close_becomes_one_mark_with_its_number() {
        // Ten pixels of 700 are 51 seconds of an hour.
        let dots = [
            dot(1, 0),
            dot(2, 20 * SECOND),
            dot(3, 40 * SECOND),
            dot(4, 10 * MINUTE),
        ];
        let placed = merged(&dots, HOUR_LONG, CLOSE, &HashSet::new());
        assert_eq!(placed.len(), 2);
        assert_eq!((placed[0].count, placed[0].seq), (3, None));
        assert_eq!((placed[0].from, placed[0].to), (Time(0), Time(40 * SECOND)));
        assert_eq!((placed[1].count, placed[1].seq), (1, Some(Seq(4))));
        // Nearer by, the same items stand apart.
        let near = Window {
            from: Time(0),
            to: Time(5 * MINUTE),
        };
        assert_eq!(merged(&dots[..3], near, CLOSE, &HashSet::new()).len(), 3);
    }

    #[test]
    fn what_was_chosen_and_what_has_a_sign_stays_apart() {
        let mut dots = [
            dot(1, 0),
            dot(2, SECOND),
            dot(3, 2 * SECOND),
            dot(4, 3 * SECOND),
        ];
        dots[2].sign = Some(Sign::Red);
        let placed = merged(&dots, HOUR_LONG, CLOSE, &HashSet::from([Seq(2)]));
        let of = |seq: i64| placed.iter().find(|one| one.seq == Some(Seq(seq)));
        assert!(of(2).is_some() && of(3).is_some_and(|one| one.sign == Some(Sign::Red)));
        let rest: Vec<i64> = placed
            .iter()
            .filter(|one| one.seq.is_none())
            .map(|one| one.count)
            .collect();
        assert_eq!(rest, [2]);
    }

    #[test]
    fn counts_of_stretches_are_added_up() {
        let stretch = |at: i64, count: i64| Dot {
            seq: None,
            count,
            ..dot(0, at)
        };
        let placed = merged(
            &[stretch(0, 30), stretch(SECOND, 8)],
            HOUR_LONG,
            CLOSE,
            &HashSet::new(),
        );
        assert_eq!(placed.iter().map(|one| one.count).collect::<Vec<_>>(), [38]);
    }

    #[test]
    fn there_are_never_too_many_marks() {
        let lanes: Vec<Vec<Dot>> = (0..30)
            .map(|_| (0..2_000).map(|n| dot(n, n * HOUR / 2_000)).collect())
            .collect();
        let lanes: Vec<&[Dot]> = lanes.iter().map(Vec::as_slice).collect();
        let placed = bounded(&lanes, HOUR_LONG, &HashSet::new(), 600);
        let marks: usize = placed.iter().map(Vec::len).sum();
        assert!((30..=600).contains(&marks), "{marks}");
        let items: i64 = placed.iter().flatten().map(|one| one.count).sum();
        assert_eq!(items, 60_000);
    }

    #[test]
    fn claims_held_at_once_stand_below_each_other() {
        let claim = |since: i64, until: Option<i64>| Claim {
            id: String::new(),
            title: String::new(),
            agent: String::new(),
            since: Time(since),
            until: until.map(Time),
            ended: String::new(),
            silent_since: None,
            expires: None,
        };
        let claims = [
            claim(0, Some(10)),
            claim(5, None),
            claim(10, Some(20)),
            claim(12, Some(14)),
        ];
        assert_eq!(
            rows(&claims, Time(100)),
            [Some(0), Some(1), Some(0), Some(2)]
        );
        let many: Vec<Claim> = (0..9).map(|_| claim(0, None)).collect();
        assert_eq!(rows(&many, Time(100)).iter().flatten().count(), ROWS);
    }

    #[test]
    fn the_grid_has_round_times() {
        let (step, lines) = ticks(HOUR_LONG, 8);
        assert_eq!((step, lines.len()), (10 * MINUTE, 7));
        let week = Window {
            from: Time(3 * HOUR),
            to: Time(3 * HOUR + 7 * DAY),
        };
        let (step, lines) = ticks(week, 8);
        assert_eq!((step, lines.first()), (DAY, Some(&Time(DAY))));
        for days in [1, 30, 400, 9_000] {
            let long = Window {
                from: Time(0),
                to: Time(days * DAY),
            };
            assert!(ticks(long, 8).1.len() <= 9);
        }
    }

    #[test]
    fn one_item_has_one_pixel() {
        assert_eq!(height(0, 9, 32.0), 0.0);
        assert_eq!(height(1, 9, 32.0), 1.0);
        assert_eq!(height(9, 9, 32.0), 32.0);
        assert_eq!(height(1, 1, 32.0), 1.0);
    }

    #[test]
    fn what_is_outside_is_drawn_at_the_edge() {
        assert_eq!(HOUR_LONG.percent(Time(-HOUR)), 0.0);
        assert_eq!(HOUR_LONG.percent(Time(HOUR / 2)), 50.0);
        assert_eq!(HOUR_LONG.percent(Time(3 * HOUR)), 100.0);
    }
}
