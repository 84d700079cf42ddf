//! The types of the counting seam, below every backend.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::seam::Target;
use pacman_events::{Error, ErrorKind, Result};

/// The most events that are counted at a time.
///
/// Samples are fixed arrays of this size, so that no read ever allocates. The largest
/// PMU here, a Pentium 4's, has 18 counters; what is left is for the kernel's own events.
pub const MAX_EVENTS: usize = 24;

/// The refusal of more events than [`MAX_EVENTS`]; `need` is empty, or says what they take.
#[cold]
pub(crate) fn too_many(events: usize, need: &str) -> Error {
    Error::new(
        ErrorKind::TooManyEvents,
        format!(
            "cannot count {events} events at once{need}: {MAX_EVENTS} is the most; split them over \
             several sessions or runs"
        ),
    )
}

/// The counters of a thread at one moment.
///
/// Counts are raw: they only grow, and mean nothing but by their differences.
/// Laid out as the kernel answers `read(2)` of a group, which thus needs no copy.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Reading {
    /// The number of counts that follow, which the kernel puts first.
    pub(crate) members: u64,
    /// Nanoseconds that the group was enabled while its thread ran, as the last
    /// system call told; RDPMC leaves it alone.
    pub enabled_ns: u64,
    /// Nanoseconds of these that the group was on hardware counters.
    pub running_ns: u64,
    /// One count an event, in the order of the session's events.
    pub counts: [u64; MAX_EVENTS],
}

impl Reading {
    /// All zeros: the place to read into.
    pub const EMPTY: Reading =
        Reading { members: 0, enabled_ns: 0, running_ns: 0, counts: [0; MAX_EVENTS] };

    /// The count of event number `event` from `earlier` to this reading.
    ///
    /// # Panics
    /// If `event` is [`MAX_EVENTS`] or more.
    #[inline]
    pub fn count_since(&self, earlier: &Reading, event: usize) -> u64 {
        self.counts[event].wrapping_sub(earlier.counts[event])
    }

    /// Times enabled and running since `earlier`.
    #[inline]
    pub(crate) fn times_since(&self, earlier: &Reading) -> (u64, u64) {
        (
            self.enabled_ns.wrapping_sub(earlier.enabled_ns),
            self.running_ns.wrapping_sub(earlier.running_ns),
        )
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading")
            .field("enabled_ns", &self.enabled_ns)
            .field("running_ns", &self.running_ns)
            .field("counts", &without_last_zeros(&self.counts))
            .finish()
    }
}

/// The counts without the zeros that follow the last one: most sessions have few events.
pub(crate) fn without_last_zeros(counts: &[u64]) -> &[u64] {
    let end = counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
    &counts[..end]
}

/// Sums that [`Counters::add_since`] adds to, one an event; those beyond the events mean nothing.
pub type EventSums = [AtomicU64; MAX_EVENTS];

/// Adds to each of `sums` what its event counted from `begun` to `counts`.
///
/// The calling thread alone writes the sums; others may look at them at any time.
#[inline(always)]
pub(crate) fn add_differences(counts: &[u64], begun: &Reading, sums: &EventSums) {
    for ((sum, now), before) in sums.iter().zip(counts).zip(&begun.counts) {
        let counted = now.wrapping_sub(*before);
        sum.store(sum.load(Ordering::Relaxed).wrapping_add(counted), Ordering::Relaxed);
    }
}

/// The abilities of a backend on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caps {
    /// How a count gets from the counter to the program.
    pub read_path: ReadPath,
    /// The bits of a hardware counter; `None` where only software counts.
    pub width: Option<u8>,
    /// The kernel may multiplex groups, so that counts may miss a part
    /// of the time; each reading then tells how much.
    pub multiplexed: bool,
    /// The machine is a simulation: every report must say so.
    pub simulated: bool,
    /// Why hardware counts may be wrong, if they may: every report must say so.
    pub doubt: Option<&'static str>,
    /// Why counts are read by a system call although the kernel offers user-mode reads.
    pub no_user_reads: Option<NoUserReads>,
}

impl Caps {
    /// Counts of real events that are never multiplexed or doubted, of no hardware counter.
    pub(crate) const fn of(read_path: ReadPath) -> Caps {
        Caps {
            read_path,
            width: None,
            multiplexed: false,
            simulated: false,
            doubt: None,
            no_user_reads: None,
        }
    }
}

/// Why a group is not read in user mode although its counter pages offer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoUserReads {
    /// RDPMC reads other counts than the kernel has, as where the processor hides counters from user mode.
    OtherCounts,
    /// The events were on no counters when they were opened, so that RDPMC could not be compared with the kernel.
    OffCounters,
}

/// How a count gets from the counter to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadPath {
    /// RDPMC, or MRS on AArch64, in user mode under the kernel page's sequence lock: no system call.
    Rdpmc,
    /// One `read(2)` of the whole group.
    ReadCall,
}

/// The counters of one target, read by the thread that opened them.
///
/// Not `Send`: RDPMC answers for whichever thread executes it. Readings take a shared reference, because a
/// signal handler may read while its thread is inside of a reading. What a reading keeps is in cells.
pub trait Counters {
    /// Reads all counts at once.
    ///
    /// # Errors
    /// `NotScheduled` when the kernel took the counters away, `Forked` in a
    /// child process, `System` for what else the kernel says.
    fn read(&self, into: &mut Reading) -> Result<()>;

    /// Reads all counts at once, and adds to each of `sums` what its event counted since
    /// `begun`.
    ///
    /// # Errors
    /// As for [`read`](Self::read); nothing is added then.
    fn add_since(&self, begun: &Reading, sums: &EventSums) -> Result<()> {
        let mut now = Reading::EMPTY;
        self.read(&mut now)?;
        add_differences(&now.counts, begun, sums);
        Ok(())
    }

    /// The abilities of these counters.
    fn caps(&self) -> Caps;

    /// Checks more thoroughly than a read that all counts until now come from these counters.
    ///
    /// # Errors
    /// `Conflict` if another program has taken the counters over, at an unknown time.
    fn verify(&mut self) -> Result<()> {
        Ok(())
    }

    /// Leaves the hardware to other counters of this thread until [`resume`](Self::resume);
    /// false if they leave it only by being dropped.
    ///
    /// Neither this nor `resume` calls a cancellation point of the C library: sessions call both in
    /// mid-phase. `ioctl(2)` is none.
    ///
    /// # Errors
    /// `System` for what the kernel says.
    fn stand_by(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Counts on after [`stand_by`](Self::stand_by).
    ///
    /// # Errors
    /// As for [`stand_by`](Self::stand_by).
    fn resume(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A set of events, ready to be counted for any thread.
pub trait Backend: Send + Sync {
    /// Opens counters for `target`, started and never stopped again.
    ///
    /// Only the caller's own counters may be read without a system call.
    ///
    /// # Errors
    /// `Permission`, `NoPmu`, `Conflict`, `NoDescriptors`, `NotScheduled`,
    /// `System`, by what stood in the way; `Unsupported` for a target that these
    /// events cannot be counted for, `PlaceNotAllowed` for a context that is offline.
    /// Nothing stays open then.
    fn open(&self, target: Target) -> Result<Box<dyn Counters>>;
}
