//! Counts of reports, for the commands that read lines of `event,count`.

use std::path::Path;

use pacman_report::report_counts;

use crate::counts;
use crate::error::{self, CliError, CliResult};

/// The counts of a file as lines of `event,count`: the file's own, or those of a JSON report.
///
/// `phase` names a region of `run` or a phase of a session. It may be missing if the report has one.
///
/// # Errors
/// `BadInput` for a file that cannot be read, for a report without complete counts, and for a phase
/// that is missing or that is not there. The line names the file.
pub(crate) fn read(file: &Path, phase: Option<&str>) -> CliResult<String> {
    let text = counts::read(file)?;
    let answer = if text.trim_start().starts_with('{') {
        report_counts::of_report(&text, phase)
    } else if phase.is_some() {
        Err("--phase needs a JSON report of run or of a session".to_owned())
    } else {
        return Ok(text);
    };
    let lines = answer.map_err(|why| CliError::BadInput(why).within(counts::named(file)))?;
    if let Some(note) = report_counts::estimates(&text, phase) {
        error::complain(format!("{}: {note}", counts::named(file)));
    }
    Ok(lines)
}
