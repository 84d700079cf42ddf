//! The words of a command line as people type them, with habits from perf.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use clap::error::{ContextKind, ErrorKind};

/// The words of the process's arguments in their full form. `adapt` is `run --adapt`. A path in the place of a command, or
/// any word behind `--` there, is a program to run: no command has a slash or stands behind dashes.
///
/// `definition` has the options that may come before a command.
pub fn in_full(
    words: impl IntoIterator<Item = OsString>,
    definition: impl FnOnce() -> clap::Command,
) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let Some(at) = command_at(&words, definition) else { return words };
    let instead: &[&str] = match words[at].as_bytes() {
        b"adapt" => {
            words.remove(at);
            &["run", "--adapt"]
        }
        b"help" if words.get(at + 1).is_some_and(|word| word == "adapt") => {
            words.truncate(at);
            &["help", "run"]
        }
        b"--" => {
            words.remove(at);
            &["run", "--"]
        }
        path if path.contains(&b'/') => &["run", "--"],
        _ => return words,
    };
    words.splice(at..at, instead.iter().map(OsString::from));
    words
}

/// The place of the command among the words, or of `--`: the first word behind the program's name that is neither an option
/// nor the value of one.
pub(crate) fn command_at(
    words: &[OsString],
    definition: impl FnOnce() -> clap::Command,
) -> Option<usize> {
    let is_option = |word: &OsStr| word.as_bytes().starts_with(b"-") && word != "--";
    let first = words.get(1)?;
    if !is_option(first) {
        return Some(1);
    }
    let definition = definition();
    let takes_value = |option: &OsStr| {
        let name = option.to_str().and_then(|option| option.strip_prefix("--"));
        let mut own = definition.get_arguments().filter(|own| own.get_action().takes_values());
        own.any(|own| own.get_long().is_some() && own.get_long() == name)
    };
    let mut at = 1;
    while is_option(words.get(at)?) {
        at += if takes_value(&words[at]) { 2 } else { 1 };
    }
    words.get(at).map(|_| at)
}

/// The items of an option that may be repeated, as one list; `None` without any.
pub(crate) fn one_list(lists: &[String]) -> Option<String> {
    (!lists.is_empty()).then(|| lists.join(","))
}

/// Options of `perf stat`, and the option of this command for each.
const OF_PERF: [(&[&str], &str); 8] = [
    (&["-x", "--field-separator"], "--csv prints a line for each row"),
    (&["-d", "--detailed"], "without -e the usual events are counted; pacman-pmu list has others"),
    (&["-A", "--no-aggr"], "-a prints a row for each hardware context"),
    (&["-C", "--cpu"], "-a counts every hardware context, with a row for each"),
    (&["-t", "--tid"], "-p PID counts the threads of a process, with a row for each"),
    (&["-M", "--metrics"], "pacman-pmu metrics computes metrics from the report of --json"),
    (&["--per-socket", "--per-die", "--per-node"], "--per-core prints a row for each core"),
    (&["-S", "--sync", "-B", "--big-num", "-n", "--null"], "it has no counterpart here"),
];

/// Advice on an option of `perf stat` that this command line has where `stat` has none of that name.
pub(crate) fn advice(
    error: &clap::Error,
    words: &[OsString],
    definition: impl FnOnce() -> clap::Command,
) -> Option<&'static str> {
    if error.kind() != ErrorKind::UnknownArgument || words[command_at(words, definition)?] != "stat"
    {
        return None;
    }
    let unknown = error.get(ContextKind::InvalidArg)?.to_string();
    OF_PERF.iter().find(|(names, _)| names.contains(&&*unknown)).map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::command::{Cli, Command};

    fn full(line: &str) -> String {
        let words = ["pacman-pmu"].into_iter().chain(line.split_whitespace()).map(OsString::from);
        let words = in_full(words, Cli::<Command>::command);
        let words: Vec<_> = words.iter().skip(1).map(|word| word.to_str().unwrap()).collect();
        words.join(" ")
    }

    #[test]
    fn a_path_in_the_place_of_a_command_is_run() {
        for (typed, whole) in [
            ("./app -v 4", "run -- ./app -v 4"),
            ("/bin/true", "run -- /bin/true"),
            ("--machine zen4 ./app", "--machine zen4 run -- ./app"),
            ("--machine=zen4 --trust-driver ./app", "--machine=zen4 --trust-driver run -- ./app"),
            ("adapt ./app adapt", "run --adapt ./app adapt"),
            (
                "--machine adapt adapt --narrow -- ./app",
                "--machine adapt run --adapt --narrow -- ./app",
            ),
            ("-- app -v", "run -- app -v"),
            ("--machine zen4 -- ./app", "--machine zen4 run -- ./app"),
            ("--", "run --"),
            ("help adapt", "help run"),
            ("help stat", "help stat"),
            ("stat ./app", "stat ./app"),
            ("run adapt", "run adapt"),
            ("doctor", "doctor"),
            ("--help", "--help"),
            ("--machine", "--machine"),
            ("", ""),
        ] {
            assert_eq!(full(typed), whole);
        }
    }

    #[test]
    fn options_of_perf_have_advice_or_are_options_of_stat() {
        let mut stat = Cli::<Command>::command();
        let stat = stat.find_subcommand_mut("stat").unwrap();
        for name in OF_PERF.iter().flat_map(|(names, _)| *names) {
            let taken = |own: &clap::Arg| {
                own.get_long().is_some_and(|long| name.strip_prefix("--") == Some(long))
                    || own.get_short().is_some_and(|short| **name == format!("-{short}"))
            };
            assert!(!stat.get_arguments().any(taken), "{name} is one of stat's");
            let words = ["pacman-pmu", "stat", name, "./app"].map(OsString::from);
            let error = Cli::<Command>::command().try_get_matches_from(&words).unwrap_err();
            assert!(advice(&error, &words, Cli::<Command>::command).is_some(), "{name}");
        }
        let words = ["pacman-pmu", "run", "-x", "stat"].map(OsString::from);
        let error = Cli::<Command>::command().try_get_matches_from(&words).unwrap_err();
        assert_eq!(advice(&error, &words, Cli::<Command>::command), None, "it is an option of run");
    }

    #[test]
    fn lists_are_joined() {
        assert_eq!(one_list(&[]), None);
        assert_eq!(one_list(&["a,b".into(), "c".into()]).as_deref(), Some("a,b,c"));
    }
}
