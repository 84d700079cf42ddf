//! Reading the counters: by RDPMC if user programs may, else through the device.

use std::cell::Cell;
use std::marker::PhantomData;

use crate::backend::{Caps, Counters, ReadPath, Reading};
use pacman_events::Result;

use super::programmed::ProgrammedContext;
use super::undo::UndoLog;
use super::wide_count::WideCount;
use crate::seam::MsrIo;

/// The fastest reader that this machine and this set of events allow.
pub(super) fn counters<M: MsrIo + Clone>(
    held: ProgrammedContext<M>,
    width: u8,
    rdpmc: bool,
) -> Box<dyn Counters> {
    let in_order = held.slots().iter().enumerate().all(|(at, slot)| slot.place == at);
    let by_device = DeviceCounters::over(held, width, false);
    if !rdpmc {
        return Box::new(by_device);
    }
    macro_rules! unrolled {
        ($($n:literal)*) => {
            match by_device.turns.len() {
                $($n if in_order => Box::new(RdpmcCounters::<M, $n>::over(by_device)),)*
                _ => Box::new(AnyRdpmcCounters { by_device }),
            }
        };
    }
    unrolled!(1 2 3 4 5 6 7 8)
}

/// As [`WideCount::advance`], of one in a cell.
fn advance(turns: &Cell<WideCount>, (low, high): (u64, u64), width: u8) -> u64 {
    let mut known = turns.get();
    let count = known.advance(low, high, width);
    turns.set(known);
    count
}

/// A reader for a thread that runs anywhere. RDPMC would read the counters of the CPU that the
/// thread runs on.
pub(super) fn from_outside<M: MsrIo + Clone>(
    held: ProgrammedContext<M>,
    width: u8,
) -> Box<dyn Counters> {
    Box::new(DeviceCounters::over(held, width, true))
}

/// Counters read through the device, a system call each.
struct DeviceCounters<M: MsrIo + Clone> {
    io: M,
    width: u8,
    places: Vec<usize>,
    turns: Vec<Cell<WideCount>>,
    held: ProgrammedContext<M>,
    /// The reading thread need not run on the counters' CPU.
    outside: bool,
    /// Counts are those of the context that the opening thread was bound to.
    one_thread: PhantomData<*const ()>,
}

impl<M: MsrIo + Clone> DeviceCounters<M> {
    fn over(held: ProgrammedContext<M>, width: u8, outside: bool) -> DeviceCounters<M> {
        let slots = held.slots();
        DeviceCounters {
            io: held.io().clone(),
            width,
            places: slots.iter().map(|slot| slot.place).collect(),
            turns: slots.iter().map(|slot| Cell::new(WideCount::new(slot.index))).collect(),
            held,
            outside,
            one_thread: PhantomData,
        }
    }

    /// An error unless the thread runs where its counters are, and still owns them.
    #[cold]
    fn check_place(&self) -> Result<()> {
        let now = if self.outside { self.held.site().cpu } else { self.io.cpu() };
        if now == self.held.log().bound() { Ok(()) } else { Err(self.held.elsewhere(now)) }
    }
}

impl<M: MsrIo + Clone> Counters for DeviceCounters<M> {
    fn read(&self, into: &mut Reading) -> Result<()> {
        self.check_place()?;
        for at in 0..self.turns.len() {
            let value = self.held.read(self.held.slots()[at].msr)?;
            self.io.between_loads();
            into.counts[self.places[at]] =
                advance(&self.turns[at], (value & 0xffff_ffff, value >> 32), self.width);
        }
        self.held.verify()?;
        self.check_place()
    }

    fn verify(&mut self) -> Result<()> {
        self.held.verify()
    }

    fn caps(&self) -> Caps {
        let (width, simulated) = (Some(self.width), !self.io.is_real());
        Caps { width, simulated, ..Caps::of(ReadPath::ReadCall) }
    }
}

/// `N` counters read with RDPMC into the first `N` places.
struct RdpmcCounters<M: MsrIo + Clone, const N: usize> {
    io: M,
    log: &'static UndoLog,
    turns: [Cell<WideCount>; N],
    by_device: DeviceCounters<M>,
}

impl<M: MsrIo + Clone, const N: usize> RdpmcCounters<M, N> {
    fn over(by_device: DeviceCounters<M>) -> RdpmcCounters<M, N> {
        let turns = std::array::from_fn(|at| by_device.turns[at].clone());
        RdpmcCounters { io: by_device.io.clone(), log: by_device.held.log(), turns, by_device }
    }

    /// Reads after a counter has passed another 2^32, and also checks that the counter is still
    /// ours.
    #[cold]
    fn read_anew(&self, into: &mut Reading) -> Result<()> {
        for (turns, count) in self.turns.iter().zip(&mut into.counts) {
            // SAFETY: as in `read`.
            let read = unsafe { self.io.rdpmc(turns.get().index) };
            self.io.between_loads();
            *count = advance(turns, read, self.by_device.width);
        }
        self.by_device.held.verify()?;
        self.by_device.check_place()
    }
}

impl<M: MsrIo + Clone, const N: usize> Counters for RdpmcCounters<M, N> {
    fn read(&self, into: &mut Reading) -> Result<()> {
        for (turns, count) in self.turns.iter().zip(&mut into.counts) {
            // SAFETY: user RDPMC was allowed when the counters were opened, and the
            // allocator chose counters that every context of this model has.
            let (low, high) = unsafe { self.io.rdpmc(turns.get().index) };
            self.io.between_loads();
            match turns.get().count(low, high) {
                Some(counted) => *count = counted,
                None => return self.read_anew(into),
            }
        }
        // Last, so that it notices a move of the thread at any time during the read.
        if self.io.runs_on(self.log.bound()) {
            return Ok(());
        }
        self.by_device.check_place()
    }

    fn verify(&mut self) -> Result<()> {
        self.by_device.verify()
    }

    fn caps(&self) -> Caps {
        Caps { read_path: ReadPath::Rdpmc, ..self.by_device.caps() }
    }
}

/// Like [`RdpmcCounters`], for more events and for those of a set that leaves places out.
struct AnyRdpmcCounters<M: MsrIo + Clone> {
    by_device: DeviceCounters<M>,
}

impl<M: MsrIo + Clone> Counters for AnyRdpmcCounters<M> {
    fn read(&self, into: &mut Reading) -> Result<()> {
        let DeviceCounters { io, width, places, turns, held, .. } = &self.by_device;
        let mut known = true;
        for (turns, place) in turns.iter().zip(places) {
            // SAFETY: as for `RdpmcCounters`.
            let (low, high) = unsafe { io.rdpmc(turns.get().index) };
            io.between_loads();
            known &= turns.get().count(low, high).is_some();
            into.counts[*place] = advance(turns, (low, high), *width);
        }
        if !known {
            held.verify()?;
        }
        self.by_device.check_place()
    }

    fn verify(&mut self) -> Result<()> {
        self.by_device.verify()
    }

    fn caps(&self) -> Caps {
        Caps { read_path: ReadPath::Rdpmc, ..self.by_device.caps() }
    }
}
