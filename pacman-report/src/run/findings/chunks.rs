//! A loop that hands out its iterations in chunks that are too small.

use std::collections::BTreeMap;

use pacman_regions::Cause;

use super::{Finding, Kind};
use crate::run::report::{ProcessReport, RegionReport, Wait};
use crate::run::text::{seconds, share};
use crate::words::grouped;

/// With larger chunks requests take at most this part of the work.
const LEFT_OVER: f64 = 0.02;
/// Larger chunks leave so many for each thread in an execution, so that threads still even out their work.
const CHUNKS: f64 = 16.0;

/// The requests of a region's threads for the chunks of one loop.
struct Requests {
    count: u64,
    seconds: f64,
}

/// The dearest loop of the region.
pub(super) fn of(process: &ProcessReport, region: &RegionReport) -> Option<Finding> {
    let states = region.states.as_ref()?;
    let mut loops: BTreeMap<usize, Requests> = BTreeMap::new();
    for &(site, cause, Wait { count, seconds }) in
        states.threads.iter().flat_map(|thread| &thread.waits)
    {
        if cause == Cause::Chunks {
            let sum = loops.entry(site).or_insert(Requests { count: 0, seconds: 0.0 });
            (sum.count, sum.seconds) = (sum.count + count, sum.seconds + seconds);
        }
    }
    let (site, Requests { count, seconds: asking }) =
        loops.into_iter().max_by(|one, other| one.1.seconds.total_cmp(&other.1.seconds))?;
    let there = states.losses.there;
    let (useful, _) = states.useful_time();
    let work = useful / count as f64;
    let threads = states.threads.len() as f64;
    let wanted = asking / count as f64 / (LEFT_OVER * work);
    let most = count as f64 / (region.executions as f64 * threads * CHUNKS);
    let times = power_of_two(wanted.min(most))?;
    let part = asking / there;
    let saved = part * (1.0 - 1.0 / times as f64);
    // Waits of a sample may be nothing.
    let margin = region.sampling.map_or(0.0, |sampling| sampling.margin);
    (saved > margin).then(|| Finding {
        kind: Kind::Chunks,
        region: region.name.short(),
        place: process.sites.get(site).map(|site| site.place()),
        fact: format!(
            "its threads get {} chunks of a loop, each of {} of work; asking for them takes {} of their time",
            grouped(count),
            seconds(work),
            share(part),
        ),
        remedy: format!(
            "To help: {times} times as many iterations in a chunk, as schedule(dynamic, {times}) for chunks of one."
        ),
        gain_s: region.outer * saved,
        // Timing disturbs requests, by how much is not known.
        margin_s: None,
    })
}

/// The greatest power of two up to `value`; `None` below 2.
fn power_of_two(value: f64) -> Option<u64> {
    // The cast saturates, and no loop has more iterations.
    let whole = value.min(2f64.powi(40)) as u64;
    (whole >= 2).then(|| 1 << whole.ilog2())
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;
    use crate::run::tests::made;

    /// A loop of 8 s whose two threads ask for `count` chunks, which takes them `waits` seconds each.
    fn found(count: u64, waits: f64) -> Vec<Finding> {
        let thread = || made::ThreadSpec { busy: 8.0, start: 0.0, waits, cpu: 0 };
        let mut recording = made::timed(&[thread(), thread()], "chunks");
        for states in recording.regions[0].rows.iter_mut().filter_map(|row| row.states.as_mut()) {
            states.waits[0].count = count / 2;
        }
        findings(&recording)
    }

    #[test]
    fn small_chunks_are_one_and_the_remedy_leaves_enough_of_them() {
        let found_in = found(1_000_000_000, 6.0);
        let [finding] = &found_in[..] else { panic!("{found_in:?}") };
        assert_eq!(finding.kind, Kind::Chunks);
        // 12 of 16 s for 4 s of work: 150 times as large chunks would take 2 % of it.
        assert!(finding.remedy.contains("schedule(dynamic, 128)"), "{finding:?}");
        assert!(
            finding.fact.starts_with("its threads get 1,000,000,000 chunks of a loop"),
            "{finding:?}"
        );
        assert!(finding.fact.contains("4 ns of work"), "{finding:?}");
        assert_eq!((finding.gain_s, finding.margin_s), (8.0 * 0.75 * (1.0 - 1.0 / 128.0), None));
        let few = found(1_000, 6.0);
        assert!(
            few[0].remedy.contains("schedule(dynamic, 16)"),
            "16 chunks for each thread: {few:?}"
        );
        assert_eq!(found(40, 6.0), [], "no larger chunks would leave enough");
        assert_eq!(found(1_000_000, 0.05), [], "less than 1 % of the run");
    }
}
