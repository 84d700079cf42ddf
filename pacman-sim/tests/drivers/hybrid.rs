//! A hybrid processor: threads that move between core types keep their counts.

use pacman_core::backend::perf::{PerfBackend, Sharing};
use pacman_core::backend::{Backend, MAX_EVENTS, Reading, Target};
use pacman_core::platform::{PlatformRef, Processors};
use pacman_core::session::EventSetRotation;
use pacman_core::topology::CpuSet;
use pacman_core::{ErrorKind, Event, Placement, Report, Session, export};
use pacman_events::partition::Partition;
use pacman_events::{CpuModel, resolve};
use pacman_sim::{Fault, Machine};
use pacman_suite::Barrier;

use crate::faults::everywhere;
use crate::program::{EVENTS, Program};

const MACHINE: &str = "alderlake";

/// A context of each core type.
const TYPES: [u32; 2] = [0, 4];

fn move_to(machine: &Machine, cpu: u32) {
    // SAFETY: the call has no preconditions.
    machine.move_thread(unsafe { libc::gettid() }, cpu).unwrap();
}

/// The sums of a phase's counts on one thread, by the events' names.
fn sum(report: &Report, thread: usize, event: &str) -> u64 {
    let column = report.events.iter().position(|column| column.name == event);
    let column = column.unwrap_or_else(|| panic!("{event} in {:?}", report.events));
    report.threads[thread].phases[0].counts[column].raw.sum
}

#[test]
fn a_thread_that_moves_ten_times_loses_no_count() {
    let program = Program::on(MACHINE);
    let session = Session::builder("moves").on(&program.machine).events(EVENTS).start().unwrap();
    let phase = session.phase("work").unwrap();
    let meet = Barrier::new(2);
    std::thread::scope(|scope| {
        for share in [1, 3] {
            let (session, meet, program) = (&session, &meet, program.clone());
            scope.spawn(move || {
                let contexts = if share == 1 { [0, 4] } else { [5, 2] };
                move_to(&program.machine, contexts[0]);
                let thread = session.attach();
                meet.wait();
                thread
                    .unwrap()
                    .run(phase, || {
                        for step in 0..=10 {
                            move_to(&program.machine, contexts[step % 2]);
                            program.work(1000 * share * (step as u64 + 1), share);
                        }
                    })
                    .unwrap();
            });
        }
    });
    let report = session.report();
    // Steps 0, 2, … 10 are those of the first context: 36 of 66 thousand instructions.
    let mut rows: Vec<[u64; 6]> = (0..2)
        .map(|thread| {
            [
                "INSTRUCTIONS",
                "cpu_core/INSTRUCTIONS/",
                "cpu_atom/INSTRUCTIONS/",
                "BRANCHES",
                "cpu_core/BRANCHES/",
                "cpu_atom/BRANCHES/",
            ]
            .map(|event| sum(&report, thread, event))
        })
        .collect();
    rows.sort_unstable();
    assert_eq!(rows, [[66_000, 36_000, 30_000, 11, 6, 5], [198_000, 90_000, 108_000, 33, 15, 18]]);
    assert_eq!(report.notes, [""; 0]);
}

#[test]
fn asked_events_keep_their_places_and_parts_stand_behind() {
    let machine = Machine::scripted(MACHINE).unwrap();
    let builder = Session::builder("places").on(&machine);
    let session = builder.events("task-clock,CYCLES:uk,cpu_atom/BRANCHES/").start().unwrap();
    let names: Vec<&str> = session.events().iter().map(Event::name).collect();
    assert_eq!(
        names,
        [
            "task-clock",
            "CYCLES:uk",
            "cpu_atom/BRANCHES/",
            "cpu_core/CYCLES:uk/",
            "cpu_atom/CYCLES:uk/",
        ]
    );
    let columns = session.report().events;
    let parts: Vec<_> =
        columns.iter().map(|column| (column.core_pmu.as_deref(), column.part_of)).collect();
    let (core, atom) = (Some("cpu_core"), Some("cpu_atom"));
    assert_eq!(parts, [(None, None), (None, None), (atom, None), (core, Some(1)), (atom, Some(1))]);
    // Each name is one that a session can be asked for.
    let platform = PlatformRef::from(&machine);
    for event in session.events() {
        assert_eq!(&Event::for_platform(&platform, event.name()).unwrap(), event);
    }
}

