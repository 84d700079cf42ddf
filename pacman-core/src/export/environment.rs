//! The environment's settings for text: width, colour, characters.

use std::env;

/// The variables that describe the terminal, read in one place for all commands and libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Environment {
    /// `COLUMNS`, if it is a number above 0. It overrides the width of the terminal.
    pub columns: Option<usize>,
    /// The locale's encoding is UTF-8.
    pub unicode: bool,
    /// The output is a terminal on which a line can be redrawn: `TERM` is set and not `dumb`.
    pub redraws: bool,
    /// The output is such a terminal, and `NO_COLOR` is unset or empty.
    pub colour: bool,
}

impl Environment {
    /// Reads the variables for an output that is a `terminal` or not.
    pub fn read(terminal: bool) -> Environment {
        Environment::from_vars(terminal, |name| env::var(name).ok())
    }

    fn from_vars(terminal: bool, var: impl Fn(&str) -> Option<String>) -> Environment {
        let set = |name: &str| var(name).filter(|value| !value.is_empty());
        // In this order one variable overrides the next in the C library.
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        let encoding = locale.unwrap_or_default().to_ascii_lowercase();
        let columns = set("COLUMNS").and_then(|columns| columns.trim().parse().ok());
        let redraws = terminal && set("TERM").is_some_and(|term| term != "dumb");
        Environment {
            columns: columns.filter(|columns| *columns > 0),
            unicode: encoding.contains("utf-8") || encoding.contains("utf8"),
            redraws,
            colour: redraws && set("NO_COLOR").is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(terminal: bool, vars: &[(&str, &str)]) -> Environment {
        Environment::from_vars(terminal, |name| {
            vars.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string())
        })
    }

    #[test]
    fn colour_needs_a_terminal_that_wants_it() {
        let colour = |terminal, vars: &[(&str, &str)]| {
            let environment = environment(terminal, vars);
            (environment.colour, environment.redraws)
        };
        assert_eq!(colour(true, &[("NO_COLOR", ""), ("TERM", "xterm")]), (true, true));
        assert_eq!(colour(true, &[("NO_COLOR", "1"), ("TERM", "xterm")]), (false, true));
        assert_eq!(colour(true, &[("TERM", "dumb")]), (false, false));
        assert_eq!(colour(true, &[]), (false, false), "nothing is known of it");
        assert_eq!(colour(false, &[("TERM", "xterm")]), (false, false));
    }

    #[test]
    fn characters_follow_the_locale_in_the_order_of_the_c_library() {
        for (vars, unicode) in [
            (&[("LANG", "en_GB.UTF-8")][..], true),
            (&[("LC_ALL", ""), ("LANG", "C.utf8")], true),
            (&[("LC_CTYPE", "de_DE.UTF-8@euro"), ("LANG", "C")], true),
            (&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")], false),
            (&[("LANG", "en_US.ISO-8859-1")], false),
            (&[], false),
        ] {
            assert_eq!(environment(true, vars).unicode, unicode, "{vars:?}");
        }
    }

    #[test]
    fn columns_are_a_number_above_0_or_nothing() {
        for (text, columns) in [("132", Some(132)), (" 80 ", Some(80)), ("0", None), ("wide", None)]
        {
            assert_eq!(environment(false, &[("COLUMNS", text)]).columns, columns, "{text:?}");
        }
    }
}
