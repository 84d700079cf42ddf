//! One perf group: its descriptors, its counter pages, and their release.

use std::os::fd::RawFd;
use std::ptr::NonNull;

use pacman_events::Encoding;
use perf_event_open_sys::bindings as abi;

use super::live::{self, LiveGroup, Own};
use super::page::Pages;
use crate::arch::UserReads;
use crate::backend::Target;
use crate::event::{Hardware, Software};
use crate::seam::{Errno, PerfSys};

/// Number of words from `read(2)` before the counts: number, enabled, running.
pub(super) const HEADER: usize = 3;

/// Bits of `config1` in Linux's driver for Arm (`drivers/perf/arm_pmuv3.c`): counters of 64 bits, and
/// user reads.
const LONG: u64 = 1;
const USER_ACCESS: u64 = 2;
/// The event `CPU_CYCLES` of Arm's PMUs.
const ARM_CPU_CYCLES: u64 = 0x11;

/// The request to the kernel for one member of a group.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) ask: Ask,
    /// The demands of a hardware event, to explain a refusal.
    pub(super) encoding: Option<Box<Encoding>>,
}

/// The two kinds of events that a group can hold.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ask {
    Hardware(Hardware),
    Software(Software),
}

impl Member {
    /// Whether one counter has the counts of both.
    pub(super) fn asks_the_same_as(&self, other: &Member) -> bool {
        match (self.ask, other.ask) {
            (Ask::Hardware(own), Ask::Hardware(others)) => own == others,
            _ => false,
        }
    }

    /// Whether Linux's driver for Arm counts it on the cycle counter if it can.
    pub(super) fn counts_arm_cycles(&self) -> bool {
        match self.ask {
            Ask::Hardware(ask) if ask.pmu == abi::PERF_TYPE_HARDWARE => {
                ask.config as u32 == abi::PERF_COUNT_HW_CPU_CYCLES
            }
            Ask::Hardware(ask) => ask.config & 0xffff == ARM_CPU_CYCLES,
            Ask::Software(_) => false,
        }
    }

    /// The kernel's description of the member. The `leader` of an exclusive group is pinned: it is
    /// on its counters whenever its thread runs, or it fails. `reads` are bits of `config1` that ask for
    /// user reads.
    fn attr(&self, leader: bool, exclusive: bool, reads: u64) -> abi::perf_event_attr {
        let mut attr = abi::perf_event_attr {
            size: size_of::<abi::perf_event_attr>() as u32,
            read_format: u64::from(
                abi::PERF_FORMAT_GROUP
                    | abi::PERF_FORMAT_TOTAL_TIME_ENABLED
                    | abi::PERF_FORMAT_TOTAL_TIME_RUNNING,
            ),
            ..Default::default()
        };
        match self.ask {
            Ask::Hardware(hardware) => {
                attr.type_ = hardware.pmu;
                attr.config = hardware.config;
                attr.__bindgen_anon_3.config1 = hardware.config1 | reads;
                attr.__bindgen_anon_4.config2 = hardware.config2;
                attr.set_exclude_user(u64::from(!hardware.user));
                attr.set_exclude_kernel(u64::from(!hardware.kernel));
                attr.set_exclude_hv(1);
            }
            Ask::Software(software) => {
                attr.type_ = abi::PERF_TYPE_SOFTWARE;
                attr.config = software.config;
                attr.set_exclude_user(u64::from(!software.in_user));
                attr.set_exclude_kernel(u64::from(!software.in_kernel));
                attr.set_exclude_hv(1);
            }
        }
        attr.set_disabled(u64::from(leader));
        // Linux's driver for Arm (`drivers/perf/arm_pmu.c`, `validate_event`) leaves a disabled leader out when it checks
        // that a group fits, unless exec enables it. The descriptors close at exec, and `stat` enables before it.
        attr.set_enable_on_exec(u64::from(leader && cfg!(target_arch = "aarch64")));
        attr.set_pinned(u64::from(leader && exclusive));
        attr
    }
}

/// The member that the kernel refused, and its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResolveError {
    pub(super) member: usize,
    pub(super) errno: Errno,
}

