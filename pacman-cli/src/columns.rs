//! Tables of names from elsewhere, which are made harmless.

use std::io::{self, Write};

use pacman_core::export::grid::{Column, Grid};
use pacman_events::shown::shown;

use crate::terminal::Terminal;

/// Writes columns of words.
pub fn words<const N: usize>(
    out: &mut dyn Write,
    header: [&str; N],
    rows: &[[String; N]],
) -> io::Result<()> {
    let mut columns = header.map(Column::left);
    columns[N - 1].label = true;
    write(out, columns, rows)
}

/// Writes a column of names, and figures to the right.
pub fn figures<const N: usize>(
    out: &mut dyn Write,
    header: [&str; N],
    rows: &[[String; N]],
) -> io::Result<()> {
    let mut columns = header.map(|name| Column::right(name, ""));
    columns[0].left = true;
    write(out, columns, rows)
}

fn write<const N: usize>(
    out: &mut dyn Write,
    columns: [Column; N],
    rows: &[[String; N]],
) -> io::Result<()> {
    let mut grid = Grid::new(columns.to_vec());
    (grid.ruled, grid.is_list) = (false, true);
    for row in rows {
        grid.row(row.iter().map(|cell| shown(cell).to_string()).collect());
    }
    out.write_all(grid.text(Terminal::stdout().width()).as_bytes())
}
