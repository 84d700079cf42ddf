//! Architectural Intel: what differs between generations, and between siblings.

use super::*;
use crate::hardware::{Changed, Fault, Select};

const FAULT: Fault = Fault::GeneralProtection;
const EVTSEL: u32 = 0x186;
const FIXED_CTRL: u32 = 0x38d;
const STATUS: u32 = 0x38e;
const GLOBAL: u32 = 0x38f;
const OVF_CTRL: u32 = 0x390;

/// `CPU_CLK_UNHALTED.THREAD_P` and `INST_RETIRED.ANY_P` in user mode, and AnyThread.
const CYCLES: u64 = 0x41_003c;
const INSTRUCTIONS: u64 = 0x41_00c0;
const ANY: u64 = 1 << 21;

fn run(cycles: u64, instructions: u64) -> Slice<'static> {
    Slice { instructions, core_cycles: cycles, ..Slice::of(Ring::User, cycles) }
}

fn select(event: u16, umask: u16) -> Signal {
    Signal::Select(Select { event, umask, ..Select::default() })
}

#[test]
fn after_reset_general_counters_need_no_global_enable_and_fixed_ones_do() {
    let mut core = core("skl");
    assert_eq!(core.read(0, GLOBAL).unwrap(), 0xf);
    core.write(0, EVTSEL, INSTRUCTIONS).unwrap();
    core.write(0, FIXED_CTRL, 0x2).unwrap();
    core.pass(&alone(&core, 0, run(50, 20)));
    assert_eq!((core.rdpmc(0, 0), core.rdpmc(0, 1 << 30)), (Ok(20), Ok(0)));
    core.write(0, GLOBAL, 1 << 32).unwrap();
    core.pass(&alone(&core, 0, run(50, 7)));
    assert_eq!((core.rdpmc(0, 0), core.rdpmc(0, 1 << 30)), (Ok(20), Ok(7)));
}

#[test]
fn smt_off_at_reset_doubles_the_general_counters_of_some() {
    for (name, contexts, counters) in
        [("hsw", 2, 4), ("hsw", 1, 8), ("nhm", 1, 4), ("icx", 2, 8), ("knl", 4, 2), ("knl", 1, 2)]
    {
        let mut core = CorePmu::new(model(name), contexts).unwrap();
        assert!(core.write(0, EVTSEL + counters - 1, CYCLES).is_ok(), "{name}");
        assert_eq!(core.write(0, EVTSEL + counters, CYCLES), Err(FAULT), "{name}");
        assert_eq!(core.rdpmc(0, counters), Err(FAULT), "{name}");
        assert_eq!(core.write(0, GLOBAL, 1 << counters), Err(FAULT), "{name}");
    }
    assert!(CorePmu::new(model("hsw"), 3).is_none());
    assert!(CorePmu::new(model("hsw"), 0).is_none());
    assert!(CorePmu::new(model("t2"), 8).is_none());
}

#[test]
fn old_numbers_take_32_bits_and_extend_their_sign() {
    let mut core = core("hsw");
    core.write(0, 0xc1, 0x8000_0001).unwrap();
    assert_eq!(core.read(0, 0x4c1).unwrap(), 0xffff_8000_0001);
    core.write(0, 0xc1, 0x1_7fff_ffff).unwrap();
    assert_eq!(core.rdpmc(0, 0).unwrap(), 0x7fff_ffff);
    core.write(0, 0x4c1, 0x1234_5678_9abc).unwrap();
    assert_eq!(core.read(0, 0xc1).unwrap(), 0x1234_5678_9abc);
    assert_eq!(core.write(0, 0x4c1, 1 << 48), Err(FAULT));
    assert_eq!(core.write(0, 0x309, 1 << 48), Err(FAULT));
    // Nehalem has no full-width numbers, and says so.
    let mut nhm = super::core("nhm");
    assert_eq!(nhm.write(0, 0x4c1, 0), Err(FAULT));
    assert_eq!((nhm.read(0, 0x345), core.read(0, 0x345)), (Ok(0), Ok(1 << 13)));
}

