//! Counts of the events that have a cost, and of cycles.

use pacman_metrics::budget::CostTable;

use crate::counts;
use crate::error::{CliError, CliResult};

/// The content of a file of counts.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Counts<'a> {
    /// Events and counts, in the file's order.
    pub(crate) events: Vec<(&'a str, u64)>,
    /// The count named `cycles`.
    pub(super) cycles: Option<u64>,
}

impl<'a> Counts<'a> {
    /// Reads all lines; an error names the line.
    pub(crate) fn parse(text: &'a str, table: &CostTable) -> CliResult<Counts<'a>> {
        let mut counts = Counts::default();
        for counted in counts::parse(text)? {
            let event = counted.event;
            if event.eq_ignore_ascii_case(CYCLES) {
                counts.cycles = Some(counted.count);
            } else if table.cost(event).is_some() {
                counts.events.push((event, counted.count));
            } else {
                let known: Vec<&str> = table.costs.iter().map(|cost| cost.event).collect();
                return Err(CliError::BadInput(format!(
                    "line {}: {event:?} is not an event with a cost on {}, which has {} and {CYCLES}",
                    counted.line,
                    table.title,
                    known.join(", ")
                )));
            }
        }
        Ok(counts)
    }
}

/// The name of a count that is not in the table.
const CYCLES: &str = "cycles";
