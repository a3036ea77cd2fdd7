//! The cards of Proof and care: the store and its growth, sessions, tokens, credentials, the check-up and the
//! settings.

use maud::{Markup, html};
use understory_engine::kernel::credentials::Flagged;
use understory_engine::system::care::{Chain, Listed};
use understory_engine::system::status::State;
use understory_engine::system::who::Who;
use understory_model::Time;

use super::grouped;
use super::{Finding, Setting, Verdict};
use crate::agents::reached;
use crate::marks::{Mark, mark};
use crate::text::{age, count, segment, stored};
use crate::visit::Visit;

/// Sessions of the page.
const SESSIONS: usize = 20;
/// The picture of the growth.
const WIDE: i64 = 400;
const TALL: i64 = 60;

/// The database, its size, and how the log grew.
pub fn store(chain: &Chain, state: Option<&State>, address: &str) -> Markup {
    let monthly =
        state.map(|state| state.size.saturating_mul(chain.last_month) / chain.items.max(1));
    html! {
        section.care id="store" {
            h2 {
                "Store "
                @if let Some(state) = state { span.meta { (stored(&state.engine)) ", " (size(state.size)) } }
            }
            @if state.is_some() { p.meta { (stored(address)) } }
            (growth(chain))
            p.meta {
                (grouped(chain.last_month)) " items in the last 30 days"
                @if let Some(bytes) = monthly { ", about " (size(bytes)) " a month by the size of an item until now" }
                "."
            }
        }
    }
}

/// The items of the log over time.
fn growth(chain: &Chain) -> Markup {
    let (Some((_, first)), Some((items, last))) = (chain.growth.first(), chain.growth.last())
    else {
        return html! { p.empty { "Nothing is written yet." } };
    };
    let (from, time) = (first.0, (last.0 - first.0).max(1));
    let point = |(count, at): &(i64, Time)| {
        let x = i128::from(at.0 - from) * i128::from(WIDE) / i128::from(time);
        format!("{x},{}", TALL - count * (TALL - 4) / items)
    };
    let points: Vec<String> = chain.growth.iter().map(point).collect();
    let line = points.join(" ");
    html! {
        svg.growth role="img" aria-label={ "From 1 to " (grouped(*items)) " items" } viewBox={ "0 0 " (WIDE) " " (TALL) } preserveAspectRatio="none" {
            polygon points={ "0," (TALL) " " (line) " " (WIDE) "," (TALL) } {}
            polyline points=(line) {}
        }
        p.meta.ends { span { (day(*first)) } span { (grouped(*items)) " items, " (day(*last)) } }
    }
}

fn day(at: Time) -> Markup {
    let text = at.to_string();
    html! { time datetime=(text) title=(text) { (text.get(..10).unwrap_or_default()) } }
}

/// Who works here, on what, and how they are reached.
pub fn sessions(visit: &Visit<'_>, who: &Who) -> Markup {
    let here = who.agents.iter().filter(|agent| !agent.gone).count() as i64;
    html! {
        section.care id="sessions" {
            h2 { "Sessions " span.meta { (count(here, "agent is here", "agents are here")) ", " (who.agents.len() as i64 - here) " left lately" } }
            @if who.agents.is_empty() { p.empty { "No session is known." } }
            @else {
                table {
                    thead { tr { th { "Who" } th { "On" } th { "Can be reached by" } th { "Last sign" } } }
                    tbody {
                        @for agent in who.agents.iter().take(SESSIONS) {
                            tr {
                                td { a href=(visit.link(&format!("agents/{}", segment(&agent.agent)))) { (stored(&agent.agent)) } }
                                td { @for on in agent.on.iter().take(3) { span.handle { (on) } " " } }
                                td { (reached(agent.reach)) }
                                td { (age(visit, agent.seen)) " ago" @if agent.gone { ", ended" } }
                            }
                        }
                    }
                }
                @if who.agents.len() > SESSIONS { p { a href=(visit.link("agents")) { "All " (who.agents.len()) } } }
            }
        }
    }
}

