//! How much of a report its text has.

/// The parts of a report that its reader asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// On a terminal, where a report is between the program's output and the prompt.
    pub is_short: bool,
    /// A line for each thread of wide teams, too.
    pub each_thread: bool,
}
