//! The abilities of standard output's reader: marks, colours, columns.

use crate::doctor::checks::Outcome;
use crate::terminal::Terminal;

/// The style of findings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Whether marks beyond ASCII can be shown.
    pub(super) unicode: bool,
    /// Whether marks are coloured.
    pub(super) colour: bool,
    /// The columns of a line.
    pub(super) width: usize,
}

impl Style {
    /// The style that fits standard output as it is.
    pub(super) fn of_stdout() -> Style {
        let terminal = Terminal::stdout();
        Style {
            // A file of findings is read by programs, too.
            unicode: terminal.is_terminal && terminal.unicode,
            colour: terminal.colour,
            width: readable(terminal.columns),
        }
    }

    /// The mark in front of a finding.
    pub(super) fn mark(&self, outcome: Outcome) -> String {
        let (fine, plain, colour) = match outcome {
            Outcome::Works => ("✓", "+", 32),
            Outcome::Noted => ("·", "-", 36),
            Outcome::Missing => ("✗", "x", 33),
            _ => ("✗", "x", 31),
        };
        let mark = if self.unicode { fine } else { plain };
        if self.colour { format!("\x1b[{colour}m{mark}\x1b[0m") } else { mark.into() }
    }
}

/// The width of prose, on terminals of any width.
fn readable(columns: Option<usize>) -> usize {
    columns.unwrap_or(100).clamp(60, 120)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_colours_are_those_that_can_be_shown() {
        for (unicode, colour, mark) in [
            (true, true, "\x1b[32m✓\x1b[0m"),
            (true, false, "✓"),
            (false, true, "\x1b[32m+\x1b[0m"),
            (false, false, "+"),
        ] {
            assert_eq!(Style { unicode, colour, width: 80 }.mark(Outcome::Works), mark);
        }
    }

    #[test]
    fn columns_stay_readable() {
        for (columns, width) in [(Some(20), 60), (Some(90), 90), (Some(500), 120), (None, 100)] {
            assert_eq!(readable(columns), width);
        }
    }
}
