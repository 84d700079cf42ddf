//! The sentence at the top, of runs with one defect each.

use pacman_regions::{Recording, Scheduling};

use crate::run::report::{ProcessReport, Report};
use crate::run::tests::made::{ThreadSpec, report, timed};
use crate::run::verdict;

fn thread(busy: f64, start: f64, waits: f64, cpu: u32) -> ThreadSpec {
    ThreadSpec { busy, start, waits, cpu }
}

/// Kind, sentence and help on one process, or on several.
fn judged(recordings: &[Recording]) -> (&'static str, String, String) {
    let report: Report = report(recordings);
    let processes: Vec<&ProcessReport> = report.observed().collect();
    let verdict = verdict::of(&processes).expect("waits were timed");
    (verdict.kind.word(), verdict.sentence.text, verdict.help)
}

/// The first figure of a sentence in percent.
fn percent(sentence: &str) -> Option<u32> {
    sentence.split(" %").next()?.rsplit([' ', '\u{a0}']).next()?.parse().ok()
}

/// Two threads on cores of their own, which wait at their starts, for a cause, and at the end.
fn pair(busy: [f64; 2], starts: f64, waits: [f64; 2], cause: &'static str) -> Recording {
    let thread = |at: usize| thread(busy[at], starts, waits[at], 2 * at as u32);
    timed(&[thread(0), thread(1)], cause)
}

fn with_mpi() -> Recording {
    let mut recording = pair([8.0; 2], 0.0, [3.0; 2], "mpi");
    let waits = recording.waits.as_mut().expect("they were timed");
    waits.sites[0].call = Some("MPI_Recv".into());
    recording
}

fn with_serial_code() -> Recording {
    let mut recording = pair([8.0; 2], 0.0, [0.0; 2], "lock");
    recording.process.seconds = 16.0;
    recording
}

/// A process whose threads ran for 60 % of the time in which they could, and its number of contexts.
fn busy(contexts: u32) -> Recording {
    let mut recording = pair([8.0; 2], 0.0, [6.0, 0.0], "lock");
    recording.scheduling = Some(Scheduling { ran: 6.0, delayed: 4.0 });
    if contexts > 0 {
        recording.contexts = contexts;
    }
    recording
}

/// T0 and T1 are on core 0. Twelve more contexts have no thread.
fn with_shared_core() -> Recording {
    let threads = [
        thread(8.0, 0.0, 0.0, 0),
        thread(8.0, 0.0, 0.0, 1),
        thread(8.0, 0.0, 3.0, 2),
        thread(8.0, 0.0, 3.0, 4),
    ];
    timed(&threads, "barrier")
}

/// Runs with one defect each: the kind of it, and the first figure of the sentence in percent.
fn cases() -> Vec<(&'static str, u32, Vec<Recording>)> {
    let both = |waits: f64, cause| vec![pair([8.0; 2], 0.0, [waits; 2], cause)];
    let locked = pair([8.0; 2], 0.0, [4.0; 2], "critical");
    let mut all_in_use = with_shared_core();
    all_in_use.contexts = 6;
    vec![
        ("imbalance", 24, vec![pair([8.0; 2], 0.0, [4.0, 0.0], "barrier")]),
        ("lock", 38, vec![pair([8.0; 2], 0.0, [3.0, 3.5], "lock")]),
        ("ordered", 35, both(3.0, "ordered")),
        ("tasks", 35, both(3.0, "taskwait")),
        ("common", 35, both(3.0, "loop")),
        ("little", 96, both(0.1, "lock")),
        ("common", 47, vec![pair([4.0; 2], 4.0, [0.0; 2], "lock")]),
        // T1 waits for the lock until T0 has done all its work; then T0 waits for T1.
        ("lock", 47, vec![pair([4.0, 8.0], 0.0, [0.0, 4.0], "lock")]),
        // The lock explains as much of the wait at the end as T1 waited for it: 5 of 17 s.
        ("imbalance", 29, vec![pair([2.0, 8.0], 0.0, [0.0, 1.0], "lock")]),
        ("mpi", 35, vec![with_mpi()]),
        ("serial", 25, vec![with_serial_code()]),
        // Waits are not blamed if threads had no processor.
        ("busy-machine", 60, vec![busy(0)]),
        ("more-threads-than-contexts", 60, vec![busy(1)]),
        // Two processes at once have four threads; one after the other they do not.
        ("more-threads-than-contexts", 60, vec![busy(3), busy(3)]),
        // One of three processes is no reason to blame the machine.
        ("lock", 43, vec![busy(3), locked.clone(), locked]),
        ("shared-cores", 18, vec![with_shared_core()]),
        // With all cores in use, only threads that are slower for it count.
        ("shared-cores", 18, vec![all_in_use]),
    ]
}

#[test]
fn the_greatest_cost_is_named_with_its_part() {
    for (kind, part, recordings) in cases() {
        let (own, said, _) = judged(&recordings);
        assert_eq!((own, percent(&said)), (kind, Some(part)), "{said}");
    }
}

#[test]
fn sentences_and_help_are_those_of_the_file() {
    let all = cases().into_iter().map(|(_, _, recordings)| {
        let (kind, said, help) = judged(&recordings);
        format!("{kind}\n{said}\n{help}\n")
    });
    let all = all.collect::<Vec<_>>().join("\n");
    pacman_suite::snapshot(env!("CARGO_MANIFEST_DIR"), "snapshots/verdicts.txt", &all);
}

#[test]
fn processes_that_were_apart_are_not_too_many() {
    let mut other = busy(3);
    let apart = &mut other.regions[0].rows;
    (apart[0].cpu, apart[1].cpu) = (Some(4), Some(6));
    assert_eq!(judged(&[busy(3), other]).0, "busy-machine", "bound apart");
    let mut other = busy(3);
    other.process.began += other.process.seconds + 1.0;
    assert_eq!(judged(&[busy(3), other]).0, "busy-machine");
}

#[test]
fn a_shared_core_is_no_cause_where_its_threads_are_fast_or_locked() {
    let mut recording = with_shared_core();
    recording.contexts = 6;
    for (row, cpu) in recording.regions[0].rows.iter_mut().zip([2, 4, 6, 7]) {
        row.cpu = Some(cpu);
    }
    assert_eq!(
        judged(&[recording]).0,
        "imbalance",
        "the threads on the shared core are the fast ones"
    );
    // A lock costs the same wherever threads are.
    let locked = [thread(8.0, 0.0, 4.0, 0), thread(8.0, 0.0, 4.0, 1)];
    assert_eq!(judged(&[timed(&locked, "lock")]).0, "lock");
}

#[test]
fn without_timed_waits_there_is_no_verdict() {
    let recording = crate::run::tests::made::recording(1);
    let report = report(&[recording]);
    let processes: Vec<&ProcessReport> = report.observed().collect();
    assert!(verdict::of(&processes).is_none());
}
