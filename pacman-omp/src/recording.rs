//! Records of the process other than rows, each written when its facts become known.
//!
//! The functions take plain values, so that this module stays below the modules that call it.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pacman_core::clock::ClockSource;
use pacman_core::{Provenance, platform};
use pacman_regions::arena::{Kind, Payload, ProcessStart, VERSION};
use pacman_regions::{Cause, Event, FileIdentity, Machine, PhaseKind, Rank, RuntimeFamily};

use crate::arena;
use crate::machine;
use crate::process;

/// The version of all records, which the command reads from this library's file; see
/// [`VERSION_SYMBOL`](pacman_regions::arena::VERSION_SYMBOL).
#[unsafe(no_mangle)]
pub(crate) static PACMAN_OMP_RECORDINGS: u32 = VERSION;

/// The process has started, or has just been forked. It has run for as many ticks, and nanoseconds.
pub(crate) fn begin((ticks, nanos): (u64, u64)) {
    process::begin(ticks);
    let began = SystemTime::now() - Duration::from_nanos(nanos);
    let began = began.duration_since(UNIX_EPOCH).unwrap_or_default();
    arena::begin(&ProcessStart {
        numbers: (std::process::id(), std::os::unix::process::parent_id()),
        began: u64::try_from(began.as_nanos()).unwrap_or(u64::MAX),
        seconds_per_tick: seconds_per_tick(),
        adapted: process::options().adapt.is_some(),
        waits: process::plan().times_waits(),
    });
}

/// The length of a tick. Measuring the rate of the TSC takes a millisecond, so the command does it while
/// the program runs, and sets it in its segment.
fn seconds_per_tick() -> f64 {
    let clock = process::clock();
    match (clock.source(), arena::is_segment()) {
        (ClockSource::Tsc, true) => 0.0,
        _ => clock.nanos_per_tick() * 1e-9,
    }
}

/// The command line.
pub(crate) fn command() {
    arena::append(Kind::Command, || {
        Payload::new().bytes(&std::fs::read("/proc/self/cmdline").unwrap_or_default())
    });
}

/// The host, and the rank that a launcher gave.
pub(crate) fn host(rank: Option<Rank>) {
    let mut name = [0u8; 256];
    // SAFETY: the buffer has one byte more than is passed, so that the name ends in a zero.
    let known = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) } == 0;
    let length = name.iter().position(|byte| *byte == 0).filter(|_| known).unwrap_or_default();
    arena::append(Kind::Host, || Payload::host(&name[..length], rank));
}

/// A line for the reader of the recording.
pub(crate) fn note(line: &str) {
    arena::append(Kind::Note, || Payload::new().bytes(line.as_bytes()));
}

/// Runtime number `number`.
pub(crate) fn runtime(number: usize, family: RuntimeFamily, path: &Path) {
    let family = u64::from(family == RuntimeFamily::Libomp);
    let payload = || Payload::new().number(number as u64).number(family);
    arena::append(Kind::Runtime, || payload().bytes(path.as_os_str().as_bytes()));
}

/// Records the facts of the first region: the default team size, and the contexts that the process may
/// use, and what observing costs.
pub(crate) fn first_region(threads: u32, contexts: usize, cost: &EmptyPart) {
    let payload = || Payload::new().number(threads.into()).number(contexts as u64);
    let all = || payload().number(cost.ticks).bytes(cost.reads.as_bytes()).counts(&cost.counts);
    arena::append(Kind::FirstRegion, all);
}

/// The cost of a part with an empty body, which is that of observing it.
#[derive(Clone, Debug)]
pub(crate) struct EmptyPart {
    /// The median ticks of a begin and an end.
    pub(crate) ticks: u64,
    /// How counts are read.
    pub(crate) reads: &'static str,
    /// The median count of each event.
    pub(crate) counts: Vec<Option<u64>>,
}

/// Records the machine, for a reader on another one. A command that has a segment is on this machine, and reads these
/// hundred files by itself.
#[cold]
pub(crate) fn machine() {
    if process::options().segment.is_some() {
        return;
    }
    let Ok(topology) = machine::topology() else { return };
    let system = Provenance::here(None, SystemTime::now()).system;
    let simulated = platform::current().simulation().map(|machine| machine.title.to_owned());
    let machine = Machine::of(&topology, system, simulated);
    arena::append(Kind::Machine, || Payload::machine(&machine));
}

/// The source of energy: its name, the number of packages, and the nanojoules after which a counter wraps.
pub(crate) fn energy_source(source: &str, packages: usize, wraps_after: u64) {
    let payload = || Payload::new().bytes(source.as_bytes()).number(packages as u64);
    arena::append(Kind::EnergySource, || payload().number(wraps_after));
}

/// The path and the identity of a module's file.
pub(crate) type FileFacts<'a> = (&'a Path, Option<&'a FileIdentity>);

/// Facts of a region that do not change.
pub(crate) struct RegionFacts<'a> {
    pub(crate) number: u32,
    /// The number of its runtime.
    pub(crate) runtime: usize,
    /// The body's address in the symbol table of `module`.
    pub(crate) address: u64,
    pub(crate) module: FileFacts<'a>,
    pub(crate) source: Option<&'a str>,
    /// The name of the entry that started it first.
    pub(crate) entry: &'a str,
    /// One more than the number of the phase whose label it has, or 0.
    pub(crate) label: u32,
}

/// Records a region at its first execution.
pub(crate) fn region(facts: &RegionFacts<'_>) {
    let payload = || {
        Payload::new()
            .number(facts.number.into())
            .number(facts.runtime as u64)
            .number(facts.address)
            .module(facts.module.0, facts.module.1)
            .optional(facts.source.map(str::as_bytes))
            .bytes(facts.entry.as_bytes())
            .number(facts.label.into())
    };
    arena::append(Kind::Region, payload);
}

/// Records a phase at its first execution.
pub(crate) fn phase(number: u32, kind: PhaseKind, name: &[u8]) {
    let payload = || Payload::new().number(number.into()).number(kind as u64).bytes(name);
    arena::append(Kind::Phase, payload);
}

/// Records a waiting construct at its first wait. `address` is in the symbol table of `module`.
/// `call` is the name of a call of MPI.
pub(crate) fn wait_site(
    number: u32,
    (cause, call): (Cause, Option<&str>),
    address: u64,
    (module, identity): FileFacts<'_>,
) {
    let payload = || Payload::new().number(number.into()).number(cause as u64).number(address);
    let payload = || payload().module(module, identity);
    arena::append(Kind::WaitSite, || payload().optional(call.map(str::as_bytes)));
}

/// The events of this process; `sets` has the index of each event of each set that is counted.
pub(crate) fn events(events: &[Event], sets: &[Vec<usize>]) {
    arena::append(Kind::Events, || Payload::events(events, sets));
}
