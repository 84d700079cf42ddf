//! Tests of registers under signal handlers, `exit(3)` and in a forked child.
//!
//! A file stands for the device: its bytes at a register's number are the register. The tests
//! concern a whole process, so each part runs in a process of its own.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use pacman_events::ErrorKind;
use pacman_suite::process::starts_itself;

/// The variable with the path of the file that stands for the device.
const DEVICE: &str = "PACMAN_TEST_MSR_DEVICE";

/// Runs a part of this module in a process of its own. Returns the file that stood for the device; `None`
/// where that cannot be.
pub(super) fn part(module: &str, name: &str) -> Option<File> {
    if !starts_itself() {
        pacman_suite::skipped("this program cannot start itself under an emulator");
        return None;
    }
    let path = std::env::temp_dir().join(format!("pacman-msr-{}-{name}", std::process::id()));
    let file = device(&path);
    let part = format!("backend::msr::tests::{module}::{name}");
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--test-threads=1", &part])
        .env(DEVICE, &path)
        .output()
        .unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    Some(file)
}

fn device(path: &Path) -> File {
    let file =
        File::options().read(true).write(true).create(true).truncate(false).open(path).unwrap();
    file.set_len(0x1000).unwrap();
    file
}

fn register(file: &mut File, msr: u64) -> u64 {
    let mut bytes = [0; 8];
    file.seek(SeekFrom::Start(msr)).unwrap();
    file.read_exact(&mut bytes).unwrap();
    u64::from_le_bytes(bytes)
}

/// Counters on registers with values in them, over the file that the parent named.
pub(super) fn counters(io: &Fake) -> Box<dyn Counters> {
    io.set(0, 0x186, 0x0123);
    io.set(0, 0xc1, 77);
    let plan = backend(io, "hsw", [&["MEM_LOAD_UOPS_RETIRED.L2_MISS"], &[]]).unwrap();
    open(io, &plan, 0).unwrap()
}

pub(super) fn named_device() -> File {
    device(Path::new(&std::env::var_os(DEVICE).expect("run by its parent")))
}

#[test]
fn a_signal_restores_and_then_does_what_it_would_have_done() {
    let Some(mut file) = part("signals", "signalled") else { return };
    assert_eq!((register(&mut file, 0x186), register(&mut file, 0xc1)), (0x0123, 77));
}

static CALLED: AtomicU32 = AtomicU32::new(0);

extern "C" fn the_programs_own(_signal: i32) {
    CALLED.fetch_add(1, Ordering::SeqCst);
}

#[test]
#[ignore = "runs in a process of its own"]
fn signalled() {
    let file = named_device();
    let io = Fake::separate().with_descriptor(file.as_raw_fd());
    let own = the_programs_own as *const () as usize;
    // SAFETY: the handler only increments an atomic; one signal is ignored.
    let before = unsafe {
        libc::signal(libc::SIGINT, libc::SIG_IGN);
        libc::signal(libc::SIGTERM, own)
    };
    let mut counters = counters(&io);
    // SAFETY: an ignored signal does nothing.
    unsafe { libc::raise(libc::SIGINT) };
    assert!(read(&mut *counters).is_ok(), "an ignored signal stays ignored");
    // SAFETY: both handlers return.
    unsafe { libc::raise(libc::SIGTERM) };
    assert_eq!(CALLED.load(Ordering::SeqCst), 1, "the program's handler runs as well");
    let error = read(&mut *counters).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotScheduled);
    assert_eq!(
        error.to_string(),
        "cannot count MEM_LOAD_UOPS_RETIRED.L2_MISS on cpu 0: a signal asked the process to end, \
         and the counters were restored; attach again to go on"
    );
    io.written();
    drop(counters);
    assert_eq!(io.written(), [], "given back, the registers may be somebody else's");
    // SAFETY: restores the previous handler.
    assert_eq!(unsafe { libc::signal(libc::SIGTERM, before) }, own, "ours goes with the counters");
}

#[test]
fn a_shared_register_that_was_given_back_is_restored_to_its_next_value() {
    part("signals", "sharing");
}

#[test]
#[ignore = "runs in a process of its own"]
fn sharing() {
    const SHARED: u32 = 0x3f1;
    let file = named_device();
    let io = Fake::shared().with_descriptor(file.as_raw_fd());
    io.set(0, SHARED, 1);
    let replay = "1stL_cache_load_miss_retired";
    let plan = backend(&io, "p4", [&[replay], &[replay]]).unwrap();
    // SAFETY: the handler only increments an atomic.
    unsafe { libc::signal(libc::SIGTERM, the_programs_own as *const () as usize) };
    let first = open(&io, &plan, 0).unwrap();
    // SAFETY: the handler returns.
    unsafe { libc::raise(libc::SIGTERM) };
    // Another program has the register now, and then ends.
    io.set(0, SHARED, 5);
    let second = open(&io, &plan, 1).unwrap();
    assert_ne!(io.get(0, SHARED), 5);
    io.written();
    drop(first);
    assert_eq!(io.written(), [], "the second one holds it");
    drop(second);
    assert_eq!(io.get(0, SHARED), 5);
}

#[test]
fn a_process_that_exits_restores() {
    let Some(mut file) = part("signals", "exiting") else { return };
    assert_eq!((register(&mut file, 0x186), register(&mut file, 0xc1)), (0x0123, 77));
}

#[test]
#[ignore = "runs in a process of its own"]
fn exiting() {
    let file = named_device();
    let io = Fake::separate().with_descriptor(file.as_raw_fd());
    std::mem::forget(counters(&io));
    std::process::exit(0);
}

#[test]
fn nothing_is_programmed_once_the_process_ends() {
    part("signals", "late");
}

static LATE: OnceLock<Fake> = OnceLock::new();

/// Runs after the library's own handler, which was registered later.
extern "C" fn attach_late() {
    let io = LATE.get().unwrap();
    io.written();
    let plan = backend(io, "hsw", [&["MEM_LOAD_UOPS_RETIRED.L2_MISS"], &[]]).unwrap();
    let error = refusal(io, &plan, 0);
    let told = error.to_string().ends_with("the process is about to end; attach earlier");
    let status = if told && io.written().is_empty() { 0 } else { 1 };
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(status) };
}

#[test]
#[ignore = "runs in a process of its own"]
fn late() {
    let file = named_device();
    let io = LATE.get_or_init(|| Fake::separate().with_descriptor(file.as_raw_fd()));
    // SAFETY: the function lives as long as the program.
    unsafe { libc::atexit(attach_late) };
    drop(counters(io));
    std::process::exit(3);
}

#[test]
fn a_forked_child_lets_go_without_writing() {
    let Some(mut file) = part("signals", "forking") else { return };
    // The parent had no need to restore it either: its counters are dropped, and their registers
    // are not in the file.
    assert_eq!(register(&mut file, 0x186), 0);
}

#[test]
#[ignore = "runs in a process of its own"]
fn forking() {
    let file = named_device();
    let io = Fake::separate().with_descriptor(file.as_raw_fd());
    let mut counters = counters(&io);
    io.written();
    // SAFETY: the child runs a few lines in the only thread that it has, and leaves with
    // `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let told = read(&mut *counters).err().map(|error| error.kind());
        drop(counters);
        let quiet = io.written().is_empty();
        let status = if told == Some(ErrorKind::Forked) && quiet { 0 } else { 1 };
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(status) };
    }
    let mut status = 0;
    // SAFETY: waits for our own child.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(libc::WEXITSTATUS(status), 0);
    assert!(read(&mut *counters).is_ok(), "the parent goes on");
}
