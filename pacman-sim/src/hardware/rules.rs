//! The rules of the event tables for selections: the counters that see them, their extra register,
//! and the signal where a field of slices contains it.

use std::collections::BTreeMap;

use pacman_events::encode::{Kind, Scope};
use pacman_events::few;
use pacman_events::{CounterSet, CpuModel, Encoding, Family, resolve};

use super::intrinsic::intrinsic_on_intel;
use super::select::Select;
use super::signal::Signal;

/// The rules of one model, read off its table.
#[derive(Debug)]
pub(super) struct Rules {
    /// By the selection, its filters included.
    legal: BTreeMap<Select, CounterSet>,
    /// By event and unit mask, for filters that the table does not have.
    legal_unfiltered: BTreeMap<Select, CounterSet>,
    /// By unit mask and event select.
    extras: BTreeMap<u16, Extra>,
    intrinsic: Vec<(Select, Signal)>,
    /// Events that need a counter pair, by event select.
    paired: Vec<u16>,
    /// Events that the core counts once, for all its contexts.
    core_wide: Vec<Select>,
    /// Whether some event has a second unit mask, bits 47:40 of its selector.
    pub(super) second_umask: bool,
}

/// The register that goes with a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extra {
    pub(super) msr: u32,
    /// Twins count the same occurrences and have the same number.
    pub(super) twins: u16,
}

impl Rules {
    pub(super) fn of(model: CpuModel, smt: bool) -> Rules {
        let mut rules = Rules {
            legal: BTreeMap::new(),
            legal_unfiltered: BTreeMap::new(),
            extras: BTreeMap::new(),
            intrinsic: Vec::new(),
            paired: Vec::new(),
            core_wide: Vec::new(),
            second_umask: false,
        };
        if model.facts().family == Family::Intel {
            // Not every table lists the architectural events.
            for (event, umask) in [(0xc0, 0x00), (0x3c, 0x00), (0x3c, 0x01)] {
                let select = Select { event, umask, ..Select::default() };
                rules
                    .intrinsic
                    .extend(intrinsic_on_intel(model, &select).map(|signal| (select, signal)));
            }
        }
        for event in model.events() {
            let Ok(resolved) = resolve(model, &event.name()) else { continue };
            if let Some(encoding) = resolved.encoding() {
                rules.learn(encoding, smt);
            }
        }
        rules
    }

    fn learn(&mut self, encoding: &Encoding, smt: bool) {
        if let Some(extra) = &encoding.extra {
            self.twins(extra.choices().iter().map(|choice| (choice.select, choice.msr)));
        }
        self.second_umask |= encoding.evtsel >> 40 & 0xff != 0;
        match Signal::of(encoding) {
            Some(Signal::Select(select)) => {
                let counters = encoding.counters_with(smt);
                let identity = Select { extra: None, ..select };
                let unfiltered =
                    Select { event: select.event, umask: select.umask, ..Select::default() };
                for (known, key) in
                    [(&mut self.legal, identity), (&mut self.legal_unfiltered, unfiltered)]
                {
                    let entry = known.entry(key).or_default();
                    *entry = entry.or(counters);
                }
                let any_thread = encoding.needs.privilege;
                if encoding.limits.counts == Scope::Core && !any_thread {
                    self.core_wide.push(identity);
                }
                if encoding.limits.counter_pair && !self.paired.contains(&select.event) {
                    self.paired.push(select.event);
                }
            }
            Some(signal) if encoding.kind == Kind::Arch => {
                let select = Select::intel(encoding.evtsel);
                if !self.intrinsic.contains(&(select, signal)) {
                    self.intrinsic.push((select, signal));
                }
            }
            _ => {}
        }
    }

    /// Registers that the same event can choose from are twins, and so are the twins of
    /// twins.
    fn twins(&mut self, choices: impl Iterator<Item = (u16, u32)>) {
        let fresh = self.extras.values().map(|extra| extra.twins + 1).max().unwrap_or(0);
        for (code, msr) in choices {
            let joined = self.extras.insert(code, Extra { msr, twins: fresh });
            for extra in self.extras.values_mut() {
                if joined.is_some_and(|joined| joined.twins == extra.twins) {
                    extra.twins = fresh;
                }
            }
        }
    }

    /// Whether counter `n` can see the occurrence; every counter does if the table does
    /// not say.
    pub(super) fn sees(&self, n: usize, occurrence: &Select) -> bool {
        let identity = Select { extra: None, ..*occurrence };
        let unfiltered =
            Select { event: occurrence.event, umask: occurrence.umask, ..Select::default() };
        let legal = self.legal.get(&identity).or_else(|| self.legal_unfiltered.get(&unfiltered));
        legal.is_none_or(|legal| legal.contains(n as u8))
    }

    pub(super) fn extra(&self, code: u16) -> Option<Extra> {
        self.extras.get(&code).copied()
    }

    /// The extra registers, each once.
    pub(super) fn extra_registers(&self) -> Vec<u32> {
        let mut registers: Vec<u32> = self.extras.values().map(|extra| extra.msr).collect();
        few::sort(&mut registers);
        registers.dedup();
        registers
    }

    /// The signal of the selection that a field of slices contains, if there is one.
    pub(super) fn intrinsic(&self, select: &Select) -> Option<Signal> {
        self.intrinsic.iter().find(|(known, _)| known == select).map(|(_, signal)| *signal)
    }

    pub(super) fn is_core_wide(&self, select: &Select) -> bool {
        self.core_wide.contains(select)
    }

    pub(super) fn is_paired(&self, event: u16) -> bool {
        self.paired.contains(&event)
    }
}
