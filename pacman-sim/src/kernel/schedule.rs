//! The assignment of events to counters, and its times.

use std::convert::Infallible;
use std::os::fd::RawFd;

use pacman_events::allocate::{Alternative, Counter, EventConstraints, Placement, Pmu};
use pacman_events::encode::Rings;
use pacman_events::few;
use pacman_events::partition::Partition;
use pacman_events::{CounterSet, CpuModel, Encoding, Family};

use super::file::{CounterLocation, File, What, Whose};
use super::state::{Context, State};
use crate::hardware::{Changed, CorePmu};
use pacman_events::registers::{RegisterProgram, RegisterSharing};

/// A legal assignment of some events to the counters of one context.
struct Plan {
    placements: Vec<Placement>,
    program: Option<RegisterProgram>,
}

impl State {
    /// Puts the thread on its context, and takes another one off.
    pub(crate) fn switch_in(&mut self, tid: i32) {
        let cpu = self.task(tid).cpu;
        let running = self.contexts[cpu as usize].running;
        if running == Some(tid) {
            return;
        }
        if let Some(off) = running.and_then(|off| self.tasks.get_mut(&off)) {
            off.switches += 1;
        }
        self.occupy(cpu, tid);
    }

    /// Lets `tid` run on `cpu`. Counters stay as they are if the same groups want them.
    pub(super) fn occupy(&mut self, cpu: u32, tid: i32) {
        let before = self.candidates(cpu);
        self.contexts[cpu as usize].running = Some(tid);
        if self.candidates(cpu) != before {
            self.schedule(cpu);
        }
    }

    /// Assigns the counters of `cpu` to events again.
    pub(super) fn schedule(&mut self, cpu: u32) {
        self.take_off(cpu);
        let mut on: Vec<RawFd> = Vec::new();
        let mut plan = None;
        for leader in self.candidates(cpu) {
            let group = self.files[&leader].members.clone();
            let hardware = group.into_iter().filter(|fd| self.files[fd].takes_counter());
            let wanted: Vec<RawFd> = on.iter().copied().chain(hardware).collect();
            if wanted.len() == on.len() {
                continue;
            }
            match self.plan(cpu, &wanted) {
                Some(better) => (on, plan) = (wanted, Some(better)),
                None if self.files[&leader].pinned => self.fail(leader),
                // Groups get the counters in order, and the remaining groups wait for a rotation.
                None => break,
            }
        }
        let program = plan.as_ref().and_then(|plan| plan.program.clone());
        let context = &mut self.contexts[cpu as usize];
        context.placements = plan.map_or_else(Vec::new, |plan| plan.placements);
        context.program = program;
        context.on = on;
        self.put_on(cpu);
    }

    /// The leaders of enabled groups for counters of `cpu`. Pinned groups come first, and groups of
    /// the context before groups of its thread.
    fn candidates(&self, cpu: u32) -> Vec<RawFd> {
        let running = self.contexts[cpu as usize].running;
        let wide = self
            .files
            .iter()
            .filter(|(fd, file)| file.leader == **fd && file.whose == Whose::Context(cpu));
        let own = running.and_then(|tid| self.tasks.get(&tid)).map_or(&[][..], |it| &it.leaders);
        let mut leaders: Vec<RawFd> = wide.map(|(fd, _)| *fd).chain(own.iter().copied()).collect();
        // The groups of another core type wait, and are in no error.
        let is_here =
            |file: &File| file.encoding().is_none() || file.core_type == self.type_at(cpu);
        leaders.retain(|fd| {
            let file = &self.files[fd];
            file.enabled && !file.failed && is_here(file)
        });
        few::sort_by_key(&mut leaders, |fd| !self.files[fd].pinned);
        leaders
    }

    /// Puts a pinned group that cannot have its counters into the error state for ever.
    fn fail(&mut self, leader: RawFd) {
        for fd in self.files[&leader].members.clone() {
            if let Some(file) = self.files.get_mut(&fd) {
                file.failed = true;
            }
        }
    }

    /// Whether a group fits the counters of an otherwise unused context of this type.
    pub(super) fn is_possible(&self, core_type: usize, encodings: &[Encoding]) -> bool {
        let model = self.types[core_type].model;
        let pmu = Pmu::of(model, self.smt);
        let demands: Vec<EventConstraints> = encodings
            .iter()
            .map(|event| EventConstraints::of(event, &pmu, Rings::default()))
            .collect();
        partition(model).plan(&pmu, &[demands]).is_ok()
    }

