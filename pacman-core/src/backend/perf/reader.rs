//! Reading a thread's group: by RDPMC where the kernel allows it, else by `read(2)`.

use std::cell::{Cell, OnceCell};
use std::marker::PhantomData;
use std::sync::Arc;

use crate::arch;
use crate::backend::{
    Caps, Counters, EventSums, MAX_EVENTS, NoUserReads, ReadPath, Reading, Target, add_differences,
};
use pacman_events::{Error, Result};
use pacman_topology::cancel;

use super::accounting::Ledgers;
use super::conflict;
use super::group::{Group, HEADER};
use super::page::{CounterLocation, CounterLocations, OffCounter, Pages, PagesOf};
use super::plan::Sharing;
use super::prepared::Prepared;
use super::topdown::TopDownCounters;
use super::user_reads::Offered;
use crate::seam::PerfSys;

/// The fastest reader that this group allows.
///
/// # Errors
/// `NotScheduled` when an exclusive group did not get its counters.
pub(super) fn counters<S: PerfSys + Clone>(
    group: Option<Group<S>>,
    accounting: Option<Ledgers>,
    prepared: Arc<Prepared>,
    target: Target,
) -> Result<Box<dyn Counters>> {
    let mut by_call = CallCounters {
        group,
        accounting,
        exclusive: prepared.plan.sharing == Sharing::Pinned,
        counts: prepared.plan.members.len(),
        unread: prepared.plan.unread,
        prepared,
        target,
        competitor: OnceCell::new(),
        no_user_reads: None,
        one_thread: PhantomData,
    };
    // A group that did not fit says so now, not at the first phase.
    let mut first = Reading::EMPTY;
    by_call.read(&mut first)?;
    let Some((pages, width)) = by_call.readable_pages() else {
        return Ok(Box::new(by_call));
    };
    let topdown = by_call.prepared.plan.topdown();
    let places: Vec<usize> = topdown.iter().map(|(place, _)| *place).collect();
    let (sys, members) = (by_call.sys(), by_call.len());
    let offered = Offered { sys, pages, width, members, topdown: &places };
    if let Some(obstacle) = offered.obstacle(&first, |into| by_call.read(into))? {
        by_call.no_user_reads = Some(obstacle);
        return Ok(Box::new(by_call));
    }
    if !topdown.is_empty() {
        let (sys, members) = (by_call.sys().clone(), by_call.len());
        return Ok(Box::new(TopDownCounters::new((sys, pages, width), members, topdown, by_call)));
    }
    Ok(by_pages(by_call, pages, width))
}

/// The reader of the pages. A function of its own, because its many values take stack that attaching needs while it reads.
#[inline(never)]
fn by_pages<S: PerfSys + Clone>(
    by_call: CallCounters<S>,
    pages: Pages,
    width: u8,
) -> Box<dyn Counters> {
    macro_rules! by_page {
        ($($n:literal)*) => {
            match (by_call.len(), u32::from(width)) {
                $(($n, arch::WIDTH) => {
                    PageCounters::<S, $n, { arch::WIDTH }>::boxed(pages, by_call)
                })*
                $(($n, bits) if bits == arch::OTHER_WIDTH => {
                    PageCounters::<S, $n, { arch::OTHER_WIDTH }>::boxed(pages, by_call)
                })*
                (n, _) => {
                    let (sys, locations) = (by_call.sys().clone(), CounterLocations::unknown_of(n));
                    Box::new(AnyPageCounters { sys, pages, width, locations, by_call })
                }
            }
        };
    }
    by_page!(1 2 3 4 5 6 7 8)
}

/// A reading as the words that the kernel answers, the first `words` of them.
#[inline(always)]
fn answer(into: &mut Reading, words: usize) -> &mut [u64] {
    const { assert!(size_of::<Reading>() == (HEADER + MAX_EVENTS) * size_of::<u64>()) };
    assert!(words <= HEADER + MAX_EVENTS);
    // SAFETY: a reading is `repr(C)` and nothing but that many words of 64 bits.
    unsafe { std::slice::from_raw_parts_mut(std::ptr::from_mut(into).cast::<u64>(), words) }
}

