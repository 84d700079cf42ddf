//! Tests that registers are taken all or not at all, and are restored.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use pacman_events::ErrorKind;

const RETIRED: &str = "instr_retired:NBOGUSNTAG";
const REPLAY: &str = "1stL_cache_load_miss_retired";

/// A core that was used before: nothing is enabled, but no register is zero.
fn used() -> Fake {
    let io = Fake::shared();
    for (msr, value) in
        [(0x30c, 0x12_3456_789a), (0x36c, 0x8003_8000), (0x3b8, 0x1234), (0x3f1, 0x1), (0x3f2, 0x2)]
    {
        io.set(0, msr, value);
    }
    io
}

#[test]
fn dropping_restores_every_register() {
    let io = used();
    let before = io.registers();
    let backend = backend(&io, "p4", [&[RETIRED, REPLAY], &[]]).unwrap();
    let counters = open(&io, &backend, 0).unwrap();
    assert_ne!(io.registers(), before);
    drop(counters);
    assert_eq!(io.registers(), before);
}

#[test]
fn a_panic_restores_every_register() {
    let io = used();
    let before = io.registers();
    let backend = backend(&io, "p4", [&[RETIRED], &[]]).unwrap();
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _counters = open(&io, &backend, 0).unwrap();
        assert_ne!(io.registers(), before);
        std::panic::resume_unwind(Box::new("as a program would"));
    }));
    assert!(caught.is_err());
    assert_eq!(io.registers(), before);
}

#[test]
fn only_the_bits_that_were_taken_come_back() {
    let io = Fake::separate();
    io.set(0, 0x38f, 0b0110);
    let backend = backend(&io, "hsw", [&["MEM_LOAD_UOPS_RETIRED.L2_MISS"], &[]]).unwrap();
    let counters = open(&io, &backend, 0).unwrap();
    assert_eq!(io.get(0, 0x38f), 0b0111);
    // The kernel starts another counter meanwhile.
    io.set(0, 0x38f, 0b1111);
    drop(counters);
    assert_eq!(io.get(0, 0x38f), 0b1110);
}

#[test]
fn a_shared_register_comes_back_with_the_last_of_its_holders() {
    let io = used();
    let backend = backend(&io, "p4", [&[REPLAY], &[REPLAY]]).unwrap();
    let first = open(&io, &backend, 0).unwrap();
    let second = open(&io, &backend, 1).unwrap();
    drop(first);
    assert_eq!((io.get(0, 0x3f1), io.get(0, 0x3f2)), (0x0100_0001, 1));
    assert!(io.claimed().contains(&0x3f1), "other processes see it held");
    drop(second);
    assert_eq!((io.get(0, 0x3f1), io.get(0, 0x3f2)), (1, 2));
    assert!(io.claimed().is_empty());
}

#[test]
fn a_refusal_leaves_no_mark() {
    let io = Fake::shared();
    io.claimed_by(0x3f2, 4711);
    let backend = backend(&io, "p4", [&[REPLAY], &[]]).unwrap();
    assert_eq!(refusal(&io, &backend, 0).kind(), ErrorKind::Conflict);
    assert!(io.claimed().is_empty());
    assert!(io.written().is_empty());
}

#[test]
fn a_write_that_faults_undoes_those_before_it() {
    let io = used();
    let before = io.registers();
    io.fail(true, 0x3b8, libc::EIO);
    let backend = backend(&io, "p4", [&["global_power_events:RUNNING", RETIRED], &[]]).unwrap();
    assert_eq!(refusal(&io, &backend, 0).errno(), Some(libc::EIO));
    assert_eq!(io.registers(), before);
}

#[test]
fn two_sessions_cannot_have_one_register_and_the_first_is_not_disturbed() {
    let io = Fake::shared();
    let first = backend(&io, "p4", [&[RETIRED], &[]]).unwrap();
    let mut counters = open(&io, &first, 0).unwrap();
    // Another plan with the same event is refused, but another machine is free.
    let second = backend(&io, "p4", [&[RETIRED], &[]]).unwrap();
    assert_eq!(refusal(&io, &second, 0).kind(), ErrorKind::Conflict);
    let elsewhere = Fake::shared();
    let other = backend(&elsewhere, "p4", [&[RETIRED], &[]]).unwrap();
    drop(open(&elsewhere, &other, 0).unwrap());
    io.set(0, 0x30c, 42);
    assert_eq!(read(&mut *counters).unwrap().counts[0], 42);
    drop(counters);
    drop(open(&io, &second, 0).unwrap());
}

#[test]
fn counts_follow_their_events_by_both_ways_of_reading() {
    for io in [Fake::shared(), Fake::shared().without_rdpmc()] {
        let backend = backend(&io, "p4", [&[RETIRED, "memory_cancel:64K_CONF"], &[]]).unwrap();
        assert_eq!(backend.reads_by_rdpmc(), crate::backend::msr::MsrIo::user_rdpmc(&io));
        let mut counters = open(&io, &backend, 0).unwrap();
        let (mut counted, turn) = (0u64, 1u64 << 40);
        for step in [5, 1 << 32, turn - (1 << 32), 7] {
            counted += step;
            io.set(0, 0x30c, counted % turn);
            io.set(0, 0x308, 3 * step % turn);
            let reading = read(&mut *counters).unwrap();
            assert_eq!(reading.counts[0], counted);
        }
        assert!(counters.caps().simulated);
        assert_eq!(counters.caps().width, Some(40));
    }
}

#[test]
fn more_than_eight_events_are_read_too() {
    let io = Fake::shared();
    let nine = [
        RETIRED,
        "global_power_events:RUNNING",
        "BSQ_cache_reference:RD_2ndL_MISS",
        "uop_queue_writes:FROM_TC_BUILD",
        "retired_branch_type:CONDITIONAL",
        "memory_cancel:64K_CONF",
        "memory_complete:LSC",
        "branch_retired:MMNP",
        "resource_stall:SBFULL",
    ];
    let backend = backend(&io, "p4", [&nine, &[]]).unwrap();
    let mut counters = open(&io, &backend, 0).unwrap();
    for counter in 0..18 {
        io.set(0, 0x300 + counter, 100 + u64::from(counter));
    }
    let mut seen = read(&mut *counters).unwrap().counts[..9].to_vec();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 9, "each from a counter of its own");
}
