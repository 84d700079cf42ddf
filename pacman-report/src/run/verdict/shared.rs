//! Threads that share a core while others have one alone, or while cores have no thread.

use pacman_events::plural;
use std::collections::BTreeSet;

use super::sentence::{Sentence, titled};
use crate::run::report::{ProcessReport, RegionReport, Thread};
use crate::run::text::{number, seconds, share};

/// The sentence and what would help; `None` if no core is shared for no need.
///
/// `imbalance` is the part of the threads' time that uneven work costs.
pub(super) fn cores(
    (process, region): (&ProcessReport, &RegionReport),
    imbalance: Option<f64>,
) -> Option<(Sentence, String)> {
    let (pairs, alone): (Vec<&Thread>, Vec<&Thread>) =
        region.threads.iter().partition(|thread| !thread.beside.is_empty());
    let seats: Option<BTreeSet<u32>> =
        region.threads.iter().map(|thread| Some(thread.seat?.core)).collect();
    let used = u32::try_from(seats?.len()).ok()?;
    let idle = process.cores.map_or(0, |cores| cores.saturating_sub(used));
    let is_uneven = imbalance.is_some() && !alone.is_empty() && slower(region, &pairs, &alone);
    if pairs.is_empty() || (idle == 0 && !is_uneven) {
        return None;
    }
    let who = match pairs.as_slice() {
        [one, other] => format!("T{} and T{} share a core", one.row.thread, other.row.thread),
        several => format!("{} threads share cores", several.len()),
    };
    let meanwhile = match idle {
        0 => String::new(),
        idle => format!(" while {} idle", has(idle)),
    };
    let cost = imbalance.filter(|_| is_uneven).map(|part| {
        format!(
            " They need {} for their work, threads alone on a core {}; waiting for them costs {}.",
            seconds(mean(region, &pairs)),
            seconds(mean(region, &alone)),
            share(part),
        )
    });
    let rest = format!("{meanwhile} ({}).{}", titled(region), cost.unwrap_or_default());
    let sentence = Sentence::default().strong(&who).plain(&rest);
    let help = match idle {
        0 => "To help: use as many threads as cores, or give threads on shared cores less work.",
        _ => "To help: give each thread a core, by OMP_PLACES=cores OMP_PROC_BIND=spread.",
    };
    Some((sentence, help.into()))
}

fn has(idle: u32) -> String {
    format!("{} {}", number(idle as usize, "core"), plural::is(idle))
}

/// Whether the threads on shared cores are the ones that the others wait for.
fn slower(region: &RegionReport, pairs: &[&Thread], alone: &[&Thread]) -> bool {
    mean(region, pairs) > CLEARLY * mean(region, alone)
}

/// The mean time of these threads' work.
fn mean(region: &RegionReport, threads: &[&Thread]) -> f64 {
    let useful = |thread: &&Thread| {
        let states = region.states.iter().flat_map(|states| &states.threads);
        let mut own = states.filter(|states| states.thread == thread.row.thread);
        own.next().map_or(thread.row.seconds, |states| states.useful)
    };
    threads.iter().map(useful).sum::<f64>() / threads.len() as f64
}

/// A shared core counts as the reason for uneven work from this ratio on.
const CLEARLY: f64 = 1.1;