/// The tokens that were issued last. None of them is shown: only what may be told of it.
pub fn tokens(tokens: &[Listed]) -> Markup {
    let valid = tokens.iter().filter(|one| one.is_valid()).count();
    html! {
        section.care id="tokens" {
            h2 { "Tokens " span.meta { (valid) " valid of the last " (tokens.len()) } }
            @if tokens.is_empty() { p.empty { b { "None was issued." } " " code { "understory token issue" } " issues one for an agent on another machine." } }
            @else {
                table {
                    thead { tr { th { "Who" } th { "May" } th { "Runs out" } th { "Token" } th {} } }
                    tbody {
                        @for one in tokens {
                            tr {
                                td { (stored(&one.token.agent)) }
                                td { (stored(&one.token.role)) }
                                td { (stored(one.token.expires_at.get(..16).unwrap_or(&one.token.expires_at))) }
                                td { span.handle { (stored(&one.token.jti)) } }
                                td {
                                    @if one.revoked { span.chip.red { "revoked" } }
                                    @else if one.expired { span.chip { "has run out" } }
                                    @else { span.chip.green { "valid" } }
                                }
                            }
                        }
                    }
                }
                p.meta { code { "understory token revoke" } " takes one back." }
            }
        }
    }
}

/// Items that hold what looks like a credential: which, never the credential.
pub fn credentials(visit: &Visit<'_>, items: i64, newest: &[Flagged]) -> Markup {
    html! {
        section.care id="credentials" {
            h2 { "Credentials " span.meta { (count(items, "item is flagged", "items are flagged")) } }
            @if newest.is_empty() { p.empty { "Nothing stored looks like a credential." } }
            @else {
                table {
                    thead { tr { th { "Item" } th { "Looks like" } th { "By" } th { "When" } } }
                    tbody {
                        @for one in newest {
                            tr {
                                td { (mark(Mark::Credential)) " " span.handle { "#" (grouped(one.seq.0)) } }
                                td { (one.kind.as_str()) }
                                td { (stored(&one.actor)) }
                                td { (age(visit, one.at)) " ago" }
                            }
                        }
                    }
                }
                p.meta { "Change each where it is valid, then erase it: " code { "understory purge --credentials --reason …" } }
            }
        }
    }
}

/// What a check-up finds without touching anything.
pub fn findings(findings: &[Finding]) -> Markup {
    html! {
        section.care id="findings" {
            h2 { "Check-up " span.meta { "what " code { "understory doctor" } " finds without trying anything out" } }
            table {
                tbody {
                    @for one in findings {
                        tr {
                            td {
                                @match one.verdict {
                                    Verdict::Ok => (mark(Mark::Done)),
                                    Verdict::Warn => (mark(Mark::NeedsYou)),
                                    Verdict::Fail => (mark(Mark::Failed)),
                                }
                                " " (one.check)
                            }
                            td { (stored(&one.found)) @if let Some(advice) = &one.advice { p.meta { (stored(advice)) } } }
                        }
                    }
                }
            }
        }
    }
}

/// Every setting, with what set it; those that somebody set first.
pub fn settings(settings: &[Setting]) -> Markup {
    let (set, default): (Vec<_>, Vec<_>) = settings.iter().partition(|one| !one.is_default);
    html! {
        section.care.wide id="settings" {
            h2 { "Settings " span.meta { "the ones that differ from the default come first" } }
            table {
                thead { tr { th { "Setting" } th { "Value" } th { "Set by" } } }
                tbody { @for one in set.into_iter().chain(default) { (setting(one)) } }
            }
        }
    }
}

fn setting(one: &Setting) -> Markup {
    html! {
        tr {
            td { span.handle { (one.name) } }
            td { @match &one.value { Some(value) => (stored(value)), None => span.none { "not set" } } }
            td { @if one.is_default { span.none { "default" } } @else { (stored(&one.set_by)) } }
        }
    }
}

/// Bytes as people say them.
fn size(bytes: i64) -> String {
    let mut amount = bytes as f64;
    for unit in ["bytes", "KB", "MB", "GB"] {
        if amount < 1_000.0 {
            return match unit {
                "bytes" => format!("{bytes} bytes"),
                _ if amount < 100.0 => format!("{amount:.1} {unit}"),
                _ => format!("{amount:.0} {unit}"),
            };
        }
        amount /= 1_000.0;
    }
    format!("{amount:.1} TB")
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn bytes_as_people_say_them() {
        let told = [0, 999, 1_500, 14_200_000, 3_000_000_000_000].map(size);
        assert_eq!(
            told,
            ["0 bytes", "999 bytes", "1.5 KB", "14.2 MB", "3.0 TB"]
        );
    }
}
