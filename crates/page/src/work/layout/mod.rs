//! Places for the nodes of a graph: columns from left to right, so that lines lead to the right, cross
//! little and bend little. Parts that no line joins stand below each other, and what has no line at all is
//! packed beneath. The same graph always looks the same.
//!
//! The steps are those of Sugiyama, Tagawa and Toda: circles are cut, each node gets the column after the
//! last that it needs, long lines get a place in each column that they pass, columns are ordered by the
//! middle of their neighbours, and heights follow by least squares.

mod columns;
#[cfg(test)]
mod tests;

use columns::{back, columns, inversions, parts};

/// Between columns, between nodes of a column, and between a line and what it passes.
const APART: f64 = 32.0;
const BETWEEN: f64 = 20.0;
const BESIDE: f64 = 12.0;
/// Between parts that no line joins.
const PARTS: f64 = 32.0;
/// Rounds of ordering and of placing; more change little.
const ORDERING: usize = 16;
const PLACING: usize = 12;
/// Places of long lines; where there would be more, long lines pass where they will.
const PASSES: usize = 2_000;
/// What has no line stands in at least so many columns.
const PACKED: usize = 4;

/// How large a node is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    pub width: f64,
    pub height: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// Where everything is.
#[derive(Debug, Default, PartialEq)]
pub struct Layout {
    /// The upper left corner of each node.
    pub nodes: Vec<Point>,
    /// Where each line begins, passes and ends; nothing for a line from a node to itself.
    pub lines: Vec<Vec<Point>>,
    pub width: f64,
    pub height: f64,
}

/// Places nodes of these sizes, and the lines between them.
pub fn layout(sizes: &[Size], lines: &[(usize, usize)]) -> Layout {
    let mut placed = Layout {
        nodes: vec![Point::default(); sizes.len()],
        lines: vec![Vec::new(); lines.len()],
        ..Layout::default()
    };
    let (joined, alone) = parts(sizes.len(), lines);
    for nodes in joined {
        let mut part = Part::new(sizes, lines, &nodes);
        part.order();
        part.place();
        part.write(&mut placed);
    }
    pack(sizes, &alone, &mut placed);
    placed
}

/// Nodes without lines, in rows beneath all else.
fn pack(sizes: &[Size], alone: &[usize], placed: &mut Layout) {
    let widest = alone
        .iter()
        .map(|node| sizes[*node].width)
        .fold(0.0, f64::max);
    let columns = ((placed.width + APART) / (widest + APART)).floor() as usize;
    for row in alone.chunks(columns.max(PACKED)) {
        let top = match placed.height {
            0.0 => 0.0,
            height => height + BETWEEN,
        };
        for (at, node) in row.iter().enumerate() {
            let x = at as f64 * (widest + APART);
            placed.nodes[*node] = Point { x, y: top };
            placed.width = placed.width.max(x + sizes[*node].width);
            placed.height = placed.height.max(top + sizes[*node].height);
        }
    }
}

/// What stands in a column: a node, or a line that passes.
struct Item {
    node: Option<usize>,
    column: usize,
    size: Size,
    /// Items of the columns before and after it that a line joins it with.
    before: Vec<usize>,
    after: Vec<usize>,
    /// The height of its middle.
    middle: f64,
}

/// A part of the graph whose nodes lines join.
struct Part<'a> {
    lines: &'a [(usize, usize)],
    items: Vec<Item>,
    /// The items of each column, from top to bottom.
    columns: Vec<Vec<usize>>,
    /// The items that each line goes through, by the number of the line.
    ways: Vec<(usize, Vec<usize>)>,
}

