//! The built-in metrics over tables, and against the models' counters.

use pacman_events::allocate::Pmu;
use pacman_events::{CpuModel, resolve};
use pacman_metrics::ErrorKind;
use pacman_metrics::language::{Applied, Countable, Metric, builtin};

fn model(name: &str) -> CpuModel {
    CpuModel::named(name).unwrap()
}

fn countable(metric: &Metric, cpu: &str) -> Countable {
    let cpu = model(cpu);
    metric.countable(&Pmu::of(cpu, true), |event| resolve(cpu, event))
}

fn named(name: &str) -> &'static Metric {
    builtin().iter().find(|metric| metric.name() == name).unwrap()
}

#[test]
fn a_table_has_the_metrics_of_its_columns() {
    let applied = |columns: &[&str], sets: &[Vec<usize>]| -> Vec<Applied<'static>> {
        Applied::over(builtin(), sets, |name| columns.iter().position(|column| *column == name))
    };
    let names = |applied: &[Applied<'_>]| -> Vec<String> {
        applied.iter().map(|one| format!("{}{}", one.metric().name(), one.modes())).collect()
    };
    let mixed = applied(&["CYCLES", "INSTRUCTIONS:k", "TSC", "REF_CYCLES:uk"], &[]);
    assert!(names(&mixed).is_empty(), "user cycles are not all, and a row has no clock");
    let both = applied(&["CYCLES:uk", "INSTRUCTIONS:uk", "L1D_MISSES:k", "INSTRUCTIONS:k"], &[]);
    assert_eq!(names(&both), ["ipc:uk", "l1d-mpki:k", "kernel-instructions"]);
    let row = [Some(500), Some(1_000), Some(9), Some(300)];
    let values: Vec<f64> = both.iter().map(|one| one.value(|at| row[at], None).unwrap()).collect();
    assert_eq!(values, [2.0, 30.0, 0.3]);
    assert_eq!(both[1].columns().collect::<Vec<_>>(), [2, 3]);

    // Several lines of a name are one metric.
    let slots = applied(&["SLOTS", "TOPDOWN_DISPATCHED", "TOPDOWN_RETIRING"], &[]);
    assert_eq!(names(&slots), ["topdown-retiring", "topdown-bad-speculation"]);

    let columns = ["INSTRUCTIONS", "CYCLES", "LLC_MISSES"];
    let row = |at: usize| Some([3_000, 2_000, 6][at]);
    let sets = [vec![0, 1], vec![0, 2]];
    let rotated = applied(&columns, &sets);
    assert_eq!(names(&rotated), ["ipc", "llc-mpki", "llc-miss-bandwidth"]);
    for one in &rotated {
        let error = one.value(row, Some(1_000)).unwrap_err().to_string();
        assert!(error.contains("counted at different times"), "{error}");
    }
    let always = applied(&columns, &[vec![0, 1, 2], vec![0, 1, 2]]);
    let values: Vec<Option<f64>> =
        always.iter().map(|one| one.value(row, Some(1_000)).ok()).collect();
    assert_eq!(values, [Some(1.5), Some(2.0), Some(384e6)]);
    assert!(always[2].value(row, None).is_err(), "its time is not known");
    assert!(always[0].value(|at| (at > 0).then_some(1), None).is_err(), "absent is not 0");
}

#[test]
fn every_event_is_known_to_some_model() {
    let cpus = [
        "skl",
        "snb",
        "ivb",
        "p4-prescott",
        "zen3",
        "spr",
        "zen4",
        "zen5",
        "olympus",
        "neoverse-v2",
        "power9",
    ]
    .map(model);
    for metric in builtin() {
        assert!(
            cpus.iter().any(|&cpu| {
                metric.check_names(|event| resolve(cpu, event)).is_ok()
                    && metric.events().iter().all(|event| resolve(cpu, event).is_ok())
            }),
            "{metric}"
        );
    }
}

#[test]
fn a_misspelt_event_is_refused_by_line_with_the_nearest() {
    let text = "# mine\nfull | 1 | UOPS_ISUED.ANY:c=4 / CYCLES | words";
    let metric = Metric::read_all("my.metrics", text).unwrap().remove(0);
    let error = metric.check_names(|event| resolve(model("skl"), event)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownEvent);
    let said = error.to_string();
    assert!(said.starts_with("my.metrics:2: full: no event UOPS_ISUED.ANY"), "{said}");
    assert!(said.contains("nearest: UOPS_ISSUED.ANY"), "{said}");
    // An event of other models is no mistake.
    named("non-halted-cpi").check_names(|event| resolve(model("skl"), event)).unwrap();
}

#[test]
fn models_count_at_once_in_turns_or_never() {
    assert_eq!(countable(named("ipc"), "skl"), Countable::AtOnce);
    assert_eq!(countable(named("non-halted-cpi"), "p4-prescott"), Countable::AtOnce);
    assert_eq!(countable(named("kernel-cycles"), "zen3"), Countable::AtOnce);
    let Countable::Never { because } = countable(named("core-utilisation"), "zen3") else {
        panic!("Zen 3 counts no reference cycles");
    };
    assert!(because.contains("REF_CYCLES cannot be counted on zen3"), "{because}");

    // Both take counter 2 alone on Haswell; five events rotate on four counters.
    let text = "two | 1 | L1D_PEND_MISS.PENDING / CYCLE_ACTIVITY.CYCLES_L1D_PENDING | words
        five | 1 | BR_MISP_RETIRED.ALL_BRANCHES + BR_INST_RETIRED.ALL_BRANCHES + L2_RQSTS.MISS \
                   + LONGEST_LAT_CACHE.MISS + UOPS_ISSUED.ANY | words";
    for metric in Metric::read_all("t", text).unwrap() {
        match countable(&metric, "hsw") {
            Countable::ByRotation { sets: 2, because } => {
                let counters = if metric.name() == "two" { "counter 2" } else { "counters 0-3" };
                assert!(because.contains(counters), "{because}");
            }
            other => panic!("{}: {other:?}", metric.name()),
        }
    }
}
