//! What people are told where a tool refuses: the same fact in the words of the pages.

use serde_json::Value;
use understory_model::{Fault, Time};

use crate::text::ago;

/// A refusal as a person is told it.
pub fn told(fault: Fault, now: Time) -> Fault {
    let details = fault.details.clone().unwrap_or_default();
    if let Some(circle) = details.get("cycle").and_then(Value::as_array) {
        let names: Vec<&str> = circle.iter().filter_map(Value::as_str).collect();
        return said(
            fault,
            format!("That would be a circle: {}.", names.join(" → ")),
            None,
        );
    }
    if let Some(by) = details.get("changed_by").and_then(Value::as_str) {
        let at = details.get("changed_at").and_then(Value::as_str);
        let at = at.and_then(|at| Time::parse("changed_at", at).ok());
        let when = at.map_or(String::new(), |at| format!(" {} ago", ago(now, at)));
        let hint = "Look at what is new, then do it again.";
        return said(
            fault,
            format!("{by} changed it{when}. Nothing of yours was written."),
            Some(hint),
        );
    }
    if let Some(claim) = details.get("claim") {
        let text = |field: &str| claim.get(field).and_then(Value::as_str);
        let since = text("since").and_then(|at| Time::parse("since", at).ok());
        if let (Some(by), Some(id), Some(since)) = (text("by"), text("id"), since) {
            let message = format!("{by} has {id}, for {}.", ago(now, since));
            return said(
                fault,
                message,
                Some("Take it over on its own page if it must be."),
            );
        }
    }
    fault
}

fn said(mut fault: Fault, message: String, hint: Option<&str>) -> Fault {
    fault.message = message;
    fault.hint = hint.map(str::to_owned);
    fault
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn refusals_are_told_in_words_for_people() {
        let now = Time::parse("now", "2026-11-16T14:32:03.000000Z").unwrap();
        let circle =
            Fault::invalid("to", "would close a cycle").detail("cycle", json!(["A", "B", "A"]));
        assert_eq!(
            told(circle, now).message,
            "That would be a circle: A → B → A."
        );
        let changed = Fault::conflict("updates[0]: A is at rev 3, not 2")
            .detail("changed_by", "ada")
            .detail("changed_at", "2026-11-16T14:32:00.000000Z");
        let changed = told(changed, now);
        assert_eq!(
            changed.message,
            "ada changed it 3 s ago. Nothing of yours was written."
        );
        assert_eq!(
            changed.hint.as_deref(),
            Some("Look at what is new, then do it again.")
        );
        let held = json!({"id": "A", "by": "ada", "since": "2026-11-16T14:30:03.000000Z"});
        let held = Fault::conflict("A was claimed").detail("claim", held);
        assert_eq!(told(held, now).message, "ada has A, for 2 min.");
        let other = Fault::not_found("there is no node TASK-999");
        assert_eq!(told(other, now).message, "there is no node TASK-999");
    }
}
