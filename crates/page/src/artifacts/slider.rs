//! The versions of a document on a line: a dot for each, or for each day where there are many.

use maud::{Markup, html};
use understory_engine::garden::artifact::history::{History, Numbered};

use super::name::Name;
use crate::dates::{day, spoken, when};
use crate::text::{number, plain, stored};
use crate::visit::Visit;

/// Versions up to which each has a dot.
const DOTS: usize = 40;
/// Dots and ticks of the others.
const MARKS: usize = 200;
/// Width of the picture, and room for a ring at its ends.
const WIDTH: usize = 460;
const EDGE: usize = 12;

/// Where the versions that are shown are linked to.
enum Shown {
    One(usize),
    Two(usize, usize),
}

pub fn of(visit: &Visit<'_>, name: &Name, history: &History, version: Option<usize>) -> Markup {
    let Some(version) = version else {
        return html! {};
    };
    let all = &history.versions;
    let Some(one) = all.get(version - 1) else {
        return html! {};
    };
    html! {
        div.versions {
            (picture(visit, name, all, &Shown::One(version)))
            p { b { "Version " (number(version as i64)) " of " (number(all.len() as i64)) } ", "
                (when(visit, one.at)) " by " (stored(&one.actor)) }
            (steps(visit, name, &Shown::One(version), all.len()))
        }
    }
}

/// As [`of`], of two versions, and how many lines they differ in.
pub fn compared(
    visit: &Visit<'_>,
    name: &Name,
    all: &[Numbered],
    (from, to): (usize, usize),
    differ: &str,
) -> Markup {
    html! {
        div.versions {
            (picture(visit, name, all, &Shown::Two(from, to)))
            p { b { "Version " (number(from as i64)) } ", " (when(visit, all[from - 1].at)) ", to "
                b { (number(to as i64)) } ", " (when(visit, all[to - 1].at)) ": " (differ) }
            (steps(visit, name, &Shown::Two(from, to), all.len()))
        }
    }
}

/// The links that the arrow keys press: the next and the previous version.
fn steps(visit: &Visit<'_>, name: &Name, shown: &Shown, count: usize) -> Markup {
    let link = |to: Name| visit.link(&to.place());
    let within = |n: Option<usize>| n.filter(|n| (1..=count).contains(n));
    let to = |to: usize| match shown {
        Shown::One(_) => link(name.at(Some(to))),
        Shown::Two(_, with) => link(name.compared(to, *with)),
    };
    let with = |with: usize| match shown {
        Shown::One(one) => link(name.compared((*one).min(with), (*one).max(with))),
        Shown::Two(from, _) => link(name.compared(*from, with)),
    };
    let (first, second) = match shown {
        Shown::One(one) => (*one, *one),
        Shown::Two(from, to) => (*from, *to),
    };
    let bound = |n: Option<usize>| match shown {
        Shown::One(_) => within(n),
        Shown::Two(..) => within(n).filter(|n| *n < second),
    };
    let beyond = |n: Option<usize>| match shown {
        Shown::One(_) => within(n),
        Shown::Two(..) => within(n).filter(|n| *n > first),
    };
    html! {
        nav.steps aria-label="Versions" {
            @if let Some(n) = bound(first.checked_sub(1)) { a data-soft data-hotkey="ArrowLeft" href=(to(n)) title="The version before (left arrow)" { "‹" } }
            @if let Some(n) = bound(first.checked_add(1)) { a data-soft data-hotkey="ArrowRight" href=(to(n)) title="The next version (right arrow)" { "›" } }
            @if let Some(n) = beyond(second.checked_sub(1)) { a.skip data-soft data-shift="ArrowLeft" tabindex="-1" href=(with(n)) { "Compare with the version before" } }
            @if let Some(n) = beyond(second.checked_add(1)) { a.skip data-soft data-shift="ArrowRight" tabindex="-1" href=(with(n)) { "Compare with the next version" } }
        }
    }
}

