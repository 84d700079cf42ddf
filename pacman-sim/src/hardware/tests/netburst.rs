//! NetBurst: one set of registers for two logical processors.

use super::*;
use crate::hardware::netburst::wiring;
use crate::hardware::{Fault, NetBurstSignal};

const FAULT: Fault = Fault::GeneralProtection;

/// A slice of 500 core cycles with these instructions.
fn work(ring: Ring, instructions: u64) -> Slice<'static> {
    Slice { instructions, ..Slice::of(ring, 500) }
}

#[test]
fn both_logical_processors_count_apart_on_shared_registers() {
    let p4 = model("p4");
    let names = ["instr_retired:NBOGUSNTAG", "global_power_events:RUNNING", "branch_retired:MMTP"];
    let list: Vec<Encoding> = names.iter().map(|name| encoding(p4, name)).collect();
    let plan = plan(p4, &[list.clone(), list.clone()]).unwrap();
    let mut core = core("p4");
    let indices: Vec<Vec<u32>> = plan
        .contexts()
        .iter()
        .map(|it| {
            let placed = it.placements().iter();
            placed.map(|p| program(&mut core, it.context(), p, &list[p.event()])).collect()
        })
        .collect();
    let branches = |n| [(Signal::of(&list[2]).unwrap(), n)];
    let (first, second) = (branches(31), branches(77));
    core.pass(&[
        Activity::Active(Slice { signals: &first, ..work(Ring::User, 10) }),
        Activity::Active(Slice { signals: &second, core_cycles: 450, ..work(Ring::User, 25) }),
    ]);
    // The second context runs in the kernel, which is not counted; then it runs alone.
    core.pass(&[
        Activity::Active(work(Ring::User, 100)),
        Activity::Active(Slice { signals: &second, ..work(Ring::Kernel, 1000) }),
    ]);
    core.pass(&alone(&core, 1, work(Ring::User, 7)));
    let read = |context: usize| -> Vec<u64> {
        // Either logical processor may read a counter of the other.
        indices[context].iter().map(|n| core.rdpmc(1 - context as u8, *n).unwrap()).collect()
    };
    assert_eq!(read(0), [110, 1000, 31]);
    assert_eq!(read(1), [32, 950, 77]);
}

#[test]
fn the_thread_bits_of_one_escr_add_up() {
    let mut core = core("p4");
    core.write(0, 0x36c, 0x3_9000).unwrap();
    for (bits, expected) in [(0x4, 10), (0x1, 300), (0x5, 310), (0x8, 0), (0xa, 0), (0xf, 310)] {
        core.write(0, 0x3b8, 0x0400_0200 | bits).unwrap();
        let before = core.rdpmc(0, 12).unwrap();
        core.pass(&[
            Activity::Active(work(Ring::User, 10)),
            Activity::Active(work(Ring::User, 300)),
        ]);
        assert_eq!(core.rdpmc(0, 12).unwrap() - before, expected, "T bits {bits:#x}");
    }
}

#[test]
fn an_event_that_knows_no_threads_counts_both_with_either_bit() {
    let event = encoding(model("p4"), "page_walk_type:DTMISS");
    let walks = [(Signal::of(&event).unwrap(), 9)];
    for (bits, expected) in [(0x4, 18), (0x1, 18), (0x2, 0), (0x8, 0)] {
        let mut core = core("p4");
        core.write(0, 0x3ac, 0x0200_0200 | bits).unwrap();
        core.write(0, 0x360, 0x3_9000).unwrap();
        let slice = Slice { signals: &walks, ..work(Ring::User, 0) };
        core.pass(&[Activity::Active(slice), Activity::Active(slice)]);
        assert_eq!(core.rdpmc(0, 0).unwrap(), expected, "T bits {bits:#x}");
    }
}

