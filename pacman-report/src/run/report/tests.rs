//! Figures of made-up recordings, by hand.

use pacman_core::Topology;
use pacman_regions::{
    Cause, Ending, OutsideWaits, Overhead, Process, Recording, Region, Row, Scheduling, Site,
    States, Team, Timeline, Wait, WaitSite, Waits,
};

use super::columns::{Columns, Count};
use super::efficiency::{Efficiency, Factor};
use super::process::ProcessReport;
use super::region::RegionReport;
use super::seats::Seats;
use super::states::Reason;
use crate::run::names::{Name, Names};
use crate::run::tests::made::described;

pub(in crate::run) fn row(
    thread: u32,
    seconds: f64,
    cpu: Option<u32>,
    moves: u64,
    counts: &[Option<u64>],
) -> Row {
    Row {
        thread,
        executions: 10,
        seconds,
        cpu,
        moves,
        counted: 10,
        counts: counts.to_vec(),
        margins: Vec::new(),
        counted_by_event: Vec::new(),
        states: None,
    }
}

pub(in crate::run) fn region(teams: &[(u32, f64)], rows: Vec<Row>) -> Region {
    let team = |&(threads, seconds): &(u32, f64)| Team { threads, executions: 10, seconds };
    Region {
        site: Site { module: "/bin/x".into(), identity: None, address: 1, source: None },
        entry: "GOMP_parallel".into(),
        runtime: 0,
        executions: 10,
        sampling: None,
        nested: 0,
        within: 0,
        starters: 1,
        outer: teams.iter().map(|(_, seconds)| seconds).sum(),
        seconds: teams.iter().map(|(_, seconds)| seconds).sum(),
        shortest: 0.1,
        longest: 0.2,
        teams: teams.iter().map(team).collect(),
        rows,
        adaptation: None,
        energy: None,
        label: None,
        open: Vec::new(),
    }
}

pub(in crate::run) fn report(region: &Region, events: &[&str], seats: &Seats) -> RegionReport {
    let event = |name: &&str| described(name);
    let columns = Columns::of(
        &events.iter().map(event).collect::<Vec<_>>(),
        &[],
        &Overhead { nanoseconds: Some(1e6), ..Overhead::default() },
    );
    RegionReport::of(region, Name::default(), (10.0, None), Some(1e6), &columns, seats)
}

#[test]
fn waiting_is_over_teams_of_all_sizes_and_imbalance_over_the_longest_one_s() {
    // 1 s on 4 threads and 3 s on 2: 10 thread-seconds, of which 2 + 3 + 0.5 + 0.5 are work.
    let rows = vec![
        row(0, 2.0, None, 0, &[]),
        row(1, 3.0, None, 0, &[]),
        row(2, 0.5, None, 0, &[]),
        row(3, 0.5, None, 0, &[]),
    ];
    let report = report(&region(&[(4, 1.0), (2, 3.0)], rows), &[], &Seats::default());
    assert!((report.waiting.unwrap() - 0.4).abs() < 1e-12, "{:?}", report.waiting);
    assert!((report.imbalance.unwrap() - 1.2).abs() < 1e-12, "{:?}", report.imbalance);
    assert_eq!((report.team_sizes().as_str(), report.share), ("2-4", Some(0.4)));
    assert!((report.lost() - 1.6).abs() < 1e-12);
    assert_eq!(report.overhead, Some(0.0025), "10 executions of 1 ms in 4 s");
}

#[test]
fn what_was_not_observed_has_no_figure() {
    let report = report(&region(&[], Vec::new()), &["CYCLES"], &Seats::default());
    assert_eq!((report.waiting, report.imbalance), (None, None));
    assert_eq!(report.figures.counts, [None]);
    assert_eq!(report.figures.rates, [None]);
}

