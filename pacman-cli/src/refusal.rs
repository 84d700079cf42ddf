//! Saying no: one line on standard error, and the exit status that goes with it.

use std::io::{self, ErrorKind, Write};

/// The exit status for arguments that make no sense.
pub(crate) const BAD_INPUT: u8 = 2;

/// The exit status when standard output cannot take the answer.
pub(crate) const UNWRITTEN: u8 = 4;

/// Writes one line about `problem` to standard error.
pub(crate) fn complain(problem: &str) {
    // With standard error closed too, the exit status has to say it alone.
    let _ = writeln!(io::stderr(), "pacman-pmu: {problem}");
}

/// Why a command gave up, and the exit status that goes with it.
///
/// A command reports bad input as [`ErrorKind::InvalidInput`]; every other
/// error comes from writing the answer.
pub(crate) fn reason(error: &io::Error) -> (String, u8) {
    if error.kind() == ErrorKind::InvalidInput {
        (one_line(&error.to_string()), BAD_INPUT)
    } else {
        (format!("cannot write the answer to standard output: {error}"), UNWRITTEN)
    }
}

/// What was wrong with the arguments.
pub(crate) fn usage(error: &clap::Error) -> String {
    match error.kind() {
        clap::error::ErrorKind::MissingSubcommand
        | clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "no command was given; pacman-pmu --help lists them".into()
        }
        _ => one_line(&error.render().to_string()),
    }
}

/// A message of several paragraphs as one line: what was wrong and the nearest
/// right thing, without the usage.
pub(crate) fn one_line(message: &str) -> String {
    let problem = message.split("\n\nUsage:").next().unwrap_or(message);
    let problem = problem.split("\n\nFor more information").next().unwrap_or(problem);
    let problem = problem.strip_prefix("error: ").unwrap_or(problem);
    let paragraphs: Vec<String> = problem
        .split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|paragraph| !paragraph.is_empty())
        .collect();
    paragraphs.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_become_clauses_and_usage_goes() {
        let message = "error: unrecognized subcommand 'doktor'\n\n  tip: a similar subcommand \
                       exists: 'doctor'\n\nUsage: pacman-pmu <COMMAND>\n\nFor more information, \
                       try '--help'.\n";
        assert_eq!(
            one_line(message),
            "unrecognized subcommand 'doktor'; tip: a similar subcommand exists: 'doctor'"
        );
        assert_eq!(one_line("error: missing:\n  <A>\n  <B>\n\nUsage: x\n"), "missing: <A> <B>");
        assert_eq!(one_line("plain"), "plain");
    }

    #[test]
    fn bad_input_and_bad_output_differ() {
        let refused = io::Error::new(ErrorKind::InvalidInput, "no such place");
        assert_eq!(reason(&refused), ("no such place".into(), BAD_INPUT));
        let (words, status) = reason(&ErrorKind::StorageFull.into());
        assert_eq!(words, "cannot write the answer to standard output: no storage space");
        assert_eq!(status, UNWRITTEN);
    }
}
