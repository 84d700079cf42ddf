//! `pacman-pmu doctor`: tests of what this machine can count, with causes and remedies.

pub(crate) mod checks;
mod json;
mod style;
#[cfg(test)]
mod tests;
mod text;

use std::io::Write;

use crate::doctor::checks::Diagnosis;
use crate::error::CliResult;
use pacman_report::document;

#[cfg(test)]
pub(crate) use json::Document;
use style::Style;

/// Test what this machine can count, and name causes and remedies.
///
/// Opens every kind of event for this process, as a session does, and lets it count. For each failure
/// the command finds the cause, and names a command that helps. It changes nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{JSON}"))]
pub(crate) struct DoctorArgs {
    /// Print the same findings as JSON
    #[arg(long)]
    json: bool,
}

/// Examines this process on this machine and writes the findings.
pub(crate) fn doctor(args: &DoctorArgs, out: &mut dyn Write) -> CliResult {
    let diagnosis = Diagnosis::examine();
    if args.json {
        document::write(out, &json::diagnosis(&diagnosis))?;
    } else {
        out.write_all(text::diagnosis(&diagnosis, &Style::of_stdout()).as_bytes())?;
    }
    Ok(diagnosis.verdict.exit_status())
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu doctor
  pacman-pmu doctor --json | jq -r '.findings[].help[].command // empty'
  pacman-pmu doctor > /dev/null && echo 'hardware counting works'

Exit status:
  0  hardware counting works
  1  nothing can be counted
  2  bad input
  3  only software events work
  4  the answer could not be written";

const JSON: &str = include_str!("../help/doctor.txt");
