//! The state of a machine: its tasks, contexts and open counters.

use std::collections::BTreeMap;
use std::os::fd::RawFd;

use pacman_events::allocate::{Counter, Placement};
use pacman_events::{CounterSet, CpuModel};
use perf_event_open_sys::bindings as abi;

use crate::background::CoreActivity;
use crate::fault::{Fault, Faults};
use crate::hardware::{Activity, CorePmu, Ring, Signal, Slice};
use crate::machines::MachineSpec;
use crate::task::{Task, cpu_time};
use crate::workload::{Rate, rates};
use pacman_events::registers::RegisterProgram;
use pacman_topology::Topology;

use super::file::File;
use super::page::Leave;

/// Everything that changes on a machine.
#[derive(Debug)]
pub(crate) struct State {
    pub(super) spec: &'static MachineSpec,
    pub(super) smt: bool,
    pub(super) cores: Vec<CorePmu>,
    /// The core types: one, but on a hybrid.
    pub(super) types: Vec<CoreKind>,
    /// By CPU number.
    pub(super) contexts: Vec<Context>,
    pub(super) tasks: BTreeMap<i32, Task>,
    pub(super) files: BTreeMap<RawFd, File>,
    /// The number of files ever opened.
    pub(super) opened: u64,
    /// Nanoseconds of the machine's life.
    pub(super) now: u64,
    /// By core.
    pub(super) activity: Vec<CoreActivity>,
    pub(super) live: bool,
    pub(super) leave: Leave,
    pub(crate) faults: Faults,
}

/// The facts that all cores of one type have in common.
#[derive(Debug)]
pub(super) struct CoreKind {
    pub(super) model: CpuModel,
    /// The registers of a core while nothing is counted.
    pub(super) reset: CorePmu,
    /// How often events happen on a live machine.
    pub(super) rates: Vec<Rate>,
}

/// A hardware context with its present thread and events.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) core: usize,
    /// The core's type, as an index into [`State::types`].
    pub(super) core_type: usize,
    pub(super) number: u8,
    pub(super) running: Option<i32>,
    /// The events that have its counters, in the order of the plan.
    pub(super) on: Vec<RawFd>,
    pub(super) placements: Vec<Placement>,
    pub(super) program: Option<RegisterProgram>,
    /// Counters kept free, so that events come back elsewhere.
    pub(super) withheld: CounterSet,
    /// Another tool has taken all counters.
    pub(super) stolen: bool,
    pub(super) online: bool,
}

/// Stands for other programs, which run on a context at times.
pub(super) const SOMEBODY: i32 = -1;

impl State {
    pub(crate) fn new(spec: &'static MachineSpec, topology: &Topology, live: bool) -> State {
        let ways = topology.contexts_per_core() as u8;
        let kind = |(model, reset): (CpuModel, CorePmu)| {
            let rates = if live { rates(model, spec.cycles_per_1000) } else { Vec::new() };
            CoreKind { model, reset, rates }
        };
        let types: Vec<CoreKind> = spec.models().into_iter().zip(spec.cores()).map(kind).collect();
        let type_of = |core: &pacman_topology::Core| spec.type_of(core.core_type);
        let context = |context: &pacman_topology::Context| Context {
            core: context.core as usize,
            core_type: spec.type_of(context.core_type),
            number: context.sibling as u8,
            running: None,
            on: Vec::new(),
            placements: Vec::new(),
            program: None,
            withheld: CounterSet::EMPTY,
            stolen: false,
            online: true,
        };
        State {
            spec,
            smt: ways > 1,
            cores: topology.cores().iter().map(|core| types[type_of(core)].reset.clone()).collect(),
            types,
            contexts: topology.contexts().iter().map(context).collect(),
            tasks: BTreeMap::from([(SOMEBODY, Task::new(0, 0))]),
            files: BTreeMap::new(),
            opened: 0,
            now: 0,
            activity: topology
                .cores()
                .iter()
                .map(|core| CoreActivity::of(core.cpus.len()))
                .collect(),
            live,
            leave: Leave::ByPage,
            faults: Faults::default(),
        }
    }

    /// The type of the core of `cpu`.
    pub(super) fn type_at(&self, cpu: u32) -> usize {
        self.contexts[cpu as usize].core_type
    }

    /// The event table of the core of `cpu`.
    pub(super) fn model_at(&self, cpu: u32) -> CpuModel {
        self.types[self.type_at(cpu)].model
    }

    pub(crate) fn open_counters(&self) -> usize {
        self.files.len()
    }

