//! The whole history in one strip: how much was done when, what failed and what waited, and the window
//! that is looked at.

use maud::{Markup, html};
use understory_model::Time;

use super::Shown;
use super::layout::{self, Window, height};
use super::when::{self, form, told};
use crate::text::count;
use crate::visit::Visit;

/// The height of the strip without its dates, and that of its tallest bar.
const HIGH: f64 = 44.0;
const TALLEST: f64 = 34.0;

pub fn band(visit: &Visit<'_>, shown: &Shown) -> Markup {
    let density = &shown.density;
    let whole = Window {
        from: density.from,
        to: density.to,
    };
    html! {
        a.skip href="#side" { "Show as list" }
        @if !density.bars.is_empty() {
            svg.strip id="strip" role="group" aria-label="The whole history"
                data-from=(whole.from.0 / 1000) data-to=(whole.to.0 / 1000) {
                (dates(visit, shown, whole))
                (bars(shown, whole))
                (frame(shown, whole))
            }
        }
    }
}

/// The dates beneath, each a link to the window there.
fn dates(visit: &Visit<'_>, shown: &Shown, whole: Window) -> Markup {
    let (step, ticks) = layout::ticks(whole, 9);
    let half = shown.window().length() / 2;
    html! {
        line.line x1="0" x2="100%" y1=(HIGH) y2=(HIGH) {}
        @for at in &ticks {
            @let x = whole.percent(*at);
            @let there = Window { from: Time(at.0 - half), to: Time(at.0 + half) };
            line.line x1={ (x) "%" } x2={ (x) "%" } y1="0" y2=(HIGH) {}
            // A date at the very end has no room.
            @if x < 96.0 {
                a data-go href=(when::link(visit, there)) {
                    text x={ (x) "%" } dx="4" y="57" data-at=(at.0 / 1000) data-form=(form(step)) { (told(*at, form(step))) }
                }
            }
        }
    }
}

fn bars(shown: &Shown, whole: Window) -> Markup {
    let density = &shown.density;
    let largest = density.bars.iter().map(|bar| bar.count).max().unwrap_or(0);
    let width = density.width as f64 / whole.length() as f64 * 100.0;
    let shown_width = (width * 0.75).max(0.12);
    html! {
        @for bar in &density.bars {
            @let x = whole.percent(bar.at);
            @let high = height(bar.count, largest, TALLEST);
            rect.bar x={ (x) "%" } width={ (format!("{shown_width:.2}")) "%" } y=(HIGH - high) height=(high) {
                title { (count(bar.count, "item", "items")) }
            }
        }
        @for bar in density.bars.iter().filter(|bar| bar.red || bar.amber) {
            @let class = if bar.red { "red" } else { "amber" };
            @let word = if bar.red { "something failed or had two versions" } else { "something waited" };
            svg.(class) x={ (whole.percent(bar.at)) "%" } overflow="visible" {
                path d="M-4 1h8L0 7z" fill="currentColor" { title { (word) } }
            }
        }
    }
}

/// The window, as a frame with two grips.
fn frame(shown: &Shown, whole: Window) -> Markup {
    let (from, to) = (
        whole.percent(shown.window().from),
        whole.percent(shown.window().to),
    );
    // However short, it can be taken hold of.
    let width = (to - from).max(0.8);
    let from = from.min(100.0 - width);
    html! {
        svg.frame id="frame" x={ (format!("{from:.2}")) "%" } width={ (format!("{width:.2}")) "%" } y="1" height=(HIGH)
            overflow="visible" {
            rect width="100%" height=(HIGH) rx="4" {}
            rect.grip data-grip="from" x="-3" width="6" y="13" height="18" rx="2" {}
            svg x="100%" overflow="visible" { rect.grip data-grip="to" x="-3" width="6" y="13" height="18" rx="2" {} }
        }
    }
}
