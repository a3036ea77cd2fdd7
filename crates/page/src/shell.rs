//! What stands around every page: the rail, the head, and the line about the connection.

use maud::{DOCTYPE, Markup, html};
use serde_json::json;
use understory_engine::system::who::{Agent, Who};
use understory_engine::threads::list::Threads;
use understory_model::Fault;

use crate::marks::{Mark, mark, who};
use crate::needs::needs;
use crate::text::{age, number, plain, segment, stored};
use crate::visit::Visit;
use crate::{Content, Place};

/// Those who are shown in the rail.
const HERE: usize = 6;

pub fn document(visit: &Visit<'_>, content: &Content) -> Result<Markup, Fault> {
    let waiting = needs(visit)?.len() as i64;
    let threads: Threads = visit.ask("list_threads", json!({"unread": true, "limit": 1}))?;
    let here: Who = visit.ask("who", json!({}))?;
    let place = content.place;
    Ok(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { @if waiting > 0 { "(" (number(waiting)) ") " } (plain(&content.title)) " · " (plain(visit.workspace)) }
                link rel="icon" href={ "/assets/icon.svg" @if waiting > 0 { "?waits" } };
                link rel="stylesheet" href="/assets/page.css";
                script src="/assets/page.js" defer {}
            }
            body data-events=(visit.link("events")) data-base=(visit.link("")) {
                a.skip href="#main" { "Skip to the page" }
                nav.rail id="rail" aria-label="Pages" {
                    p.workspace { (stored(visit.workspace)) }
                    ul {
                        @for one in Place::ALL {
                            li {
                                a href=(visit.link(one.address())) aria-current=[(one == place).then_some("page")]
                                    data-key=(one.key()) title={ (one.title()) " (g " (one.key()) ")" } {
                                    (mark(Mark::Place(one)))
                                    span { (one.title()) }
                                    (figure(one, waiting, threads.unread.messages))
                                }
                            }
                        }
                    }
                    (present(visit, &here.agents))
                }
                main id="main" tabindex="-1" {
                    header {
                        h1 { (stored(&content.title)) }
                        p.counts { bdi { (plain(&content.counts)) } }
                        p.connection id="connection" role="status" {}
                    }
                    div.content id="content" { (content.main) }
                }
            }
        }
    })
}

fn figure(place: Place, waiting: i64, unread: i64) -> Markup {
    html! {
        @match place {
            Place::Now if waiting > 0 => { span.count.amber { (number(waiting)) } }
            Place::Threads if unread > 0 => { span.count { (number(unread)) } }
            _ => {}
        }
    }
}

/// Who is alive.
fn present(visit: &Visit<'_>, agents: &[Agent]) -> Markup {
    let others: Vec<&Agent> = agents.iter().filter(|agent| !agent.you).collect();
    html! {
        @if !others.is_empty() {
            section.here aria-labelledby="here" {
                h2 id="here" { "Here now" }
                ul {
                    @for agent in others.iter().take(HERE) {
                        li {
                            a href=(visit.link(&format!("timeline?by={}", segment(&agent.agent)))) {
                                (who(&agent.agent, false))
                                span { (stored(&agent.agent)) }
                                (age(visit, agent.seen))
                            }
                        }
                    }
                }
                @if others.len() > HERE { p.meta { (others.len() - HERE) " more" } }
            }
        }
    }
}
