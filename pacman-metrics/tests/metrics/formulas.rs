//! The built-in formulas against the figures of their sources.

use pacman_events::{CpuModel, resolve};
use pacman_metrics::Result;
use pacman_metrics::language::{Metric, builtin, named};

fn value(name: &str, counts: &[(&str, u64)]) -> Result<f64> {
    let metric = named(name).unwrap_or_else(|| panic!("{name} is not built in"));
    metric.value(|event| counts.iter().find(|(known, _)| *known == event).map(|(_, count)| *count))
}

/// Asserts each metric's value to a billionth.
fn assert_values(counts: &[(&str, u64)], wanted: &[(&str, f64)]) {
    for (name, wanted) in wanted {
        let found = value(name, counts).unwrap();
        assert!((found - wanted).abs() <= 1e-9 * wanted.abs(), "{name}: {found}, not {wanted}");
    }
}

fn refusal(name: &str, counts: &[(&str, u64)]) -> String {
    value(name, counts).expect_err(name).to_string()
}

#[test]
fn rates_are_those_of_their_names() {
    let counts = [
        ("INSTRUCTIONS", 2_000_000),
        ("CYCLES", 1_000_000),
        ("BRANCH_MISSES", 1_000),
        ("L1D_MISSES", 5_000),
        ("L1I_MISSES", 400),
        ("L2_MISSES", 3_000),
        ("LLC_MISSES", 2_000),
        ("DTLB_MISSES", 600),
        ("ITLB_MISSES", 20),
        ("NANOSECONDS", 1_000_000),
        ("CYCLES:uk", 3_000_000),
        ("task-clock", 1_000_000),
    ];
    let wanted = [
        ("ipc", 2.0),
        ("branch-mpki", 0.5),
        ("l1d-mpki", 2.5),
        ("l1i-mpki", 0.2),
        ("l2-mpki", 1.5),
        ("llc-mpki", 1.0),
        ("dtlb-mpki", 0.3),
        ("itlb-mpki", 0.01),
        // 2000 lines of 64 bytes in a millisecond.
        ("llc-miss-bandwidth", 128e6),
        ("frequency-on-cpu", 3e9),
    ];
    assert_values(&counts, &wanted);
    assert!(refusal("ipc", &[("INSTRUCTIONS", 1), ("CYCLES", 0)]).contains("CYCLES is 0"));
    assert!(refusal("ipc", &[("INSTRUCTIONS", 1)]).contains("CYCLES was not counted"));
}

/// Contexts with 1250 and 1000 instructions in the same 1000 cycles: each has its IPC, the core 2.25.
#[test]
fn a_core_does_what_its_contexts_do() {
    let counts = [("INSTRUCTIONS", 2_250), ("CONTEXTS", 2), ("CPU_CLK_UNHALTED.THREAD_ANY", 2_000)];
    assert_values(&counts, &[("core-ipc", 2.25)]);
}

/// A second at 3 GHz: both contexts halt for half of it while waiting for a disk, a third of it at
/// once. Halts do not change the non-halted CPI; they do the nominal one.
#[test]
fn halts_lengthen_the_nominal_cpi_only() {
    let of = |non_halted, instructions| {
        [
            ("global_power_events:RUNNING", non_halted),
            ("instr_retired:NBOGUSNTAG:NBOGUSTAG", instructions),
            ("TSC", 3_000_000_000),
            ("global_power_events:RUNNING:thr=15:cmpl", 2_000_000_000),
        ]
    };
    let first = of(1_500_000_000, 750_000_000);
    assert_values(&first, &[("non-halted-cpi", 2.0), ("nominal-cpi", 4.0)]);
    let second = of(1_500_000_000, 500_000_000);
    assert_values(&second, &[("non-halted-cpi", 3.0), ("nominal-cpi", 6.0)]);
    let package = of(3_000_000_000, 1_250_000_000);
    let wanted = [("non-sleep-cpi", 1.6), ("nominal-cpi", 2.4), ("package-awake", 2.0 / 3.0)];
    assert_values(&package, &wanted);
    assert!(refusal("nominal-cpi", &of(0, 0)).contains("NBOGUSTAG is 0"), "it retired nothing");
}

/// "A code with a stall-free IPC of 1 could show 75% stall cycles."
#[test]
fn an_ipc_of_one_may_show_three_quarters_stalled() {
    let of = |instructions, stalled| {
        let counts = ["STALL_CYCLES", "UOPS_RETIRED.STALL_CYCLES"].map(|event| (event, stalled));
        let dispatch = ("CYCLE_ACTIVITY.CYCLES_NO_DISPATCH", stalled);
        [counts[0], counts[1], dispatch, ("CYCLES", 4_000), ("INSTRUCTIONS", instructions)]
    };
    let wanted = [
        ("stall-share-issue", 0.75),
        ("stall-share-dispatch", 0.75),
        ("stall-share-retire", 0.75),
        ("stall-share-bunched", 0.75),
    ];
    assert_values(&of(4_000, 3_000), &wanted);
    // At full width nothing bunches, and beyond it neither.
    assert_values(&of(16_000, 1_000), &[("stall-share-bunched", 0.0)]);
    assert_values(&of(17_000, 1_000), &[("stall-share-bunched", 0.0)]);
    for (name, _) in wanted {
        let refused = refusal(name, &of(1, 4_001));
        assert!(refused.contains("(4001) is more than CYCLES (4000)"), "{refused}");
    }
}