#[test]
fn the_active_thread_field_says_when_to_count() {
    // Field, and the counts of 10 instructions alone and of 10 while the sibling runs.
    for (field, counts) in [(0, [0, 0]), (1, [10, 0]), (2, [0, 10]), (3, [10, 10])] {
        let mut core = core("p4");
        core.write(0, 0x3b8, 0x0400_0204).unwrap();
        core.write(0, 0x36c, 0x9000 | field << 16).unwrap();
        core.pass(&alone(&core, 0, work(Ring::User, 10)));
        assert_eq!(core.rdpmc(0, 12).unwrap(), counts[0], "field {field}, alone");
        let both = Activity::Active(work(Ring::User, 10));
        core.pass(&[both, both]);
        assert_eq!(core.rdpmc(0, 12).unwrap(), counts[0] + counts[1], "field {field}, both");
    }
}

#[test]
fn the_non_sleep_clock_runs_while_either_is_active() {
    let mut core = core("p4");
    // Any event counts, even without rings. Without an event nothing counts.
    core.write(0, 0x3cc, 0x1801_fe00).unwrap();
    core.write(0, 0x36c, 0xff_b000).unwrap();
    core.write(0, 0x36d, 0xff_9000).unwrap();
    core.pass(&[Activity::Active(work(Ring::Kernel, 0)), Activity::Halted { reference: 500 }]);
    core.pass(&[Activity::Halted { reference: 500 }, Activity::Halted { reference: 500 }]);
    let slow = Slice { core_cycles: 300, ..work(Ring::User, 0) };
    core.pass(&[Activity::Active(slow), Activity::Active(work(Ring::User, 0))]);
    assert_eq!(core.rdpmc(0, 12).unwrap(), 1000);
    assert_eq!(core.rdpmc(0, 13).unwrap(), 0, "CRU_ESCR0 selects nothing");
}

#[test]
fn a_counter_hears_the_escrs_that_it_is_wired_to_and_no_other() {
    for table in ["p4-willamette", "p4-prescott"] {
        let p4 = model(table);
        let events = pacman_events::catalog(p4).filter_map(|it| resolve(p4, &it.name).ok());
        let mut seen = 0;
        for event in events.filter_map(|it| it.encoding().and_then(|it| it.netburst)) {
            for choice in event.halves.into_iter().flatten() {
                let selects = |counter: &u8| {
                    let select = u64::from(event.escr_select);
                    wiring::escr(usize::from(*counter), select, true) == Some(choice.escr.msr())
                };
                let wired: Vec<u8> = (0..18).filter(selects).collect();
                assert_eq!(wired, choice.counters.iter().collect::<Vec<_>>(), "{}", choice.escr);
                let listed = wiring::counters(choice.escr.msr()).iter().map(|n| *n as u8);
                assert_eq!(wired, listed.collect::<Vec<_>>());
                seen += 1;
            }
        }
        assert!(seen > 200, "{seen}");
    }
}

#[test]
fn the_first_write_of_a_counter_misses_its_upper_bits() {
    let mut core = core("p4");
    for value in [0xab_0000_0001u64, 0xab_0000_0001] {
        core.write(0, 0x304, value).unwrap();
    }
    assert_eq!(core.read(0, 0x304).unwrap(), 0xab_0000_0001);
    core.write(0, 0x304, 0).unwrap();
    assert_eq!(core.read(0, 0x304).unwrap(), 0xab_0000_0000, "erratum N15");
    core.write(0, 0x304, 5).unwrap();
    assert_eq!(core.read(0, 0x304).unwrap(), 0xab_0000_0005, "another value is a first write");
    core.write(0, 0x304, 5).unwrap();
    assert_eq!(core.read(0, 0x304).unwrap(), 5);
}

