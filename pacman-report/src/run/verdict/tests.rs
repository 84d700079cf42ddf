//! The sentence at the top, of runs with one defect each.

use pacman_regions::{Recording, Scheduling};

use crate::run::made::{ThreadSpec, report, timed};
use crate::run::report::{ProcessReport, Report};
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

#[test]
fn what_costs_most_is_named_with_its_place() {
    let threads = |waits: [f64; 2]| [thread(8.0, 0.0, waits[0], 0), thread(8.0, 0.0, waits[1], 2)];
    for (waits, cause, kind, sentence) in [
        (
            [4.0, 0.0],
            "barrier",
            "imbalance",
            "Uneven work costs 24 % of the threads’ time, above all in solve, line 10, \
             a<b.c:10: threads wait at a barrier, a<b.c:20.",
        ),
        (
            [3.0, 3.5],
            "lock",
            "lock",
            "Waiting for a lock costs 38 % of the threads’ time, above all in solve, \
             line 10, a<b.c:10: threads wait for a lock, a<b.c:20.",
        ),
        ([3.0, 3.0], "ordered", "ordered", "Waiting for an ordered part costs 35 %"),
        ([3.0, 3.0], "taskwait", "tasks", "Waiting for tasks costs 35 %"),
        ([3.0, 3.0], "loop", "common", "Starting threads and letting them meet costs 35 %"),
        ([0.1, 0.1], "lock", "little", "Little is lost: 96 % of the threads’ time"),
    ] {
        let (own, said, _) = judged(&[timed(&threads(waits), cause)]);
        assert_eq!(own, kind, "{said}");
        assert!(said.starts_with(sentence), "{said}");
    }
    let (kind, said, help) =
        judged(&[timed(&[thread(4.0, 4.0, 0.0, 0), thread(4.0, 4.0, 0.0, 2)], "lock")]);
    assert_eq!(kind, "common", "{said}");
    assert!(said.ends_with("threads wait at the start of regions."), "{said}");
    assert!(help.starts_with("To help: make regions and loops longer"), "{help}");
}

/// T1 waits for the lock until T0 has done all its work; then T0 waits for T1.
#[test]
fn waits_for_a_thread_that_waited_for_a_lock_are_the_lock_s() {
    let threads = [thread(4.0, 0.0, 0.0, 0), thread(8.0, 0.0, 4.0, 2)];
    let (kind, said, _) = judged(&[timed(&threads, "lock")]);
    assert_eq!(kind, "lock", "{said}");
    assert!(said.contains("costs 47 % of the"), "{said}");
    assert!(said.ends_with("threads wait for a lock, a<b.c:20."), "{said}");
    // The lock explains as much of the wait at the end as T1 waited for it.
    let threads = [thread(2.0, 0.0, 0.0, 0), thread(8.0, 0.0, 1.0, 2)];
    let (kind, said, _) = judged(&[timed(&threads, "lock")]);
    assert_eq!(kind, "imbalance", "{said}");
    assert!(said.contains("costs 29 % of the"), "5 of 17 s: {said}");
}

#[test]
fn mpi_is_named_by_its_call() {
    let mut recording = timed(&[thread(8.0, 0.0, 3.0, 0), thread(8.0, 0.0, 3.0, 2)], "mpi");
    let waits = recording.waits.as_mut().expect("they were timed");
    waits.sites[0].call = Some("MPI_Recv".into());
    let (kind, said, _) = judged(&[recording]);
    assert_eq!(kind, "mpi", "{said}");
    assert_eq!(said, "MPI costs 35 % of the threads’ time: threads wait in MPI_Recv, a<b.c:20.");
}

#[test]
fn serial_code_has_no_region() {
    let mut recording = timed(&[thread(8.0, 0.0, 0.0, 0), thread(8.0, 0.0, 0.0, 2)], "lock");
    recording.process.seconds = 16.0;
    let (kind, said, _) = judged(&[recording]);
    assert_eq!(kind, "serial");
    assert!(said.starts_with("Serial code costs 25 % of the threads’ time: one"), "{said}");
}

