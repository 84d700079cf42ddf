//! The counters that a file names, and the numbers of fixed counters in it.
//!
//! Most lists number fixed counters from 0; those of Nehalem, Westmere, Bonnell and Silvermont number them
//! from 1. The number alone would make instructions of cycles. So the meaning of an event decides: fixed
//! counters have the code 0 with the unit mask 1 for the first, and the shipped tables know their names.

use super::document::Event;
use crate::{CounterSet, CpuModel, Family, db};

/// The number of bits in the register that enables fixed counters.
const MOST_FIXED: u8 = 16;

/// Files of some processors number fixed counters as the kernel does, beyond all general ones.
const FIRST_FIXED: u64 = 32;

/// The fixed counters 0 to 3 count the same on every processor that has them: instructions, cycles,
/// reference cycles and slots (SDM Vol. 3, "Fixed-Function Performance Counters").
const SAME_EVERYWHERE: u8 = 4;

/// The counters of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counters {
    General(CounterSet),
    /// `33`: counted from [`FIRST_FIXED`].
    Fixed(u8),
    /// `Fixed counter 1`: counted from 0 or from 1.
    Printed(u8),
}

impl Counters {
    pub(super) fn of(event: &Event, key: &str) -> Result<Option<Counters>, String> {
        let words = event.words(key)?;
        if let [word] = words.as_slice() {
            let fixed = word.get(..14).filter(|start| start.eq_ignore_ascii_case("fixed counter "));
            if fixed.is_some() {
                let number = word[14..].trim().parse().ok().filter(|fixed| *fixed <= MOST_FIXED);
                let number = number.ok_or_else(|| format!("{key} is {word:?}"))?;
                return Ok(Some(Counters::Printed(number)));
            }
        }
        let last = FIRST_FIXED + u64::from(MOST_FIXED) - 1;
        let numbers = event.numbers(key, last)?;
        match numbers.as_slice() {
            [] => Ok(None),
            [fixed] if *fixed >= FIRST_FIXED => {
                Ok(Some(Counters::Fixed((fixed - FIRST_FIXED) as u8)))
            }
            general if general.iter().all(|counter| *counter < FIRST_FIXED) => {
                let set = general.iter().map(|counter| *counter as u8).collect();
                Ok(Some(Counters::General(set)))
            }
            _ => Err(format!("{key} has general and fixed counters in one list")),
        }
    }
}

/// How a file numbers its fixed counters.
pub(super) struct Numbering {
    /// The number that it prints for the first; `None` if its events leave it open or disagree. The list
    /// of Sandy Bridge-EP counts from 0 for some events and from 1 for others.
    first: Option<u8>,
}

impl Numbering {
    /// Compares the printed numbers of all events with their meanings.
    ///
    /// # Errors
    /// The name of an event whose number contradicts its meaning.
    pub(super) fn of<'a>(
        cpu: CpuModel,
        events: impl Iterator<Item = (&'a str, &'a Event, Counters)>,
    ) -> Result<Numbering, (String, String)> {
        let mut firsts = [false; 2];
        for (name, event, counters) in events {
            let Counters::Printed(printed) = counters else { continue };
            let of_event = |reason| (name.to_owned(), reason);
            let Some(meant) = meaning(cpu, name, event).map_err(of_event)? else { continue };
            let Some(first @ 0..=1) = printed.checked_sub(meant) else {
                let reason = format!("it is the event of fixed counter {meant}, not {printed}");
                return Err(of_event(reason));
            };
            firsts[usize::from(first)] = true;
        }
        let first = match firsts {
            [true, false] => Some(0),
            [false, true] => Some(1),
            _ => None,
        };
        Ok(Numbering { first })
    }

    /// The fixed counter of an event, counted from 0.
    pub(super) fn number(
        &self,
        cpu: CpuModel,
        name: &str,
        event: &Event,
        counters: Counters,
    ) -> Result<Option<u8>, String> {
        let meant = meaning(cpu, name, event)?;
        let fixed = match counters {
            Counters::General(_) => return Ok(None),
            Counters::Fixed(fixed) if meant.is_some_and(|meant| meant != fixed) => {
                let reason = format!(
                    "its counter is fixed counter {fixed}, but its code or name is another's"
                );
                return Err(reason);
            }
            Counters::Fixed(fixed) => fixed,
            Counters::Printed(printed) => match (meant, self.first) {
                (Some(meant), _) => meant,
                (None, Some(first)) => printed.checked_sub(first).ok_or_else(|| {
                    format!("fixed counter {printed}, where the file begins with {first}")
                })?,
                (None, None) => {
                    return Err(format!(
                        "fixed counter {printed} may count from 0 or from 1, and the file's other events \
                         do not tell"
                    ));
                }
            },
        };
        // A processor newer than the shipped tables has the counters that its file says.
        let there = cpu.facts().fixed;
        if fixed >= MOST_FIXED || cpu.family() != Family::Generic && !there.contains(fixed) {
            return Err(format!("{cpu} has no fixed counter {fixed}"));
        }
        let blank =
            event.number("EventCode", 0xff) == Ok(0) && event.number("UMask", 0xff) == Ok(0);
        if fixed < SAME_EVERYWHERE && meant.is_none() && !blank {
            return Err(format!(
                "its counter is fixed counter {fixed}, and neither its code nor its name is that counter's"
            ));
        }
        Ok(Some(fixed))
    }
}

/// The fixed counter that an event belongs to by its code or name; `None` if neither is known.
fn meaning(cpu: CpuModel, name: &str, event: &Event) -> Result<Option<u8>, String> {
    let code = match (event.number("EventCode", 0xff), event.number("UMask", 0xff)) {
        (Ok(0), Ok(umask @ 1..=0x10)) => Some(umask as u8 - 1),
        (Ok(0xc0), Ok(0)) => Some(0),
        (Ok(0x3c), Ok(0)) => Some(1),
        _ => None,
    };
    let own = db::find(cpu, name).and_then(|event| event.fixed());
    let named = own.or_else(|| {
        let mut known = db::tables_with(name)
            .filter_map(|table| db::find(table, name).and_then(|event| event.fixed()));
        let first = known.next()?;
        known.all(|other| other == first).then_some(first)
    });
    match (code, named) {
        (Some(code), Some(named)) if code != named => Err(format!(
            "its code is the one of fixed counter {code}, its name of fixed counter {named}"
        )),
        (code, named) => Ok(code.or(named)),
    }
}

/// The `config` by which Linux selects a fixed counter's event.
pub(super) fn config(fixed: u8, name: &str) -> u64 {
    match fixed {
        0 if name.ends_with("PREC_DIST") => 0x100,
        0 => 0xc0,
        1 => 0x3c,
        _ => u64::from(fixed + 1) << 8,
    }
}