/// The descriptors of one group, closed together.
#[derive(Debug)]
pub(super) struct Group<S: PerfSys + Clone> {
    sys: S,
    descriptors: Vec<Own>,
    /// The reservation of counter pages; `None` if they are not used.
    pages: Option<NonNull<u8>>,
    /// The slot in the table of live groups, for real kernels.
    slot: Option<usize>,
    generation: u32,
}

// SAFETY: the pages are mapped memory that any thread may unmap, and descriptors belong to the
// process. Only reads through the pages must stay on one thread, and the reader is not `Send`.
unsafe impl<S: PerfSys + Clone> Send for Group<S> {}
// SAFETY: `&Group` only offers system calls.
unsafe impl<S: PerfSys + Clone> Sync for Group<S> {}

impl<S: PerfSys + Clone> Group<S> {
    /// Opens the members as one group that counts `target`, not yet enabled.
    ///
    /// For user reads it also maps every member's counter page. If the kernel refuses that (the
    /// limit on locked memory), the group has no pages.
    pub(super) fn open(
        sys: &S,
        members: &[Member],
        target: Target,
        exclusive: bool,
        user_reads: UserReads,
    ) -> Result<Group<S>, ResolveError> {
        let open = |map, reads| Group::open_asking(sys, members, target, exclusive, map, reads);
        if user_reads != UserReads::OnRequest {
            return open(user_reads != UserReads::Missing, 0);
        }
        // All counters of a group are read at one width. Before Armv8.5 there are 64 bits for the cycle
        // counter alone. Linux withholds that on SMT cores and says so only by not counting: so a group of
        // cycles asks for 32 bits.
        let asked: &[u64] = match members.iter().all(Member::counts_arm_cycles) {
            true => &[USER_ACCESS],
            false => &[USER_ACCESS | LONG, USER_ACCESS],
        };
        // Without them the kernel reads: a count does not depend on user reads.
        let granted = asked.iter().find_map(|reads| open(true, *reads).ok());
        granted.map_or_else(|| open(false, 0), Ok)
    }

    fn open_asking(
        sys: &S,
        members: &[Member],
        target: Target,
        exclusive: bool,
        map: bool,
        reads: u64,
    ) -> Result<Group<S>, ResolveError> {
        // Held during the whole opening, so that a fork on another thread waits.
        let mut table = sys.is_real().then(live::lock);
        let mut group = Group {
            sys: sys.clone(),
            descriptors: Vec::with_capacity(members.len()),
            pages: None,
            slot: None,
            generation: live::generation(),
        };
        for (index, member) in members.iter().enumerate() {
            let leader = group.descriptors.first().map(|own| own.fd);
            let mut attr = member.attr(leader.is_none(), exclusive, reads);
            let opened = sys.open(&mut attr, target, leader.unwrap_or(-1)).and_then(|fd| {
                let id = sys.id(fd).inspect_err(|_| sys.close(fd))?;
                Ok(Own { fd, id })
            });
            match opened {
                Ok(own) => group.descriptors.push(own),
                Err(errno) => {
                    group.close();
                    return Err(ResolveError { member: index, errno });
                }
            }
        }
        if map {
            group.map();
        }
        if let Some(table) = table.as_mut() {
            group.slot = Some(table.insert(LiveGroup {
                descriptors: group.descriptors.clone(),
                base: group.pages.map_or(0, |base| base.as_ptr() as usize),
                pages: if group.pages.is_some() { members.len() } else { 0 },
            }));
        }
        Ok(group)
    }

    fn map(&mut self) {
        let Ok(base) = self.sys.reserve(self.descriptors.len()) else { return };
        for (slot, own) in self.descriptors.iter().enumerate() {
            // SAFETY: the reservation above has a page for each descriptor.
            if unsafe { self.sys.map(own.fd, base, slot) }.is_err() {
                // SAFETY: the reservation is ours and nothing points into it yet.
                unsafe { self.sys.release(base, self.descriptors.len()) };
                return;
            }
        }
        self.pages = Some(base);
    }

