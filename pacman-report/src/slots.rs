//! The shares of issue slots in JSON, and the headings of their columns: for `run` and `stat`.

use pacman_core::export::grid::Column;
use pacman_metrics::slots::SlotShares;
use serde::Serialize;

use crate::document::Quotient;

/// The categories as members of JSON.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Shares {
    /// Slots whose operation retired.
    #[cfg_attr(test, schemars(range(min = 0)))]
    retiring: Quotient,
    /// Slots lost to operations that never retired.
    #[cfg_attr(test, schemars(range(min = 0)))]
    bad_speculation: Quotient,
    /// Slots that the front end left empty.
    #[cfg_attr(test, schemars(range(min = 0)))]
    frontend_bound: Quotient,
    /// Slots for which the back end took no operation.
    #[cfg_attr(test, schemars(range(min = 0)))]
    backend_bound: Quotient,
    /// Slots for which the sibling was chosen; null where no event counts them.
    #[cfg_attr(test, schemars(range(min = 0)))]
    smt_contention: Option<Quotient>,
}

impl From<SlotShares> for Shares {
    fn from(shares: SlotShares) -> Shares {
        Shares {
            retiring: Quotient(shares.retiring),
            bad_speculation: Quotient(shares.bad_speculation),
            frontend_bound: Quotient(shares.frontend_bound),
            backend_bound: Quotient(shares.backend_bound),
            smt_contention: shares.smt_contention.map(Quotient),
        }
    }
}

/// The metrics of the categories, and their headings. Only some processors have the last one.
pub(crate) const CATEGORIES: [(&str, &str); 5] = [
    ("topdown-retiring", "retiring"),
    ("topdown-bad-speculation", "bad spec"),
    ("topdown-frontend-bound", "frontend"),
    ("topdown-backend-bound", "backend"),
    ("topdown-smt-contention", "SMT"),
];

/// The columns of the first so many categories.
pub(crate) fn headings(categories: usize) -> impl Iterator<Item = Column> {
    CATEGORIES.into_iter().take(categories).map(|(_, title)| Column::right(title, "%"))
}
