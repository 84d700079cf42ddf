//! Saying no: one line on standard error, and the exit status that goes with it.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use clap::error::ContextKind;
use pacman_events::shown::{line, shown_path};

/// The exit status for arguments that make no sense.
pub(crate) const BAD_INPUT: u8 = 2;

/// The exit status when standard output, or the file that was named, cannot take the answer.
pub(crate) const UNWRITTEN: u8 = 4;

/// Writes one line about `problem` to standard error.
pub(crate) fn complain(problem: &str) {
    // With standard error closed too, the exit status has to say it alone.
    let _ = writeln!(io::stderr(), "pacman-pmu: {}", line(problem));
}

/// The exit status when the machine does not let a command do its work.
const REFUSED: u8 = 1;

/// A whole line about why a command gives up, and the exit status for it.
#[derive(Debug)]
struct GivenUp(String, u8);

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for GivenUp {}

/// Why a command gave up, and the exit status that goes with it.
///
/// A command reports bad input as [`ErrorKind::InvalidInput`], a file of the answer as
/// [`unwritable()`] and a system call that is refused as [`forbidden()`]; every other error comes
/// from writing the answer to standard output.
pub(crate) fn reason(error: &io::Error) -> (String, u8) {
    if let Some(GivenUp(why, status)) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
        (why.clone(), *status)
    } else if error.kind() == ErrorKind::InvalidInput {
        (one_line(&error.to_string()), BAD_INPUT)
    } else {
        (format!("cannot write the answer to standard output: {error}"), UNWRITTEN)
    }
}

/// The file that the answer was to go to cannot be made or written.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> io::Error {
    io::Error::other(GivenUp(unwritten(path, error), UNWRITTEN))
}

/// The system refuses a call that a command cannot do without.
pub(crate) fn forbidden(what: &str, call: &str, error: &io::Error) -> io::Error {
    let why = format!(
        "cannot {what}: {call} says {error}: a seccomp filter forbids it; allow {call} in the \
         container's profile"
    );
    io::Error::other(GivenUp(why, REFUSED))
}

/// The same in words.
pub(crate) fn unwritten(path: &Path, error: &io::Error) -> String {
    let advice = match error.kind() {
        ErrorKind::StorageFull => "make room, or name a file elsewhere",
        _ => "name a file in a directory that can be written",
    };
    format!("cannot write {}: {error}; {advice}", shown_path(path))
}

/// Why a program could not be started, and what helps.
pub(crate) fn unrunnable(program: impl AsRef<OsStr>, error: &io::Error) -> String {
    let program = program.as_ref();
    let file = Path::new(program);
    let advice = match error.kind() {
        _ if program.is_empty() => "; no program is named",
        ErrorKind::NotFound if !program.as_encoded_bytes().contains(&b'/') => {
            "; it is in no directory of PATH"
        }
        ErrorKind::NotFound if file.exists() => {
            "; the file is there, but not the interpreter or dynamic linker that it names"
        }
        ErrorKind::PermissionDenied if file.is_dir() => "; it is a directory: name a program in it",
        ErrorKind::PermissionDenied if file.is_file() => {
            "; make it executable with chmod +x, or name the interpreter before it"
        }
        _ => "",
    };
    let name = if program.is_empty() { OsStr::new("\"\"") } else { program };
    format!("cannot run {}: {error}{advice}", shown_path(name))
}

/// What was wrong with `arguments`, those behind the program's name.
pub(crate) fn usage(error: &clap::Error, arguments: &[String]) -> String {
    if let Some(problem) = negative(error, arguments) {
        return problem;
    }
    match error.kind() {
        clap::error::ErrorKind::MissingSubcommand
        | clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "no command was given; pacman-pmu --help lists them".into()
        }
        _ => {
            let text = error.render().to_string();
            let hint = if names_a_program(error, &text) { PROGRAMS_PLACE } else { "" };
            one_line(&text) + hint
        }
    }
}

/// A number below 0, which clap takes for an option and advises to put behind `--`: there it would
/// be the program to run.
fn negative(error: &clap::Error, arguments: &[String]) -> Option<String> {
    if error.kind() != clap::error::ErrorKind::UnknownArgument {
        return None;
    }
    let unknown = error.get(ContextKind::InvalidArg)?.to_string();
    let ours = || arguments.iter().take_while(|argument| *argument != "--");
    let below = |text: &String| text.starts_with('-') && text.parse::<f64>().is_ok();
    // Of -0.5 clap names the first letter only.
    let at = ours().position(|text| below(text) && text.starts_with(&unknown))?;
    let before = at.checked_sub(1).and_then(|before| arguments.get(before));
    let asked = before.filter(|option| option.starts_with('-') && !option.contains('='));
    let on = asked.map_or(String::new(), |option| format!(" for {option}"));
    Some(format!("cannot take {}{on}: numbers here are not below 0", arguments[at]))
}

/// Whether it is a word without a dash, for a command that takes a program.
fn names_a_program(error: &clap::Error, text: &str) -> bool {
    let word = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    error.kind() == clap::error::ErrorKind::UnknownArgument
        && word.is_some_and(|word| !word.starts_with('-'))
        && text.contains("-- <COMMAND>")
}

const PROGRAMS_PLACE: &str = "; a program and its arguments stand behind --";

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
    fn what_cannot_be_run_is_told_what_helps() {
        let words =
            |program: &str, code: i32| unrunnable(program, &io::Error::from_raw_os_error(code));
        for (said, whole) in [
            (
                words("no-such", libc::ENOENT),
                "cannot run no-such: No such file or directory (os error 2); it is in no directory \
                 of PATH",
            ),
            (
                words("/no/such", libc::ENOENT),
                "cannot run /no/such: No such file or directory (os error 2)",
            ),
            (
                words("/", libc::EACCES),
                "cannot run /: Permission denied (os error 13); it is a directory: name a program \
                 in it",
            ),
            (
                words("", libc::ENOENT),
                "cannot run \"\": No such file or directory (os error 2); no program is named",
            ),
        ] {
            assert_eq!(said, whole);
        }
        let own = std::env::current_exe().unwrap();
        let said = words(&own.to_string_lossy(), libc::ENOENT);
        assert!(said.contains("dynamic linker that it names"), "{said}");
        let said = words(&own.to_string_lossy(), libc::EACCES);
        assert!(said.contains("chmod +x"), "{said}");
        assert!(!words("a\nb/", libc::ENOENT).contains('\n'), "one line");
    }

    #[test]
    fn bad_input_and_bad_output_differ() {
        let refused = io::Error::new(ErrorKind::InvalidInput, "no such place");
        assert_eq!(reason(&refused), ("no such place".into(), BAD_INPUT));
        let (words, status) = reason(&ErrorKind::StorageFull.into());
        assert_eq!(words, "cannot write the answer to standard output: no storage space");
        assert_eq!(status, UNWRITTEN);
        let no_place = unwritable(Path::new("/no/file"), &ErrorKind::NotFound.into());
        let words = "cannot write /no/file: entity not found; name a file in a directory that can \
                     be written";
        assert_eq!(reason(&no_place), (words.into(), UNWRITTEN));
    }
}
