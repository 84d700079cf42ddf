//! Columns of text with a heading and a line of units.

/// On which side of its column a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// A table under construction.
#[derive(Debug)]
pub(super) struct Table {
    aligns: Vec<Align>,
    /// Two lines of heading, then the rows.
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table of columns: name, unit and side.
    pub(super) fn new(columns: &[(&str, &str, Align)]) -> Table {
        let names = columns.iter().map(|(name, ..)| (*name).to_owned()).collect();
        let units = columns
            .iter()
            // Where the name says it already, once is enough.
            .map(|(name, unit, _)| if name.to_ascii_lowercase().contains(unit) { "" } else { unit })
            .map(str::to_owned)
            .collect();
        let aligns = columns.iter().map(|(.., align)| *align).collect();
        Table { aligns, rows: vec![names, units] }
    }

    /// Adds a row with a cell for each column.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.aligns.len());
        self.rows.push(cells);
    }

    /// The table, with a rule below the heading.
    pub(super) fn draw(&self) -> String {
        let widths: Vec<usize> = (0..self.aligns.len())
            .map(|column| {
                let width = |row: &Vec<String>| row[column].chars().count();
                self.rows.iter().map(width).max().unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .zip(&self.aligns)
                .map(|((cell, width), align)| match align {
                    Align::Left => format!("{cell:<width$}"),
                    Align::Right => format!("{cell:>width$}"),
                })
                .collect();
            let line = cells.join("  ");
            let line = line.trim_end();
            if number != 1 || !line.is_empty() {
                text.push_str(line);
                text.push('\n');
            }
            if number == 1 {
                text.push_str(&"-".repeat(widths.iter().sum::<usize>() + 2 * (widths.len() - 1)));
                text.push('\n');
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_and_names_begin_in_one_column() {
        let mut table = Table::new(&[("time", "s", Align::Right), ("region", "", Align::Left)]);
        table.row(vec!["12.345".into(), "main, region 0".into()]);
        table.row(vec!["0.1".into(), "größe".into()]);
        assert_eq!(
            table.draw(),
            "  time  region\n     s\n----------------------\n12.345  main, region 0\n   0.1  größe\n"
        );
    }
}
