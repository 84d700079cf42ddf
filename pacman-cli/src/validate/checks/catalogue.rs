//! The kernels and the events whose count each kernel knows.

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use pacman_events::CpuModel;

use pacman_core::event::{Event, Hardware, Source, machine};
use pacman_core::{Error, ErrorKind, Result};

/// A small program whose count of something is known by construction.
///
/// [`kernel`](super::kernel) has the proofs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub(crate) enum KernelId {
    /// A counted loop of straight code.
    Instructions,
    /// The same in slices, with the thread off its CPU between them.
    SwitchedInstructions,
    /// A counted loop with a branch that is never taken and one that is.
    Branches,
    /// The same, for events that count taken branches only.
    TakenBranches,
    /// Branches on fresh random bits.
    Mispredictions,
    /// Loads from one line.
    Loads,
    /// Stores to one line.
    Stores,
    /// Scalar additions in registers.
    FloatingPoint,
    /// Integer additions that wait for each other.
    DependentAdds,
    /// Waiting for a while, by the time stamp counter.
    TimeStamps,
    /// Pointers through many times the first-level data cache.
    FirstLevelMisses,
    /// Pointers through many times the second-level cache.
    SecondLevelMisses,
    /// Pointers through several times the last-level cache.
    LastLevelMisses,
    /// Pointers to more pages than any TLB holds.
    PageWalks,
    /// One array added to a constant into another, both larger than all caches.
    Stream,
    /// The floating-point additions of [`Stream`](Self::Stream): their operands are in memory.
    StreamFloatingPoint,
    /// Waiting for a while, by the thread's own CPU time.
    CpuTime,
    /// First touches of fresh pages.
    FirstTouches,
    /// A ball played over a socket with a partner on the same CPU.
    HandOvers,
    /// Moves between two CPUs.
    Migrations,
}

use KernelId as K;

/// Every kernel, with the name it is asked for by.
const NAMES: [(KernelId, &str); 20] = [
    (K::Instructions, "instructions"),
    (K::SwitchedInstructions, "switched-instructions"),
    (K::Branches, "branches"),
    (K::TakenBranches, "taken-branches"),
    (K::Mispredictions, "mispredictions"),
    (K::Loads, "loads"),
    (K::Stores, "stores"),
    (K::FloatingPoint, "floating-point"),
    (K::DependentAdds, "dependent-adds"),
    (K::TimeStamps, "time-stamps"),
    (K::FirstLevelMisses, "l1d-misses"),
    (K::SecondLevelMisses, "l2-misses"),
    (K::LastLevelMisses, "llc-misses"),
    (K::PageWalks, "page-walks"),
    (K::Stream, "stream"),
    (K::StreamFloatingPoint, "stream-floating-point"),
    (K::CpuTime, "cpu-time"),
    (K::FirstTouches, "first-touches"),
    (K::HandOvers, "hand-overs"),
    (K::Migrations, "migrations"),
];

/// Events and the kernels that know their counts; those that mean the same on every
/// machine first, in the order in which they are validated.
const EVENTS: [(&str, KernelId); 28] = [
    ("INSTRUCTIONS", K::Instructions),
    ("INSTRUCTIONS", K::SwitchedInstructions),
    ("CYCLES", K::DependentAdds),
    ("REF_CYCLES", K::TimeStamps),
    ("BRANCHES", K::Branches),
    ("BRANCH_MISSES", K::Mispredictions),
    ("LOADS", K::Loads),
    ("STORES", K::Stores),
    ("FP_OPS", K::FloatingPoint),
    ("FP_OPS", K::StreamFloatingPoint),
    ("L1D_MISSES", K::FirstLevelMisses),
    ("L2_ACCESSES", K::FirstLevelMisses),
    ("L2_MISSES", K::SecondLevelMisses),
    ("LLC_ACCESSES", K::LastLevelMisses),
    ("LLC_MISSES", K::LastLevelMisses),
    // The kernel's own idea of its last level is the second on Zen: this misses both.
    ("CACHE_REFERENCES", K::LastLevelMisses),
    ("CACHE_MISSES", K::LastLevelMisses),
    ("DTLB_MISSES", K::PageWalks),
    ("BUS_TRANSACTIONS", K::Stream),
    ("task-clock", K::CpuTime),
    ("cpu-clock", K::CpuTime),
    ("page-faults", K::FirstTouches),
    ("minor-faults", K::FirstTouches),
    ("context-switches", K::HandOvers),
    ("cpu-migrations", K::Migrations),
    // Taken branches have no portable name.
    ("BR_INST_RETIRED.NEAR_TAKEN", K::TakenBranches),
    ("RETIRED_TAKEN_BRANCH_INSTRUCTIONS", K::TakenBranches),
    ("branch_retired:MMTP:MMTM", K::TakenBranches),
];

impl KernelId {
    #[cfg(test)]
    fn all() -> impl Iterator<Item = KernelId> {
        NAMES.iter().map(|(id, _)| *id)
    }

