//! Siblings that compete for the issue slots of their core.

use pacman_metrics::slots::Verdict;

use super::sentence::{Sentence, titled};
use crate::run::report::RegionReport;
use crate::run::text::{share, smt_off_sentence};

/// The sentence on siblings that compete for their core, and what would help; `None` if they do not,
/// or if SMT off would cost more than it gives.
pub(super) fn of(region: &RegionReport) -> Option<(Sentence, String)> {
    let slots = region.slots.as_ref()?;
    let off = slots.smt_off.as_ref().filter(|off| off.verdict != Verdict::Costs)?;
    let cores = slots.cores.len();
    let shared = slots.cores.iter().filter(|core| core.threads.len() > 1);
    let shares = shared.flat_map(|core| &core.threads).filter_map(|thread| thread.shares);
    let contention: Option<Vec<f64>> = shares.map(|shares| shares.smt_contention).collect();
    let mean = contention.filter(|all| !all.is_empty()).map(|all| {
        let sum: f64 = all.iter().sum();
        sum / all.len() as f64
    });
    if off.verdict != Verdict::Pays && mean.is_none_or(|mean| mean < MUCH) {
        return None;
    }
    let place = format!(" in {}", titled(region));
    let mut sentence = Sentence::default().strong("Siblings compete for their core").plain(&place);
    if let Some(mean) = mean {
        sentence = sentence
            .plain(": ")
            .strong(&share(mean))
            .plain(" of their issue slots go to the sibling");
    }
    sentence = sentence.plain(&format!(". {}.", smt_off_sentence(off)));
    let alone = format!("OMP_NUM_THREADS={cores} OMP_PLACES=cores");
    let help = match off.verdict {
        Verdict::Pays => format!("To help: run one thread a core, by {alone}."),
        _ => format!("To decide, run one thread a core, by {alone}, and compare."),
    };
    Some((sentence, help))
}

/// The part of the slots from which on contention is worth the headline.
const MUCH: f64 = 0.1;
