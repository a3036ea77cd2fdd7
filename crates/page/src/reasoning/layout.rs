//! Where the nodes of a typed graph stand: in layers, so that edges lead from one layer to later ones, and within
//! a layer near what they are joined to. The same graph always gives the same picture.

/// Times that each layer is put in order by its neighbours.
const SWEEPS: usize = 8;

/// The column (layer) and row of each node. An edge leads from a lower column to a higher one, but for those that
/// close a circle.
pub fn layers(nodes: usize, edges: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let edges: Vec<(usize, usize)> = edges
        .iter()
        .copied()
        .filter(|(from, to)| from != to && *from < nodes && *to < nodes)
        .collect();
    let forward = acyclic(nodes, &edges);
    let columns = longest(nodes, &forward);
    let rows = ordered(&columns, &edges);
    columns.into_iter().zip(rows).collect()
}

/// The edges, with those turned round that close a circle.
fn acyclic(nodes: usize, edges: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (from, to) in edges {
        next[*from].push(*to);
    }
    // 0: not seen; 1: on the path; 2: done. Without recursion, as a path may be as long as the graph.
    let mut state = vec![0_u8; nodes];
    let mut forward = Vec::with_capacity(edges.len());
    for start in 0..nodes {
        let mut path = vec![(start, 0)];
        if state[start] != 0 {
            continue;
        }
        state[start] = 1;
        while let Some((node, at)) = path.pop() {
            let Some(to) = next[node].get(at).copied() else {
                state[node] = 2;
                continue;
            };
            path.push((node, at + 1));
            match state[to] {
                1 => forward.push((to, node)),
                seen => {
                    forward.push((node, to));
                    if seen == 0 {
                        state[to] = 1;
                        path.push((to, 0));
                    }
                }
            }
        }
    }
    forward
}

/// The column of each node: one behind the last of those that lead to it.
fn longest(nodes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut columns = vec![0_usize; nodes];
    let mut waiting = vec![0_usize; nodes];
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (from, to) in edges {
        waiting[*to] += 1;
        next[*from].push(*to);
    }
    let mut ready: Vec<usize> = (0..nodes).filter(|node| waiting[*node] == 0).collect();
    while let Some(node) = ready.pop() {
        for to in &next[node] {
            columns[*to] = columns[*to].max(columns[node] + 1);
            waiting[*to] -= 1;
            if waiting[*to] == 0 {
                ready.push(*to);
            }
        }
    }
    // What leads somewhere stands directly before it, so that edges are short.
    for _ in 0..nodes.min(SWEEPS) {
        for node in 0..nodes {
            let nearest = next[node].iter().map(|to| columns[*to]).min();
            if let Some(nearest) = nearest {
                columns[node] = columns[node].max(nearest.saturating_sub(1));
            }
        }
    }
    columns
}

/// The row of each node in its column: as near to the middle of its neighbours as the order allows.
fn ordered(columns: &[usize], edges: &[(usize, usize)]) -> Vec<usize> {
    let last = columns.iter().copied().max().unwrap_or(0);
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); last + 1];
    for (node, column) in columns.iter().enumerate() {
        layers[*column].push(node);
    }
    let mut beside: Vec<Vec<usize>> = vec![Vec::new(); columns.len()];
    for (from, to) in edges {
        beside[*from].push(*to);
        beside[*to].push(*from);
    }
    let mut rows = vec![0; columns.len()];
    place(&layers, &mut rows);
    for sweep in 0..SWEEPS {
        let order: Vec<usize> = match sweep % 2 {
            0 => (0..=last).collect(),
            _ => (0..=last).rev().collect(),
        };
        for column in order {
            let middle = |node: usize| {
                let near: Vec<usize> = beside[node].iter().map(|other| rows[*other]).collect();
                match near.len() {
                    0 => rows[node] * 1_000,
                    count => near.iter().sum::<usize>() * 1_000 / count,
                }
            };
            let mut layer: Vec<(usize, usize)> = layers[column]
                .iter()
                .map(|node| (middle(*node), *node))
                .collect();
            // Among equals the order stays.
            layer.sort_by_key(|(middle, _)| *middle);
            layers[column] = layer.into_iter().map(|(_, node)| node).collect();
            for (row, node) in layers[column].iter().enumerate() {
                rows[*node] = row;
            }
        }
    }
    rows
}

fn place(layers: &[Vec<usize>], rows: &mut [usize]) {
    for layer in layers {
        for (row, node) in layer.iter().enumerate() {
            rows[*node] = row;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::layers;

    fn no_two_stand_in_one_place(all: &[(usize, usize)]) {
        let places: HashSet<_> = all.iter().collect();
        assert_eq!(places.len(), all.len(), "{all:?}");
    }

    #[test]
    fn edges_lead_to_later_columns() {
        let edges = [(0, 1), (1, 2), (0, 2), (3, 2), (4, 1)];
        let all = layers(6, &edges);
        for (from, to) in edges {
            assert!(all[from].0 < all[to].0, "{from} to {to}: {all:?}");
        }
        no_two_stand_in_one_place(&all);
        assert_eq!(all[3].0, 1, "directly before what it leads to");
        assert_eq!(all[5].0, 0, "what is joined to nothing");
    }

    #[test]
    fn circles_and_nonsense_do_no_harm() {
        let all = layers(3, &[(0, 1), (1, 2), (2, 0), (1, 1), (7, 0), (0, 9)]);
        no_two_stand_in_one_place(&all);
        assert_eq!(all.iter().map(|at| at.0).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(layers(0, &[]), []);
    }

    #[test]
    fn two_bundles_do_not_cross() {
        // 0 and 1 above 3 and 2: drawn straight only if the second layer is turned round.
        let all = layers(4, &[(0, 3), (1, 2)]);
        assert_eq!(all[0].1, all[3].1);
        assert_eq!(all[1].1, all[2].1);
    }

    #[test]
    fn a_long_line_and_a_wide_layer_are_laid_out_alike_each_time() {
        let line: Vec<(usize, usize)> = (0..199).map(|at| (at, at + 1)).collect();
        let all = layers(200, &line);
        assert!(all.iter().enumerate().all(|(at, place)| *place == (at, 0)));
        let many: Vec<(usize, usize)> = (0..200)
            .flat_map(|a| (a + 1..200).step_by(7).map(move |b| (a, b)))
            .collect();
        assert_eq!(layers(200, &many), layers(200, &many));
        no_two_stand_in_one_place(&layers(200, &many));
    }
}