#[test]
fn counters_wrap_and_set_their_status_until_it_is_cleared() {
    let mut core = core("skl");
    core.write(0, EVTSEL + 2, INSTRUCTIONS).unwrap();
    core.write(0, FIXED_CTRL, 0x20).unwrap();
    core.write(0, GLOBAL, 0x2_0000_000f).unwrap();
    core.write(0, 0x4c3, 0xffff_ffff_fff0).unwrap();
    core.write(0, 0x30a, 0xffff_ffff_ffff).unwrap();
    core.pass(&alone(&core, 0, run(3, 0xf)));
    assert_eq!(core.read(0, STATUS).unwrap(), 1 << 33);
    assert_eq!(core.rdpmc(0, 1 << 30 | 1).unwrap(), 2);
    core.pass(&alone(&core, 0, run(3, 0x11)));
    assert_eq!((core.rdpmc(0, 2), core.read(0, STATUS)), (Ok(0x10), Ok(1 << 33 | 1 << 2)));
    core.write(0, OVF_CTRL, 1 << 33).unwrap();
    assert_eq!(core.read(0, STATUS).unwrap(), 1 << 2);
    assert_eq!(core.write(0, STATUS, 0), Err(FAULT), "read-only");
    assert_eq!(core.write(0, OVF_CTRL, 1 << 35), Err(FAULT));
    assert_eq!(core.read(1, STATUS).unwrap(), 0);
    let knl = super::core("knl");
    assert_eq!((core.width(), knl.width()), (48, 40));
}

#[test]
fn reserved_bits_fault() {
    for (name, msr, value, legal) in [
        ("skl", EVTSEL, 1 << 32, false),
        ("skl", EVTSEL, 1 << 40, false),
        ("ptl-cougarcove", EVTSEL, 1 << 40, true),
        ("skl", EVTSEL, ANY | CYCLES, true),
        ("icx", EVTSEL, ANY | CYCLES, false),
        ("knl", EVTSEL, ANY | CYCLES, false),
        ("skl", FIXED_CTRL, 0x444, true),
        ("knl", FIXED_CTRL, 0x444, true),
        ("icx", FIXED_CTRL, 0x400, false),
        ("skl", FIXED_CTRL, 0x1000, false),
        ("icx", FIXED_CTRL, 0xb000, true),
        ("skl", GLOBAL, 1 << 35, false),
        ("icx", GLOBAL, 1 << 35, true),
        ("lnl-skymont", GLOBAL, 1 << 35, false),
        ("lnl-skymont", GLOBAL, 1 << 36, true),
        ("skl", 0x30c, 0, false),
        ("icx", 0x30c, 0, true),
        ("nhm", 0x1a7, 0, false),
        ("wsm", 0x1a7, 0, true),
        ("skl", 0x345, 0, false),
        ("skl", 0x300, 0, false),
    ] {
        let expected = if legal { Ok(()) } else { Err(FAULT) };
        assert_eq!(core(name).write(0, msr, value), expected, "{name} {msr:#x} = {value:#x}");
    }
}

#[test]
fn any_thread_is_the_union_of_cycles_and_the_sum_of_the_rest() {
    let mut core = core("hsw");
    for (n, selector) in
        [CYCLES, CYCLES | ANY, INSTRUCTIONS | ANY, 0x41_01c2 | ANY].iter().enumerate()
    {
        core.write(0, EVTSEL + n as u32, *selector).unwrap();
    }
    core.write(0, FIXED_CTRL, 0x666).unwrap();
    core.write(0, GLOBAL, 0x7_0000_000f).unwrap();
    let uops = [(select(0xc2, 1), 5)];
    core.pass(&[
        Activity::Active(Slice { signals: &uops, ..run(100, 30) }),
        Activity::Active(Slice { signals: &uops, ..run(80, 40) }),
    ]);
    core.pass(&alone(&core, 1, run(1000, 1)));
    // The kernel is not what was asked for, on either.
    let kernel = Activity::Active(Slice { ring: Ring::Kernel, ..run(5000, 5000) });
    core.pass(&[kernel, kernel]);
    let counts: Vec<u64> = (0..4).map(|n| core.rdpmc(0, n).unwrap()).collect();
    assert_eq!(counts, [100, 1100, 71, 10]);
    let fixed: Vec<u64> = (0..3).map(|n| core.rdpmc(0, 1 << 30 | n).unwrap()).collect();
    assert_eq!(fixed, [71, 1100, 1100]);
}

