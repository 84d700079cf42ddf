//! Architectural Intel: the registers.
//!
//! SDM Vol. 3, "Architectural performance monitoring", versions 3 and later, and the
//! sections on each microarchitecture for what siblings share. Every context has general
//! and fixed counters of its own; extra registers are its own from Sandy Bridge on.

mod count;
mod metrics;

use std::sync::Arc;

use pacman_events::encode::Scope;
use pacman_events::{AnyThread, CounterSet, CpuModel};

use super::access::{Fault, MAX_CONTEXTS};
use super::clocks::Clocks;
use super::counter::{Counter, mask};
use super::rules::Rules;
use super::select::{EDGE, ENABLE, INT, INV, OS, USR};
use metrics::Metrics;

#[derive(Clone, Debug)]
pub(super) struct Intel {
    rules: Arc<Rules>,
    /// General counters of a context.
    general: usize,
    /// Fixed counters of a context; some models have gaps.
    fixed: CounterSet,
    width: u8,
    any_thread: AnyThread,
    /// Whether siblings share the extra registers.
    extras_shared: bool,
    /// Errata BJ122, BV98 and HSD29.
    leaks: bool,
    /// Whether `IA32_A_PMCx` are there.
    full_width: bool,
    extras: Vec<u32>,
    /// Fields of `PERF_METRICS`; 0 where there is no such register.
    metrics: usize,
    clocks: Clocks,
    contexts: Vec<Context>,
}

#[derive(Clone, Debug)]
struct Context {
    selector: [u64; GENERAL],
    general: [Counter; GENERAL],
    fixed_control: u64,
    fixed: [Counter; FIXED_COUNTERS],
    global_control: u64,
    status: u64,
    /// In the order of [`Intel::extras`].
    extras: [u64; EXTRAS],
    metrics: Metrics,
}

/// The meaning of a register number.
#[derive(Clone, Copy)]
enum Register {
    Capabilities,
    Extra(usize),
    Fixed(usize),
    FixedControl,
    General(usize),
    GeneralFull(usize),
    GlobalControl,
    Metrics,
    OverflowControl,
    Selector(usize),
    Status,
}

impl Intel {
    pub(super) fn new(model: CpuModel, contexts: u8) -> Intel {
        let facts = model.facts();
        let smt = contexts > 1;
        let rules = Rules::of(model, smt);
        let general = if smt { facts.general } else { facts.general_smt_off };
        let extras = rules.extra_registers();
        debug_assert!(extras.len() <= EXTRAS && general.len() as usize <= GENERAL);
        let old = ["nhm", "wsm", "bnl"].iter().any(|name| model.name().starts_with(name));
        let general = general.len() as usize;
        Intel {
            rules: Arc::new(rules),
            general,
            fixed: facts.fixed,
            width: facts.width,
            any_thread: facts.any_thread,
            extras_shared: facts.offcore_scope == Scope::Core,
            leaks: facts.sibling_exclusive_erratum && smt,
            full_width: !old,
            extras,
            metrics: metrics::fields(model),
            clocks: clocks(model),
            contexts: vec![Context::after_reset(general); usize::from(contexts)],
        }
    }

    pub(super) fn set_bus_ratio(&mut self, ticks: u64) {
        self.clocks = Clocks::new(ticks, self.clocks.plain);
    }

    pub(super) fn after_reset(&self) -> Intel {
        let contexts = vec![Context::after_reset(self.general); self.contexts.len()];
        Intel { contexts, ..self.clone() }
    }

    pub(super) fn width(&self) -> u8 {
        self.width
    }

    /// One number of each register.
    pub(super) fn numbers(&self) -> Vec<u32> {
        let general = 0..self.general as u32;
        let single = [FIXED_CTRL, GLOBAL_CTRL, GLOBAL_STATUS];
        general
            .flat_map(|n| [EVTSEL + n, PMC + n])
            .chain(self.fixed.iter().map(|n| FIXED + u32::from(n)))
            .chain(single)
            .chain((self.metrics > 0).then_some(PERF_METRICS))
            .chain(self.extras.iter().copied())
            .collect()
    }

    /// Whether siblings share the register.
    pub(super) fn shares(&self, msr: u32) -> bool {
        self.extras_shared && self.extras.contains(&msr)
    }

