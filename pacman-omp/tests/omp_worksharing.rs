//! Programs of clang whose static loops run on fewer threads than their teams have.
//!
//! Skipped, with a line, without a clang that has OpenMP.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use pacman_regions::{Loop, Recording};
use pacman_suite::skipped;
use tempfile::TempDir;

/// A temporary directory. Its holder runs alone, because other tests' threads would hide the gain of fewer
/// threads.
struct Scratch {
    directory: TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Scratch {
    fn new() -> Scratch {
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        Scratch { directory: tempfile::tempdir().unwrap(), _alone }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Whether there is a clang that links OpenMP programs. Prints a line if not.
fn has_clang() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    let has = *HAS.get_or_init(|| {
        let scratch = Scratch::new();
        let source = scratch.path().join("empty.c");
        std::fs::write(&source, "int main(void) { return 0; }").unwrap();
        let built = Command::new("clang")
            .args(["-fopenmp", "-o"])
            .args([&scratch.path().join("empty"), &source])
            .output();
        built.is_ok_and(|built| built.status.success())
    });
    if !has {
        skipped("no clang with OpenMP");
    }
    has
}

fn build(scratch: &Scratch, name: &str, options: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/worksharing/{name}.c"));
    let program = scratch.path().join(name);
    let built = Command::new("clang")
        .args(["-O2", "-fopenmp"])
        .args(options)
        .args([Path::new("-o"), &program, &source])
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program
}

/// The program with the library preloaded.
fn preloaded(program: &Path, threads: usize) -> Command {
    let tests = std::env::current_exe().unwrap();
    let library = tests.with_file_name("libpacman_omp.so");
    assert!(library.exists(), "{} is built with the tests", library.display());
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", library).env("OMP_NUM_THREADS", threads.to_string());
    for variable in ["OMP_THREAD_LIMIT", "OMP_DYNAMIC", "OMP_PROC_BIND", "KMP_AFFINITY"] {
        command.env_remove(variable);
    }
    command
}

fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {} {said}{complaints}", output.status);
    said.trim_end().to_owned()
}

#[test]
fn every_kind_of_loop_is_correct_on_every_number_of_threads() {
    if !has_clang() {
        return;
    }
    let scratch = Scratch::new();
    let program = build(&scratch, "hoisted", &[]);
    for threads in [1, 2, 4, 8] {
        for forced in [&[][..], &[1], &[2], &[3], &[1, 2, 3], &[3, 1]] {
            let list: Vec<String> = forced.iter().map(usize::to_string).collect();
            let mut command = preloaded(&program, threads);
            command.arg("12").env("PACMAN_OMP_DIR", scratch.path());
            if !forced.is_empty() {
                command.env("PACMAN_OMP_LOOP_THREADS", list.join(","));
            }
            // The interval before the first barrier has all threads.
            let mut widths: Vec<usize> = forced.iter().map(|&width| width.min(threads)).collect();
            widths.push(threads);
            widths.sort_unstable();
            widths.dedup();
            let widths: Vec<String> = widths.iter().map(usize::to_string).collect();
            let widths = widths.join(",");
            assert_eq!(said(&mut command), format!("wrong 0 plain {widths} chunked {widths}"));
        }
    }
}

/// The loops of the only region of an adapted run of `program`.
fn adapted(scratch: &Scratch, program: &Path, threads: usize) -> Vec<Loop> {
    let records = scratch.path().join("records");
    std::fs::create_dir_all(&records).unwrap();
    let mut command = preloaded(program, threads);
    said(
        command
            .env("PACMAN_OMP_DIR", &records)
            .env("PACMAN_OMP_ADAPT", "time")
            .env("PACMAN_OMP_NARROW", "1"),
    );
    let (found, wrong) = Recording::found_in(&records).unwrap();
    assert_eq!((found.len(), wrong), (1, Vec::new()));
    std::fs::remove_dir_all(&records).unwrap();
    assert_eq!(found[0].regions.len(), 1);
    found[0].regions[0].adaptation.clone().expect("adaptation was requested").loops
}

#[test]
fn an_interval_that_more_threads_make_slower_gets_fewer() {
    if !has_clang() {
        return;
    }
    let scratch = Scratch::new();
    let program = build(&scratch, "contended", &["-g"]);
    let loops = adapted(&scratch, &program, 8);
    let [contended, sections, fetched] = &loops[..] else { panic!("three intervals: {loops:#?}") };
    assert!(loops.iter().all(|one| one.executions == 200), "{loops:#?}");
    assert!(contended.source.contains("contended.c;main;"), "{}", contended.source);
    // At the end it may be looking again: a usleep is as long as the machine lets it be.
    let gained = contended.why.split(" % less").next().and_then(|said| said.rsplit(' ').next());
    let gained: f64 = gained.and_then(|figure| figure.parse().ok()).unwrap_or(0.0);
    // Some 90 on a quiet machine, 24 where other programs have its processors. Without a decision for
    // fewer threads there is no such figure.
    assert!(gained > 5.0, "{}", contended.why);
    assert!(sections.why.contains("sections") && sections.threads == 8, "{}", sections.why);
    assert!(fetched.why.contains("fetch") && fetched.threads == 8, "{}", fetched.why);
}

#[test]
fn a_loop_is_known_by_its_caller() {
    if !has_clang() {
        return;
    }
    // Without debug information all loops of a module have the same description.
    let scratch = Scratch::new();
    let program = build(&scratch, "contended", &[]);
    let loops = adapted(&scratch, &program, 4);
    assert_eq!(loops.len(), 3, "{loops:#?}");
    for one in &loops {
        let (module, offset) = one.source.rsplit_once("+0x").unwrap();
        assert_eq!(Path::new(module), program);
        assert!(u64::from_str_radix(offset, 16).unwrap() > 0);
    }
}

#[test]
fn loops_of_modules_with_thread_local_storage_keep_their_threads() {
    if !has_clang() {
        return;
    }
    let scratch = Scratch::new();
    let program = build(&scratch, "contended", &["-DTHREADPRIVATE"]);
    for one in adapted(&scratch, &program, 4) {
        assert!(one.threads == 4 && one.why.contains("thread-local"), "{one:?}");
    }
}

#[test]
fn loops_of_regions_that_ask_for_numbers_keep_their_threads() {
    if !has_clang() {
        return;
    }
    let scratch = Scratch::new();
    let program = build(&scratch, "contended", &["-DASKS"]);
    let loops = adapted(&scratch, &program, 4);
    assert!(loops[0].threads == 4 && loops[0].why.contains("number"), "{:?}", loops[0]);
}
