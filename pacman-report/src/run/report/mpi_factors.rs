//! MPI over all processes: its calls, and TALP's factors.
//!
//! For process `i` let `T` be the time of the longest process, `C` the mean time of its threads in MPI,
//! and `U` their mean useful time. A process that runs for less than `T` communicates for the rest: the
//! others wait for its start or it for their end. Over all processes:
//!
//! - MPI efficiency = mean(T − C) / T = MPI load balance × communication efficiency
//! - MPI load balance = mean(T − C) / max(T − C)
//! - communication efficiency = max(T − C) / T
//! - parallel efficiency = mean(U) / T = MPI efficiency × OpenMP efficiency

use std::collections::BTreeSet;

use serde::Serialize;

use super::mpi::MpiCall;
use super::process::ProcessReport;
use super::total::total_of;

/// MPI over all processes.
#[derive(Debug, Default)]
pub(in crate::run) struct MpiSummary {
    /// By name, those with the most time first.
    pub(in crate::run) calls: Vec<MpiCall>,
    /// Of the processes that called MPI.
    pub(in crate::run) times: Vec<ProcessTime>,
    /// The hosts of these processes.
    pub(in crate::run) hosts: BTreeSet<String>,
}

impl MpiSummary {
    pub(super) fn add(&mut self, process: &ProcessReport) {
        let Some(mpi) = &process.mpi else { return };
        self.times.extend(ProcessTime::of(process));
        self.hosts.extend(process.process.host.clone());
        for call in &mpi.calls {
            match self.calls.iter_mut().find(|known| known.name == call.name) {
                Some(known) => known.add(call),
                None => self.calls.push(call.clone()),
            }
        }
        self.calls.sort_by(|one, other| other.total().total_cmp(&one.total()));
    }

    /// Seconds of all processes that called MPI.
    pub(in crate::run) fn seconds(&self) -> f64 {
        total_of(self.times.iter().map(|time| time.seconds))
    }
}

/// The times of one process, in seconds.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct ProcessTime {
    /// From its start to its end.
    pub(in crate::run) seconds: f64,
    /// In MPI: the mean over its threads.
    pub(in crate::run) mpi: f64,
    /// Useful: the mean over its threads; `None` if it is not known.
    pub(in crate::run) useful: Option<f64>,
}

impl ProcessTime {
    /// `None` without timed MPI calls.
    pub(in crate::run) fn of(process: &ProcessReport) -> Option<ProcessTime> {
        let mpi = process.mpi.as_ref()?;
        let seconds = process.process.seconds;
        Some(match &process.efficiency {
            Some(tree) => ProcessTime {
                seconds,
                mpi: tree.losses.mpi / f64::from(tree.threads),
                useful: Some(tree.efficiency.parallel * seconds),
            },
            None => ProcessTime { seconds, mpi: mpi.outside.min(seconds), useful: None },
        })
    }
}

/// TALP's factors over the processes of an MPI program, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::run) struct MpiFactors {
    /// Processes that called MPI.
    pub(in crate::run) processes: usize,
    /// Useful part of all time; null if a process does not know its own.
    pub(in crate::run) parallel: Option<f64>,
    /// Part outside of MPI: load balance times communication.
    #[serde(rename = "efficiency")]
    pub(in crate::run) mpi: f64,
    /// Mean over longest time outside of MPI.
    pub(in crate::run) load_balance: f64,
    /// Longest time outside of MPI over the longest time.
    pub(in crate::run) communication: f64,
    /// Useful part of the time outside of MPI.
    pub(in crate::run) openmp: Option<f64>,
}

/// A factor of the parallel efficiency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum MpiFactor {
    LoadBalance,
    Communication,
    OpenMp,
}

