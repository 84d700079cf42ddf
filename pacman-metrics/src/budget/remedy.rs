//! What would make a context, or its core, do more.

use super::{Budget, Line};

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

/// All three in Gove's order, with what each can bring at most.
pub(super) fn ranked(budget: &Budget, stalled: f64, instructions: &str) -> Vec<Remedy> {
    let issue = budget.issue;
    let threads = (issue.width / budget.instructions).clamp(1.0, f64::from(issue.contexts));
    let cycles = budget.cycles as f64;
    // Without its stalls the context still needs its other cycles, and gets no more than its
    // share of slots once the siblings want theirs.
    let unstalled = cycles / (cycles - stalled).max(1.0);
    let stalls = unstalled.min(budget.headroom);
    let worst = budget
        .lines
        .iter()
        .filter(|line| line.event != instructions && line.cycles > 0)
        .max_by_key(|line| line.cycles);
    vec![
        Remedy {
            kind: RemedyKind::MoreThreads,
            gain: Some(threads),
            why: format!(
                "each thread more has a budget of its own, {} instructions per cycle, until the \
                 core's {} contexts are in use",
                issue.fair(),
                issue.contexts
            ),
        },
        Remedy {
            kind: RemedyKind::FewerInstructions,
            gain: None,
            why: "time goes down with the instructions, and with the stalls they bring".into(),
        },
        Remedy { kind: RemedyKind::FewerStalls, gain: Some(stalls), why: of_stalls(budget, worst) },
    ]
}

fn of_stalls(budget: &Budget, worst: Option<&Line>) -> String {
    match worst {
        None => "no stall was counted".into(),
        Some(_) if budget.headroom <= 1.0 => {
            "the context has its fair share of slots: its stalls are its siblings' turns".into()
        }
        Some(line) => format!(
            "most go to {}, {:.0} % of the time; beyond the fair share of slots they gain nothing",
            line.meaning,
            100.0 * line.share
        ),
    }
}
