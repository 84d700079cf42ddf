//! Properties that hold on every machine.

use pacman_core::export::{self, TableStyle};
use pacman_core::platform::{Platform, PlatformRef};
use pacman_core::session::MAX_EVENTS;
use pacman_core::{ErrorKind, Event, Placement, Report, Session};
use pacman_events::partition::Partition;
use pacman_events::resolve;
use pacman_sim::Fault;
use pacman_suite::Barrier;

use crate::program::{EVENTS, Program, only};

/// The sums of a phase's three counts on one thread, after its number of executions.
fn row(report: &Report, thread: usize, phase: usize) -> (u64, [u64; 3]) {
    let row = &report.threads[thread].phases[phase];
    let sum = |event: usize| row.counts[event].raw.sum;
    (row.executions, [sum(0), sum(1), sum(2)])
}

/// A session of the suite's events on the program's machine.
fn started(program: &Program, name: &str) -> Session {
    Session::builder(name).on(&program.machine).events(EVENTS).start().unwrap()
}

pub(crate) fn a_session_is_described_in_any_order(machine: &str) {
    let program = Program::on(machine);
    let topology = program.machine.topology();
    let builder = Session::builder(format!("order {machine}"));
    // The events are names of this machine's processor, which is given last.
    let builder = builder.placement(topology, Placement::Compact).events(EVENTS);
    let session = builder.on(&program.machine).start().unwrap();
    let phase = session.phase("work").unwrap();
    session.attach().unwrap().run(phase, || program.work(100, 1)).unwrap();
    let (executions, [_, instructions, times]) = row(&session.report(), 0, 0);
    assert_eq!((executions, instructions, times), (1, 100, 1));
}

pub(crate) fn counts_are_the_programs_own(machine: &str) {
    let program = Program::on(machine);
    let session = started(&program, &format!("own {machine}"));
    let phase = session.phase("work").unwrap();
    let thread = session.attach().unwrap();
    assert!(thread.caps().simulated);
    for n in 1..=100 {
        program.work(777, 3);
        program.machine.execute_in_kernel(50);
        thread.run(phase, || program.work(1000 * n, n)).unwrap();
    }
    let report = session.report();
    let (executions, [cycles, instructions, events]) = row(&report, 0, 0);
    assert_eq!((executions, instructions, events), (100, 5_050_000, 5050));
    assert!(cycles > instructions / 2, "{cycles} cycles for {instructions} instructions");
}

pub(crate) fn a_count_that_never_moves_is_doubted(machine: &str) {
    let program = Program::on(machine);
    let builder = Session::builder(format!("doubt {machine}")).on(&program.machine);
    let session = builder.events("INSTRUCTIONS,BRANCHES,task-clock").start().unwrap();
    let (outer, inner) = (session.phase("outer").unwrap(), session.phase("inner").unwrap());
    let thread = session.attach().unwrap();
    thread.run(outer, || program.work(999_999, 0)).unwrap();
    assert_eq!(session.report().notes, [""; 0], "too little to tell");
    thread.run(outer, || thread.run(inner, || program.work(2_000_000, 0))).unwrap().unwrap();
    let report = session.report();
    // The inner phase's count is part of the outer one's, and not added to it.
    let line = "BRANCHES stayed at 0 over 2999999 INSTRUCTIONS: this machine may not count it, as \
                hypervisors let only some events through";
    assert_eq!(report.notes, [line]);
    let (mut table, mut json) = (Vec::new(), Vec::new());
    export::table(&report, &TableStyle::default(), &mut table).unwrap();
    export::json(&report, &mut json).unwrap();
    let table = String::from_utf8(table).unwrap();
    assert!(table.contains("BRANCHES stayed at 0 over 2999999"), "{table}");
    assert!(String::from_utf8(json).unwrap().contains(line));
    thread.run(inner, || program.work(10, 1)).unwrap();
    assert_eq!(session.report().notes, [""; 0], "it does count");
}

pub(crate) fn siblings_count_at_once(machine: &str) {
    let program = Program::on(machine);
    let topology = program.machine.topology();
    let session = Session::builder(format!("siblings {machine}"))
        .on(&program.machine)
        .events(EVENTS)
        .placement(topology, Placement::Compact)
        .start()
        .unwrap();
    each_its_own(&session, &program);
}

pub(crate) fn siblings_count_at_once_by_registers(machine: &str) {
    let program = Program::on(machine);
    let topology = program.machine.topology();
    let session = Session::builder(format!("registers {machine}"))
        .on(&program.machine)
        .events(EVENTS)
        .placement(topology, Placement::Compact)
        .registers(Partition::Even)
        .start()
        .unwrap();
    each_its_own(&session, &program);
}

/// Two siblings work at the same time, each a different amount, and each counts its own work.
fn each_its_own(session: &Session, program: &Program) {
    let phase = session.phase("work").unwrap();
    let meet = Barrier::new(2);
    std::thread::scope(|scope| {
        for share in [1, 3] {
            let (meet, program) = (&meet, program.clone());
            scope.spawn(move || {
                let thread = session.attach();
                // Both attach, or neither waits for the other.
                meet.wait();
                let thread = thread.unwrap();
                for _ in 0..200 {
                    thread.run(phase, || program.work(500 * share, share)).unwrap();
                }
            });
        }
    });
    let report = session.report();
    let mut rows: Vec<_> = (0..2).map(|thread| row(&report, thread, 0)).collect();
    rows.sort_unstable();
    for ((executions, [_, instructions, events]), share) in rows.into_iter().zip([1, 3]) {
        assert_eq!((executions, instructions, events), (200, 100_000 * share, 200 * share));
    }
}

