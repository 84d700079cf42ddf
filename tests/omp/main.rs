//! OpenMP programs run alone and with `libpacman_omp.so` preloaded: they must print the
//! same, end the same, and their recordings must hold every execution of every region.
//!
//! Each program of `programs/` is about one feature, checks itself, and is built by GCC for
//! libgomp, the same file run on libomp, and by clang for libomp, which calls this library's entries
//! or tells it through OMPT.
//! Each program and flavour is a test: `cargo test -p pacman-tests --test omp tasks::gcc`. With
//! `PACMAN_OMP_WHOLE=1` each is run in every mode with every number of threads. `PACMAN_OMP_RUNTIME=/opt/intel/lib/libiomp5.so` takes
//! that for libomp, and an archive, `libiomp5.a`, becomes part of clang's programs: all that is seen
//! of those comes through OMPT. `PACMAN_OMP_PATIENCE=900` takes a program for hung after so many seconds.

mod catalogue;
mod compilers;
mod recordings;
mod run;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::Builder;

use catalogue::{PROGRAMS, Program};
use compilers::{Built, Compiler, Flavour, Toolchain};
use libtest_mimic::{Arguments, Failed, Trial};
use pacman_suite::skipped_part;
use run::{Ended, RunMode};

/// The library as cargo built it for this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let path = test.parent().expect("it lies in a folder").join("libpacman_omp.so");
    assert!(path.exists(), "cargo builds {} with this test", path.display());
    path
}

/// How a program is run in a flavour: numbers of threads, and the modes at each.
///
/// All, if so asked; otherwise adapted at each number, with smaller teams where the program bears them, and in each other
/// mode at one. GCC's
/// program on libomp runs clang's runtime by other entries, for which two numbers are enough, and
/// what OMPT tells of is only observed, whatever is wished.
fn ways(program: &Program, flavour: Flavour) -> Vec<(u32, Vec<RunMode>)> {
    let whole = std::env::var_os("PACMAN_OMP_WHOLE").is_some();
    let is_told = flavour == Flavour::ClangByOmpt;
    let few = !whole && (is_told || flavour == Flavour::GccOnLibomp);
    let numbers = program.threads().iter().filter(|threads| !few || [2, 8].contains(*threads));
    let modes = |threads| match threads {
        _ if whole => vec![
            RunMode::Timed,
            RunMode::Counted,
            RunMode::Adapted,
            RunMode::Narrowed,
            RunMode::Reduced,
            RunMode::Waits,
            RunMode::Sampled,
        ],
        2 if is_told => vec![RunMode::Counted, RunMode::Waits],
        8 if is_told => vec![RunMode::Narrowed],
        4 => vec![RunMode::Narrowed, RunMode::Reduced, RunMode::Sampled],
        2 => vec![RunMode::Counted, RunMode::Narrowed, RunMode::Waits],
        8 => vec![RunMode::Timed, RunMode::Narrowed],
        _ => vec![RunMode::Narrowed],
    };
    let modes = |threads| {
        let of_program = |mode: RunMode| match mode.narrows() && program.depends_on_its_teams {
            true => RunMode::Adapted,
            false => mode,
        };
        let mut modes: Vec<RunMode> = modes(threads).into_iter().map(of_program).collect();
        modes.dedup();
        modes
    };
    numbers.map(|&threads| (threads, modes(threads))).collect()
}

/// The faults of one program in one flavour, with any number of threads.
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

/// A program that is built once, or the compiler's complaint.
type Making = OnceLock<Result<Built, String>>;

/// The compilers, and the programs of the catalogue, each built when the first of its tests runs.
struct Workshop {
    toolchain: Toolchain,
    library: PathBuf,
    built: Mutex<BTreeMap<(&'static str, Compiler), Arc<Making>>>,
}

impl Workshop {
    fn build(&self, program: &'static Program, flavour: Flavour) -> Arc<Making> {
        let compiler = flavour.compiler();
        let key = (program.file, compiler);
        let built = {
            let mut all = self.built.lock().expect("no test panics with it");
            Arc::clone(all.entry(key).or_default())
        };
        built.get_or_init(|| self.toolchain.build(program, compiler, &self.library));
        built
    }

    /// Runs the program in a flavour.
    fn test(&self, program: &'static Program, flavour: Flavour) -> Result<(), Failed> {
        if let Some(why) = self.toolchain.why_not(program, flavour) {
            skipped_part("", why);
            return Ok(());
        }
        let built = self.build(program, flavour);
        let found = match built.get().expect("it was built, or not") {
            Ok(built) => differences(program, flavour, built),
            Err(said) => vec![format!("{} is not built: {said}", program.file)],
        };
        match found.len() {
            0 => Ok(()),
            number => Err(format!("{number} differences:\n{}", found.join("\n")).into()),
        }
    }
}

fn main() -> ExitCode {
    let workshop = Arc::new(Workshop {
        toolchain: Toolchain::found(),
        library: library(),
        built: Mutex::default(),
    });
    let trial = |program: &'static Program, flavour: Flavour| {
        let name = format!("{}::{}", program.name(), flavour.word());
        let (workshop, of_thread) = (Arc::clone(&workshop), name.clone());
        Trial::test(name, move || {
            // The thread's name is the test's, for parts that are skipped.
            let named = Builder::new().name(of_thread);
            let worker = named.spawn(move || workshop.test(program, flavour));
            worker.map_err(|error| error.to_string())?.join().map_err(|_| "it panicked")?
        })
    };
    let trials = PROGRAMS
        .iter()
        .flat_map(|program| Flavour::ALL.map(|flavour| trial(program, flavour)))
        .collect();
    let ended = libtest_mimic::run(&Arguments::from_args(), trials);
    drop(workshop);
    run::forget_the_dead();
    ended.exit_code()
}