#[test]
fn counters_wrap_at_40_bits_and_say_so() {
    let mut core = core("p4");
    core.write(0, 0x3b8, 0x0400_0204).unwrap();
    core.write(0, 0x36c, 0x3_9000).unwrap();
    for _ in 0..2 {
        core.write(0, 0x30c, 0xff_ffff_fffe).unwrap();
    }
    core.pass(&alone(&core, 0, work(Ring::User, 1)));
    assert_eq!(core.rdpmc(0, 12).unwrap(), 0xff_ffff_ffff);
    assert_eq!(core.rdpmc(0, 1 << 31 | 12).unwrap(), 0xffff_ffff, "the fast read");
    assert_eq!(core.read(0, 0x36c).unwrap(), 0x3_9000);
    core.pass(&alone(&core, 0, work(Ring::User, 4)));
    assert_eq!(core.rdpmc(1, 12).unwrap(), 3);
    assert_eq!(core.read(0, 0x36c).unwrap(), 0x8003_9000);
    assert_eq!(core.width(), 40);
}

#[test]
fn forced_overflow_sets_the_flag_with_the_first_count() {
    let mut core = core("p4");
    core.write(0, 0x3b8, 0x0400_0204).unwrap();
    core.write(0, 0x36c, 0x203_9000).unwrap();
    core.pass(&alone(&core, 0, work(Ring::Kernel, 9)));
    assert_eq!(core.read(0, 0x36c).unwrap() >> 31, 0);
    core.pass(&alone(&core, 0, work(Ring::User, 1)));
    assert_eq!(core.read(0, 0x36c).unwrap() >> 31, 1);
}

#[test]
fn reserved_bits_and_absent_registers_fault() {
    let mut p4 = core("p4");
    for (msr, value) in [
        (0x360, 1),
        (0x360, 1 << 11),
        (0x36d, 1 << 11),
        (0x360, 1 << 28),
        (0x360, 1 << 32),
        (0x3b8, 1 << 31),
        (0x3b8, 1 << 32),
        (0x3f1, 1 << 13),
        (0x3f1, 1 << 27),
        (0x3f2, 1 << 13),
        (0x3ba, 0),
        (0x3bf, 0),
        (0x3c6, 0),
        (0x312, 0),
        (0x372, 0),
        (0x186, 0),
    ] {
        assert_eq!(p4.write(0, msr, value), Err(FAULT), "{msr:#x} = {value:#x}");
    }
    assert_eq!(p4.rdpmc(0, 18), Err(FAULT));
    assert_eq!(p4.changed(), []);
    for n in [12, 15, 16, 17] {
        p4.write(0, 0x360 + n, 1 << 11).unwrap();
    }
    assert_eq!(core("p4-willamette").write(0, 0x36c, 1 << 11), Err(FAULT), "model 0");
    assert_eq!(core("p4-willamette").write(0, 0x3ba, 0), Ok(()));
    // Without a sibling its bits are reserved.
    let mut alone = CorePmu::new(model("p4"), 1).unwrap();
    assert_eq!(alone.write(0, 0x3b8, 0x0400_0201), Err(FAULT));
    assert_eq!(alone.write(0, 0x36c, 1 << 27), Err(FAULT));
    assert_eq!(p4.write(1, 0x3b8, 0x0400_0201), Ok(()));
}

#[test]
fn the_registers_number_what_the_manual_numbers() {
    let escrs = |name| {
        let core = core(name);
        (0x3a0..0x3f0).filter(|msr| core.read(0, *msr).is_ok()).count()
    };
    assert_eq!((escrs("p4-northwood"), escrs("p4-prescott")), (45, 43));
}

