//! A simulated machine and the ways to drive it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use pacman_events::few;
use pacman_events::{CpuId, CpuModel};
use parking_lot::{Mutex, MutexGuard};

use pacman_core::backend::perf::{PerfPermissions, UserReads};
use pacman_topology::{CpuSet, Topology};

use super::page::Leave;
use super::state::State;
use crate::background::CoreActivity;
use crate::fault::Fault;
use crate::machines::MachineSpec;
use crate::{hardware, task};
use pacman_events::{Error, ErrorKind, Result};

/// A simulated machine. A clone refers to the same machine.
#[derive(Clone)]
pub struct Machine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) spec: &'static MachineSpec,
    number: u64,
    /// The moment when a live machine was started.
    since: Option<Instant>,
    /// Its kernel's driver counts as one that may be wrong.
    distrusted: AtomicBool,
    /// RDPMC reads 0.
    hidden: AtomicBool,
    state: Mutex<State>,
}

impl Machine {
    /// A machine whose threads execute during the CPU time that they really use.
    ///
    /// # Errors
    /// `UnknownMachine` for a name other than `p4`, `nehalem`, `haswell`, `skylake`, `icelake`,
    /// `zen4`, `knl`, `alderlake`.
    pub fn live(name: &str) -> Result<Machine> {
        Machine::new(name, true)
    }

    /// A machine whose threads execute only what their calls request.
    ///
    /// # Errors
    /// As for [`live`](Self::live).
    pub fn scripted(name: &str) -> Result<Machine> {
        Machine::new(name, false)
    }

