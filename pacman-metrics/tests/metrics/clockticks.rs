//! CPI by the manual's section 18.17, on packages that halt.

use pacman_metrics::ErrorKind;
use pacman_metrics::clockticks::{ContextTicks, PackageTicks, clockticks};

fn context(non_halted: u64, instructions: u64) -> ContextTicks {
    ContextTicks { non_halted, instructions }
}

/// A second at 3 GHz: both contexts halt for half of it while waiting for a disk, a third of it
/// at once. Halts do not change the non-halted CPI; they do the nominal one.
#[test]
fn halts_lengthen_the_nominal_cpi_only() {
    let contexts = [context(1_500_000_000, 750_000_000), context(1_500_000_000, 500_000_000)];
    let package =
        PackageTicks { tsc: 3_000_000_000, non_sleep: Some(2_000_000_000), contexts: &contexts };
    let found = clockticks(&package).unwrap();
    let of = |at: usize| found.contexts[at].unwrap();
    assert_eq!((of(0).non_halted, of(0).nominal), (Some(2.0), 4.0));
    assert_eq!((of(1).non_halted, of(1).nominal), (Some(3.0), 6.0));
    assert_eq!((found.package.non_halted, found.package.nominal), (Some(1.6), 2.4));
    assert_eq!(found.awake, Some(2.0 / 3.0));
}

/// With one context and no power saving both clocks are equivalent, says the manual.
#[test]
fn one_context_that_never_halts_has_one_cpi() {
    let contexts = [context(1_000_000, 400_000)];
    let package = PackageTicks { tsc: 1_000_000, non_sleep: Some(1_000_000), contexts: &contexts };
    let found = clockticks(&package).unwrap();
    let one = found.contexts[0].unwrap();
    assert_eq!([one.non_halted.unwrap(), one.nominal, found.package.nominal], [2.5; 3]);
    assert_eq!(found.awake, Some(1.0));
}

#[test]
fn what_was_not_counted_stays_open() {
    let contexts = [context(900, 300), context(0, 0)];
    let found = clockticks(&PackageTicks { tsc: 1_000, non_sleep: None, contexts: &contexts });
    let found = found.unwrap();
    assert_eq!(found.contexts[1], None, "a context that retired nothing has no CPI");
    assert_eq!((found.package.non_halted, found.awake), (None, None));
}

#[test]
fn clocks_that_contradict_each_other_are_refused() {
    let two = [context(600, 10), context(700, 10)];
    for (tsc, non_sleep, contexts, why) in [
        (1_000, None, &[][..], "no context was counted"),
        (0, None, &two[..], "the time stamp counter did not move"),
        (1_000, None, &[context(10, 0)], "no instruction was retired"),
        (650, None, &two, "non-halted clockticks (700) exceed the time stamp counter (650)"),
        (1_000, Some(1_002), &two, "non-sleep clockticks (1002) exceed the time stamp"),
        (1_000, Some(650), &two, "non-halted clockticks (700) exceed the non-sleep"),
        (2_000, Some(1_400), &two, "non-sleep clockticks (1400) exceed all contexts'"),
    ] {
        let error = clockticks(&PackageTicks { tsc, non_sleep, contexts }).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotComputable);
        assert!(error.to_string().contains(why), "{error}");
    }
    // A thousandth is reading time.
    let two = [context(60_000, 10), context(70_000, 10)];
    let near = PackageTicks { tsc: 100_000, non_sleep: Some(100_050), contexts: &two };
    assert!(clockticks(&near).is_ok());
}
