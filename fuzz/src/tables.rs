//! Tables that the command reads: counts, and training data.

use pacman_adapt::predict::training::{Dataset, machines};
use pacman_events::CpuModel;
use pacman_metrics::budget::CostTable;

use crate::{counts, is_readable, text};

#[allow(dead_code, reason = "the command uses the rest")]
#[path = "../../pacman-cli/src/budget/counts.rs"]
mod budget;
#[allow(dead_code, reason = "the command uses the rest")]
#[path = "../../pacman-cli/src/model/table.rs"]
mod training;

#[path = "../../pacman-cli/src/model/refusal.rs"]
mod refusal;

/// Lines of `event,count`, budgets, and training data in long form.
pub fn tables(data: &[u8]) {
    let text = text(data);
    if let Ok(counts) = counts::parse(&text) {
        assert!(counts.iter().all(|one| one.line > 0));
    }
    for model in ["niagara1", "niagara2"] {
        let model = CpuModel::named(model).expect("a model with costs");
        let table = CostTable::of(model).expect("its costs");
        let _ = budget::Counts::parse(&text, table);
    }
    let defaults = training::Defaults { machine: Some("m"), program: Some("p") };
    let Ok(table) = training::Table::parse(&text, &defaults) else { return };
    for machine in machines(&table.rows) {
        match Dataset::of(machine, &table.rows, None) {
            Ok(data) => assert!(!data.programs().is_empty() && !data.fingerprint().is_empty()),
            Err(error) => is_readable(error),
        }
    }
}
