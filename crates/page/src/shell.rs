//! What stands around every page: the rail, the head, the columns, and the line about the connection.

use maud::{DOCTYPE, Markup, html};
use understory_engine::system::who::Agent;
use understory_model::Fault;

use crate::around::Around;
use crate::assets::own;
use crate::marks::{Mark, mark, who};
use crate::text::{age, number, plain, segment, stored};
use crate::visit::{PROJECT, Visit};
use crate::{Content, Place, Side};

/// Those who are shown in the rail.
const HERE: usize = 6;

pub fn document(visit: &Visit<'_>, content: &Content) -> Result<Markup, Fault> {
    let around = visit.around()?;
    let waiting = around.needs.len() as i64;
    let title = plain(&content.title);
    Ok(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { @if waiting > 0 { "(" (number(waiting)) ") " } (title) " · " (plain(visit.workspace)) }
                link rel="icon" href={ "/assets/" @if waiting > 0 { "waits.svg" } @else { "icon.svg" } };
                link rel="stylesheet" href="/assets/page.css";
                @let own = own(&content.at);
                @if let Some(own) = own { link rel="stylesheet" href={ "/assets/" (own.place) ".css" }; }
                link rel="stylesheet" href="/assets/narrow.css";
                script src="/assets/page.js" defer {}
                @if let Some(own) = own.filter(|own| !own.script.is_empty()) {
                    script src={ "/assets/" (own.place) ".js" } defer {}
                }
            }
            body data-events=(visit.link("events")) data-base=(visit.link("")) data-csrf=(visit.csrf)
                data-project=[visit.project()] data-you=(visit.person()) {
                a.skip href="#main" { "Skip to the page" }
                (rail(visit, content.place, around))
                main id="main" tabindex="-1" {
                    header {
                        h1 { (stored(&content.title)) }
                        p.counts { bdi { (plain(&content.counts)) } }
                        p.connection id="connection" role="status" {}
                        div.controls { (content.controls) }
                    }
                    @if let Some(above) = &content.above { div id="above" { (above) } }
                    (columns(content))
                }
                p.skip id="told" role="status" aria-live="polite" {}
            }
        }
    })
}

/// The columns of a page: a list to choose from, the page itself, and what was chosen.
fn columns(content: &Content) -> Markup {
    let class = match &content.side {
        Some(Side { width, .. }) => width.class(),
        None => "",
    };
    html! {
        div.columns.(class).chosen[content.is_one] id="content" {
            @if let Some(list) = &content.list { div.column.list id="list" { (list) } }
            div.column.body.flush[content.flush] id="body" { (content.main) }
            @if let Some(side) = &content.side {
                aside.column.side id="side" aria-label=(side.label) tabindex="-1" { (side.main) }
            }
            @if let Some(foot) = &content.foot { div id="foot" { (foot) } }
        }
    }
}

fn rail(visit: &Visit<'_>, current: Place, around: &Around) -> Markup {
    let waiting = around.needs.len() as i64;
    html! {
        nav.rail id="rail" aria-label="Pages" {
            p.workspace {
                b { (stored(visit.workspace)) }
                @if let Some(goal) = &around.onboard.goal { span.meta { (stored(goal)) } }
            }
            a.seek href=(visit.link("search")) data-palette title="Search (/)" {
                (mark(Mark::Search)) span { "Search" } kbd { "/" }
            }
            ul {
                @for one in Place::RAIL {
                    li {
                        a href=(visit.link(one.address())) aria-current=[(one == current).then_some("page")]
                            data-key=(one.key()) title={ (one.title()) " (g " (one.key()) ")" } {
                            (mark(one.mark()))
                            span { (one.title()) }
                            (figure(one, waiting, around.onboard.unread.messages))
                        }
                    }
                }
            }
            (present(visit, around))
            (crate::proof::line(visit))
            a.more-pages href=(visit.link("more")) { (mark(Mark::Act)) span { "More" } }
        }
    }
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

/// Who is alive, with what each is on.
fn present(visit: &Visit<'_>, around: &Around) -> Markup {
    let others: Vec<&Agent> = around
        .who
        .agents
        .iter()
        .filter(|agent| !agent.you)
        .collect();
    html! {
        @if !others.is_empty() {
            section.here aria-labelledby="here" {
                h2 id="here" { "Here now" }
                ul {
                    @for agent in others.iter().take(HERE) {
                        li id={ "here-" (agent.agent) } {
                            a href=(visit.link(&format!("agents/{}", segment(&agent.agent)))) {
                                (who(&agent.agent, false))
                                span.is { b { (stored(&agent.agent)) } (doing(visit, agent, around)) }
                            }
                        }
                    }
                }
                @if others.len() > HERE { p.meta { (others.len() - HERE) " more" } }
            }
        }
    }
}

/// What somebody is on, in a few words.
fn doing(visit: &Visit<'_>, agent: &Agent, around: &Around) -> Markup {
    let tasks = around.onboard.in_progress.as_deref().unwrap_or_default();
    let task = tasks.iter().find(|task| task.by == agent.agent);
    html! {
        span.meta {
            @if let Some(task) = task { (task.id) " · " (age(visit, task.since)) }
            @else if let Some(on) = agent.on.first() { (on) }
            @else { "seen " (age(visit, agent.seen)) }
        }
    }
}

/// What every form sends along: whom it is from, and where to go back to.
pub fn hidden(visit: &Visit<'_>, back: &str) -> Markup {
    html! {
        input type="hidden" name="csrf" value=(visit.csrf);
        input type="hidden" name="back" value=(back);
        @if let Some(project) = visit.project() { input type="hidden" name=(PROJECT) value=(project); }
    }
}
