//! What looks like a credential is shown by its ends until somebody asks for it.

use maud::{Markup, html};
use understory_model::secret;

use super::visible;

/// Signs of each end that are shown.
const END: usize = 4;
/// A shorter one would be told by its ends.
const SHORT: usize = 16;
const DOTS: &str = "••••••••";

/// The first and the last four signs.
pub fn shortened(text: &str) -> String {
    let signs: Vec<char> = text.chars().collect();
    if signs.len() < SHORT {
        return DOTS.to_owned();
    }
    let first: String = signs[..END].iter().collect();
    let last: String = signs[signs.len() - END..].iter().collect();
    format!("{first}{DOTS}{last}")
}

/// A credential that is shown whole when it is pressed.
pub fn credential(text: &str) -> Markup {
    html! {
        label.secret title="Show the whole credential" {
            input type="checkbox" aria-label="Show the whole credential";
            span { (visible(&shortened(text))) }
            span.whole { (visible(text)) }
        }
    }
}

/// A text whose credentials are shortened for good: where nobody can ask.
pub fn without(text: &str) -> Option<String> {
    let found = secret::find(text);
    if found.is_empty() {
        return None;
    }
    let (mut shown, mut at) = (String::with_capacity(text.len()), 0);
    for one in found {
        shown.push_str(&text[at..one.span.start]);
        shown.push_str(&shortened(&text[one.span.clone()]));
        at = one.span.end;
    }
    shown.push_str(&text[at..]);
    Some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_told_by_its_ends() {
        let key = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
        assert_eq!(shortened(&key), "ghp_••••••••8B4a");
        assert_eq!(shortened("hunter22"), DOTS);
        let told = without(&format!("use {key} now")).unwrap();
        assert_eq!(told, "use ghp_••••••••8B4a now");
        assert_eq!(without("nothing to hide"), None);
    }
}
