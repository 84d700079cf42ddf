//! The look of a table.

use super::environment::Environment;

/// The look of [`table`](super::table): width, characters, colour, and omissions.
///
/// The default is for a file or a pipe: 100 columns, ASCII, no colour, every phase, more than 32
/// threads folded.
///
/// ```
/// use pacman_core::export::TableStyle;
/// let mut style = TableStyle::default();
/// style.width = 132;
/// style.top = Some(10);
/// assert!(!style.colour && !style.unicode);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableStyle {
    /// Columns of the terminal. Events that do not fit beside each other go below each other. The
    /// table keeps all figures, even if its first columns are too wide.
    pub width: usize,
    /// Draws with box characters, and writes µ, …, ≥ and — for `u`, `...`, `>=` and `-`. Names do
    /// not change.
    pub unicode: bool,
    /// Highlights headings, totals and footnotes with terminal escape sequences.
    pub colour: bool,
    /// Writes counts with all their digits. Otherwise counts from a million on have four digits and
    /// a suffix, such as `12.35 M`.
    pub exact: bool,
    /// The most phases to show; `None` shows all. The table shows the phases that took the
    /// most time, and says how many it left out.
    pub top: Option<usize>,
    /// The most threads of a phase with rows of their own. More threads have three rows, with the
    /// minimum, median and maximum of each column.
    pub fold: usize,
}

impl Default for TableStyle {
    fn default() -> TableStyle {
        TableStyle { width: 100, unicode: false, colour: false, exact: false, top: None, fold: 32 }
    }
}

impl TableStyle {
    /// The default style, adapted to this process's environment.
    ///
    /// Colour if `terminal` (the output is one), `NO_COLOR` is unset or empty and
    /// `TERM` names a terminal other than `dumb`; Unicode if the locale's encoding is
    /// UTF-8; the width from `COLUMNS` if that is a number above 0. This function does not
    /// ask the terminal for its width; a caller can do so if `COLUMNS` is not set.
    ///
    /// ```
    /// use std::io::IsTerminal;
    /// use pacman_core::export::TableStyle;
    /// let style = TableStyle::from_env(std::io::stdout().is_terminal());
    /// assert!(style.width > 0);
    /// ```
    pub fn from_env(terminal: bool) -> TableStyle {
        TableStyle::from(&Environment::read(terminal))
    }
}

impl From<&Environment> for TableStyle {
    fn from(environment: &Environment) -> TableStyle {
        let default = TableStyle::default();
        TableStyle {
            width: environment.columns.unwrap_or(default.width),
            unicode: environment.unicode,
            colour: environment.colour,
            ..default
        }
    }
}
