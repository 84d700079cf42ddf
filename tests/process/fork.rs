//! A forked child: it holds none of the parent's counters, is told so, and can
//! count for itself.

use pacman_core::{ErrorKind, Session};
use pacman_suite::process::perf_descriptors;

/// Runs `child` in a forked child and answers whether it returned true.
fn forked(mut child: impl FnMut() -> bool) -> bool {
    // SAFETY: the child runs `child` and leaves by `_exit`; it is the copy of a
    // thread that holds no lock of its own.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        let good =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(&mut child)).unwrap_or(false);
        // SAFETY: ends the child without running the parent's destructors.
        unsafe { libc::_exit(if good { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: waits for the child just made.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
}

#[test]
fn a_child_lets_go_and_starts_afresh() {
    let session = Session::builder("fork").events("task-clock,page-faults").start().unwrap();
    let phase = session.phase("phase").unwrap();
    let mut attached = Some(session.attach().unwrap());
    attached.as_ref().unwrap().begin(phase).unwrap();
    let held = perf_descriptors();
    assert_eq!(held.len(), 4, "the session's and the thread's");

    let good = forked(|| {
        // Taken in the child's copy of memory; the parent still has it.
        let thread = attached.take().unwrap();
        assert_eq!(perf_descriptors().len(), 0, "the child holds no counter of the parent");
        let error = thread.end(phase).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Forked);
        assert_eq!(
            error.to_string(),
            "cannot read task-clock, page-faults in this process: the counters belong to the \
             parent that forked; open a session in the child"
        );
        drop(thread);
        // The name is the child's to use, and the child's own counters count.
        let own = Session::builder("fork").events("task-clock").start().unwrap();
        let work = own.phase("work").unwrap();
        let attached = own.attach().unwrap();
        attached.run(work, || std::hint::black_box((0..100_000u64).sum::<u64>())).unwrap();
        let counted = own.report().threads[0].phases[0].counts[0].raw.sum;
        assert!(counted > 0);
        true
    });
    assert!(good, "the child's own checks passed");
    assert_eq!(perf_descriptors(), held, "the parent keeps its own");

    // The parent goes on counting as if nothing had happened.
    let thread = attached.unwrap();
    thread.end(phase).unwrap();
    assert!(session.report().threads[0].phases[0].counts[0].raw.sum > 0);
}

/// The page faults of a child that ends at once.
fn faults(fork: impl FnOnce() -> libc::pid_t) -> i64 {
    let pid = fork();
    assert!(pid >= 0, "{}", std::io::Error::last_os_error());
    if pid == 0 {
        // SAFETY: ends the child without running the parent's destructors.
        unsafe { libc::_exit(0) };
    }
    // SAFETY: an all-zero structure, which the call fills.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: waits for the child just made.
    assert_eq!(unsafe { libc::wait4(pid, std::ptr::null_mut(), 0, &mut usage) }, pid);
    usage.ru_minflt
}

/// The handlers of forks look at what the process has, and not at the room for more.
#[test]
fn the_handlers_of_a_fork_touch_few_pages() {
    pacman_core::backend::install_atfork();
    // SAFETY: the child only ends.
    let handled = faults(|| unsafe { libc::fork() });
    let none: *const u8 = std::ptr::null();
    let flags = libc::SIGCHLD;
    // SAFETY: the same without the C library, which knows the handlers.
    let bare = faults(|| unsafe {
        libc::syscall(libc::SYS_clone, flags, none, none, none, 0) as libc::pid_t
    });
    assert!(handled < bare + 60, "{handled} page faults, and {bare} without handlers");
}
