//! How a table is drawn.

use std::env;

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
    /// Shows the phases that took the most time, at most so many, and says how
    /// many it left out; `None` shows all.
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
    /// `TERM` is not `dumb`; Unicode if the locale's encoding is UTF-8; the width
    /// from `COLUMNS` where that is a number. Whoever can ask the terminal for its
    /// width does and sets it.
    ///
    /// ```
    /// use std::io::IsTerminal;
    /// use pacman_core::export::TableStyle;
    /// let style = TableStyle::from_env(std::io::stdout().is_terminal());
    /// assert!(style.width > 0);
    /// ```
    pub fn from_env(terminal: bool) -> TableStyle {
        TableStyle::from_vars(terminal, |name| env::var(name).ok())
    }

    fn from_vars(terminal: bool, var: impl Fn(&str) -> Option<String>) -> TableStyle {
        let set = |name: &str| var(name).filter(|value| !value.is_empty());
        // The order in which the C library lets one override the other.
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
        let encoding = locale.unwrap_or_default().to_ascii_lowercase();
        let mut style = TableStyle {
            unicode: encoding.contains("utf-8") || encoding.contains("utf8"),
            colour: terminal
                && set("NO_COLOR").is_none()
                && set("TERM").is_none_or(|term| term != "dumb"),
            ..TableStyle::default()
        };
        if let Some(columns) = set("COLUMNS").and_then(|columns| columns.parse().ok()) {
            style.width = std::cmp::max(1, columns);
        }
        style
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(terminal: bool, vars: &[(&str, &str)]) -> TableStyle {
        TableStyle::from_vars(terminal, |name| {
            vars.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string())
        })
    }

    #[test]
    fn colour_needs_a_terminal_that_wants_it() {
        assert!(style(true, &[]).colour);
        assert!(style(true, &[("NO_COLOR", ""), ("TERM", "xterm")]).colour);
        assert!(!style(true, &[("NO_COLOR", "1")]).colour);
        assert!(!style(true, &[("TERM", "dumb")]).colour);
        assert!(!style(false, &[("TERM", "xterm")]).colour);
    }

    #[test]
    fn characters_follow_the_locale_in_the_order_of_the_c_library() {
        assert!(style(true, &[("LANG", "en_GB.UTF-8")]).unicode);
        assert!(style(true, &[("LC_ALL", ""), ("LANG", "C.utf8")]).unicode);
        assert!(!style(true, &[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")]).unicode);
        assert!(!style(true, &[]).unicode);
    }

    #[test]
    fn the_width_is_a_number_or_the_default() {
        assert_eq!(style(true, &[("COLUMNS", "132")]).width, 132);
        assert_eq!(style(true, &[("COLUMNS", "0")]).width, 1);
        assert_eq!(style(true, &[("COLUMNS", "wide")]).width, 100);
    }
}
