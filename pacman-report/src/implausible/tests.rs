//! Tests of `implausible`.

use pacman_regions::{
    Ending, Overhead, Process, Region, Row, Runtime, RuntimeFamily, Site, Timeline,
};

use super::*;
use crate::run::tests::made::described;

/// A region that takes a second on each thread, with these counts of CYCLES and INSTRUCTIONS.
fn recording(counts: &[[Option<u64>; 2]]) -> Recording {
    let row = |(thread, counts): (usize, &[Option<u64>; 2])| Row {
        thread: thread as u32,
        executions: 10,
        seconds: 1.0,
        cpu: None,
        moves: 0,
        counted: 10,
        counts: counts.to_vec(),
        margins: Vec::new(),
        counted_by_event: Vec::new(),
        states: None,
    };
    let region = Region {
        site: Site { module: "/bin/x".into(), identity: None, address: 1, source: None },
        entry: "GOMP_parallel".into(),
        runtime: 0,
        executions: 10,
        sampling: None,
        nested: 0,
        within: 0,
        starters: 1,
        outer: 1.0,
        seconds: 1.0,
        shortest: 0.1,
        longest: 0.1,
        teams: Vec::new(),
        rows: counts.iter().enumerate().map(row).collect(),
        adaptation: None,
        energy: None,
        label: None,
        open: Vec::new(),
    };
    let process = Process {
        began: 0.0,
        pid: 7,
        parent: 1,
        command: vec!["x".into()],
        seconds: 2.0,
        ending: Ending::Exit,
        host: None,
        rank: None,
    };
    let runtime =
        Runtime { family: RuntimeFamily::Libgomp, path: "libgomp.so.1".into(), version: None };
    let event = described;
    Recording {
        process,
        runtimes: vec![runtime],
        threads: 2,
        contexts: 2,
        machine: None,
        events: vec![event("CYCLES"), event("INSTRUCTIONS")],
        sets: Vec::new(),
        overhead: Overhead::default(),
        energy: None,
        roots: 1,
        regions: vec![region],
        phases: Vec::new(),
        timeline: Timeline::default(),
        waits: None,
        logs: Vec::new(),
        scheduling: None,
        notes: Vec::new(),
    }
}

#[test]
fn impossible_counts_go_with_their_reason_and_the_others_stay() {
    let right = [Some(3_000_000_000), Some(6_000_000_000)];
    let wrapped = [Some(1 << 40), Some(6_000_000_000)];
    let backwards = [Some(5), Some(1_046_036u64.wrapping_neg())];
    let mut seen = recording(&[right, wrapped, backwards, [None, None]]);
    let left_out = leave_out(&mut seen);
    let of: Vec<(u32, &str)> = left_out.iter().map(|one| (one.thread, one.why.as_str())).collect();
    assert_eq!(of.len(), 2, "{of:?}");
    assert!(of[0].0 == 1 && of[0].1.starts_with("CYCLES came to 1099511627776, "), "{of:?}");
    assert_eq!(of[1], (2, "INSTRUCTIONS went backwards by 1046036"));
    let rows = &seen.regions[0].rows;
    assert_eq!(rows[0].counts, right);
    assert!(rows[1..].iter().all(|row| row.counts == [None, None]));
    assert!(leave_out(&mut seen).is_empty(), "nothing is left out twice");
}

#[test]
fn time_limits_no_count_of_a_simulated_machine() {
    let mut seen = recording(&[[Some(1 << 40), Some(1 << 40)]]);
    let simulated = Some("a simulated machine".to_owned());
    seen.machine = Some(Machine { simulated, ..Machine::default() });
    assert!(leave_out(&mut seen).is_empty());
    seen.machine = Some(Machine::default());
    assert_eq!(leave_out(&mut seen).len(), 1);
}

#[test]
fn short_executions_may_count_their_ends() {
    let mut seen = recording(&[[Some(8_000_000), Some(20_000)]]);
    seen.regions[0].rows[0] =
        Row { seconds: 1e-6, counted: 10_000, ..seen.regions[0].rows[0].clone() };
    assert!(leave_out(&mut seen).is_empty(), "800 cycles each");
}
