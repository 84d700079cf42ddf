//! OpenMP programs run alone and with `libpacman_omp.so` preloaded: they must print the
//! same, end the same, and their recordings must hold every execution of every region.
//!
//! Each program of `programs/` is about one feature, checks itself, and is built by GCC for
//! libgomp, the same file run on libomp, and by clang for libomp.
//! `PACMAN_OMP_PROGRAMS=tasks,nested` runs these alone; `PACMAN_OMP_WHOLE=1` runs every way of
//! observing at every number of threads, of which one each is run otherwise.

mod catalogue;
mod compilers;
mod recordings;
mod run;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use catalogue::{PROGRAMS, Program};
use compilers::{Built, Flavour, Toolchain};
use run::{Ended, Folder, Manner};

/// The library as cargo built it for this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let path = test.parent().expect("it lies in a folder").join("libpacman_omp.so");
    assert!(path.exists(), "cargo builds {} with this test", path.display());
    path
}

/// Whether the variable asks for this program, or for none in particular.
fn wanted(program: &Program) -> bool {
    std::env::var("PACMAN_OMP_PROGRAMS")
        .map_or(true, |names| names.split(',').any(|name| name == program.name()))
}

/// The manners in which a program is observed, given the threads: all, or one of each kind.
fn manners(threads: u32, flavour: Flavour) -> Vec<Manner> {
    if std::env::var_os("PACMAN_OMP_WHOLE").is_some() {
        return vec![Manner::Timed, Manner::Counted, Manner::Adapted];
    }
    // So that each flavour is counted at both a number of threads within the machine's and above.
    let timed = (threads.trailing_zeros() + flavour as u32) % 2 == 0;
    vec![if timed { Manner::Timed } else { Manner::Counted }, Manner::Adapted]
}

/// What was wrong with one program in one flavour, with any number of threads.
fn differences(program: &Program, flavour: Flavour, built: &Built) -> Vec<String> {
    let mut found = Vec::new();
    for &threads in program.threads() {
        let place =
            |manner: &str| format!("{} ({flavour}, {threads} threads, {manner})", program.file);
        let alone = match built.run(program, flavour, threads, Manner::Alone, None) {
            Ended::InTime(outcome) => outcome,
            Ended::Hung(said) => {
                found.push(format!("{}: hangs by itself: {said}", place("alone")));
                continue;
            }
        };
        if alone.says_not_so() {
            found.push(format!("{}: is wrong by itself: {alone}", place("alone")));
            continue;
        }
        for manner in manners(threads, flavour) {
            let place = place(manner.word());
            let folder = Folder::new();
            let outcome = match built.run(program, flavour, threads, manner, Some(&folder)) {
                Ended::InTime(outcome) => outcome,
                Ended::Hung(said) => {
                    found.push(format!("{place}: hangs: {said}"));
                    continue;
                }
            };
            if outcome != alone {
                found.push(format!("{place}: {outcome}\n  and alone: {alone}"));
            }
            let wrong = recordings::faults(folder.path(), program, flavour, threads, manner);
            found.extend(wrong.into_iter().map(|fault| format!("{place}: {fault}")));
        }
    }
    found
}

#[test]
fn programs_stay_as_they_are() {
    let toolchain = Toolchain::found();
    let mut jobs = Vec::new();
    for program in PROGRAMS.iter().filter(|program| wanted(program)) {
        for flavour in Flavour::ALL {
            match toolchain.why_not(program, flavour) {
                Some(why) => println!("skipped: {} ({flavour}): {why}", program.file),
                None => jobs.push((program, flavour)),
            }
        }
    }
    assert!(!jobs.is_empty(), "no program of this name, or no compiler");
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let library = library();
    let work = || {
        while let Some((program, flavour)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let differences = match toolchain.build(program, *flavour, &library) {
                Ok(built) => differences(program, *flavour, &built),
                Err(said) => vec![format!("{} ({flavour}): not built: {said}", program.file)],
            };
            found.lock().expect("no thread panics with it").extend(differences);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let mut found = found.into_inner().expect("every thread ended");
    found.sort();
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}
