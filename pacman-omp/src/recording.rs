//! What the process records besides rows, each when it becomes known.

use std::os::unix::ffi::OsStrExt;

use pacman_regions::RuntimeFamily;
use pacman_regions::arena::{Kind, Payload};

use crate::arena;
use crate::counting::Plan;
use crate::process::{self, FirstRegion};
use crate::region::Region;
use crate::runtime::Runtime;

/// The command line.
pub(crate) fn command() {
    arena::append(Kind::Command, || {
        Payload::new().bytes(&std::fs::read("/proc/self/cmdline").unwrap_or_default())
    });
}

/// A line for who reads the recording.
pub(crate) fn note(line: &str) {
    arena::append(Kind::Note, || Payload::new().bytes(line.as_bytes()));
}

/// A runtime was met; it is number `number`.
pub(crate) fn runtime(number: usize, runtime: &Runtime) {
    let family = u64::from(runtime.family == RuntimeFamily::Libomp);
    let payload = || Payload::new().number(number as u64).number(family);
    arena::append(Kind::Runtime, || payload().bytes(runtime.path.as_os_str().as_bytes()));
}

/// The first region was met.
pub(crate) fn first(first: &FirstRegion) {
    let (ticks, reads) = first.overhead;
    let payload = || Payload::new().number(first.threads.into()).number(first.cpus.len() as u64);
    arena::append(Kind::FirstRegion, || payload().number(ticks).bytes(reads.as_bytes()));
}

/// A region was met, and has that runtime.
pub(crate) fn region(region: &Region, runtime: usize) {
    let module = &region.module;
    let payload = || {
        Payload::new()
            .number(region.number.into())
            .number(runtime as u64)
            .number(region.body.wrapping_sub(module.bias))
            .bytes(module.path.as_os_str().as_bytes())
            .optional(region.source.as_deref().map(str::as_bytes))
            .bytes(region.entry.name().as_bytes())
    };
    arena::append(Kind::Region, payload);
}

/// The events of this process.
pub(crate) fn events() -> Payload {
    let Plan { events, counted, .. } = Plan::current();
    let all = events.iter().fold(Payload::new().number(events.len() as u64), |all, event| {
        all.bytes(event.name.as_bytes()).optional(event.uncounted.as_deref().map(str::as_bytes))
    });
    counted.iter().fold(all.number(counted.len() as u64), |all, event| all.number(*event as u64))
}

/// What a forked process has from the one that it was forked from, but for regions, which are looked
/// up there.
pub(crate) fn inherited() {
    for (number, known) in Runtime::known().into_iter().enumerate() {
        runtime(number, known);
    }
    if let Some(known) = process::first() {
        first(&known);
    }
    process::notes().iter().for_each(|line| note(line));
}
