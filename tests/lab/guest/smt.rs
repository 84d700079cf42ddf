//! A thread for each sibling of a core, which sleep and spin by a timetable.

use std::time::Duration;

use pacman_core::{Binding, Result, Topology};

/// The timetable's period.
const PERIOD: u64 = 50_000_000;
/// From when to when in a period each sibling spins: only the first 35 %, both 20 %, only the
/// second 20 %, none 25 %.
const SPINS: [[u64; 2]; 2] = [[0, 27_500_000], [17_500_000, 37_500_000]];

/// Keeps to the timetable for so many seconds, then prints when it began by `CLOCK_MONOTONIC`, and
/// since then a line a spin: the sibling, its begin and its end.
pub(crate) fn run(seconds: u64) -> Result<()> {
    let detected = Topology::detect()?;
    let here = &detected;
    let core = here.cores()[0].cpus.clone();
    // Time for both to be bound.
    let start = now() + PERIOD;
    let spins = std::thread::scope(|scope| {
        let threads: Vec<_> = core
            .iter()
            .zip(SPINS)
            .map(|(cpu, spin)| scope.spawn(move || turns(here, *cpu, spin, start, seconds)))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    println!("start {start}");
    for (sibling, spins) in spins.into_iter().enumerate() {
        for [begin, end] in spins? {
            println!("spin {sibling} {} {}", begin - start, end - start);
        }
    }
    println!("period {PERIOD}");
    Ok(())
}

fn turns(
    here: &Topology,
    cpu: u32,
    [from, to]: [u64; 2],
    start: u64,
    seconds: u64,
) -> Result<Vec<[u64; 2]>> {
    let _binding = Binding::bind(here, &here.place(cpu)?)?;
    let mut spins = Vec::new();
    for period in 0..seconds * 1_000_000_000 / PERIOD {
        let period = start + period * PERIOD;
        sleep_until(period + from);
        let begin = now();
        let mut end = begin;
        while end < period + to {
            end = now();
        }
        spins.push([begin, end]);
    }
    Ok(spins)
}

fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec, and the clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32).as_nanos() as u64
}

fn sleep_until(deadline: u64) {
    let time = libc::timespec {
        tv_sec: (deadline / 1_000_000_000) as libc::time_t,
        tv_nsec: (deadline % 1_000_000_000) as libc::c_long,
    };
    let (clock, absolute) = (libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME);
    // SAFETY: the pointer is to a live timespec; nothing is written for an absolute time.
    while unsafe { libc::clock_nanosleep(clock, absolute, &raw const time, std::ptr::null_mut()) }
        == libc::EINTR
    {}
}
