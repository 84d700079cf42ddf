//! The built-in metrics against the library's own functions, and against the models' counters.

use std::collections::BTreeMap;

use pacman_events::allocate::Pmu;
use pacman_events::{CpuModel, resolve};
use pacman_metrics::clockticks::{ContextTicks, PackageTicks, clockticks};
use pacman_metrics::definitions;
use pacman_metrics::language::{Countable, Metric, builtin};
use pacman_metrics::rates::{Counted, bandwidth, ipc, mpki};
use pacman_metrics::stalls::{MemoryRule, Stage, StallShare};
use pacman_metrics::utilisation::{KernelPart, Section, Utilisation};
use pacman_metrics::{ErrorKind, Result};
use proptest::prelude::*;

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

/// All lines but those of slots, which `slots.rs` holds against the manuals' formulas.
fn of_one_context() -> impl Iterator<Item = &'static Metric> {
    builtin().iter().filter(|metric| !metric.name().starts_with("topdown-"))
}

/// What the Rust function of the same meaning makes of the counts, in the order of the names.
fn by_function(metric: &Metric, counts: &[u64]) -> Result<f64> {
    let whole = |count| Counted { count, group: 0, enabled_ns: 1_000, running_ns: 1_000 };
    let (first, second) = (counts[0], counts[1]);
    match metric.name() {
        "ipc" => ipc(whole(first), whole(second)).map(|rate| rate.value),
        name if name.ends_with("-mpki") => mpki(whole(first), whole(second)).map(|rate| rate.value),
        "llc-miss-bandwidth" => {
            let lines = Counted { count: first, group: 0, enabled_ns: second, running_ns: second };
            bandwidth(lines, 64).map(|rate| rate.value)
        }
        "non-halted-cpi" => netburst(first, second, first)
            .map(|(non_halted, _)| non_halted.expect("its ticks were counted")),
        "nominal-cpi" => netburst(first, second, 0).map(|(_, nominal)| nominal),
        "stall-share-issue" | "stall-share-dispatch" => {
            StallShare::of(Stage::Issue, 4.0, second, 0, first).map(|stalls| stalls.share)
        }
        name @ ("memory-stall-share-snb" | "memory-stall-share-ivb" | "memory-stall-share-skl") => {
            let rule = MemoryRule::of(model(name.rsplit('-').next().unwrap()))?;
            assert_eq!(metric.events()[..2], [rule.loads, rule.stores]);
            rule.stalls(counts[2], first, second).map(|stalls| stalls.share)
        }
        "core-utilisation" => utilisation(Section { tsc: second, reference: first, ..SECTION })
            .map(|found| found.core),
        "frequency-unhalted" => {
            let section = Section { cycles: first, reference: second, ..SECTION };
            at(counts[2], section).map(|found| found.unhalted_hz)
        }
        "frequency-net" => {
            at(counts[2], Section { cycles: first, tsc: second, reference: 1, ..SECTION })
                .map(|found| found.net_hz)
        }
        "kernel-instructions" => {
            let kernel = Some(KernelPart { instructions: first, cycles: 0 });
            let found = utilisation(Section { instructions: second, kernel, ..SECTION });
            found.map(|found| found.kernel_instructions.expect("it was counted"))
        }
        "kernel-cycles" => {
            let kernel = Some(KernelPart { instructions: 0, cycles: first });
            let found = utilisation(Section { cycles: second, kernel, ..SECTION });
            found.map(|found| found.kernel_cycles.expect("it was counted"))
        }
        other => panic!("{other} is held against no function"),
    }
}

/// Long enough for any reference count of the test.
const SECTION: Section = Section {
    tsc: u64::MAX >> 12,
    instructions: 1_000,
    cycles: 1_000,
    reference: 1_000,
    kernel: None,
    expected: None,
};

fn utilisation(section: Section) -> Result<Utilisation> {
    at(1_000_000_000, section)
}

fn at(base_hz: u64, section: Section) -> Result<Utilisation> {
    Utilisation::of(&section, base_hz as f64)
}

fn netburst(tsc: u64, instructions: u64, non_halted: u64) -> Result<(Option<f64>, f64)> {
    let contexts = [ContextTicks { non_halted, instructions }];
    let ticks = clockticks(&PackageTicks { tsc, non_sleep: None, contexts: &contexts })?;
    let cpi = ticks.contexts[0].expect("instructions were retired");
    Ok((cpi.non_halted, cpi.nominal))
}

fn close(one: f64, other: f64) -> bool {
    // The two may round in another order.
    (one - other).abs() <= 4.0 * f64::EPSILON * one.abs()
}

proptest! {
    /// The first count of a share is a part of the whole, as it is on hardware.
    #[test]
    fn text_and_function_agree(
        part in 0u64..1 << 40, more in 1u64..1 << 40, third in 1u64..1 << 40, which in 0usize..64,
    ) {
        let lines: Vec<&Metric> = of_one_context().collect();
        let metric = lines[which % lines.len()];
        let names = metric.expression().names();
        let whole = part + more;
        let counts = match names.len() {
            // Two shares of the cycles, of which each is a part.
            3 if metric.name().starts_with("memory") => vec![part, third.min(whole), whole],
            3 => vec![part, whole, third],
            _ => vec![part, whole],
        };
        let known: BTreeMap<&str, u64> = names.into_iter().zip(counts.iter().copied()).collect();
        let text = metric.value(|name| known.get(name).copied());
        // Functions for sections refuse those in which nothing ran; a quotient may be 0.
        match by_function(metric, &counts) {
            Ok(value) => {
                let text = text.unwrap();
                prop_assert!(close(value, text), "{}: {value} and {text}", metric.name());
            }
            Err(error) => {
                prop_assert!(part == 0, "{}: {error}", metric.name());
                prop_assert_eq!(text.unwrap(), 0.0);
            }
        }
    }
}

/// So that no line escapes by the draw.
#[test]
fn every_line_is_held_against_a_function() {
    for metric in of_one_context() {
        let counts = [300, 600, 900];
        let names = metric.expression().names();
        let value = metric.value(|name| {
            let at = names.iter().position(|known| *known == name)?;
            Some(counts[at])
        });
        let (value, function) = (value.unwrap(), by_function(metric, &counts).unwrap());
        assert!(close(value, function), "{}: {value} and {function}", metric.name());
        assert!(metric.source().is_some(), "{} has no source", metric.name());
    }
}

#[test]
fn a_definition_of_the_same_name_says_the_same() {
    let mut shared = 0;
    for metric in builtin() {
        if let Some(known) = definitions().find(|known| known.name == metric.name()) {
            assert_eq!((metric.unit(), metric.source()), (known.unit, Some(known.source)));
            shared += 1;
        }
    }
    assert!(shared >= 9, "{shared}");
}

#[test]
fn every_event_is_known_to_some_model() {
    let cpus = ["skl", "snb", "ivb", "p4-prescott", "zen3", "spr", "zen4", "zen5"].map(model);
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
