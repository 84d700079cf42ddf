//! What a signal handler, `exit(3)` and a forked child do with the registers.
//!
//! A file stands for the device: its bytes at a register's number are the register.
//! One test, because it changes what the whole process does about signals.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::ErrorKind;
use crate::backend::msr::post;

static CALLED: AtomicU32 = AtomicU32::new(0);

extern "C" fn the_programs_own(_signal: i32) {
    CALLED.fetch_add(1, Ordering::SeqCst);
}

fn register(file: &mut File, msr: u64) -> u64 {
    let mut bytes = [0; 8];
    file.seek(SeekFrom::Start(msr)).unwrap();
    file.read_exact(&mut bytes).unwrap();
    u64::from_le_bytes(bytes)
}

#[test]
fn a_signal_restores_and_then_does_what_it_would_have_done() {
    let path = std::env::temp_dir().join(format!("pacman-msr-{}", std::process::id()));
    let mut file =
        File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    file.set_len(0x1000).unwrap();
    std::fs::remove_file(&path).unwrap();

    let io = Fake::separate().with_descriptor(file.as_raw_fd());
    io.set(0, 0x186, 0x0123);
    io.set(0, 0xc1, 77);
    let plan = backend(&io, "hsw", [&["MEM_LOAD_UOPS_RETIRED.L2_MISS"], &[]]).unwrap();

    let own = the_programs_own as *const () as usize;
    // SAFETY: the handler only increments an atomic; SIGTERM is this test's alone.
    let before = unsafe { libc::signal(libc::SIGTERM, own) };
    let mut counters = open(&io, &plan, 0).unwrap();
    assert!(read(&mut *counters).is_ok());
    // SAFETY: both handlers return.
    unsafe { libc::raise(libc::SIGTERM) };
    assert_eq!(CALLED.load(Ordering::SeqCst), 1, "the program's handler runs as well");
    assert_eq!(register(&mut file, 0x186), 0x0123);
    assert_eq!(register(&mut file, 0xc1), 77);
    let error = read(&mut *counters).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotScheduled);
    assert!(error.to_string().ends_with("a signal asked the process to end, and the counters were restored; attach again to go on"), "{error}");
    drop(counters);

    // The handler goes with the last counters.
    // SAFETY: puts back what was there.
    assert_eq!(unsafe { libc::signal(libc::SIGTERM, before) }, own);

    let mut counters = open(&io, &plan, 0).unwrap();
    assert_eq!(in_a_child(&mut *counters), 0);
    assert!(read(&mut *counters).is_ok(), "the parent goes on");
    post::restore_all();
    assert_eq!(read(&mut *counters).unwrap_err().kind(), ErrorKind::NotScheduled);
}

/// Forks; 0 if the child was told that the counters are the parent's, and let go of
/// them without writing.
fn in_a_child(counters: &mut dyn Counters) -> i32 {
    // SAFETY: the child runs a few lines that take no lock held elsewhere and leaves
    // with `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let mut reading = Reading::EMPTY;
        let told = counters.read(&mut reading).err().map(|error| error.kind());
        let status = if told == Some(ErrorKind::Forked) { 0 } else { 1 };
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(status) };
    }
    let mut status = 0;
    // SAFETY: waits for our own child.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    libc::WEXITSTATUS(status)
}
