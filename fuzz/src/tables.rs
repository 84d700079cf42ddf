//! Tables that the command reads: counts, and training data.

use pacman_adapt::predict::training::{Dataset, machines};
use pacman_cli::parsers;
use pacman_events::CpuModel;
use pacman_metrics::budget::CostTable;

use crate::{is_readable, text};

/// Lines of `event,count`, counts of reports, budgets, and training data in long form.
pub fn tables(data: &[u8]) {
    let text = text(data);
    if let Ok(lines) = parsers::lines_with_counts(&text) {
        assert!(lines.iter().all(|line| *line > 0));
    }
    if let Ok(lines) = parsers::counts_of_report(&text) {
        assert!(!lines.is_empty() && lines.ends_with('\n'));
    }
    for model in ["niagara1", "niagara2"] {
        let model = CpuModel::named(model).expect("a model with costs");
        let table = CostTable::of(model).expect("its costs");
        let _ = parsers::counts_with_costs(&text, table);
    }
    let Ok(rows) = pacman_train::parsers::executions(&text) else { return };
    for machine in machines(&rows) {
        match Dataset::of(machine, &rows, None) {
            Ok(data) => assert!(!data.programs().is_empty() && !data.fingerprint().is_empty()),
            Err(error) => is_readable(error),
        }
    }
}