#[test]
fn the_slow_clock_ticks_once_in_its_ratio() {
    let mut core = CorePmu::new(model("snb"), 2).unwrap().with_bus_ratio(24);
    core.write(0, EVTSEL, 0x41_013c).unwrap();
    core.write(0, EVTSEL + 1, 0x41_013c | ANY).unwrap();
    core.write(0, EVTSEL + 2, 0x41_023c).unwrap();
    for _ in 0..12 {
        core.pass(&alone(&core, 0, run(10, 0)));
    }
    let both = Activity::Active(run(240, 0));
    core.pass(&[both, both]);
    core.pass(&alone(&core, 1, run(480, 0)));
    let counts: Vec<u64> = (0..3).map(|n| core.rdpmc(0, n).unwrap()).collect();
    assert_eq!(counts, [5 + 10, 5 + 10 + 20, 5], "own, of any, alone");
    // Nehalem counts TSC ticks there.
    let mut nhm = super::core("nhm");
    nhm.write(0, EVTSEL, 0x41_013c).unwrap();
    nhm.pass(&alone(&nhm, 0, run(10, 0)));
    assert_eq!(nhm.rdpmc(0, 0).unwrap(), 10);
}

#[test]
fn distributed_clocks_add_up_to_the_core_s() {
    let mut core = CorePmu::new(model("icx"), 2).unwrap().with_bus_ratio(100);
    for context in 0..2 {
        core.write(context, EVTSEL, 0x41_02ec).unwrap();
        core.write(context, EVTSEL + 1, 0x41_083c).unwrap();
    }
    let both = Activity::Active(run(1001, 0));
    core.pass(&[both, both]);
    core.pass(&[both, both]);
    core.pass(&alone(&core, 1, run(2000, 0)));
    let counts = |context| [core.rdpmc(context, 0).unwrap(), core.rdpmc(context, 1).unwrap()];
    assert_eq!((counts(0), counts(1)), ([1001, 10], [3001, 30]));
}

/// A core whose two contexts count the same off-core event; `tell` has the occurrences of each.
fn offcore(name: &str, tell: [(u8, u64); 2]) -> [u64; 2] {
    let mut core = core(name);
    for context in 0..2 {
        core.write(context, EVTSEL, 0x41_01b7).unwrap();
    }
    for (context, value) in tell {
        core.write(context, 0x1a6, value).unwrap();
    }
    let read = Select { event: 0xb7, umask: 1, extra: Some(0x1_0001), ..Select::default() };
    let signals = [(Signal::Select(read), 3)];
    let slice = Activity::Active(Slice { signals: &signals, ..run(10, 0) });
    core.pass(&[slice, slice]);
    [core.rdpmc(0, 0).unwrap(), core.rdpmc(1, 0).unwrap()]
}

#[test]
fn siblings_share_the_off_core_register_on_nehalem_only() {
    assert_eq!(offcore("nhm", [(0, 0x1_0001), (1, 0x2_0002)]), [0, 0], "the last write counts");
    assert_eq!(offcore("wsm", [(1, 0x2_0002), (0, 0x1_0001)]), [3, 3]);
    assert_eq!(offcore("snb", [(0, 0x1_0001), (1, 0x2_0002)]), [3, 0]);
    assert_eq!(offcore("skx", [(0, 0x2_0002), (1, 0x1_0003)]), [0, 3], "with a request more");
}

#[test]
fn twin_registers_have_selectors_of_their_own() {
    let mut core = core("skl");
    core.write(0, EVTSEL, 0x41_01b7).unwrap();
    core.write(0, EVTSEL + 1, 0x41_01bb).unwrap();
    core.write(0, 0x1a7, 0x1_0001).unwrap();
    let read = Select { event: 0xb7, umask: 1, extra: Some(0x1_0001), ..Select::default() };
    let signals = [(Signal::Select(read), 3)];
    core.pass(&alone(&core, 0, Slice { signals: &signals, ..run(10, 0) }));
    assert_eq!((core.rdpmc(0, 0), core.rdpmc(0, 1)), (Ok(0), Ok(3)));
}

