//! The stylesheet and the script, each of the files of its folder in this order.

/// The stylesheet, as it is served.
pub const STYLE: &str = concat!(
    include_str!("../assets/css/base.css"),
    include_str!("../assets/css/now.css"),
    include_str!("../assets/css/timeline.css"),
    include_str!("../assets/css/work.css"),
    include_str!("../assets/css/records.css"),
    include_str!("../assets/css/reasoning.css"),
    include_str!("../assets/css/conversations.css"),
    include_str!("../assets/css/threads.css"),
    include_str!("../assets/css/artifacts.css"),
    include_str!("../assets/css/agents.css"),
    include_str!("../assets/css/proof.css"),
    include_str!("../assets/css/search.css"),
    include_str!("../assets/css/narrow.css"),
);

/// The script, as it is served.
pub const SCRIPT: &str = concat!(
    "(() => {\n",
    include_str!("../assets/js/base.js"),
    include_str!("../assets/js/drafts.js"),
    include_str!("../assets/js/live.js"),
    include_str!("../assets/js/forms.js"),
    include_str!("../assets/js/keys.js"),
    include_str!("../assets/js/timeline.js"),
    include_str!("../assets/js/work.js"),
    include_str!("../assets/js/records.js"),
    include_str!("../assets/js/complete.js"),
    include_str!("../assets/js/palette.js"),
    include_str!("../assets/js/artifacts.js"),
    include_str!("../assets/js/agents.js"),
    include_str!("../assets/js/start.js"),
    "})();\n",
);

pub const ICON: &str = include_str!("../assets/icon.svg");
/// The icon while something waits.
pub const WAITS: &str = include_str!("../assets/waits.svg");

#[cfg(test)]
mod tests {
    use super::{SCRIPT, STYLE};

    #[test]
    fn the_script_and_the_stylesheet_are_small() {
        for file in [SCRIPT, STYLE] {
            assert!(file.len() < 40_000, "{} bytes", file.len());
        }
    }
}