    pub(crate) fn online(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.contexts).filter(|(_, context)| context.online).map(|(cpu, _)| cpu)
    }

    /// The thread, which is new on the first context that has none if it was not known.
    pub(crate) fn task(&mut self, tid: i32) -> &mut Task {
        if !self.tasks.contains_key(&tid) {
            let busy = |cpu: u32| self.tasks.iter().any(|(id, task)| *id > 0 && task.cpu == cpu);
            let all: Vec<u32> = self.online().collect();
            let free = all.iter().copied().find(|cpu| !busy(*cpu));
            let cpu = free.unwrap_or(all[self.tasks.len() % all.len()]);
            self.tasks.insert(tid, Task::new(cpu, cpu_time(tid).unwrap_or(0)));
        }
        self.tasks.get_mut(&tid).expect("inserted above")
    }

    /// The thread has gone on as its real processor has.
    pub(crate) fn catch_up(&mut self, tid: i32) {
        let Some(now) = cpu_time(tid) else { return };
        let spec = self.spec;
        let cpu = self.task(tid).cpu;
        let timetabled = self.is_counted_whole(cpu);
        let leaders = self.task(tid).leaders.clone();
        // A group that was opened to try its events counts nothing.
        let counted = leaders.iter().any(|leader| self.files[leader].enabled);
        let task = self.task(tid);
        let retired = |time: u64| {
            (u128::from(time) * u128::from(spec.core_mhz) / u128::from(spec.cycles_per_1000)) as u64
        };
        let instructions = retired(now).saturating_sub(retired(task.seen));
        task.seen = now.max(task.seen);
        // A look at a core must leave no trace on it.
        if !counted && timetabled {
            return;
        }
        // Groups that rotate shall each see the program in both modes.
        let piece = if self.until_rotation(tid).is_some() { PIECE } else { u64::MAX };
        let mut left = instructions;
        while left > 0 {
            let now = left.min(piece);
            // A program of this kind is in the kernel for one instruction in fifty.
            let before = self.task(tid).retired[Ring::User as usize] / KERNEL_SHARE;
            self.execute(tid, now);
            let after = self.task(tid).retired[Ring::User as usize] / KERNEL_SHARE;
            self.execute_in_kernel(tid, after - before);
            left -= now;
        }
    }

    pub(crate) fn execute(&mut self, tid: i32, instructions: u64) {
        self.retire(tid, Ring::User, instructions);
    }

    pub(crate) fn execute_in_kernel(&mut self, tid: i32, instructions: u64) {
        self.retire(tid, Ring::Kernel, instructions);
    }

    /// Retires instructions, and lets the groups of the thread that wait take their turns meanwhile.
    pub(super) fn retire(&mut self, tid: i32, ring: Ring, mut instructions: u64) {
        self.switch_in(tid);
        while let Some(until) = self.until_rotation(tid).filter(|until| *until < instructions) {
            self.retire_at_once(tid, ring, until);
            self.rotate(tid);
            instructions -= until;
        }
        self.retire_at_once(tid, ring, instructions);
    }

    fn retire_at_once(&mut self, tid: i32, ring: Ring, instructions: u64) {
        let spec = self.spec;
        let task = self.task(tid);
        let total: u64 = task.retired.iter().sum();
        let before = task.retired[ring as usize];
        let after = before + instructions;
        task.retired[ring as usize] = after;
        let cpu = task.cpu;
        // Totals are scaled, not steps, so that no rounding adds up.
        let step = |per_1000: u64| scaled(total + instructions, per_1000) - scaled(total, per_1000);
        let core_cycles = step(spec.cycles_per_1000);
        let ticks = step(spec.cycles_per_1000 * spec.tsc_mhz / spec.core_mhz);
        let time = step(spec.cycles_per_1000 * 1000 / spec.core_mhz);
        let often = |(signal, rate): &Rate| {
            let times = |n: u64| (u128::from(n) * u128::from(*rate) / 1_000_000) as u64;
            let new = times(after) - times(before);
            (new > 0).then_some((*signal, new))
        };
        let rates = &self.types[self.type_at(cpu)].rates;
        let signals: Vec<(Signal, u64)> = rates.iter().filter_map(often).collect();
        self.pass(
            cpu,
            time,
            Slice {
                ring,
                instructions,
                core_cycles,
                reference_cycles: ticks,
                reference: ticks,
                signals: &signals,
            },
        );
    }

    pub(crate) fn inject_event(&mut self, tid: i32, signal: Signal, times: u64) {
        self.switch_in(tid);
        let cpu = self.task(tid).cpu;
        let signals = [(signal, times)];
        let slice = Slice {
            ring: Ring::User,
            instructions: 0,
            core_cycles: 0,
            reference_cycles: 0,
            reference: 0,
            signals: &signals,
        };
        self.pass(cpu, 0, slice);
    }

    /// Lets `time` nanoseconds pass on `cpu`, in which its task did what `slice` says.
    pub(super) fn pass(&mut self, cpu: u32, time: u64, slice: Slice<'_>) {
        let context = &self.contexts[cpu as usize];
        let (core, number) = (context.core, usize::from(context.number));
        let siblings = self.contexts.iter().filter(|other| other.core == core).count();
        // The siblings' time does not pass here. It passes when they execute.
        let halted = |_| Activity::Halted { reference: 0 };
        let mut activity: Vec<Activity<'_>> = (0..siblings).map(halted).collect();
        activity[number] = Activity::Active(slice);
        self.cores[core].pass(&activity);
        if let Some(task) = context.running.and_then(|tid| self.tasks.get_mut(&tid)) {
            task.ran += time;
        }
        self.charge(cpu, time);
        self.handle_overflows(core);
    }

    /// Moves the thread to `cpu`, unless that is offline; returns its former context.
    pub(crate) fn bind(&mut self, tid: i32, cpu: u32) -> Option<u32> {
        let online = self.contexts.get(cpu as usize).is_some_and(|context| context.online);
        online.then(|| self.migrate(tid, cpu))
    }

    /// Moves the thread to `cpu`; returns its former context.
    pub(super) fn migrate(&mut self, tid: i32, cpu: u32) -> u32 {
        let task = self.task(tid);
        let before = std::mem::replace(&mut task.cpu, cpu);
        if before != cpu {
            task.migrations += 1;
            let left = &mut self.contexts[before as usize];
            if left.running == Some(tid) {
                left.running = None;
                self.schedule(before);
            }
        }
        self.switch_in(tid);
        before
    }

    /// One more call of the thread: the error that it must return, if any.
    pub(crate) fn meet_fault(&mut self, tid: i32) -> Option<i32> {
        let fault = self.faults.next()?;
        self.apply_fault(tid, fault)
    }

    /// The registers that `cpu` reaches; `None` if the context is not online.
    pub(crate) fn registers_of(&mut self, cpu: u32) -> Option<(&mut CorePmu, u8)> {
        let context = self.contexts.get(cpu as usize).filter(|context| context.online)?;
        Some((&mut self.cores[context.core], context.number))
    }

    /// The effect of a planned fault on the thread, or the error of its call.
    pub(super) fn apply_fault(&mut self, tid: i32, fault: Fault) -> Option<i32> {
        let cpu = self.task(tid).cpu;
        match fault {
            Fault::Errno(errno) => return Some(errno),
            Fault::Preempt(instructions) => {
                let context = &mut self.contexts[cpu as usize];
                let taken = context.placements.iter().filter_map(|it| match it.counter()? {
                    Counter::General(n) => Some(n),
                    Counter::Fixed(_) => None,
                });
                context.withheld = taken.collect();
                self.task(SOMEBODY).cpu = cpu;
                self.execute(SOMEBODY, instructions);
                self.switch_in(tid);
            }
            Fault::Migrate(cpu) => {
                self.migrate(tid, cpu);
            }
            Fault::Steal => self.steal(cpu),
            Fault::NearWrap(events) => self.bring_near_wrap(cpu, events),
            Fault::Unplug(cpu) => self.unplug(cpu),
        }
        None
    }

    /// Takes a context offline; its thread goes on elsewhere.
    pub(super) fn unplug(&mut self, cpu: u32) {
        self.contexts[cpu as usize].online = false;
        let refuge = self.contexts.iter().position(|context| context.online);
        let refuge = refuge.expect("one context is left") as u32;
        let here = |(tid, task): (&i32, &Task)| (task.cpu == cpu && *tid > 0).then_some(*tid);
        let moved: Vec<i32> = self.tasks.iter().filter_map(here).collect();
        for tid in moved {
            self.migrate(tid, refuge);
        }
        self.schedule(cpu);
    }

    /// The kernel's own counts for a task. A made-up program touches new memory now and then, and
    /// never waits for a disk.
    pub(super) fn software(&self, config: u64, task: &Task) -> u64 {
        match config as abi::perf_sw_ids {
            abi::PERF_COUNT_SW_CPU_CLOCK | abi::PERF_COUNT_SW_TASK_CLOCK => task.ran,
            abi::PERF_COUNT_SW_CONTEXT_SWITCHES => task.switches,
            abi::PERF_COUNT_SW_CPU_MIGRATIONS => task.migrations,
            abi::PERF_COUNT_SW_PAGE_FAULTS | abi::PERF_COUNT_SW_PAGE_FAULTS_MIN if self.live => {
                task.retired[Ring::User as usize] / FAULT_EVERY
            }
            _ => 0,
        }
    }
}

/// The events of `total` instructions at `per_1000` in a thousand.
pub(super) fn scaled(total: u64, per_1000: u64) -> u64 {
    (u128::from(total) * u128::from(per_1000) / 1000) as u64
}

/// User instructions for each one in the kernel, on a live machine.
const KERNEL_SHARE: u64 = 50;
/// Instructions that a live machine executes in one mode, while groups rotate: an eighth of a
/// rotation's time or more. Much shorter ones take the simulation more time than they stand for, and
/// the thread that simulates is simulated, too.
const PIECE: u64 = 2_000_000;
/// Instructions from one page fault to the next, on a live machine.
const FAULT_EVERY: u64 = 400_000;
