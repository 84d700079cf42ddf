//! While nothing is rung, RDPMC and `read(2)` tell the same counts.

use std::fs;

use pacman_core::backend::Reading;
use pacman_core::event::machine;
use pacman_core::{Binding, Result, Session, Topology};
use pacman_events::resolve;

use crate::doorbell::ring;

/// Single doorbell events of every model in `selectors.tsv`. On Arm UOPS_ISSUED may happen by itself.
const EVENTS: [&str; 3] = match cfg!(target_arch = "aarch64") {
    true => ["L1I_MISSES", "L2_MISSES", "L1D_MISSES"],
    false => ["UOPS_ISSUED", "L2_MISSES", "L1D_MISSES"],
};
const ROUNDS: usize = 200;

/// Prints how the session reads, the rounds, and those in which both ways agreed.
pub(crate) fn run() -> Result<()> {
    let here = Topology::detect()?;
    let _bound = Binding::bind(&here, &here.place(0)?)?;
    let session = Session::builder("at rest").events(EVENTS.join(",")).start()?;
    let thread = session.attach()?;
    let (mut before, mut after) = (Reading::EMPTY, Reading::EMPTY);
    let (mut equal, mut total) = (0, 0);
    let mut selectors = Vec::new();
    for name in EVENTS {
        let resolved = resolve(machine::model(), name).expect("a preset of this model");
        selectors.push(resolved.encoding().expect("one event").evtsel);
    }
    for round in 0..ROUNDS {
        let chosen = round % EVENTS.len();
        ring(selectors[chosen], 1_000_003 * round as u64);
        thread.read(&mut before)?;
        let counts = read_call(EVENTS.len());
        thread.read(&mut after)?;
        let at_rest = before.counts[..EVENTS.len()] == after.counts[..EVENTS.len()];
        equal += usize::from(at_rest && counts == after.counts[..EVENTS.len()]);
        total = counts.iter().sum();
    }
    let rung = 1_000_003 * (ROUNDS * (ROUNDS - 1) / 2);
    println!("rest {:?} {ROUNDS} {equal} {total} {rung}", thread.caps().read_path);
    Ok(())
}

/// The counts of the running group of `events` members, by `read(2)` of its descriptor:
/// the only perf descriptors of this process that were ever enabled.
fn read_call(events: usize) -> Vec<u64> {
    // Number of counts, time enabled, time running.
    const HEADER: usize = 3;
    for entry in fs::read_dir("/proc/self/fd").expect("a /proc").flatten() {
        let is_event = fs::read_link(entry.path())
            .is_ok_and(|link| link.as_os_str() == "anon_inode:[perf_event]");
        if !is_event {
            continue;
        }
        let number = entry.file_name().to_string_lossy().parse().expect("a descriptor");
        let mut words = vec![0u64; HEADER + events];
        let size = size_of_val(&words[..]);
        // SAFETY: the buffer is valid for its size in bytes.
        let got = unsafe { libc::read(number, words.as_mut_ptr().cast(), size) };
        if got == size as isize && words[1] > 0 {
            return words.split_off(HEADER);
        }
    }
    panic!("no group is running")
}