impl MpiFactors {
    /// `None` for less than two processes.
    pub(in crate::run) fn of(processes: &[ProcessTime]) -> Option<MpiFactors> {
        let longest = processes.iter().map(|process| process.seconds).fold(0.0, f64::max);
        if processes.len() < 2 || longest <= 0.0 {
            return None;
        }
        let computes = |process: &ProcessTime| (process.seconds - process.mpi).max(0.0);
        let mean = |sum: f64| sum / processes.len() as f64;
        let most = processes.iter().map(computes).fold(0.0, f64::max);
        let computing = mean(processes.iter().map(computes).sum());
        let useful: Option<f64> = processes.iter().map(|process| process.useful).sum();
        let useful = useful.map(mean);
        let part = |above: f64, below: f64| if below > 0.0 { above / below } else { 1.0 };
        Some(MpiFactors {
            processes: processes.len(),
            parallel: useful.map(|useful| useful / longest),
            mpi: computing / longest,
            load_balance: part(computing, most),
            communication: most / longest,
            openmp: useful.map(|useful| part(useful, computing)),
        })
    }

    /// The factors, worst first.
    pub(in crate::run) fn factors(&self) -> Vec<(MpiFactor, f64)> {
        let mut factors = vec![
            (MpiFactor::LoadBalance, self.load_balance),
            (MpiFactor::Communication, self.communication),
        ];
        factors.extend(self.openmp.map(|openmp| (MpiFactor::OpenMp, openmp)));
        factors.sort_by(|one, other| one.1.total_cmp(&other.1));
        factors
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(one: f64, other: f64) {
        assert!((one - other).abs() < 1e-12, "{one}, {other}");
    }

    fn process(seconds: f64, mpi: f64, useful: f64) -> ProcessTime {
        ProcessTime { seconds, mpi, useful: Some(useful) }
    }

    #[test]
    fn the_factors_of_two_ranks_are_as_computed_by_hand() {
        // Rank 0 computes for 8 of 10 s and is useful for 6; rank 1 waits in MPI for 6 s.
        let times = [process(10.0, 2.0, 6.0), process(10.0, 6.0, 3.0)];
        let factors = MpiFactors::of(&times).expect("two processes");
        near(factors.mpi, 0.6);
        near(factors.load_balance, 6.0 / 8.0);
        near(factors.communication, 0.8);
        near(factors.openmp.expect("known"), 9.0 / 12.0);
        near(factors.parallel.expect("known"), 0.45);
        let worst: Vec<MpiFactor> = factors.factors().into_iter().map(|one| one.0).collect();
        assert_eq!(worst[2], MpiFactor::Communication);
    }

    #[test]
    fn a_rank_that_ends_early_communicates_for_the_rest() {
        let times = [process(10.0, 0.0, 10.0), process(5.0, 0.0, 5.0)];
        let factors = MpiFactors::of(&times).expect("two processes");
        near(factors.mpi, 0.75);
        near(factors.load_balance, 0.75);
        near(factors.communication, 1.0);
    }

    #[test]
    fn one_process_has_no_factors_and_unknown_useful_time_stays_unknown() {
        assert_eq!(MpiFactors::of(&[process(1.0, 0.5, 0.5)]), None);
        let unknown = ProcessTime { useful: None, ..process(1.0, 0.5, 0.0) };
        let factors = MpiFactors::of(&[process(1.0, 0.5, 0.5), unknown]).expect("two processes");
        assert_eq!((factors.parallel, factors.openmp, factors.factors().len()), (None, None, 2));
    }

    proptest! {
        #[test]
        fn the_factors_multiply_to_the_whole(
            times in prop::collection::vec((0.1f64..100.0, 0.0f64..1.0, 0.0f64..1.0), 2..40)
        ) {
            let times: Vec<ProcessTime> = times
                .into_iter()
                .map(|(seconds, mpi, useful)| {
                    process(seconds, seconds * mpi, seconds * (1.0 - mpi) * useful)
                })
                .collect();
            let factors = MpiFactors::of(&times).expect("several");
            let openmp = factors.openmp.expect("known");
            let (mpi, parallel) = (factors.mpi, factors.parallel.expect("known"));
            prop_assert!((factors.load_balance * factors.communication - mpi).abs() < 1e-9);
            prop_assert!((mpi * openmp - parallel).abs() < 1e-9);
            let all = [mpi, openmp, parallel, factors.load_balance, factors.communication];
            prop_assert!(all.iter().all(|one| (0.0..=1.0 + 1e-9).contains(one)), "{:?}", factors);
        }
    }
}