    /// The assignment of all `wanted` events to `cpu`, given the events of its siblings; `None` if
    /// there is none.
    fn plan(&self, cpu: u32, wanted: &[RawFd]) -> Option<Plan> {
        let context = &self.contexts[cpu as usize];
        if context.stolen || !context.online {
            return None;
        }
        let model = self.model_at(cpu);
        let mut pmu = Pmu::of(model, self.smt);
        for sibling in self.siblings(context) {
            for (placement, fd) in sibling.placements.iter().zip(&sibling.on) {
                pmu = pmu.reserving(sibling.number, self.held(sibling, placement, *fd), "");
            }
        }
        let encodings: Vec<Encoding> =
            wanted.iter().filter_map(|fd| self.files[fd].encoding().cloned()).collect();
        let demands: Vec<EventConstraints> = encodings
            .iter()
            .map(|event| EventConstraints::of(event, &pmu, Rings::default()))
            .collect();
        let mut lists = vec![Vec::new(); usize::from(pmu.contexts())];
        lists[usize::from(context.number)] = demands;
        let elsewhere = pmu.clone().withholding(context.withheld, "");
        let core =
            [elsewhere, pmu].iter().find_map(|pmu| partition(model).plan(pmu, &lists).ok())?;
        let own = &core.contexts()[usize::from(context.number)];
        let program =
            RegisterProgram::new(own, core.contexts(), &encodings, Rings::default()).ok()?;
        let fitted = program.fitted(|msr, bits| {
            let read = self.cores[context.core].read(context.number, msr);
            Ok::<_, Infallible>(read.is_ok_and(|it| it & bits == bits))
        });
        Some(Plan { placements: own.placements().to_vec(), program: fitted.ok() })
    }

    /// The constraints of an event that a sibling counts already, at its present counter.
    fn held(&self, sibling: &Context, placement: &Placement, fd: RawFd) -> EventConstraints {
        let mut way = match placement.counter() {
            Some(Counter::General(n)) => Alternative::general(CounterSet::only(n)),
            Some(Counter::Fixed(n)) => Alternative::fixed(CounterSet::only(n)),
            None => Alternative::uncounted(),
        };
        way.claims = placement.claims().to_vec();
        let demand = EventConstraints::new(placement.name(), [way.on(sibling.number)]);
        match self.files.get(&fd).and_then(|file| file.encoding()) {
            Some(encoding) if encoding.limits.sibling_exclusive => demand.excluding_sibling(),
            _ => demand,
        }
    }

    fn siblings(&self, context: &Context) -> impl Iterator<Item = &Context> {
        let (core, number) = (context.core, context.number);
        self.contexts.iter().filter(move |other| other.core == core && other.number != number)
    }

    /// Brings the counts of `cpu` up to date and stops its counters.
    fn take_off(&mut self, cpu: u32) {
        self.refresh(cpu);
        self.save_topdown(cpu);
        let context = &mut self.contexts[cpu as usize];
        for fd in std::mem::take(&mut context.on) {
            if let Some(file) = self.files.get_mut(&fd) {
                (file.location, file.stale) = (None, true);
            }
        }
        context.placements.clear();
        let Some(program) = context.program.take() else { return };
        let (core, core_type, number) = (context.core, context.core_type, context.number);
        for write in &program.writes {
            let shared = |other: &Context| {
                other.program.as_ref().is_some_and(|program| program.writes.contains(write))
            };
            let context = &self.contexts[cpu as usize];
            if write.sharing == RegisterSharing::Alike && self.siblings(context).any(shared) {
                continue;
            }
            let pmu = &mut self.cores[core];
            let ours = match write.sharing {
                RegisterSharing::Bits(ours) => ours,
                _ => u64::MAX,
            };
            let value = |core: &CorePmu| core.read(number, write.msr).unwrap_or(0);
            let rest = value(pmu) & !ours | value(&self.types[core_type].reset) & ours;
            pmu.write(number, write.msr, rest).expect("it held this before");
        }
    }

    /// Writes the registers of the context's program and starts its counters.
    fn put_on(&mut self, cpu: u32) {
        let context = &self.contexts[cpu as usize];
        let (core, number) = (context.core, context.number);
        let Some(program) = context.program.clone() else { return };
        for write in &program.writes {
            let pmu = &mut self.cores[core];
            let value = match write.sharing {
                RegisterSharing::Bits(ours) => {
                    pmu.read(number, write.msr).map_or(0, |now| now & !ours) | write.value
                }
                _ => write.value,
            };
            pmu.write(number, write.msr, value).expect("a driver's program does not fault");
        }
        let on = context.on.clone();
        for slot in &program.slots {
            let location = CounterLocation { msr: slot.msr, index: slot.index, seen: 0 };
            if let Some(file) = self.files.get_mut(&on[slot.place]) {
                (file.location, file.stale) = (Some(location), true);
            }
            self.arm(cpu, on[slot.place], self.largest_period(cpu, on[slot.place]));
        }
        self.restore_topdown(cpu);
    }

    /// The largest number of events after which Linux lets a counter overflow.
    fn largest_period(&self, cpu: u32, fd: RawFd) -> u64 {
        let core = &self.cores[self.contexts[cpu as usize].core];
        let page_width = self.files.get(&fd).map_or(0, |file| file.page_width);
        match self.model_at(cpu).facts().family {
            // A page with 32 bits needs an overflow of these.
            _ if page_width == 32 => (1 << 31) - 1,
            // Without full-width writes, a write sets 32 bits and extends their sign.
            Family::Intel if core.read(0, FULL_WIDTH).is_err() => (1 << 31) - 1,
            _ => mask(core.width() - 1),
        }
    }

