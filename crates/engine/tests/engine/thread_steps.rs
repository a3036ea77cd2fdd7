//! Random calls of the threads surface, valid ones and others.

use serde_json::{Value, json};

use crate::common::Dice;

const AGENTS: [&str; 4] = ["ada", "bob", "cyd", "never-seen"];
const STATUSES: [&str; 5] = ["active", "blocked", "resolved", "closed", "open"];
const EVENTS: [&str; 10] = [
    "finding_reported",
    "finding_reported",
    "fix_pushed",
    "finding_verified",
    "finding_rejected",
    "finding_withdrawn",
    "re_review_requested",
    "thread_escalated",
    "thread_resolved",
    "of no registry",
];

/// One call; `threads` and `messages` are the ids known so far.
pub fn step(
    dice: &mut Dice,
    (threads, messages): (&[String], &[String]),
    text: String,
) -> (&'static str, Value) {
    let thread = dice.pick(threads).clone();
    match dice.below(19) {
        0 | 1 => ("create_thread", create(dice, text)),
        2..=10 => ("post_message", post(dice, thread, messages, text)),
        11 | 12 => (
            "ack_read",
            json!({"thread_id": thread, "last_read_seq": dice.below(5)}),
        ),
        13 => (
            "update_thread_status",
            json!({"thread_id": thread, "status": dice.pick(&STATUSES), "reason": text}),
        ),
        16 => (
            "update_thread_status",
            json!({"thread_id": thread, "add_participants": [dice.pick(&AGENTS)]}),
        ),
        17 => (
            "wait_for_messages",
            json!({"timeout_s": 0, "ack": {&thread: dice.below(4), format!("{thread}/status"): dice.below(3)}}),
        ),
        18 => (
            "post_message",
            json!({"to": [dice.pick(&AGENTS)], "body": text}),
        ),
        14 => (
            "heartbeat_session",
            json!({"resumable": dice.one_in(2), "runtime": "codex_cli"}),
        ),
        _ => (
            "trigger_participant",
            json!({"thread_id": thread, "target_agent_id": dice.pick(&AGENTS), "trigger_prompt": text}),
        ),
    }
}

fn create(dice: &mut Dice, text: String) -> Value {
    let named: Vec<&str> = (0..1 + dice.below(5))
        .map(|_| *dice.pick(&AGENTS))
        .collect();
    json!({"title": text, "participants": named, "type": dice.pick(&["workflow", "workflow", "incident", "chat"])})
}

fn post(dice: &mut Dice, thread: String, messages: &[String], text: String) -> Value {
    let mut message = json!({"thread_id": thread, "body": text});
    if dice.one_in(3) {
        message["in_reply_to"] = json!(dice.pick(messages));
    }
    if dice.one_in(3) {
        message["idempotency_key"] = json!(format!("key {}", dice.below(20)));
    }
    if !dice.one_in(3) {
        message["kind"] = json!("event");
        message["metadata"] =
            json!({"event_type": dice.pick(&EVENTS), "n": 1.0, "commit": "abc1234"});
        if dice.one_in(2) {
            message["metadata"]["finding_id"] = match dice.below(4) {
                0 => json!(dice.below(3)),
                at => json!(format!("F{at}")),
            };
        }
    }
    message
}
