//! The time of the calls that C programs make most, beside the same calls from Rust; and the
//! instructions of a begin and an end, which the lab counts.

use std::path::Path;

use pacman_suite::lab;
use tempfile::TempDir;

use crate::toolchain::{Language, Linking, compile, folder, libraries, program};
use pacman_suite::command::finish;

#[test]
#[ignore = "a measurement; run it with --release --ignored --nocapture"]
fn what_the_calls_cost() {
    for linking in [Linking::Shared, Linking::Static] {
        let folder = folder();
        let path = compile("tests/c/cost.c", Language::C99, linking, &[], &folder);
        let output = finish(&mut program(&path));
        println!("{linking:?}:\n{}", String::from_utf8_lossy(&output.stdout));
        if lab::is_there() {
            println!("{}", instructions(linking, &folder));
        }
    }
    println!("The same from Rust, begin + end: {:.1} ns", begin_and_end_in_rust());
}

/// A guest that has just booted still checks its TSC, and sessions take another clock until then.
const JOB: &str = "until grep -qx tsc /sys/devices/system/clocksource/clocksource0/current_clocksource; \
                   do sleep 0.1; done; LD_LIBRARY_PATH=/t /t/program";

/// Instructions of a begin and an end, counted by the lab: exact, and the same on every run.
fn instructions(linking: Linking, folder: &TempDir) -> String {
    let path = compile("tests/c/instructions.c", Language::C99, linking, &[], folder);
    let shared = libraries().links.join("libpacman.so.0");
    let files: &[&Path] = match linking {
        Linking::Shared => &[&path, &shared],
        Linking::Static => &[&path],
    };
    let output = lab::shell(&["--cpu", "core"], JOB, files);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Nanoseconds of a begin and an end, taken as `cost.c` takes them.
fn begin_and_end_in_rust() -> f64 {
    const CALLS: u32 = 100_000;
    let events = "task-clock,page-faults,context-switches,cpu-migrations";
    let session = pacman_core::Session::builder("cost").events(events);
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
