//! Programs that mark phases by sessions of PACMAN itself, in C, Fortran and Rust.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use pacman_core::Session;
use serde_json::Value;

use super::rows::rows;
use super::run_phases::{Run, of, run_as};
use super::scratch::Scratch;
use super::text;

const SESSIONS: &str = include_str!("phases/sessions.c");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The directory with the libraries that cargo built for this test.
fn libraries(scratch: &Scratch) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    for name in ["libpacman.so", "libpacman.so.0"] {
        symlink(test.with_file_name("libpacman.so"), scratch.path(name)).expect("a link");
    }
    test.parent().expect("a directory").to_owned()
}

fn linked(program: &Path, scratch: &Scratch) -> Command {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", scratch.path(".")).env("OMP_NUM_THREADS", "2");
    command
}

/// The seconds of each state of a phase's threads, in order.
fn states(run: &Run, phase: &str) -> Vec<[f64; 3]> {
    let seconds = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("no seconds: {value}"));
    let threads = rows(&run.phase(phase)["threads"]);
    let states = threads.iter().map(|thread| {
        let states = &thread["states"];
        [&thread["time_s"], &states["useful_s"], &states["waiting_s"]].map(seconds)
    });
    states.collect()
}

/// Runs a program that links `libpacman.so`; what it prints is what it prints alone.
fn observe(scratch: &Scratch, program: &Path, options: &[&str]) -> Run {
    let run = run_as(scratch, options, |command| {
        command.env("LD_LIBRARY_PATH", scratch.path(".")).env("OMP_NUM_THREADS", "2").arg(program);
    });
    let alone = linked(program, scratch).output().expect("it runs");
    assert!(alone.status.success(), "{}", text(&alone.stderr));
    assert_eq!(run.printed, text(&alone.stdout));
    run
}

/// Each of three figures is rounded to a nanosecond.
const ROUNDED: f64 = 1.6e-9;

#[test]
fn phases_of_c_programs_have_their_executions_and_waits() {
    let scratch = Scratch::new();
    let folder = libraries(&scratch);
    let include = format!("-I{}", root().join("pacman-ffi/include").display());
    let (shared, archive) =
        (format!("-L{}", scratch.named(".")), folder.join("libpacman.a").display().to_string());
    for (compiler, linking) in [
        ("gcc", &[shared.as_str(), "-Wl,--no-as-needed", "-lpacman"][..]),
        ("clang", &[&shared, "-Wl,--no-as-needed", "-lpacman"]),
        ("gcc", &["-x", "none", &archive, "-lm", "-ldl", "-lpthread"]),
    ] {
        let flags = [&["-g", "-O1", "-fopenmp", &include], linking].concat();
        let Some(program) = compile(&scratch, compiler, &flags) else { continue };
        let run = observe(&scratch, &program, &["--waits"]);
        // Two sessions with a phase of one name; an execution inside another one of the same phase; one
        // that a thread leaves by detaching; an end out of order.
        let phases = [("around", 2, 0), ("inside", 4, 0), ("again", 3, 0), ("left", 0, 1)];
        assert_eq!(run.phases(), of("pacman", phases), "{compiler} {linking:?}");
        for [time, useful, waiting] in [states(&run, "around"), states(&run, "inside")].concat() {
            assert!((useful + waiting - time).abs() < ROUNDED, "{time} {useful} {waiting}");
        }
        // The other thread works 20 ms before the barrier and after the phase, twice. A busy machine may
        // delay the first thread on its way to the wait.
        let [around] = states(&run, "around")[..] else { panic!("one thread") };
        assert!(around[2] >= 0.03 && around[0] >= 0.08, "{compiler}: {around:?}");
        let [first, second] = states(&run, "inside")[..] else { panic!("two threads") };
        assert!(first[2] >= 0.03, "{compiler}: waits at the barrier: {first:?}");
        assert!(second[1] >= 0.04, "{compiler}: works before it: {second:?}");
        assert!(!run.notes().contains("without a begin"), "{}", run.notes());
    }
}

