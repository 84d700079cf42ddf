//! The colours of regions.

/// The class that colours a region: the first ones have colours, the others share one.
pub(super) fn colour(region: usize) -> String {
    if region < COLOURS { format!("c{region}") } else { "cx".into() }
}

/// As many as can be told from each other.
pub(super) const COLOURS: usize = 8;