    pub(super) fn read(&self, context: usize, msr: u32) -> Result<u64, Fault> {
        let registers = &self.contexts[context];
        Ok(match self.register(msr)? {
            Register::Capabilities => {
                u64::from(self.full_width) << FULL_WIDTH
                    | u64::from(self.metrics > 0) << HAS_METRICS
            }
            Register::Extra(n) => self.contexts[self.keeper(context)].extras[n],
            Register::Fixed(n) => registers.fixed[n].value(),
            Register::FixedControl => registers.fixed_control,
            Register::General(n) | Register::GeneralFull(n) => registers.general[n].value(),
            Register::GlobalControl => registers.global_control,
            Register::Metrics => registers.metrics.value(registers.fixed[SLOTS].value()),
            Register::OverflowControl => 0,
            Register::Selector(n) => registers.selector[n],
            Register::Status => registers.status,
        })
    }

    pub(super) fn write(&mut self, context: usize, msr: u32, value: u64) -> Result<(), Fault> {
        let register = self.register(msr)?;
        let legal = match register {
            Register::Capabilities | Register::Status => 0,
            Register::Extra(_) | Register::General(_) => u64::MAX,
            Register::Fixed(_) | Register::GeneralFull(_) => mask(self.width),
            Register::FixedControl => self.fixed_control_bits(),
            Register::GlobalControl => self.global_bits(),
            Register::Metrics => u64::MAX >> (64 - 8 * self.metrics),
            // Beside the counters: uncore, debug store buffer, condition changed.
            Register::OverflowControl => self.global_bits() | 7 << 61,
            Register::Selector(_) => self.selector_bits(),
        };
        if value & !legal != 0 || legal == 0 {
            return Err(Fault::GeneralProtection);
        }
        let (keeper, width) = (self.keeper(context), self.width);
        let registers = &mut self.contexts[context];
        match register {
            Register::Capabilities | Register::Status => {}
            Register::Extra(n) => self.contexts[keeper].extras[n] = value,
            Register::Fixed(n) => registers.fixed[n].set(value, width),
            Register::FixedControl => registers.fixed_control = value,
            // The old numbers take 32 bits and extend their sign.
            Register::General(n) => registers.general[n].set(value as i32 as u64, width),
            Register::GeneralFull(n) => registers.general[n].set(value, width),
            Register::GlobalControl => registers.global_control = value,
            Register::Metrics => registers.metrics.set(value, registers.fixed[SLOTS].value()),
            Register::OverflowControl => registers.status &= !value,
            Register::Selector(n) => registers.selector[n] = value,
        }
        Ok(())
    }

    pub(super) fn rdpmc(&self, context: usize, index: u32) -> Result<u64, Fault> {
        let registers = &self.contexts[context];
        if index == METRICS_INDEX && self.metrics > 0 {
            return self.read(context, PERF_METRICS);
        }
        let n = (index & !FIXED_INDEX) as usize;
        if index & FIXED_INDEX == 0 {
            return registers.general[..self.general]
                .get(n)
                .map(|counter| counter.value())
                .ok_or(Fault::GeneralProtection);
        }
        let there = n < FIXED_COUNTERS && self.fixed.contains(n as u8);
        if there { Ok(registers.fixed[n].value()) } else { Err(Fault::GeneralProtection) }
    }

    fn register(&self, msr: u32) -> Result<Register, Fault> {
        let general = self.general as u32;
        let within = |first: u32| (first..first + general).contains(&msr);
        Ok(match msr {
            _ if within(EVTSEL) => Register::Selector((msr - EVTSEL) as usize),
            _ if within(PMC) => Register::General((msr - PMC) as usize),
            _ if within(FULL) && self.full_width => Register::GeneralFull((msr - FULL) as usize),
            FIXED_CTRL => Register::FixedControl,
            GLOBAL_CTRL => Register::GlobalControl,
            GLOBAL_STATUS => Register::Status,
            GLOBAL_OVF_CTRL => Register::OverflowControl,
            PERF_CAPABILITIES => Register::Capabilities,
            PERF_METRICS if self.metrics > 0 => Register::Metrics,
            FIXED..FIXED_END if self.fixed.contains((msr - FIXED) as u8) => {
                Register::Fixed((msr - FIXED) as usize)
            }
            _ => match self.extras.iter().position(|extra| *extra == msr) {
                Some(n) => Register::Extra(n),
                None => return Err(Fault::GeneralProtection),
            },
        })
    }

