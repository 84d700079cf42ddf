//! The energy of the packages around regions.
//!
//! The counters are of packages, not of threads. So one region at a time has the energy: the first that
//! begins outside of all others. Regions that other threads start meanwhile have none, and none is
//! counted twice.

use pacman_adapt::{EnergyReading, Rapl};
use pacman_core::Result;
use pacman_regions::arena::Energy;

use crate::arena;
use crate::isolation::isolated;
use crate::lock::Lock;
use crate::notes;
use crate::process;
use crate::recording;

/// The meter; `None` if no energy is read.
pub(crate) static METER: Lock<Option<Meter>> = Lock::new(None);

/// The energy of this process and its regions so far.
#[derive(Debug)]
pub(crate) struct Meter {
    rapl: Rapl,
    latest: EnergyReading,
    /// The nanojoules from the start of the process to the latest reading.
    nanojoules: u64,
    /// The ticks from the start of the process to the latest reading.
    ticks: u64,
    open: Option<OpenRegion>,
    process: Option<&'static Energy>,
    /// By number; `None` before its first execution, or without room for the record.
    regions: Vec<Option<&'static Energy>>,
}

/// The region that has the energy until it ends.
#[derive(Debug)]
struct OpenRegion {
    /// The thread that started it, by the address of its worker.
    primary: usize,
    nanojoules: u64,
    ticks: u64,
}

/// Starts to read energy. Notes why it cannot, and answers false.
pub(crate) fn open() -> bool {
    let meter = pacman_core::energy::detect().and_then(Meter::new);
    let meter = meter.map_err(|error| notes::note(format!("energy was not read: {error}"))).ok();
    let is_open = meter.is_some();
    *METER.lock() = meter;
    is_open
}

/// Reads no energy from now on.
pub(crate) fn stop() {
    if let Some(mut meter) = METER.lock().take() {
        meter.advance();
        notes::note("energy was read until the program filtered its system calls".to_owned());
        // Its files stay open: to close them is a system call, too.
        std::mem::forget(meter);
    }
}

/// The thread `primary` begins a region outside of all others.
#[cold]
#[inline(never)]
pub(crate) fn begin(primary: usize) {
    isolated(|| {
        let mut meter = METER.lock();
        let Some(meter) = meter.as_mut() else { return };
        // An open region of the same thread was left by a jump or an exception.
        if meter.open.as_ref().is_some_and(|open| open.primary != primary) {
            return;
        }
        meter.open = meter.advance().then_some(OpenRegion {
            primary,
            nanojoules: meter.nanojoules,
            ticks: meter.ticks,
        });
    });
}

/// The region that `primary` began outside of all others has ended.
#[cold]
#[inline(never)]
pub(crate) fn end(primary: usize, region: u32) {
    isolated(|| {
        let mut meter = METER.lock();
        let Some(meter) = meter.as_mut() else { return };
        let open = meter.open.take_if(|open| open.primary == primary);
        let begun = open.filter(|_| meter.advance());
        let Some(record) = meter.region(region) else { return };
        match begun {
            Some(begun) => {
                record.add(meter.nanojoules - begun.nanojoules, meter.ticks - begun.ticks);
            }
            None => record.add_unread(),
        }
    });
}

/// The thread `primary` ends. It may have been cancelled inside a region.
pub(crate) fn forget(primary: usize) {
    if let Some(meter) = METER.lock().as_mut() {
        meter.open.take_if(|open| open.primary == primary);
    }
}

/// The process exits.
pub(crate) fn finish() {
    // An exit inside a signal handler may have interrupted a reading of this thread.
    if let Some(Some(meter)) = METER.try_lock().as_deref_mut() {
        meter.advance();
    }
}

/// In the child of a fork: energy so far is the parent's. `primary` is the thread that forked, if it has
/// started regions.
pub(crate) fn forked(primary: Option<usize>) {
    let mut meter = METER.lock();
    let Some(meter) = meter.as_mut() else { return };
    if let Ok(latest) = meter.rapl.read() {
        meter.latest = latest;
    }
    meter.restart();
    let open = meter.open.take().filter(|open| Some(open.primary) == primary);
    meter.open = open.map(|open| OpenRegion { nanojoules: 0, ticks: 0, ..open });
}

impl Meter {
    fn new(rapl: Rapl) -> Result<Meter> {
        let latest = rapl.read()?;
        let (open, process, regions) = (None, None, Vec::new());
        let mut meter = Meter { rapl, latest, nanojoules: 0, ticks: 0, open, process, regions };
        meter.restart();
        Ok(meter)
    }

    /// The energy of the process begins with the latest reading.
    fn restart(&mut self) {
        let Meter { rapl, .. } = self;
        let wraps_after = (rapl.wraps_after() * 1e9) as u64;
        recording::energy_source(rapl.source(), rapl.packages(), wraps_after);
        (self.nanojoules, self.ticks) = (0, 0);
        self.process = arena::with(|writer| writer.energy(None)).flatten();
        self.regions.clear();
    }

    /// Reads the counters; false if that fails.
    fn advance(&mut self) -> bool {
        let read = || -> pacman_adapt::Result<(EnergyReading, f64)> {
            let now = self.rapl.read()?;
            let joules = now.joules_since(&self.latest)?;
            Ok((now, joules))
        };
        let (now, joules) = match read() {
            Ok(read) => read,
            Err(error) => {
                notes::note(format!("energy was not read in every execution: {error}"));
                return false;
            }
        };
        let ticks = process::own(process::clock().now()).1;
        self.latest = now;
        self.nanojoules = self.nanojoules.saturating_add((joules * 1e9).round() as u64);
        if let Some(process) = self.process {
            process.read_at(self.nanojoules, ticks, ticks.saturating_sub(self.ticks));
        }
        self.ticks = ticks;
        true
    }

    /// The record of a region, made at its first execution.
    fn region(&mut self, region: u32) -> Option<&'static Energy> {
        let at = region as usize;
        self.regions.resize(self.regions.len().max(at + 1), None);
        let record = &mut self.regions[at];
        if record.is_none() {
            *record = arena::with(|writer| writer.energy(Some(region))).flatten();
        }
        *record
    }
}
