//! Sets of events that rotate, and one thread with a whole PMU: exact against the
//! doorbell, which events ring as often as the guest says.

use std::collections::{BTreeMap, BTreeSet};

use super::boots::{HASWELL, Options, PENTIUM_4};
use super::guest;

/// The guest's job for a rule of rotation, and who programs the counters.
pub(crate) fn job(how: &str, by: &str) -> String {
    format!("turns {how} {by}")
}

/// The numbers of the lines that begin with a word.
fn lines<const N: usize>(text: &str, word: &str) -> Vec<[i64; N]> {
    let numbers = |line: &str| -> Option<[i64; N]> {
        let rest = line.strip_prefix(word)?.strip_prefix(' ')?;
        let all: Option<Vec<i64>> = rest.split(' ').map(|number| number.parse().ok()).collect();
        all?.try_into().ok()
    };
    text.lines().filter_map(numbers).collect()
}

/// The events of each set.
fn sets(text: &str) -> Vec<BTreeSet<i64>> {
    let set = |line: &str| {
        let events = line.strip_prefix("set ")?.split(' ').skip(1);
        Some(events.map(|event| event.parse().expect("a number")).collect())
    };
    text.lines().filter_map(set).collect()
}

/// Six events, four counters, two siblings.
fn six_events_on_four_counters(how: &str, by: &str) {
    more_events_than_counters(HASWELL, how, by, [6, 4]);
}

/// Every run of every phase counts the set which is on the counters, to the last event, and estimates follow from that.
pub(crate) fn more_events_than_counters(
    options: Options,
    how: &str,
    by: &str,
    [events, counters]: [usize; 2],
) {
    let Some(text) = guest(options, &job(how, by)) else { return };
    for thread in ["reads 0 Rdpmc", "reads 1 Rdpmc"] {
        assert!(text.lines().any(|line| line == thread), "{thread} in:\n{text}");
    }
    let sets = sets(text);
    assert_eq!(sets.len(), 2, "{text}");
    assert!(sets.iter().all(|set| set.len() == counters), "no counter is idle: {sets:?}");
    assert_eq!(sets.iter().flatten().collect::<BTreeSet<_>>().len(), events);
    let spread = how == "staggered";
    let mut seen: BTreeMap<[i64; 3], BTreeSet<i64>> = BTreeMap::new();
    let mut first: BTreeSet<i64> = BTreeSet::new();
    let samples = lines::<7>(text, "sample");
    for [thread, phase, run, set, event, counted, rung] in &samples {
        assert_eq!(counted, rung, "thread {thread} phase {phase} run {run} event {event}");
        // The inner phase runs once in each outer run, and has that one's set.
        let start = if spread { *thread } else { 0 };
        assert_eq!(*set, (run + start) % 2, "thread {thread} phase {phase} run {run}");
        assert!(sets[*set as usize].contains(event));
        seen.entry([*thread, *phase, *run]).or_default().insert(*event);
        if (*phase, *run) == (0, 0) {
            first.insert(*event);
        }
    }
    println!("lab {options:?}, {how} by {by}: {} counts, all exact", samples.len());
    assert_eq!(seen.len(), 2 * (7 + 7 + 4), "{text}");
    assert!(seen.values().all(|events| events.len() == counters));
    assert_eq!(
        first.len(),
        if spread { events } else { counters },
        "what one execution of a team saw"
    );
    let sums = lines::<7>(text, "sum");
    assert_eq!(sums.len(), 2 * 3 * events, "{text}");
    for [thread, phase, event, executions, samples, raw, value] in sums {
        let who = |at: &[i64; 3]| at[0] == thread && at[1] == phase;
        let counted = seen.iter().filter(|(at, events)| who(at) && events.contains(&event));
        assert_eq!(samples, counted.count() as i64, "thread {thread} phase {phase}");
        assert_eq!(value, raw * executions / samples, "thread {thread} phase {phase}");
    }
    what_samples_say(text, &sets, spread, events);
}

