//! Errors of commands: one line on standard error, and the exit status that goes with it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use clap::error::ContextKind;
use pacman_events::shown::{line, shown_path};

/// Why a command gives up: one line for standard error, and by its kind the exit status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CliError {
    /// Invalid arguments or files.
    BadInput(String),
    /// The machine, the system or the program cannot satisfy the request.
    Refused(String),
    /// Standard output, or the file that was named, cannot take the answer.
    Unwritable(String),
    /// The program to run cannot be started.
    NotRunnable(String),
    /// The program was not found.
    NotFound(String),
}

/// An answer of a command, which is its exit status if nothing else is said.
pub type CliResult<T = u8> = Result<T, CliError>;

/// The exit status of [`CliError::BadInput`], for a command that answers several inputs.
pub(crate) const BAD_INPUT: u8 = 2;
/// The exit status of [`CliError::Refused`], likewise.
pub(crate) const REFUSED: u8 = 1;
/// The exit status of [`CliError::Unwritable`], for a command that ran a program.
pub(crate) const UNWRITABLE: u8 = 4;

impl CliError {
    /// The exit status. 126 and 127 are those of shells.
    pub fn status(&self) -> u8 {
        match self {
            CliError::Refused(_) => REFUSED,
            CliError::BadInput(_) => BAD_INPUT,
            CliError::Unwritable(_) => UNWRITABLE,
            CliError::NotRunnable(_) => 126,
            CliError::NotFound(_) => 127,
        }
    }

    /// Writes the line to standard error and returns the exit status.
    pub fn complain(&self) -> u8 {
        complain(self);
        self.status()
    }

    /// [`CliError::BadInput`] with that line.
    pub fn bad_input(problem: impl fmt::Display) -> CliError {
        CliError::BadInput(problem.to_string())
    }

    /// [`CliError::Refused`] with that line.
    pub fn refused(problem: impl fmt::Display) -> CliError {
        CliError::Refused(problem.to_string())
    }

    /// The file that the answer was to go to cannot be made or written.
    pub fn unwritable(path: &Path, error: &io::Error) -> CliError {
        let advice = match error.kind() {
            ErrorKind::StorageFull => "make room, or name a file elsewhere",
            _ => "name a file in a directory that can be written",
        };
        CliError::Unwritable(format!("cannot write {}: {error}; {advice}", shown_path(path)))
    }

    /// A program could not be started, and what helps.
    pub fn not_run(program: impl AsRef<OsStr>, error: &io::Error) -> CliError {
        let problem = unrunnable(program.as_ref(), error);
        match error.raw_os_error() {
            Some(libc::ENOENT) => CliError::NotFound(problem),
            _ => CliError::NotRunnable(problem),
        }
    }

    /// The system refuses a call that a command cannot do without.
    pub(crate) fn forbidden(what: &str, call: &str, error: &io::Error) -> CliError {
        CliError::Refused(format!(
            "cannot {what}: {call} says {error}: a seccomp filter forbids it; allow {call} in the \
             container's profile"
        ))
    }

    /// The same with `place` before the line: a file, a line of it, an option.
    pub fn within(mut self, place: impl fmt::Display) -> CliError {
        let line = match &mut self {
            CliError::BadInput(line)
            | CliError::Refused(line)
            | CliError::Unwritable(line)
            | CliError::NotRunnable(line)
            | CliError::NotFound(line) => line,
        };
        line.insert_str(0, &format!("{place}: "));
        self
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (CliError::BadInput(line)
        | CliError::Refused(line)
        | CliError::Unwritable(line)
        | CliError::NotRunnable(line)
        | CliError::NotFound(line)) = self;
        f.write_str(line)
    }
}

impl std::error::Error for CliError {}

/// This conversion is for writes to standard output. Code with other errors converts them itself.
impl From<io::Error> for CliError {
    fn from(error: io::Error) -> CliError {
        CliError::Unwritable(format!("cannot write the answer to standard output: {error}"))
    }
}