pub(crate) fn phases_nest(machine: &str) {
    let program = Program::on(machine);
    let session = started(&program, &format!("nest {machine}"));
    let (outer, inner) = (session.phase("outer").unwrap(), session.phase("inner").unwrap());
    let thread = session.attach().unwrap();
    for _ in 0..10 {
        let _outer = thread.enter(outer).unwrap();
        program.work(100, 1);
        thread.run(inner, || program.work(10, 2)).unwrap();
        program.work(100, 1);
    }
    let report = session.report();
    assert_eq!(row(&report, 0, 0).1[1..], [2100, 40]);
    assert_eq!(row(&report, 0, 1).1[1..], [100, 20]);
}

pub(crate) fn sums_follow_their_terms(machine: &str) {
    let program = Program::on(machine);
    let resolved = resolve(program.machine.cpu(), "STALL_CYCLES").unwrap();
    // Equal programs count equal cycles, so these are those of the other session.
    let count = |event: &str| {
        let program = Program::on(machine);
        let session = Session::builder(format!("{event} {machine}"))
            .on(&program.machine)
            .events(event)
            .start()
            .unwrap();
        let phase = session.phase("work").unwrap();
        let thread = session.attach().unwrap();
        thread
            .run(phase, || {
                program.machine.execute(10_000);
                for (n, term) in resolved.terms().enumerate() {
                    program.machine.inject_event(&term.encoding, 100 << n);
                }
            })
            .unwrap();
        session.report().threads[0].phases[0].counts[0].raw.sum as i64
    };
    let cycles = count("CYCLES");
    let clock = only(&resolve(program.machine.cpu(), "CYCLES").unwrap());
    let expected: i64 = resolved
        .terms()
        .enumerate()
        // A clock among the terms ticks by itself, in addition to the events of the test.
        .map(|(n, term)| {
            let is_clock = term.encoding.netburst == clock.netburst && clock.netburst.is_some();
            term.coefficient * if is_clock { cycles } else { 100 << n }
        })
        .sum();
    assert_eq!(count("STALL_CYCLES"), expected, "{resolved:?}");
}

pub(crate) fn too_many_events_are_refused_or_rotate(machine: &str) {
    let program = Program::on(machine);
    // More than any context here has, all of them events that general counters count.
    let many = "BRANCHES,BRANCH_MISSES,L1D_MISSES,L2_MISSES,LLC_MISSES,DTLB_MISSES,ITLB_MISSES,\
                LOADS,STORES,UOPS_RETIRED,UOPS_ISSUED,STALL_CYCLES";
    let platform = PlatformRef::from(&program.machine);
    let names = many.split(',').filter(|name| Event::for_platform(&platform, name).is_ok());
    // A hybrid counts each event three times, in all and on both core types.
    let most = if platform.core_types().is_empty() { MAX_EVENTS } else { MAX_EVENTS / 3 };
    let many = names.take(most).collect::<Vec<_>>().join(",");
    let builder = |name: &str| {
        Session::builder(format!("{name} {machine}")).on(&program.machine).events(&many)
    };
    let refused = builder("many").start().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
}

pub(crate) fn a_counter_may_wrap_at_any_time(machine: &str) {
    for call in 0..60 {
        let program = Program::on(machine);
        let session = started(&program, &format!("wrap {machine} {call}"));
        let phase = session.phase("work").unwrap();
        let thread = session.attach().unwrap();
        program.machine.inject_fault(call, Fault::NearWrap(900));
        for _ in 0..10 {
            thread.run(phase, || program.work(1000, 2000)).unwrap();
        }
        assert!(program.machine.met_all_faults(), "call {call}");
        assert_eq!(row(&session.report(), 0, 0).1[1..], [10_000, 20_000], "call {call}");
    }
}

pub(crate) fn registers_are_as_before(machine: &str) {
    let program = Program::on(machine);
    let before = program.machine.registers_in_use();
    let is_hybrid = !program.machine.core_types().is_empty();
    for by_registers in [false, true].into_iter().take(if is_hybrid { 1 } else { 2 }) {
        let mut builder = Session::builder(format!("restored {machine} {by_registers}"))
            .on(&program.machine)
            .events(EVENTS);
        if by_registers {
            let topology = program.machine.topology();
            builder = builder.placement(topology, Placement::Compact);
            builder = builder.registers(Partition::Even);
        }
        let session = builder.start().unwrap();
        let thread = session.attach().unwrap();
        program.work(100, 1);
        assert_ne!(program.machine.registers_in_use(), before);
        drop(thread);
        let values = |machine: &pacman_sim::Machine| {
            let all = machine.registers_in_use().into_iter().flatten();
            all.filter(|register| !is_counter(register.msr)).collect::<Vec<_>>()
        };
        assert_eq!(values(&program.machine), [], "by registers: {by_registers}");
    }
}

/// Counters may keep their values: a driver reads no counter that it did not set.
fn is_counter(msr: u32) -> bool {
    let ranges = [0xc1..0xc9, 0x4c1..0x4c9, 0x300..0x312, 0x309..0x30d, 0xc001_0004..0xc001_0008];
    let zen = (0xc001_0200..0xc001_020c).contains(&msr) && msr % 2 == 1;
    zen || ranges.iter().any(|range| range.contains(&msr))
}
