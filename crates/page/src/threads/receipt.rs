//! What became of waking somebody: the steps that are known, with their times.

use maud::{Markup, html};
use understory_engine::threads::wakes::Waking;
use understory_model::Time;
use understory_model::thread::{DeferReason, WakeAction, WakeResult};

use crate::marks::{Mark, mark};
use crate::text::{clock, stored};

pub fn receipt(wake: &Waking) -> Markup {
    let failed = wake.result == WakeResult::Failed;
    html! {
        div.receipt.failed[failed] id=(wake.wake_id) {
            p {
                @if failed { span.red { (mark(Mark::Wake)) } } @else { (mark(Mark::Wake)) }
                " " (stored(&wake.asked_by)) " woke " (stored(&wake.target_agent_id))
                (step("queued", Some(wake.created_at)))
                @if wake.result == WakeResult::Deferred {
                    i {} span { "deferred" @if let Some(until) = wake.deferred_until { " until " (clock(until)) }
                        @if let Some(why) = wake.defer_reason { ": " (reason(why)) } }
                }
                @if wake.delivered_at.is_some() { (step("delivered", wake.delivered_at)) }
                @match wake.result {
                    WakeResult::Read => { i {} span { (mark(Mark::Done)) " read " (clock(wake.updated_at)) } }
                    WakeResult::Failed => { i {} span.red { "failed" } }
                    WakeResult::NotNeeded => { i {} span { "not needed any more" } }
                    WakeResult::Queued | WakeResult::Deferred | WakeResult::Delivered => {
                        i {} span.quiet { (mark(Mark::Waits)) " not read yet" }
                    }
                }
            }
            @if !wake.tried.is_empty() {
                details id={ "tried-" (wake.wake_id) } open[failed] {
                    summary { "Ways that were tried" }
                    ul {
                        @for tried in &wake.tried {
                            li { (mark(Mark::Failed)) " " span { (way(tried.action)) ": " (stored(&tried.why)) } (clock(tried.at)) }
                        }
                        @if !failed { li { (mark(Mark::Claimed)) " " span { (way(wake.action)) } } }
                    }
                }
            }
        }
    }
}

fn step(word: &str, at: Option<Time>) -> Markup {
    html! { i {} span { (word) @if let Some(at) = at { " " (clock(at)) } } }
}

fn way(action: WakeAction) -> &'static str {
    match action {
        WakeAction::None => "no way",
        WakeAction::WaitForMessages => "its call that waits",
        WakeAction::InSession => "its own channel",
        WakeAction::EndOfTurn => "the end of its turn",
        WakeAction::TriggerRuntime => "its terminal",
        WakeAction::ResumeSession => "going on with its session",
        WakeAction::SpawnSession => "a new session",
        WakeAction::TellPerson => "telling a person",
    }
}

fn reason(why: DeferReason) -> &'static str {
    match why {
        DeferReason::HumanInputBusy => "a person types there",
        DeferReason::DialogOpen => "it asks its person something",
        DeferReason::AgentBusy => "it is busy",
        DeferReason::NotAtPrompt => "it is not at a prompt",
        DeferReason::Retry => "it is tried again",
        DeferReason::TooMany => "it was woken too often",
    }
}
