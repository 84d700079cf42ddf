//! The calls of a simulated kernel.

use std::os::fd::RawFd;
use std::ptr::NonNull;

use pacman_events::encode::TopDown;
use perf_event_open_sys::bindings as abi;

use super::file::{self, File, What, Whose};
use super::machine::Machine;
use super::page::{self, Leave, extend};
use super::state::State;
use crate::machines::PMUS;
use crate::task::{self, caller};
use pacman_core::backend::Target;
use pacman_core::backend::perf::{Errno, Kernel, PAGE, PerfSys, RawCount, Register};

/// The counter interface of a simulated machine's kernel.
#[derive(Clone, Debug)]
pub(crate) struct SimKernel {
    machine: Machine,
}

impl Machine {
    /// Its kernel's counter interface.
    pub fn kernel(&self) -> impl PerfSys + Clone + use<> {
        SimKernel { machine: self.clone() }
    }
}

impl SimKernel {
    /// Makes one call. It brings the thread up to date, injects a planned fault, does the work, and
    /// writes the thread's pages.
    fn call<R>(&self, work: impl FnOnce(&mut State, i32) -> Result<R, Errno>) -> Result<R, Errno> {
        let tid = caller();
        let mut state = self.machine.enter();
        state.switch_in(tid);
        let done = match state.meet_fault(tid) {
            Some(errno) => Err(Errno(errno)),
            None => work(&mut state, tid),
        };
        state.publish(tid);
        done
    }
}

impl PerfSys for SimKernel {
    fn is_real(&self) -> bool {
        false
    }

    fn open(
        &self,
        attr: &mut abi::perf_event_attr,
        target: Target,
        group: RawFd,
    ) -> Result<RawFd, Errno> {
        self.call(|state, tid| {
            let whose = match target {
                Target::Caller => Whose::Task(tid),
                Target::Thread(other) | Target::Tree(other) => {
                    task::cpu_time(other).ok_or(Errno(libc::ESRCH))?;
                    state.task(other);
                    Whose::Task(other)
                }
                Target::Context(cpu) => Whose::Context(cpu),
            };
            state.open(attr, whose, group)
        })
    }

    fn id(&self, fd: RawFd) -> Result<u64, Errno> {
        self.call(|state, _| state.files.get(&fd).map(|file| file.id).ok_or(Errno(libc::EBADF)))
    }

    fn close(&self, fd: RawFd) {
        let close = || {
            self.call(|state, _| {
                state.close(fd);
                Ok(())
            })
        };
        // Linux closes a file also if close(2) fails, so a planned error closes it too.
        let _ = close().or_else(|_| close());
    }

    fn enable_group(&self, leader: RawFd) -> Result<(), Errno> {
        self.call(|state, tid| state.switch(tid, |state| state.enable(leader)))
    }

    fn disable_group(&self, leader: RawFd) -> Result<(), Errno> {
        self.call(|state, tid| state.switch(tid, |state| state.disable(leader)))
    }

    fn read(&self, leader: RawFd, into: &mut [u64]) -> Result<usize, Errno> {
        let live = self.machine.is_live();
        self.call(|state, _| state.read(leader, into, live))
    }

    fn reserve(&self, pages: usize) -> Result<NonNull<u8>, Errno> {
        self.call(|_, _| Kernel.reserve(pages))
    }

    unsafe fn map(&self, fd: RawFd, base: NonNull<u8>, slot: usize) -> Result<(), Errno> {
        self.call(|state, _| {
            let file = state.files.get_mut(&fd).ok_or(Errno(libc::EBADF))?;
            // SAFETY: the caller vouches that the page is within the reservation.
            let page = unsafe { base.add(slot * PAGE) };
            page::back(page)?;
            file.page = Some(page.as_ptr() as usize);
            file.stale = true;
            Ok(())
        })
    }

    unsafe fn release(&self, base: NonNull<u8>, pages: usize) {
        let first = base.as_ptr() as usize;
        let range = first..first + pages * PAGE;
        let mut state = self.machine.enter();
        for file in state.files.values_mut() {
            file.page = file.page.filter(|page| !range.contains(page));
        }
        // SAFETY: the caller keeps the contract of `PerfSys::release`; no file writes there any more.
        unsafe { Kernel.release(base, pages) };
    }

    fn register(&self, index: u32) -> Option<Register> {
        Some(Register::simulated(index))
    }

    unsafe fn read_counter(&self, register: Register) -> RawCount {
        let index = register.index();
        let value = self.call(|state, tid| Ok(state.rdpmc(tid, index)));
        // An error planned for an instruction strikes nothing: ask again.
        let value = value.or_else(|_| self.call(|state, tid| Ok(state.rdpmc(tid, index))));
        let value = value.ok().flatten().expect("SIGSEGV: this machine has no such counter");
        let value = if self.machine.hides_counters() { 0 } else { value };
        RawCount::simulated(value)
    }

