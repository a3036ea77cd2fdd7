//! What the server itself reports in a conversation (`SystemEvent`).

use serde_json::{Map, Value};

/// What is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    BranchCreated,
    SummaryGenerated,
    BranchReopened,
    ProposalAccepted,
    ProposalRejected,
    ProposalReopened,
}

impl Event {
    const ALL: [Event; 6] = [
        Event::BranchCreated,
        Event::SummaryGenerated,
        Event::BranchReopened,
        Event::ProposalAccepted,
        Event::ProposalRejected,
        Event::ProposalReopened,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Event::BranchCreated => "branch_created",
            Event::SummaryGenerated => "summary_generated",
            Event::BranchReopened => "branch_reopened",
            Event::ProposalAccepted => "proposal_accepted",
            Event::ProposalRejected => "proposal_rejected",
            Event::ProposalReopened => "proposal_reopened",
        }
    }

    /// The server's event that an item's fields are of. Earlier versions let callers write events of
    /// their own, which are none of these.
    pub fn of(fields: &Map<String, Value>) -> Option<Event> {
        let name = fields.get("event_type").and_then(Value::as_str)?;
        Event::ALL.into_iter().find(|event| event.name() == name)
    }

    /// What its payload says to a person.
    pub fn told(self, payload: &Value) -> String {
        let text = |field: &str| payload[field].as_str().unwrap_or_default();
        let titled = match text("title") {
            "" => "a conversation".to_string(),
            title => format!("“{title}”"),
        };
        match self {
            Event::BranchCreated => format!("{titled} was forked from here"),
            Event::SummaryGenerated => format!("{titled} came to: {}", text("summary")),
            Event::BranchReopened => format!("{titled} goes on here"),
            Event::ProposalAccepted => {
                format!("{} for {} was accepted", text("proposal"), text("label"))
            }
            Event::ProposalRejected => {
                format!("{} for {} was rejected", text("proposal"), text("label"))
            }
            Event::ProposalReopened => {
                format!("{} for {} is open again", text("proposal"), text("label"))
            }
        }
    }
}
