//! The energy of regions, by Linux's own driver of RAPL, where the program sets the package's power.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

use super::boots::{self, HASWELL, Options, ZEN};
use super::omp;

/// Executions of each region, and their length in microseconds.
const ROUNDS: u32 = 10;
const LENGTH: u32 = 5_000;

/// Milliwatts in the two regions.
const HEAVY: u32 = 90_000;
const LIGHT: u32 = 25_000;

/// The program's file; `None`, and said, where no compiler makes one.
pub(crate) fn program() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(|| omp::compiled("energy.c", "lab-energy")).as_deref()
}

/// The command on that program.
pub(crate) fn line() -> String {
    format!(
        "export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive; /t/pacman-pmu run --energy \
         -o /tmp/energy.json -- /t/lab-energy {ROUNDS} {LENGTH} {HEAVY} {LIGHT}; cat /tmp/energy.json"
    )
}

fn regions_have_the_power_that_is_set(options: Options) {
    if program().is_none() {
        return;
    }
    let Some(boots::Said { status, text }) = boots::said(options, &line()) else { return };
    assert_eq!(*status, 0, "{text}");
    let json = text.split_once('{').map(|(_, rest)| format!("{{{rest}")).expect("a report");
    let report: Value = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}:\n{text}"));
    let process = &report["processes"][0];
    let number = |of: &Value, name: &str| of[name].as_f64().unwrap_or_else(|| panic!("{of:#}"));
    let mut sum = 0.0;
    for (function, milliwatts) in [("heavy", HEAVY), ("light", LIGHT)] {
        let regions = process["regions"].as_array().expect("a list");
        let named =
            |region: &&Value| region["name"].as_str().is_some_and(|it| it.contains(function));
        let energy = &regions.iter().find(named).unwrap_or_else(|| panic!("{text}"))["energy"];
        let (watts, joules) = (number(energy, "power_w"), number(energy, "energy_j"));
        println!("lab energy: {function} {joules:.6} J at {watts:.4} W of {milliwatts} mW");
        // A count is 61 µJ, of 125 mJ in an execution of the light region.
        assert!((watts * 1e3 / f64::from(milliwatts) - 1.0).abs() < 2e-3, "{process:#}");
        let least = f64::from(milliwatts) * f64::from(ROUNDS * LENGTH) * 1e-9;
        assert!(joules > 0.998 * least && joules < 2.0 * least, "{process:#}");
        assert_eq!(energy["executions"], ROUNDS, "{process:#}");
        sum += joules;
    }
    for whole in [&process["energy"], &report["energy"]] {
        assert_eq!((&whole["source"], &whole["packages"]), (&"perf".into(), &1.into()), "{text}");
        assert!(number(whole, "energy_j") > 0.999 * sum, "{sum}: {whole:#}");
    }
}

#[test]
fn regions_on_haswell_have_the_power_that_is_set() {
    regions_have_the_power_that_is_set(HASWELL);
}

#[test]
fn regions_on_zen_have_the_power_that_is_set() {
    regions_have_the_power_that_is_set(ZEN);
}