/// As on Arm processors of several core types, some of whose cores have siblings, before Linux 6.19.
#[test]
fn each_core_type_leaves_the_clock_that_siblings_share() {
    let backend = |program: &Program, is_shared: bool, list: &str| {
        let platform = PlatformRef::from(&program.machine);
        let events = Event::parse_list_for(&platform, list).unwrap();
        let mut permissions = program.machine.permissions();
        permissions.shares_cycle_counter = is_shared;
        PerfBackend::with_sys(program.machine.kernel(), &events, Sharing::Pinned, permissions)
    };
    let counts = |is_shared: bool| {
        let program = Program::on(MACHINE);
        let backend = backend(&program, is_shared, "INSTRUCTIONS,cpu-cycles").unwrap();
        let counters = backend.open(Target::Caller).unwrap();
        let (mut before, mut after) = (Reading::EMPTY, Reading::EMPTY);
        counters.read(&mut before).unwrap();
        for cpu in [0, 4, 0] {
            move_to(&program.machine, cpu);
            program.machine.execute(1000);
        }
        counters.read(&mut after).unwrap();
        [0, 1].map(|event| after.counts[event] - before.counts[event])
    };
    let [instructions, cycles] = counts(true);
    assert_eq!(instructions, 3000);
    assert!(cycles > 0);
    assert_eq!([instructions, cycles], counts(false));

    // The E-cores have six counters beside that of cycles. Cycles take one of them where another event has theirs.
    let others: Vec<String> = (1..=6).map(|code| format!("r{code:x}c5")).collect();
    let program = Program::on(MACHINE);
    let refused = |is_shared, first: &str| {
        let list = format!("{first},{}", others.join(","));
        backend(&program, is_shared, &list).err().map(|error| error.kind())
    };
    assert_eq!(refused(false, "cpu-cycles"), None);
    assert_eq!(refused(true, "cpu-cycles"), Some(ErrorKind::Conflict));
    assert_eq!(refused(true, "instructions"), None, "no cycles, no clock");
}

#[test]
fn the_kernels_own_events_are_counted_once() {
    let program = Program::on(MACHINE);
    let session = Session::builder("software")
        .on(&program.machine)
        .events("cpu-migrations,INSTRUCTIONS,task-clock")
        .start()
        .unwrap();
    let phase = session.phase("work").unwrap();
    let thread = session.attach().unwrap();
    let work = || {
        for cpu in [4, 0, 4] {
            move_to(&program.machine, cpu);
            program.machine.execute(1_000_000);
        }
    };
    thread.run(phase, work).unwrap();
    let report = session.report();
    assert_eq!(sum(&report, 0, "cpu-migrations"), 3);
    assert_eq!(sum(&report, 0, "INSTRUCTIONS"), 3_000_000);
    assert_eq!(sum(&report, 0, "cpu_atom/INSTRUCTIONS/"), 2_000_000);
    // A thousand instructions take 166 ns.
    assert_eq!(sum(&report, 0, "task-clock"), 498_000);
}

#[test]
fn an_event_of_one_core_type_counts_there_alone() {
    let program = Program::on(MACHINE);
    let builder = Session::builder("alone").on(&program.machine);
    let session = builder.events("cpu_atom/INSTRUCTIONS/").start().unwrap();
    let phase = session.phase("work").unwrap();
    let thread = session.attach().unwrap();
    for (cpu, counted) in [(0, 0), (7, 500), (2, 500)] {
        move_to(&program.machine, cpu);
        thread.run(phase, || program.work(500, 1)).unwrap();
        assert_eq!(sum(&session.report(), 0, "cpu_atom/INSTRUCTIONS/"), counted);
    }
    assert_eq!(session.report().notes, [""; 0], "0 is exact where no thread ran");
}

#[test]
fn a_core_type_without_threads_is_not_doubted() {
    let program = Program::on(MACHINE);
    let session = Session::builder("doubted").on(&program.machine).events(EVENTS).start().unwrap();
    let phase = session.phase("work").unwrap();
    let thread = session.attach().unwrap();
    thread.run(phase, || program.work(5_000_000, 3)).unwrap();
    assert_eq!(session.report().notes, [""; 0]);
    // Where a thread does run, an event that stays at 0 is odd.
    move_to(&program.machine, 4);
    thread.run(phase, || program.work(5_000_000, 0)).unwrap();
    let notes = session.report().notes;
    assert!(notes[0].starts_with("cpu_atom/BRANCHES/ stayed at 0 over 5000000 "), "{notes:?}");
    assert_eq!(notes.len(), 1);
}

