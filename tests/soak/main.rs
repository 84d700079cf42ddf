//! The same again and again: memory and descriptors stay as they were after the first of it.
//!
//! `cargo test -p pacman-tests --test soak -- --ignored --nocapture`; `PACMAN_SOAK=0.1` does a tenth of
//! 100,000 thread lives, 1,000,000 regions and 100,000 openings of sessions. docs/campaigns.md has
//! what came out.

#[path = "../c/toolchain.rs"]
#[allow(dead_code, reason = "the tests of the C API use all of it")]
mod toolchain;

use std::fs;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use pacman_core::{Phase, Session};
use pacman_regions::{Options, Recording};
use pacman_suite::command::finish;
use toolchain::{Language, Linking, compile, folder, root};

const EVENTS: &str = "task-clock,page-faults,context-switches";
const LIVES: f64 = 1e5;
const OPENINGS: f64 = 1e5;
const REGIONS: f64 = 1e6;

/// How often to do what is done that often as a whole.
fn times(whole: f64) -> u64 {
    let part = std::env::var("PACMAN_SOAK").map_or(1.0, |part| part.parse().expect("a share"));
    assert!((0.001..=1.0).contains(&part), "a share from 0.001 to 1, not {part}");
    (whole * part) as u64
}

/// How often to do it before the first look: a tenth of all, but not so few that allocators still find
/// out how much they need.
fn warm_up(count: u64) -> u64 {
    (count / 10).max(5_000).min(count / 2) / 40 * 40
}

/// Tests run one after the other: the memory is the process's.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Resident memory in kilobytes without pages of files, and open descriptors. Which pages of code are mapped, and
/// 64 kB around each, depends on the instructions that ran: a signal in a new place is no leak.
#[derive(Clone, Copy, Debug)]
struct Footprint {
    kilobytes: u64,
    descriptors: u64,
}

impl Footprint {
    fn now() -> Footprint {
        // Freed memory is not in use.
        // SAFETY: takes a number; gives free memory back to the kernel.
        unsafe { libc::malloc_trim(0) };
        let descriptors = fs::read_dir("/proc/self/fd").expect("descriptors").count() as u64;
        let status = fs::read_to_string("/proc/self/status").expect("status");
        let kilobytes = |name: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).expect(name);
            line.trim().strip_suffix(" kB").expect("kilobytes").parse().expect("a number")
        };
        Footprint { kilobytes: kilobytes("RssAnon:") + kilobytes("RssShmem:"), descriptors }
    }
}

/// A leak grows in every stretch: one of malloc's least, 16 bytes, by 7 kB in 496 repetitions. Threads that end later
/// than in the stretch before keep their stacks once.
const STRETCHES: u64 = 5;
const PAGE: u64 = 4;

/// A stretch without more memory than a page, and as many descriptors in all.
fn is_flat(what: &str, count: u64, looks: &[Footprint], started: Instant) {
    let kilobytes: Vec<u64> = looks.iter().map(|look| look.kilobytes).collect();
    println!(
        "{what}: {count} in {:.1} s, the first {} of them and {STRETCHES} stretches end with {kilobytes:?} kB and {} \
         descriptors",
        started.elapsed().as_secs_f64(),
        warm_up(count),
        looks[0].descriptors,
    );
    assert_eq!(looks.len() as u64, STRETCHES + 1, "{what}");
    assert!(looks.iter().all(|look| look.descriptors == looks[0].descriptors), "{what}: {looks:?}");
    assert!(kilobytes.windows(2).any(|pair| pair[1] <= pair[0] + PAGE), "{what}: {kilobytes:?} kB");
}

/// Does a part of it, then the rest in stretches.
fn soaked(what: &str, count: u64, mut part: impl FnMut(u64)) {
    let started = Instant::now();
    part(warm_up(count));
    let mut looks = vec![Footprint::now()];
    let rest = count - warm_up(count);
    for stretch in 1..=STRETCHES {
        part(if stretch < STRETCHES {
            rest / STRETCHES
        } else {
            rest - rest / STRETCHES * (STRETCHES - 1)
        });
        looks.push(Footprint::now());
    }
    is_flat(what, count, &looks, started);
}

