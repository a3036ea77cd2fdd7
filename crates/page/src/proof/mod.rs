//! Proof and care: how far the log is proved, checkpoints, the store and its growth, sessions, tokens,
//! settings, credentials, and what a check-up finds.

mod care;
mod tables;

use maud::{Markup, html};
use serde_json::json;
use understory_engine::kernel::credentials::Flagged;
use understory_engine::system::audit::may_read;
use understory_engine::system::care::{Chain, Listed, chain, tokens};
use understory_engine::system::status::State;
use understory_engine::system::who::Who;
use understory_model::{Fault, Role};

pub use care::{Care, Finding, Proof, Proved, Running, Setting, Signed, Verdict};

use crate::marks::{Mark, mark};
use crate::shell::hidden;
use crate::text::{age, stored};
use crate::visit::Visit;
use crate::{Content, Place};

/// Tokens and flagged items of the page.
const ROWS: usize = 20;
/// Signs of a group of the head's hash, and how many of them are shown.
const GROUP: usize = 4;
const GROUPS: usize = 8;

/// All that the page shows.
struct All {
    chain: Chain,
    state: Option<State>,
    who: Who,
    /// Nothing for those who may not read the audit.
    tokens: Option<Vec<Listed>>,
    flagged: Option<(i64, Vec<Flagged>)>,
}

impl All {
    fn of(visit: &Visit<'_>) -> Result<All, Fault> {
        let context = &visit.context;
        let (engine, caller) = (context.engine, context.caller);
        let looks_after = may_read(caller.role);
        let (tokens, flagged) = match looks_after {
            true => (
                Some(engine.view(caller, |view| tokens(view, caller, ROWS))?),
                Some(engine.credentials(caller, ROWS as i64)?),
            ),
            false => (None, None),
        };
        Ok(All {
            chain: engine.view(caller, chain)?,
            state: engine.state()?.filter(|_| looks_after),
            who: visit.ask("who", json!({"gone": true}))?,
            tokens,
            flagged,
        })
    }
}

pub fn page(visit: &Visit<'_>) -> Result<Content, Fault> {
    let all = All::of(visit)?;
    let care = visit.care;
    let looks_after = may_read(visit.context.caller.role);
    let proof = &care.proof;
    Ok(Content {
        place: Place::Proof,
        title: "Proof and care".to_owned(),
        counts: match &proof.last {
            Some(last) if last.holds() => "everything holds".to_owned(),
            Some(_) => "something does not hold".to_owned(),
            None => "not proved yet".to_owned(),
        },
        json: json!({
            "chain": all.chain,
            "proof": proof,
            "store": all.state.as_ref().map(|state| json!({
                "address": care.store, "engine": state.engine, "size_bytes": state.size,
            })),
            "agents": all.who.agents,
            "tokens": all.tokens,
            "credentials": all.flagged.as_ref().map(|(count, newest)| json!({"items": count, "newest": newest})),
            "settings": looks_after.then_some(&care.settings),
            "findings": looks_after.then_some(&care.findings),
        }),
        main: html! {
            (chain_card(visit, &all.chain, looks_after))
            div.cares {
                (checkpoints(visit, proof))
                (tables::store(&all.chain, all.state.as_ref(), &care.store))
                (tables::sessions(visit, &all.who))
                @if let Some(tokens) = &all.tokens { (tables::tokens(tokens)) }
                @else { section.care { h2 { "Tokens and settings" } p.empty { "Only an operator, an orchestrator or an auditor may see them. You are here as " (visit.context.caller.role) "." } } }
                @if let Some((count, flagged)) = &all.flagged { (tables::credentials(visit, *count, flagged)) }
                @if looks_after { (tables::findings(&care.findings)) (tables::settings(&care.settings)) }
            }
        },
        ..Content::default()
    })
}

/// The first card: what is proved, and the button that proves it again.
fn chain_card(visit: &Visit<'_>, chain: &Chain, may_prove: bool) -> Markup {
    let proof = &visit.care.proof;
    html! {
        section.care.proved.(colour(proof)) id="proved" {
            (mark(Mark::Proof))
            div.what {
                h2 { (verdict(proof)) }
                p.meta {
                    "The log has " (grouped(chain.items)) " items"
                    @if let Some(head) = &chain.head { " · head " span.handle title=(head) { (groups(head)) } }
                    @if let Some(last) = &proof.last {
                        " · last proof " (age(visit, last.at)) " ago, " (grouped(last.items)) " items in " (seconds(last.took_ms))
                        @match last.checkpoints { 0 => {}, 1 => ", and against 1 checkpoint", n => { ", and against " (n) " checkpoints" } }
                    }
                }
                @if let Some(running) = &proof.running { (progress(running, chain.items)) }
                @else if let Some(last) = proof.last.as_ref().filter(|last| !last.holds()) { (broken(last)) }
                @if may_prove && proof.running.is_none() {
                    details.peek id="against" {
                        summary { "Compare with a checkpoint that was kept elsewhere" }
                        form.act method="post" action=(visit.link("do/verify")) data-draft="verify-against" {
                            (hidden(visit, "proof"))
                            label { span.label { "The checkpoint, as its file has it" } textarea name="checkpoint" rows="3" required {} }
                            button { "Prove and compare" }
                        }
                    }
                }
            }
            @if may_prove && proof.running.is_none() {
                form.act method="post" action=(visit.link("do/verify")) data-draft="verify" {
                    (hidden(visit, "proof"))
                    button.main { @if proof.last.is_some() { "Prove again" } @else { "Prove the log" } }
                }
            }
        }
    }
}

