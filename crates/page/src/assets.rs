//! The stylesheets and scripts: what every page has, and what the pages of one place add.

/// What every page has: the stylesheet, as it is served.
pub const STYLE: &str = concat!(
    include_str!("../assets/css/base.css"),
    include_str!("../assets/css/search.css"),
    include_str!("../assets/css/threads.css"),
);

/// For narrow windows, print, and those who want things otherwise; comes last.
const NARROW: &str = include_str!("../assets/css/narrow.css");

/// What every page has: the script, as it is served. Its files share one scope.
pub const SCRIPT: &str = concat!(
    include_str!("../assets/js/base.js"),
    include_str!("../assets/js/drafts.js"),
    include_str!("../assets/js/live.js"),
    include_str!("../assets/js/forms.js"),
    include_str!("../assets/js/keys.js"),
    include_str!("../assets/js/complete.js"),
    include_str!("../assets/js/palette.js"),
    include_str!("../assets/js/start.js"),
);

const ICON: &str = include_str!("../assets/icon.svg");
/// The icon while something waits.
const WAITS: &str = include_str!("../assets/waits.svg");

/// What the pages whose addresses begin so add.
pub struct Own {
    pub place: &'static str,
    pub style: &'static str,
    pub script: &'static str,
}

/// The places that add something. Places whose pages look alike share it.
pub const OWN: [Own; 6] = [
    Own {
        place: "now",
        style: include_str!("../assets/css/now.css"),
        script: "",
    },
    Own {
        place: "timeline",
        style: include_str!("../assets/css/timeline.css"),
        script: include_str!("../assets/js/timeline.js"),
    },
    Own {
        place: "work",
        style: include_str!("../assets/css/work.css"),
        script: include_str!("../assets/js/work.js"),
    },
    Own {
        place: "records",
        style: concat!(
            include_str!("../assets/css/records.css"),
            include_str!("../assets/css/reasoning.css"),
        ),
        script: include_str!("../assets/js/records.js"),
    },
    Own {
        place: "artifacts",
        style: concat!(
            include_str!("../assets/css/artifacts.css"),
            include_str!("../assets/css/conversations.css"),
        ),
        script: include_str!("../assets/js/artifacts.js"),
    },
    Own {
        place: "agents",
        style: concat!(
            include_str!("../assets/css/agents.css"),
            include_str!("../assets/css/proof.css"),
        ),
        script: include_str!("../assets/js/agents.js"),
    },
];

/// What the pages of a place add.
pub fn own(place: &str) -> Option<&'static Own> {
    let place = match place {
        "reasoning" => "records",
        "why" | "conversations" => "artifacts",
        "proof" => "agents",
        other => other,
    };
    OWN.iter().find(|own| own.place == place)
}

/// A file by its name: its kind, and what is in it.
pub fn asset(file: &str) -> Option<(&'static str, &'static str)> {
    const CSS: &str = "text/css; charset=utf-8";
    const JS: &str = "text/javascript; charset=utf-8";
    const SVG: &str = "image/svg+xml";
    match file {
        "page.css" => return Some((CSS, STYLE)),
        "narrow.css" => return Some((CSS, NARROW)),
        "page.js" => return Some((JS, SCRIPT)),
        "icon.svg" => return Some((SVG, ICON)),
        "waits.svg" => return Some((SVG, WAITS)),
        _ => {}
    }
    let (place, ending) = file.rsplit_once('.')?;
    let own = OWN.iter().find(|own| own.place == place)?;
    match ending {
        "css" => Some((CSS, own.style)),
        "js" if !own.script.is_empty() => Some((JS, own.script)),
        _ => None,
    }
}

/// What the largest page loads, in bytes: its stylesheets and its scripts.
pub fn largest() -> (usize, usize) {
    let most = |of: fn(&Own) -> usize| OWN.iter().map(of).max().unwrap_or(0);
    let style = STYLE.len() + NARROW.len() + most(|own| own.style.len());
    (style, SCRIPT.len() + most(|own| own.script.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_loads_is_small() {
        let (style, script) = largest();
        assert!(style < 40_000, "{style} bytes of style");
        assert!(script < 40_000, "{script} bytes of script");
    }

    #[test]
    fn every_file_is_served_by_its_name() {
        for own in &OWN {
            assert!(asset(&format!("{}.css", own.place)).is_some());
            let script = asset(&format!("{}.js", own.place));
            assert_eq!(script.is_some(), !own.script.is_empty());
        }
        assert!(asset("page.js").is_some() && asset("../page.js").is_none());
    }
}
