//! Parsers of input that others write, for the fuzz targets: they return what those check.

use std::error::Error;
use std::path::Path;

use pacman_metrics::budget::CostTable;

use pacman_report::report_counts;
use pacman_report::run::names::Module;

use crate::elf;
use crate::{budget, counts};

/// Numbers of the lines of a file that have counts.
///
/// # Errors
/// The first line that is not valid.
pub fn lines_with_counts(text: &str) -> Result<Vec<usize>, Box<dyn Error>> {
    Ok(counts::parse(text)?.iter().map(|counted| counted.line).collect())
}

/// Counts of a JSON report of `stat`, `run` or a session, each as a line of `event,count`.
///
/// # Errors
/// The reason why the report has no counts.
pub fn counts_of_report(text: &str) -> Result<String, Box<dyn Error>> {
    Ok(report_counts::of_report(text, None)?)
}

/// The number of counts that have a cost in `table`.
///
/// # Errors
/// The first line that is not valid.
pub fn counts_with_costs(text: &str, table: &CostTable) -> Result<usize, Box<dyn Error>> {
    Ok(budget::counts::Counts::parse(text, table)?.events.len())
}

/// Whether the file is an ELF file whose headers are valid.
pub fn has_elf_header(path: &Path) -> bool {
    elf::header(path).is_some()
}

/// Names and places of code that the file has at `addresses`, each with its line if known.
///
/// # Errors
/// A file that is gone or not valid.
pub fn names_in(path: &Path, addresses: &[u64]) -> Result<Vec<String>, Box<dyn Error>> {
    let module = Module::read(path, |_, _| Ok(()))?;
    let at = |&address: &u64| {
        let place = module.place_of(address).map(|(file, _)| file);
        [module.symbol_at(address), module.around(address), place]
    };
    Ok(addresses.iter().flat_map(at).flatten().collect())
}
