//! Whether groups share counters with others.

/// Whether a group insists on its counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// On the counters whenever the thread runs, or an error: counts are exact.
    #[default]
    Pinned,
    /// The kernel may multiplex groups; counts stay raw, and the
    /// times that the group was enabled and running are kept beside them.
    Multiplexed,
}
