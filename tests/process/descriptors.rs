//! Running out of descriptors: a failed attach says so and leaves nothing behind.

use pacman_core::{ErrorKind, Session};
use pacman_tests::process::perf_descriptors;

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
    let session = Session::builder("descriptors")
        .events("task-clock,page-faults,cpu-clock")
        .unwrap()
        .start()
        .unwrap();
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
    let text = error.to_string();
    assert!(
        text.starts_with("cannot open cpu-clock for this thread: this process is at its limit of "),
        "{text}"
    );
    assert!(text.ends_with(" open files; raise it with ulimit -n"), "{text}");
    assert_eq!(perf_descriptors(), held, "nothing stays open");

    // And nothing else stays either: the thread can attach now.
    let thread = session.attach().unwrap();
    assert_eq!(thread.number(), 0, "the failed attach took no number");
    drop(thread);
    assert_eq!(perf_descriptors(), held);
    drop(session);
    assert_eq!(perf_descriptors().len(), 0, "a closed session holds nothing");
}
