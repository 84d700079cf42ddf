//! Names of other tools that a model cannot count, and why.

use crate::CpuModel;

struct RefusalRow {
    /// A name, or the beginning of names if the last letter is `*`.
    name: &'static str,
    reason: &'static str,
    /// A bit for each table.
    models: u128,
}

mod packed {
    use super::RefusalRow;
    include!(concat!(env!("OUT_DIR"), "/refusals.rs"));
}

/// The reason why this model cannot count the event that another tool has under this name.
pub(crate) fn reason(cpu: CpuModel, name: &str) -> Option<&'static str> {
    let has = |row: &&RefusalRow| {
        let named = match row.name.strip_suffix('*') {
            Some(start) => name.get(..start.len()).is_some_and(|n| n.eq_ignore_ascii_case(start)),
            None => row.name.eq_ignore_ascii_case(name),
        };
        named && row.models >> cpu.index() & 1 != 0
    };
    // A linear search is enough: a name comes here after everything else failed.
    packed::REFUSALS.iter().find(has).map(|row| row.reason)
}
