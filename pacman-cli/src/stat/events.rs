//! The events to count: the requested ones, or those that this machine can count.

use std::hint::black_box;
use std::str::FromStr;

use crate::doctor::checks::Diagnosis;
use crate::error::{CliError, CliResult};
use pacman_core::{Event, Result};

/// Events that work, with their parts on the core types of a hybrid, and the value that was made
/// for them.
#[derive(Debug)]
pub(super) struct Chosen<T> {
    pub(super) events: Vec<Event>,
    pub(super) made: T,
    /// The reason why hardware events are missing, if they are.
    pub(super) footnote: Option<String>,
}

/// Makes a value for the events of `list` and their parts. Without a list it takes the usual
/// hardware events and `software`: all that `attempt` accepts and that count according to `counts`.
///
/// If the machine refuses each hardware event of `list`, its software events are left, or else the first of `software`: the
/// time on a processor.
pub(super) fn choose<T>(
    list: Option<&str>,
    software: &[&str],
    mut attempt: impl FnMut(&[Event]) -> Result<T>,
    mut counts: impl FnMut(&mut T, usize) -> bool,
) -> CliResult<Chosen<T>> {
    if let Some(list) = list {
        let events = Event::parse_list(list)?;
        named_twice(&events)?;
        return match attempt(&events) {
            Ok(made) => Ok(Chosen { events: Event::with_parts(events), made, footnote: None }),
            Err(refusal) => software_of(events, refusal, software, attempt),
        };
    }
    let mut events: Vec<Event> = Vec::new();
    let (mut made, mut refused) = (None, None);
    for name in HARDWARE.iter().chain(software) {
        let Ok(event) = Event::from_str(name) else { continue };
        events.push(event);
        let tried = attempt(&events).map(|mut working| {
            // A hypervisor may let an event be opened that it never counts.
            let moves = !HARDWARE.contains(name) || counts(&mut working, events.len());
            moves.then_some(working)
        });
        match tried {
            Ok(Some(working)) => {
                made = Some(working);
                continue;
            }
            Ok(None) => {}
            Err(error) => refused = Some(error),
        }
        events.pop();
    }
    let Some(made) = made else {
        let why = refused.map_or("no event counts here".into(), |error| error.to_string());
        return Err(CliError::Refused(why));
    };
    let hardware = events.iter().any(Event::is_hardware);
    let refused = || refused.map(|error| format!("no hardware events: {error}"));
    let footnote = if hardware { None } else { why_no_hardware().or_else(refused) };
    Ok(Chosen { events: Event::with_parts(events), made, footnote })
}

/// The software events of a refused list, or else the first of `software`, if every hardware event is refused alone.
fn software_of<T>(
    events: Vec<Event>,
    refusal: pacman_core::Error,
    software: &[&str],
    mut attempt: impl FnMut(&[Event]) -> Result<T>,
) -> CliResult<Chosen<T>> {
    let (hardware, mut left): (Vec<Event>, Vec<Event>) =
        events.into_iter().partition(Event::is_hardware);
    if left.is_empty() {
        left.extend(software.first().and_then(|name| Event::from_str(name).ok()));
    }
    // Otherwise a shorter list of hardware events counts, and the user chooses which.
    let some_count = hardware.iter().any(|event| attempt(std::slice::from_ref(event)).is_ok());
    if left.is_empty() || hardware.is_empty() || some_count {
        return Err(refusal.into());
    }
    let made = attempt(&left)?;
    let names: Vec<&str> = hardware.iter().map(Event::name).collect();
    let footnote = Some(format!("{}: <not supported>: {refusal}", names.join(", ")));
    Ok(Chosen { events: Event::with_parts(left), made, footnote })
}

/// Work that causes every event of [`HARDWARE`]: unpredictable branches, a chain of divisions, and
/// memory that is not in a cache.
pub(super) fn exercise() {
    let mut memory = vec![0u64; 1 << 18];
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    for step in 0..1u64 << 15 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let at = random as usize % memory.len();
        if random & 1 == 0 {
            memory[at] = black_box(memory[at]) / (step | 1);
        } else {
            memory[at] = black_box(random) / (black_box(memory[at]) | 1);
        }
    }
    black_box(&memory);
}