/// Counters read with one `read(2)` of the group, and the accounting if any.
struct CallCounters<S: PerfSys + Clone> {
    group: Option<Group<S>>,
    accounting: Option<Ledgers>,
    exclusive: bool,
    /// How many counts `read(2)` answers, and how many of them at the front are no event's.
    counts: usize,
    unread: usize,
    prepared: Arc<Prepared>,
    target: Target,
    /// The owner of the counters that the group has lost. A lost group stays lost, and the search
    /// takes system calls.
    competitor: OnceCell<String>,
    /// Why the group is not read by RDPMC although its pages offer it.
    no_user_reads: Option<NoUserReads>,
    /// Readers stay on the thread that opened them.
    one_thread: PhantomData<*const ()>,
}

impl<S: PerfSys + Clone> CallCounters<S> {
    /// How many members are read.
    fn len(&self) -> usize {
        self.group.as_ref().map_or(0, |group| group.len() - self.unread)
    }

    /// The counter pages of the members that are read, and their width, if all can be read in user mode now.
    fn readable_pages(&self) -> Option<(Pages, u8)> {
        let pages = self.group.as_ref()?.pages()?.behind(self.unread);
        let width = pages.rdpmc_width(0)?;
        (0..self.len()).all(|slot| pages.rdpmc_width(slot) == Some(width)).then_some((pages, width))
    }

    fn sys(&self) -> &S {
        self.group.as_ref().expect("pages belong to a group").sys()
    }

    #[cold]
    fn off_counters(&self) -> Error {
        let Prepared { plan, permissions, .. } = &*self.prepared;
        if self.competitor.get().is_none() {
            let found = cancel::put_off_during(|| {
                conflict::competitor(self.sys(), &plan.members, self.target, permissions)
            });
            // A signal handler that read meanwhile has found it, too.
            let _ = self.competitor.set(found);
        }
        self.prepared.off_counters(self.competitor.get().expect("it was just found"))
    }

    /// The counts have a hole, which a set that rotates may have.
    #[cold]
    fn waited(&self) -> Result<()> {
        match self.prepared.plan.sharing {
            Sharing::Rotating => Ok(()),
            Sharing::Pinned | Sharing::Multiplexed => Err(self.off_counters()),
        }
    }

    #[inline]
    fn read_group(&self, into: &mut Reading) -> Result<()> {
        let Some(group) = &self.group else { return Ok(()) };
        if !group.is_ours() {
            return Err(self.prepared.forked());
        }
        let words = HEADER + self.counts;
        match group.read(answer(into, words)) {
            // End of file: a pinned group lost its counters and is in error for good.
            Ok(got) if got < words => return Err(self.off_counters()),
            Ok(_) => {}
            Err(errno) => return Err(self.prepared.unreadable(errno)),
        }
        // Enabled without running: it waited, so an exclusive count has a hole.
        if into.enabled_ns != into.running_ns && (self.exclusive || into.running_ns == 0) {
            return self.waited();
        }
        Ok(())
    }
}

impl<S: PerfSys + Clone> Counters for CallCounters<S> {
    fn read(&self, into: &mut Reading) -> Result<()> {
        self.read_group(into)?;
        if let Some(accounting) = &self.accounting {
            accounting.read(&mut into.counts)?;
        }
        if self.unread > 0 {
            into.counts.copy_within(self.unread.., 0);
        }
        Ok(())
    }

    fn caps(&self) -> Caps {
        Caps {
            read_path: ReadPath::ReadCall,
            width: None,
            multiplexed: !self.exclusive,
            simulated: self.prepared.simulated,
            doubt: self.prepared.doubt(),
            no_user_reads: self.no_user_reads,
        }
    }

    fn stand_by(&mut self) -> Result<bool> {
        let Some(group) = &self.group else { return Ok(true) };
        if !group.is_ours() {
            return Err(self.prepared.forked());
        }
        group.disable().map_err(|errno| self.prepared.unswitched("off", errno))?;
        Ok(true)
    }

    fn resume(&mut self) -> Result<()> {
        let Some(group) = &self.group else { return Ok(()) };
        if !group.is_ours() {
            return Err(self.prepared.forked());
        }
        group.enable().map_err(|errno| self.prepared.unswitched("on", errno))
    }
}