impl<'a> Part<'a> {
    fn new(sizes: &[Size], lines: &'a [(usize, usize)], nodes: &[usize]) -> Part<'a> {
        let place = |node: usize| nodes.binary_search(&node).ok();
        let own: Vec<(usize, usize, usize)> = lines
            .iter()
            .enumerate()
            .filter(|(_, (from, to))| from != to)
            .filter_map(|(line, (from, to))| Some((line, place(*from)?, place(*to)?)))
            .collect();
        let pairs: Vec<(usize, usize)> = own.iter().map(|(_, from, to)| (*from, *to)).collect();
        let back = back(nodes.len(), &pairs);
        let column = columns(nodes.len(), &pairs, &back);
        let item = |at: usize, node: &usize| Item {
            node: Some(*node),
            column: column[at],
            size: sizes[*node],
            before: Vec::new(),
            after: Vec::new(),
            middle: 0.0,
        };
        let items = nodes.iter().enumerate().map(|(at, node)| item(at, node));
        let mut part = Part {
            lines,
            items: items.collect(),
            columns: Vec::new(),
            ways: Vec::new(),
        };
        let passes: usize = own
            .iter()
            .map(|(_, from, to)| column[*to].saturating_sub(column[*from] + 1))
            .sum();
        for ((line, from, to), back) in own.into_iter().zip(back) {
            if !back {
                part.join(line, from, to, passes <= PASSES);
            }
        }
        let last = part.items.iter().map(|item| item.column).max().unwrap_or(0);
        part.columns = vec![Vec::new(); last + 1];
        for (at, item) in part.items.iter().enumerate() {
            part.columns[item.column].push(at);
        }
        part
    }

    /// Joins two nodes by a line, with a place in each column that it passes.
    fn join(&mut self, line: usize, from: usize, to: usize, passing: bool) {
        let (mut way, mut at) = (vec![from], from);
        let (first, last) = (self.items[from].column, self.items[to].column);
        if !passing && last > first + 1 {
            self.ways.push((line, vec![from, to]));
            return;
        }
        for column in first + 1..last {
            let next = self.items.len();
            self.items.push(Item {
                node: None,
                column,
                size: Size {
                    width: 0.0,
                    height: 0.0,
                },
                before: vec![at],
                after: Vec::new(),
                middle: 0.0,
            });
            self.items[at].after.push(next);
            way.push(next);
            at = next;
        }
        self.items[at].after.push(to);
        self.items[to].before.push(at);
        way.push(to);
        self.ways.push((line, way));
    }

    /// Orders each column by the middle of its neighbours, and keeps the order with the fewest crossings.
    fn order(&mut self) {
        let mut best = self.columns.clone();
        let mut fewest = self.crossings();
        for round in 0..ORDERING {
            let forward = round.is_multiple_of(2);
            let count = self.columns.len();
            for step in 1..count {
                let column = if forward { step } else { count - 1 - step };
                self.order_column(column, forward);
            }
            let crossings = self.crossings();
            if crossings < fewest {
                (best, fewest) = (self.columns.clone(), crossings);
            }
            if fewest == 0 {
                break;
            }
        }
        self.columns = best;
    }

    fn order_column(&mut self, column: usize, forward: bool) {
        let beside = if forward { column - 1 } else { column + 1 };
        let ranks = self.ranks(beside);
        let mut wanted: Vec<(f64, usize)> = Vec::new();
        for (rank, at) in self.columns[column].iter().enumerate() {
            let near = match forward {
                true => &self.items[*at].before,
                false => &self.items[*at].after,
            };
            let near: Vec<usize> = near.iter().filter_map(|one| ranks[*one]).collect();
            let middle = match near.is_empty() {
                true => rank as f64,
                false => near.iter().sum::<usize>() as f64 / near.len() as f64,
            };
            wanted.push((middle, *at));
        }
        // Stable: of two that want the same place, the one above stays above.
        wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.columns[column] = wanted.into_iter().map(|(_, at)| at).collect();
    }

    /// The place of each item of a column, from the top.
    fn ranks(&self, column: usize) -> Vec<Option<usize>> {
        let mut ranks = vec![None; self.items.len()];
        for (rank, at) in self.columns[column].iter().enumerate() {
            ranks[*at] = Some(rank);
        }
        ranks
    }

    /// How many pairs of lines cross between neighbouring columns.
    fn crossings(&self) -> usize {
        let mut crossings = 0;
        for column in 1..self.columns.len() {
            let ranks = self.ranks(column);
            let mut ends = Vec::new();
            for at in &self.columns[column - 1] {
                let mut next: Vec<usize> = self.items[*at]
                    .after
                    .iter()
                    .filter_map(|one| ranks[*one])
                    .collect();
                next.sort_unstable();
                ends.extend(next);
            }
            crossings += inversions(&ends, self.columns[column].len());
        }
        crossings
    }

    /// Heights: each column in turn as near to the middle of its neighbours as its order allows.
    fn place(&mut self) {
        for column in 0..self.columns.len() {
            let wanted = vec![0.0; self.columns[column].len()];
            self.settle(column, &wanted);
        }
        let count = self.columns.len();
        for round in 0..PLACING {
            for step in 0..count {
                let column = if round.is_multiple_of(2) {
                    step
                } else {
                    count - 1 - step
                };
                let wanted: Vec<f64> = self.columns[column]
                    .iter()
                    .map(|at| self.wanted(*at, round, PLACING))
                    .collect();
                self.settle(column, &wanted);
            }
        }
    }

    /// Where an item would best be: at the middle of what it comes from or leads to, in the end of both.
    fn wanted(&self, at: usize, round: usize, rounds: usize) -> f64 {
        let item = &self.items[at];
        let near: Vec<usize> = match (round + 2 >= rounds, round.is_multiple_of(2)) {
            (false, true) if !item.before.is_empty() => item.before.clone(),
            (false, false) if !item.after.is_empty() => item.after.clone(),
            _ => item.before.iter().chain(&item.after).copied().collect(),
        };
        match near.is_empty() {
            true => item.middle,
            false => {
                near.iter().map(|one| self.items[*one].middle).sum::<f64>() / near.len() as f64
            }
        }
    }

    /// Sets the middles of a column: in order, far enough apart, and by least squares near to what is
    /// wanted (pooling of adjacent violators).
    fn settle(&mut self, column: usize, wanted: &[f64]) {
        let items = &self.columns[column];
        let mut offsets = Vec::with_capacity(items.len());
        let mut offset = 0.0;
        for (rank, at) in items.iter().enumerate() {
            if rank > 0 {
                offset += self.gap(items[rank - 1], *at);
            }
            offsets.push(offset);
        }
        // Runs that stand as close as they may: the sum of what they want, and how many they are.
        let mut runs: Vec<(f64, usize)> = Vec::new();
        for (want, offset) in wanted.iter().zip(&offsets) {
            runs.push((want - offset, 1));
            while let [.., above, below] = runs.as_slice() {
                if above.0 / (above.1 as f64) <= below.0 / (below.1 as f64) {
                    break;
                }
                let pooled = (above.0 + below.0, above.1 + below.1);
                runs.truncate(runs.len() - 2);
                runs.push(pooled);
            }
        }
        let starts = runs
            .iter()
            .flat_map(|(sum, count)| std::iter::repeat_n(sum / *count as f64, *count));
        let middles: Vec<f64> = starts
            .zip(&offsets)
            .map(|(start, offset)| start + offset)
            .collect();
        for (at, middle) in self.columns[column].clone().into_iter().zip(middles) {
            self.items[at].middle = middle;
        }
    }

    /// How far the middles of two neighbours must be apart.
    fn gap(&self, above: usize, below: usize) -> f64 {
        let (above, below) = (&self.items[above], &self.items[below]);
        let between = match (above.node, below.node) {
            (Some(_), Some(_)) => BETWEEN,
            _ => BESIDE,
        };
        above.size.height / 2.0 + between + below.size.height / 2.0
    }

    /// Puts the part beneath what is placed already.
    fn write(&self, placed: &mut Layout) {
        let tops = self
            .items
            .iter()
            .map(|item| item.middle - item.size.height / 2.0);
        let top = tops.fold(f64::INFINITY, f64::min);
        let down = match placed.height {
            0.0 => -top,
            height => height + PARTS - top,
        };
        let widths: Vec<f64> = self
            .columns
            .iter()
            .map(|items| {
                items
                    .iter()
                    .map(|at| self.items[*at].size.width)
                    .fold(0.0, f64::max)
            })
            .collect();
        let mut lefts = Vec::new();
        let mut left = 0.0;
        for width in &widths {
            lefts.push(left);
            left += width + APART;
        }
        for item in &self.items {
            let y = item.middle + down;
            placed.height = placed.height.max(y + item.size.height / 2.0);
            placed.width = placed.width.max(lefts[item.column] + item.size.width);
            if let Some(node) = item.node {
                let (x, y) = (lefts[item.column], y - item.size.height / 2.0);
                placed.nodes[node] = Point { x, y };
            }
        }
        let middle = |at: usize| self.items[at].middle + down;
        for (line, way) in &self.ways {
            placed.lines[*line] = self.points(way, &lefts, &widths, middle);
        }
        // Lines that lead back close a circle; they go straight.
        for (line, (from, to)) in self.lines.iter().enumerate() {
            let find = |node: usize| self.items.iter().position(|item| item.node == Some(node));
            if placed.lines[line].is_empty()
                && from != to
                && let (Some(from), Some(to)) = (find(*from), find(*to))
            {
                placed.lines[line] = self.points(&[from, to], &lefts, &widths, middle);
            }
        }
    }

    /// From the right side of the first to the left side of the last, level through what it passes.
    fn points(
        &self,
        way: &[usize],
        lefts: &[f64],
        widths: &[f64],
        middle: impl Fn(usize) -> f64,
    ) -> Vec<Point> {
        let mut points = Vec::new();
        for (step, at) in way.iter().enumerate() {
            let (item, y) = (&self.items[*at], middle(*at));
            let left = lefts[item.column];
            let right = match item.node {
                Some(_) => left + item.size.width,
                None => left + widths[item.column],
            };
            if step > 0 {
                points.push(Point { x: left, y });
            }
            if step + 1 < way.len() {
                points.push(Point { x: right, y });
            }
        }
        points
    }
}