/// Waits are not blamed if threads had no processor.
#[test]
fn a_busy_machine_comes_first() {
    let mut recording = timed(&[thread(8.0, 0.0, 6.0, 0), thread(8.0, 0.0, 0.0, 2)], "lock");
    recording.scheduling = Some(Scheduling { ran: 6.0, delayed: 4.0 });
    let (kind, said, help) = judged(&[recording.clone()]);
    assert_eq!(kind, "busy-machine");
    assert!(said.contains("threads ran 60 % of the time in which they could"), "{said}");
    assert!(help.contains("an idle machine"), "{help}");
    recording.contexts = 1;
    let (kind, said, _) = judged(&[recording.clone()]);
    assert_eq!(kind, "more-threads-than-contexts");
    assert!(said.contains("2 on 1: the threads ran 60 %"), "{said}");
    // Two processes at once have four threads; one after the other they do not.
    recording.contexts = 3;
    let mut other = recording.clone();
    let (kind, said, _) = judged(&[recording.clone(), other.clone()]);
    assert_eq!(kind, "more-threads-than-contexts");
    assert!(said.contains("4 on 3: the threads of process 7 ran"), "{said}");
    let apart = &mut other.regions[0].rows;
    (apart[0].cpu, apart[1].cpu) = (Some(4), Some(6));
    assert_eq!(judged(&[recording.clone(), other.clone()]).0, "busy-machine", "bound apart");
    other = recording.clone();
    other.process.began = recording.process.began + recording.process.seconds + 1.0;
    assert_eq!(judged(&[recording.clone(), other]).0, "busy-machine");
    // One of three processes is no reason to blame the machine.
    let locked = timed(&[thread(8.0, 0.0, 4.0, 0), thread(8.0, 0.0, 4.0, 2)], "critical");
    let (kind, said, _) = judged(&[recording, locked.clone(), locked]);
    assert_eq!(kind, "lock");
    assert!(said.contains(" of process 7: threads wait for a critical section"), "{said}");
}

#[test]
fn cores_are_shared_for_no_need() {
    // T0 and T1 are on core 0. Twelve more contexts have no thread.
    let threads = [
        thread(8.0, 0.0, 0.0, 0),
        thread(8.0, 0.0, 0.0, 1),
        thread(8.0, 0.0, 3.0, 2),
        thread(8.0, 0.0, 3.0, 4),
    ];
    let mut recording = timed(&threads, "barrier");
    let (kind, said, help) = judged(&[recording.clone()]);
    assert_eq!(kind, "shared-cores", "{said}");
    assert_eq!(
        said,
        "T0 and T1 share a core while 5 cores are idle (solve, line 10, a<b.c:10). They \
         need 8.00 s for their work, threads alone on a core 5.00 s; waiting for them costs 18 %."
    );
    assert!(help.contains("OMP_PLACES=cores"), "{help}");
    // With all cores in use, only threads that are slower for it count.
    recording.contexts = 6;
    assert!(judged(&[recording.clone()]).1.starts_with("T0 and T1 share a core (solve"));
    recording.regions[0].rows[2].cpu = Some(6);
    recording.regions[0].rows[0].cpu = Some(2);
    recording.regions[0].rows[1].cpu = Some(4);
    recording.regions[0].rows[3].cpu = Some(7);
    let (kind, said, _) = judged(&[recording]);
    assert_eq!(kind, "imbalance", "the threads on the shared core are the fast ones: {said}");
    // A lock costs the same wherever threads are.
    let locked = [thread(8.0, 0.0, 4.0, 0), thread(8.0, 0.0, 4.0, 1)];
    assert_eq!(judged(&[timed(&locked, "lock")]).0, "lock");
}

#[test]
fn without_timed_waits_there_is_no_verdict() {
    let recording = crate::run::made::recording(1);
    let report = report(&[recording]);
    let processes: Vec<&ProcessReport> = report.observed().collect();
    assert!(verdict::of(&processes).is_none());
}
