//! Events by name: what a session is asked to count.
//!
//! `NAME[:modifiers]`, where NAME is a preset in capitals, a software event, or
//! a raw code `rXXXX`; modifiers choose the privilege levels that count.

use std::fmt;
use std::str::FromStr;

use perf_event_open_sys::bindings as abi;

use crate::error::{Error, ErrorKind, Result};

/// One event, as resolved from its name.
///
/// Hardware events count in user mode unless the name says otherwise (`:k`,
/// `:uk`), so that a name means the same with and without privilege. On an SMT
/// core the count is that of the one hardware context the thread runs on.
///
/// ```
/// use pacman_core::Event;
/// let event: Event = "instructions:u".parse()?;
/// assert_eq!(event.name(), "INSTRUCTIONS");
/// assert_eq!(event.unit(), "instructions");
/// # Ok::<(), pacman_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    name: String,
    unit: &'static str,
    pub(crate) source: Source,
}

/// Where an event's count comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A hardware counter, by way of the kernel.
    Hardware(Hardware),
    /// A counter of the kernel's own.
    Software(Software),
}

/// What the kernel needs to know to program a hardware counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hardware {
    pub(crate) pmu: u32,
    pub(crate) config: u64,
    pub(crate) config1: u64,
    pub(crate) config2: u64,
    pub(crate) user: bool,
    pub(crate) kernel: bool,
}

/// A software event, and who else knows its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Software {
    pub(crate) config: u64,
    /// Happens in the kernel, so that with the kernel excluded the kernel's
    /// counter stays at 0 for ever: needs the right to count the kernel.
    pub(crate) in_kernel: bool,
    /// Who else keeps this count, for a process without that right.
    pub(crate) otherwise: Option<Ledger>,
}

/// Counts that the kernel keeps for every thread, whatever perf allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ledger {
    /// Voluntary and involuntary switches, `getrusage(RUSAGE_THREAD)`.
    ContextSwitches,
    /// Minor and major faults, `getrusage(RUSAGE_THREAD)`.
    PageFaults,
    /// Minor faults, `getrusage(RUSAGE_THREAD)`.
    MinorFaults,
    /// Major faults, `getrusage(RUSAGE_THREAD)`.
    MajorFaults,
    /// `se.nr_migrations` of `/proc/thread-self/sched`.
    Migrations,
}

