//! A measurement as JSON; `pacman-pmu smt --help` describes the fields.

use pacman_metrics::smt;
use serde::Serialize;

use super::meter::{Activity, CoreActivity};
use super::picture;
use super::source::Basis;

#[derive(Serialize)]
pub(super) struct Document<'a> {
    source: &'a str,
    method: String,
    choice: Option<&'a str>,
    simulated: Option<&'a str>,
    step_s: f64,
    time_s: f64,
    cores: Vec<Core<'a>>,
    intervals: Vec<Interval<'a>>,
    notes: Vec<String>,
    exit_status: Option<u8>,
}

#[derive(Serialize)]
struct Interval<'a> {
    until_s: f64,
    cores: Vec<Core<'a>>,
}

#[derive(Serialize)]
struct Core<'a> {
    core: u32,
    package: u32,
    cpus: &'a [u32],
    active: Vec<f64>,
    idle: f64,
    only: Vec<f64>,
    shared: f64,
    bounds: Bounds,
    uncertainty: f64,
    skew_s: f64,
}

/// The least and the most of each.
#[derive(Serialize)]
struct Bounds {
    idle: [f64; 2],
    only: Vec<[f64; 2]>,
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
