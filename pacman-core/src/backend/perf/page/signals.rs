//! Signal handlers that read the counters of the thread which they interrupt, after the kernel has moved the events.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::{Cell, RefCell};
use std::os::fd::RawFd;
use std::ptr::NonNull;

use perf_event_open_sys::bindings::{perf_event_attr, perf_event_mmap_page};

use super::{CounterLocation, CounterLocations, Pages};
use crate::arch::{RawCount, Register, WIDTH};
use crate::backend::Target;
use crate::seam::{Errno, PAGE, PerfSys};

const EVENTS: usize = 2;
/// The events stand still: whoever mixes two locations of an event sees another count.
const COUNTS: [u64; EVENTS] = [1_000, 2_000_000];

type Locations = CounterLocations<[Cell<CounterLocation>; EVENTS]>;

/// A signal at a load of the interrupted read. The kernel may move the events before its handler runs.
#[derive(Clone, Copy, Debug)]
struct Signal {
    at: u32,
    moves: bool,
}

/// The counter of a register: no two have the same.
fn counter(register: u32) -> u64 {
    u64::from(register) * 0x0010_3070 + 77
}

/// What the thread, its kernel and its signal handlers share.
struct Thread {
    pages: Pages,
    base: NonNull<u8>,
    locations: Locations,
    moved: Cell<u32>,
    signals: RefCell<Vec<Signal>>,
    /// Loads of the interrupted read so far; `None` outside of it, and in a handler.
    loads: Cell<Option<u32>>,
}

impl Thread {
    const LAYOUT: Layout = match Layout::from_size_align(EVENTS * PAGE, PAGE) {
        Ok(layout) => layout,
        Err(_) => unreachable!(),
    };

    fn new() -> Thread {
        // SAFETY: the layout has a size.
        let base = NonNull::new(unsafe { alloc_zeroed(Thread::LAYOUT) }).expect("memory");
        let thread = Thread {
            // SAFETY: two pages of zeros, which stay as long as the value.
            pages: unsafe { Pages::new(base) },
            base,
            locations: Locations::unknown(),
            moved: Cell::new(0),
            signals: RefCell::default(),
            loads: Cell::new(None),
        };
        thread.moves();
        thread
    }

    /// The kernel puts the events on other counters.
    fn moves(&self) {
        self.moved.set(self.moved.get() + 1);
        for (event, count) in COUNTS.iter().enumerate() {
            let register = (3 * self.moved.get() + event as u32) % 31;
            // SAFETY: the page is this thread's, and no reference to it exists.
            unsafe {
                let page = self.base.as_ptr().add(event * PAGE).cast::<perf_event_mmap_page>();
                (*page).lock += 2;
                (*page).index = register + 1;
                (*page).offset = count.wrapping_sub(counter(register)) as i64;
            }
        }
    }

    fn load(&self) {
        let Some(number) = self.loads.take() else { return };
        let due = |signal: &Signal| signal.at == number;
        let now: Vec<Signal> = self.signals.borrow().iter().copied().filter(due).collect();
        for signal in now {
            if signal.moves {
                self.moves();
            }
            assert_eq!(self.reads(), COUNTS, "by the handler of {signal:?}");
        }
        self.loads.set(Some(number + 1));
    }

    /// As the readers of a session do it.
    fn reads(&self) -> [u64; EVENTS] {
        let (sys, mut counts) = (self.sys(), [0; EVENTS]);
        // SAFETY: no processor's counter is read.
        unsafe {
            if !self.locations.read::<_, WIDTH>(&sys, self.pages, &mut counts) {
                let read = self.locations.read_anew::<_, WIDTH>(&sys, self.pages, &mut counts);
                if read.is_err() {
                    assert_eq!(self.loads.get(), None, "only a handler has to ask the kernel");
                    return COUNTS;
                }
            }
        }
        counts
    }

    fn sys(&self) -> Interrupted {
        Interrupted(std::ptr::from_ref(self))
    }

    /// Reads while the signals arrive; false if some would have come later.
    fn reads_under(&self, signals: &[Signal]) -> bool {
        self.signals.replace(signals.to_vec());
        self.loads.set(Some(0));
        let counts = self.reads();
        let loads = self.loads.take().expect("handlers have ended");
        assert_eq!(counts, COUNTS, "under {signals:?}");
        signals.iter().all(|signal| signal.at < loads)
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with the same layout.
        unsafe { dealloc(self.base.as_ptr(), Thread::LAYOUT) };
    }
}

/// The seam, through which signals arrive.
struct Interrupted(*const Thread);

// SAFETY: each value stays on the thread of its test.
unsafe impl Send for Interrupted {}
// SAFETY: as above.
unsafe impl Sync for Interrupted {}

impl PerfSys for Interrupted {
    fn is_real(&self) -> bool {
        false
    }

    fn open(&self, _: &mut perf_event_attr, _: Target, _: RawFd) -> Result<RawFd, Errno> {
        unreachable!("the pages are there")
    }

    fn id(&self, _: RawFd) -> Result<u64, Errno> {
        unreachable!()
    }

    fn close(&self, _: RawFd) {}

    fn enable_group(&self, _: RawFd) -> Result<(), Errno> {
        unreachable!()
    }

    fn disable_group(&self, _: RawFd) -> Result<(), Errno> {
        unreachable!()
    }

    fn read(&self, _: RawFd, _: &mut [u64]) -> Result<usize, Errno> {
        unreachable!("the events are on counters")
    }

    fn reserve(&self, _: usize) -> Result<NonNull<u8>, Errno> {
        unreachable!()
    }

    unsafe fn map(&self, _: RawFd, _: NonNull<u8>, _: usize) -> Result<(), Errno> {
        unreachable!()
    }

    unsafe fn release(&self, _: NonNull<u8>, _: usize) {}

    unsafe fn read_counter(&self, register: Register) -> RawCount {
        self.between_loads();
        RawCount::simulated(counter(register.index()))
    }

    fn between_loads(&self) {
        // SAFETY: the thread outlives the reads through its seam.
        unsafe { &*self.0 }.load();
    }
}

/// A read of known locations, and one that learns them.
const KNOWN: [bool; 2] = [true, false];

fn thread(is_known: bool) -> Thread {
    let thread = Thread::new();
    if is_known {
        assert_eq!(thread.reads(), COUNTS);
    }
    thread
}

#[test]
fn a_handler_that_learns_the_pages_anew_spoils_no_read() {
    for is_known in KNOWN {
        let mut at = 0;
        while thread(is_known).reads_under(&[Signal { at, moves: true }]) {
            at += 1;
        }
        assert!(at > 4, "{at} signals arrived in a read, known: {is_known}");
    }
}

/// The first handler learns what the interrupted read is about to store otherwise.
#[test]
fn a_second_handler_finds_no_mixture_of_locations() {
    for is_known in KNOWN {
        let mut pairs = 0;
        for first in 0.. {
            let signal = |at| Signal { at, moves: at == first };
            let arrive = |second| thread(is_known).reads_under(&[signal(first), signal(second)]);
            let arrived = (first + 1..).take_while(|second| arrive(*second)).count();
            if arrived == 0 {
                break;
            }
            pairs += arrived;
        }
        assert!(pairs > 10, "{pairs} pairs of signals, known: {is_known}");
    }
}