/// A sample holds one set; an interval that had a change of sets in it has no counts.
fn what_samples_say(text: &str, sets: &[BTreeSet<i64>], spread: bool, events: usize) {
    let parse = |word: &str| -> Vec<(i64, i64, bool, i64)> {
        let line = |line: &str| {
            let words: Vec<&str> = line.strip_prefix(word)?.trim().split(' ').collect();
            let [thread, event, live, counted] = words[..] else { return None };
            let number = |text: &str| text.parse().expect("a number");
            Some((number(thread), number(event), live == "true", number(counted)))
        };
        text.lines().filter_map(line).collect()
    };
    let within = parse("within ");
    assert_eq!(within.len(), 2 * events, "{text}");
    for (thread, event, live, counted) in within {
        let set = if spread { thread as usize } else { 0 };
        assert_eq!(live, sets[set].contains(&event), "thread {thread} event {event}");
        // The events of the inner phase's first run.
        let rung = 1000 * event + 200 + thread + 1;
        assert_eq!(counted, if live { rung } else { -1 }, "thread {thread} event {event}");
    }
    for (thread, event, live, counted) in parse("since-before ") {
        // Set 0 was on the counters at attach; thread 1 of a spread has changed to set 1.
        let changed = spread && thread == 1;
        let rung = 1000 * event + 100 + thread + 1;
        let expected = if live && !changed { rung } else { -1 };
        assert_eq!(counted, expected, "thread {thread} event {event}");
    }
}

#[test]
fn sets_take_turns_by_execution() {
    six_events_on_four_counters("per-execution", "kernel");
}

#[test]
fn sets_are_spread_over_siblings() {
    six_events_on_four_counters("staggered", "kernel");
}

#[test]
fn sets_take_turns_by_registers() {
    six_events_on_four_counters("staggered", "registers");
}

#[test]
fn one_thread_counts_on_all_eighteen_counters_of_a_pentium_4() {
    let Some(text) = guest(PENTIUM_4, "whole") else { return };
    for line in ["reads 0 Rdpmc", "sets 1"] {
        assert!(text.lines().any(|it| it == line), "{line} in:\n{text}");
    }
    let samples = lines::<3>(text, "sample");
    assert_eq!(samples.len(), 20 * 18, "{text}");
    for [event, counted, known] in samples {
        // Cycles and instructions have the ringing and the phase's edges in them, three
        // cycles an instruction.
        let edges = match event {
            0 => 3 * 1500,
            12 => 1500,
            _ => 0,
        };
        assert!((0..=edges).contains(&(counted - known)), "event {event}: {counted} for {known}");
    }
    println!("lab p4: 18 events at once in 20 runs, rung ones exact");
}

#[test]
fn halves_of_a_pentium_4_rotate() {
    let Some(text) = guest(PENTIUM_4, "halves") else { return };
    let refused: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("refused ")).collect();
    let [even, demand] = refused[..] else { panic!("two refusals in:\n{text}") };
    assert!(
        even.contains("by rotation of event sets (rotate_event_sets) a session counts them in "),
        "{even}"
    );
    assert!(demand.contains("split the core evenly (Partition::Even)"), "{demand}");
    let halves = lines::<4>(text, "half");
    assert_eq!(halves.len(), 2 * 16, "{text}");
    let mut sampled = 0;
    for [event, samples, raw, known] in halves {
        assert_eq!(raw, known, "event {event} in {samples} samples");
        sampled += samples;
    }
    assert!(sampled > 16, "each event at least once in three runs on two threads");
}

/// A session whose descriptors the program took away refuses to change its set, and the counter that
/// has the numbers now counts on.
#[test]
fn a_change_of_sets_stops_no_foreign_counter() {
    no_foreign_counter_stops(HASWELL);
}

pub(crate) fn no_foreign_counter_stops(options: Options) {
    for how in ["closed", "replaced"] {
        let Some(text) = guest(options, &format!("foreign {how}")) else { return };
        for line in ["numbers 1 of 1", "counted 1200"] {
            assert!(text.lines().any(|it| it == line), "{how}: {line} in:\n{text}");
        }
        let [[failed]] = lines::<1>(text, "failed")[..] else { panic!("{text}") };
        assert!(failed >= 1, "{how}: {text}");
    }
}
