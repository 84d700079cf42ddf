//! Which columns of a grid stand beside each other on a given width.

use super::grid::Grid;
use super::text;

/// Columns that stand beside each other, and those that go below each row.
#[derive(Clone, Debug)]
pub(super) struct Band {
    /// The numbers of the columns, and the width of each.
    pub(super) columns: Vec<(usize, usize)>,
    pub(super) below: Vec<usize>,
    /// The columns of the terminal.
    pub(super) most: usize,
}

impl Band {
    /// The columns of the terminal that a row takes.
    pub(super) fn width(&self) -> usize {
        let own: usize = self.columns.iter().map(|(_, width)| width).sum();
        own + GAP * self.columns.len().saturating_sub(1)
    }
}

/// The bands of a grid on `most` columns, from the top. A grid that fits is one band.
pub(super) fn bands(grid: &Grid, most: usize) -> Vec<Band> {
    let widths = widths(grid);
    let band = |columns: &[usize]| Band {
        columns: columns.iter().map(|&column| (column, widths[column])).collect(),
        below: Vec::new(),
        most,
    };
    let all: Vec<usize> = (0..grid.columns.len()).collect();
    let whole = band(&all);
    if whole.width() <= most {
        return vec![whole];
    }
    let band = |columns: &[usize]| {
        let mut band = band(columns);
        let words = band.columns.iter_mut().filter(|(column, _)| grid.columns[*column].left);
        words.for_each(|(_, width)| *width = most.min(*width));
        band
    };
    let Some((&label, figures)) = all.split_last().filter(|(last, _)| grid.columns[**last].label)
    else {
        return split(grid, &widths, &all, most).iter().map(|columns| band(columns)).collect();
    };
    let least = widths[label].min(READABLE) + GAP;
    let beside = |columns: &[usize]| {
        let mut band = band(columns);
        let width = most.saturating_sub(band.width() + GAP).min(widths[label]);
        band.columns.push((label, width));
        band
    };
    if grid.is_list {
        let fits = |count: &usize| band(&figures[..*count]).width() <= most;
        let count = (1..=figures.len()).take_while(fits).last().unwrap_or(1).min(figures.len());
        let shown = band(&figures[..count]);
        if count == figures.len() && shown.width() + least <= most {
            return vec![beside(figures)];
        }
        return vec![Band { below: all[count..].to_vec(), ..shown }];
    }
    let narrow = split(grid, &widths, figures, most.saturating_sub(least));
    let wide = split(grid, &widths, figures, most);
    let fit = narrow.iter().all(|columns| band(columns).width() + least <= most);
    if fit && narrow.len() == wide.len() {
        return narrow.iter().map(|columns| beside(columns)).collect();
    }
    wide.iter().map(|columns| Band { below: vec![label], ..band(columns) }).collect()
}

/// The width of each column: that of its widest cell.
fn widths(grid: &Grid) -> Vec<usize> {
    let width = |(number, column): (usize, &super::grid::Column)| {
        let heads = column.head.iter().map(|head| text::width(head));
        let cells = grid.rows.iter().map(|row| text::width(&row.cells[number]));
        heads.chain(cells).max().unwrap_or(0)
    };
    grid.columns.iter().enumerate().map(width).collect()
}

/// Each part has the keys, and as many of the other `columns` as fit.
fn split(grid: &Grid, widths: &[usize], columns: &[usize], most: usize) -> Vec<Vec<usize>> {
    let (keys, others) = columns.split_at(grid.keys);
    let own: usize = keys.iter().map(|&key| widths[key] + GAP).sum();
    let mut bands = Vec::new();
    let (mut band, mut used) = (keys.to_vec(), own);
    let mut next = 0;
    while next < others.len() {
        let joined =
            others[next + 1..].iter().take_while(|column| grid.columns[**column].joined).count();
        let group = &others[next..next + 1 + joined];
        let wide: usize = group.iter().map(|&column| widths[column] + GAP).sum();
        // The last gap of the band is not written.
        if band.len() > keys.len() && used + wide > most.saturating_add(GAP) {
            bands.push(std::mem::replace(&mut band, keys.to_vec()));
            used = own;
        }
        used += wide;
        next += group.len();
        band.extend(group);
    }
    bands.push(band);
    bands
}

/// Blanks between two columns.
pub(super) const GAP: usize = 2;
/// Columns in which a long name can be read; with fewer it goes below its figures.
const READABLE: usize = 24;
