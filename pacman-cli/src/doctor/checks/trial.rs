//! Opening events for the calling thread as a session does, and watching them count.

use std::hint::black_box;
use std::time::Duration;

use perf_event_open_sys::bindings::perf_event_attr;

use pacman_core::Result;
use pacman_core::backend::perf::{PerfBackend, PerfPermissions, PerfSys, Sharing};
use pacman_core::backend::{Backend, Caps, ReadPath, Reading, Target};
use pacman_core::event::{Event, Source};

use super::cause::Scope;
use super::hypervisor::quickest;

/// Opened events with their counts over a little work.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) counts: Vec<u64>,
    pub(super) caps: Caps,
}

/// Opens `events` together, works a little, and reads them.
pub(super) fn count<S: PerfSys + Clone>(
    sys: &S,
    permissions: &PerfPermissions,
    events: &[Event],
) -> Result<Counted> {
    // This finding is about the driver's answers; another one is about trust in it.
    let permissions = permissions.clone().trusting_driver();
    let backend = PerfBackend::with_sys(sys.clone(), events, Sharing::Pinned, permissions)?;
    let counters = backend.open(Target::Caller)?;
    let (mut before, mut after) = (Reading::EMPTY, Reading::EMPTY);
    counters.read(&mut before)?;
    work();
    counters.read(&mut after)?;
    let counts = before.counts.iter().zip(&after.counts).map(|(b, a)| a.wrapping_sub(*b));
    Ok(Counted { counts: counts.take(events.len()).collect(), caps: counters.caps() })
}

/// The time of a read by RDPMC; `None` where the event is read otherwise.
pub(super) fn read_time<S: PerfSys + Clone>(
    sys: &S,
    permissions: &PerfPermissions,
    event: &Event,
) -> Option<Duration> {
    let permissions = permissions.clone().trusting_driver();
    let events = std::slice::from_ref(event);
    let backend = PerfBackend::with_sys(sys.clone(), events, Sharing::Pinned, permissions).ok()?;
    let counters = backend.open(Target::Caller).ok()?;
    let mut reading = Reading::EMPTY;
    let mut is_read = counters.caps().read_path == ReadPath::Rdpmc;
    let time = quickest(|| is_read &= counters.read(&mut reading).is_ok());
    is_read.then_some(time)
}

/// Tests whether `perf_event_open(2)` reaches the kernel. The kernel refuses a too short structure
/// by its size. A filter before the kernel refuses with its own `errno`, which this function
/// returns.
pub(super) fn refusal<S: PerfSys>(sys: &S) -> Option<i32> {
    let mut attr = perf_event_attr { size: 1, ..Default::default() };
    match sys.open(&mut attr, Target::Caller, -1) {
        Ok(fd) => {
            sys.close(fd);
            None
        }
        Err(errno) => [libc::EACCES, libc::ENOSYS, libc::EPERM].into_iter().find(|e| *e == errno.0),
    }
}

/// The permission that an event needs.
pub(super) fn asks(event: &Event) -> Scope {
    match event.source() {
        Source::Hardware(terms) if terms.iter().any(|t| t.hardware.kernel) => Scope::KernelMode,
        Source::Hardware(_) => Scope::UserMode,
        Source::Software(software) if software.in_kernel => Scope::SoftwareInKernel,
        Source::Software(_) => Scope::Software,
    }
}

/// Whether the kernel keeps the count of `event` for every thread anyway.
pub(super) fn has_ledger(event: &Event) -> bool {
    matches!(event.source(), Source::Software(software) if software.is_counted_anyway())
}

/// Enough for every clock and every counter of instructions or cycles to move.
fn work() {
    let mut x = 1u64;
    for step in 0..20_000u64 {
        x = black_box(x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(step));
    }
    black_box(x);
}
