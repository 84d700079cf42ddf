//! How much of a report its text has.

/// The parts of a report that its reader asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::run) struct Extent {
    /// On a terminal, where a report is between the program's output and the prompt.
    pub(in crate::run) is_short: bool,
    /// A line for each thread of wide teams, too.
    pub(in crate::run) each_thread: bool,
}