#[test]
fn slots_by_category_add_up_over_core_types() {
    // Linux wants SLOTS first, whether or not it was asked for.
    for events in ["TOPDOWN_RETIRING", "TOPDOWN_RETIRING,cpu_core/SLOTS/"] {
        let program = Program::on(MACHINE);
        let builder = Session::builder(format!("slots of {events}")).on(&program.machine);
        let session = builder.events(events).start().unwrap();
        let phase = session.phase("work").unwrap();
        let thread = session.attach().unwrap();
        let happens = |model: &str, event: &str, times: u64| {
            let resolved = resolve(CpuModel::named(model).unwrap(), event).unwrap();
            program.machine.inject_event(resolved.encoding().unwrap(), times);
        };
        let work = || {
            happens("adl-goldencove", "SLOTS", 60_000);
            happens("adl-goldencove", "TOPDOWN_RETIRING", 20_000);
            move_to(&program.machine, 4);
            happens("adl-gracemont", "TOPDOWN_RETIRING", 5_000);
        };
        thread.run(phase, work).unwrap();
        let report = session.report();
        let count = |event: &str| sum(&report, 0, event);
        assert_eq!(count("cpu_atom/TOPDOWN_RETIRING/"), 5_000);
        // In steps of 1/255 of the slots.
        let retiring = count("cpu_core/TOPDOWN_RETIRING/");
        assert!(retiring.abs_diff(20_000) <= 60_000 / 255, "{retiring}");
        assert_eq!(count("TOPDOWN_RETIRING"), retiring + 5_000);
        if events.contains("SLOTS") {
            assert_eq!(count("cpu_core/SLOTS/"), 60_000);
        }
    }
}

#[test]
fn refusals_name_the_core_type_and_the_way_out() {
    let machine = Machine::scripted(MACHINE).unwrap();
    let platform = PlatformRef::from(&machine);
    let refused = |name: &str| Event::for_platform(&platform, name).unwrap_err();
    let error = refused("UOPS_DISPATCHED.PORT_0");
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let line = error.to_string();
    assert!(line.starts_with("cannot count \"UOPS_DISPATCHED.PORT_0\" on cpu_atom: "), "{line}");
    assert!(
        line.ends_with(
            "; ask for cpu_core/UOPS_DISPATCHED.PORT_0/, which counts on those cores alone"
        ),
        "{line}"
    );
    assert_eq!(refused("INSTRUCTION").kind(), ErrorKind::UnknownEvent);
    assert_eq!(refused("cpu_core/INSTRUCTION/").kind(), ErrorKind::UnknownEvent);
    assert_eq!(
        refused("cpu_core/task-clock/").to_string(),
        "cannot count \"cpu_core/task-clock/\": the kernel counts task-clock wherever the thread runs"
    );
    let start = |name: &str, events: &str| Session::builder(name).on(&machine).events(events);
    let error = start("multiplexed", "CYCLES").multiplexed().start().unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot let the kernel multiplex groups on a hybrid processor: time off the counters and \
         time on the other core type would look the same; rotate event sets"
    );
    let by_registers = start("registers", "CYCLES")
        .placement(machine.topology(), Placement::Compact)
        .registers(Partition::Even);
    let error = by_registers.start().unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot count CYCLES by registers on a hybrid processor, whose core types have counters of \
         their own (cpu_core and others); count through the kernel"
    );
    let many: Vec<String> = (1..=9).map(|code| format!("r{code:x}c5")).collect();
    let error = start("many", &many.join(",")).start().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooManyEvents);
    let line = format!(
        "cannot count 27 events at once, those of each core type among them: {MAX_EVENTS} is the most"
    );
    assert!(error.to_string().starts_with(&line), "{error}");
}

#[test]
fn a_group_that_lost_its_counters_on_one_core_type_is_reported() {
    for taken in 0..2 {
        let program = Program::on(MACHINE);
        let name = format!("taken {taken}");
        let session = Session::builder(name).on(&program.machine).events(EVENTS).start().unwrap();
        let phase = session.phase("work").unwrap();
        let thread = session.attach().unwrap();
        thread.run(phase, || program.work(100, 1)).unwrap();
        // Another tool takes the counters of one core type while the thread is there.
        move_to(&program.machine, TYPES[taken]);
        program.machine.inject_fault(0, Fault::Steal);
        let lost = thread.run(phase, || program.work(100, 1)).unwrap_err();
        assert_eq!(lost.error.kind(), ErrorKind::NotScheduled);
        assert!(
            lost.error.to_string().ends_with(
                "could not keep the group on its counters; another profiler holds the counters; \
                 end it or count fewer events"
            ),
            "{}",
            lost.error
        );
        // It stays lost on the other type, too: what it missed is not known.
        move_to(&program.machine, TYPES[1 - taken]);
        thread.run(phase, || program.work(100, 1)).unwrap_err();
        assert_eq!(sum(&session.report(), 0, "INSTRUCTIONS"), 100);
    }
}