/// Presets: name, unit, the kernel's generic event.
const PRESETS: [(&str, &str, abi::perf_hw_id); 7] = [
    ("BRANCHES", "branches", abi::PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
    ("BRANCH_MISSES", "branches", abi::PERF_COUNT_HW_BRANCH_MISSES),
    ("CACHE_MISSES", "accesses", abi::PERF_COUNT_HW_CACHE_MISSES),
    ("CACHE_REFERENCES", "accesses", abi::PERF_COUNT_HW_CACHE_REFERENCES),
    ("CYCLES", "cycles", abi::PERF_COUNT_HW_CPU_CYCLES),
    ("INSTRUCTIONS", "instructions", abi::PERF_COUNT_HW_INSTRUCTIONS),
    ("REF_CYCLES", "cycles", abi::PERF_COUNT_HW_REF_CPU_CYCLES),
];

/// Software events: name, unit, number, in the kernel only, who else counts it.
const SOFTWARE: [(&str, &str, abi::perf_sw_ids, bool, Option<Ledger>); 10] = [
    ("alignment-faults", "faults", abi::PERF_COUNT_SW_ALIGNMENT_FAULTS, false, None),
    ("cgroup-switches", "switches", abi::PERF_COUNT_SW_CGROUP_SWITCHES, true, None),
    (
        "context-switches",
        "switches",
        abi::PERF_COUNT_SW_CONTEXT_SWITCHES,
        true,
        Some(Ledger::ContextSwitches),
    ),
    ("cpu-clock", "ns", abi::PERF_COUNT_SW_CPU_CLOCK, false, None),
    (
        "cpu-migrations",
        "migrations",
        abi::PERF_COUNT_SW_CPU_MIGRATIONS,
        true,
        Some(Ledger::Migrations),
    ),
    ("emulation-faults", "faults", abi::PERF_COUNT_SW_EMULATION_FAULTS, false, None),
    ("major-faults", "faults", abi::PERF_COUNT_SW_PAGE_FAULTS_MAJ, true, Some(Ledger::MajorFaults)),
    ("minor-faults", "faults", abi::PERF_COUNT_SW_PAGE_FAULTS_MIN, true, Some(Ledger::MinorFaults)),
    ("page-faults", "faults", abi::PERF_COUNT_SW_PAGE_FAULTS, true, Some(Ledger::PageFaults)),
    ("task-clock", "ns", abi::PERF_COUNT_SW_TASK_CLOCK, false, None),
];

/// Other spellings of software events, as the `perf` command knows them.
const ALIASES: [(&str, &str); 3] =
    [("cs", "context-switches"), ("faults", "page-faults"), ("migrations", "cpu-migrations")];

impl Event {
    /// The canonical name, with the modifiers that change its meaning.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What one count is: `instructions`, `cycles`, `ns`, `faults`, …
    pub fn unit(&self) -> &'static str {
        self.unit
    }

    /// Whether a hardware counter counts it.
    pub fn is_hardware(&self) -> bool {
        matches!(self.source, Source::Hardware(_))
    }

    /// Every name that needs no model: presets first, then software events.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PRESETS.iter().map(|p| p.0).chain(SOFTWARE.iter().map(|s| s.0))
    }

    /// The events of a list such as `CYCLES,INSTRUCTIONS:uk,page-faults`.
    ///
    /// # Errors
    /// `Empty` for a list without names, `UnknownEvent` and `InvalidInput` as
    /// for a single name.
    pub fn parse_list(list: &str) -> Result<Vec<Event>> {
        let events = list
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(str::parse)
            .collect::<Result<Vec<Event>>>()?;
        if events.is_empty() {
            return Err(empty());
        }
        Ok(events)
    }
}

/// The refusal of a session without events.
#[cold]
pub(crate) fn empty() -> Error {
    Error::new(
        ErrorKind::Empty,
        "cannot count an empty list of events; name at least one, such as task-clock",
    )
}

impl FromStr for Event {
    type Err = Error;

    /// Resolves one name.
    ///
    /// # Errors
    /// `UnknownEvent` with the nearest names, `InvalidInput` for a modifier that
    /// does not exist or does not apply.
    fn from_str(text: &str) -> Result<Event> {
        let (name, modifiers) = text.split_once(':').unwrap_or((text, ""));
        if let Some(event) = software(text, name, modifiers)? {
            return Ok(event);
        }
        let (mut user, mut kernel) = (false, false);
        for letter in modifiers.chars() {
            match letter {
                'u' => user = true,
                'k' => kernel = true,
                _ => {
                    return Err(Error::new(
                        ErrorKind::InvalidInput,
                        format!(
                            "cannot count {text:?}: modifier {letter:?} does not exist; \
                             use u for user mode, k for the kernel, uk for both"
                        ),
                    ));
                }
            }
        }
        let suffix = match (user, kernel) {
            (false, true) => ":k",
            (true, true) => ":uk",
            _ => "",
        };
        let user = user || !kernel;
        let hardware = |name: String, unit, pmu, config| Event {
            name: name + suffix,
            unit,
            source: Source::Hardware(Hardware {
                pmu,
                config,
                config1: 0,
                config2: 0,
                user,
                kernel,
            }),
        };
        let upper = name.to_ascii_uppercase();
        if let Some((name, unit, id)) = PRESETS.iter().find(|p| p.0 == upper) {
            return Ok(hardware((*name).into(), unit, abi::PERF_TYPE_HARDWARE, u64::from(*id)));
        }
        if let Some(config) = raw_code(name) {
            let name = format!("r{config:04x}");
            return Ok(hardware(name, "events", abi::PERF_TYPE_RAW, config));
        }
        Err(unknown(text, name))
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn software(text: &str, name: &str, modifiers: &str) -> Result<Option<Event>> {
    let lower = name.to_ascii_lowercase();
    let lower = ALIASES.iter().find(|a| a.0 == lower).map_or(lower.as_str(), |a| a.1);
    let Some((name, unit, config, in_kernel, otherwise)) = SOFTWARE.iter().find(|s| s.0 == lower)
    else {
        return Ok(None);
    };
    if !modifiers.is_empty() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            format!(
                "cannot count {text:?}: the kernel counts {name} the same in every mode; \
                 leave out :{modifiers}"
            ),
        ));
    }
    Ok(Some(Event {
        name: (*name).into(),
        unit,
        source: Source::Software(Software {
            config: u64::from(*config),
            in_kernel: *in_kernel,
            otherwise: *otherwise,
        }),
    }))
}