fn picture(visit: &Visit<'_>, name: &Name, all: &[Numbered], shown: &Shown) -> Markup {
    let x = |version: usize| match all.len() {
        0 | 1 => WIDTH / 2,
        count => EDGE + (version - 1) * (WIDTH - 2 * EDGE) / (count - 1),
    };
    let rings: Vec<usize> = match shown {
        Shown::One(one) => vec![*one],
        Shown::Two(from, to) => vec![*from, *to],
    };
    let address = |version: usize| match shown {
        Shown::One(_) => visit.link(&name.at(Some(version)).place()),
        // A click moves the nearer end.
        Shown::Two(from, to)
            if version.abs_diff(*from) < version.abs_diff(*to) && version != *to =>
        {
            visit.link(&name.compared(version.min(*to - 1), *to).place())
        }
        Shown::Two(from, _) => visit.link(&name.compared(*from, version.max(*from + 1)).place()),
    };
    let (dots, ticks) = dots(visit, all);
    html! {
        @if let Some(first) = all.first() { span.meta { (day(visit, first.at)) } }
        svg.slider width=(WIDTH) height="24" viewBox={ "0 0 " (WIDTH) " 24" } role="group" aria-label="Versions" {
            line.way x1=(x(1)) x2=(x(all.len().max(1))) y1="12" y2="12" {}
            @if let Shown::Two(from, to) = shown { line.between x1=(x(*from)) x2=(x(*to)) y1="12" y2="12" {} }
            @for version in &ticks { line.tick x1=(x(*version)) x2=(x(*version)) y1="9" y2="15" {} }
            @for version in &dots {
                @let one = &all[version - 1];
                @let inside = matches!(shown, Shown::Two(from, to) if (from..=to).contains(&version));
                a href=(address(*version)) data-soft aria-label={ "Version " (version) ", " (spoken(visit, one.at)) ", " (plain(&one.actor)) }
                    aria-current=[rings.contains(version).then_some("true")] {
                    title { "Version " (version) ", " (spoken(visit, one.at)) ", " (plain(&one.actor)) }
                    rect x=(x(*version).saturating_sub(5)) y="0" width="10" height="24" {}
                    @if rings.contains(version) { circle.ring cx=(x(*version)) cy="12" r="7" {} }
                    @else { circle.dot.inside[inside] cx=(x(*version)) cy="12" r="3" {} }
                }
            }
            // A ring that no dot stands for.
            @for version in rings.iter().filter(|ring| !dots.contains(ring)) { circle.ring cx=(x(*version)) cy="12" r="7" {} }
        }
    }
}

/// Which versions have a dot and which a tick: of many, the last of each day has a dot.
fn dots(visit: &Visit<'_>, all: &[Numbered]) -> (Vec<usize>, Vec<usize>) {
    let every: Vec<usize> = all.iter().map(|one| one.version).collect();
    if every.len() <= DOTS {
        return (every, Vec::new());
    }
    let days: Vec<String> = all.iter().map(|one| day(visit, one.at)).collect();
    let last = |at: usize| days.get(at + 1) != Some(&days[at]);
    let (dots, ticks): (Vec<usize>, Vec<usize>) =
        every.into_iter().partition(|version| last(version - 1));
    (thinned(dots, DOTS), thinned(ticks, MARKS - DOTS))
}

/// At most so many of them, evenly, the last one always.
fn thinned(all: Vec<usize>, most: usize) -> Vec<usize> {
    let step = all.len().div_ceil(most).max(1);
    let left = all.len() % step;
    let kept = |at: usize| (at + 1) % step == left % step;
    let all = all.into_iter().enumerate();
    all.filter(|(at, _)| kept(*at))
        .map(|(_, one)| one)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::thinned;

    #[test]
    fn many_versions_are_thinned_to_their_last() {
        assert_eq!(thinned((1..=5).collect(), 40), [1, 2, 3, 4, 5]);
        for count in [41, 100, 1_003, 10_000] {
            let kept = thinned((1..=count).collect(), 40);
            assert!(kept.len() <= 40, "{count}: {}", kept.len());
            assert_eq!(kept.last(), Some(&count));
        }
    }
}