#[test]
fn siblings_are_those_that_never_left_one_core() {
    // CPUs 0 and 1 are one core, 2 and 3 the other.
    let topology = Topology::synthetic("2 cores, 2 threads").expect("a machine");
    let rows = vec![
        row(0, 1.0, Some(0), 0, &[]),
        row(1, 1.0, Some(1), 0, &[]),
        row(2, 1.0, Some(2), 0, &[]),
        row(3, 1.0, Some(3), 1, &[]),
        row(4, 1.0, Some(0), 0, &[]),
        row(5, 1.0, None, 0, &[]),
    ];
    let report = report(&region(&[(6, 1.0)], rows), &[], &Seats::on(&topology));
    let beside: Vec<&[u32]> = report.threads.iter().map(|thread| &*thread.beside).collect();
    // 0 and 4 take turns on one context: neither runs beside the other.
    assert_eq!(beside, [&[1][..], &[0, 4], &[], &[], &[1], &[]]);
    let cores: Vec<Option<u32>> =
        report.threads.iter().map(|thread| thread.seat.map(|seat| seat.core)).collect();
    assert_eq!(cores, [Some(0), Some(0), Some(1), None, Some(0), None]);
}

#[test]
fn metrics_follow_where_all_their_events_were_counted() {
    let rows = vec![
        row(0, 1.0, None, 0, &[Some(2_000), Some(3_000), Some(6)]),
        row(1, 1.0, None, 0, &[Some(2_000), Some(1_000), None]),
    ];
    let events = ["INSTRUCTIONS", "CYCLES", "LLC_MISSES"];
    let report = report(&region(&[(2, 1.0)], rows), &events, &Seats::default());
    let figures = &report.figures;
    assert_eq!(
        figures.counts[0],
        Some(Count { value: 4_000, is_complete: true, share: 1.0, margin: 0.0, readings: None })
    );
    assert_eq!(
        figures.counts[2],
        Some(Count { value: 6, is_complete: false, share: 1.0, margin: 0.0, readings: None })
    );
    assert_eq!(figures.rates, [Some(2_000.0), Some(2_000.0), None]);
    let events = events.map(described);
    let columns = Columns::of(&events, &[], &Overhead::default());
    let names: Vec<&str> = columns.metrics.list().map(|metric| metric.name()).collect();
    assert!(names.contains(&"ipc") && names.contains(&"llc-mpki"), "{names:?}");
    let value =
        |name: &str| figures.metrics[names.iter().position(|known| *known == name).unwrap()];
    assert_eq!(value("ipc"), Some(1.0));
    assert_eq!(value("llc-mpki"), None, "a thread's misses are missing");
}

/// Rows are of 10 executions, and to observe one takes a millisecond.
#[test]
fn what_is_shorter_than_observing_it_has_counts_and_no_rates() {
    let events = ["CPU_CLOCK"];
    for (seconds, rate) in [(0.009, None), (0.02, Some(50.0))] {
        let rows = vec![row(0, seconds, None, 0, &[Some(1)])];
        let figures = report(&region(&[(1, seconds)], rows), &events, &Seats::default()).figures;
        assert_eq!(
            figures.counts,
            [Some(Count { value: 1, is_complete: true, share: 1.0, margin: 0.0, readings: None })]
        );
        assert_eq!(figures.rates, [rate]);
    }
}

/// 20 ms in a region, and a clock whose counts contain the cost of reading it.
#[test]
fn a_clock_beyond_the_time_has_no_share() {
    for (count, rate) in [(20_100_000, Some(1.005e9)), (26_000_000, None)] {
        let rows = vec![row(0, 0.02, None, 0, &[Some(count)])];
        let report = report(&region(&[(1, 0.02)], rows), &["task-clock"], &Seats::default());
        assert_eq!(report.figures.rates, [rate]);
    }
}

#[test]
fn an_event_that_never_moves_is_doubted() {
    let rows = [row(0, 1.0, None, 0, &[Some(0), Some(5_000_000)])];
    let columns =
        Columns::of(&["INSTRUCTIONS", "CYCLES"].map(described), &[], &Overhead::default());
    let notes = columns.notes(&columns.figures(&rows.iter().collect::<Vec<_>>()), []);
    assert_eq!(notes.len(), 1);
    assert!(notes[0].starts_with("INSTRUCTIONS stayed at 0 over 5000000 CYCLES"), "{}", notes[0]);
}