    /// Sets a counter to `events` before its overflow.
    fn arm(&mut self, cpu: u32, fd: RawFd, events: u64) {
        let context = &self.contexts[cpu as usize];
        let (core, number) = (context.core, context.number);
        let Some(file) = self.files.get_mut(&fd).filter(|file| !file.topdown) else { return };
        let Some(location) = &mut file.location else { return };
        let pmu = &mut self.cores[core];
        let value = events.wrapping_neg() & mask(pmu.width());
        // A write to the old registers sets 32 bits and extends the sign.
        let written = if LEGACY.contains(&location.msr) { value & 0xffff_ffff } else { value };
        // Write twice: on a Pentium 4 the first write may fail to reach the upper bits (N15).
        for _ in 0..2 {
            pmu.write(number, location.msr, written)
                .expect("counters take any value of their width");
        }
        location.seen = value;
        file.stale = true;
    }

    /// Brings the counts of all events on `cpu` up to date.
    pub(super) fn refresh(&mut self, cpu: u32) {
        let context = &self.contexts[cpu as usize];
        let pmu = &self.cores[context.core];
        for fd in &context.on {
            let Some(file) = self.files.get_mut(fd).filter(|file| !file.topdown) else { continue };
            let Some(location) = &mut file.location else { continue };
            let now = pmu.read(context.number, location.msr).expect("counters can be read");
            file.count =
                file.count.wrapping_add(now.wrapping_sub(location.seen) & mask(pmu.width()));
            (location.seen, file.stale) = (now, true);
        }
    }

    /// Handles the interrupts of overflowed counters, and restarts these counters.
    pub(super) fn handle_overflows(&mut self, core: usize) {
        for cpu in 0..self.contexts.len() {
            let context = &self.contexts[cpu];
            if context.core != core {
                continue;
            }
            let pmu = &self.cores[core];
            let sign = 1 << (pmu.width() - 1);
            let over: Vec<RawFd> = context
                .on
                .iter()
                .copied()
                .filter(|fd| {
                    let file = self.files.get(fd).filter(|file| !file.topdown);
                    let location = file.and_then(|file| file.location);
                    location.is_some_and(|location| {
                        let now = pmu.read(context.number, location.msr);
                        now.is_ok_and(|now| now & sign == 0)
                    })
                })
                .collect();
            if over.is_empty() {
                continue;
            }
            self.refresh(cpu as u32);
            for fd in over {
                self.arm(cpu as u32, fd, self.largest_period(cpu as u32, fd));
            }
        }
    }

    /// Sets every counter of `cpu` to `events` before its overflow.
    pub(super) fn bring_near_wrap(&mut self, cpu: u32, events: u64) {
        self.refresh(cpu);
        for fd in self.contexts[cpu as usize].on.clone() {
            self.arm(cpu, fd, events);
        }
    }

    /// Lets another tool take the counters of `cpu`, and clears their registers.
    pub(super) fn steal(&mut self, cpu: u32) {
        self.contexts[cpu as usize].stolen = true;
        self.schedule(cpu);
        let context = &self.contexts[cpu as usize];
        let (core, number) = (context.core, context.number);
        for changed in self.cores[core].changed() {
            if changed.context == number || self.model_at(cpu).facts().counters_shared {
                // Some of the registers are read-only, and the tool does not use these.
                let _ = self.cores[core].write(number, changed.msr, 0);
            }
        }
    }

    /// Adds `time` to the times of every enabled group for which it passed.
    pub(super) fn charge(&mut self, cpu: u32, time: u64) {
        let running = self.contexts[cpu as usize].running;
        let here = |whose: Whose| match whose {
            Whose::Task(tid) => running == Some(tid),
            Whose::Context(wide) => wide == cpu,
        };
        let on: Vec<RawFd> = self.contexts[cpu as usize].on.clone();
        let mut files = std::mem::take(&mut self.files);
        for (fd, file) in files.iter_mut().filter(|(_, file)| file.enabled && here(file.whose)) {
            file.times[0] += time;
            let counted = matches!(file.what, What::Software(_)) || on.contains(fd);
            file.times[1] += if counted && !file.failed { time } else { 0 };
        }
        self.files = files;
    }

    /// The registers of every core that differ from their reset values.
    pub(crate) fn registers_in_use(&self) -> Vec<Vec<Changed>> {
        self.cores.iter().map(CorePmu::changed).collect()
    }
}

/// Linux divides the counters of a Pentium 4 evenly. Contexts of other processors do not share
/// counters.
fn partition(model: CpuModel) -> Partition {
    if model.facts().counters_shared { Partition::Even } else { Partition::ByDemand }
}

/// A mask of a counter's bits.
fn mask(width: u8) -> u64 {
    (1 << width) - 1
}

/// `IA32_PMC0` and the following registers, which take writes of 32 bits.
const LEGACY: std::ops::Range<u32> = 0xc1..0xc9;
/// `IA32_A_PMC0`, which exists if counters take full-width writes.
const FULL_WIDTH: u32 = 0x4c1;
