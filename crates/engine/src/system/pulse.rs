//! What an agent did in the last hour: how much in each minute, and the last thing.

use serde::Serialize;
use understory_model::Time;
use understory_model::error::Result;
use understory_storage::timeline;

use crate::View;
use crate::kernel::access::reads_all;
use crate::kernel::log::{self, Entry};

const MINUTE: i64 = 60_000_000;
const MINUTES: usize = 60;
/// Items of an agent that are counted, the last ones.
const ITEMS: i64 = 720;

/// The last hour of an agent.
#[derive(Debug, Clone, Serialize)]
pub struct Pulse {
    /// Items in each minute, the oldest first.
    pub minutes: Vec<u16>,
    /// What it did last; not told to those who may not read every thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Entry>,
}

/// The last hour of an agent.
pub fn pulse(view: &mut View<'_, '_>, agent: &str) -> Result<Pulse> {
    let times = timeline::times_of(view.tx, view.ws, agent, ITEMS)?;
    let last = match reads_all(view.caller.role) {
        true => newest(view, agent)?,
        false => None,
    };
    Ok(Pulse {
        minutes: minutes(&times, view.now),
        last,
    })
}

fn newest(view: &mut View<'_, '_>, agent: &str) -> Result<Option<Entry>> {
    let wanted = log::Wanted {
        actor: Some(agent.to_owned()),
        most: 1,
        ..log::Wanted::default()
    };
    Ok(log::newest(view, &wanted)?.into_iter().next())
}

fn minutes(times: &[Time], now: Time) -> Vec<u16> {
    let mut minutes = vec![0_u16; MINUTES];
    for at in times {
        let ago = usize::try_from((now.0 - at.0).max(0) / MINUTE).unwrap_or(MINUTES);
        if let Some(place) = MINUTES
            .checked_sub(ago + 1)
            .and_then(|at| minutes.get_mut(at))
        {
            *place = place.saturating_add(1);
        }
    }
    minutes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_counted_by_minute() {
        let now = Time(1_000 * MINUTE);
        let ago = |minutes: i64| Time(now.0 - minutes * MINUTE);
        let found = minutes(
            &[
                Time(now.0 + 5),
                ago(0),
                ago(1),
                ago(59),
                ago(60),
                ago(90_000),
            ],
            now,
        );
        assert_eq!((found.len(), found[59], found[58], found[0]), (60, 2, 1, 1));
        assert_eq!(found.iter().map(|n| i64::from(*n)).sum::<i64>(), 4);
    }
}