    fn between_loads(&self) {
        // Nothing that can fail happens here.
        let _ = self.call(|_, _| Ok(()));
    }
}

impl State {
    fn open(
        &mut self,
        attr: &abi::perf_event_attr,
        whose: Whose,
        group: RawFd,
    ) -> Result<RawFd, Errno> {
        let mut attr = *attr;
        let mut page_width = 0;
        if attr.type_ != abi::PERF_TYPE_SOFTWARE {
            let width = self.cores[0].width();
            // SAFETY: the union holds plain integers, whichever name was written.
            let config1 = unsafe { attr.__bindgen_anon_3.config1 };
            (page_width, attr.__bindgen_anon_3.config1) = self.leave.of(config1, whose, width)?;
        }
        let attr = &attr;
        let (what, core_type) = match attr.type_ {
            abi::PERF_TYPE_SOFTWARE => (file::software(attr.config)?, 0),
            _ => {
                let core_type = self.core_type_of(attr)?;
                (file::hardware(self.types[core_type].model, attr)?, core_type)
            }
        };
        if let Whose::Context(cpu) = whose {
            let online = self.contexts.get(cpu as usize).is_some_and(|context| context.online);
            online.then_some(()).ok_or(Errno(libc::ENODEV))?;
            let is_here = matches!(what, What::Software(_)) || self.type_at(cpu) == core_type;
            is_here.then_some(()).ok_or(Errno(libc::ENOENT))?;
        }
        let mut together: Vec<_> = match &what {
            What::Hardware(encoding) => vec![encoding.as_ref().clone()],
            What::Software(_) => vec![],
        };
        if group >= 0 {
            let leader = self.files.get(&group).ok_or(Errno(libc::EBADF))?;
            if leader.leader != group || leader.whose != whose {
                return Err(Errno(libc::EINVAL));
            }
            // A group has one PMU, in addition to the kernel's own events.
            let is_hardware = !together.is_empty() && leader.encoding().is_some();
            if is_hardware && leader.core_type != core_type {
                return Err(Errno(libc::EINVAL));
            }
            if what.is_field() && leader.part() != Some(TopDown::Slots) {
                return Err(Errno(libc::EINVAL));
            }
            let others = leader.members.iter().filter_map(|fd| self.files[fd].encoding().cloned());
            together.splice(0..0, others);
        }
        if group < 0 && what.is_field() {
            return Err(Errno(libc::EINVAL));
        }
        if !together.is_empty() && !self.is_possible(core_type, &together) {
            return Err(Errno(libc::EINVAL));
        }
        let fd = self.files.keys().next_back().map_or(FIRST_FD, |last| last + 1);
        let leader = if group >= 0 { group } else { fd };
        self.opened += 1;
        let field = what.is_field();
        let mut new = File::new(self.opened, attr, (what, core_type), whose, leader, page_width);
        (new.seen, new.topdown) = (self.seen(&new), field);
        self.files.insert(fd, new);
        if let Some(file) = self.files.get_mut(&leader) {
            file.members.push(fd);
            file.topdown |= field;
        }
        if let (Whose::Task(tid), true) = (whose, leader == fd) {
            self.task(tid).leaders.push(fd);
        }
        self.schedule_for(whose);
        Ok(fd)
    }

    /// The core type whose PMU a hardware event names.
    fn core_type_of(&self, attr: &abi::perf_event_attr) -> Result<usize, Errno> {
        let number = match attr.type_ {
            abi::PERF_TYPE_HARDWARE => (attr.config >> 32) as u32,
            number => number,
        };
        match self.types.len() {
            1 if [0, abi::PERF_TYPE_RAW].contains(&number) => Ok(0),
            1 => Err(Errno(libc::ENOENT)),
            // Without a number Linux takes the first PMU.
            _ if number == 0 => Ok(0),
            _ => PMUS.iter().position(|pmu| pmu.1 == number).ok_or(Errno(libc::ENOENT)),
        }
    }

    fn close(&mut self, fd: RawFd) {
        let Some(file) = self.files.get(&fd) else { return };
        let (whose, leader) = (file.whose, file.leader);
        if let Some(leader) = self.files.get_mut(&leader) {
            leader.members.retain(|member| *member != fd);
        }
        if let Whose::Task(tid) = whose {
            self.task(tid).leaders.retain(|leader| *leader != fd);
        }
        self.files.remove(&fd);
        // Members whose leader is closed go on counting alone.
        for (orphan, file) in self.files.iter_mut().filter(|(_, file)| file.leader == fd) {
            file.leader = *orphan;
            file.members = vec![*orphan];
        }
        self.schedule_for(whose);
    }