/// Programs a metric, then takes each of its registers away in turn.
#[test]
fn a_tagged_event_needs_every_register_of_its_metric() {
    for (metric, registers) in [
        ("1stL_cache_load_miss_retired", 3),
        ("MOB_load_replay_retired", 4),
        ("split_load_retired", 4),
        ("memory_loads", 2),
        ("scalar_DP_retired", 2),
        ("packed_SP_retired:NBOGUS3", 2),
        ("IOQ_active_entries:ALL_READ", 2),
    ] {
        let event = encoding(model("p4"), metric);
        let signal = Signal::of(&event).unwrap();
        let plan = plan(event.cpu, &[vec![event.clone()]]).unwrap();
        let placement = &plan.contexts()[0].placements()[0];
        let mut core = core("p4");
        let index = program(&mut core, 0, placement, &event);
        let counted = |core: &CorePmu| {
            let mut room = [(signal, 0)];
            count(core, index, 0, happening(signal, 50, Ring::User, &mut room))
        };
        assert_eq!(counted(&core), 50, "{metric}");
        assert_eq!(placement.registers().count(), registers, "{metric}");
        for (msr, _) in placement.registers() {
            let mut without = core.clone();
            without.write(0, msr, 0).unwrap();
            assert_eq!(counted(&without), 0, "{metric} without {msr:#x}");
        }
        if let Some(Counter::General(awake)) = placement.awake() {
            let own = u32::from(awake) == index;
            let mut asleep = core.clone();
            asleep.write(0, 0x360 + u32::from(awake), 0).unwrap();
            assert_eq!(counted(&asleep), 0, "{metric}: nothing keeps the tagger awake");
            assert!(!own || metric == "memory_loads", "{metric}");
        }
    }
}

#[test]
fn execution_tags_are_distinguished() {
    let event = encoding(model("p4"), "scalar_DP_retired");
    let signal = [(Signal::of(&event).unwrap(), 8)];
    // scalar_DP_uop on FIRM_ESCR0, whose counter 8 runs, and execution_event on CRU_ESCR2.
    for (tag, mask, expected) in [(1, 0x1, 8), (2, 0x1, 0), (2, 0x3, 8), (8, 0x8, 8), (8, 0x80, 0)]
    {
        let mut core = core("p4");
        core.write(0, 0x3a4, 0x1d00_0014 | tag << 5).unwrap();
        core.write(0, 0x368, 0x3_3000).unwrap();
        core.write(0, 0x3cc, 0x1800_0004 | mask << 9).unwrap();
        core.write(0, 0x36c, 0x3_b000).unwrap();
        core.pass(&alone(&core, 0, Slice { signals: &signal, ..work(Ring::User, 0) }));
        assert_eq!(core.rdpmc(0, 12).unwrap(), expected, "tag {tag} read by {mask:#x}");
    }
}

#[test]
fn a_thread_s_front_end_tag_is_its_own() {
    let event = encoding(model("p4"), "memory_loads");
    let loads = [(Signal::of(&event).unwrap(), 6)];
    let mut core = core("p4");
    core.write(0, 0x3bc, 0x0400_0404).unwrap(); // uop_type:TAGLOADS for T0 only
    core.write(0, 0x3cc, 0x1000_0205).unwrap(); // front_end_event of both
    core.write(0, 0x36c, 0x3_b000).unwrap();
    let slice = Slice { signals: &loads, ..work(Ring::User, 0) };
    core.pass(&[Activity::Active(slice), Activity::Active(slice)]);
    assert_eq!(core.rdpmc(0, 12).unwrap(), 6);
}

#[test]
fn some_events_live_in_one_escr_only() {
    let early = core("p4-northwood-early");
    let late = core("p4");
    // IOQ_allocation on FSB_ESCR1: from CPUID signature 0F27h on.
    let event = encoding(model("p4"), "IOQ_allocation:ALL_READ");
    let Some(Signal::NetBurst(signal)) = Signal::of(&event) else { panic!("a plain event") };
    for (mut core, expected) in [(early, 0), (late, 4)] {
        core.write(0, 0x3a3, 0x0600_0004 | u64::from(signal.mask) << 9).unwrap();
        core.write(0, 0x362, 0x3_d000).unwrap();
        let signal = NetBurstSignal { filter: 0, ..signal };
        let signals = [(Signal::NetBurst(signal), 4)];
        core.pass(&alone(&core, 0, Slice { signals: &signals, ..work(Ring::User, 0) }));
        assert_eq!(core.rdpmc(0, 2).unwrap(), expected);
    }
}
