//! A measurement as JSON; `pacman-pmu smt --help` describes the fields.

use pacman_metrics::smt;
use serde::Serialize;

use super::meter::{Activity, CoreActivity};
use super::picture;
use super::source::Basis;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Document<'a> {
    /// File or event of the figures.
    source: &'a str,
    /// Method of the measurement.
    method: String,
    /// Reason for the method; null if one was asked for.
    choice: Option<&'a str>,
    /// Simulated machine.
    simulated: Option<&'a str>,
    /// Seconds of the step in which the source counts.
    step_s: f64,
    /// Seconds of the measurement.
    time_s: f64,
    /// Cores, over the whole measurement.
    cores: Vec<Core<'a>>,
    /// Intervals of the measurement.
    intervals: Vec<Interval<'a>>,
    /// Facts that a reader of the figures must know.
    notes: Vec<String>,
    /// Exit status of the command.
    exit_status: Option<u8>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Interval<'a> {
    /// Seconds from the begin to the end of the interval.
    until_s: f64,
    /// Cores in the interval.
    cores: Vec<Core<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Core<'a> {
    /// Number of the core in its package.
    core: u32,
    /// Number of the package.
    package: u32,
    /// Its contexts, by the kernel's numbers.
    cpus: &'a [u32],
    /// Part of the time that each context was active, alone or not.
    #[cfg_attr(test, schemars(inner(range(min = 0, max = 1))))]
    active: Vec<f64>,
    /// Part of the time in which no context was active.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    idle: f64,
    /// Part of the time in which this context was active and no other, by context.
    #[cfg_attr(test, schemars(inner(range(min = 0, max = 1))))]
    only: Vec<f64>,
    /// Part of the time in which two or more contexts were active.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    shared: f64,
    /// Least and greatest possible values of the three.
    bounds: Bounds,
    /// Largest error of these parts from steps and reading times.
    uncertainty: f64,
    /// Longest seconds between the readings of the core's contexts.
    skew_s: f64,
}

/// The least and the most of each.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Bounds {
    /// Least and most.
    idle: [f64; 2],
    /// Least and most of each.
    only: Vec<[f64; 2]>,
    /// Least and most.
    shared: [f64; 2],
}

/// The whole, then every interval.
pub(super) fn summary<'a>(
    basis: &'a Basis,
    whole: &'a Activity,
    intervals: &'a [Activity],
    status: Option<u8>,
) -> Document<'a> {
    let intervals = intervals
        .iter()
        .map(|activity| Interval { until_s: round(activity.until), cores: cores(activity) });
    Document {
        source: &basis.source,
        method: basis.method.to_string(),
        choice: basis.choice.as_deref(),
        simulated: basis.simulated,
        step_s: basis.step,
        time_s: round(whole.seconds()),
        cores: cores(whole),
        intervals: intervals.collect(),
        notes: picture::notes(basis, whole),
        exit_status: status,
    }
}

fn cores(activity: &Activity) -> Vec<Core<'_>> {
    activity.cores.iter().map(|it| core(it, activity.skew(it))).collect()
}

fn core(core: &CoreActivity, skew: f64) -> Core<'_> {
    let split = &core.split;
    let share = |state: f64| round(split.share(state));
    let bounds = |bounds: &smt::Bounds| [share(bounds.low), share(bounds.high)];
    Core {
        core: core.core,
        package: core.package,
        cpus: &core.cpus,
        active: core.active.iter().map(|&active| round(active)).collect(),
        idle: share(split.idle),
        only: split.only.iter().map(|&only| share(only)).collect(),
        shared: share(split.shared),
        bounds: Bounds {
            idle: bounds(&split.idle_bounds),
            only: split.only_bounds.iter().map(bounds).collect(),
            shared: bounds(&split.shared_bounds),
        },
        uncertainty: share(split.uncertainty),
        skew_s: (skew * 1e9).round() / 1e9,
    }
}

/// Microseconds and millionths are more than the source knows; what rounds to 0 from below loses
/// its sign.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6 + 0.0
}

#[cfg(test)]
mod tests {
    use super::round;

    #[test]
    fn no_zero_has_a_sign() {
        for (value, text) in
            [(-1e-9, "0.0"), (-0.0, "0.0"), (-0.25, "-0.25"), (0.1234567, "0.123457")]
        {
            assert_eq!(serde_json::json!(round(value)).to_string(), text);
        }
    }
}