    /// A call that enables or disables a group, unless a planned fault has it fail.
    fn switch(
        &mut self,
        tid: i32,
        work: impl FnOnce(&mut State) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let fault = self.faults.next_switch();
        match fault.and_then(|fault| self.apply_fault(tid, fault)) {
            Some(errno) => Err(Errno(errno)),
            None => work(self),
        }
    }

    fn enable(&mut self, leader: RawFd) -> Result<(), Errno> {
        let file = self.files.get(&leader).ok_or(Errno(libc::EBADF))?;
        let (whose, members) = (file.whose, file.members.clone());
        for fd in members {
            let seen = self.seen(&self.files[&fd]);
            if let Some(file) = self.files.get_mut(&fd).filter(|file| !file.enabled) {
                (file.enabled, file.seen) = (true, seen);
            }
        }
        // The leader's own switch is what counts for all.
        self.schedule_for(whose);
        Ok(())
    }

    fn disable(&mut self, leader: RawFd) -> Result<(), Errno> {
        let file = self.files.get(&leader).ok_or(Errno(libc::EBADF))?;
        let (whose, members) = (file.whose, file.members.clone());
        for fd in members {
            let seen = self.seen(&self.files[&fd]);
            if let Some(file) = self.files.get_mut(&fd).filter(|file| file.enabled) {
                file.count += seen - file.seen;
                (file.enabled, file.seen) = (false, seen);
            }
        }
        self.schedule_for(whose);
        Ok(())
    }

    fn read(&mut self, leader: RawFd, into: &mut [u64], live: bool) -> Result<usize, Errno> {
        let file = self.files.get(&leader).ok_or(Errno(libc::EBADF))?;
        let whose = file.whose;
        if let (Whose::Task(tid), true) = (whose, live) {
            self.catch_up(tid);
        }
        let file = &self.files[&leader];
        if file.failed {
            return Ok(0);
        }
        let (times, members) = (file.times, file.members.clone());
        if into.len() < 3 + members.len() {
            return Err(Errno(libc::ENOSPC));
        }
        self.refresh_for(whose);
        self.read_topdown(leader);
        into[..3].copy_from_slice(&[members.len() as u64, times[0], times[1]]);
        for (word, fd) in into[3..].iter_mut().zip(&members) {
            let seen = self.seen(&self.files[fd]);
            let file = self.files.get_mut(fd).expect("members are open");
            if matches!(file.what, What::Software(_)) && file.enabled {
                file.count += seen - std::mem::replace(&mut file.seen, seen);
            }
            *word = file.count;
        }
        Ok(3 + members.len())
    }

    /// The kernel's count so far for the task of a software event.
    fn seen(&self, file: &File) -> u64 {
        let What::Software(config) = file.what else { return 0 };
        match file.whose {
            Whose::Task(tid) => self.tasks.get(&tid).map_or(0, |task| self.software(config, task)),
            Whose::Context(_) if is_clock(config) => self.now,
            Whose::Context(cpu) => {
                let here = self.tasks.values().filter(|task| task.cpu == cpu);
                here.map(|task| self.software(config, task)).sum()
            }
        }
    }

    fn refresh_for(&mut self, whose: Whose) {
        if let Some(cpu) = self.cpu_of(whose) {
            self.refresh(cpu);
        }
    }

    fn schedule_for(&mut self, whose: Whose) {
        if let Some(cpu) = self.cpu_of(whose) {
            self.schedule(cpu);
        }
    }

    pub(super) fn cpu_of(&self, whose: Whose) -> Option<u32> {
        match whose {
            Whose::Task(tid) => self.tasks.get(&tid).map(|task| task.cpu),
            Whose::Context(cpu) => Some(cpu),
        }
    }

    fn rdpmc(&mut self, tid: i32, index: u32) -> Option<u64> {
        let cpu = self.task(tid).cpu;
        let context = &self.contexts[cpu as usize];
        let core = &self.cores[context.core];
        let value = core.rdpmc(context.number, index).ok()?;
        // Counters of Arm have 64 bits, of which a page may offer 32.
        let is_arm = matches!(self.leave, Leave::OnRequest { .. });
        Some(if is_arm { extend(value, core.width()) } else { value })
    }
}

/// Whether a software event is the time itself, which passes also on an idle context.
fn is_clock(config: u64) -> bool {
    let clocks = [abi::PERF_COUNT_SW_CPU_CLOCK, abi::PERF_COUNT_SW_TASK_CLOCK];
    clocks.iter().any(|clock| u64::from(*clock) == config)
}

/// Far from a real process's values, so that neither is taken for the other.
const FIRST_FD: RawFd = 1 << 20;