/// Two threads for 10 s, 8 of them in a region. T1 works for 2 s, waits for 5 at a loop and for 1 at the
/// end; T0 waits for 1 s at the loop. So T1 loses 5 s to uneven load, and both 1 s alike.
fn timed() -> Recording {
    let states = |waits: f64| States {
        waits: vec![Wait { site: 0, count: 10, seconds: waits }],
        ..States::default()
    };
    let with = |row: Row, waits: f64| Row { states: Some(states(waits)), ..row };
    let rows = vec![with(row(0, 8.0, None, 0, &[]), 1.0), with(row(1, 7.0, None, 0, &[]), 5.0)];
    let site = Site { module: "/bin/x".into(), identity: None, address: 7, source: None };
    Recording {
        process: Process {
            pid: 1,
            parent: 0,
            command: vec!["x".into()],
            began: 0.0,
            seconds: 10.0,
            ending: Ending::Exit,
            host: None,
            rank: None,
        },
        runtimes: Vec::new(),
        threads: 2,
        contexts: 2,
        events: Vec::new(),
        sets: Vec::new(),
        overhead: Overhead::default(),
        roots: 1,
        regions: vec![region(&[(2, 8.0)], rows)],
        phases: Vec::new(),
        logs: Vec::new(),
        timeline: Timeline::default(),
        waits: Some(Waits {
            sites: vec![WaitSite { site, cause: Cause::Loop, call: None }],
            several_roots: false,
            outside: Vec::new(),
        }),
        scheduling: Some(Scheduling { ran: 19.5, delayed: 0.5 }),
        energy: None,
        machine: None,
        notes: Vec::new(),
    }
}

fn report_on(recording: &Recording) -> ProcessReport {
    ProcessReport::of(recording, &mut Names::default(), None)
}

#[test]
fn the_tree_s_factors_are_talp_s_and_multiply_to_the_useful_part() {
    let report = report_on(&timed());
    let near = |one: f64, other: f64| assert!((one - other).abs() < 1e-12, "{one}, {other}");
    let states = report.regions[0].states.as_ref().expect("they were timed");
    let [first, second] = &states.threads[..] else { panic!("two threads") };
    near(first.useful, 7.0);
    near(second.useful, 2.0);
    near(second.end, 1.0);
    near(first.end, 0.0);
    let tree = report.efficiency.as_ref().expect("they were timed");
    let Efficiency { parallel, serialization, load_balance, scheduling, .. } = tree.efficiency;
    // Of 20 thread-seconds T1 has no region for 2; T0 works then.
    near(serialization, 0.9);
    near(load_balance, (18.0 - 5.0) / 18.0);
    near(scheduling, (18.0 - 5.0 - 2.0) / (18.0 - 5.0));
    near(parallel, (7.0 + 2.0 + 2.0) / 20.0);
    near(serialization * load_balance * scheduling, parallel);
    let factors = tree.factors();
    assert_eq!(factors[0].factor, Factor::LoadBalance, "the worst comes first");
    assert_eq!(factors[0].worst.map(|(reason, _)| reason), Some(Reason::Site(0, Cause::Loop)));
    assert_eq!(states.losses.worst(), Some((Reason::Site(0, Cause::Loop), 6.0 / 16.0)));
    assert!(!report.lacks_processors());
}

/// As [`timed`], with 1 s of the 2 s outside of the region in MPI, and with 0.5 s of T0's 7 s in MPI.
fn hybrid(starts_regions: bool) -> Recording {
    let mut recording = timed();
    let waits = recording.waits.as_mut().expect("made above");
    let site = waits.sites[0].site.clone();
    let call = Some("MPI_Recv".to_owned());
    waits.sites.push(WaitSite { site, cause: Cause::Mpi, call });
    let outside = vec![Wait { site: 1, count: 4, seconds: 1.0 }];
    waits.outside = vec![OutsideWaits { thread: 3, starts_regions, waits: outside, dropped: 0 }];
    let first = recording.regions[0].rows[0].states.as_mut().expect("made above");
    first.waits.push(Wait { site: 1, count: 2, seconds: 0.5 });
    recording
}

