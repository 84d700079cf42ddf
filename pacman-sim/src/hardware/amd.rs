//! AMD: `PERF_CTLx` and `PERF_CTRx`, a set for each context.
//!
//! Register numbers and layouts: AMD, *Processor Programming Reference* of each family,
//! "Core performance monitor registers", and APM Vol. 2, "Performance monitoring
//! counters". The global enable belongs to version 2 of the architecture (Zen 4).

use std::sync::Arc;

use pacman_events::CpuModel;

use super::access::{Fault, MAX_CONTEXTS};
use super::activity::Activity;
use super::clocks::{ContextCounts, Rings};
use super::counter::Counter;
use super::intrinsic::intrinsic_on_amd;
use super::rules::Rules;
use super::select::{EDGE, ENABLE, INT, INV, OS, Select, USR};
use super::signal::Signal;

pub(super) const WIDTH: u8 = 48;

#[derive(Clone, Debug)]
pub(super) struct Amd {
    rules: Arc<Rules>,
    /// Counters of a context: six with the core extension, four before.
    counters: usize,
    /// Whether `PerfCntrGlobalCtl` and its companions are there.
    global: bool,
    contexts: Vec<Context>,
}

#[derive(Clone, Debug)]
struct Context {
    control: [u64; COUNTERS],
    counter: [Counter; COUNTERS],
    global_control: u64,
    status: u64,
}

/// The meaning of a register number.
#[derive(Clone, Copy)]
enum Register {
    Control(usize),
    Counter(usize),
    GlobalControl,
    Status,
    StatusClear,
}

impl Amd {
    pub(super) fn new(model: CpuModel, contexts: u8) -> Amd {
        let counters = model.facts().general.len() as usize;
        Amd {
            rules: Arc::new(Rules::of(model, contexts > 1)),
            counters,
            global: matches!(model.name(), "zen4" | "zen5" | "zen6"),
            contexts: vec![Context::after_reset(counters); usize::from(contexts)],
        }
    }

    pub(super) fn after_reset(&self) -> Amd {
        let contexts = vec![Context::after_reset(self.counters); self.contexts.len()];
        Amd { contexts, ..self.clone() }
    }

    /// One number of each register; the legacy ones are aliases where there are others.
    pub(super) fn numbers(&self) -> Vec<u32> {
        let counters = 0..self.counters as u32;
        let global = [GLOBAL_STATUS, GLOBAL_CTL].into_iter().filter(|_| self.global);
        let both = |n| {
            if self.extended() { [CTL_EXT + 2 * n, CTR_EXT + 2 * n] } else { [CTL + n, CTR + n] }
        };
        counters.flat_map(both).chain(global).collect()
    }

    pub(super) fn read(&self, context: usize, msr: u32) -> Result<u64, Fault> {
        let registers = &self.contexts[context];
        Ok(match self.register(msr)? {
            Register::Control(n) => registers.control[n],
            Register::Counter(n) => registers.counter[n].value(),
            Register::GlobalControl => registers.global_control,
            Register::Status => registers.status,
            Register::StatusClear => 0,
        })
    }

    pub(super) fn write(&mut self, context: usize, msr: u32, value: u64) -> Result<(), Fault> {
        let all = (1 << self.counters) - 1;
        let register = self.register(msr)?;
        let registers = &mut self.contexts[context];
        match register {
            // A write never faults; reserved bits are cleared (Linux commit 9b026073db2f,
            // found on Zen 3).
            Register::Control(n) => registers.control[n] = value & CONTROL_BITS,
            Register::Counter(n) => registers.counter[n].set(value, WIDTH),
            Register::GlobalControl if value & !all == 0 => registers.global_control = value,
            Register::StatusClear if value & !all == 0 => registers.status &= !value,
            _ => return Err(Fault::GeneralProtection),
        }
        Ok(())
    }

    pub(super) fn rdpmc(&self, context: usize, index: u32) -> Result<u64, Fault> {
        let counter = usize::try_from(index).ok().filter(|n| *n < self.counters);
        let counter = counter.ok_or(Fault::GeneralProtection)?;
        Ok(self.contexts[context].counter[counter].value())
    }

