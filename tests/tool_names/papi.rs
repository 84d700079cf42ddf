//! PAPI's presets on every table.

use std::collections::BTreeSet;
use std::fs;

use pacman_events::{CpuModel, ResolveErrorKind, Resolved, resolve};
use pacman_suite::skipped;

fn model(name: &str) -> CpuModel {
    CpuModel::named(name).unwrap_or_else(|| panic!("no table {name}"))
}

#[test]
fn every_preset_of_papi_resolves_or_says_why_not() {
    const HEADER: &str = "/usr/include/papiStdEventDefs.h";
    let Ok(header) = fs::read_to_string(HEADER) else {
        return skipped("no header of PAPI's presets (libpapi-dev)");
    };
    let words = header.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let presets = words.filter_map(|word| word.strip_suffix("_idx").filter(|it| *it != "PAPI_END"));
    let presets: BTreeSet<&str> = presets.collect();
    assert!(presets.len() >= 108, "{HEADER} has {} presets", presets.len());
    for cpu in CpuModel::all() {
        let mut counted = 0;
        for preset in &presets {
            match resolve(cpu, preset) {
                Ok(_) => counted += 1,
                Err(error) => {
                    assert_eq!(error.kind(), ResolveErrorKind::Impossible, "{error}");
                    let start = format!("cannot be counted on {}: ", cpu.name());
                    let reason = error.to_string();
                    let reason = reason.split_once(&start).map(|(_, reason)| reason.to_owned());
                    assert!(reason.is_some_and(|reason| reason.len() > 10), "{error}");
                }
            }
        }
        println!("{}: {counted} of {} presets of PAPI", cpu.name(), presets.len());
    }
}

/// Coefficient and PERFEVTSEL of each term.
fn terms(resolved: &Resolved) -> Vec<(i64, u64)> {
    resolved.terms().map(|term| (term.coefficient, term.encoding.evtsel)).collect()
}

#[test]
fn a_preset_of_several_events_is_papi_s_sum() {
    let resolved = resolve(model("skx"), "papi_dp_ops").unwrap();
    assert_eq!(terms(&resolved), [(1, 0x1c7), (2, 0x4c7), (4, 0x10c7), (8, 0x40c7)]);
    assert_eq!(resolved.name(), "PAPI_DP_OPS");
    assert_eq!(resolved.value([1, 2, 3, 4]), 1 + 4 + 12 + 32);
    let kernel = resolve(model("snb"), "PAPI_BR_PRC:k").unwrap();
    assert_eq!(terms(&kernel), [(1, 0x2_01c4), (-1, 0x2_00c5)]);
}

#[test]
fn a_preset_that_a_processor_cannot_count_is_refused_with_the_reason() {
    let refused = |cpu: &str, name: &str| resolve(model(cpu), name).unwrap_err().to_string();
    let error = refused("skl", "PAPI_CSR_FAL");
    let reason = "PAPI_CSR_FAL cannot be counted on skl: the processor has no store-conditional";
    assert!(error.starts_with(reason), "{error}");
    let error = refused("zen5", "PAPI_FP_STAL:u");
    assert!(error.starts_with("PAPI_FP_STAL cannot be counted on zen5: no event"), "{error}");
    // A misspelt preset is unknown, not impossible.
    let error = resolve(model("skl"), "PAPI_CSR_FALL").unwrap_err();
    assert_eq!(error.kind(), ResolveErrorKind::Unknown);
}