    /// Starts all members at once. Only rotating event sets are ever stopped again.
    pub(super) fn enable(&self) -> Result<(), Errno> {
        self.switch(true)
    }

    /// Stops all members at once.
    pub(super) fn disable(&self) -> Result<(), Errno> {
        self.switch(false)
    }

    /// Starts or stops the members; `EBADF` if the descriptor is no longer ours.
    ///
    /// An identity check takes a system call, so it waits until there is a reason. Reasons are that
    /// another group got one of our numbers, or that our page contradicts a switch by the kernel.
    /// In that case the switch changed a foreign event, and this function starts it again.
    fn switch(&self, on: bool) -> Result<(), Errno> {
        let pages = self.pages().filter(|_| !live::are_descriptors_distrusted());
        let Some(pages) = pages else { return self.switch_descriptor(self.leader()?, on) };
        let own = self.descriptors[0];
        self.switch_descriptor(own.fd, on)?;
        // A pinned group without a counter is ours and does not count.
        if pages.is_counting(0) == on || self.holds(own)? {
            return Ok(());
        }
        live::distrust_descriptors();
        if !on {
            self.switch_descriptor(own.fd, true)?;
        }
        Err(Errno(libc::EBADF))
    }

    fn switch_descriptor(&self, fd: RawFd, on: bool) -> Result<(), Errno> {
        let done = if on { self.sys.enable_group(fd) } else { self.sys.disable_group(fd) };
        // Another kind of file has the number.
        done.map_err(|errno| if errno.0 == libc::ENOTTY { Errno(libc::EBADF) } else { errno })
    }

    /// `read(2)` of the whole group; `EBADF` if its descriptor is no longer ours.
    #[inline]
    pub(super) fn read(&self, into: &mut [u64]) -> Result<usize, Errno> {
        self.sys.read(self.leader()?, into)
    }

    /// The leader's descriptor, after a check that it is still ours. A read from another file would
    /// take data from the program.
    #[inline]
    fn leader(&self) -> Result<RawFd, Errno> {
        let own = self.descriptors[0];
        if self.holds(own)? { Ok(own.fd) } else { Err(Errno(libc::EBADF)) }
    }

    /// Whether a descriptor is still the group's; an error if the system does not answer.
    #[inline]
    fn holds(&self, own: Own) -> Result<bool, Errno> {
        match self.sys.id(own.fd) {
            Ok(id) => Ok(id == own.id),
            // The number is free, or belongs to a file of another kind.
            Err(Errno(libc::EBADF | libc::ENOTTY)) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    /// Whether this process opened the group, and did not inherit it over a fork.
    #[inline]
    pub(super) fn is_ours(&self) -> bool {
        self.generation == live::generation()
    }

    /// The counter pages, if they are mapped.
    pub(super) fn pages(&self) -> Option<Pages> {
        // SAFETY: every page of the reservation was mapped, and stays mapped until
        // the group is dropped; readers own the group.
        self.pages.map(|base| unsafe { Pages::new(base) })
    }

    pub(super) fn sys(&self) -> &S {
        &self.sys
    }

    pub(super) fn len(&self) -> usize {
        self.descriptors.len()
    }

    fn close(&mut self) {
        if let Some(base) = self.pages.take() {
            // SAFETY: the reservation is ours; dropping the group ends its readers.
            unsafe { self.sys.release(base, self.descriptors.len()) };
        }
        // In a forked child the fork handler has closed the descriptors, and other files may
        // have their numbers.
        if self.is_ours() {
            // Siblings first: closing the leader first would make each of them a group of its own
            // for a moment, and schedule it.
            for own in self.descriptors.iter().rev() {
                // The program may have closed the descriptor, and opened another file under its
                // number. A failed check is repeated, because a pinned counter that stays open is
                // lost to all others.
                if self.holds(*own).or_else(|_| self.holds(*own)) == Ok(true) {
                    self.sys.close(own.fd);
                }
            }
        }
        self.descriptors.clear();
    }
}

impl<S: PerfSys + Clone> Drop for Group<S> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            let mut table = live::lock();
            self.close();
            table.remove(slot);
        } else {
            self.close();
        }
    }
}
