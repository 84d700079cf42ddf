//! A kernel that counts, except for calls that a test lets it refuse.

use std::alloc::Layout;
use std::collections::BTreeMap;
use std::os::fd::RawFd;
use std::ptr::NonNull;
use std::sync::Arc;

use parking_lot::Mutex;
use perf_event_open_sys::bindings::{self as abi, perf_event_attr, perf_event_mmap_page};

use pacman_core::backend::Target;
use pacman_core::backend::perf::{Errno, PAGE, PerfSys, RawCount, Register};

/// A request to `open`: the attributes that a rule looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    /// The number of earlier opens.
    pub(super) call: usize,
    pub(super) hardware: bool,
    pub(super) kernel: bool,
    pub(super) config: u64,
    /// Descriptors already in the group that it would join.
    pub(super) group: usize,
    /// Descriptors open in the whole process.
    pub(super) open: usize,
    /// A request too short to be one.
    pub(super) void: bool,
}

type Rule = Arc<dyn Fn(&Ask) -> Option<i32> + Send + Sync>;

/// The fake, shared by all its clones.
#[derive(Clone)]
pub(super) struct Fake {
    state: Arc<Mutex<State>>,
    refuses: Rule,
    /// Whether counter pages grant user-mode reads.
    rdpmc: bool,
    /// RDPMC reads 0.
    hidden: bool,
    /// The `errno` of mapping a counter page.
    unmappable: Option<i32>,
    /// Hardware counters never move.
    silent: bool,
    /// Groups of more members than this never get their counters.
    scheduled: usize,
}

#[derive(Default)]
struct State {
    calls: usize,
    next: RawFd,
    /// Each open descriptor: its leader, and whether it is a hardware event.
    open: BTreeMap<RawFd, (RawFd, bool)>,
    clock: u64,
}

impl Fake {
    pub(super) fn counting() -> Fake {
        Fake {
            state: Arc::default(),
            refuses: Arc::new(|_| None),
            rdpmc: true,
            hidden: false,
            unmappable: None,
            silent: false,
            scheduled: usize::MAX,
        }
    }

    /// Refuses what `rule` gives an `errno` for.
    pub(super) fn refusing(
        mut self,
        rule: impl Fn(&Ask) -> Option<i32> + Send + Sync + 'static,
    ) -> Fake {
        self.refuses = Arc::new(rule);
        self
    }

    pub(super) fn without_rdpmc(mut self) -> Fake {
        self.rdpmc = false;
        self
    }

    pub(super) fn hiding_counters(mut self) -> Fake {
        self.hidden = true;
        self
    }

    pub(super) fn unmappable(mut self, errno: i32) -> Fake {
        self.unmappable = Some(errno);
        self
    }

    pub(super) fn silent(mut self) -> Fake {
        self.silent = true;
        self
    }

    pub(super) fn scheduling_at_most(mut self, members: usize) -> Fake {
        self.scheduled = members;
        self
    }

    pub(super) fn left_open(&self) -> usize {
        self.state.lock().open.len()
    }

    fn members(&self, leader: RawFd) -> Vec<bool> {
        self.state.lock().open.values().filter(|o| o.0 == leader).map(|o| o.1).collect()
    }
}

impl PerfSys for Fake {
    fn is_real(&self) -> bool {
        false
    }

    fn open(
        &self,
        attr: &mut perf_event_attr,
        _target: Target,
        group: RawFd,
    ) -> Result<RawFd, Errno> {
        let mut state = self.state.lock();
        let hardware = attr.type_ != abi::PERF_TYPE_SOFTWARE;
        let void = attr.size < abi::PERF_ATTR_SIZE_VER0;
        let ask = Ask {
            call: state.calls,
            hardware,
            kernel: attr.exclude_kernel() == 0,
            config: attr.config,
            group: state.open.values().filter(|open| open.0 == group).count(),
            open: state.open.len(),
            void,
        };
        state.calls += 1;
        if let Some(errno) = (self.refuses)(&ask) {
            return Err(Errno(errno));
        }
        if void {
            return Err(Errno(libc::E2BIG));
        }
        let fd = 100 + state.next;
        state.next += 1;
        state.open.insert(fd, (if group < 0 { fd } else { group }, hardware));
        Ok(fd)
    }

    fn id(&self, fd: RawFd) -> Result<u64, Errno> {
        Ok(fd as u64)
    }

    fn close(&self, fd: RawFd) {
        assert!(self.state.lock().open.remove(&fd).is_some(), "{fd} was not open");
    }

    fn enable_group(&self, _leader: RawFd) -> Result<(), Errno> {
        Ok(())
    }

    fn disable_group(&self, leader: RawFd) -> Result<(), Errno> {
        unreachable!("{leader} is not multiplexed");
    }

    fn read(&self, leader: RawFd, into: &mut [u64]) -> Result<usize, Errno> {
        let members = self.members(leader);
        if members.len() > self.scheduled && members[0] {
            // A pinned group without counters reads as the end of a file.
            return Ok(0);
        }
        let mut state = self.state.lock();
        state.clock += 1000;
        into[..3].copy_from_slice(&[members.len() as u64, state.clock, state.clock]);
        for (count, hardware) in into[3..].iter_mut().zip(&members) {
            *count = if *hardware && self.silent { 0 } else { state.clock };
        }
        Ok(into.len())
    }

    fn reserve(&self, pages: usize) -> Result<NonNull<u8>, Errno> {
        // SAFETY: the layout is not empty: groups have members.
        let base = unsafe { std::alloc::alloc_zeroed(layout(pages)) };
        NonNull::new(base).ok_or(Errno(libc::ENOMEM))
    }

    unsafe fn map(&self, _fd: RawFd, base: NonNull<u8>, slot: usize) -> Result<(), Errno> {
        if let Some(errno) = self.unmappable {
            return Err(Errno(errno));
        }
        // SAFETY: the caller promises that the reservation has this slot. It is aligned and zeroed,
        // and no thread reads it yet.
        let page = unsafe { &mut *base.as_ptr().add(slot * PAGE).cast::<perf_event_mmap_page>() };
        page.index = 1 + slot as u32;
        page.pmc_width = 48;
        page.__bindgen_anon_1.capabilities = if self.rdpmc { 0b110 } else { 0b010 };
        Ok(())
    }

    unsafe fn release(&self, base: NonNull<u8>, pages: usize) {
        // SAFETY: the caller vouches that this is one reservation, from `reserve`.
        unsafe { std::alloc::dealloc(base.as_ptr(), layout(pages)) };
    }

    unsafe fn read_counter(&self, _: Register) -> RawCount {
        let mut state = self.state.lock();
        state.clock += 1;
        RawCount::simulated(if self.silent || self.hidden { 0 } else { state.clock })
    }
}

fn layout(pages: usize) -> Layout {
    Layout::from_size_align(pages * PAGE, PAGE).expect("whole pages")
}