/// The colour of the proof: green if it holds, red if not.
fn colour(proof: &Proof) -> &'static str {
    match &proof.last {
        Some(last) if last.holds() => "green",
        Some(_) => "red",
        None => "edge",
    }
}

fn verdict(proof: &Proof) -> Markup {
    html! {
        @match &proof.last {
            Some(last) if last.holds() => { "The log is what was written, up to #" (grouped(last.items)) },
            Some(last) => @match last.breaks.first() {
                Some(first) => { "Item #" (grouped(first.seq.0)) " is not what was written." },
                None => { "The proof did not come to its end." },
            },
            None => "Not proved yet since this server began",
        }
    }
}

/// How far a proof is.
fn progress(running: &Running, items: i64) -> Markup {
    let percent = (running.done * 100 / items.max(1)).clamp(0, 100);
    html! {
        p.meta { "Proving: item " (grouped(running.done)) " of " (grouped(items)) ", " (percent) "%, begun by " (stored(&running.by)) }
        svg.gauge role="progressbar" aria-label="Proving" aria-valuenow=(percent) aria-valuemin="0" aria-valuemax="100"
            height="8" viewBox="0 0 100 8" preserveAspectRatio="none" {
            rect.all width="100" height="8" {}
            rect.past width=(percent) height="8" {}
        }
    }
}

/// What does not hold, item by item.
fn broken(last: &Proved) -> Markup {
    html! {
        div.error {
            @if let Some(first) = last.breaks.first() {
                p { b { "Item #" (grouped(first.seq.0)) " is not what was written." }
                    " Everything before it holds. Keep the file as it is and compare with a checkpoint that was kept elsewhere." }
            }
            ul {
                @for found in &last.breaks { li { a.handle href={ "timeline?sel=" (found.seq) } { "#" (grouped(found.seq.0)) } " " (stored(&found.what)) } }
                @for fault in &last.faults { li { (stored(fault)) } }
            }
        }
    }
}

/// The checkpoints that were signed here, and one more.
fn checkpoints(visit: &Visit<'_>, proof: &Proof) -> Markup {
    let may_sign = visit.context.caller.role == Role::Operator;
    html! {
        section.care id="checkpoints" {
            h2 { "Checkpoints " span.meta { "kept outside, so that nobody can rewrite the past" } }
            @if proof.signed.is_empty() {
                p.empty { b { "None was signed here since this server began." } " A checkpoint says what the log is now. Kept where whoever can write the store cannot, it proves later that nothing before it was changed." }
            } @else {
                table {
                    thead { tr { th { "When" } th { "Up to" } th { "Head" } th {} } }
                    tbody {
                        @for one in &proof.signed {
                            tr id={ "checkpoint-" (one.seq) } {
                                td { (age(visit, one.at)) " ago" }
                                td { "#" (grouped(one.seq)) }
                                td { span.handle title=(one.head) { (groups(one.head.get(..2 * GROUP).unwrap_or(&one.head))) " …" } }
                                td { a href=(visit.link(&format!("proof/checkpoint?seq={}", one.seq))) download={ "checkpoint-" (one.seq) } { "Download" } }
                            }
                        }
                    }
                }
            }
            @if may_sign {
                form.act method="post" action=(visit.link("do/checkpoint")) data-draft="checkpoint" {
                    (hidden(visit, "proof"))
                    button { "Sign a checkpoint" }
                }
            }
            @else { p.meta { "Only an operator may sign one. You are here as " (visit.context.caller.role) "." } }
        }
    }
}

/// The last line of the rail: how far the log is proved.
pub fn line(visit: &Visit<'_>) -> Markup {
    let proof = &visit.care.proof;
    html! {
        a.proof.(colour(proof)) href=(visit.link("proof")) data-key="p" title="Proof and care (g p)" {
            (mark(Mark::Proof))
            span {
                @match &proof.last {
                    _ if proof.running.is_some() => "Proving…",
                    Some(last) if last.holds() => { "Proved up to #" (grouped(last.items)) },
                    Some(last) => { b { @match last.breaks.first() { Some(first) => { "Broken at #" (grouped(first.seq.0)) }, None => "Not proved: look" } } },
                    None => "Not proved yet",
                }
            }
        }
    }
}

/// `10,482`.
fn grouped(number: i64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A hash in groups that can be read aloud; the whole stands in the title.
fn groups(hash: &str) -> String {
    let groups = hash.as_bytes().chunks(GROUP).take(GROUPS);
    let groups: Vec<_> = groups.map(String::from_utf8_lossy).collect();
    groups.join(" ")
}

fn seconds(ms: i64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        _ => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
    }
}

#[cfg(test)]
mod tests {
    use super::{grouped, groups, seconds};

    #[test]
    fn figures_are_written_so_that_they_can_be_read() {
        assert_eq!(
            [0, 999, 1_000, 10_482, 1_234_567].map(grouped),
            ["0", "999", "1,000", "10,482", "1,234,567"]
        );
        assert_eq!(groups("8f337f676146"), "8f33 7f67 6146");
        assert_eq!(
            (seconds(7), seconds(1_250)),
            ("7 ms".into(), "1.2 s".into())
        );
    }
}