/// Refuses a list that names an event more than once.
pub fn named_twice(events: &[Event]) -> CliResult<()> {
    let repeated = |(at, event): &(usize, &Event)| {
        events[..*at].iter().any(|earlier| earlier.name() == event.name())
    };
    match events.iter().enumerate().find(repeated) {
        Some((_, event)) => {
            Err(CliError::BadInput(format!("cannot count {event} twice; name it once")))
        }
        None => Ok(()),
    }
}

fn why_no_hardware() -> Option<String> {
    let diagnosis = Diagnosis::examine();
    let reason = diagnosis.reason()?;
    Some(format!("no hardware events: {}", reason.text))
}

/// Portable names, the most telling first.
const HARDWARE: [&str; 5] =
    ["CYCLES", "INSTRUCTIONS", "STALL_CYCLES", "BRANCH_MISSES", "CACHE_MISSES"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_left_out_and_the_rest_stays() {
        let software = ["task-clock", "page-faults"];
        let three_at_most = |events: &[Event]| match events.len() {
            0..=3 => Ok(events.len()),
            _ => Event::parse_list("").map(|_| 0),
        };
        let chosen = choose(None, &software, three_at_most, |_, _| true).expect("some fit");
        assert_eq!((chosen.events.len(), chosen.made), (3, 3));
        let all = |events: &[Event]| Ok(events.len());
        let chosen = choose(None, &software, all, |_, _| false).expect("software counts");
        let names: Vec<&str> = chosen.events.iter().map(Event::name).collect();
        assert_eq!((names.as_slice(), chosen.made), (&software[..], 2), "what never counts");
        let nothing = |_: &[Event]| Event::parse_list("").map(drop);
        let refused = choose(None, &software, nothing, |_, _| true).expect_err("nothing works");
        assert!(matches!(refused, CliError::Refused(_)), "{refused}");
    }

    #[test]
    fn software_events_of_a_list_are_left_if_every_hardware_event_is_refused() {
        let refused = || Event::parse_list("").map(|_| 0);
        let software_only = |events: &[Event]| match events.iter().any(Event::is_hardware) {
            true => refused(),
            false => Ok(events.len()),
        };
        let list = Some("CYCLES,task-clock,INSTRUCTIONS");
        let chosen = choose(list, &[], software_only, |_, _| true).expect("task-clock counts");
        let names: Vec<&str> = chosen.events.iter().map(Event::name).collect();
        assert_eq!((names.as_slice(), chosen.made), (&["task-clock"][..], 1));
        let footnote = chosen.footnote.expect("the reason");
        assert!(footnote.starts_with("CYCLES, INSTRUCTIONS: <not supported>: "), "{footnote}");
        choose(Some("CYCLES"), &[], software_only, |_, _| true).expect_err("nothing is left");
        let usual = ["task-clock", "page-faults"];
        let chosen = choose(Some("CYCLES"), &usual, software_only, |_, _| true);
        let names = chosen.expect("the time counts").events;
        assert_eq!(names.iter().map(Event::name).collect::<Vec<_>>(), ["task-clock"]);
        let one_alone = |events: &[Event]| match events.len() {
            1 => Ok(1),
            _ => refused(),
        };
        choose(list, &[], one_alone, |_, _| true).expect_err("a shorter list counts");
    }

    #[test]
    fn a_list_is_taken_as_it_is_or_refused() {
        let all = |events: &[Event]| Ok(events.len());
        let chosen =
            choose(Some("task-clock,page-faults"), &[], all, |_, _| false).expect("both are known");
        assert_eq!(chosen.made, 2);
        let refused =
            choose(Some("task-clock,Task-Clock"), &[], all, |_, _| true).expect_err("twice");
        assert_eq!(refused, CliError::bad_input("cannot count task-clock twice; name it once"));
        let unknown = choose(Some("zebra"), &[], all, |_, _| true).expect_err("no such event");
        assert!(matches!(unknown, CliError::BadInput(_)), "{unknown}");
    }
}
