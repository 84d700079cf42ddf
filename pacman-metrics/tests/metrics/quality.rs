//! Two readings of sections whose story is known.

use pacman_metrics::ErrorKind;
use pacman_metrics::quality::{Counts, Flag, KernelPart, Quality, Reading, Unchecked, check};

/// The processor of the article's machines: a Xeon Platinum 8160.
const BASE: f64 = 2.1e9;

const BEGIN: Reading = Reading {
    tsc: 50_000_000,
    nanos: Some(7_000_000),
    cpu: Some(3),
    counts: Some(Counts {
        instructions: 10_000,
        cycles: 20_000,
        reference: 30_000,
        kernel: Some(KernelPart { instructions: 40, cycles: 50 }),
    }),
    switches: Some(2),
    faults: Some(9),
    interrupts: Some(1_000),
};

/// 100 µs later: never halted, at 3.5 GHz, nothing but the section.
fn undisturbed() -> Reading {
    Reading {
        tsc: BEGIN.tsc + 210_000,
        nanos: Some(7_100_000),
        counts: Some(Counts {
            instructions: 10_000 + 600_000,
            cycles: 20_000 + 350_000,
            reference: 30_000 + 210_000,
            kernel: BEGIN.counts.unwrap().kernel,
        }),
        ..BEGIN
    }
}

fn counted(change: impl Fn(&mut Counts)) -> Reading {
    let mut end = undisturbed();
    end.counts.iter_mut().for_each(change);
    end
}

fn flags(end: &Reading) -> Vec<Flag> {
    check(&BEGIN, end, BASE).unwrap().flags
}

#[test]
fn a_section_alone_has_no_flags() {
    let quality = check(&BEGIN, &undisturbed(), BASE).unwrap();
    assert_eq!((quality.flags.len(), quality.unchecked.len()), (0, 0));
    assert!(!quality.discards());
}

#[test]
fn every_disturbance_has_its_flag() {
    let end = undisturbed();
    for (end, flag) in [
        (Reading { cpu: Some(4), ..end }, Flag::Migrated),
        (Reading { switches: Some(3), ..end }, Flag::Switched),
        (Reading { faults: Some(10), ..end }, Flag::Faulted),
        (Reading { interrupts: Some(1_001), ..end }, Flag::Interrupted),
        // 100 µs of the TSC, 102 of the clock; and the other way.
        (Reading { nanos: Some(7_102_000), ..end }, Flag::ClocksDisagree),
        (Reading { nanos: Some(7_098_000), ..end }, Flag::ClocksDisagree),
        (counted(|counts| counts.reference += 1_000), Flag::MoreThanTime),
        (
            counted(|counts| counts.kernel = Some(KernelPart { instructions: 41, cycles: 50 })),
            Flag::KernelInShortSection,
        ),
        (
            counted(|counts| counts.kernel = Some(KernelPart { instructions: 40, cycles: 51 })),
            Flag::KernelInShortSection,
        ),
        (
            counted(|counts| {
                counts.kernel = Some(KernelPart { instructions: 40, cycles: 400_000 })
            }),
            Flag::KernelBeyondAll,
        ),
        // A halt of 6 µs, the shortest that the article saw.
        (counted(|counts| counts.reference -= 12_600), Flag::Halted),
        (Reading { tsc: BEGIN.tsc - 1, ..end }, Flag::NonMonotonic),
        (Reading { faults: Some(8), ..end }, Flag::NonMonotonic),
        (counted(|counts| counts.cycles = 0), Flag::NonMonotonic),
    ] {
        assert_eq!(flags(&end), [flag], "{flag:?}");
        let quality = check(&BEGIN, &end, BASE).unwrap();
        // A halt is to be explained; everything else spoils the section.
        assert_eq!(quality.discards(), flag != Flag::Halted, "{flag:?}");
        assert!(!flag.text().is_empty());
    }
}

#[test]
fn tolerances_are_those_of_the_clocks() {
    let end = undisturbed();
    // 1 µs of 100 is a hundredth; and readings lie apart.
    assert_eq!(flags(&Reading { nanos: Some(7_101_150), ..end }), []);
    // One step of the fixed counter.
    assert_eq!(flags(&counted(|counts| counts.reference += 200)), []);
    // A longer section may hold a timer interrupt: 2 ms with 300 of 12 million instructions.
    let long = Reading {
        tsc: BEGIN.tsc + 4_200_000,
        nanos: Some(9_000_000),
        counts: Some(Counts {
            instructions: 12_010_000,
            cycles: 7_020_000,
            reference: 4_230_000,
            kernel: Some(KernelPart { instructions: 340, cycles: 1_050 }),
        }),
        ..BEGIN
    };
    assert_eq!(flags(&long), []);
    let interrupted = check(&BEGIN, &Reading { interrupts: Some(1_001), ..long }, BASE).unwrap();
    assert_eq!((&interrupted.flags[..], interrupted.discards()), (&[Flag::Interrupted][..], false));
    assert!(check(&BEGIN, &Reading { cpu: Some(4), ..long }, BASE).unwrap().discards());
    // A hundredth of the cycles in the kernel is to be explained.
    let mut busy = long;
    busy.counts.iter_mut().for_each(|counts| {
        counts.kernel = Some(KernelPart { instructions: 340, cycles: 50 + 70_000 });
    });
    let busy = check(&BEGIN, &busy, BASE).unwrap();
    assert_eq!((&busy.flags[..], busy.discards()), (&[Flag::KernelShare][..], false));
}

#[test]
fn several_flags_stand_in_order() {
    let end = Reading { cpu: Some(4), switches: Some(5), interrupts: Some(1_004), ..undisturbed() };
    assert_eq!(flags(&end), [Flag::Migrated, Flag::Switched, Flag::Interrupted]);
}

#[test]
fn what_was_not_read_was_not_checked() {
    let bare = |tsc| Reading { tsc, ..Reading::default() };
    let Quality { flags, unchecked, .. } = check(&bare(5), &bare(2_105), BASE).unwrap();
    assert_eq!(flags, []);
    use Unchecked::{Clock, Counts, Cpu, Faults, Interrupts, Kernel, Switches};
    assert_eq!(unchecked, [Clock, Cpu, Counts, Kernel, Switches, Faults, Interrupts]);
    // One end is not enough.
    let end = Reading { cpu: None, ..undisturbed() };
    assert_eq!(check(&BEGIN, &end, BASE).unwrap().unchecked, [Cpu]);
    let end = counted(|counts| counts.kernel = None);
    assert_eq!(check(&BEGIN, &end, BASE).unwrap().unchecked, [Kernel]);
}

#[test]
fn sections_without_time_or_work_are_refused() {
    for (end, base, why) in [
        (undisturbed(), 0.0, "because the base frequency is not known"),
        (undisturbed(), f64::NAN, "because the base frequency is not known"),
        (BEGIN, BASE, "because no time passed on the TSC"),
        (counted(|counts| counts.instructions = 10_000), BASE, "no instruction was counted"),
    ] {
        let error = check(&BEGIN, &end, base).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotComputable);
        assert!(error.to_string().contains(why), "{error}");
    }
}
