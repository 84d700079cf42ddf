//! Every processor that the lab lists boots, Linux's driver takes it for what it is, and counts.

use super::arm;
use super::boots::{self, Options};

/// One line of `lab/models.tsv`.
pub(crate) struct Processor {
    pub(crate) options: Options,
    /// Linux's name of its driver.
    driver: &'static str,
    /// Each PMU, and the events that it counts at once.
    pmus: &'static [(&'static str, u32)],
    /// Further probes that its guest runs.
    pub(crate) probes: &'static [&'static str],
}

const fn processor(
    options: Options,
    driver: &'static str,
    pmus: &'static [(&'static str, u32)],
    probes: &'static [&'static str],
) -> Processor {
    Processor { options, driver, pmus, probes }
}

const FOUR: &[(&str, u32)] = &[("cpu", 4)];
const SIX: &[(&str, u32)] = &[("cpu", 6)];
const EIGHT: &[(&str, u32)] = &[("cpu", 8)];
const ZEN: &str = "Fam17h+ core perfctr, AMD PMU driver";

pub(crate) static PROCESSORS: [Processor; 21] = [
    processor(&["--model", "core2"], "Core2 events", &[("cpu", 2)], &[]),
    processor(&["--model", "nehalem"], "Nehalem events", FOUR, &[]),
    processor(&["--model", "westmere"], "Westmere events", FOUR, &[]),
    processor(&["--model", "sandybridge"], "SandyBridge events", FOUR, &[]),
    processor(&["--model", "ivybridge"], "IvyBridge events", FOUR, &[]),
    processor(&["--model", "haswell"], "Haswell events", FOUR, &["overflow", "unplug", "energy"]),
    processor(&["--model", "broadwell"], "Broadwell events", FOUR, &[]),
    processor(&["--model", "skylake"], "Skylake events", FOUR, &[]),
    processor(&["--model", "cascadelake"], "Skylake events", FOUR, &[]),
    processor(
        &["--model", "icelake"],
        "Icelake events",
        EIGHT,
        &["topdown", "topdown_page", "energy"],
    ),
    processor(
        &["--model", "sapphirerapids"],
        "Sapphire Rapids events",
        EIGHT,
        &["topdown", "overflow", "unplug"],
    ),
    processor(
        &["--model", "alderlake"],
        "Alderlake Hybrid events",
        &[("cpu_core", 8), ("cpu_atom", 6)],
        &["topdown", "hybrid"],
    ),
    processor(&["--model", "knl"], "Knights Landing/Mill events", &[("cpu", 2)], &[]),
    processor(&["--model", "goldmont"], "Goldmont events", FOUR, &[]),
    // Its raw events are of another form than the probe's.
    processor(&["--model", "p4"], "Netburst events", &[("cpu", 0)], &["netburst_stale"]),
    processor(&["--model", "zen"], ZEN, SIX, &[]),
    processor(&["--model", "zen2"], ZEN, SIX, &[]),
    processor(&["--model", "zen3"], ZEN, SIX, &[]),
    processor(&["--model", "zen4"], ZEN, SIX, &["overflow", "unplug", "energy"]),
    processor(&["--model", "zen5"], ZEN, SIX, &[]),
    processor(&["--model", "none"], "using software events only", &[], &[]),
];

/// The job of a boot test.
pub(crate) const BOOT: &str = "dmesg | grep 'Performance Events'; /t/boot ";

/// The known loop of the probe, and the most instructions that reading around it takes.
const LOOP: u64 = 2_000_000;
const READING: u64 = 100;

fn boots(model: &str) {
    let processor = PROCESSORS.iter().find(|it| it.options[1] == model).expect("a line of it");
    let Some(said) = boots::said(processor.options, BOOT) else { return };
    let text = &said.text;
    assert_eq!(said.status, 0, "{text}");
    assert!(text.contains(processor.driver), "no {:?} in:\n{text}", processor.driver);
    assert_eq!(text.matches(", loop of ").count(), processor.pmus.len(), "{text}");
    for (pmu, general) in processor.pmus {
        let line = |part: &str| {
            let begin = format!("{pmu}: {part}");
            let line = text.lines().find(|line| line.starts_with(&begin));
            line.unwrap_or_else(|| panic!("no {begin:?} in:\n{text}"))
        };
        assert!(line("name ").ends_with(&format!("general {general}")), "{text}");
        let counted = line("cpu ");
        for who in ["driver ", "emulator "] {
            let number = counted.split_once(who).expect(who).1;
            let number: u64 = number.split(',').next().expect(who).parse().expect("a count");
            assert!((LOOP..LOOP + READING).contains(&number), "{who}in {counted}");
        }
    }
}

/// A test for each processor, by its name.
macro_rules! boots {
    ($($model:ident)*) => { $(#[test] fn $model() { boots(stringify!($model)); })* };
}

boots!(core2 nehalem westmere sandybridge ivybridge haswell broadwell skylake cascadelake icelake
    sapphirerapids alderlake knl goldmont p4 zen zen2 zen3 zen4 zen5 none);

#[test]
fn every_processor_of_the_list_has_a_test() {
    let list = include_str!("../../lab/models.tsv");
    let listed: Vec<&str> = list
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split('\t').next())
        .collect();
    let x86 = PROCESSORS.iter().map(|it| it.options[1]);
    let tested: Vec<&str> = x86.chain(arm::MODELS).collect();
    assert_eq!(listed, tested);
}
