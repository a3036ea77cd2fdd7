//! Which column each node gets, and what joins what.

use std::cmp::Reverse;

/// The parts of a graph, the largest first, and the nodes that no line touches.
pub(super) fn parts(count: usize, lines: &[(usize, usize)]) -> (Vec<Vec<usize>>, Vec<usize>) {
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (from, to) in lines {
        if from != to {
            near[*from].push(*to);
            near[*to].push(*from);
        }
    }
    let mut part_of = vec![usize::MAX; count];
    let (mut joined, mut alone): (Vec<Vec<usize>>, _) = (Vec::new(), Vec::new());
    for first in 0..count {
        if near[first].is_empty() {
            alone.push(first);
        } else if part_of[first] == usize::MAX {
            part_of[first] = joined.len();
            let (mut found, mut at) = (vec![first], 0);
            while let Some(node) = found.get(at).copied() {
                at += 1;
                for next in &near[node] {
                    if part_of[*next] == usize::MAX {
                        part_of[*next] = joined.len();
                        found.push(*next);
                    }
                }
            }
            found.sort_unstable();
            joined.push(found);
        }
    }
    joined.sort_by_key(|nodes| (Reverse(nodes.len()), nodes[0]));
    (joined, alone)
}

/// Which lines close a circle, found by walking in the order of the nodes.
pub(super) fn back(count: usize, pairs: &[(usize, usize)]) -> Vec<bool> {
    let mut from: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (line, (first, _)) in pairs.iter().enumerate() {
        from[*first].push(line);
    }
    let mut back = vec![false; pairs.len()];
    // 0 not seen, 1 on the way, 2 done.
    let mut seen = vec![0_u8; count];
    for start in 0..count {
        if seen[start] != 0 {
            continue;
        }
        seen[start] = 1;
        let mut trail = vec![(start, 0)];
        while let Some((node, next)) = trail.last_mut() {
            let Some(line) = from[*node].get(*next).copied() else {
                seen[*node] = 2;
                trail.pop();
                continue;
            };
            *next += 1;
            let to = pairs[line].1;
            match seen[to] {
                0 => {
                    seen[to] = 1;
                    trail.push((to, 0));
                }
                1 => back[line] = true,
                _ => {}
            }
        }
    }
    back
}

/// The column of each node: the one after the last that it needs. What needs nothing stands right before
/// the first that needs it.
pub(super) fn columns(count: usize, pairs: &[(usize, usize)], back: &[bool]) -> Vec<usize> {
    let forward = || {
        pairs
            .iter()
            .zip(back)
            .filter(|(_, back)| !**back)
            .map(|(pair, _)| *pair)
    };
    let mut needs = vec![0; count];
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (from, to) in forward() {
        needs[to] += 1;
        after[from].push(to);
    }
    let needs_nothing: Vec<usize> = (0..count).filter(|node| needs[*node] == 0).collect();
    let (mut column, mut left) = (vec![0_usize; count], needs_nothing.clone());
    while let Some(node) = left.pop() {
        for next in &after[node] {
            column[*next] = column[*next].max(column[node] + 1);
            needs[*next] -= 1;
            if needs[*next] == 0 {
                left.push(*next);
            }
        }
    }
    for node in needs_nothing {
        let first = after[node].iter().map(|next| column[*next]).min();
        column[node] = first.map_or(0, |first| first.saturating_sub(1));
    }
    column
}

/// How many pairs of a list are in the wrong order; each value is below `most`.
pub(super) fn inversions(values: &[usize], most: usize) -> usize {
    // A Fenwick tree of how many of each value came before.
    let mut tree = vec![0; most + 1];
    let mut count = 0;
    for (before, value) in values.iter().enumerate() {
        let (mut at, mut not_above) = (value + 1, 0);
        while at > 0 {
            not_above += tree[at];
            at &= at - 1;
        }
        count += before - not_above;
        at = value + 1;
        while at <= most {
            tree[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    count
}
