//! The changes that would make a context, or its core, do more.

/// One thing that would help.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Remedy {
    /// Which.
    pub kind: RemedyKind,
    /// How many times more work per second is the most it can bring; `None` where it is in
    /// proportion to what is removed.
    pub gain: Option<f64>,
    /// Why, in words.
    pub why: String,
}

/// The kinds of help, the most effective first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RemedyKind {
    /// Run more threads: each has a budget of its own.
    MoreThreads,
    /// Execute fewer instructions.
    FewerInstructions,
    /// Stall less.
    FewerStalls,
}

impl RemedyKind {
    /// The kind in words.
    pub fn title(self) -> &'static str {
        match self {
            RemedyKind::MoreThreads => "more threads",
            RemedyKind::FewerInstructions => "fewer instructions",
            RemedyKind::FewerStalls => "fewer stalls",
        }
    }
}
