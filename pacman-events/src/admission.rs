//! Whether a processor can have an event that a user's table brings: the checks that `build.rs` makes of the shipped
//! tables, and its corrections.

use crate::encode::arch::{ANY, Source};
use crate::{AnyThread, CounterSet, CpuModel, Family, PmuFacts, db};

#[cfg(feature = "perfmon-json")]
mod packed {
    use super::Correction;

    include!(concat!(env!("OUT_DIR"), "/corrections.rs"));
}

/// A fault of the vendor's list, which its next versions have too.
#[cfg(feature = "perfmon-json")]
struct Correction {
    table: &'static str,
    event: &'static str,
    was: Selector,
    now: Selector,
}

/// A selector, and the selectors with the extra register of each.
#[cfg(feature = "perfmon-json")]
type Selector = (u64, [(u16, u16); 4]);

/// Corrects the faults of a vendor's list that are known. An event that the vendor has corrected stays.
#[cfg(feature = "perfmon-json")]
pub(crate) fn correct(cpu: CpuModel, events: &mut [Source]) {
    for correction in packed::CORRECTIONS.iter().filter(|row| row.table == cpu.name()) {
        let is_meant = |event: &&mut Source| {
            crate::spelling::compare(&event.name, correction.event).is_eq()
                && (event.select, event.choices) == correction.was
        };
        for event in events.iter_mut().filter(is_meant) {
            (event.select, event.choices) = correction.now;
        }
    }
}

/// The limits of the events of one processor.
pub(crate) struct Admission {
    cpu: CpuModel,
    facts: PmuFacts,
    /// Some event of its table has bits 47:40 of PERFEVTSEL.
    has_wide_masks: bool,
    /// The event codes of its table that have an extra register, and the registers.
    registers: Vec<(u16, u16)>,
}

impl Admission {
    pub(crate) fn of(cpu: CpuModel) -> Admission {
        let facts = cpu.facts();
        let mut registers = Vec::new();
        let mut has_wide_masks = facts.family == Family::Generic;
        for event in db::events(cpu) {
            has_wide_masks |= facts.family == Family::Intel && event.select() >> 40 & 0xff != 0;
            for (select, msr) in event.choices() {
                let pair = (select & 0xff, msr);
                if !registers.contains(&pair) {
                    registers.push(pair);
                }
            }
        }
        Admission { cpu, facts, has_wide_masks, registers }
    }

    /// Whether events have a second unit mask.
    pub(crate) fn has_wide_masks(&self) -> bool {
        self.has_wide_masks
    }

    /// Whether events of that code have that extra register. Linux chooses the register by the event: another one would
    /// stay as it is, and the event would count something else.
    pub(crate) fn has_register(&self, (select, msr): (u16, u16)) -> bool {
        msr == 0
            || self.facts.family == Family::Generic
            || self.registers.contains(&(select & 0xff, msr))
    }

    /// Whether the modifier AnyThread exists on the event's counter.
    pub(crate) fn has_any_thread(&self, is_fixed: bool) -> bool {
        match self.facts.any_thread {
            AnyThread::Yes => true,
            AnyThread::Fixed => is_fixed,
            AnyThread::No => false,
        }
    }

    /// Why the processor cannot have an event; `None` if it can.
    pub(crate) fn fault(&self, event: &Source) -> Option<String> {
        let Admission { cpu, facts, .. } = self;
        let name: &str = &event.name;
        let is_generic = facts.family == Family::Generic;
        let has = |counters: CounterSet, there: CounterSet| {
            is_generic || counters.minus(there).is_empty()
        };
        if !(1..=255).contains(&name.len()) || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Some("a name is 1 to 255 printable characters without blanks".into());
        }
        // The look-up treats these as modifiers before it searches the tables.
        let is_modifier = |part: &str| {
            let part = part.to_ascii_lowercase();
            part.starts_with("c=") || part.starts_with("thr=")
        };
        if name.split(['.', ':']).any(is_modifier) {
            return Some("a part of its name is spelt like the modifier c=N or thr=N".into());
        }
        if !(has(event.counters, facts.general) && has(event.smt_off, facts.general_smt_off)) {
            return Some(format!("{cpu} lacks some of its counters"));
        }
        if let Some(fixed) = event.fixed {
            if fixed > 63 || !is_generic && !facts.fixed.contains(fixed) {
                return Some(format!("{cpu} has no fixed counter {fixed}"));
            }
        } else if event.smt_off.is_empty() {
            return Some("no counter can count it".into());
        }
        if event.select & ANY != 0 && !self.has_any_thread(event.fixed.is_some()) {
            return Some(format!("AnyThread is set, and {cpu} has none"));
        }
        if event.select >> 40 & 0xff != 0 && !self.has_wide_masks() {
            return Some(format!("{cpu} has no second unit mask"));
        }
        let foreign = event.choices.iter().find(|choice| !self.has_register(**choice))?;
        let code = foreign.0 & 0xff;
        Some(format!("no event {code:#04x} of {cpu} has the register {:#x}", foreign.1))
    }
}
