//! Plain-text tables: left-aligned columns as wide as their widest cell.

use std::io::{self, Write};

use pacman_events::shown::shown;

/// Writes rows under a header; the last column is not padded.
pub(crate) fn write<const N: usize>(
    out: &mut dyn Write,
    header: [&str; N],
    rows: &[[String; N]],
) -> io::Result<()> {
    // Cells have names of others in them.
    let rows: Vec<[String; N]> =
        rows.iter().map(|row| row.each_ref().map(|cell| shown(cell).to_string())).collect();
    let mut widths = header.map(str::len);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    line(out, &header.map(str::to_owned), &widths)?;
    rows.iter().try_for_each(|row| line(out, row, &widths))
}

fn line<const N: usize>(
    out: &mut dyn Write,
    row: &[String; N],
    widths: &[usize; N],
) -> io::Result<()> {
    let mut text = String::new();
    for (cell, width) in row.iter().zip(widths) {
        let pad = width - cell.chars().count().min(*width) + 2;
        text.push_str(cell);
        text.extend(std::iter::repeat_n(' ', pad));
    }
    writeln!(out, "{}", text.trim_end())
}