/// The first four flags come before the source, the libraries after it.
fn compile(scratch: &Scratch, compiler: &str, flags: &[&str]) -> Option<PathBuf> {
    let source = scratch.file("sessions.c", SESSIONS);
    let made = scratch.path(&format!("sessions-{compiler}-{}", flags.len()));
    let mut command = Command::new(compiler);
    command.args(&flags[..4]).arg("-o").arg(&made).arg(&source).args(&flags[4..]);
    match command.output() {
        Ok(done) => {
            assert!(done.status.success(), "{}", text(&done.stderr));
            Some(made)
        }
        Err(error) => {
            pacman_suite::skipped(format_args!("no {compiler}: {error}"));
            None
        }
    }
}

#[test]
fn phases_of_a_fortran_program_have_their_executions_and_waits() {
    let scratch = Scratch::new();
    libraries(&scratch);
    let program = scratch.path("program");
    let mut command = Command::new("gfortran");
    command.args(["-O2", "-fopenmp", "-o"]).arg(&program).current_dir(scratch.path("."));
    command.arg(root().join("pacman-ffi/fortran/pacman.f90"));
    command.arg(root().join("examples/fortran/omp_phases.f90"));
    let Ok(done) = command.arg(format!("-L{}", scratch.named("."))).arg("-lpacman").output() else {
        return pacman_suite::skipped("no gfortran");
    };
    assert!(done.status.success(), "{}", text(&done.stderr));
    let run = run_as(&scratch, &["--waits"], |command| {
        command.env("LD_LIBRARY_PATH", scratch.path(".")).env("OMP_NUM_THREADS", "2").arg(&program);
    });
    assert!(run.printed.contains("stream"), "{}", run.printed);
    assert_eq!(run.phases(), of("pacman", [("compute", 10, 0), ("stream", 10, 0)]));
    for phase in ["compute", "stream"] {
        let states = states(&run, phase);
        assert_eq!(states.len(), 2, "a row for each thread of the team");
        for [time, useful, waiting] in states {
            assert!((useful + waiting - time).abs() < ROUNDED, "{time} {useful} {waiting}");
        }
    }
}

/// The program of the test below.
#[test]
#[ignore = "the next test runs it under the command"]
fn program_with_three_threads() {
    let session = Session::builder("rust").events("task-clock").start().expect("it counts");
    let solve = session.phase("solve").expect("a phase");
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let thread = session.attach().expect("a thread");
                for _ in 0..4 {
                    thread.run(solve, || std::hint::black_box(vec![1u8; 1 << 16])).expect("counts");
                }
                let part = session.phase("part").expect("a phase");
                drop(thread.enter(part).expect("it begins"));
            });
        }
    });
    let report = session.report();
    println!(
        "executions: {}",
        report.threads.iter().map(|one| one.phases[0].executions).sum::<u64>()
    );
}

#[test]
fn phases_of_a_rust_program_are_those_of_its_threads() {
    let scratch = Scratch::new();
    let test = std::env::current_exe().expect("a test has a path");
    for options in [&[][..], &["--waits"], &["-e", "task-clock"]] {
        let run = run_as(&scratch, options, |command| {
            let name = "run_sessions::program_with_three_threads";
            command.arg(&test).args(["--exact", name, "--ignored", "--nocapture"]);
        });
        assert!(run.printed.contains("executions: 12\n"), "{}", run.printed);
        let phases = of("pacman", [("solve", 12, 0), ("part", 3, 0)]);
        assert_eq!(run.phases(), phases, "{options:?}: {}", run.notes());
        if let ["-e", event] = options {
            let threads = rows(&run.phase("solve")["threads"]);
            let counts = threads.iter().map(|thread| &thread["figures"]["counts"][event]);
            assert!(counts.map(Value::as_u64).all(|count| count > Some(0)), "{threads:?}");
        }
    }
    let left = fs::read_dir(scratch.path(".")).expect("a directory").count();
    assert_eq!(left, 1, "the report alone");
}
