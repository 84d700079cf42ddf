//! Tests of `regions`.

use pacman_regions::{
    Ending, Event, EventFacts, Overhead, Process, Row, Runtime, RuntimeFamily, Site, Team, Timeline,
};

use super::*;

fn region(address: u64, teams: &[(u32, u64, f64)], counts: &[Option<u64>]) -> Region {
    let executions = teams.iter().map(|team| team.1).sum();
    let team =
        |&(threads, executions, seconds): &(u32, u64, f64)| Team { threads, executions, seconds };
    let row = |(thread, &count): (usize, &Option<u64>)| Row {
        thread: thread as u32,
        executions,
        seconds: 1.0,
        cpu: None,
        moves: 0,
        counted: if count.is_some() { executions } else { 0 },
        counts: vec![count],
        margins: Vec::new(),
        counted_by_event: Vec::new(),
        states: None,
    };
    Region {
        site: Site { module: "/opt/bin/app".into(), identity: None, address, source: None },
        entry: "GOMP_parallel".into(),
        runtime: 0,
        executions,
        sampling: None,
        nested: 0,
        within: 0,
        starters: 1,
        outer: teams.iter().map(|team| team.2).sum(),
        seconds: teams.iter().map(|team| team.2).sum(),
        shortest: 0.1,
        longest: 0.9,
        teams: teams.iter().map(team).collect(),
        rows: counts.iter().enumerate().map(row).collect(),
        adaptation: None,
        energy: None,
        open: Vec::new(),
        label: None,
    }
}

fn cycles() -> Event {
    let unknown = Event::unknown("CYCLES");
    Event { facts: EventFacts { is_hardware: true, ..unknown.facts }, ..unknown }
}

fn recording(regions: Vec<Region>) -> Recording {
    let process = Process {
        began: 0.0,
        pid: 7,
        parent: 1,
        command: vec!["app".into()],
        seconds: 9.0,
        ending: Ending::Exit,
        host: None,
        rank: None,
    };
    let (family, path) = (RuntimeFamily::Libgomp, "libgomp.so.1".into());
    Recording {
        process,
        runtimes: vec![Runtime { family, path, version: None }],
        threads: 2,
        contexts: 2,
        machine: None,
        events: vec![cycles()],
        sets: Vec::new(),
        overhead: Overhead::default(),
        energy: None,
        roots: 1,
        regions,
        phases: Vec::new(),
        timeline: Timeline::default(),
        waits: None,
        logs: Vec::new(),
        scheduling: None,
        notes: Vec::new(),
    }
}

/// The result of such a recording, on two threads.
fn found(regions: Vec<Region>) -> CliResult<Found> {
    let recordings = vec![recording(regions)];
    of(recording::Found { recordings, wrong: Vec::new() }, 2)
}

#[test]
fn regions_without_a_module_are_phases_named_by_its_file_and_address() {
    let counted = region(0x1234, &[(2, 4, 2.0)], &[Some(40), Some(60)]);
    let found = found(vec![counted]).unwrap();
    let cycles = vec![("cycles".to_owned(), 25.0)];
    let name = "app+0x1234".into();
    assert_eq!(found.phases, [Phase { name, seconds: 0.5, executions: 4, counts: cycles }]);
    assert!(found.wrong.is_empty());
}

#[test]
fn executions_with_other_teams_are_no_data_of_the_configuration() {
    let mixed = region(1, &[(1, 10, 90.0), (2, 4, 2.0)], &[Some(40), Some(60)]);
    let narrow = region(2, &[(1, 10, 90.0)], &[Some(40)]);
    let mut inner = region(3, &[(2, 4, 2.0)], &[Some(1), Some(1)]);
    inner.nested = 4;
    let half = region(4, &[(2, 4, 2.0)], &[Some(1), None]);
    let several = found(vec![mixed, narrow.clone(), inner, half]).unwrap();
    let phases: Vec<_> =
        several.phases.iter().map(|one| (&one.name[..], one.seconds, one.counts.len())).collect();
    // A mean over both teams describes neither, and a sum with an uncounted thread is wrong.
    assert_eq!(phases, [("app+0x1", 0.5, 0), ("app+0x4", 0.5, 0)]);
    assert_eq!(
        several.wrong,
        [
            "app+0x2 was left out where it ran on 1 thread instead of 2",
            "app+0x3 runs inside another region, whose time includes its own"
        ]
    );
    let none = found(vec![narrow]).unwrap_err().to_string();
    assert!(none.starts_with("no region of it can be used: app+0x2 was left out"), "{none}");
    let none = found(Vec::new()).unwrap_err().to_string();
    assert_eq!(none, "it ran no parallel region");
}

#[test]
fn impossible_counts_are_named_and_in_no_sum() {
    let wrapped = region(1, &[(2, 4, 2.0)], &[Some(40), Some(1 << 40)]);
    let found = found(vec![wrapped]).unwrap();
    assert_eq!(found.phases[0].counts, []);
    let [note] = &found.wrong[..] else { panic!("{:?}", found.wrong) };
    let begin =
        "T1 in app+0x1: its counts are impossible and are left out of all sums: CYCLES came to ";
    assert!(note.starts_with(begin), "{note}");
}

#[test]
fn a_program_without_a_recording_is_explained() {
    let none = of(recording::Found::default(), 2).unwrap_err().to_string();
    assert!(none.starts_with("it left no recording: it is linked statically"), "{none}");
}
