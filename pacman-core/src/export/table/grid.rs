//! Columns, rows and rules on a given width: all aligned text of the library and the command.

use std::{fmt, io};

use super::text;
use crate::export::TableStyle;

/// A column: two lines of heading, and the alignment.
#[derive(Clone, Debug)]
pub struct Column {
    /// Name and unit.
    pub head: [String; 2],
    /// Text is aligned to the left, figures to the right.
    pub left: bool,
    /// The column stays beside the one before it.
    pub joined: bool,
}

/// A row with one cell per column.
#[derive(Clone, Debug)]
pub struct Row {
    /// The texts, from the left.
    pub cells: Vec<String>,
    /// How it stands out.
    pub tone: Tone,
    /// A rule goes above it.
    pub ruled: bool,
}

/// The role of a line, for colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Bold.
    Heading,
    /// Without emphasis.
    Plain,
    /// Dim.
    Quiet,
    /// Bold and yellow.
    Warning,
}

/// The figures of a block, ready to be laid out.
#[derive(Clone, Debug)]
pub struct Grid {
    /// From the left.
    pub columns: Vec<Column>,
    /// Number of leading columns that identify the row. Every band repeats them.
    pub keys: usize,
    /// From the top.
    pub rows: Vec<Row>,
    /// A rule goes below the heading.
    pub ruled: bool,
}

impl Column {
    /// A column of words.
    pub fn left(name: &str) -> Column {
        Column { left: true, ..Column::right(name, "") }
    }

    /// A column of figures. A unit that the name contains already is left out.
    pub fn right(name: &str, unit: &str) -> Column {
        let unit = if name.to_ascii_lowercase().contains(unit) { "" } else { unit };
        Column { head: [name.to_owned(), unit.to_owned()], left: false, joined: false }
    }
}

impl Grid {
    /// A grid without rows.
    pub fn new(columns: Vec<Column>) -> Grid {
        Grid { columns, keys: 0, rows: Vec::new(), ruled: true }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(Row { cells, tone: Tone::Plain, ruled: false });
    }

    /// Adds a row below a rule.
    pub fn total(&mut self, cells: Vec<String>) {
        self.row(cells);
        self.rows.last_mut().expect("it was just added").ruled = true;
    }

    /// Writes the grid as one band, or as several bands below each other if it is wider than the
    /// style allows.
    pub fn write(&self, style: &TableStyle, out: &mut dyn io::Write) -> io::Result<()> {
        let widths = self.widths();
        for (number, band) in self.bands(&widths, style.width).iter().enumerate() {
            if number > 0 {
                line(out, style, Tone::Plain, "")?;
            }
            self.write_band(band, &widths, style, out)?;
        }
        Ok(())
    }

    /// The columns of the terminal that its widest band takes.
    pub fn width(&self, style: &TableStyle) -> usize {
        let widths = self.widths();
        let bands = self.bands(&widths, style.width);
        bands.iter().map(|band| total(band, &widths)).max().unwrap_or(0)
    }

    fn write_band(
        &self,
        band: &[usize],
        widths: &[usize],
        style: &TableStyle,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let total = total(band, widths);
        for head in 0..2 {
            let text = self.join(band, widths, |column| &self.columns[column].head[head]);
            if head == 0 || !text.trim().is_empty() {
                line(out, style, if head == 0 { Tone::Heading } else { Tone::Quiet }, &text)?;
            }
        }
        if self.ruled {
            line(out, style, Tone::Quiet, &rule(style, total))?;
        }
        for row in &self.rows {
            if row.ruled {
                line(out, style, Tone::Quiet, &rule(style, total))?;
            }
            let text = self.join(band, widths, |column| &row.cells[column]);
            line(out, style, row.tone, &text)?;
        }
        Ok(())
    }