/// The number of a raw event: `r` and up to sixteen hexadecimal digits.
fn raw_code(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(['r', 'R'])?;
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}

#[cold]
fn unknown(text: &str, name: &str) -> Error {
    let wanted = name.to_ascii_lowercase();
    let mut near: Vec<(usize, &str)> = Event::names()
        .map(|n| (strsim::damerau_levenshtein(&wanted, &n.to_ascii_lowercase()), n))
        .filter(|(distance, n)| *distance <= 2 + n.len() / 4)
        .collect();
    near.sort_unstable();
    let hint = match near.as_slice() {
        [] => format!("known are {}", Event::names().collect::<Vec<_>>().join(", ")),
        near => {
            let names: Vec<&str> = near.iter().take(3).map(|(_, n)| *n).collect();
            format!("did you mean {}?", names.join(" or "))
        }
    };
    Error::new(ErrorKind::UnknownEvent, format!("cannot count {text:?}: no such event; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_case_insensitive_and_keep_their_canonical_form() {
        for (text, name) in [
            ("cycles", "CYCLES"),
            ("Instructions:u", "INSTRUCTIONS"),
            ("REF_CYCLES:uk", "REF_CYCLES:uk"),
            ("branches:k", "BRANCHES:k"),
            ("r1C2", "r01c2"),
            ("CS", "context-switches"),
            ("Task-Clock", "task-clock"),
        ] {
            assert_eq!(text.parse::<Event>().unwrap().name(), name);
        }
    }

    #[test]
    fn a_hardware_event_counts_user_mode_unless_told_otherwise() {
        for (text, user, kernel) in
            [("CYCLES", true, false), ("CYCLES:k", false, true), ("r3c:ku", true, true)]
        {
            match text.parse::<Event>().unwrap().source {
                Source::Hardware(h) => assert_eq!((h.user, h.kernel), (user, kernel), "{text}"),
                Source::Software(_) => panic!("{text} is hardware"),
            }
        }
    }

    #[test]
    fn refusals_read_like_advice() {
        for (text, kind, line) in [
            (
                "INSTRUCTION",
                ErrorKind::UnknownEvent,
                "cannot count \"INSTRUCTION\": no such event; did you mean INSTRUCTIONS?",
            ),
            (
                "page-fault",
                ErrorKind::UnknownEvent,
                "cannot count \"page-fault\": no such event; did you mean page-faults or major-faults?",
            ),
            (
                "CYCLES:z",
                ErrorKind::InvalidInput,
                "cannot count \"CYCLES:z\": modifier 'z' does not exist; use u for user mode, k for the kernel, uk for both",
            ),
            (
                "task-clock:u",
                ErrorKind::InvalidInput,
                "cannot count \"task-clock:u\": the kernel counts task-clock the same in every mode; leave out :u",
            ),
        ] {
            let error = text.parse::<Event>().unwrap_err();
            assert_eq!((error.kind(), error.to_string().as_str()), (kind, line));
        }
        assert_eq!(
            Event::parse_list(" , ").unwrap_err().to_string(),
            "cannot count an empty list of events; name at least one, such as task-clock"
        );
    }
}
