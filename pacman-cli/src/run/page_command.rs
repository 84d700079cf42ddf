//! `pacman-pmu report`: the page of a report that was written before.

use std::path::PathBuf;

use pacman_core::atomic_write;
use pacman_events::shown::shown_path;

use crate::error::{CliError, CliResult};
use pacman_report::run::{page_of, read_report};

/// Make the page of a JSON report, as `run -o FILE.html` does.
///
/// REPORT.json is a report of `pacman-pmu run -o FILE.json`, also one that was merged from MPI ranks. The page is one
/// file that any browser opens; it loads nothing.
#[derive(Debug, clap::Args)]
#[command(name = "report", after_help = EXAMPLES)]
pub(crate) struct PageArgs {
    /// The report
    #[arg(value_name = "REPORT.json")]
    report: PathBuf,

    /// Write the page to FILE (.html) [default: REPORT.html]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu report old.json
  pacman-pmu report old.json -o old.html

Exit status:
  0  done
  2  bad input: one line on standard error gives the reason
  4  the page could not be written";

/// Writes the page.
pub(crate) fn page(args: &PageArgs) -> CliResult {
    let output = args.output.clone().unwrap_or_else(|| args.report.with_extension("html"));
    let shown = shown_path(&output);
    let ending = output.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !["html", "htm"].contains(&&*ending.to_ascii_lowercase()) {
        return Err(CliError::BadInput(format!(
            "cannot write a page to {shown}: name a file that ends in .html"
        )));
    }
    if atomic_write::is_same(&args.report, &output) {
        return Err(CliError::BadInput(format!(
            "cannot write the page to {shown}: it is the report itself"
        )));
    }
    let document = read_report(&args.report, "draw")?;
    let page = page_of(&document).map_err(|error| {
        CliError::BadInput(format!("cannot draw {}: {error}", shown_path(&args.report)))
    })?;
    atomic_write::write(&output, page.as_bytes())
        .map_err(|error| CliError::unwritable(&output, &error))?;
    Ok(0)
}