    fn join<'a>(
        &'a self,
        band: &[usize],
        widths: &[usize],
        cell: impl Fn(usize) -> &'a str,
    ) -> String {
        let mut text = String::new();
        for (position, &column) in band.iter().enumerate() {
            if position > 0 {
                text.push_str(&" ".repeat(GAP));
            }
            let cell = cell(column);
            let room = " ".repeat(widths[column].saturating_sub(text::width(cell)));
            if self.columns[column].left {
                text.push_str(cell);
                text.push_str(&room);
            } else {
                text.push_str(&room);
                text.push_str(cell);
            }
        }
        text
    }

    /// The width of each column: that of its widest cell.
    fn widths(&self) -> Vec<usize> {
        self.columns
            .iter()
            .enumerate()
            .map(|(number, column)| {
                let heads = column.head.iter().map(|head| text::width(head));
                let cells = self.rows.iter().map(|row| text::width(&row.cells[number]));
                heads.chain(cells).max().unwrap_or(0)
            })
            .collect()
    }

    /// The columns of each band: the keys, and as many others as fit.
    fn bands(&self, widths: &[usize], most: usize) -> Vec<Vec<usize>> {
        let keys: Vec<usize> = (0..self.keys).collect();
        let own: usize = keys.iter().map(|&key| widths[key] + GAP).sum();
        let mut bands = Vec::new();
        let (mut band, mut used) = (keys.clone(), own);
        let mut next = self.keys;
        while next < self.columns.len() {
            let joined = self.columns[next + 1..].iter().take_while(|column| column.joined).count();
            let group = next..next + 1 + joined;
            let wide: usize = group.clone().map(|column| widths[column] + GAP).sum();
            // The last gap of the band is not written.
            if band.len() > keys.len() && used + wide > most.saturating_add(GAP) {
                bands.push(std::mem::replace(&mut band, keys.clone()));
                used = own;
            }
            used += wide;
            next = group.end;
            band.extend(group);
        }
        bands.push(band);
        bands
    }
}

/// Without colours, as wide as needed.
impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let style = TableStyle { width: usize::MAX, ..TableStyle::default() };
        let mut text = Vec::new();
        self.write(&style, &mut text).expect("memory takes all that is written");
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

fn total(band: &[usize], widths: &[usize]) -> usize {
    band.iter().map(|&column| widths[column]).sum::<usize>() + GAP * band.len().saturating_sub(1)
}

/// Writes one line without trailing blanks, in its colour if the style has colours.
pub(super) fn line(
    out: &mut dyn io::Write,
    style: &TableStyle,
    tone: Tone,
    text: &str,
) -> io::Result<()> {
    let text = text.trim_end();
    let code = match tone {
        Tone::Heading => "1",
        Tone::Plain => "",
        Tone::Quiet => "2",
        Tone::Warning => "1;33",
    };
    let text = if style.colour && !code.is_empty() && !text.is_empty() {
        format!("\x1b[{code}m{text}\x1b[0m\n")
    } else {
        format!("{text}\n")
    };
    out.write_all(text.as_bytes())
}

/// A horizontal rule.
pub(super) fn rule(style: &TableStyle, width: usize) -> String {
    if style.unicode { "─" } else { "-" }.repeat(width)
}

/// Blanks between two columns.
const GAP: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_and_names_begin_in_one_column() {
        let mut grid = Grid::new(vec![Column::right("time", "s"), Column::left("region")]);
        grid.row(vec!["12.345".into(), "main, region 0".into()]);
        grid.total(vec!["0.1".into(), "größe".into()]);
        let rule = "-".repeat(22);
        assert_eq!(
            grid.to_string(),
            format!(
                "  time  region\n     s\n{rule}\n12.345  main, region 0\n{rule}\n   0.1  größe\n"
            )
        );
    }

    #[test]
    fn a_heading_without_units_and_a_rule_is_one_line() {
        let mut grid = Grid::new(vec![Column::left("EVENT"), Column::right("time s", "s")]);
        grid.ruled = false;
        grid.row(vec!["漢字".into(), "1".into()]);
        assert_eq!(grid.to_string(), "EVENT  time s\n漢字        1\n");
    }
}