#[test]
fn mpi_outside_of_regions_is_no_serial_loss() {
    let near = |one: f64, other: f64| assert!((one - other).abs() < 1e-12, "{one}, {other}");
    let report = report_on(&hybrid(true));
    let tree = report.efficiency.as_ref().expect("they were timed");
    let Efficiency { parallel, mpi, serialization, load_balance, scheduling } = tree.efficiency;
    // Of 20 thread-seconds both threads are in MPI or wait for it for 1 s each, and T0 for 0.5 s more.
    near(tree.losses.mpi, 2.5);
    near(mpi, 17.5 / 20.0);
    // T1 has no region for 1 s while T0 works.
    near(tree.serial, 1.0);
    near(serialization, 16.5 / 17.5);
    near(parallel, (6.5 + 2.0 + 1.0) / 20.0);
    near(mpi * serialization * load_balance * scheduling, parallel);
    let factors = tree.factors();
    let own = factors.iter().find(|one| one.factor == Factor::Mpi).expect("there is MPI");
    assert_eq!(own.worst.map(|(reason, _)| reason), Some(Reason::Site(1, Cause::Mpi)));
    let mpi = report.mpi.as_ref().expect("there is MPI");
    near(mpi.outside, 1.0);
    let [call] = &mpi.calls[..] else { panic!("one function") };
    assert_eq!((call.name.as_str(), call.count, call.inside_count), ("MPI_Recv", 4, 2));
    near(call.total(), 1.5);
    assert_eq!(mpi.threads, [(3, true, 1.0)]);
}

#[test]
fn another_thread_s_mpi_calls_are_not_waited_for() {
    let report = report_on(&hybrid(false));
    let tree = report.efficiency.as_ref().expect("they were timed");
    assert!((tree.losses.mpi - 0.5).abs() < 1e-12, "only what is inside of the region");
    assert!((tree.serial - 2.0).abs() < 1e-12);
    assert!(report_on(&timed()).mpi.is_none());
    let factors = report_on(&timed()).efficiency.expect("they were timed").factors();
    assert!(factors.iter().all(|one| one.factor != Factor::Mpi));
}

#[test]
fn tasks_after_a_thread_s_part_are_useful() {
    let mut recording = timed();
    let late = recording.regions[0].rows[1].states.as_mut().expect("made above");
    (late.late_tasks, late.starting) = (0.75, 0.125);
    let report = report_on(&recording);
    let states = report.regions[0].states.as_ref().expect("they were timed");
    let thread = &states.threads[1];
    assert_eq!((thread.useful, thread.end, thread.starting), (2.75, 0.125, 0.125));
}

#[test]
fn a_tree_needs_one_root_and_processors_are_named_first() {
    let mut recording = timed();
    recording.scheduling = Some(Scheduling { ran: 8.0, delayed: 2.0 });
    assert!(report_on(&recording).lacks_processors());
    recording.waits.as_mut().expect("made above").several_roots = true;
    let report = report_on(&recording);
    assert!(report.efficiency.is_none() && report.regions[0].states.is_some());
    assert!(report.notes[0].starts_with("several threads started regions"), "{:?}", report.notes);
    recording.waits = None;
    recording.regions[0].rows.iter_mut().for_each(|row| row.states = None);
    let report = report_on(&recording);
    assert!(report.efficiency.is_none() && report.regions[0].states.is_none());
}

/// The machine that reads may trust its driver, or may not know the event.
#[test]
fn what_is_known_of_an_event_is_recorded() {
    let mut recording = timed();
    let mut event = described("CYCLES");
    event.name = "A_NAME_OF_ANOTHER_MACHINE".into();
    event.facts.doubt = Some("an erratum".into());
    event.facts.unit = "cycles\u{1b}[31m".into();
    recording.events = vec![event];
    recording.regions.iter_mut().flat_map(|region| &mut region.rows).for_each(|row| {
        row.counts = vec![Some(1)];
        row.counted = row.executions;
    });
    let report = report_on(&recording);
    let column = &report.columns.events[0];
    assert_eq!(column.title(), "A_NAME_OF_ANOTHER_MACHINE?");
    assert!(!column.unit.contains('\u{1b}'), "{:?}", column.unit);
    assert!(report.notes.contains(&"?  may be wrong: an erratum".to_owned()), "{:?}", report.notes);
    // A count that no processor reaches is found by the recorded kind.
    recording.regions[0].rows[0].counts = vec![Some(1 << 50)];
    let notes = report_on(&recording).notes;
    assert!(notes.iter().any(|note| note.contains("CYCLES came to 1125899906842624")), "{notes:?}");
}
