//! Open counters, each behind a descriptor of the simulated kernel.

use std::os::fd::RawFd;

use pacman_events::encode::{Rings, TopDown};
use pacman_events::{CpuModel, Encoding, Family, Resolver};
use perf_event_open_sys::bindings as abi;

use pacman_core::backend::perf::Errno;

/// The owner of the events that a descriptor counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    Task(i32),
    Context(u32),
}

/// The event that it counts.
#[derive(Clone, Debug)]
pub(super) enum What {
    Hardware(Box<Encoding>),
    /// `attr.config` of a software event.
    Software(u64),
}

impl What {
    /// Whether it is a field of `PERF_METRICS`.
    pub(super) fn is_field(&self) -> bool {
        match self {
            What::Hardware(encoding) => matches!(encoding.topdown(), Some(TopDown::Field(_))),
            What::Software(_) => false,
        }
    }
}

/// The hardware counter that an event is on.
#[derive(Clone, Copy, Debug)]
pub(super) struct CounterLocation {
    /// The counter's register.
    pub(super) msr: u32,
    /// RDPMC's argument.
    pub(super) index: u32,
    /// The counter's value when the count was last brought up to date.
    pub(super) seen: u64,
}

/// An open counter.
#[derive(Debug)]
pub(super) struct File {
    /// No other file of the machine ever has it.
    pub(super) id: u64,
    pub(super) whose: Whose,
    pub(super) what: What,
    /// The core type that counts it, where the machine has several; 0 for a software event.
    pub(super) core_type: usize,
    /// The group's leader, which may be this one; its members in order, where it is.
    pub(super) leader: RawFd,
    pub(super) members: Vec<RawFd>,
    pub(super) pinned: bool,
    pub(super) enabled: bool,
    /// A pinned group that could not have its counters: it stays off for good.
    pub(super) failed: bool,
    /// The count up to the last reading.
    pub(super) count: u64,
    /// The task's count when a software event was last brought up to date.
    pub(super) seen: u64,
    /// Nanoseconds enabled and on its counters.
    pub(super) times: [u64; 2],
    /// Its present counter; software events have none.
    pub(super) location: Option<CounterLocation>,
    /// The bits of its counter that the page offers; 0 if it offers no reads.
    pub(super) page_width: u8,
    /// The address of its mapped page.
    pub(super) page: Option<usize>,
    /// Its page is out of date.
    pub(super) stale: bool,
    /// SLOTS that leads fields of `PERF_METRICS`, or such a field.
    pub(super) topdown: bool,
    /// Of SLOTS with such fields: both registers when it was last taken off its counter.
    pub(super) saved: [u64; 2],
}

impl File {
    pub(super) fn new(
        id: u64,
        attr: &abi::perf_event_attr,
        (what, core_type): (What, usize),
        whose: Whose,
        leader: RawFd,
        page_width: u8,
    ) -> File {
        File {
            id,
            whose,
            what,
            core_type,
            leader,
            members: vec![],
            pinned: attr.pinned() == 1,
            enabled: attr.disabled() == 0,
            failed: false,
            count: 0,
            seen: 0,
            times: [0; 2],
            location: None,
            page_width,
            page: None,
            stale: true,
            topdown: false,
            saved: [0; 2],
        }
    }

    pub(super) fn encoding(&self) -> Option<&Encoding> {
        match &self.what {
            What::Hardware(encoding) => Some(encoding),
            What::Software(_) => None,
        }
    }

    /// The part of its event in top-down analysis.
    pub(super) fn part(&self) -> Option<TopDown> {
        self.encoding()?.topdown()
    }

    /// Whether it counts on a counter of its own: fields of `PERF_METRICS` do not.
    pub(super) fn takes_counter(&self) -> bool {
        self.encoding().is_some() && !self.what.is_field()
    }
}

/// The kernel's own count of a task that `attr.config` selects.
pub(super) fn software(config: u64) -> Result<What, Errno> {
    let known = config < u64::from(abi::PERF_COUNT_SW_DUMMY);
    if known { Ok(What::Software(config)) } else { Err(Errno(libc::ENOENT)) }
}

/// The event that raw and generic codes select, as a kernel for `cpu` understands them.
pub(super) fn hardware(cpu: CpuModel, attr: &abi::perf_event_attr) -> Result<What, Errno> {
    // The upper half of a generic event's code is the number of its PMU.
    let code = attr.config & u64::from(u32::MAX);
    // SAFETY: both unions hold plain integers, whichever name was written.
    let (config1, config2) =
        unsafe { (attr.__bindgen_anon_3.config1, attr.__bindgen_anon_4.config2) };
    let select = |name: &str| {
        let pmus = [crate::machines::plain_pmu()];
        let resolved = Resolver::new(cpu).with_pmus(&pmus).resolve(name).ok()?;
        resolved.encoding().cloned()
    };
    let found = match (attr.type_, fixed(attr.config)) {
        (abi::PERF_TYPE_HARDWARE, _) => generic(code)?.iter().find_map(|name| select(name)),
        // Events of fixed counters have their constraint on Intel, as in Linux's tables.
        (_, Some(name)) if cpu.facts().family == Family::Intel => select(name),
        _ if config1 == 0 && config2 == 0 => select(&format!("r{:x}", attr.config)),
        _ => select(&format!(
            "cpu/config={:#x},config1={config1:#x},config2={config2:#x}/",
            attr.config
        )),
    };
    let mut encoding = found.ok_or(Errno(libc::EINVAL))?;
    encoding.rings = Rings { user: attr.exclude_user() == 0, kernel: attr.exclude_kernel() == 0 };
    Ok(What::Hardware(Box::new(encoding)))
}

/// The portable name of a fixed counter's event, by Linux's code for it.
fn fixed(config: u64) -> Option<&'static str> {
    match config {
        0xc0 => Some("INSTRUCTIONS"),
        0x3c => Some("CYCLES"),
        0x300 => Some("REF_CYCLES"),
        // As in Linux, the AnyThread bit does not keep it off its counter, its only one.
        0x20_0300 => Some("REF_CYCLES:any"),
        0x400 => Some("SLOTS"),
        _ => None,
    }
}

/// The portable names of a generic event, of which a driver takes the first that it has.
fn generic(config: u64) -> Result<&'static [&'static str], Errno> {
    match config as abi::perf_hw_id {
        abi::PERF_COUNT_HW_CPU_CYCLES => Ok(&["CYCLES"]),
        abi::PERF_COUNT_HW_INSTRUCTIONS => Ok(&["INSTRUCTIONS"]),
        abi::PERF_COUNT_HW_CACHE_REFERENCES => Ok(&["LLC_ACCESSES", "L2_ACCESSES"]),
        abi::PERF_COUNT_HW_CACHE_MISSES => Ok(&["LLC_MISSES", "L2_MISSES"]),
        abi::PERF_COUNT_HW_BRANCH_INSTRUCTIONS => Ok(&["BRANCHES"]),
        abi::PERF_COUNT_HW_BRANCH_MISSES => Ok(&["BRANCH_MISSES"]),
        abi::PERF_COUNT_HW_REF_CPU_CYCLES => Ok(&["REF_CYCLES"]),
        _ => Err(Errno(libc::ENOENT)),
    }
}
