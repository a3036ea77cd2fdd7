//! The typed graph as a picture: what is asked stands at the top, what it rests on below it; and the same as a list.

use std::collections::HashMap;

use maud::{Markup, html};
use understory_engine::reasoning::graph_query::Slice;
use understory_engine::reasoning::shape::{Edge, Node};

use super::layout::layers;
use super::{peek, thought, title};
use crate::marks::{Mark, mark};
use crate::text::{plain, stored};
use crate::visit::Visit;

/// A node's box, and the room between boxes.
const WIDTH: usize = 152;
const HEIGHT: usize = 44;
const BESIDE: usize = 16;
const BELOW: usize = 52;

/// Nodes that are drawn at most; a slice has no more.
pub const NODES: usize = 200;

/// What an edge says of the node that it leads to.
fn class(rel: &str) -> &'static str {
    match rel {
        "supports" | "proves" | "confirms" | "answers" => "green",
        "against" | "contradicts" | "refutes" | "blocks" | "weakens" | "rejects" => "red",
        _ => "",
    }
}

/// Where each node stands, and how large the picture is.
struct Drawn<'s> {
    nodes: Vec<(&'s Node, usize, usize)>,
    edges: Vec<(&'s Edge, usize, usize)>,
    width: usize,
    height: usize,
}

fn drawn(slice: &Slice) -> Drawn<'_> {
    // The oldest first: what came first keeps its place when more is thought.
    let nodes: Vec<&Node> = slice.nodes.iter().rev().take(NODES).collect();
    let known: HashMap<&str, usize> = nodes
        .iter()
        .enumerate()
        .map(|(at, node)| (node.id.as_str(), at))
        .collect();
    let edges: Vec<(&Edge, usize, usize)> = slice
        .edges
        .iter()
        .rev()
        .filter_map(|edge| {
            let ends = (known.get(&*edge.from)?, known.get(&*edge.to)?);
            Some((edge, *ends.0, *ends.1))
        })
        .collect();
    // What an edge leads to stands above what it comes from.
    let up: Vec<(usize, usize)> = edges.iter().map(|(_, from, to)| (*to, *from)).collect();
    let places = layers(nodes.len(), &up);
    let widest = places.iter().map(|(_, row)| row + 1).max().unwrap_or(0);
    let width = widest * (WIDTH + BESIDE) + BESIDE;
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for (layer, _) in &places {
        *counts.entry(*layer).or_default() += 1;
    }
    let at = |(layer, row): &(usize, usize)| {
        let line = counts.get(layer).copied().unwrap_or(1) * (WIDTH + BESIDE) + BESIDE;
        let x = (width - line) / 2 + BESIDE + row * (WIDTH + BESIDE);
        (x, BESIDE + layer * (HEIGHT + BELOW))
    };
    let depth = places.iter().map(|(layer, _)| layer + 1).max().unwrap_or(0);
    let nodes = nodes.into_iter().zip(&places).map(|(node, place)| {
        let (x, y) = at(place);
        (node, x, y)
    });
    Drawn {
        nodes: nodes.collect(),
        edges,
        width,
        height: depth * (HEIGHT + BELOW) + BESIDE - BELOW.min(depth * BELOW),
    }
}

/// The graph of a branch; the chosen node and its edges stand out.
pub fn graph(visit: &Visit<'_>, slice: &Slice, chosen: Option<&str>) -> Markup {
    let picture = drawn(slice);
    let (width, height) = (picture.width, picture.height);
    let label = format!("{} as a picture", plain(&slice.branch));
    html! {
        details.as-list id="graph-list" {
            summary { "Show as list" }
            (list(visit, slice))
        }
        div.wide-picture {
            svg.thoughts width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="group" aria-label=(label) {
                @for (at, (edge, from, to)) in picture.edges.iter().enumerate() {
                    @let beside = picture.edges[..at].iter().filter(|other| (other.1, other.2) == (*from, *to)).count();
                    (line(edge, (picture.nodes[*from], picture.nodes[*to]), beside.min(4), chosen))
                }
                @for (node, x, y) in &picture.nodes { (boxed(visit, slice, node, (*x, *y), chosen)) }
            }
        }
    }
}

fn boxed(
    visit: &Visit<'_>,
    slice: &Slice,
    node: &Node,
    (x, y): (usize, usize),
    chosen: Option<&str>,
) -> Markup {
    let thought = thought(node);
    html! {
        g.node data-row {
            a href=(peek(visit, &slice.branch, &node.id)) data-soft data-peek
                aria-label={ (plain(title(node))) ", " (thought.word()) } {
                rect.chosen[chosen == Some(&node.id)] x=(x) y=(y) width=(WIDTH) height=(HEIGHT) rx="8" {}
                g.(thought.class()) transform={ "translate(" (x + 10) " " (y + 14) ")" } { (thought.shape()) }
                foreignObject x=(x + 34) y=(y + 4) width=(WIDTH - 40) height=(HEIGHT - 8) {
                    div.thought { span.clamp { (stored(title(node))) } }
                }
            }
        }
    }
}

type At<'s> = (&'s Node, usize, usize);

/// An edge from the middle of one box to the middle of another, with what it says.
fn line(edge: &Edge, ends: (At<'_>, At<'_>), beside: usize, chosen: Option<&str>) -> Markup {
    let ((_, fx, fy), (_, tx, ty)) = ends;
    let up = fy > ty;
    // A second edge between the same two runs beside the first.
    let aside = WIDTH / 2 + beside * 16;
    let (x1, x2) = (fx + aside, tx + aside);
    let (y1, y2) = match up {
        true => (fy, ty + HEIGHT),
        false => (fy + HEIGHT, ty),
    };
    let middle = (y1 + y2) / 2;
    let label = middle + 4 + beside * 14;
    // The head of the arrow: seven wide, seven high.
    let tail = if up { y2 + 7 } else { y2.saturating_sub(7) };
    let (left, right) = (x2 - 4, x2 + 4);
    let lit = chosen.is_some_and(|id| edge.from == id || edge.to == id);
    html! {
        g.edge.(class(&edge.rel)).lit[lit] {
            path d={ "M" (x1) " " (y1) "C" (x1) " " (middle) " " (x2) " " (middle) " " (x2) " " (tail) } {}
            polygon points={ (left) "," (tail) " " (right) "," (tail) " " (x2) "," (y2) } {}
            text x=((x1 + x2) / 2) y=(label) text-anchor="middle" { (plain(&edge.rel)) }
        }
    }
}

/// The same as a list: each thought with what it leads to.
pub fn list(visit: &Visit<'_>, slice: &Slice) -> Markup {
    let name = |id: &str| {
        let node = slice.nodes.iter().find(|node| node.id == id);
        node.map_or(id.to_owned(), |node| title(node).to_owned())
    };
    html! {
        ul.rows {
            @for node in slice.nodes.iter().rev().take(NODES) {
                li {
                    (mark(thought(node))) " "
                    a data-soft href=(peek(visit, &slice.branch, &node.id)) { (stored(title(node))) }
                    @for edge in slice.edges.iter().filter(|edge| edge.from == node.id) {
                        span.meta { " " (stored(&edge.rel)) " " (stored(&name(&edge.to))) }
                    }
                }
            }
        }
    }
}

/// The marks that a picture of thoughts may have, for its legend.
pub const MARKS: [Mark; 7] = [
    Mark::Question,
    Mark::Hypothesis,
    Mark::Confirmed,
    Mark::Refuted,
    Mark::Test,
    Mark::Evidence,
    Mark::Decision,
];
