//! How much was written over the whole history, in a few hundred bars.

use serde::Serialize;
use understory_model::error::Result;
use understory_model::{Seq, Time};
use understory_storage::{items, signals, workspaces};

use super::{DAY, HOUR, untold};
use crate::View;
use crate::kernel::surface::Sign;

/// The widths that bars may have, so that they begin at round times.
const WIDTHS: [i64; 14] = [
    HOUR / 60,
    HOUR / 12,
    HOUR / 6,
    HOUR / 4,
    HOUR / 2,
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

/// The whole history in bars of equal width.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Density {
    pub from: Time,
    pub to: Time,
    /// In microseconds.
    pub width: i64,
    /// Those that hold anything.
    pub bars: Vec<Bar>,
}

/// What was written in a stretch of time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Bar {
    pub at: Time,
    pub count: i64,
    /// Something failed in it, or could not be true beside something else.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub red: bool,
    /// Something waited for somebody.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub amber: bool,
}

/// Counts are differences of places in the log, which has no gaps: a few questions that halve the log
/// for all bars at once, however long it is.
pub fn density(view: &mut View<'_, '_>, most: usize) -> Result<Density> {
    let head = workspaces::head(view.tx, view.ws, false)?;
    let Some(head) = head.filter(|head| head.seq > Seq::ZERO) else {
        return Ok(Density::default());
    };
    let first = items::times(view.tx, view.ws, &[Seq::FIRST])?;
    let first = first.get(&Seq::FIRST).copied().unwrap_or(head.at);
    let last = view.now.max(head.at);
    let width = width(last.0 - first.0, most);
    let begin = first.0.div_euclid(width) * width;
    let count = (last.0 - begin).div_euclid(width) + 1;
    let edges: Vec<Time> = (0..=count).map(|n| Time(begin + n * width)).collect();
    let places = items::first_at_each(view.tx, view.ws, &edges, head.seq)?;
    let mut stretches: Vec<(Time, Seq, Seq)> = Vec::new();
    for (at, pair) in edges.iter().zip(places.windows(2)) {
        if let [from, before] = pair
            && from < before
        {
            stretches.push((*at, *from, *before));
        }
    }
    let ranges: Vec<(Seq, Seq)> = stretches.iter().map(|(_, from, to)| (*from, *to)).collect();
    let without = untold(view);
    let mut marked =
        |sign: Sign| signals::any_in(view.tx, view.ws, (sign.as_str(), without), &ranges);
    let (red, amber) = (marked(Sign::Red)?, marked(Sign::Amber)?);
    let bars = stretches.into_iter().map(|(at, from, before)| Bar {
        at,
        count: before - from,
        red: red.contains(&from),
        amber: amber.contains(&from),
    });
    Ok(Density {
        from: Time(begin),
        to: Time(begin + count * width),
        width,
        bars: bars.collect(),
    })
}

/// The narrowest round width with which so much time takes no more bars than wanted.
fn width(time: i64, most: usize) -> i64 {
    // One more than fits, because the first bar may begin before the first item.
    let least = time / i64::try_from(most).unwrap_or(1).saturating_sub(2).max(1) + 1;
    let round = WIDTHS.into_iter().find(|width| *width >= least);
    round.unwrap_or_else(|| (least / DAY + 1) * DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_wide_as_they_must_be() {
        assert_eq!(width(0, 240), HOUR / 60);
        assert_eq!(width(3 * HOUR, 240), HOUR / 60);
        assert_eq!(width(18 * DAY, 240), 2 * HOUR);
        assert_eq!(width(365 * DAY, 240), 2 * DAY);
        let century = 36_500 * DAY;
        let wide = width(century, 240);
        assert!(wide % DAY == 0 && century / wide < 238, "{wide}");
        for time in [HOUR, 5 * DAY, 100 * DAY, 10_000 * DAY] {
            assert!(time / width(time, 240) + 2 <= 240);
        }
    }
}