    fn new(name: &str, live: bool) -> Result<Machine> {
        // The machine's number in register ledgers; 0 is the real machine.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let spec = MachineSpec::named(name).ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidInput,
                format!("cannot simulate {name:?}: there are {}", MachineSpec::names()),
            )
        })?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let contexts = Topology::synthetic(spec.topology).expect("a test reads every spec");
        let state = Mutex::new(State::new(spec, &contexts, live));
        let since = live.then(Instant::now);
        Ok(Machine {
            inner: Arc::new(Inner {
                spec,
                number,
                since,
                distrusted: AtomicBool::new(false),
                hidden: AtomicBool::new(false),
                state,
            }),
        })
    }

    /// The name that it was made with.
    pub fn name(&self) -> &'static str {
        self.inner.spec.name
    }

    /// A description of the machine.
    pub fn title(&self) -> &'static str {
        self.inner.spec.title
    }

    /// The table of its processor's events; of the performance cores' on a hybrid.
    pub fn cpu(&self) -> CpuModel {
        self.inner.spec.cpu()
    }

    /// Its CPUID; `None` if the table lacks the model's numbers.
    pub fn cpu_id(&self) -> Option<CpuId> {
        let (vendor, family, (model, _)) = self.cpu().cpuids().next()?;
        Some(CpuId::new(vendor, family, model, 0))
    }

    /// The permissions of a process on it: all events of its own and of the kernel, with RDPMC.
    pub fn permissions(&self) -> PerfPermissions {
        let mut permissions = PerfPermissions::read_under(std::path::Path::new("/nowhere"));
        permissions.paranoid = Some(0);
        permissions.pmus = self.inner.spec.pmus().iter().map(|pmu| pmu.name().to_owned()).collect();
        few::sort(&mut permissions.pmus);
        permissions.rdpmc = Some(2);
        permissions.user_reads = match self.state().leave {
            Leave::ByPage => UserReads::ByPage,
            Leave::OnRequest { .. } => UserReads::OnRequest,
        };
        permissions.smt = self.inner.spec.cpu().facts().smt_ways > 1;
        let distrusted = self.inner.distrusted.load(Ordering::Relaxed);
        permissions.driver_doubt = distrusted.then_some("this machine's driver is set to be wrong");
        permissions
    }

    /// Marks its kernel's driver as not trusted, like Linux's on a Pentium 4.
    pub fn distrust_driver(&self) {
        self.inner.distrusted.store(true, Ordering::Relaxed);
    }

    /// Hides all counters from user mode, though the pages offer them: RDPMC reads 0, as from Panther Cove on where the
    /// kernel asks for it.
    pub fn hide_counters(&self) {
        self.inner.hidden.store(true, Ordering::Relaxed);
    }

    /// Permits user reads as Linux does on AArch64: to events that ask for it, of counters with 64
    /// bits, or before Armv8.5 (`long` is false) with 32.
    pub fn give_leave_on_request(&self, long: bool) {
        self.state().leave = Leave::OnRequest { long };
    }

    pub(super) fn hides_counters(&self) -> bool {
        self.inner.hidden.load(Ordering::Relaxed)
    }

    /// Lets the calling thread retire `instructions` in user mode.
    pub fn execute(&self, instructions: u64) {
        self.enter().execute(task::caller(), instructions);
    }

    /// Lets the calling thread retire `instructions` in the kernel.
    pub fn execute_in_kernel(&self, instructions: u64) {
        self.enter().execute_in_kernel(task::caller(), instructions);
    }

    /// Lets the event of `encoding` occur `times` times on the calling thread, in user mode.
    ///
    /// Does nothing for an encoding that selects no hardware event.
    pub fn inject_event(&self, encoding: &pacman_events::Encoding, times: u64) {
        if let Some(signal) = hardware::Signal::of(encoding) {
            self.enter().inject_event(task::caller(), signal, times);
        }
    }

    /// Lets `nanoseconds` pass on every core with a context that is counted as a whole. Other
    /// programs run there by a timetable. On a live machine the time is real.
    pub fn advance(&self, nanoseconds: u64) {
        self.enter().advance(nanoseconds);
    }

    /// The activity of the contexts of core number `core` by the timetable, while one of them was
    /// counted as a whole.
    ///
    /// # Panics
    /// If the machine does not have the core.
    pub fn core_activity(&self, core: usize) -> CoreActivity {
        self.state().activity_of(core)
    }

    /// The machine's time stamp counter.
    pub fn tsc(&self) -> u64 {
        self.enter().tsc()
    }

    /// The frequency of the time stamp counter, in Hz.
    pub fn tsc_hz(&self) -> u64 {
        self.inner.spec.tsc_mhz * 1_000_000
    }

    /// Plans `fault` for the machine's call after `calls` more: system calls, register
    /// accesses, and the moments between any two loads of a read.
    pub fn inject_fault(&self, calls: u64, fault: Fault) {
        self.state().faults.plan(calls, fault);
    }

    /// The number of calls to the machine so far.
    pub fn calls(&self) -> u64 {
        self.state().faults.calls()
    }

    /// Plans `fault` for the call after `switches` more that enable or disable a group, as a change of the
    /// event set does.
    pub fn inject_fault_at_switch(&self, switches: u64, fault: Fault) {
        self.state().faults.plan_at_switch(switches, fault);
    }

    /// Whether every fault that was planned has happened.
    pub fn met_all_faults(&self) -> bool {
        self.state().faults.all_met()
    }

    /// The number of open counters.
    pub fn open_counters(&self) -> usize {
        self.state().open_counters()
    }

    /// The registers that differ from their reset values, core by core.
    pub fn registers_in_use(&self) -> Vec<Vec<hardware::Changed>> {
        self.state().registers_in_use()
    }

    /// The hardware context that the calling thread runs on.
    pub fn current_cpu(&self) -> u32 {
        self.state().task(task::caller()).cpu
    }

    /// The contexts that are online.
    pub fn online(&self) -> CpuSet {
        self.state().online().collect()
    }

    /// Advances the machine to the present, by the time of the threads' processors.
    pub(crate) fn enter(&self) -> MutexGuard<'_, State> {
        let mut state = self.state();
        if let Some(since) = self.inner.since {
            state.catch_up(task::caller());
            state.let_pass_until(since.elapsed().as_nanos() as u64);
        }
        state
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock()
    }

    pub(crate) fn number(&self) -> u64 {
        self.inner.number
    }

    pub(crate) fn is_live(&self) -> bool {
        self.inner.since.is_some()
    }
}

impl PartialEq for Machine {
    fn eq(&self, other: &Machine) -> bool {
        self.number() == other.number()
    }
}

impl Eq for Machine {}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").field("name", &self.name()).finish_non_exhaustive()
    }
}
