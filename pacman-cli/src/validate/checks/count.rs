//! Counting an event on a kernel, repeat by repeat.

use std::sync::atomic::{AtomicU64, Ordering};

use super::around::{Around, Moment};
use super::catalogue::KernelId;
use super::kernel::{self, Ground, Kernel, Work, fence};
use super::verdict::{Counted, Sample, Verdict};
use pacman_core::Result;
use pacman_core::event::Event;
use pacman_core::session::{self, Attached, Session};

/// The number of times that a disturbed repeat is made again before it is used.
const TRIES: u32 = 6;

/// Counts `event` on the kernel `id`.
pub(super) fn count(
    event: &Event,
    id: KernelId,
    ground: &Ground,
    repeats: usize,
    progress: &mut dyn FnMut(usize),
) -> Result<Counted> {
    // The counter first: making a kernel's data can take a second.
    let session = Session::builder(name(event)).event(event.clone()).start()?;
    let thread = session.attach()?;
    let mut kernel = kernel::make(id, ground)?;
    // The first run of each finds cold caches, untouched stacks, and threads that have not started
    // yet.
    one(&thread, kernel.as_mut(), Work::Short)?;
    one(&thread, kernel.as_mut(), Work::Long)?;
    let mut runs = Vec::with_capacity(repeats);
    let mut edges = Vec::with_capacity(repeats);
    let mut disturbed = 0;
    for done in 1..=repeats {
        edges.push(one(&thread, kernel.as_mut(), Work::Short)?.0);
        let (counted, around) = undisturbed(&thread, kernel.as_mut())?;
        runs.push((counted, kernel.truth(&around)));
        disturbed += usize::from(kernel.disturbed(&around));
        progress(done);
    }
    edges.sort_unstable();
    let edge = if kernel.has_edges() { edges[edges.len() / 2] } else { 0 };
    let samples: Vec<Sample> = runs
        .into_iter()
        .map(|(counted, truth)| Sample { truth, counted: counted.wrapping_sub(edge) })
        .collect();
    let verdict = Verdict::of(&samples);
    let caps = thread.caps();
    Ok(Counted { read_path: caps.read_path, doubt: caps.doubt, samples, disturbed, verdict })
}

/// A long run; one that was disturbed is made again.
fn undisturbed(thread: &Attached, kernel: &mut dyn Kernel) -> Result<(i64, Around)> {
    let mut tries = 0;
    loop {
        let (counted, around) = one(thread, kernel, Work::Long)?;
        tries += 1;
        if !kernel.disturbed(&around) || tries == TRIES {
            return Ok((counted, around));
        }
    }
}

fn one(thread: &Attached, kernel: &mut dyn Kernel, work: Work) -> Result<(i64, Around)> {
    kernel.prepare()?;
    let (mut begin, mut end) = (session::Sample::EMPTY, session::Sample::EMPTY);
    let before = Moment::now();
    thread.sample(&mut begin)?;
    fence();
    let ran = kernel.run(work);
    fence();
    thread.sample(&mut end)?;
    let around = before.until_now();
    ran?;
    // A counter that went backwards shows as a negative count.
    Ok((end.count_since(&begin, 0) as i64, around))
}

/// Names of sessions are unique in a process, and validators may run side by side.
fn name(event: &Event) -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    // ATOMICS: only the number itself has to be unique; it orders nothing else.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("validate {event} {number}")
}