/// A wrong request differs from a refusal of this machine.
impl From<pacman_core::Error> for CliError {
    fn from(error: pacman_core::Error) -> CliError {
        use pacman_core::ErrorKind as Kind;
        match error.kind() {
            Kind::Empty
            | Kind::InvalidInput
            | Kind::NoSuchPlace
            | Kind::OtherModel
            | Kind::TooManyEvents
            | Kind::UnknownEvent => CliError::bad_input(error),
            _ => CliError::refused(error),
        }
    }
}

/// Writes one line about `problem` to standard error.
pub fn complain(problem: impl fmt::Display) {
    // If standard error is closed too, only the exit status reports the problem.
    let _ = writeln!(io::stderr(), "pacman-pmu: {}", line(&problem.to_string()));
}

/// Why a program could not be started, and what helps.
pub(crate) fn unrunnable(program: &OsStr, error: &io::Error) -> String {
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

/// The error of a command line of `words`, with advice if there is some.
pub(crate) fn usage(error: &clap::Error, words: &[OsString], advice: Option<&str>) -> CliError {
    if let Some(problem) = negative(error, words) {
        return CliError::BadInput(problem);
    }
    CliError::BadInput(match error.kind() {
        clap::error::ErrorKind::MissingSubcommand
        | clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "no command was given; pacman-pmu --help lists them".into()
        }
        _ => {
            let said = one_line(&error.render().to_string());
            match advice {
                // clap takes the unknown option for a value.
                Some(advice) => {
                    let problem = said.split("; tip: ").next().unwrap_or(&said);
                    format!("{problem}; {advice}")
                }
                None => said,
            }
        }
    })
}

/// A number below 0, which clap takes for an option and advises to put behind `--`: there it would
/// be the program to run.
fn negative(error: &clap::Error, words: &[OsString]) -> Option<String> {
    if error.kind() != clap::error::ErrorKind::UnknownArgument {
        return None;
    }
    let unknown = error.get(ContextKind::InvalidArg)?.to_string();
    let words = words.iter().skip(1).take_while(|word| *word != "--");
    let ours: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let below = |text: &String| text.starts_with('-') && text.parse::<f64>().is_ok();
    // Of -0.5 clap names the first letter only.
    let at = ours.iter().position(|text| below(text) && text.starts_with(&unknown))?;
    let before = at.checked_sub(1).and_then(|before| ours.get(before));
    let asked = before.filter(|option| option.starts_with('-') && !option.contains('='));
    let on = asked.map_or(String::new(), |option| format!(" for {option}"));
    Some(format!("cannot take {}{on}: numbers here are not below 0", ours[at]))
}

/// Makes one line of a message of several paragraphs: the mistake and the nearest valid form,
/// without the usage.
fn one_line(message: &str) -> String {
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
    use crate::tests::snapshot::snapshot;

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
        let words = |program: &str, code: i32| {
            unrunnable(program.as_ref(), &io::Error::from_raw_os_error(code))
        };
        let own = std::env::current_exe().unwrap();
        let own = own.to_string_lossy();
        let lines = [
            words("no-such", libc::ENOENT),
            words("/no/such", libc::ENOENT),
            words("/", libc::EACCES),
            words("", libc::ENOENT),
            words(&own, libc::ENOENT),
            words(&own, libc::EACCES),
        ];
        let lines = (lines.join("\n") + "\n").replace(&*own, "/bin/program");
        snapshot("not-run.txt", &lines);
        assert!(!words("a\nb/", libc::ENOENT).contains('\n'), "one line");
    }

    #[test]
    fn each_kind_has_its_line_and_its_status() {
        let refused = CliError::bad_input("no such place").within("line 3");
        let full = CliError::from(io::Error::from(ErrorKind::StorageFull));
        let no_place = CliError::unwritable(Path::new("/no/file"), &ErrorKind::NotFound.into());
        let all = [(refused, 2), (full, 4), (no_place, 4)];
        let lines = all.map(|(error, status)| {
            assert_eq!(error.status(), status, "{error}");
            format!("{error}\n")
        });
        snapshot("errors.txt", &lines.concat());
        let statuses = [libc::ENOENT, libc::EACCES]
            .map(|code| CliError::not_run("x", &io::Error::from_raw_os_error(code)).status());
        assert_eq!(statuses, [127, 126]);
    }
}
