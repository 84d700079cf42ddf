//! Plain-text tables: the first column to the left, figures to the right.

use std::io::{self, Write};

use pacman_events::shown::shown;

/// Writes rows under a header.
pub(super) fn write<const N: usize>(
    out: &mut dyn Write,
    header: [&str; N],
    rows: &[[String; N]],
) -> io::Result<()> {
    // Cells have names of others in them.
    let rows: Vec<[String; N]> =
        rows.iter().map(|row| row.each_ref().map(|cell| shown(cell).to_string())).collect();
    let mut widths = header.map(|name| name.chars().count());
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let header = header.map(str::to_owned);
    for row in std::iter::once(&header).chain(&rows) {
        write!(out, "{:<1$}", row[0], widths[0])?;
        for (cell, &width) in row.iter().zip(&widths).skip(1) {
            write!(out, "  {cell:>width$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
