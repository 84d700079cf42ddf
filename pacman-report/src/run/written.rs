//! Reports that `run` wrote before.

use std::fs;
use std::path::Path;

use pacman_events::shown::shown_path;
use pacman_events::{Error, ErrorKind, Result};
use serde::Deserialize;

use super::json::VERSION;

#[derive(Deserialize)]
struct Heading {
    format: String,
    version: u32,
}

/// The text of a JSON report; `purpose` is the verb of the error line.
///
/// # Errors
/// If it cannot be read, or is not a report of `run` in the present version of the format.
pub fn read_report(path: &Path, purpose: &str) -> Result<Vec<u8>> {
    let shown = shown_path(path);
    let text = fs::read(path).map_err(|error| {
        Error::new(ErrorKind::InvalidInput, format!("cannot read {shown}: {error}"))
    })?;
    let wrong = |why: String| {
        Error::new(ErrorKind::InvalidInput, format!("cannot {purpose} {shown}: {why}"))
    };
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
    Ok(text)
}
