//! Whether a counter group shares the hardware counters with other groups.

/// Whether a counter group is pinned to the hardware counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// The group is on the counters whenever the thread runs; otherwise reading it is an error.
    /// So counts are exact.
    #[default]
    Pinned,
    /// The kernel may multiplex the group with others. Counts are raw, and a reading also has
    /// the times that the group was enabled and running.
    Multiplexed,
    /// As [`Multiplexed`](Sharing::Multiplexed), for event sets that rotate. A group that was never
    /// on the counters is read without an error: its running time is 0.
    Rotating,
}
