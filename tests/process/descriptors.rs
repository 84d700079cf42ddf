//! Running out of descriptors: a failed attach says so and leaves nothing behind.

use pacman_core::{ErrorKind, Session};
use pacman_suite::process::perf_descriptors;

fn limit_descriptors(soft: u64) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointers are to a live rlimit.
    unsafe {
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit), 0);
        limit.rlim_cur = soft;
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &limit), 0);
    }
}

#[test]
fn attaching_without_descriptors_fails_whole() {
    let session =
        Session::builder("descriptors").events("task-clock,page-faults,cpu-clock").start().unwrap();
    let held = perf_descriptors();

    // Room for two of the three events: whatever number the next one gets, it is
    // the lowest free one.
    let next = std::fs::File::open("/proc/self/status").unwrap();
    let next_number = std::os::fd::AsRawFd::as_raw_fd(&next) as u64;
    drop(next);
    limit_descriptors(next_number + 2);
    let error = session.attach().unwrap_err();
    limit_descriptors(1024);

    assert_eq!(error.kind(), ErrorKind::NoDescriptors);
    assert_eq!(error.errno(), Some(libc::EMFILE));
    assert_eq!(
        error.to_string(),
        format!(
            "cannot open cpu-clock for this thread: this process is at its limit of {} open \
             files; raise it with ulimit -n",
            next_number + 2
        )
    );
    assert_eq!(perf_descriptors(), held, "nothing stays open");

    // And nothing else stays either: the thread can attach now.
    let thread = session.attach().unwrap();
    assert_eq!(thread.number(), 0, "the failed attach took no number");
    drop(thread);
    assert_eq!(perf_descriptors(), held);
    drop(session);
    assert_eq!(perf_descriptors().len(), 0, "a closed session holds nothing");

    the_lowest_numbers_stay_free();
    counters_keep_off_standard_input();
}

/// Whoever opens a file finds the number that would be free without a session.
fn the_lowest_numbers_stay_free() {
    let lowest = || {
        let file = std::fs::File::open("/proc/self/status").unwrap();
        std::os::fd::AsRawFd::as_raw_fd(&file)
    };
    let before = lowest();
    let session = Session::builder("lowest").events("task-clock,page-faults");
    let session = session.start().unwrap();
    let _thread = session.attach().unwrap();
    assert_eq!(lowest(), before);
    let held = perf_descriptors();
    assert!(!held.is_empty() && held.keys().all(|number| *number >= 256), "{held:?}");
}

/// A program may be started with standard input closed.
fn counters_keep_off_standard_input() {
    // SAFETY: the tests do not read standard input.
    unsafe { libc::close(0) };
    let session = Session::builder("closed stdin").events("task-clock").start().unwrap();
    let _thread = session.attach().unwrap();
    let lowest = *perf_descriptors().keys().next().unwrap();
    assert!(lowest >= 3, "a counter took descriptor {lowest}");
}
