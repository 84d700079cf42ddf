//! Slots by top-down category: each thread has its own, to half a point, whatever happens on the way.

use pacman_core::session::Sample;
use pacman_core::{ErrorKind, Event, Placement, Result, Session};
use pacman_events::{Encoding, resolve};
use pacman_sim::{Fault, Machine};
use pacman_suite::Barrier;

use crate::program::only;

const LEVEL_1: &str = "TOPDOWN_RETIRING,TOPDOWN_BAD_SPECULATION,TOPDOWN_FRONTEND_BOUND,\
                       TOPDOWN_BACKEND_BOUND";

/// A program that uses its slots in known shares.
#[derive(Clone)]
struct Program {
    machine: Machine,
    slots: Encoding,
    fields: Vec<Encoding>,
}

impl Program {
    fn on(name: &str) -> Program {
        let machine = Machine::scripted(name).unwrap();
        let event = |name: &str| only(&resolve(machine.cpu(), name).unwrap());
        let fields = LEVEL_1.split(',').map(event).collect();
        Program { slots: event("SLOTS"), fields, machine }
    }

    /// Uses the given number of slots in each category.
    fn work(&self, by_category: [u64; 4]) {
        self.machine.execute(10);
        self.machine.inject_event(&self.slots, by_category.iter().sum());
        for (field, slots) in self.fields.iter().zip(by_category) {
            self.machine.inject_event(field, slots);
        }
    }

    fn session(&self, name: &str, events: &str) -> Session {
        Session::builder(name).on(&self.machine).events(events).start().unwrap()
    }
}

/// The shares of four categories, in points.
fn shares(slots: [u64; 4]) -> [f64; 4] {
    let all: u64 = slots.iter().sum();
    slots.map(|part| 100.0 * part as f64 / all as f64)
}

/// Whether counts are the shares of `slots` to half a point, and the slots all of them.
fn assert_near(counted: [u64; 5], slots: [u64; 4], times: u64, what: &str) {
    let all: u64 = slots.iter().sum::<u64>() * times;
    assert_eq!(counted[4], all, "{what}: slots");
    for (n, share) in shares(slots).into_iter().enumerate() {
        let points = 100.0 * counted[n] as f64 / all as f64;
        assert!((points - share).abs() < 0.5, "{what}, category {n}: {points} for {share}");
    }
}

#[test]
fn siblings_have_their_own_shares_in_each_phase() {
    let program = Program::on("icelake");
    let builder = Session::builder("slots of siblings").on(&program.machine);
    let events = format!("{LEVEL_1},SLOTS");
    let topology = program.machine.topology();
    let session = builder.events(&events).placement(topology, Placement::Compact).start().unwrap();
    let phases = ["one", "other"].map(|name| session.phase(name).unwrap());
    // Long phases begin with a system call, short ones share one.
    let work = [
        [[3_000_000, 1_000_000, 500_000, 2_500_000], [400, 300, 200, 100].map(|n| n * 9_000)],
        [[200_000, 100_000, 1_700_000, 500_000], [90_000, 10_000, 20_000, 77_000]],
    ];
    let meet = Barrier::new(2);
    std::thread::scope(|scope| {
        for mine in &work {
            let (session, meet, program) = (&session, &meet, program.clone());
            scope.spawn(move || {
                let thread = session.attach().unwrap();
                meet.wait();
                for _ in 0..300 {
                    for (phase, slots) in phases.iter().zip(mine) {
                        thread.run(*phase, || program.work(*slots)).unwrap();
                    }
                }
            });
        }
    });
    let report = session.report();
    for thread in &report.threads {
        let counted =
            |phase: usize| [0, 1, 2, 3, 4].map(|n| thread.phases[phase].counts[n].raw.sum);
        // Threads report in the order in which they attached.
        let mine = work.iter().find(|work| counted(0)[4] == 300 * work[0].iter().sum::<u64>());
        let mine = mine.unwrap_or_else(|| panic!("{:?}", counted(0)));
        for (phase, slots) in mine.iter().enumerate() {
            assert_near(counted(phase), *slots, 300, &format!("phase {phase}"));
        }
    }
    assert!(session.report().notes.is_empty(), "{:?}", session.report().notes);
}

#[test]
fn one_long_phase_is_exact_to_a_fifth_of_a_point() {
    let program = Program::on("icelake");
    let session = program.session("one long", &format!("{LEVEL_1},SLOTS"));
    let phase = session.phase("work").unwrap();
    let thread = session.attach().unwrap();
    // Earlier counts must not blur it.
    program.work([900_000_000, 5, 5, 5]);
    let slots = [1_000_000, 2_000_000, 3_000_000, 4_000_000];
    thread.run(phase, || program.work(slots)).unwrap();
    let report = session.report();
    let counted = [0, 1, 2, 3].map(|n| report.threads[0].phases[0].counts[n].raw.sum);
    for (counted, slots) in counted.into_iter().zip(slots) {
        let off = counted.abs_diff(slots);
        assert!(off <= 10_000_000 / 255, "{counted} for {slots}");
    }
}

