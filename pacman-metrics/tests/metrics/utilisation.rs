//! Utilisation, frequencies and flags of short sections.

use pacman_metrics::ErrorKind;
use pacman_metrics::utilisation::{Flag, KernelPart, Section, Utilisation};

/// 10 µs at a base of 2.1 GHz (Xeon Platinum 8160), never halted, at 3.5 GHz.
const SHORT: Section = Section {
    tsc: 21_000,
    instructions: 70_000,
    cycles: 35_000,
    reference: 21_000,
    kernel: Some(KernelPart { instructions: 0, cycles: 0 }),
    expected: Some(70_000),
};

fn near(found: f64, wanted: f64) -> bool {
    (found - wanted).abs() < 1e-9 * wanted.abs().max(1.0)
}

#[test]
fn a_clean_short_section_has_no_flags() {
    let found = Utilisation::of(&SHORT, 2.1e9).unwrap();
    assert!(near(found.core, 1.0) && near(found.seconds, 1e-5));
    assert!(near(found.unhalted_hz, 3.5e9) && near(found.net_hz, 3.5e9));
    assert_eq!((found.of_expected, found.kernel_cycles), (Some(1.0), Some(0.0)));
    assert!(found.flags.is_empty() && !found.is_discarded());
}

/// A change of frequency halts for 6 to 50 µs: here 50 µs of 500, at 2.8 GHz otherwise.
#[test]
fn a_halt_shows_in_the_net_frequency() {
    let section =
        Section { tsc: 1_050_000, cycles: 1_260_000, reference: 945_000, expected: None, ..SHORT };
    let found = Utilisation::of(&section, 2.1e9).unwrap();
    assert!(near(found.core, 0.9) && near(found.unhalted_hz, 2.8e9) && near(found.net_hz, 2.52e9));
    assert_eq!(found.flags, [Flag::Halted]);
    assert!(!found.is_discarded());
}

#[test]
fn the_kernel_spoils_short_sections_and_large_shares_of_long_ones() {
    let kernel = Some(KernelPart { instructions: 1, cycles: 0 });
    let found = Utilisation::of(&Section { kernel, ..SHORT }, 2.1e9).unwrap();
    assert_eq!(found.flags, [Flag::KernelInShortSection]);
    assert!(found.is_discarded());

    // Ten milliseconds with a timer interrupt: far below a hundredth, and to be expected.
    let long = |kernel| Section {
        tsc: 21_000_000,
        instructions: 70_000_000,
        cycles: 35_000_000,
        reference: 21_000_000,
        kernel: Some(kernel),
        expected: None,
    };
    let quiet = long(KernelPart { instructions: 3_000, cycles: 9_000 });
    assert!(Utilisation::of(&quiet, 2.1e9).unwrap().flags.is_empty());
    let busy = long(KernelPart { instructions: 3_000, cycles: 350_000 });
    let busy = Utilisation::of(&busy, 2.1e9).unwrap();
    assert_eq!((busy.flags.as_slice(), busy.kernel_cycles), (&[Flag::KernelShare][..], Some(0.01)));
    assert!(!busy.is_discarded());
}

#[test]
fn instructions_are_held_against_those_expected() {
    let more = Section { instructions: 71_400, ..SHORT };
    let found = Utilisation::of(&more, 2.1e9).unwrap();
    assert_eq!((found.of_expected, found.flags), (Some(1.02), vec![Flag::MoreInstructions]));
}

#[test]
fn impossible_sections_are_refused() {
    let over = KernelPart { instructions: 70_001, cycles: 0 };
    for (section, base, why) in [
        (Section { tsc: 0, ..SHORT }, 2.1e9, "no time passed on the TSC"),
        (Section { instructions: 0, ..SHORT }, 2.1e9, "no instruction was counted"),
        (Section { cycles: 0, ..SHORT }, 2.1e9, "no cycle was counted"),
        (Section { reference: 0, ..SHORT }, 2.1e9, "no reference cycle was counted"),
        (Section { reference: 21_201, ..SHORT }, 2.1e9, "21201 reference cycles do not fit 21000"),
        (Section { reference: u64::MAX, ..SHORT }, 2.1e9, "do not fit 21000"),
        (Section { kernel: Some(over), ..SHORT }, 2.1e9, "the kernel counts more than both"),
        (SHORT, 0.0, "the base frequency is not known"),
    ] {
        let error = Utilisation::of(&section, base).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotComputable);
        assert!(error.to_string().contains(why), "{error}");
    }
    // One step of the counter beyond the section is the counter's, not an error.
    assert!(Utilisation::of(&Section { reference: 21_084, ..SHORT }, 2.1e9).is_ok());
}
