//! The changes that would make a context, or its core, do more.

/// One remedy.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Remedy {
    /// The kind of remedy.
    pub kind: RemedyKind,
    /// The largest possible speed-up, as a factor; `None` if the gain is in proportion to the
    /// removed instructions.
    pub gain: Option<f64>,
    /// The reason in words.
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