#[test]
fn fields_bring_slots_along_and_count_in_one_mode() {
    let program = Program::on("icelake");
    let session = program.session("no slots asked", "CYCLES,TOPDOWN_BACKEND_BOUND,INSTRUCTIONS");
    let phase = session.phase("work").unwrap();
    let thread = session.attach().unwrap();
    thread.run(phase, || program.work([1_000, 0, 0, 3_000])).unwrap();
    let report = session.report();
    let sum = |n: usize| report.threads[0].phases[0].counts[n].raw.sum;
    assert!(sum(1).abs_diff(3_000) <= 4_000 / 255 + 1, "{}", sum(1));
    assert_eq!(sum(2), 10);
    let mixed = Session::builder("mixed").on(&program.machine);
    let error = mixed.events("SLOTS:k,TOPDOWN_RETIRING").start().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    let older = Event::on(pacman_events::CpuModel::named("skl").unwrap(), "SLOTS").unwrap_err();
    assert_eq!(older.kind(), ErrorKind::Unsupported, "{older}");
}

#[test]
fn event_sets_with_and_without_slots_rotate() {
    let program = Program::on("icelake");
    let names = "SLOTS,TOPDOWN_RETIRING,TOPDOWN_BACKEND_BOUND,BRANCHES,BRANCH_MISSES,L1D_MISSES,\
                 L2_MISSES,LLC_MISSES,DTLB_MISSES,LOADS,STORES,UOPS_ISSUED";
    let builder = Session::builder("rotating slots").on(&program.machine).events(names);
    let session = builder
        .rotate_event_sets(pacman_core::session::EventSetRotation::PerExecution)
        .start()
        .unwrap();
    let phase = session.phase("work").unwrap();
    let thread = session.attach().unwrap();
    for _ in 0..400 {
        thread.run(phase, || program.work([60_000, 1_000, 9_000, 30_000])).unwrap();
    }
    let report = session.report();
    assert_eq!(report.sets.len(), 2, "eight general counters do not hold nine events");
    let row = &report.threads[0].phases[0];
    let raw = |n: usize| row.counts[n].raw.sum as f64;
    // Both sets have room for them, and each change of sets takes them off their counters.
    assert_eq!(raw(0), 400.0 * 100_000.0);
    for (n, share) in [(1, 0.6), (2, 0.3)] {
        assert!((raw(n) / raw(0) - share).abs() < 0.005, "{n}: {} of {}", raw(n), raw(0));
    }
}

/// Attaches, works and reads; each share that is given is right to half a point.
fn scenario(program: &Program, name: &str) -> Result<(usize, usize)> {
    let events = format!("{LEVEL_1},SLOTS");
    let session = Session::builder(name).on(&program.machine).events(&events).start()?;
    let thread = session.attach()?;
    let slots = [5_000_000, 1_000_000, 2_500_000, 1_500_000];
    let (mut right, mut refused) = (0, 0);
    let mut last: Option<(u64, Sample)> = None;
    for done in 0..4 {
        let mut sample = Sample::EMPTY;
        match thread.sample(&mut sample) {
            Ok(()) => {
                if let Some((before, earlier)) = &last {
                    let counted = [0, 1, 2, 3, 4].map(|n| sample.count_since(earlier, n));
                    assert_near(counted, slots, done - before, name);
                }
                last = Some((done, sample));
                right += 1;
            }
            Err(error) => {
                assert!(!error.to_string().contains('\n'), "{error}");
                refused += 1;
            }
        }
        program.work(slots);
    }
    Ok((right, refused))
}

#[test]
fn a_fault_at_any_call_gives_the_shares_or_an_error() {
    let undisturbed = Program::on("icelake");
    assert_eq!(scenario(&undisturbed, "slots undisturbed").unwrap(), (4, 0));
    let calls = undisturbed.machine.calls();
    assert!(calls > 20, "{calls} calls are too few to disturb");
    let (mut right, mut refused, mut failed) = (0, 0, 0);
    for fault in [
        Fault::Errno(libc::EINTR),
        Fault::Errno(libc::EMFILE),
        Fault::Preempt(5_000),
        Fault::Migrate(1),
        Fault::Steal,
        Fault::NearWrap(150),
        Fault::Unplug(0),
    ] {
        for call in 0..calls {
            let program = Program::on("icelake");
            program.machine.inject_fault(call, fault);
            match scenario(&program, &format!("slots, {fault:?} at call {call}")) {
                Ok((these, not)) => {
                    right += these;
                    refused += not;
                }
                Err(error) => {
                    assert!(!error.to_string().contains('\n'), "{error}");
                    failed += 1;
                }
            }
            assert_eq!(program.machine.open_counters(), 0, "{fault:?} at call {call}");
        }
    }
    println!("{right} reads right, {refused} refused, {failed} sessions refused, none wrong");
    assert!(right > refused, "most faults should not be noticed");
}
