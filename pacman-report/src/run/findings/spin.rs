//! Threads that spin where they wait, on processors that others of the team need.

use pacman_regions::Cause;

use super::{Finding, Kind};
use crate::run::report::{ProcessReport, ThreadState, threads_of};
use crate::run::text::seconds;

/// Less than this part of the run is no finding: other programs come and go.
const CLEAR: f64 = 0.05;

/// The kernel says for how long the threads had processors, and for how long they lacked one. Without useful time and the
/// first thread's time outside of regions, they spent the former waiting.
///
/// Where a thread lacks a processor while another of the team spins, a sleep of the latter gives it one. As many lack one at
/// once as the team has more threads than contexts, and all others may spin meanwhile, on all contexts. The shorter
/// of both times is the most that sleeps can gain.
pub(super) fn of(process: &ProcessReport) -> Option<Finding> {
    // Libraries of MPI spin by themselves.
    if process.mpi.is_some() {
        return None;
    }
    // A single time slice decides short runs.
    process.processor_share()?;
    let scheduling = process.scheduling?;
    let threads = threads_of(process);
    let (mut working, mut margin) = (0.0, 0.0);
    for region in process.regions.iter().filter(|region| region.outer > 0.0) {
        let states = region.states.as_ref()?;
        let (useful, off) = states.useful_time();
        let requests =
            states.threads.iter().map(|thread| thread.waited(ThreadState::of(Cause::Chunks)));
        working += region.outer / region.seconds * (useful - off? + requests.sum::<f64>());
        margin += region.outer * region.sampling.map_or(0.0, |sampling| sampling.margin);
    }
    let serial = (process.process.seconds - process.in_regions).max(0.0);
    let spinning = (scheduling.ran - working - serial).max(0.0);
    let at_once = f64::from(threads.saturating_sub(process.contexts).max(1));
    let spinners = f64::from(process.contexts.min(threads.saturating_sub(1)).max(1));
    let gain = (scheduling.delayed / at_once).min(spinning / spinners).min(process.in_regions);
    (gain >= CLEAR * process.process.seconds && gain > margin).then(|| Finding {
        kind: Kind::Spin,
        region: "all regions".to_owned(),
        place: None,
        fact: format!(
            "threads that wait spent {} of processor time, and threads that could run had no processor for {}",
            seconds(spinning),
            seconds(scheduling.delayed)
        ),
        remedy: "To help: OMP_WAIT_POLICY=passive, or pacman-pmu run --adapt.".to_owned(),
        gain_s: gain,
        // The most that a sleep can gain has no interval.
        margin_s: None,
    })
}

#[cfg(test)]
mod tests {
    use pacman_regions::{Recording, Scheduling};

    use super::super::tests::findings;
    use super::*;
    use crate::run::tests::made;

    /// Two threads of a region of 8 s: one has 7 s of work, of which it had no processor for `off` seconds, the
    /// other waits for it for 6 s. They ran for `ran` seconds together.
    fn run(off: f64, ran: f64, delayed: f64) -> Recording {
        let thread = |busy, waits| made::ThreadSpec { busy, start: 0.0, waits, cpu: 0 };
        let mut recording = made::timed(&[thread(7.0, 0.0), thread(8.0, 6.0)], "barrier");
        recording.contexts = 2;
        recording.scheduling = Some(Scheduling { ran, delayed });
        for (row, off) in recording.regions[0].rows.iter_mut().zip([off, 0.0]) {
            let states = row.states.as_mut().expect("timed");
            (states.useful_off, states.waiting_off) = (Some(off), Some(0.0));
        }
        recording
    }

    fn gain(recording: &Recording) -> Option<f64> {
        let spins = findings(recording).into_iter().find(|finding| finding.kind == Kind::Spin);
        spins.map(|finding| finding.gain_s)
    }

    #[test]
    fn a_spin_beside_a_thread_without_a_processor_is_one() {
        // 9 s of useful time, 4 s of them without a processor, and 0.5 s outside of regions.
        assert_eq!(gain(&run(4.0, 11.5, 4.0)), Some(4.0), "6 s of spinning");
        assert_eq!(gain(&run(4.0, 8.0, 4.0)), Some(2.5), "only 2.5 s of spinning");
        assert_eq!(gain(&run(4.0, 5.5, 4.0)), None, "it slept");
        assert_eq!(gain(&run(0.0, 15.5, 0.0)), None, "it had a processor all the time");
        assert_eq!(gain(&run(4.0, 11.5, 0.0)), None, "a call of the system blocked it");
        assert_eq!(gain(&run(4.0, 11.5, 0.4)), None, "less than a twentieth of the run");
    }

    #[test]
    fn a_team_wider_than_the_contexts_lacks_several_processors_at_once() {
        let mut recording = run(4.0, 11.5, 5.0);
        recording.regions[0].teams[0].threads = 4;
        assert_eq!(gain(&recording), Some(2.5));
        recording.scheduling = None;
        assert_eq!(gain(&recording), None, "the kernel has no account");
    }
}
