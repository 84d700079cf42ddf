//! How a table is drawn.

use super::environment::Environment;

/// How [`table`](super::table) draws: width, characters, colour, and what it leaves out.
///
/// The default suits a file or a pipe: 100 columns, ASCII, no colour, every
/// phase, more than 32 threads folded.
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
    /// Columns of the terminal. Events that do not fit beside each other go below
    /// each other; a table narrower than its first columns runs over the edge
    /// rather than lose a figure.
    pub width: usize,
    /// Draws with box characters, and writes µ, …, ≥ and — for `u`, `...`, `>=`
    /// and `-`. Names stay as they are either way.
    pub unicode: bool,
    /// Sets off headings, totals and footnotes with terminal escape sequences.
    pub colour: bool,
    /// Writes counts with all their digits; otherwise a million and more gets
    /// four digits and a suffix, such as `12.35 M`.
    pub exact: bool,
    /// The most phases to show; `None` shows all. The table shows the phases that took the
    /// most time, and says how many it left out.
    pub top: Option<usize>,
    /// A phase that more threads ran has rows for the least, the median and the
    /// greatest of each column in place of a row for each thread.
    pub fold: usize,
}

impl Default for TableStyle {
    fn default() -> TableStyle {
        TableStyle { width: 100, unicode: false, colour: false, exact: false, top: None, fold: 32 }
    }
}

impl TableStyle {
    /// The default style as far as this process's environment suits it.
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
