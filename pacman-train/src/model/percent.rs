//! Shares for people.

/// A share as a percentage.
pub(super) fn percent(share: f64, digits: usize) -> String {
    format!("{:.digits$} %", 100.0 * share)
}