/// The resources that a program in C printed about itself, and how many regions it ran.
fn told(what: &str, count: u64, command: &mut Command) -> u64 {
    let started = Instant::now();
    command.args([warm_up(count).to_string(), count.to_string(), STRETCHES.to_string()]);
    let printed = String::from_utf8(finish(command).stdout).expect("UTF-8");
    let (mut looks, mut ran) = (Vec::new(), 0);
    for line in printed.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |word: &str| word.parse::<u64>().expect("a number");
        match words[..] {
            ["stands", kilobytes, descriptors] => {
                looks.push(Footprint {
                    kilobytes: number(kilobytes),
                    descriptors: number(descriptors),
                });
            }
            ["ran", regions] => ran = number(regions),
            _ => panic!("{line:?}"),
        }
    }
    is_flat(what, count, &looks, started);
    ran
}

fn opened() -> (Session, Phase) {
    let session = Session::builder("soak").events(EVENTS).start().expect("opens");
    let phase = session.phase("work").expect("a phase");
    (session, phase)
}

fn executions(session: &Session) -> u64 {
    let report = session.report();
    report.threads.iter().flat_map(|thread| &thread.phases).map(|row| row.executions).sum()
}

#[test]
#[ignore = "takes a minute"]
fn threads_of_a_session_live_and_end() {
    let _alone = alone();
    let (session, phase) = opened();
    let lives = times(LIVES) / 80 * 80;
    soaked("thread lives in Rust", lives, |count| {
        for _ in 0..count / 8 {
            std::thread::scope(|scope| {
                // Joined by hand: a scope waits for what threads do, not for their ends.
                let threads: Vec<_> = (0..8)
                    .map(|_| {
                        scope.spawn(|| {
                            let thread = session.attach().expect("attaches");
                            thread.run(phase, || ()).expect("counts");
                        })
                    })
                    .collect();
                threads.into_iter().for_each(|thread| thread.join().expect("ends"));
            });
        }
    });
    assert_eq!(executions(&session), lives, "none is lost");
}

#[test]
#[ignore = "takes a minute"]
fn sessions_open_and_close() {
    let _alone = alone();
    soaked("openings of sessions in Rust", times(OPENINGS), |count| {
        for _ in 0..count {
            let (session, phase) = opened();
            session.attach().expect("attaches").run(phase, || ()).expect("counts");
            assert_eq!(executions(&session), 1);
        }
    });
}

#[test]
#[ignore = "takes a minute"]
fn phases_of_a_thread_begin_and_end() {
    let _alone = alone();
    let (session, phase) = opened();
    let thread = session.attach().expect("attaches");
    soaked("executions of a phase in Rust", times(REGIONS), |count| {
        (0..count).for_each(|_| thread.run(phase, || ()).expect("counts"));
    });
    assert_eq!(executions(&session), times(REGIONS), "none is lost");
}

#[test]
#[ignore = "takes two minutes"]
fn sessions_and_their_threads_from_c() {
    let _alone = alone();
    let folder = folder();
    let source = "tests/soak/sessions.c";
    let program = compile(source, Language::C99, Linking::Shared, &[], &folder);
    for (part, whole) in [("lives", LIVES), ("openings", OPENINGS)] {
        let count = times(whole) / 80 * 80;
        let mut command = toolchain::program(&program);
        told(&format!("{part} from C"), count, command.arg(part));
    }
}

#[test]
#[ignore = "takes two minutes"]
fn regions_of_a_preloaded_program() {
    let _alone = alone();
    let folder = folder();
    let program = folder.path().join("regions");
    let mut build = Command::new("cc");
    build.args(["-O2", "-fopenmp"]).arg(root().join("tests/soak/regions.c"));
    finish(build.arg("-o").arg(&program));
    let test = std::env::current_exe().expect("a test has a path");
    let library = test.with_file_name("libpacman_omp.so");
    assert!(library.exists(), "cargo builds {} with this test", library.display());
    for (part, whole) in [("same", REGIONS), ("changing", LIVES)] {
        for events in ["", EVENTS] {
            let recordings = toolchain::folder();
            let directory = Some(recordings.path().to_path_buf());
            let options = Options { directory, events: events.to_owned(), ..Options::default() };
            let mut command = Command::new(&program);
            // Threads that spin would keep each other from their work.
            command.env("OMP_WAIT_POLICY", "passive").env("LD_PRELOAD", &library);
            command.envs(options.variables());
            let with = if events.is_empty() { "without" } else { "with" };
            let count = times(whole);
            let what = format!("regions preloaded {with} events, teams {part}");
            let ran = told(&what, count, command.arg(part));
            let (found, wrong) = Recording::found_in(recordings.path()).expect("the folder");
            assert!(wrong.is_empty() && found.len() == 1, "{wrong:?}");
            let recorded: u64 = found[0].regions.iter().map(|region| region.executions).sum();
            assert_eq!(recorded, ran, "{what}: none is lost");
        }
    }
}
