//! A measurement as JSON; `pacman-pmu smt --help` describes the fields.

use pacman_metrics::smt::Bounds;
use serde_json::{Value, json};

use super::meter::{Activity, CoreActivity};
use super::picture;
use super::source::Basis;

/// The whole, then every interval.
pub(super) fn summary(
    basis: &Basis,
    whole: &Activity,
    intervals: &[Activity],
    status: Option<u8>,
) -> Value {
    let intervals = intervals
        .iter()
        .map(|activity| json!({ "until_s": round(activity.until), "cores": cores(activity) }));
    json!({
        "source": basis.source,
        "method": basis.method.to_string(),
        "choice": basis.choice,
        "simulated": basis.simulated,
        "step_s": basis.step,
        "time_s": round(whole.seconds()),
        "cores": cores(whole),
        "intervals": intervals.collect::<Vec<Value>>(),
        "notes": picture::notes(basis, whole),
        "exit_status": status,
    })
}

fn cores(activity: &Activity) -> Vec<Value> {
    activity.cores.iter().map(|it| core(it, activity.skew(it))).collect()
}

fn core(core: &CoreActivity, skew: f64) -> Value {
    let split = &core.split;
    let share = |state: f64| round(split.share(state));
    let bounds = |bounds: &Bounds| json!([share(bounds.low), share(bounds.high)]);
    json!({
        "core": core.core,
        "package": core.package,
        "cpus": core.cpus,
        "active": core.active.iter().map(|&active| round(active)).collect::<Vec<_>>(),
        "idle": share(split.idle),
        "only": split.only.iter().map(|&only| share(only)).collect::<Vec<_>>(),
        "shared": share(split.shared),
        "bounds": {
            "idle": bounds(&split.idle_bounds),
            "only": split.only_bounds.iter().map(bounds).collect::<Vec<Value>>(),
            "shared": bounds(&split.shared_bounds),
        },
        "uncertainty": share(split.uncertainty),
        "skew_s": (skew * 1e9).round() / 1e9,
    })
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
