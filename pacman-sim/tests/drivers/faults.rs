//! Every fault at every call: a count is right, or it is an error.

use pacman_core::session::{Sample, Uncounted};
use pacman_core::{Placement, Result, Session};
use pacman_events::partition::Partition;
use pacman_sim::Fault;

use crate::program::{EVENTS, Program};

/// The result of one run of the scenario.
#[derive(Debug, Default)]
struct Outcome {
    right: usize,
    refused: usize,
}

/// Attaches, works, reads a few times, detaches; every difference that is given must be true.
fn scenario(program: &Program, by_registers: bool, name: &str) -> Result<Outcome> {
    let mut builder = Session::builder(name).on(&program.machine).events(EVENTS);
    if by_registers {
        builder = builder
            .placement(program.machine.topology(), Placement::Compact)
            .registers(Partition::Even);
    }
    let session = builder.start()?;
    let thread = session.attach()?;
    let mut outcome = Outcome::default();
    let mut last: Option<(u64, Sample)> = None;
    let mut done = 0;
    for n in 1..=4 {
        let mut sample = Sample::EMPTY;
        match thread.sample(&mut sample) {
            Ok(()) => {
                if let Some((before, earlier)) = &last {
                    let worked = done - before;
                    let counted = [1, 2].map(|event| sample.count_since(earlier, event));
                    assert_eq!(counted, [100 * worked, worked], "{name}: a wrong count");
                }
                last = Some((done, sample));
                outcome.right += 1;
            }
            Err(error) => {
                let text = error.to_string();
                assert!(!text.contains('\n') && text.len() > 20, "{text:?} explains nothing");
                outcome.refused += 1;
            }
        }
        program.work(100 * n, n);
        done += n;
    }
    Ok(outcome)
}

/// Runs the scenario with `fault` at each of its calls in turn.
pub(crate) fn everywhere(machine: &str, by_registers: bool, faults: &[Fault]) {
    let undisturbed = Program::on(machine);
    // Tests run side by side, and no two sessions of a process may share a name.
    let ways = if by_registers { "by registers" } else { "by the kernel" };
    let title = format!("{machine} {ways}, {} faults", faults.len());
    let outcome = scenario(&undisturbed, by_registers, &format!("undisturbed {title}")).unwrap();
    assert_eq!(outcome.right, 4);
    assert_eq!(undisturbed.machine.open_counters(), 0);
    let calls = undisturbed.machine.calls();
    assert!(calls > 20, "{calls} calls are too few to disturb");
    let (mut right, mut refused, mut failed) = (0, 0, 0);
    for fault in faults {
        for call in 0..calls {
            let program = Program::on(machine);
            program.machine.inject_fault(call, *fault);
            let name = format!("{title}, {fault:?} at call {call}");
            match scenario(&program, by_registers, &name) {
                Ok(outcome) => {
                    right += outcome.right;
                    refused += outcome.refused;
                }
                Err(error) => {
                    assert!(!error.to_string().contains('\n'), "{name}: {error}");
                    failed += 1;
                }
            }
            let left = program.machine.open_counters();
            assert_eq!(left, 0, "{name}: counters are left open");
        }
    }
    println!(
        "{title}: {} faults at each of {calls} calls: {right} reads right, {refused} refused, \
         {failed} sessions refused, none wrong",
        faults.len()
    );
    assert!(right > refused, "most faults should not be noticed");
}

pub(crate) fn a_fault_at_any_call_gives_the_truth_or_an_error(machine: &str) {
    everywhere(
        machine,
        false,
        &[
            Fault::Errno(libc::EINTR),
            Fault::Errno(libc::EMFILE),
            Fault::Errno(libc::EACCES),
            Fault::Preempt(5000),
            Fault::Migrate(1),
            Fault::Steal,
            Fault::NearWrap(150),
            Fault::Unplug(0),
        ],
    );
}

/// The library detects a tool that takes the registers when the thread detaches, at the latest. RDPMC
/// alone does not show it, so the report marks the counts as doubtful.
pub(crate) fn stolen_registers_are_noticed(machine: &str) {
    let program = Program::on(machine);
    for call in 1..40 {
        let session = Session::builder(format!("stolen {machine} {call}"))
            .on(&program.machine)
            .events(EVENTS)
            .placement(program.machine.topology(), Placement::Compact)
            .registers(Partition::Even)
            .start()
            .unwrap();
        let phase = session.phase("work").unwrap();
        let thread = session.attach().unwrap();
        program.machine.inject_fault(call, Fault::Steal);
        let mut refused = false;
        for _ in 0..10 {
            refused |= thread.run(phase, || program.work(100, 1)).is_err();
        }
        assert!(program.machine.met_all_faults(), "call {call}");
        drop(thread);
        let notes = &session.report().threads[0].notes;
        let doubted = notes.iter().any(|note| note.contains("in doubt"));
        assert!(refused || doubted, "{machine}, call {call}: {notes:?}");
    }
}

/// Counters of a context count every program that runs there, so preemption is no fault to them. Their
/// owner detects a theft at the next check, not at the next read.
pub(crate) fn a_fault_at_any_register_gives_the_truth_or_an_error(machine: &str) {
    everywhere(
        machine,
        true,
        &[
            Fault::Errno(libc::EIO),
            Fault::Errno(libc::EPERM),
            Fault::Errno(libc::ENXIO),
            Fault::Migrate(1),
            Fault::Unplug(0),
        ],
    );
}

/// With the error of a system call, or the loss of the counters, at each call of ten executions.
pub(crate) fn run_gives_the_programs_value_whatever_the_counters_do(machine: &str) {
    let mut lost = 0;
    for (of, fault) in
        [Fault::Errno(libc::EIO), Fault::Preempt(5000), Fault::Steal].iter().enumerate()
    {
        for call in 1..60 {
            let program = Program::on(machine);
            let name = format!("run {machine} {of} {call}");
            let builder = Session::builder(name).on(&program.machine).events(EVENTS);
            let session = builder.start().unwrap();
            let phase = session.phase("work").unwrap();
            let thread = session.attach().unwrap();
            program.machine.inject_fault(call, *fault);
            let mut uncounted = 0;
            for n in 0..10u64 {
                let ran = thread.run(phase, || {
                    program.work(100, 1);
                    n * n
                });
                uncounted += u64::from(ran.is_err());
                assert_eq!(ran.unwrap_or_else(Uncounted::into_value), n * n);
            }
            drop(thread);
            let report = session.report();
            let row = &report.threads[0];
            let counted = row.phases.first().map_or(0, |row| row.executions);
            assert_eq!(counted + uncounted, 10, "{machine}, call {call}: {:?}", row.notes);
            assert_eq!(uncounted > 0, row.notes.iter().any(|note| note.contains("not counted")));
            lost += uncounted;
        }
    }
    assert!(lost > 0, "{machine}: no fault met an execution");
}
