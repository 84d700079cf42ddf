//! The time that a run with fewer threads is expected to take, from this run's threads.
//!
//! One thread does the useful work of all and waits for nobody. So the sum of the threads' times in a region, less the
//! waits that are known, is the most that one thread needs. It is known for every region, however short. The time of
//! *k* threads is assumed to be *work / k*, and all that *n* threads took beyond *work / n*: starts, ends and uneven
//! shares stay. The time outside of regions is the same for any number of threads, and left out.

use super::report::{ProcessReport, RegionReport};

/// A number of threads that was not tried must be expected to take at most so much of the time without packing.
const WORTH_TRYING: f64 = 0.9;

/// Fewer threads than the run's that are worth a trial, with the time in regions that is expected of each, over that of
/// this run.
pub fn of(process: &ProcessReport) -> Vec<(u32, f64)> {
    let whole: f64 = process.regions.iter().map(RegionReport::without_packing).sum();
    let at = |threads: u32| {
        let time: f64 = process.regions.iter().map(|region| time(process, region, threads)).sum();
        let is_worth = time > 0.0 && time <= WORTH_TRYING * whole;
        is_worth.then(|| (threads, time / process.in_regions))
    };
    numbers(process).into_iter().filter_map(at).collect()
}

/// The numbers of contexts by which regions were packed, and the powers of two.
fn numbers(process: &ProcessReport) -> Vec<u32> {
    let packed = process.regions.iter().flat_map(packed).map(|&(threads, _)| threads);
    let powers = (0..u32::BITS).map(|power| 1 << power);
    let is_fewer = |threads: &u32| (1..process.threads).contains(threads);
    let mut numbers: Vec<u32> = packed.chain(powers).filter(is_fewer).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn packed(region: &RegionReport) -> &[(u32, f64)] {
    region.adaptation.as_ref().map_or(&[], |adaptation| &adaptation.packed)
}

/// The time of `region` outside of others with so many threads. Both of what was measured and what the work tells are
/// the most that it takes.
fn time(process: &ProcessReport, region: &RegionReport, threads: u32) -> f64 {
    let here = region.without_packing();
    if region.teams.iter().all(|team| team.threads != process.threads) {
        // Its team has a size of its own, which stays.
        return here;
    }
    let at_once = f64::from(process.threads.min(process.contexts));
    let packed = packed(region).iter().find(|(number, _)| *number == threads);
    let packed = packed.map(|(_, ratio)| here * ratio);
    let by_work = work(process, region).map(|work| match threads {
        1 => work,
        _ => work / f64::from(threads).min(at_once) + (here - work / at_once).max(0.0),
    });
    let known = packed.into_iter().chain(by_work).min_by(f64::total_cmp);
    // Nobody knows: it may need all of the threads that run at once.
    known.unwrap_or_else(|| here * at_once / f64::from(threads))
}

/// The useful time of all threads outside of other regions; at most that, if it is an estimate.
fn work(process: &ProcessReport, region: &RegionReport) -> Option<f64> {
    let is_whole = region.adaptation.as_ref().is_some_and(|adaptation| adaptation.all_in_rows);
    let is_of_one_size = region.teams.iter().all(|team| team.threads == process.threads);
    if !is_whole || !is_of_one_size || region.threads.is_empty() || region.seconds <= 0.0 {
        return None;
    }
    let busy: f64 = match &region.states {
        Some(states) => states.useful_time().0,
        None => region.threads.iter().map(|thread| thread.row.seconds).sum(),
    };
    let margin = region.sampling.map_or(0.0, |sampling| sampling.margin);
    let margin = margin * region.seconds * f64::from(process.threads);
    Some((busy + margin) * region.outer / region.seconds)
}

#[cfg(test)]
mod tests {
    use pacman_regions::{Adaptation, Recording, Team};

    use super::*;
    use crate::run::tests::made;

    /// Four threads work `busy` seconds each in a region of `seconds`.
    fn region(seconds: f64, busy: [f64; 4], packed: &[(u32, f64)]) -> Recording {
        let thread = |busy| made::ThreadSpec { busy, start: 0.0, waits: 0.0, cpu: 0 };
        let mut recording = made::timed(&busy.map(thread), "critical");
        (recording.waits, recording.threads, recording.contexts) = (None, 4, 4);
        for region in &mut recording.regions {
            (region.seconds, region.outer) = (seconds, seconds);
            region.teams = vec![Team { threads: 4, executions: 1, seconds }];
            region.rows.iter_mut().for_each(|row| row.states = None);
            let packed = packed.to_vec();
            region.adaptation =
                Some(Adaptation { all_in_rows: true, packed, ..Adaptation::default() });
        }
        recording
    }

    fn expected(recording: &Recording) -> Vec<(u32, f64)> {
        let found = of(&made::report(std::slice::from_ref(recording)).processes[0]);
        found.into_iter().map(|(threads, part)| (threads, (1e6 * part).round() / 1e6)).collect()
    }

    #[test]
    fn one_thread_does_the_work_of_all_and_waits_for_nobody() {
        assert_eq!(expected(&region(8.0, [1.0; 4], &[])), [(1, 0.5)], "two take 2 and 7 s");
        assert_eq!(expected(&region(8.0, [7.0; 4], &[])), [], "they work all the time");
        let uneven = region(8.0, [4.0, 0.0, 0.0, 0.0], &[]);
        assert_eq!(expected(&uneven), [(1, 0.5)], "one thread works");
        assert_eq!(expected(&region(8.0, [0.1; 4], &[])), [(1, 0.05)]);
    }

    #[test]
    fn what_was_measured_is_held_against_the_work() {
        let packed = [(1, 0.6), (2, 0.5), (3, 0.95)];
        assert_eq!(expected(&region(8.0, [7.0; 4], &packed)), [(1, 0.6), (2, 0.5)]);
        assert_eq!(expected(&region(8.0, [1.0; 4], &packed)), [(1, 0.5), (2, 0.5)]);
    }

    #[test]
    fn work_that_rows_do_not_have_may_need_all_threads() {
        let known = region(8.0, [1.0; 4], &[]);
        let with = |change: fn(&mut pacman_regions::Region)| {
            let mut recording = known.clone();
            recording.regions.iter_mut().for_each(change);
            expected(&recording)
        };
        let late = |region: &mut pacman_regions::Region| {
            region.adaptation = Some(Adaptation::default());
        };
        assert_eq!(with(late), [], "tasks after the body");
        let sampling = pacman_regions::Sampling { timed: 1, margin: 0.2, cost: None };
        let mut sampled = known.clone();
        sampled.regions[0].sampling = Some(sampling);
        assert_eq!(expected(&sampled), [], "it may be 4 + 0.2 * 32 s");
        let own = |region: &mut pacman_regions::Region| region.teams[0].threads = 2;
        assert_eq!(with(own), [], "the program gives the team two threads");
    }
}
