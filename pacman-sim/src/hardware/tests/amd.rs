//! AMD: aliases, the global enable, merged counters.

use super::*;
use crate::hardware::{Changed, Fault, Select};

const FAULT: Fault = Fault::GeneralProtection;
/// `CYCLES_NOT_IN_HALT` in user mode.
const CYCLES: u64 = 0x41_0076;

fn run(cycles: u64) -> Slice<'static> {
    Slice::of(Ring::User, cycles)
}

#[test]
fn the_first_four_counters_have_legacy_names_too() {
    let mut core = core("zen2");
    core.write(0, 0xc001_0003, CYCLES).unwrap();
    assert_eq!(core.read(0, 0xc001_0206).unwrap(), CYCLES);
    core.pass(&alone(&core, 0, run(9)));
    assert_eq!((core.read(0, 0xc001_0207), core.read(0, 0xc001_0007)), (Ok(9), Ok(9)));
    assert_eq!((core.rdpmc(0, 3), core.rdpmc(1, 3)), (Ok(9), Ok(0)));
    assert_eq!(core.write(0, 0xc001_020c, 0), Err(FAULT));
    assert_eq!(core.rdpmc(0, 6), Err(FAULT));
    let mut k8 = super::core("k8");
    assert_eq!(k8.write(0, 0xc001_0200, CYCLES), Err(FAULT), "no core extension");
    assert_eq!(k8.write(0, 0xc001_0003, CYCLES), Ok(()));
}

#[test]
fn reserved_bits_of_a_selector_are_dropped() {
    let mut core = core("zen3");
    core.write(0, 0xc001_0200, u64::MAX).unwrap();
    assert_eq!(core.read(0, 0xc001_0200).unwrap(), 0x30f_ffd7_ffff);
    let held = Changed { context: 0, msr: 0xc001_0200, value: 0x30f_ffd7_ffff };
    assert_eq!(core.changed(), [held]);
}

#[test]
fn the_global_enable_gates_from_zen_4_on() {
    let mut zen3 = core("zen3");
    assert_eq!(zen3.write(0, 0xc000_0301, 0), Err(FAULT));
    let mut zen4 = core("zen4");
    assert_eq!(zen4.write(0, 0xc000_0301, 1 << 6), Err(FAULT));
    assert_eq!(zen4.write(0, 0xc000_0300, 0), Err(FAULT), "read-only");
    zen4.write(0, 0xc001_0202, CYCLES).unwrap();
    zen4.write(0, 0xc000_0301, 0).unwrap();
    zen4.pass(&alone(&zen4, 0, run(9)));
    assert_eq!(zen4.rdpmc(0, 1).unwrap(), 0);
    zen4.write(0, 0xc000_0301, 2).unwrap();
    zen4.write(0, 0xc001_0203, (1 << 48) - 4).unwrap();
    zen4.pass(&alone(&zen4, 0, run(9)));
    assert_eq!((zen4.rdpmc(0, 1), zen4.read(0, 0xc000_0300)), (Ok(5), Ok(2)));
    zen4.write(0, 0xc000_0302, 2).unwrap();
    assert_eq!(zen4.read(0, 0xc000_0300).unwrap(), 0);
}

#[test]
fn the_event_select_has_twelve_bits() {
    let mut core = core("zen4");
    core.write(0, 0xc001_0200, 0x1_0041_60a0).unwrap();
    core.write(0, 0xc001_0202, 0x41_60a0).unwrap();
    let lost = Select { event: 0x1a0, umask: 0x20, ..Select::default() };
    let signals = [(Signal::Select(lost), 4)];
    core.pass(&alone(&core, 0, Slice { signals: &signals, ..run(9) }));
    assert_eq!((core.rdpmc(0, 0), core.rdpmc(0, 1)), (Ok(4), Ok(0)));
}

#[test]
fn large_increments_need_a_merged_neighbour_that_takes_the_carry() {
    let flops = encoding(model("zen2"), "RETIRED_SSE_AVX_FLOPS:ANY");
    let signals = [(Signal::of(&flops).unwrap(), 100)];
    let slice = Slice { signals: &signals, ..run(9) };
    let mut core = core("zen2");
    core.write(0, 0xc001_0204, flops.evtsel | 0x41_0000).unwrap();
    core.pass(&alone(&core, 0, slice));
    assert_eq!(core.rdpmc(0, 2).unwrap(), 0);
    core.write(0, 0xc001_0206, 0xf_0040_00ff).unwrap();
    core.write(0, 0xc001_0205, (1 << 48) - 1).unwrap();
    core.pass(&alone(&core, 0, slice));
    assert_eq!((core.rdpmc(0, 2), core.rdpmc(0, 3)), (Ok(99), Ok(1)));
}
