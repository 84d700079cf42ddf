//! OpenMP programs run alone and with `libpacman_omp.so` preloaded: they must print the
//! same, end the same, and their recordings must hold every execution of every region.
//!
//! Each program of `programs/` is about one feature, checks itself, and is built by GCC for
//! libgomp, the same file run on libomp, and by clang for libomp, which calls this library's entries
//! or tells it through OMPT.
//! `PACMAN_OMP_PROGRAMS=tasks,nested` runs no others; with `PACMAN_OMP_WHOLE=1` each is run in
//! every mode with every number of threads. `PACMAN_OMP_RUNTIME=/opt/intel/lib/libiomp5.so` takes
//! that for libomp, and an archive, `libiomp5.a`, becomes part of clang's programs: all that is seen
//! of those comes through OMPT.

mod catalogue;
mod compilers;
mod recordings;
mod run;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use catalogue::{PROGRAMS, Program};
use compilers::{Built, Compiler, Flavour, Toolchain};
use pacman_suite::skipped_part;
use run::{Ended, RunMode};

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

/// How a program is run in a flavour: numbers of threads, and the modes at each.
///
/// All, if so asked; otherwise adapted at each number, and in each other mode at one. GCC's
/// program on libomp runs clang's runtime by other entries, for which two numbers are enough, and
/// what OMPT tells of is only observed, whatever is wished.
fn ways(program: &Program, flavour: Flavour) -> Vec<(u32, Vec<RunMode>)> {
    let whole = std::env::var_os("PACMAN_OMP_WHOLE").is_some();
    let is_told = flavour == Flavour::ClangByOmpt;
    let few = !whole && (is_told || flavour == Flavour::GccOnLibomp);
    let numbers = program.threads().iter().filter(|threads| !few || [2, 8].contains(*threads));
    let modes = |threads| match threads {
        _ if whole => vec![RunMode::Timed, RunMode::Counted, RunMode::Adapted, RunMode::Reduced],
        2 if is_told => vec![RunMode::Counted],
        8 if is_told => vec![RunMode::Adapted],
        4 => vec![RunMode::Adapted, RunMode::Reduced],
        2 => vec![RunMode::Counted, RunMode::Adapted],
        8 => vec![RunMode::Timed, RunMode::Adapted],
        _ => vec![RunMode::Adapted],
    };
    let may_be = |mode: &RunMode| program.may_be_adapted || !mode.adapts();
    let all = |threads| modes(threads).into_iter().filter(may_be).collect();
    numbers.map(|&threads| (threads, all(threads))).collect()
}

/// What was wrong with one program in one flavour, with any number of threads.
fn differences(program: &Program, flavour: Flavour, built: &Built) -> Vec<String> {
    let mut found = Vec::new();
    for (threads, modes) in ways(program, flavour) {
        let place = |mode: &str| format!("{} ({flavour}, {threads} threads, {mode})", program.file);
        let alone = match built.run(program, flavour, threads, RunMode::Alone, None) {
            Ended::InTime(outcome) => outcome,
            Ended::Hung(said) => {
                found.push(format!("{}: hangs by itself: {said}", place("alone")));
                return found;
            }
        };
        if let Some(why) = alone.lacks() {
            skipped_part(place("alone"), why);
            return found;
        }
        if alone.says_not_so() {
            found.push(format!("{}: is wrong by itself: {alone}", place("alone")));
            continue;
        }
        for mode in modes {
            let place = place(mode.word());
            let folder = tempfile::tempdir().expect("a folder for recordings");
            let outcome = match built.run(program, flavour, threads, mode, Some(&folder)) {
                Ended::InTime(outcome) => outcome,
                Ended::Hung(said) => {
                    found.push(format!("{place}: hangs: {said}"));
                    // The others would likely take as long to do the same.
                    return found;
                }
            };
            if outcome != alone {
                found.push(format!("{place}: {outcome}\n  and alone: {alone}"));
            }
            let wrong = recordings::faults(folder.path(), program, flavour, threads, mode);
            found.extend(wrong.into_iter().map(|fault| format!("{place}: {fault}")));
        }
    }
    found
}

/// What was wrong with one program in the flavours that one compiler makes.
fn built_by(
    compiler: Compiler,
    program: &Program,
    toolchain: &Toolchain,
    library: &Path,
) -> Vec<String> {
    let (mut flavours, mut found) = (Vec::new(), Vec::new());
    for &flavour in compiler.flavours() {
        match toolchain.why_not(program, flavour) {
            Some(why) => skipped_part(format_args!("{} ({flavour})", program.file), why),
            None => flavours.push(flavour),
        }
    }
    if flavours.is_empty() {
        return found;
    }
    match toolchain.build(program, compiler, library) {
        Ok(built) => flavours
            .into_iter()
            .for_each(|flavour| found.extend(differences(program, flavour, &built))),
        Err(said) => found.push(format!("{} ({compiler:?}): not built: {said}", program.file)),
    }
    found
}

#[test]
fn programs_stay_as_they_are() {
    let toolchain = Toolchain::found();
    let programs: Vec<&Program> = PROGRAMS.iter().filter(|program| wanted(program)).collect();
    assert!(!programs.is_empty(), "PACMAN_OMP_PROGRAMS names a program of the catalogue");
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let library = library();
    let work = || {
        while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut wrong = Vec::new();
            for compiler in Compiler::ALL {
                wrong.extend(built_by(compiler, program, &toolchain, &library));
            }
            found.lock().expect("no thread panics with it").extend(wrong);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            // By the test's name, for what it skips.
            let worker = std::thread::Builder::new().name("programs_stay_as_they_are".into());
            worker.spawn_scoped(scope, work).expect("a thread");
        }
    });
    run::forget_the_dead();
    let mut found = found.into_inner().expect("every thread ended");
    found.sort();
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}