#[test]
fn retired_memory_events_leak_into_the_sibling() {
    // Sandy Bridge, Ivy Bridge, Haswell: BJ122, BV98, HSD29. Not Broadwell.
    for (name, leaks) in [("snb", true), ("ivt", true), ("hsx", true), ("bdw", false)] {
        let mut core = core(name);
        core.write(0, EVTSEL + 1, 0x41_02d1).unwrap();
        for n in 0..2 {
            core.write(1, EVTSEL + n, INSTRUCTIONS).unwrap();
        }
        let hits = [(select(0xd1, 2), 11)];
        core.pass(&[
            Activity::Active(Slice { signals: &hits, ..run(100, 0) }),
            Activity::Active(run(100, 40)),
        ]);
        assert_eq!(core.rdpmc(0, 1).unwrap(), 11, "{name}");
        assert_eq!(core.rdpmc(1, 1).unwrap(), if leaks { 51 } else { 40 }, "{name}");
        assert_eq!(core.rdpmc(1, 0).unwrap(), 40, "{name}: another number");
        // Not into one that is off.
        core.write(1, EVTSEL + 1, INSTRUCTIONS & !(1 << 22)).unwrap();
        let before = core.rdpmc(1, 1).unwrap();
        core.pass(&alone(&core, 0, Slice { signals: &hits, ..run(100, 0) }));
        assert_eq!(core.rdpmc(1, 1).unwrap(), before, "{name}");
    }
    let mut alone_on_core = CorePmu::new(model("snb"), 1).unwrap();
    alone_on_core.write(0, EVTSEL, 0x41_02d1).unwrap();
    let hits = [(select(0xd1, 2), 11)];
    alone_on_core.pass(&[Activity::Active(Slice { signals: &hits, ..run(100, 0) })]);
    assert_eq!(alone_on_core.rdpmc(0, 0).unwrap(), 11);
}

#[test]
fn an_event_on_a_counter_that_cannot_see_it_counts_nothing() {
    // L1D_PEND_MISS.PENDING is counter 2's on Sandy Bridge to Broadwell.
    for name in ["snb", "hsw", "bdw"] {
        let pending = Signal::of(&encoding(model(name), "L1D_PEND_MISS.PENDING")).unwrap();
        let mut core = core(name);
        for n in 0..4 {
            core.write(0, EVTSEL + n, 0x41_0148).unwrap();
        }
        let signals = [(pending, 9)];
        core.pass(&alone(&core, 0, Slice { signals: &signals, ..run(10, 0) }));
        let counts: Vec<u64> = (0..4).map(|n| core.rdpmc(0, n).unwrap()).collect();
        assert_eq!(counts, [0, 0, 9, 0], "{name}");
    }
}

#[test]
fn four_contexts_have_counters_of_their_own() {
    let mut core = core("knl");
    for context in 0..4 {
        core.write(context, EVTSEL, INSTRUCTIONS).unwrap();
    }
    core.write(2, FIXED_CTRL, 0x60).unwrap();
    core.write(2, GLOBAL, 0x2_0000_0003).unwrap();
    let runs: Vec<Activity<'_>> = (1..=4).map(|n| Activity::Active(run(100 * n, 10 * n))).collect();
    core.pass(&runs);
    let counts: Vec<u64> = (0..4).map(|context| core.rdpmc(context, 0).unwrap()).collect();
    assert_eq!(counts, [10, 20, 30, 40]);
    assert_eq!(core.rdpmc(2, 1 << 30 | 1).unwrap(), 400, "AnyThread cycles of the core");
}

#[test]
fn what_differs_from_reset_is_listed_once_a_register() {
    let mut nhm = core("nhm");
    assert_eq!(nhm.changed(), []);
    nhm.write(1, 0x1a6, 0x33).unwrap();
    nhm.write(1, EVTSEL + 3, CYCLES).unwrap();
    nhm.write(0, 0xc2, 5).unwrap();
    nhm.write(0, GLOBAL, 0).unwrap();
    let mut changed = nhm.changed();
    changed.sort();
    let held = |context, msr, value| Changed { context, msr, value };
    let expected =
        [held(0, 0xc2, 5), held(0, 0x1a6, 0x33), held(0, GLOBAL, 0), held(1, EVTSEL + 3, CYCLES)];
    assert_eq!(changed, expected);
}

#[test]
#[should_panic(expected = "one activity for each context")]
fn every_context_must_tell_what_it_did() {
    core("skl").pass(&[Activity::Halted { reference: 1 }]);
}
