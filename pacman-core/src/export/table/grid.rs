//! Columns, rows and rules on a given width: all aligned text of the library and the command.

use std::io;

pub use super::layout::Column;
use super::layout::{self, Band, Shape};
use super::text;
use crate::export::TableStyle;

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
    /// Columns that do not fit go below their row, not into a band of their own: for tables of words.
    pub is_list: bool,
}

impl Grid {
    /// A grid without rows.
    pub fn new(columns: Vec<Column>) -> Grid {
        Grid { columns, keys: 0, rows: Vec::new(), ruled: true, is_list: false }
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
        for (number, band) in self.bands(style.width).iter().enumerate() {
            if number > 0 {
                line(out, style, Tone::Plain, "")?;
            }
            self.write_band(band, style, out)?;
        }
        Ok(())
    }

    /// The grid in `width` columns, without colours; `usize::MAX` for as many as it needs.
    pub fn text(&self, width: usize) -> String {
        let style = TableStyle { width, ..TableStyle::default() };
        let mut text = Vec::new();
        self.write(&style, &mut text).expect("memory takes all that is written");
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The columns of the terminal that its widest band takes.
    pub fn width(&self, style: &TableStyle) -> usize {
        self.bands(style.width).iter().map(Band::width).max().unwrap_or(0)
    }

    fn bands(&self, most: usize) -> Vec<Band> {
        let width = |(number, column): (usize, &Column)| {
            let heads = column.head.iter().map(|head| text::width(head));
            let cells = self.rows.iter().map(|row| text::width(&row.cells[number]));
            heads.chain(cells).max().unwrap_or(0)
        };
        let widths = self.columns.iter().enumerate().map(width).collect();
        let shape = Shape { columns: &self.columns, widths, keys: self.keys };
        if self.is_list { shape.list(most) } else { shape.bands(most) }
    }

    fn write_band(
        &self,
        band: &Band,
        style: &TableStyle,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let names = self.lines(band, |column| &self.columns[column].head[0]);
        let units = self.lines(band, |column| &self.columns[column].head[1]);
        line(out, style, Tone::Heading, &names[0])?;
        for text in units.iter().filter(|text| !text.trim().is_empty()) {
            line(out, style, Tone::Quiet, text)?;
        }
        names[1..].iter().try_for_each(|text| line(out, style, Tone::Heading, text))?;
        if self.ruled {
            line(out, style, Tone::Quiet, &rule(style, band.width()))?;
        }
        for row in &self.rows {
            if row.ruled {
                line(out, style, Tone::Quiet, &rule(style, band.width()))?;
            }
            let lines = self.lines(band, |column| &row.cells[column]);
            lines.iter().try_for_each(|text| line(out, style, row.tone, text))?;
        }
        Ok(())
    }

    /// The cells of a row in one line, with more lines for a cell that has to be broken.
    fn lines<'a>(&'a self, band: &Band, cell: impl Fn(usize) -> &'a str) -> Vec<String> {
        let mut text = String::new();
        let mut more = Vec::new();
        for (position, &(column, width)) in band.columns.iter().enumerate() {
            if position > 0 {
                text.push_str(&" ".repeat(layout::GAP));
            }
            let mut cell = cell(column);
            let pieces;
            if self.columns[column].left && text::width(cell) > width {
                pieces = text::wrap(cell, width, "");
                let start = " ".repeat(text::width(&text));
                more.extend(pieces[1..].iter().map(|piece| format!("{start}{piece}")));
                cell = &pieces[0];
            }
            let room = " ".repeat(width.saturating_sub(text::width(cell)));
            if self.columns[column].left {
                text.push_str(cell);
                text.push_str(&room);
            } else {
                text.push_str(&room);
                text.push_str(cell);
            }
        }
        let below = band.below.iter().map(|&column| cell(column)).filter(|cell| !cell.is_empty());
        let below = below.collect::<Vec<_>>().join("  ");
        let mut lines = vec![text];
        lines.append(&mut more);
        if !below.is_empty() {
            lines.extend(text::wrap(&format!("{INDENT}{below}"), band.most, INDENT));
        }
        lines
    }
}

/// Text without colours, in lines of at most `most` columns; tables that fit stay as they are.
pub fn fitted(text: &str, most: usize) -> String {
    let mut fitted = String::with_capacity(text.len());
    for line in text.lines() {
        if text::width(line) <= most {
            fitted.push_str(line);
            fitted.push('\n');
            continue;
        }
        let blanks = line.len() - line.trim_start_matches(' ').len();
        let indent = format!("{:1$}", "", blanks + 2);
        for piece in text::wrap(line, most, &indent) {
            fitted.push_str(piece.trim_end());
            fitted.push('\n');
        }
    }
    fitted
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

/// Before cells below their row.
const INDENT: &str = "    ";

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
            grid.text(usize::MAX),
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
        assert_eq!(grid.text(usize::MAX), "EVENT  time s\n漢字        1\n");
    }

    /// Three figures of six columns each and a name of 44.
    fn wide() -> Grid {
        let mut grid = Grid::new(vec![
            Column::right("one", ""),
            Column::right("two", ""),
            Column::right("three", ""),
            Column::label("region"),
        ]);
        let name = "space::a_function_with_a_long_name, line 123";
        grid.row(vec!["123456".into(), "234567".into(), "345678".into(), name.into()]);
        grid
    }

    #[test]
    fn a_name_takes_the_room_that_the_figures_leave() {
        assert_eq!(
            wide().text(52),
            "   one     two   three  region\n\
             ----------------------------------------------------\n\
             123456  234567  345678  space::a_function_with_a_\n                        \
             long_name, line 123\n"
        );
        assert_eq!(wide().text(68).lines().count(), 3, "it fits");
    }

    #[test]
    fn a_name_without_room_goes_below_its_figures() {
        assert_eq!(
            wide().text(40),
            "   one     two   three\n    region\n----------------------\n\
             123456  234567  345678\n    space::a_function_with_a_long_name, line\n    123\n"
                .replace("name, line\n    123", "name,\n    line 123")
        );
    }

    #[test]
    fn every_band_has_the_name() {
        let text = wide().text(20);
        let names = text.split_whitespace().collect::<String>();
        assert_eq!(names.matches("long_name,line123").count(), 2, "{text}");
        assert!(text.lines().all(|line| line.len() <= 20), "{text}");
    }

    #[test]
    fn words_that_do_not_fit_go_below_their_row() {
        let mut grid = Grid::new(["EVENT", "KIND", "NOTE"].map(Column::left).to_vec());
        (grid.ruled, grid.is_list) = (false, true);
        grid.columns[2].label = true;
        grid.row(vec!["CYCLES".into(), "preset".into(), "counts the cycles of a thread".into()]);
        assert_eq!(
            grid.text(20),
            "EVENT   KIND\n    NOTE\nCYCLES  preset\n    counts the\n    cycles of a\n    thread\n"
        );
    }

    #[test]
    fn sentences_break_between_words_and_keep_their_indent() {
        assert_eq!(
            fitted("one two three\n  four five six\n", 9),
            "one two\n  three\n  four\n    five\n    six\n"
        );
        assert_eq!(fitted("short\n", usize::MAX), "short\n");
        assert_eq!(fitted("unbreakable", 4), "unbr\n  ea\n  ka\n  bl\n  e\n");
    }
}
