//! What every page shows beside itself: what needs the person, who is here, and what is unread.

use serde_json::json;
use understory_engine::graph::onboard::Onboard;
use understory_engine::system::who::Who;
use understory_model::Fault;

use crate::needs::{Need, needs};
use crate::visit::Visit;

/// The state around a page, asked for once a visit.
pub struct Around {
    pub needs: Vec<Need>,
    pub who: Who,
    pub onboard: Onboard,
}

impl Around {
    pub fn of(visit: &Visit<'_>) -> Result<Around, Fault> {
        Ok(Around {
            needs: needs(visit)?,
            who: visit.ask("who", json!({}))?,
            onboard: visit.ask("graph_onboard", json!({}))?,
        })
    }
}
