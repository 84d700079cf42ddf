//! What the reader of standard output can show: marks, colours, columns.

use std::env;
use std::io::{self, IsTerminal};

use crate::doctor::checks::Outcome;

/// How findings are drawn.
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
    /// What fits standard output as it is.
    pub(super) fn of_stdout() -> Style {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        Style::fitting(io::stdout().is_terminal(), variable)
    }

    fn fitting(terminal: bool, variable: impl Fn(&str) -> Option<String>) -> Style {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(&variable);
        let utf8 = locale.is_some_and(|name| {
            let name = name.to_ascii_lowercase();
            name.contains("utf-8") || name.contains("utf8")
        });
        let dumb = variable("TERM").is_none_or(|name| name == "dumb");
        let columns = variable("COLUMNS").and_then(|text| text.parse().ok()).unwrap_or(100);
        Style {
            unicode: terminal && utf8,
            colour: terminal && !dumb && variable("NO_COLOR").is_none(),
            width: columns.clamp(60, 120),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn style(terminal: bool, variables: &[(&str, &str)]) -> Style {
        Style::fitting(terminal, |name| {
            variables.iter().find(|v| v.0 == name).map(|v| v.1.to_owned())
        })
    }

    #[test]
    fn marks_and_colours_need_a_terminal_that_can_show_them() {
        let usual = [("LANG", "en_GB.UTF-8"), ("TERM", "xterm")];
        for (terminal, variables, mark) in [
            (true, &usual[..], "\x1b[32m✓\x1b[0m"),
            (false, &usual, "+"),
            (true, &[("LANG", "en_GB.UTF-8"), ("TERM", "xterm"), ("NO_COLOR", "1")], "✓"),
            (true, &[("LANG", "C.utf8"), ("TERM", "dumb")], "✓"),
            (true, &[("LC_ALL", "C"), ("LANG", "C.utf8"), ("NO_COLOR", "1")], "+"),
            (true, &[], "+"),
        ] {
            assert_eq!(style(terminal, variables).mark(Outcome::Works), mark, "{variables:?}");
        }
    }

    #[test]
    fn columns_stay_readable() {
        for (columns, width) in [("20", 60), ("90", 90), ("500", 120), ("wide", 100)] {
            assert_eq!(style(false, &[("COLUMNS", columns)]).width, width);
        }
    }
}
