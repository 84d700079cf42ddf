//! The parser of training data, for the fuzz targets: it returns what it checks.

use std::error::Error;

use pacman_adapt::predict::training::Row;

use crate::model::table::{Defaults, Table};

/// Executions from a table in long form, by default on machine `m` and of program `p`.
///
/// # Errors
/// The first column or line that is not valid.
pub fn executions(text: &str) -> Result<Vec<Row>, Box<dyn Error>> {
    let defaults = Defaults { machine: Some("m"), program: Some("p") };
    Ok(Table::parse(text, &defaults)?.rows)
}