    /// The name it is asked for by, such as `taken-branches`.
    pub(crate) fn name(self) -> &'static str {
        let found = NAMES.iter().find(|(id, _)| *id == self);
        found.map_or("", |(_, name)| name)
    }
}

impl fmt::Display for KernelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for KernelId {
    type Err = Error;

    /// # Errors
    /// `InvalidInput` for an unknown kernel; the message lists all kernels.
    fn from_str(name: &str) -> Result<KernelId> {
        let found = NAMES.iter().find(|(_, known)| *known == name);
        found.map(|(id, _)| *id).ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidInput,
                format!("cannot validate on {name:?}: no such kernel; there are {}", names()),
            )
        })
    }
}

/// An event and the kernel that it is to be counted on.
///
#[derive(Clone, Debug)]
#[non_exhaustive]
pub(crate) struct Check {
    /// The event's canonical name, or as it was asked for where this processor lacks it.
    pub(crate) name: String,
    /// The event, or why this processor cannot count it.
    pub(crate) event: Result<Event>,
    /// The kernel that makes it happen.
    pub(crate) kernel: KernelId,
}

impl Check {
    /// Every portable preset and software event that a kernel knows the count of.
    pub(crate) fn defaults() -> Vec<Check> {
        let portable = |name: &str| Event::names().any(|known| known == name);
        EVENTS
            .iter()
            .filter(|(name, _)| portable(name))
            .map(|(name, kernel)| {
                let event = name.parse::<Event>();
                Check { name: (*name).to_string(), event, kernel: *kernel }
            })
            .collect()
    }

    /// The checks of a list such as `INSTRUCTIONS,r20c4@taken-branches`: an event alone
    /// gets every kernel that knows its count.
    ///
    /// # Errors
    /// `NoEvents` for an empty list; `UnknownEvent` and `InvalidInput` as for an event's
    /// name; `InvalidInput` for an unknown kernel, and for an event without a kernel whose count no
    /// kernel knows.
    pub(crate) fn parse_list(list: &str) -> Result<Vec<Check>> {
        let mut checks = Vec::new();
        for text in Event::names_in(list) {
            checks.extend(parse(text)?);
        }
        if checks.is_empty() {
            return Err(Error::new(
                ErrorKind::Empty,
                "cannot count an empty list of events; name at least one, such as task-clock",
            ));
        }
        Ok(checks)
    }
}

fn parse(text: &str) -> Result<Vec<Check>> {
    let (name, kernel) = match text.split_once('@') {
        Some((name, kernel)) => (name, Some(kernel)),
        None => (text, None),
    };
    let event = match name.parse::<Event>() {
        Err(error) if matches!(error.kind(), ErrorKind::UnknownEvent | ErrorKind::InvalidInput) => {
            return Err(error);
        }
        answer => answer,
    };
    let name = event.as_ref().map_or(name, Event::name).to_string();
    let kernels = match kernel {
        Some(kernel) => {
            vec![kernel.parse()?]
        }
        None => known(machine::model(), &name, event.as_ref().ok()),
    };
    if kernels.is_empty() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            format!(
                "cannot validate {name}: no kernel knows its count; if one does, name it as \
                 {name}@KERNEL; there are {}",
                names()
            ),
        ));
    }
    let check = |kernel| Check { name: name.clone(), event: event.clone(), kernel };
    Ok(kernels.into_iter().map(check).collect())
}

/// The kernels that know the count of an event, by its name or by a preset that stands for it on
/// this processor.
fn known(cpu: CpuModel, name: &str, event: Option<&Event>) -> Vec<KernelId> {
    let of = |wanted: &str| {
        let rows = EVENTS.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
        rows.map(|row| row.1).collect::<Vec<_>>()
    };
    // The kernels' work in user mode is known, also if Linux works in between.
    let by_name = of(name.strip_suffix(":uk").unwrap_or(name));
    // Of a hybrid the performance cores' part, whose table this is.
    let event = event.map(|event| event.parts().into_iter().next().unwrap_or(event.clone()));
    let Some(counted) = event.as_ref().and_then(counters).filter(|_| by_name.is_empty()) else {
        return by_name;
    };
    let preset = EVENTS.iter().find(|(preset, _)| {
        let stands_for = Event::on(cpu, preset).ok();
        stands_for.and_then(|event| counters(&event)).is_some_and(|other| other == counted)
    });
    preset.map_or_else(Vec::new, |(preset, _)| of(preset))
}

/// The hardware's form of the event, however it is spelled; `None` for the kernel's own events.
fn counters(event: &Event) -> Option<Vec<(i64, Hardware)>> {
    match event.source() {
        Source::Hardware(terms) => {
            Some(terms.iter().map(|term| (term.coefficient, term.hardware)).collect())
        }
        Source::Software(_) => None,
    }
}

fn names() -> String {
    NAMES.map(|(_, name)| name).join(", ")
}