#[test]
fn moves_and_faults_at_any_call_give_the_truth_or_an_error() {
    everywhere(MACHINE, false, &[Fault::Migrate(4), Fault::Migrate(7), Fault::Unplug(1)]);
}

#[test]
fn rotating_sets_hold_events_with_their_parts() {
    let program = Program::on(MACHINE);
    // Efficient cores have six counters for nine events.
    let codes: Vec<String> = (1..=9).map(|code| format!("r{code:x}c5")).collect();
    let session = Session::builder("rotating")
        .on(&program.machine)
        .events(format!("INSTRUCTIONS,task-clock,{}", codes.join(",")))
        .rotate_event_sets(EventSetRotation::PerExecution)
        .start()
        .unwrap();
    let report = session.report();
    assert!(report.sets.len() > 1, "{:?}", report.sets);
    for set in &report.sets {
        for (at, column) in report.events.iter().enumerate() {
            let whole = column.part_of.unwrap_or(at);
            assert_eq!(set.events.contains(&at), set.events.contains(&whole), "{set:?}");
        }
    }
    let phase = session.phase("work").unwrap();
    let thread = session.attach().unwrap();
    for step in 0..20 {
        let work = || {
            program.work(500, 1);
            move_to(&program.machine, TYPES[(step + 1) % 2]);
            program.work(500, 1);
        };
        thread.run(phase, work).unwrap();
    }
    let report = session.report();
    for (column, counts) in report.events.iter().zip(&report.threads[0].phases[0].counts) {
        let expected = match column.name.as_str() {
            "INSTRUCTIONS" => 1000,
            "cpu_core/INSTRUCTIONS/" | "cpu_atom/INSTRUCTIONS/" => 500,
            _ => continue,
        };
        assert!(counts.samples > 0);
        assert_eq!(counts.raw.sum, expected * counts.samples, "{}", column.name);
    }
}

#[test]
fn a_context_counts_by_the_pmu_of_its_core() {
    let machine = Machine::scripted(MACHINE).unwrap();
    let cpus = CpuSet::from_list("0,4").unwrap();
    let builder = Session::builder("contexts").on(&machine).events("INSTRUCTIONS,cpu-clock");
    let mut all = builder.system_wide(&cpus).unwrap();
    let phase = all.phase("all").unwrap();
    all.begin(phase).unwrap();
    machine.advance(10_000_000);
    all.end(phase).unwrap();
    let report = all.report();
    for (row, (own, other)) in
        [("cpu_core", "cpu_atom"), ("cpu_atom", "cpu_core")].into_iter().enumerate()
    {
        let count = |event: &str| sum(&report, row, event);
        assert!(count("INSTRUCTIONS") > 1_000_000);
        assert_eq!(count(&format!("{own}/INSTRUCTIONS/")), count("INSTRUCTIONS"));
        assert_eq!(count(&format!("{other}/INSTRUCTIONS/")), 0);
        assert_eq!(count("cpu-clock"), 10_000_000);
    }
}

#[test]
fn reports_tell_core_types_apart() {
    let program = Program::on(MACHINE);
    let builder = Session::builder("told apart").on(&program.machine);
    let session = builder.events("INSTRUCTIONS,CYCLES").start().unwrap();
    let phase = session.phase("work").unwrap();
    let thread = session.attach().unwrap();
    let work = || {
        program.work(1000, 0);
        move_to(&program.machine, 4);
        program.work(3000, 0);
    };
    thread.run(phase, work).unwrap();
    let report = session.report();
    let mut csv = Vec::new();
    export::csv(&report, &mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (head, row) = (lines.next().unwrap(), lines.next().unwrap());
    let field = |name: &str| row[head.iter().position(|field| *field == name).unwrap()];
    assert_eq!(field("INSTRUCTIONS [instructions]"), "4000");
    assert_eq!(field("cpu_core/INSTRUCTIONS/ [instructions]"), "1000");
    assert_eq!(field("cpu_atom/INSTRUCTIONS/ [instructions]"), "3000");
    let mut json = Vec::new();
    export::json(&report, &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["events"][2]["name"], "cpu_core/INSTRUCTIONS/");
    assert_eq!(
        (&json["events"][2]["core_pmu"], &json["events"][2]["part_of"]),
        (&"cpu_core".into(), &0.into())
    );
    assert_eq!(json["events"][0]["part_of"], serde_json::Value::Null);
    assert_eq!(json["threads"][0]["phases"][0]["counts"][3]["value"], 3000);
}