/// STREAM stalls for about 90 % of its cycles. With ordinary stores 93 % of these have a miss
/// pending; with streaming stores 30 %, but the store buffer is full in 70 to 91 % of all cycles.
#[test]
fn the_larger_count_finds_streams_memory_stalls_with_either_store() {
    for (model, loads) in
        [("snb", "CYCLE_ACTIVITY.STALLS_L2_PENDING"), ("ivb", "CYCLE_ACTIVITY.STALLS_LDM_PENDING")]
    {
        let (share, most) =
            (format!("memory-stall-share-{model}"), format!("memory-stall-most-{model}"));
        for (pending, full, larger, sum) in [
            (837_000, 100_000, 0.837, 0.937),
            (270_000, 910_000, 0.91, 1.0),
            // SSE with streaming stores: even the sum is far from 90 %, and the text says so.
            (250_000, 340_000, 0.34, 0.59),
        ] {
            let counts = [(loads, pending), ("RESOURCE_STALLS.SB", full), ("CYCLES", 1_000_000)];
            assert_values(&counts, &[(&share, larger), (&most, sum)]);
        }
        assert!(named(&share).unwrap().text().contains("streaming stores"));
        let impossible = [(loads, 0), ("RESOURCE_STALLS.SB", 7), ("CYCLES", 5)];
        assert!(refusal(&share, &impossible).contains("(7) is more than CYCLES (5)"));
        assert!(refusal(&most, &impossible).contains("(7) is more than CYCLES (5)"));
    }
    // From Skylake no cycle is in both counts.
    let of = |loads, stores| {
        let stalls = ("CYCLE_ACTIVITY.STALLS_MEM_ANY", loads);
        [stalls, ("EXE_ACTIVITY.BOUND_ON_STORES", stores), ("CYCLES", 1_000)]
    };
    assert_values(&of(300, 200), &[("memory-stall-share-skl", 0.5)]);
    assert_values(&of(900, 200), &[("memory-stall-share-skl", 1.0)]);
    assert!(refusal("memory-stall-share-skl", &of(1_001, 0)).contains("(1001) is more than"));
}

#[test]
fn memory_stalls_have_their_events_on_the_models_of_their_rule() {
    for (suffix, models) in [
        ("snb", &["snb", "jkt"][..]),
        ("ivb", &["ivb", "ivt", "hsw", "hsx", "bdw", "bdx", "bdw-de"]),
        ("skl", &["skl", "skx", "clx", "icl", "icx", "rkl", "tgl"]),
    ] {
        let metric = named(&format!("memory-stall-share-{suffix}")).unwrap();
        for model in models {
            let cpu = CpuModel::named(model).unwrap();
            for event in metric.events() {
                assert!(resolve(cpu, event).is_ok(), "{model}: {event}");
            }
        }
    }
}

/// 10 µs at a base of 2.1 GHz (Xeon Platinum 8160), never halted, at 3.5 GHz; then 500 µs of which a
/// change of frequency halts 50, at 2.8 GHz otherwise.
#[test]
fn a_halt_shows_in_the_net_frequency() {
    let of = |tsc, cycles, reference| {
        let base = ("BASE_HZ", 2_100_000_000);
        [("TSC", tsc), ("CYCLES:uk", cycles), ("REF_CYCLES:uk", reference), base]
    };
    let names = ["core-utilisation", "frequency-unhalted", "frequency-net"];
    let with = |values: [f64; 3]| [0, 1, 2].map(|at| (names[at], values[at]));
    assert_values(&of(21_000, 35_000, 21_000), &with([1.0, 3.5e9, 3.5e9]));
    assert_values(&of(1_050_000, 1_260_000, 945_000), &with([0.9, 2.8e9, 2.52e9]));
    assert!(refusal("frequency-net", &of(0, 1, 1)).contains("TSC is 0"));
    assert!(refusal("frequency-unhalted", &of(1, 1, 0)).contains("REF_CYCLES:uk is 0"));
}

#[test]
fn the_kernels_part_is_at_most_the_whole() {
    let of = |instructions, cycles| {
        let kernel = [("INSTRUCTIONS:k", instructions), ("CYCLES:k", cycles)];
        [kernel[0], kernel[1], ("INSTRUCTIONS:uk", 70_000_000), ("CYCLES:uk", 35_000_000)]
    };
    let wanted = [("kernel-instructions", 0.0001), ("kernel-cycles", 0.01)];
    assert_values(&of(7_000, 350_000), &wanted);
    assert_values(&of(0, 0), &[("kernel-instructions", 0.0), ("kernel-cycles", 0.0)]);
    let over = of(70_000_001, 35_000_001);
    for name in ["kernel-instructions", "kernel-cycles"] {
        assert!(refusal(name, &over).contains("is more than"), "{name}");
    }
}

/// The number of instructions that a section should execute is the user's, and so is its metric.
#[test]
fn instructions_of_those_expected_are_a_metric_of_the_user() {
    let text = "of-expected | 1 | INSTRUCTIONS:uk / 70000 | executed over expected instructions";
    let metric = Metric::read_all("mine.metrics", text).unwrap().remove(0);
    assert_eq!(metric.value(|_| Some(71_400)).unwrap(), 1.02);
}

/// `slots.rs` and `measured.rs` have those of issue slots, `arm.rs` those of Arm.
#[test]
fn every_formula_has_a_known_answer() {
    let here = concat!(include_str!("formulas.rs"), include_str!("arm.rs"));
    for metric in builtin().iter().filter(|metric| !metric.name().starts_with("topdown-")) {
        // Names that a test makes of a suffix.
        let name = metric.name().trim_end_matches("snb").trim_end_matches("ivb");
        assert!(here.contains(&format!("\"{name}")), "{} has no known answer", metric.name());
        assert!(metric.source().is_some(), "{} has no source", metric.name());
    }
}
