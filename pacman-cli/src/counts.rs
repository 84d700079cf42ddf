//! Counts as lines of `event,count`, the form in which commands read them.

use std::io;
use std::path::Path;

use pacman_core::input::{self, MOST_BYTES};
use pacman_events::shown::shown_path;

use crate::error::{CliError, CliResult};

/// One line of such a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted<'a> {
    /// The line's number, from 1.
    pub(crate) line: usize,
    /// The event's name without quotes.
    pub(crate) event: &'a str,
    pub(crate) count: u64,
}

/// Reads all lines; an error names the line.
///
/// Empty lines, lines that begin with `#` and a first line `event,count` are ignored. A name in
/// quotes may have commas in it. No event is counted twice, in any case of its letters.
pub(crate) fn parse(text: &str) -> CliResult<Vec<Counted<'_>>> {
    let mut counts: Vec<Counted<'_>> = Vec::new();
    let mut first = true;
    // Spreadsheets put a byte order mark in front.
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let heading = std::mem::take(&mut first);
        let at = |why: String| CliError::BadInput(format!("line {}: {why}", index + 1));
        // The last comma: names such as cpu/event=0x3c,umask=0/ have some themselves.
        let Some((event, count)) = line.rsplit_once(',') else {
            return Err(at(format!("{line:?} is not event,count")));
        };
        let (event, count) = (unquoted(event), unquoted(count));
        if heading && event.eq_ignore_ascii_case("event") && count.eq_ignore_ascii_case("count") {
            continue;
        }
        let count: u64 = count
            .parse()
            .map_err(|_| at(format!("{count:?} is not a count from 0 to {}", u64::MAX)))?;
        if counts.iter().any(|known| known.event.eq_ignore_ascii_case(event)) {
            return Err(at(format!("{event:?} was counted above already")));
        }
        if counts.len() == MOST_EVENTS {
            return Err(at(format!("a file has at most {MOST_EVENTS} counts")));
        }
        counts.push(Counted { line: index + 1, event, count });
    }
    Ok(counts)
}

/// The text of a file; `-` is standard input.
///
/// # Errors
/// `BadInput` for a file that cannot be read, that is not text, or that is longer than
/// [`MOST_BYTES`].
pub fn read(file: &Path) -> CliResult<String> {
    let text = if is_standard_input(file) {
        input::text_of(io::stdin().lock(), MOST_BYTES)
    } else {
        input::read_text(file, MOST_BYTES)
    };
    text.map_err(|error| CliError::BadInput(format!("cannot read {}: {error}", named(file))))
}

/// A file's name in messages.
pub fn named(file: &Path) -> String {
    if is_standard_input(file) { "standard input".into() } else { shown_path(file).to_string() }
}

/// Whether the file is standard input: `-`.
pub fn is_standard_input(file: &Path) -> bool {
    file == Path::new("-")
}

/// More events than any processor has; keeps looking for equal names, each among all, short.
const MOST_EVENTS: usize = 4096;

fn unquoted(field: &str) -> &str {
    let field = field.trim();
    field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_have_commas_and_quotes() {
        let text = "\u{feff}Event, Count\n\n# one\n\"cpu/event=0x3c,umask=0/u\", 7\nA:c=1,\"8\"\n";
        let counts = parse(text).unwrap();
        let read: Vec<_> = counts.iter().map(|one| (one.line, one.event, one.count)).collect();
        assert_eq!(read, [(4, "cpu/event=0x3c,umask=0/u", 7), (5, "A:c=1", 8)]);
    }

    #[test]
    fn lines_without_a_count_are_refused() {
        for (text, why) in [
            ("A", "line 1: \"A\" is not event,count"),
            ("A,1\nB,1.5", "line 2: \"1.5\" is not a count from 0 to 18446744073709551615"),
            ("A,1\n\na,1", "line 3: \"a\" was counted above already"),
            ("A,18446744073709551616", "line 1: \"18446744073709551616\" is not a count"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string().get(..why.len()), Some(why));
        }
        assert_eq!(read(Path::new("/nonexistent")).unwrap_err().status(), 2);
    }
}
