//! The energy of the packages during regions, and how exact it is.

use pacman_events::plural::{self, number};
use pacman_regions::{ProcessEnergy, Recording, Region, RegionEnergy};
use pacman_topology::energy::Rapl;
use serde::{Deserialize, Serialize};

/// The energy of the packages during a region.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::run) struct EnergyFigures {
    /// Joules of all processor packages, with everything that runs there.
    #[serde(rename = "energy_j")]
    pub(in crate::run) joules: f64,
    /// Joules that `energy_j` [may be wrong by](observe.md#energy), because counters move in steps.
    #[serde(rename = "resolution_j")]
    pub(in crate::run) resolution: f64,
    /// Mean power of the packages; null without time.
    #[serde(rename = "power_w")]
    pub(in crate::run) watts: Option<f64>,
    /// Time between the readings.
    #[serde(rename = "time_s")]
    pub(in crate::run) seconds: f64,
    /// Executions with energy.
    pub(in crate::run) executions: u64,
    /// Executions outside of other regions without energy.
    pub(in crate::run) unread: u64,
}

impl EnergyFigures {
    /// The figures of a region in a process with that mean power; `None` if it has no energy.
    pub(super) fn of(energy: &RegionEnergy, process_watts: Option<f64>) -> Option<EnergyFigures> {
        let watts = mean(energy.joules, energy.seconds);
        // A reading lacks the energy since the counter moved last. Two readings of an execution lack
        // different parts of one step: their difference is wrong by a step at most. Over many
        // executions the errors cancel but for the root of their number.
        let own = watts.filter(|_| energy.seconds > TYPICAL * Rapl::UPDATE_S).unwrap_or(0.0);
        let step = own.max(process_watts.unwrap_or(0.0)) * Rapl::UPDATE_S;
        (energy.executions + energy.unread > 0).then(|| EnergyFigures {
            joules: energy.joules,
            resolution: step * (energy.executions as f64).sqrt(),
            watts,
            seconds: energy.seconds,
            executions: energy.executions,
            unread: energy.unread,
        })
    }
}

/// The mean power; `None` without time.
pub(in crate::run) fn mean(joules: f64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| joules / seconds)
}

/// The energy of all packages during a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEnergy {
    /// Joules of all packages.
    pub joules: f64,
    /// Seconds of the run.
    pub seconds: f64,
    /// `powercap` or `perf`.
    pub source: String,
    /// The number of packages.
    pub packages: usize,
}

impl RunEnergy {
    /// The mean power; `None` without time.
    pub(in crate::run) fn watts(&self) -> Option<f64> {
        mean(self.joules, self.seconds)
    }
}

/// The mean power of a process, if its energy was read.
pub(super) fn watts(recording: &Recording) -> Option<f64> {
    recording.energy.as_ref().and_then(|energy| mean(energy.joules, energy.seconds))
}

/// Warnings about the figures of energy. `run` has the energy of the whole run.
pub(super) fn notes(
    energy: &ProcessEnergy,
    regions: &[Region],
    run: Option<&RunEnergy>,
) -> Vec<String> {
    let packages = energy.packages;
    let packages = number(packages, "package");
    let mut notes = vec![format!(
        "energy is of {packages} with all that runs there, also other programs; ± is the resolution"
    )];
    if energy.joules == 0.0 {
        notes.push("energy stayed at 0: its counters did not move".into());
    }
    let unread = |region: &Region| region.energy.map_or(0, |energy| energy.unread);
    let unread = regions.iter().map(unread).fold(0, u64::saturating_add);
    if unread > 0 {
        let (executions, have) = (number(unread, "execution"), plural::has(unread));
        notes.push(format!(
            "{executions} {have} no energy: another thread's region was open, or a reading failed"
        ));
    }
    // The run's own power is right, because the command reads often enough.
    let usual = MOST_WATTS * f64::from(energy.packages);
    let watts = run.and_then(RunEnergy::watts).unwrap_or(usual);
    let one_package = watts / f64::from(energy.packages.max(1));
    // Twice the mean, because packages and times differ.
    if energy.longest_gap * one_package * 2.0 > energy.wraps_after {
        notes.push(format!(
            "energy of regions and of this process may be too low: a counter wraps after {:.0} J, and \
             {:.0} s were between two readings",
            energy.wraps_after, energy.longest_gap
        ));
    }
    notes
}

/// Updates from which on the power of a region is more than chance.
const TYPICAL: f64 = 20.0;

/// The power of a large package, where the run's is not known.
const MOST_WATTS: f64 = 250.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn energy(joules: f64, seconds: f64, executions: u64) -> RegionEnergy {
        RegionEnergy { joules, seconds, executions, unread: 0 }
    }

    #[test]
    fn the_resolution_is_a_step_for_one_execution_and_grows_with_the_root() {
        let one = EnergyFigures::of(&energy(50.0, 1.0, 1), Some(20.0)).unwrap();
        assert_eq!((one.watts, one.resolution), (Some(50.0), 0.05));
        let many = EnergyFigures::of(&energy(50.0, 1.0, 400), Some(20.0)).unwrap();
        assert!((many.resolution - 1.0).abs() < 1e-12);
        // No step fell into the region: the power of the process says how large it would have been.
        let short = EnergyFigures::of(&energy(0.0, 1e-4, 1), Some(20.0)).unwrap();
        assert_eq!((short.watts, short.resolution), (Some(0.0), 0.02));
        // One step fell into the region: its power is far from 500 W.
        let lucky = EnergyFigures::of(&energy(0.05, 1e-4, 1), Some(20.0)).unwrap();
        assert_eq!(lucky.resolution, 0.02);
        assert_eq!(EnergyFigures::of(&energy(0.0, 0.0, 0), None), None);
    }

    #[test]
    fn a_counter_that_may_have_wrapped_unseen_is_named() {
        let about = |longest_gap, watts: Option<f64>| {
            let energy = ProcessEnergy {
                joules: 100.0,
                seconds: 10.0,
                source: "powercap".into(),
                packages: 2,
                wraps_after: 65_536.0,
                longest_gap,
            };
            let run = watts.map(|watts| RunEnergy {
                joules: watts * 1000.0,
                seconds: 1000.0,
                source: "powercap".into(),
                packages: 2,
            });
            notes(&energy, &[], run.as_ref()).len() - 1
        };
        // 300 s of 100 W each are 30 kJ.
        assert_eq!((about(300.0, Some(200.0)), about(400.0, Some(200.0))), (0, 1));
        assert_eq!((about(100.0, None), about(300.0, None)), (0, 1));
    }
}
