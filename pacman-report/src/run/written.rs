//! Reports that `run` wrote before.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use pacman_events::shown::shown_path;
use pacman_events::{Error, ErrorKind, Result};
use serde::Deserialize;

use super::json::VERSION;
use crate::document;

/// The most bytes of a report.
const MOST_BYTES: u64 = 1 << 30;

#[derive(Deserialize)]
struct Heading {
    format: String,
    version: u32,
}

/// The text of a JSON report; `purpose` is the verb of the error line.
///
/// # Errors
/// If it cannot be read, is not a report of `run` in the present version of the format, or has a number that no JSON has.
pub fn read_report(path: &Path, purpose: &str) -> Result<Vec<u8>> {
    let shown = shown_path(path);
    let wrong = |why: String| {
        Error::new(ErrorKind::InvalidInput, format!("cannot {purpose} {shown}: {why}"))
    };
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut text));
    read.map_err(|error| {
        Error::new(ErrorKind::InvalidInput, format!("cannot read {shown}: {error}"))
    })?;
    if text.len() as u64 > MOST_BYTES {
        return Err(wrong(format!("it has more than {} GiB", MOST_BYTES >> 30)));
    }
    let heading: Heading = serde_json::from_slice(&text).map_err(|_| {
        wrong("it is not a JSON report; pacman-pmu run -o FILE.json writes one".into())
    })?;
    if heading.format != "pacman-run" {
        let format = heading.format;
        return Err(wrong(format!("it is a {format}, not a report of pacman-pmu run")));
    }
    if heading.version != VERSION {
        let version = heading.version;
        return Err(wrong(format!(
            "it has version {version} of the format, not {VERSION}: run the program again"
        )));
    }
    document::check(&text).map_err(|error| wrong(format!("{error}; run the program again")))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_the_limit() {
        let error = read_report(Path::new("/dev/zero"), "compare").unwrap_err();
        assert_eq!(error.to_string(), "cannot compare /dev/zero: it has more than 1 GiB");
    }
}
