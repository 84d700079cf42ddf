//! Ratios and what speaks against them.

use pacman_metrics::ErrorKind;
use pacman_metrics::rates::{Counted, RateFlag, bandwidth, core_ipc, ipc, mpki, slowdown};

/// A count of a group that always counted, for a second.
fn whole(count: u64, group: u32) -> Counted {
    Counted { count, group, enabled_ns: 1_000_000_000, running_ns: 1_000_000_000 }
}

#[test]
fn counts_of_one_group_have_no_flags() {
    let rate = ipc(whole(3_000, 1), whole(2_000, 1)).unwrap();
    assert_eq!((rate.value, rate.flags.as_slice()), (1.5, &[][..]));
    assert_eq!(mpki(whole(5_000, 1), whole(2_000_000, 1)).unwrap().value, 2.5);
    // 10 million lines of 64 bytes in a second.
    assert_eq!(bandwidth(whole(10_000_000, 1), 64).unwrap().value, 640e6);
}

#[test]
fn other_groups_and_partial_times_are_flagged() {
    let half = Counted { running_ns: 500_000_000, ..whole(1_000, 2) };
    assert_eq!(ipc(whole(1, 1), whole(1, 2)).unwrap().flags, [RateFlag::Groups]);
    assert_eq!(ipc(half, half).unwrap().flags, [RateFlag::Partial]);
    assert_eq!(ipc(whole(1, 1), half).unwrap().flags, [RateFlag::Groups, RateFlag::Partial]);
    assert_eq!(bandwidth(half, 64).unwrap().flags, [RateFlag::Partial]);
}

/// Alone 2.0; beside its sibling 1.25, and the core then does 2.25.
#[test]
fn a_sibling_slows_the_context_and_speeds_the_core() {
    let alone = ipc(whole(2_000, 0), whole(1_000, 0)).unwrap();
    let together = ipc(whole(1_250, 0), whole(1_000, 0)).unwrap();
    assert_eq!(slowdown(&alone, &together).unwrap().value, 1.6);
    let core = core_ipc(&[whole(1_250, 0), whole(1_000, 7)], whole(1_000, 3)).unwrap();
    assert_eq!((core.value, core.flags.as_slice()), (2.25, &[][..]));

    let half = Counted { running_ns: 1, ..whole(1_000, 0) };
    let doubtful = ipc(half, half).unwrap();
    assert_eq!(slowdown(&alone, &doubtful).unwrap().flags, [RateFlag::Partial]);
    assert_eq!(core_ipc(&[half, half], whole(1, 0)).unwrap().flags, [RateFlag::Partial]);
}

#[test]
fn ratios_without_meaning_are_refused() {
    let never = Counted { running_ns: 0, ..whole(0, 0) };
    let longer = Counted { enabled_ns: 1, ..whole(1, 0) };
    let still = ipc(whole(0, 0), whole(1, 0)).unwrap();
    for (result, why) in [
        (ipc(whole(1, 0), whole(0, 0)), "IPC is not computable because the count below the line"),
        (mpki(never, whole(1, 0)), "MPKI is not computable because a group was enabled and never"),
        (ipc(whole(1, 0), longer), "counted for longer than it was enabled"),
        (core_ipc(&[], whole(1, 0)), "no context was counted"),
        (slowdown(&still, &still), "no instruction was executed beside the sibling"),
        (bandwidth(Counted { enabled_ns: 0, running_ns: 0, ..never }, 64), "no time passed"),
    ] {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotComputable);
        assert!(error.to_string().contains(why), "{error}");
    }
}
