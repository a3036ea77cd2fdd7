//! A card of a graph of thoughts, in a line.

use understory_engine::reasoning::shape::Node;

use crate::cli::text::Text;

/// `  h1  hypothesis  The clock drifts  open`
pub fn card(card: &Node) -> Text {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let line = Text::from("  ").name(&card.id);
    let line = line.dim(format!("  {}  ", text(&card.kind)));
    line.plain(format!("{}  {}", text(&card.title), text(&card.status)))
}
