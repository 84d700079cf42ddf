//! CPUs are taken away while a pool runs, as `taskset -ap` or a smaller cpuset does it.
//!
//! Alone in its binary: it changes what the whole process may use.

use std::time::{Duration, Instant};

use pacman_adapt::Adapter;
use pacman_core::Topology;
use pacman_rayon::AdaptivePool;
use rayon::prelude::*;

/// Binds every thread of this process to one CPU.
fn shrink_to(cpu: u32) {
    for task in std::fs::read_dir("/proc/self/task").expect("proc is mounted").flatten() {
        let thread: libc::pid_t = task.file_name().to_string_lossy().parse().expect("a number");
        // SAFETY: an all-zero cpu_set_t is an empty set, and the call reads the number of bytes
        // of its argument. A thread that ended meanwhile is an error without consequences.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(cpu as usize, &mut set);
            libc::sched_setaffinity(thread, size_of_val(&set), &set);
        }
    }
}

#[test]
fn a_program_goes_on_when_cpus_are_taken_away() {
    let here = Topology::detect().expect("a machine");
    let allowed: Vec<u32> =
        here.contexts().iter().filter(|one| one.allowed).map(|one| one.cpu).collect();
    if allowed.len() < 2 {
        pacman_suite::skipped("one context");
        return;
    }
    // However long a change of pools takes on a busy machine, the phase is not left alone.
    let builder = Adapter::builder(here).break_even(Duration::ZERO);
    let pool = AdaptivePool::new(builder).unwrap();
    let phase = pool.phase("squares").unwrap();
    let execute = || -> (u64, usize) {
        let work = || {
            let sum = (0..20_000u64).into_par_iter().map(|n| n * n).sum();
            (sum, rayon::current_num_threads())
        };
        phase.run(work).unwrap()
    };
    const SQUARES: u64 = 19_999 * 20_000 * 39_999 / 6;
    assert_eq!(execute(), (SQUARES, allowed.len()), "the first runs on all");
    for _ in 0..20 {
        // The first is cold and long, so that the budget may pay for a sample soon.
        let (sum, threads) = execute();
        assert!(sum == SQUARES && (1..=allowed.len()).contains(&threads), "{sum} on {threads}");
    }
    let before = pool.adapter().candidates();
    shrink_to(allowed[1]);
    let deadline = Instant::now() + Duration::from_secs(60);
    while pool.adapter().candidates() == before {
        assert_eq!(execute().0, SQUARES);
        assert!(Instant::now() < deadline, "the pool has not noticed: {}", phase.why());
    }
    let (why, lost) = (phase.why(), before.default().to_string());
    assert!(why.contains("gone") && why.contains(&lost), "{why}");
    for _ in 0..20 {
        assert_eq!(execute(), (SQUARES, 1));
    }
    assert_eq!(pool.adapter().candidates().default().threads(), 1);
    assert!(phase.why().contains("gone with their contexts"), "{}", phase.why());
    assert_eq!(pool.trouble(), Vec::<String>::new());
    let places = pool.adapter().places(phase.next()).unwrap();
    assert_eq!(places.iter().map(|place| place.cpu()).collect::<Vec<_>>(), [allowed[1]]);
    let ran = pool.install_at(phase.next(), pacman_core::topology::current_cpu).unwrap();
    assert_eq!(ran, Some(allowed[1]));
}
