//! The board inside clients that show MCP Apps: Now and Work in one document that brings its own style and
//! script, because a client loads nothing else for it.
//!
//! It is rendered from the same templates as the pages. It has no forms: what is done, is done by asking the
//! agent. Its script speaks with the client alone.

use maud::{DOCTYPE, PreEscaped, html};
use understory_model::{Fault, Time};
use understory_tools::Context;

use crate::assets::{STYLE, own};
use crate::proof::Care;
use crate::text::{plain, stored};
use crate::visit::{Login, Query, Visit};
use crate::{now, work};

/// What a client loads the document by, and what it is.
pub const BOARD: &str = "ui://understory/board";
pub const BOARD_MIME: &str = "text/html;profile=mcp-app";

const APP_STYLE: &str = include_str!("../assets/app.css");
const APP_SCRIPT: &str = include_str!("../assets/app.js");

/// The document, with what its caller sees now.
pub fn board(context: Context<'_>, workspace: &str, at: Time) -> Result<String, Fault> {
    let care = Care::default();
    let login = Login {
        workspace,
        csrf: "",
        care: &care,
    };
    let visit = Visit::new(context, login, at, Query::parse("view=board")).in_app();
    let (now, work) = (now::page(&visit)?, work::page(&visit, &[])?);
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (plain(workspace)) " · Understory" }
                style {
                    (PreEscaped(STYLE))
                    @for own in ["now", "work"].into_iter().filter_map(own) { (PreEscaped(own.style)) }
                    (PreEscaped(APP_STYLE))
                }
            }
            body.in-app {
                header {
                    h1 { (stored(workspace)) }
                    p.counts id="told" role="status" {}
                    button type="button" id="refresh" { "Refresh" }
                }
                main id="app" {
                    section aria-label="Now" { p.counts { (plain(&now.counts)) } (now.main) }
                    section aria-label="Work" { h2 { "Work" } p.counts { (plain(&work.counts)) } (work.main) }
                }
                script { (PreEscaped(APP_SCRIPT)) }
            }
        }
    };
    Ok(document.into_string())
}

#[cfg(test)]
mod tests {
    use super::{APP_SCRIPT, APP_STYLE, STYLE};

    #[test]
    fn neither_style_nor_script_ends_its_element() {
        for text in [STYLE, APP_STYLE, APP_SCRIPT] {
            let text = text.to_ascii_lowercase();
            assert!(!text.contains("</") && !text.contains("<!--"));
        }
    }

    #[test]
    fn the_document_asks_for_nothing_from_elsewhere() {
        for text in [STYLE, APP_STYLE, APP_SCRIPT] {
            for bad in ["http:", "https:", "@import", "url(", "fetch("] {
                assert!(!text.contains(bad), "{bad}");
            }
        }
    }
}
