//! `pacman-pmu report`: the page of a report that was written before.

use std::path::Path;

use pacman_core::atomic_write;
use pacman_events::shown::shown_path;

use crate::error::{CliError, CliResult};
use pacman_report::run::{page_of, read_report};

/// Writes the page, without `output` beside the report.
pub(crate) fn page(report: &Path, output: Option<&Path>) -> CliResult {
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
