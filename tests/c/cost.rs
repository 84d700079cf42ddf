//! The time of the calls that C programs make most, beside the same calls from Rust.

use crate::toolchain::{Language, Linking, compile, finish, folder, program};

#[test]
#[ignore = "a measurement; run it with --release --ignored --nocapture"]
fn what_the_calls_cost() {
    for linking in [Linking::Shared, Linking::Static] {
        let folder = folder();
        let path = compile("tests/c/cost.c", Language::C99, linking, &[], &folder);
        let output = finish(&mut program(&path));
        println!("{linking:?}:\n{}", String::from_utf8_lossy(&output.stdout));
    }
    println!("The same from Rust, begin + end: {:.1} ns", begin_and_end_in_rust());
}

/// Nanoseconds of a begin and an end, taken as `cost.c` takes them.
fn begin_and_end_in_rust() -> f64 {
    const CALLS: u32 = 100_000;
    let events = "task-clock,page-faults,context-switches,cpu-migrations";
    let session = pacman_core::Session::builder("cost").events(events).expect("events");
    let session = session.start().expect("a session");
    let phase = session.phase("p").expect("a phase");
    let thread = session.attach().expect("attached");
    let run = || {
        let begin = std::time::Instant::now();
        for _ in 0..CALLS {
            thread.begin(phase).expect("begun");
            thread.end(phase).expect("ended");
        }
        begin.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
    };
    (0..15).map(|_| run()).fold(f64::INFINITY, f64::min)
}
