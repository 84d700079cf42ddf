//! Costs on this machine, as ratios of what they stand on: timings are noisy, so
//! each is taken by turns with its baseline, and the medians are compared. Times are
//! CPU times of the thread, in which other programs on the machine have no part.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;

use pacman_core::backend::Reading;
use pacman_core::{Event, Result, Session};

use crate::baseline::BareGroup;

const ROUNDS: u64 = 2_000;
const TURNS: usize = 151;
const EVENTS: &str = "task-clock,page-faults,context-switches,cpu-migrations";

/// Counts allocations, to show that the hot path makes none.
pub(crate) struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of this method of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of this method of `GlobalAlloc`.
        unsafe { System.dealloc(at, layout) }
    }
}

/// Nanoseconds of CPU time that the calling thread has used.
fn cpu_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "each thread has this clock");
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Nanoseconds a call of each of two acts, medians of turns taken one by one.
fn by_turns(mut one: impl FnMut(), mut other: impl FnMut()) -> (f64, f64) {
    let time = |act: &mut dyn FnMut()| {
        let start = cpu_time();
        for _ in 0..ROUNDS {
            act();
        }
        (cpu_time() - start) / ROUNDS as f64
    };
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for turn in 0..TURNS {
        if turn % 2 == 0 {
            ones.push(time(&mut one));
            others.push(time(&mut other));
        } else {
            others.push(time(&mut other));
            ones.push(time(&mut one));
        }
    }
    (median(ones), median(others))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn ratio(what: &str, (ours, base): (f64, f64), bound: f64) -> bool {
    let held = ours <= bound * base;
    println!(
        "{what:<52} {ours:>8.1} ns {:>6.2} ×   ≤ {bound} ×{}",
        ours / base,
        if held { "" } else { "  EXCEEDED" }
    );
    held
}

/// Measures and prints; false if a bound was exceeded.
pub(crate) fn run() -> Result<bool> {
    let bare = BareGroup::open(&Event::parse_list(EVENTS)?);
    let session = Session::builder("here").events(EVENTS).start()?;
    let phase = session.phase("phase")?;
    let thread = session.attach()?;
    let mut reading = Reading::EMPTY;
    let mut held = true;

    let read = by_turns(
        || thread.read(black_box(&mut reading)).unwrap(),
        || {
            black_box(bare.read());
        },
    );
    println!("{:<52} {:>8.1} ns", "bare read(2) of 4 software events", read.1);
    held &= ratio("owner's read of 4 software events", read, 1.05);
    let phases = by_turns(
        || {
            thread.begin(phase).unwrap();
            thread.end(phase).unwrap();
        },
        || {
            black_box(bare.read());
        },
    );
    held &= ratio("phase begin + end, 4 software events", phases, 2.2);

    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for _ in 0..10_000 {
        thread.begin(phase)?;
        thread.end(phase)?;
        thread.read(&mut reading)?;
    }
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    held &= allocations == 0;
    println!("{:<52} {allocations:>8}", "allocations in 10,000 phases and reads");

    held &= attach(&session)?;
    held &= slot(&session)?;
    Ok(held)
}

/// Attach and detach, while another thread is attached, by turns with opening
/// and closing the same group with nothing around it.
fn attach(session: &Session) -> Result<bool> {
    let events = Event::parse_list(EVENTS)?;
    let micros = |act: &mut dyn FnMut()| {
        let start = cpu_time();
        act();
        (cpu_time() - start) / 1e3
    };
    let (ours, bare) = std::thread::scope(|scope| {
        let turns = scope.spawn(|| {
            let (mut ours, mut bare) = (Vec::new(), Vec::new());
            for _ in 0..1_000 {
                ours.push(micros(&mut || drop(session.attach().unwrap())));
                bare.push(micros(&mut || drop(BareGroup::open(&events))));
            }
            (median(ours), median(bare))
        });
        turns.join().expect("the thread attaches")
    });
    let held = ours <= 20.0;
    println!(
        "{:<52} {ours:>8.1} µs {:>6.2} ×   ≤ 20 µs{}",
        "attach + detach, 4 software events, others attached",
        ours / bare,
        if held { "" } else { "  EXCEEDED" }
    );
    println!("{:<52} {bare:>8.1} µs", "opening and closing the bare group");
    Ok(held)
}

/// Another thread's slot, against a read(2) of that thread's group.
fn slot(session: &Session) -> Result<bool> {
    let events = Event::parse_list(EVENTS)?;
    let (sender, receiver) = mpsc::channel();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let done = &done;
        scope.spawn(move || {
            let thread = session.attach().unwrap();
            let phase = session.phase("sibling").unwrap();
            let group = BareGroup::open(&events);
            thread.run(phase, || ()).unwrap();
            sender.send((thread.number(), group)).unwrap();
            // A sibling at work: at a boundary every few microseconds.
            while !done.load(Ordering::Relaxed) {
                thread.begin(phase).unwrap();
                for spin in 0..1_000u32 {
                    black_box(spin);
                }
                thread.end(phase).unwrap();
            }
        });
        let (number, group) = receiver.recv().expect("the sibling runs");
        let peer = session.peer(number).expect("it is attached");
        let (slot, call) = by_turns(
            || {
                black_box(peer.latest());
            },
            || {
                black_box(group.read());
            },
        );
        done.store(true, Ordering::Relaxed);
        let cycles = slot / session.clock().nanos_per_tick();
        let held = cycles <= 400.0;
        println!(
            "{:<52} {cycles:>8.0} TSC ticks     ≤ 400 cycles{}",
            "reading a running sibling's slot",
            if held { "" } else { "  EXCEEDED" }
        );
        println!(
            "{:<52} {call:>8.1} ns {:>6.2} × the slot",
            "read(2) of that thread's group",
            call / slot
        );
        Ok(held)
    })
}
