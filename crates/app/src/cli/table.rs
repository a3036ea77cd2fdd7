//! Rows in columns, as wide as the terminal is.

use super::text::Text;

/// Between two columns.
const GAP: usize = 2;
/// No column is cut below this while another is wider.
const LEAST: usize = 8;

/// A table with a line of titles.
#[derive(Debug, Default)]
pub struct Table {
    titles: Vec<String>,
    rows: Vec<Vec<Text>>,
}

impl Table {
    pub fn new(titles: &[&str]) -> Table {
        Table {
            titles: titles.iter().map(|title| title.to_uppercase()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; what has no title is not shown.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Text>) {
        let mut cells: Vec<Text> = cells.into_iter().collect();
        cells.resize(self.titles.len(), Text::new());
        self.rows.push(cells);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines, in at most `most` columns; as wide as needed where there is no limit.
    pub fn lines(mut self, most: Option<usize>) -> Vec<Text> {
        self.drop_empty_columns();
        let titles = self.titles.iter().map(|title| Text::new().dim(title));
        self.rows.insert(0, titles.collect());
        let widths = self.widths(most);
        self.rows
            .into_iter()
            .map(|row| joined(row, &widths))
            .collect()
    }

    fn drop_empty_columns(&mut self) {
        for at in (0..self.titles.len()).rev() {
            if self.rows.iter().all(|row| row[at].is_empty()) {
                self.titles.remove(at);
                for row in &mut self.rows {
                    row.remove(at);
                }
            }
        }
    }

    /// How wide each column may be: the widest give way first.
    fn widths(&self, most: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = (0..self.titles.len())
            .map(|at| self.rows.iter().map(|row| row[at].width()).max())
            .map(Option::unwrap_or_default)
            .collect();
        let gaps = GAP * widths.len().saturating_sub(1);
        let room = most.map_or(usize::MAX, |most| most.saturating_sub(gaps));
        let mut over = widths.iter().sum::<usize>().saturating_sub(room);
        while over > 0 {
            let second = second_widest(&widths);
            let Some(widest) = widths.iter_mut().max() else {
                break;
            };
            let floor = second.max(LEAST).min(widest.saturating_sub(1));
            if *widest <= LEAST {
                break;
            }
            let give = over.min(*widest - floor);
            *widest -= give;
            over -= give;
        }
        widths
    }
}

fn second_widest(widths: &[usize]) -> usize {
    let mut sorted = widths.to_vec();
    sorted.sort_unstable();
    sorted.len().checked_sub(2).map_or(0, |at| sorted[at])
}

fn joined(row: Vec<Text>, widths: &[usize]) -> Text {
    let last = row.iter().rposition(|cell| !cell.is_empty());
    let mut line = Text::new();
    for (at, (cell, width)) in row.into_iter().zip(widths).enumerate() {
        let cell = cell.fit(*width);
        let pad = width.saturating_sub(cell.width()) + GAP;
        line = line.then(cell);
        match last {
            Some(last) if at < last => line = line.plain(" ".repeat(pad)),
            _ => break,
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(table: Table, most: Option<usize>) -> Vec<String> {
        let lines = table.lines(most);
        lines.iter().map(|line| line.rendered(false)).collect()
    }

    fn table(rows: &[&[&str]]) -> Table {
        let mut table = Table::new(&["id", "empty", "summary"]);
        for row in rows {
            table.row(row.iter().map(|cell| Text::from(*cell)));
        }
        table
    }

    #[test]
    fn columns_stand_under_one_another_in_any_script() {
        let lines = shown(table(&[&["T-1", "", "日本"], &["T-22", "", "x"]]), None);
        assert_eq!(lines, ["ID    SUMMARY", "T-1   日本", "T-22  x"]);
    }

    #[test]
    fn the_widest_gives_way() {
        let long = "a very long summary that does not fit";
        let lines = shown(
            table(&[&["T-1", "", long], &["T-2", "", "short"]]),
            Some(20),
        );
        assert_eq!(lines[1], "T-1  a very long su…");
        assert!(lines.iter().all(|line| line.chars().count() <= 20));
        assert_eq!(
            shown(table(&[&["T-1", "", long]]), None)[1],
            format!("T-1  {long}")
        );
    }

    #[test]
    fn no_width_at_all_is_no_panic() {
        for most in 0..12 {
            assert_eq!(
                shown(table(&[&["TASK-001", "", "summary"]]), Some(most)).len(),
                2
            );
        }
        assert_eq!(Table::new(&[]).lines(Some(3)).len(), 1);
    }
}
