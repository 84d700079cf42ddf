//! A recording that has everything.

use crate::{
    Adaptation, Cause, Ending, Event, ExecutionLog, FileIdentity, LoggedExecution, LoggedWait,
    Machine, MachineContext, OutsideWaits, Overhead, Phase, PhaseKind, PhaseStates, PhaseThread,
    Process as Ran, ProcessEnergy, Rank, Recording, Region, RegionEnergy, Row as Part, Runtime,
    RuntimeFamily, Scheduling, Site, States, Team, Timeline, TimelineRow, Wait, WaitSite, Waits,
};

/// A log of more than one block.
fn log() -> ExecutionLog {
    let execution = |number: u32| LoggedExecution {
        region: 0,
        thread: number % 2,
        begin: f64::from(number) * 0.25,
        seconds: 0.125,
        own_work: 0.03125,
        weight: 1 + number % 3,
        counts: if number % 5 == 0 { Vec::new() } else { vec![Some(u64::from(number)), None] },
    };
    ExecutionLog {
        executions: (0..70).map(execution).collect(),
        waits: vec![LoggedWait { site: 1, begin: 0.5, seconds: 0.0625, tasks: 0.03125 }],
    }
}

/// A recording that an image can hold without loss.
pub(in crate::arena) fn recording() -> Recording {
    let row = |thread| Part {
        thread,
        executions: 5,
        seconds: 0.25,
        cpu: Some(thread),
        moves: 0,
        counted: 5,
        counts: vec![Some(1234), None],
        margins: Vec::new(),
        counted_by_event: Vec::new(),
        states: Some(States {
            starting: 0.03125,
            late_tasks: 0.0625,
            dropped: 1,
            unseen_tasks: 2,
            useful_off: Some(0.015625),
            waiting_off: Some(0.0078125),
            waits: vec![Wait { site: 0, count: 3, seconds: 0.125 }],
            counted: 5,
            counts: vec![Some(234), None],
        }),
    };
    let adaptation = Adaptation {
        state: "holding".into(),
        threads: 2,
        configuration: "2x1".into(),
        why: "it is better".into(),
        reduced: 3,
        gained: Some(0.5),
        packed: vec![(1, 0.75)],
        all_in_rows: true,
        ..Adaptation::default()
    };
    let region = Region {
        site: Site {
            module: "/opt/app".into(),
            identity: Some(FileIdentity::BuildId("0fa0".into())),
            address: 0x1200,
            source: Some(";a.c;".into()),
        },
        entry: "__kmpc_fork_call".into(),
        runtime: 0,
        executions: 5,
        sampling: Some(crate::Sampling { timed: 2, margin: 0.0, cost: Some(0.03125) }),
        nested: 5,
        within: 0,
        starters: 1,
        seconds: 0.5,
        outer: 0.25,
        shortest: 0.0625,
        longest: 0.25,
        teams: vec![Team { threads: 2, executions: 5, seconds: 0.5 }],
        rows: vec![row(0), row(1)],
        adaptation: Some(adaptation),
        energy: Some(RegionEnergy { joules: 12.5, seconds: 0.5, executions: 4, unread: 1 }),
        label: Some("axpy".into()),
        open: Vec::new(),
    };
    let states =
        PhaseStates { waiting: 0.125, useful_off: Some(0.03125), waiting_off: Some(0.0625) };
    let marked =
        PhaseThread { begun: 9, row: Part { states: None, ..row(1) }, states: Some(states) };
    let kind = PhaseKind::KokkosFor;
    let mut events = [("CYCLES", None), ("ZEBRA", Some("no event"))]
        .map(|(name, why)| Event { uncounted: why.map(str::to_owned), ..Event::unknown(name) });
    let doubted = &mut events[0].facts;
    (doubted.unit, doubted.is_hardware) = ("cycles".into(), true);
    doubted.doubt = Some("an erratum".into());
    doubted.table = Some("skl, installed: new.json".into());
    let context = |cpu| MachineContext { cpu, package: 0, core: cpu / 2, sibling: cpu % 2 };
    let machine = Machine {
        processor: "Pentium 4".into(),
        system: "Linux 6.1 x86_64".into(),
        simulated: Some("a simulated machine".into()),
        quota: Some(1.5),
        contexts: (0..4).map(context).collect(),
    };
    let (family, path) = (RuntimeFamily::Libomp, "/lib/libomp.so".into());
    Recording {
        process: Ran {
            pid: 9,
            parent: 8,
            command: vec!["app".into(), "4".into()],
            began: 1e9,
            seconds: 2.0,
            ending: Ending::ExitInRegion,
            host: Some("node7".into()),
            rank: Some(Rank { rank: 3, ranks: Some(4) }),
        },
        runtimes: vec![Runtime { family, path, version: None }],
        threads: 2,
        contexts: 4,
        machine: Some(machine),
        events: events.to_vec(),
        sets: Vec::new(),
        overhead: Overhead {
            nanoseconds: Some(1e9 / 1_048_576.0),
            reads: "read".into(),
            counts: vec![Some(77), None],
        },
        phases: vec![Phase { name: "axpy".into(), kind, threads: vec![marked] }],
        energy: Some(ProcessEnergy {
            joules: 50.25,
            seconds: 1.5,
            source: "powercap".into(),
            packages: 2,
            wraps_after: 65_536.0,
            longest_gap: 0.75,
        }),
        roots: 1,
        regions: vec![region],
        timeline: Timeline {
            bin: 0.25,
            rows: vec![TimelineRow {
                region: 0,
                seconds: vec![0.0, 0.25],
                thread_seconds: vec![0.0, 0.5],
            }],
        },
        waits: Some(Waits {
            sites: vec![
                WaitSite {
                    site: Site {
                        module: "/opt/app".into(),
                        identity: Some(FileIdentity::Metadata {
                            device: 1,
                            inode: 2,
                            size: 3,
                            modified: 4,
                        }),
                        address: 0x1300,
                        source: None,
                    },
                    cause: Cause::Critical,
                    call: None,
                },
                WaitSite {
                    site: Site {
                        module: "/opt/app".into(),
                        identity: None,
                        address: 0x1400,
                        source: None,
                    },
                    cause: Cause::Mpi,
                    call: Some("MPI_Recv".into()),
                },
            ],
            several_roots: true,
            outside: vec![
                OutsideWaits {
                    thread: 0,
                    starts_regions: false,
                    waits: vec![Wait { site: 1, count: 1, seconds: 0.25 }],
                    dropped: 0,
                },
                OutsideWaits {
                    thread: 2,
                    starts_regions: true,
                    waits: vec![Wait { site: 1, count: 7, seconds: 0.5 }],
                    dropped: 2,
                },
            ],
        }),
        logs: vec![log(), ExecutionLog { executions: Vec::new(), ..log() }],
        scheduling: Some(Scheduling { ran: 1.5, delayed: 0.5 }),
        notes: vec!["a note".into()],
    }
}
