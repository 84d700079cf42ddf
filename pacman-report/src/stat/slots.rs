//! The shares of issue slots in a row's counts.
//!
//! Counts of Sandy Bridge to Skylake have none here: a thread's slots depend on how long its sibling ran
//! beside it, and rows do not tell.

use pacman_core::export::grid;
use pacman_metrics::slots::SlotShares;

use super::figures::{Columns, Figures};
use crate::slots::{self, CATEGORIES};

/// The headings of the shares; none without their events.
pub(super) fn headings(columns: &Columns) -> Vec<grid::Column> {
    slots::headings(categories(columns)).collect()
}

/// Whether a metric is one of these shares.
pub(super) fn shows(columns: &Columns, metric: &str) -> bool {
    CATEGORIES[..categories(columns)].iter().any(|(name, _)| *name == metric)
}

/// A row's shares in percent, as many as [`headings`].
pub(super) fn cells(columns: &Columns, figures: &Figures) -> Vec<String> {
    let all = shares(columns, figures).map_or([None; 5], |shares| shares.parts());
    let text = |share: Option<f64>| {
        share.map_or_else(|| "-".into(), |share| format!("{:.1}", 100.0 * share))
    };
    all.into_iter().take(categories(columns)).map(text).collect()
}

/// `None` if not all events were counted, or a row is missing.
pub(super) fn shares(columns: &Columns, figures: &Figures) -> Option<SlotShares> {
    let follow = figures.missing == 0 && figures.derived.is_none();
    let counts = figures.counts.as_ref().filter(|_| follow)?;
    let first = place(columns, "SLOTS")?;
    let of_one_time = |at: &usize| columns.share_time(*at, first);
    SlotShares::of(|name| counts[place(columns, name).filter(of_one_time)?].value()).ok()
}

/// How many categories the events have.
fn categories(columns: &Columns) -> usize {
    let has = |name: &str| place(columns, name).is_some();
    let retiring = has("TOPDOWN_RETIRING") || has("OP_RETIRED");
    match (has("SLOTS") && retiring, has("TOPDOWN_SMT_CONTENTION")) {
        (false, _) => 0,
        (true, false) => 4,
        (true, true) => 5,
    }
}

fn place(columns: &Columns, name: &str) -> Option<usize> {
    columns.events.iter().position(|event| event.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::super::count::Count;
    use super::super::figures::Column;
    use super::*;

    #[test]
    fn shares_follow_where_all_events_of_slots_were_counted() {
        let column = |name: &str| Column {
            name: name.into(),
            unit: "slots",
            hardware: true,
            doubt: None,
            table: None,
        };
        let names = [
            "SLOTS",
            "TOPDOWN_RETIRING",
            "TOPDOWN_DISPATCHED",
            "TOPDOWN_FRONTEND_BOUND",
            "TOPDOWN_BACKEND_BOUND",
            "TOPDOWN_SMT_CONTENTION",
        ];
        let columns = Columns::new(names.map(column).into());
        let counts = [6_000, 1_500, 1_800, 1_200, 2_100, 900].map(Count::exact);
        let counts = Some(counts.into());
        let mut figures = Figures { counts, ..Figures::default() };
        assert_eq!(headings(&columns).len(), 5);
        assert_eq!(cells(&columns, &figures), ["25.0", "5.0", "20.0", "35.0", "15.0"]);
        figures.missing = 1;
        assert_eq!(cells(&columns, &figures), ["-"; 5]);
        assert!(shares(&columns, &figures).is_none());
        let others = Columns::new(vec![column("CYCLES"), column("SLOTS")]);
        assert!(headings(&others).is_empty() && cells(&others, &figures).is_empty());
    }
}
