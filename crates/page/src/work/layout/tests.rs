//! Graphs of every kind have a place.

use super::*;

const CARD: Size = Size {
    width: 148.0,
    height: 76.0,
};

fn cards(count: usize) -> Vec<Size> {
    vec![CARD; count]
}

fn overlap(a: (Point, Size), b: (Point, Size)) -> bool {
    let apart = |at: f64, size: f64, other: f64| at + size <= other + 0.01;
    !(apart(a.0.x, a.1.width, b.0.x)
        || apart(b.0.x, b.1.width, a.0.x)
        || apart(a.0.y, a.1.height, b.0.y)
        || apart(b.0.y, b.1.height, a.0.y))
}

fn check(sizes: &[Size], lines: &[(usize, usize)]) -> Layout {
    let placed = layout(sizes, lines);
    let boxes: Vec<(Point, Size)> = placed
        .nodes
        .iter()
        .copied()
        .zip(sizes.iter().copied())
        .collect();
    for (at, one) in boxes.iter().enumerate() {
        assert!(one.0.x >= 0.0 && one.0.y >= -0.01, "{one:?}");
        assert!(one.0.x + one.1.width <= placed.width + 0.01, "{one:?}");
        assert!(one.0.y + one.1.height <= placed.height + 0.01, "{one:?}");
        for other in &boxes[at + 1..] {
            assert!(!overlap(*one, *other), "{one:?} {other:?}");
        }
    }
    for (points, (from, to)) in placed.lines.iter().zip(lines) {
        assert_eq!(points.is_empty(), from == to);
    }
    assert_eq!(placed, layout(sizes, lines), "the same each time");
    placed
}

/// Numbers that look random and are the same each time.
fn numbers(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    }
}

#[test]
fn lines_lead_to_the_right() {
    let lines = [(0, 1), (1, 2), (0, 2), (2, 3), (4, 3)];
    let placed = check(&cards(5), &lines);
    for (from, to) in lines {
        assert!(placed.nodes[from].x + 148.0 < placed.nodes[to].x);
    }
    assert_eq!(placed.nodes[1].x - placed.nodes[0].x, 180.0);
    // What needs nothing stands right before what needs it.
    assert_eq!(placed.nodes[4].x, placed.nodes[2].x);
    // The long line has a place of its own in the column that it passes.
    assert_eq!(placed.lines[2].len(), 4);
    assert_ne!(placed.lines[2][1].y, placed.nodes[1].y + 38.0);
}

#[test]
fn lines_cross_only_where_they_must() {
    // Two ladders whose rungs are given crosswise.
    let lines = [(0, 5), (1, 4), (2, 3), (5, 8), (4, 7), (3, 6)];
    let placed = check(&cards(9), &lines);
    for (from, to) in lines {
        let height = |node: usize| placed.nodes[node].y;
        assert!((height(from) - height(to)).abs() < 0.01, "{from} {to}");
    }
}

#[test]
fn odd_graphs_have_a_place() {
    check(&[], &[]);
    check(&cards(1), &[]);
    check(&cards(1), &[(0, 0)]);
    check(&cards(2), &[(0, 1), (0, 1), (1, 0)]);
    let circle: Vec<(usize, usize)> = (0..7).map(|at| (at, (at + 1) % 7)).collect();
    check(&cards(7), &circle);
    let alone = check(&cards(9), &[]);
    assert_eq!(alone.nodes[4].y, 76.0 + BETWEEN, "four in a row");
}

#[test]
fn any_graph_has_a_place() {
    for seed in 0..60 {
        let mut next = numbers(seed);
        let count = 1 + next(40);
        let sizes: Vec<Size> = (0..count)
            .map(|_| Size {
                width: if next(3) == 0 { 116.0 } else { 148.0 },
                height: if next(3) == 0 { 44.0 } else { 76.0 },
            })
            .collect();
        let lines: Vec<(usize, usize)> =
            (0..next(80)).map(|_| (next(count), next(count))).collect();
        check(&sizes, &lines);
    }
}

#[test]
fn two_hundred_nodes_have_a_place() {
    let mut next = numbers(7);
    let lines: Vec<(usize, usize)> = (0..600)
        .map(|_| (next(200), next(200)))
        .map(|(a, b)| (a.min(b), a.max(b)))
        .collect();
    check(&cards(200), &lines);
    // A line from each to each later one.
    let dense: Vec<(usize, usize)> = (0..60)
        .flat_map(|a| (a + 1..60).map(move |b| (a, b)))
        .collect();
    check(&cards(60), &dense);
}
