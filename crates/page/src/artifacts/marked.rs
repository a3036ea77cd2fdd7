//! A changed line beside the one it came from, with the words that differ.

use maud::{Markup, html};
use understory_model::lines::{Pair, Stretch, changed_words, pairs};

use crate::text::stored;

/// Signs of a line that a page shows at once; the rest is told by its number.
pub const LONGEST: usize = 2_000;

/// The text of a line; of a very long one its beginning.
pub fn line(text: &str) -> Markup {
    let count = text.chars().count();
    html! {
        @if text.trim().is_empty() { "\u{00A0}" }
        @else if count > LONGEST {
            (stored(&text.chars().take(LONGEST).collect::<String>()))
            span.meta { " … " (crate::text::number(count as i64)) " characters in all" }
        }
        @else { (stored(text)) }
    }
}

/// A line with the words marked that the other lacks.
pub fn words(text: &str, stretches: &[Stretch]) -> Markup {
    if text.chars().count() > LONGEST || text.trim().is_empty() {
        return line(text);
    }
    html! {
        bdi {
            @for one in stretches {
                @let part = text.get(one.range.clone()).unwrap_or_default();
                @if one.changed { span.word { (crate::text::told(part)) } } @else { (crate::text::told(part)) }
            }
        }
    }
}

/// Lines that go and lines that come, one beneath the other, each with its sign.
pub fn change(old: &[&str], new: &[&str]) -> Markup {
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    for pair in pairs(old, new) {
        match pair {
            Pair::Changed { old: o, new: n } => {
                let (left, right) = changed_words(old[o], new[n]);
                gone.push(words(old[o], &left));
                come.push(words(new[n], &right));
            }
            Pair::Gone { old: o } => gone.push(whole(old[o])),
            Pair::Come { new: n } => come.push(whole(new[n])),
            // What stays is on both sides, so that each can be read.
            Pair::Same { old: o, count, .. } => {
                for text in &old[o..o + count] {
                    gone.push(line(text));
                    come.push(line(text));
                }
            }
        }
    }
    html! {
        div.change dir="auto" {
            @for text in &gone { div.gone { span.label { "−" } div { (text) } } }
            @for text in &come { div.come { span.label { "+" } div { (text) } } }
        }
    }
}

/// A line that the other side has nothing for.
pub fn whole(text: &str) -> Markup {
    let all = Stretch {
        range: 0..text.len(),
        changed: true,
    };
    words(text, &[all])
}
