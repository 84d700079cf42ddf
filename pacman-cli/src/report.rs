//! `pacman-pmu report`: the page of a report, or the history of many.

use std::io::Write;
use std::path::{Path, PathBuf};

use pacman_core::atomic_write;
use pacman_events::shown::shown_path;
use pacman_report::compare::Reports;
use pacman_report::run::{page_of, read_report};

use crate::compare::{form_of, write};
use crate::error::{CliError, CliResult};

/// Make the page of a JSON report, or show the history of many runs of a program.
///
/// REPORT.json is a report of `pacman-pmu run -o FILE.json`, also one that was merged from MPI ranks. One report becomes
/// the page that `run -o FILE.html` writes. Several are a history in the order as given: time, efficiency and waits of the
/// program and of each region in each run, and the change to the run before with its noise. A run has the label of its
/// report (run --label), or the name of its file; reports of one label are repeats of one run. A page is one file that any
/// browser opens; it loads nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{JSON}"))]
pub(crate) struct ReportArgs {
    /// The report, or the reports of a history
    #[arg(value_name = "REPORT.json", required = true)]
    reports: Vec<PathBuf>,

    /// Call a run slower or faster than the one before from this difference on, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    threshold: f64,

    /// Print a history as JSON
    #[arg(long)]
    json: bool,

    /// Write to FILE: the page of a report (.html), or a history (.txt, .json or .html) [default: REPORT.html for one report]
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu report old.json                  the page old.html
  pacman-pmu report old.json -o page.html
  pacman-pmu report old*.json                 a table of all runs
  pacman-pmu report old*.json -o history.html

Exit status:
  0  done
  2  bad input: one line on standard error gives the reason
  4  the page or history could not be written";

const JSON: &str = include_str!("help/history.txt");

/// Writes the page of one report, or the history of several.
pub(crate) fn report(args: &ReportArgs, out: &mut dyn Write) -> CliResult {
    let [_, _, ..] = &args.reports[..] else {
        if args.json {
            let shown = shown_path(&args.reports[0]);
            let why = format!("cannot show a history of {shown} alone: name a second report");
            return Err(CliError::bad_input(why));
        }
        return page(&args.reports[0], args.output.as_deref());
    };
    if !(0.0..=1000.0).contains(&args.threshold) {
        let why = format!("--threshold {}: give 0 to 1000 percent", args.threshold);
        return Err(CliError::BadInput(why));
    }
    let form = form_of(args.output.as_deref(), args.json, "a history")?;
    if let Some(path) = &args.output {
        if args.reports.iter().any(|report| atomic_write::is_same(report, path)) {
            let shown = shown_path(path);
            let why = format!("cannot write the history to {shown}: it is one of the reports");
            return Err(CliError::BadInput(why));
        }
    }
    let mut reports = Reports::default();
    for path in &args.reports {
        reports.add(path)?;
    }
    let history = reports.history(args.threshold / 100.0);
    write(args.output.as_deref(), out, |width| form.history(&history, width))?;
    Ok(0)
}

/// Writes the page, without `output` beside the report.
fn page(report: &Path, output: Option<&Path>) -> CliResult {
    let output = output.map_or_else(|| report.with_extension("html"), Path::to_path_buf);
    let shown = shown_path(&output);
    let ending = output.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !["html", "htm"].contains(&&*ending.to_ascii_lowercase()) {
        return Err(CliError::BadInput(format!(
            "cannot write a page to {shown}: name a file that ends in .html"
        )));
    }
    if atomic_write::is_same(report, &output) {
        return Err(CliError::BadInput(format!(
            "cannot write the page to {shown}: it is the report itself"
        )));
    }
    let document = read_report(report, "draw")?;
    let page = page_of(&document).map_err(|error| {
        CliError::BadInput(format!("cannot draw {}: {error}", shown_path(report)))
    })?;
    atomic_write::write(&output, page.as_bytes())
        .map_err(|error| CliError::unwritable(&output, &error))?;
    Ok(0)
}
