//! Events that do not fit at once, on a simulated machine of the whole process.

use pacman_counters::{Counters, Placement};

#[test]
fn events_that_do_not_fit_take_turns() {
    pacman_sim::simulate("haswell").expect("a machine");
    let events = "CYCLES,INSTRUCTIONS,L1D:REPLACEMENT,BR_MISP_RETIRED,MEM_LOAD_UOPS_RETIRED:L3_MISS,\
                  MEM_LOAD_UOPS_RETIRED:L2_MISS,UOPS_ISSUED:ANY,UOPS_RETIRED:ALL,BR_INST_RETIRED:ALL_BRANCHES";
    let pmu = Counters::start_bound(events, Placement::Compact).expect("in sets");
    for _ in 0..20 {
        pmu.count("work", || std::hint::black_box((0..200_000u64).fold(0, |sum, n| sum ^ n)));
    }
    let report = pmu.report();
    assert!(report.sets.len() > 1, "{:?}", report.sets);
    // Fixed counters count in every set.
    let cycles = report.get("work", "CYCLES").expect("counted");
    assert!(!cycles.is_estimated() && cycles.sum() > 0 && cycles.executions() == 20);
    let branches = report.get("work", "BR_INST_RETIRED:ALL_BRANCHES").expect("an estimate");
    assert!(branches.is_estimated() && branches.sum() > 0);
    assert!(report.threads[0].place.is_some_and(|place| place.bound));
}
