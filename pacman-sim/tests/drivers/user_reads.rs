//! Counters that pages offer to user mode, and that RDPMC reads as 0.

use pacman_core::Session;
use pacman_core::backend::{NoUserReads, ReadPath};
use pacman_core::session::Sample;
use pacman_sim::Machine;

use crate::program::{EVENTS, Program};

/// Counts that a session on the machine reads, and its way to read them.
fn counted(program: &Program, name: &str) -> ([u64; 2], ReadPath, Option<NoUserReads>) {
    let session = Session::builder(name).on(&program.machine).events(EVENTS).start().unwrap();
    let thread = session.attach().unwrap();
    let (mut before, mut after) = (Sample::EMPTY, Sample::EMPTY);
    thread.sample(&mut before).unwrap();
    program.work(1000, 7);
    thread.sample(&mut after).unwrap();
    let caps = thread.caps();
    ([1, 2].map(|event| after.count_since(&before, event)), caps.read_path, caps.no_user_reads)
}

#[test]
fn hidden_counters_are_read_by_the_kernel_and_the_reason_is_stated() {
    for machine in ["skylake", "zen4", "p4"] {
        let open = Program::on(machine);
        assert_eq!(counted(&open, &format!("open {machine}")), ([1000, 7], ReadPath::Rdpmc, None));
        let hidden = Program::on(machine);
        hidden.machine.hide_counters();
        let (counts, path, reason) = counted(&hidden, &format!("hidden {machine}"));
        assert_eq!((counts, path), ([1000, 7], ReadPath::ReadCall), "{machine}");
        assert_eq!(reason, Some(NoUserReads::OtherCounts), "{machine}");
    }
}

fn way(session: &Session) -> (ReadPath, Option<u8>) {
    let thread = session.attach().unwrap();
    let caps = thread.caps();
    (caps.read_path, caps.width)
}

#[test]
fn reads_on_request_have_64_bits_or_32() {
    for (machine, width) in [("skylake_arm64", 64), ("skylake_arm32", 32), ("zen4_arm32", 32)] {
        let program = Program::on(machine);
        let session =
            Session::builder(machine).on(&program.machine).events(EVENTS).start().unwrap();
        assert_eq!(way(&session), (ReadPath::Rdpmc, Some(width)), "{machine}");
        // Software events are read by the kernel, so nothing is asked for.
        let mixed = format!("mixed {machine}");
        let session =
            Session::builder(mixed).on(&program.machine).events("CYCLES,task-clock").start();
        assert_eq!(way(&session.unwrap()), (ReadPath::ReadCall, None), "{machine}");
    }
}

/// Linux would put cycles of 64 bits on the cycle counter alone, and on SMT cores on none.
#[test]
fn a_group_of_cycles_asks_for_32_bits() {
    for (events, width) in [("cpu-cycles", 32), ("cpu-cycles,instructions", 64)] {
        let program = Program::on("skylake_arm64");
        let session =
            Session::builder(format!("of cycles: {events}")).on(&program.machine).events(events);
        assert_eq!(way(&session.start().unwrap()), (ReadPath::Rdpmc, Some(width)), "{events}");
    }
}

#[test]
fn hidden_slots_are_read_by_the_kernel() {
    let path = |hidden: bool| {
        // Its threads use slots while the group is opened.
        let machine = Machine::live("icelake").unwrap();
        if hidden {
            machine.hide_counters();
        }
        let name = format!("slots, hidden: {hidden}");
        let session = Session::builder(name).on(&machine).events("TOPDOWN_RETIRING").start();
        session.unwrap().attach().unwrap().caps().read_path
    };
    assert_eq!((path(false), path(true)), (ReadPath::Rdpmc, ReadPath::ReadCall));
}
