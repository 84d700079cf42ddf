//! Descriptors that the program takes away: a session that changes its event set must not stop the
//! counters that have its numbers now.

use std::fs;
use std::os::fd::RawFd;
use std::sync::Barrier;

use pacman_core::session::EventSetRotation;
use pacman_core::{Placement, Result, Session, Topology};

use crate::doorbell::ring;
use crate::siblings::first_two;

/// Six events for four counters, on Arm nine for six.
const ROTATED: &str = match cfg!(target_arch = "aarch64") {
    true => "r412e,r0151,r01c4,r01c5,r0108,r0149,r0187,r01a2,r0148",
    false => "r412e,r0151,r01c4,r01c5,r0108,r0149",
};
const RUNG: u64 = 0x0151;

/// Prints the failed changes of the session that lost its descriptors, and the other session's count.
///
/// `how` is `closed`, where the other session gets the numbers, or `replaced`, where the program puts
/// the other session's counter under each of them.
pub(crate) fn run(how: &str) -> Result<()> {
    let here = Topology::detect()?;
    let rotated = Session::builder("rotated")
        .events(ROTATED)
        .placement(here.clone(), Placement::Compact)
        .rotate_event_sets(EventSetRotation::PerExecution)
        .start()?;
    let other = Session::builder("other").events("r0151").start()?;
    let (rotates, counts) = (rotated.phase("rotates")?, other.phase("counts")?);
    let place = here.place(first_two(&here)[1])?;
    let together = Barrier::new(2);
    std::thread::scope(|scope| {
        let counting = scope.spawn(|| -> Result<()> {
            together.wait();
            let thread = other.attach_at(&place)?;
            together.wait();
            thread.begin(counts)?;
            ring(RUNG, 700);
            together.wait();
            together.wait();
            ring(RUNG, 500);
            thread.end(counts)?;
            Ok(())
        });
        let thread = rotated.attach()?;
        for _ in 0..4 {
            thread.run(rotates, || ())?;
        }
        let own = counters();
        if how == "closed" {
            for &fd in &own {
                // SAFETY: closes a number that the library expects to keep, which is what is tried.
                assert_eq!(unsafe { libc::close(fd) }, 0);
            }
        }
        together.wait();
        together.wait();
        let theirs: Vec<RawFd> = counters().into_iter().filter(|fd| !own.contains(fd)).collect();
        if how == "replaced" {
            for &fd in &own {
                // SAFETY: as above.
                assert_eq!(unsafe { libc::dup2(theirs[0], fd) }, fd);
            }
        }
        let reused = counters().iter().filter(|fd| own.contains(fd)).count();
        println!("numbers {} of {}", reused.min(1), own.len().min(1));
        together.wait();
        let failed = (0..4).filter(|_| thread.run(rotates, || ()).is_err()).count();
        println!("failed {failed}");
        together.wait();
        counting.join().expect("no panic")
    })?;
    println!("counted {}", other.report().threads[0].phases[0].counts[0].raw.sum);
    Ok(())
}

/// The numbers of the open counters of this process.
fn counters() -> Vec<RawFd> {
    let entries = fs::read_dir("/proc/self/fd").expect("proc is mounted").flatten();
    let counter = |entry: fs::DirEntry| {
        let target = fs::read_link(entry.path()).ok()?;
        let number = entry.file_name().to_str()?.parse().ok()?;
        target.to_str()?.contains("perf_event").then_some(number)
    };
    entries.filter_map(counter).collect()
}