/// Counters read from `N` pages with RDPMC, `WIDTH` bits wide.
struct PageCounters<S: PerfSys + Clone, const N: usize, const WIDTH: u32> {
    sys: S,
    pages: PagesOf<N>,
    locations: CounterLocations<[Cell<CounterLocation>; N]>,
    by_call: CallCounters<S>,
}

impl<S: PerfSys + Clone, const N: usize, const WIDTH: u32> PageCounters<S, N, WIDTH> {
    /// In a function of its own, so that the stack never has all sizes side by side.
    #[inline(never)]
    fn boxed(pages: Pages, by_call: CallCounters<S>) -> Box<dyn Counters> {
        let (sys, locations) = (by_call.sys().clone(), CounterLocations::unknown());
        Box::new(PageCounters::<S, N, WIDTH> { sys, pages: pages.of(), locations, by_call })
    }

    /// The locations have changed: the thread was switched out and in, or a
    /// counter overflowed.
    #[cold]
    fn read_anew(&self, into: &mut Reading) -> Result<()> {
        let counts = into.counts.first_chunk_mut().expect("N is at most MAX_EVENTS");
        // SAFETY: as in `read`.
        match unsafe { self.locations.read_anew::<S, WIDTH>(&self.sys, &self.pages, counts) } {
            Ok(()) => Ok(()),
            Err(OffCounter) => self.by_call.read(into),
        }
    }

    #[cold]
    fn add_anew(&self, begun: &Reading, sums: &EventSums) -> Result<()> {
        let mut now = Reading::EMPTY;
        self.read_anew(&mut now)?;
        add_differences(&now.counts[..N], begun, sums);
        Ok(())
    }
}

impl<S: PerfSys + Clone, const N: usize, const WIDTH: u32> Counters for PageCounters<S, N, WIDTH> {
    fn read(&self, into: &mut Reading) -> Result<()> {
        let counts = into.counts.first_chunk_mut().expect("N is at most MAX_EVENTS");
        // SAFETY: this thread opened the group (the reader is not `Send`), its pages
        // are mapped, and all of them offered user-mode reads.
        if unsafe { self.locations.read::<S, WIDTH>(&self.sys, &self.pages, counts) } {
            return Ok(());
        }
        self.read_anew(into)
    }

    fn add_since(&self, begun: &Reading, sums: &EventSums) -> Result<()> {
        // They stay in registers.
        let mut now = [0; N];
        // SAFETY: as in `read`.
        if unsafe { self.locations.read::<S, WIDTH>(&self.sys, &self.pages, &mut now) } {
            add_differences(&now, begun, sums);
            return Ok(());
        }
        self.add_anew(begun, sums)
    }

    fn caps(&self) -> Caps {
        Caps { read_path: ReadPath::Rdpmc, width: Some(WIDTH as u8), ..self.by_call.caps() }
    }

    fn stand_by(&mut self) -> Result<bool> {
        self.by_call.stand_by()
    }

    fn resume(&mut self) -> Result<()> {
        self.by_call.resume()
    }
}

/// As [`PageCounters`], for the rarer numbers of events and widths.
struct AnyPageCounters<S: PerfSys + Clone> {
    sys: S,
    pages: Pages,
    width: u8,
    locations: CounterLocations<Vec<Cell<CounterLocation>>>,
    by_call: CallCounters<S>,
}

impl<S: PerfSys + Clone> Counters for AnyPageCounters<S> {
    fn read(&self, into: &mut Reading) -> Result<()> {
        loop {
            let counts = &mut into.counts[..self.by_call.len()];
            // SAFETY: as for `PageCounters`.
            let read =
                unsafe { self.locations.read_any(&self.sys, self.pages, self.width, counts) };
            if read {
                return Ok(());
            }
            if self.locations.refresh(&self.sys, self.pages).is_err() {
                return self.by_call.read(into);
            }
        }
    }

    fn caps(&self) -> Caps {
        Caps { read_path: ReadPath::Rdpmc, width: Some(self.width), ..self.by_call.caps() }
    }

    fn stand_by(&mut self) -> Result<bool> {
        self.by_call.stand_by()
    }

    fn resume(&mut self) -> Result<()> {
        self.by_call.resume()
    }
}
