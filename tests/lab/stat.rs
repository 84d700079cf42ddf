//! The command `stat` and whole contexts, on counters that are exact.

use super::boots::{self, HASWELL, Options, ZEN};
use super::{arm, guest};

/// Options of `stat` and the guest's job: threads that are put on both siblings of a core.
pub(crate) const THREADS: [&str; 2] = ["--bind compact", "stat-threads"];
/// All contexts.
pub(crate) const CONTEXTS: [&str; 2] = ["-a", "stat-bound"];

pub(crate) fn line([stat, job]: [&str; 2]) -> String {
    format!("/t/pacman-pmu stat --csv -e INSTRUCTIONS {stat} -- /t/lab-guest {job} 2>&1")
}

/// Rows of `stat --csv -e INSTRUCTIONS`: CPU, name and count.
fn counted(options: Options, job: [&str; 2]) -> Option<Vec<(u32, String, i64)>> {
    let text = if options.iter().any(|option| arm::MODELS.contains(option)) {
        arm::said(options, &line(job))?
    } else {
        let boots::Said { status, text } = boots::said(options, &line(job))?;
        assert_eq!(*status, 0, "{text}");
        text
    };
    let mut lines = text.lines().map(str::trim_end);
    let heading: Vec<&str> =
        lines.find(|line| line.starts_with("begin_ns,")).expect("a heading").split(',').collect();
    let at = |name: &str| heading.iter().position(|column| *column == name).expect("a column");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |name: &str| fields[at(name)].parse::<i64>().expect("a number");
        let count = number("INSTRUCTIONS [instructions]");
        (number("cpu") as u32, fields[at("name")].to_string(), count)
    };
    Some(lines.filter(|line| line.contains(',')).map(row).collect())
}

/// The instructions of a thread's loop.
fn known(name: &str) -> Option<i64> {
    Some(2 * name.strip_prefix("loop-")?.parse::<i64>().expect("iterations"))
}

/// Threads of an unmodified program on both siblings of a core: each row is the thread's own
/// loop, and what beginning and ending a thread costs, which the idle thread shows.
fn threads_count_their_own(cpu: &str, options: Options) {
    let Some(rows) = counted(options, THREADS) else { return };
    assert_eq!(rows.len(), 7, "{rows:?}");
    let loops: Vec<(u32, i64, i64)> =
        rows.iter().filter_map(|(cpu, name, count)| Some((*cpu, known(name)?, *count))).collect();
    assert_eq!(loops.len(), 3, "{rows:?}");
    let edge = loops.iter().find(|(_, known, _)| *known == 0).expect("the idle thread").2;
    println!("lab {cpu}: beginning and ending a thread takes {edge} instructions");
    assert!((100..=10_000).contains(&edge), "{rows:?}");
    for (context, known, count) in &loops {
        let beyond = count - known - edge;
        println!("lab {cpu}: {known} instructions on context {context}: {beyond} beyond that");
        assert!(beyond.abs() <= 300, "{rows:?}");
    }
    let mut busy: Vec<u32> =
        loops.iter().filter(|(_, known, _)| *known > 0).map(|(cpu, ..)| *cpu).collect();
    busy.sort_unstable();
    assert_eq!(busy, [0, 1], "the two loops run on siblings: {rows:?}");
}

#[test]
fn stat_counts_threads_on_haswell_siblings() {
    threads_count_their_own("core", HASWELL);
}

#[test]
fn stat_counts_threads_on_zen_siblings() {
    threads_count_their_own("amd", ZEN);
}

#[test]
fn stat_sees_both_contexts() {
    every_context_is_seen(HASWELL, &[6_000_000, 16_000_000]);
}

/// The known instructions of each context.
pub(crate) fn every_context_is_seen(options: Options, loops: &[i64]) {
    let Some(rows) = counted(options, CONTEXTS) else { return };
    assert_eq!(rows.len(), loops.len(), "{rows:?}");
    for ((cpu, &known), (row, _, count)) in (0..).zip(loops).zip(&rows) {
        println!(
            "lab {options:?}: context {cpu} counted {count}, {} beyond its loop",
            count - known
        );
        assert_eq!(cpu, *row);
        // The rest is the beginning of the program, and this one's.
        assert!((known..known + 5_000_000).contains(count), "{rows:?}");
    }
}

#[test]
fn contexts_are_counted_until_they_are_gone() {
    let Some(lines) = contexts_until_they_are_gone(HASWELL, 2) else { return };
    assert_eq!(lines[..3], CONTEXT_1_GOES);
    assert_eq!(
        lines[3..],
        [
            "smt counts",
            "smt cannot count CPU 1 any more: it went offline: SMT was switched off; begin a new session",
        ]
    );
}

/// The lines of the job `wide` about a context that goes away, and comes back.
pub(crate) const CONTEXT_1_GOES: [&str; 3] = [
    "note gone 1 cannot count CPU 1 any more: it went offline; begin a new session; its last execution of \"gone\" is not counted",
    "refused cannot count CPU 1: it is offline; as root, write 1 to /sys/devices/system/cpu/cpu1/online",
    "note back 1 cannot count CPU 1 any more: its counters were stopped: it was offline, or another profiler took its counters; begin a new session; its last execution of \"back\" is not counted",
];

/// Each context counts the loop that runs on it. The lines that are no counts.
pub(crate) fn contexts_until_they_are_gone(
    options: Options,
    contexts: usize,
) -> Option<Vec<&'static str>> {
    const LOOP: i64 = 20_000_000;
    let text = guest(options, "wide")?;
    let count = |row: &str| -> Option<i64> {
        text.lines().find_map(|line| line.strip_prefix(&format!("row {row} ")))?.parse().ok()
    };
    let places = (0..contexts).flat_map(|cpu| (0..contexts).map(move |on| (cpu, on)));
    for (cpu, on) in places {
        let (row, least) = (format!("{cpu} on-{on}"), if cpu == on { LOOP } else { 0 });
        let counted = count(&row).unwrap_or_else(|| panic!("no row {row} in:\n{text}"));
        println!("lab {options:?}: context and phase {row}: {} beyond the loop", counted - least);
        assert!((least..least + 1_000_000).contains(&counted), "{row}: {text}");
    }
    for phase in ["gone", "after"] {
        assert!(count(&format!("0 {phase}")).is_some(), "the other goes on: {text}");
        assert!(count(&format!("1 {phase}")).is_none(), "{text}");
    }
    Some(text.lines().filter(|line| !line.is_empty() && !line.starts_with("row ")).collect())
}