    /// The context whose copy of the extra registers counts.
    fn keeper(&self, context: usize) -> usize {
        if self.extras_shared { 0 } else { context }
    }

    /// Bit 19, pin control, is kept by all of them and does nothing.
    fn selector_bits(&self) -> u64 {
        let any = if self.any_thread == AnyThread::Yes { ANY } else { 0 };
        let second = if self.rules.second_umask { 0xff << 40 } else { 0 };
        0xffff | USR | OS | EDGE | PIN | INT | any | ENABLE | INV | 0xff << 24 | second
    }

    fn fixed_control_bits(&self) -> u64 {
        let any = self.any_thread != AnyThread::No;
        let each = FIXED_OS | FIXED_USR | FIXED_INT | if any { FIXED_ANY } else { 0 };
        self.fixed.iter().map(|n| each << (4 * n)).sum()
    }

    fn global_bits(&self) -> u64 {
        let metrics = u64::from(self.metrics > 0) << METRICS_ENABLE;
        mask(self.general as u8) | self.fixed.bits() << 32 | metrics
    }
}

impl Context {
    /// The general counters are enabled, the fixed ones are not (SDM Vol. 3, "Processor
    /// states following power-up, reset, or INIT").
    fn after_reset(general: usize) -> Context {
        Context {
            selector: [0; GENERAL],
            general: [Counter::default(); GENERAL],
            fixed_control: 0,
            fixed: [Counter::default(); FIXED_COUNTERS],
            global_control: mask(general as u8),
            status: 0,
            extras: [0; EXTRAS],
            metrics: Metrics::default(),
        }
    }
}

/// The slow clock of a generation for a nominal 2.4 GHz, and the meaning of 3Ch/01h: TSC
/// ticks on Nehalem and Westmere (SDM, "CPU_CLK_UNHALTED.REF_P") and where the event is
/// called `REF_TSC_P`.
fn clocks(model: CpuModel) -> Clocks {
    let named = |start: &[&str]| start.iter().any(|name| model.name().starts_with(name));
    let megahertz = match () {
        () if named(&["nhm", "wsm"]) => 133,
        () if named(&["snb", "jkt", "ivb", "ivt", "hsw", "hsx", "bdw", "bdx", "knl"]) => 100,
        () if named(&["skx", "clx", "icx", "spr", "emr", "gnr"]) => 25,
        () => 24,
    };
    let tsc = pacman_events::resolve(model, "CPU_CLK_UNHALTED.REF_TSC_P").is_ok();
    Clocks::new(2400 / megahertz, tsc || named(&["nhm", "wsm"]))
}

const GENERAL: usize = 10;
const FIXED_COUNTERS: usize = 7;
/// More than any model has.
const EXTRAS: usize = 8;

const EVTSEL: u32 = 0x186;
const PMC: u32 = 0xc1;
/// `IA32_A_PMCx`.
const FULL: u32 = 0x4c1;
const FIXED: u32 = 0x309;
const FIXED_END: u32 = FIXED + FIXED_COUNTERS as u32;
const PERF_CAPABILITIES: u32 = 0x345;
const FIXED_CTRL: u32 = 0x38d;
const GLOBAL_STATUS: u32 = 0x38e;
const GLOBAL_CTRL: u32 = 0x38f;
const GLOBAL_OVF_CTRL: u32 = 0x390;
const PERF_METRICS: u32 = 0x329;
/// Bits of `IA32_PERF_CAPABILITIES`.
const FULL_WIDTH: u32 = 13;
const HAS_METRICS: u32 = 15;
/// Bit of `IA32_PERF_GLOBAL_CTRL`.
const METRICS_ENABLE: u32 = 48;
const FIXED_INDEX: u32 = 1 << 30;
/// RDPMC's argument for `PERF_METRICS`.
const METRICS_INDEX: u32 = 1 << 29;
/// The fixed counter of slots.
const SLOTS: usize = 3;

const PIN: u64 = 1 << 19;
const ANY: u64 = 1 << 21;
const FIXED_OS: u64 = 1;
const FIXED_USR: u64 = 2;
const FIXED_ANY: u64 = 4;
const FIXED_INT: u64 = 8;