    pub(super) fn pass(&mut self, activity: &[Activity<'_>]) {
        for (context, activity) in activity.iter().enumerate().take(MAX_CONTEXTS) {
            let counts = ContextCounts::of(activity);
            for n in 0..self.counters {
                let counted = self.counted(context, n, &counts, activity);
                self.count(context, n, counted);
            }
        }
    }

    fn counted(
        &self,
        context: usize,
        n: usize,
        counts: &ContextCounts,
        activity: &Activity<'_>,
    ) -> u64 {
        let control = self.contexts[context].control[n];
        let rings = Rings { user: control & USR != 0, kernel: control & OS != 0 };
        if !self.enabled(context, n) || !rings.have(counts.ring) {
            return 0;
        }
        let select = Select::amd(control);
        match intrinsic_on_amd(&select) {
            Some(Signal::Instructions) => return counts.instructions,
            Some(Signal::Clock(clock)) => return counts.clock(clock),
            _ => {}
        }
        let signals = activity.slice().map_or(&[][..], |slice| slice.signals);
        let heard = signals.iter().filter(|(signal, _)| match signal {
            Signal::Select(it) => {
                it.extra.is_none()
                    && select.hears(it)
                    && self.rules.sees(n, it)
                    && (!self.rules.is_paired(it.event) || self.merged(context, n))
            }
            _ => false,
        });
        heard.map(|(_, times)| times).sum()
    }

    /// Adds to a counter; a merged neighbour takes the carry.
    fn count(&mut self, context: usize, n: usize, counted: u64) {
        let merged = self.merged(context, n);
        let registers = &mut self.contexts[context];
        if registers.counter[n].add(counted, WIDTH) {
            if merged {
                registers.counter[n + 1].add(1, WIDTH);
            } else {
                registers.status |= 1 << n;
            }
        }
    }

    /// Whether the odd counter after `n` merges with it. Events that add more than 15 in a cycle
    /// need that (PPR, "Large increment per cycle events"). Without it the processor would lose an
    /// unknown part of the counts, and the model counts nothing.
    fn merged(&self, context: usize, n: usize) -> bool {
        let merge = |control: u64| Select::amd(control).event == MERGE;
        n % 2 == 0
            && n + 1 < self.counters
            && self.enabled(context, n + 1)
            && merge(self.contexts[context].control[n + 1])
    }

    fn enabled(&self, context: usize, n: usize) -> bool {
        let registers = &self.contexts[context];
        registers.control[n] & ENABLE != 0
            && (!self.global || registers.global_control >> n & 1 != 0)
    }

    fn extended(&self) -> bool {
        self.counters > LEGACY as usize
    }

    fn register(&self, msr: u32) -> Result<Register, Fault> {
        let extended = CTL_EXT..CTL_EXT + 2 * self.counters as u32;
        Ok(match msr {
            CTL..CTR => Register::Control((msr - CTL) as usize),
            CTR..CTR_END => Register::Counter((msr - CTR) as usize),
            _ if self.extended() && extended.contains(&msr) => {
                let n = (msr - CTL_EXT) as usize;
                if n % 2 == 0 { Register::Control(n / 2) } else { Register::Counter(n / 2) }
            }
            GLOBAL_STATUS if self.global => Register::Status,
            GLOBAL_CTL if self.global => Register::GlobalControl,
            GLOBAL_STATUS_CLR if self.global => Register::StatusClear,
            _ => return Err(Fault::GeneralProtection),
        })
    }
}

impl Context {
    fn after_reset(counters: usize) -> Context {
        Context {
            control: [0; COUNTERS],
            counter: [Counter::default(); COUNTERS],
            // All enabled, so that software that knows only selectors still counts; as
            // KVM gives it to its guests (Linux commit de120e1d692d).
            global_control: (1 << counters) - 1,
            status: 0,
        }
    }
}

const COUNTERS: usize = 6;
const LEGACY: u32 = 4;
const CTL: u32 = 0xc001_0000;
const CTR: u32 = CTL + LEGACY;
const CTR_END: u32 = CTR + LEGACY;
const CTL_EXT: u32 = 0xc001_0200;
const CTR_EXT: u32 = 0xc001_0201;
const GLOBAL_STATUS: u32 = 0xc000_0300;
const GLOBAL_CTL: u32 = 0xc000_0301;
const GLOBAL_STATUS_CLR: u32 = 0xc000_0302;
/// Event FFFh.
const MERGE: u16 = 0xfff;
/// Event 35:32 and 7:0, unit mask, filters, rings, enables, and host or guest only.
const CONTROL_BITS: u64 =
    3 << 40 | 0xf << 32 | 0xff << 24 | INV | ENABLE | INT | EDGE | OS | USR | 0xffff;
