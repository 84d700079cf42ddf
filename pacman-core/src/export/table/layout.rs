//! Which columns of a grid stand beside each other on a given width.

/// A column: two lines of heading, and the alignment.
#[derive(Clone, Debug)]
pub struct Column {
    /// Name and unit.
    pub head: [String; 2],
    /// Text is aligned to the left, figures to the right.
    pub left: bool,
    /// The column stays beside the one before it.
    pub joined: bool,
    /// The last column, of names as long as programs make them. Every band has it; a name that finds no
    /// room beside the figures goes below them, in as many lines as it needs.
    pub label: bool,
}

impl Column {
    /// A column of words.
    pub fn left(name: &str) -> Column {
        Column { left: true, ..Column::right(name, "") }
    }

    /// A column of figures. A unit that the name contains already is left out.
    pub fn right(name: &str, unit: &str) -> Column {
        let unit = if name.to_ascii_lowercase().contains(unit) { "" } else { unit };
        Column {
            head: [name.to_owned(), unit.to_owned()],
            left: false,
            joined: false,
            label: false,
        }
    }

    /// The last column, of names that may be long.
    pub fn label(name: &str) -> Column {
        Column { label: true, ..Column::left(name) }
    }
}

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

/// The columns of a grid, without its rows.
pub(super) struct Shape<'a> {
    pub(super) columns: &'a [Column],
    /// The width of the widest cell of each.
    pub(super) widths: Vec<usize>,
    /// Leading columns that every band repeats.
    pub(super) keys: usize,
}

impl Shape<'_> {
    /// The bands on `most` columns of the terminal, from the top; one if all columns fit.
    pub(super) fn bands(&self, most: usize) -> Vec<Band> {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let whole = self.band(&all, usize::MAX);
        if whole.width() <= most {
            return vec![whole];
        }
        let Some((label, figures)) = self.labelled(&all) else {
            return self.split(&all, most).iter().map(|part| self.band(part, most)).collect();
        };
        let least = self.least(label);
        let narrow = self.split(figures, most.saturating_sub(least));
        let wide = self.split(figures, most);
        let fit = narrow.iter().all(|part| self.band(part, most).width() + least <= most);
        if fit && narrow.len() == wide.len() {
            return narrow.iter().map(|part| self.beside(part, label, most)).collect();
        }
        let band = |part: &Vec<usize>| Band { below: vec![label], ..self.band(part, most) };
        wide.iter().map(band).collect()
    }

    /// One band, whose columns go below each row from the first one on that does not fit.
    pub(super) fn list(&self, most: usize) -> Vec<Band> {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let whole = self.band(&all, usize::MAX);
        if whole.width() <= most {
            return vec![whole];
        }
        let (label, figures) = match self.labelled(&all) {
            Some((label, figures)) => (Some(label), figures),
            None => (None, &all[..]),
        };
        let fits = |count: &usize| self.band(&figures[..*count], most).width() <= most;
        let count = (1..=figures.len()).take_while(fits).last().unwrap_or(1).min(figures.len());
        let shown = self.band(&figures[..count], most);
        match label {
            Some(label) if count == figures.len() && shown.width() + self.least(label) <= most => {
                vec![self.beside(figures, label, most)]
            }
            _ => vec![Band { below: all[count..].to_vec(), ..shown }],
        }
    }

    /// The last column and those before it, if it is a label.
    fn labelled<'b>(&self, all: &'b [usize]) -> Option<(usize, &'b [usize])> {
        let (&last, before) = all.split_last()?;
        self.columns[last].label.then_some((last, before))
    }

    /// The columns that a label needs beside figures.
    fn least(&self, label: usize) -> usize {
        self.widths[label].min(READABLE) + GAP
    }

    /// These columns side by side. Words are broken that are wider than the terminal.
    fn band(&self, columns: &[usize], most: usize) -> Band {
        let width = |&column: &usize| match self.columns[column].left {
            true => (column, most.min(self.widths[column])),
            false => (column, self.widths[column]),
        };
        Band { columns: columns.iter().map(width).collect(), below: Vec::new(), most }
    }

    /// These columns, and the label in the room that they leave.
    fn beside(&self, columns: &[usize], label: usize, most: usize) -> Band {
        let mut band = self.band(columns, most);
        let width = most.saturating_sub(band.width() + GAP).min(self.widths[label]);
        band.columns.push((label, width));
        band
    }

    /// Each part has the keys, and as many of the other `columns` as fit.
    fn split(&self, columns: &[usize], most: usize) -> Vec<Vec<usize>> {
        let (keys, others) = columns.split_at(self.keys);
        let own: usize = keys.iter().map(|&key| self.widths[key] + GAP).sum();
        let mut bands = Vec::new();
        let (mut band, mut used) = (keys.to_vec(), own);
        let mut next = 0;
        while next < others.len() {
            let after = others[next + 1..].iter();
            let joined = after.take_while(|column| self.columns[**column].joined).count();
            let group = &others[next..next + 1 + joined];
            let wide: usize = group.iter().map(|&column| self.widths[column] + GAP).sum();
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
}

/// Blanks between two columns.
pub(super) const GAP: usize = 2;
/// Columns in which a long name can be read; with fewer it goes below its figures.
const READABLE: usize = 24;
