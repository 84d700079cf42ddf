//! A command whose system calls fail one after the other, and what the world sees of it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pacman_suite::inject::{Call, Fault, watch};
use pacman_suite::skipped;
use tempfile::TempDir;

/// The calls that may fail, each with the errors that it may fail with.
const KINDS: &[(i64, &[i32])] = &[
    (libc::SYS_perf_event_open, &[libc::EMFILE, libc::EPERM, libc::ENOMEM, libc::EBUSY]),
    (libc::SYS_mmap, &[libc::ENOMEM, libc::EPERM]),
    (libc::SYS_openat, &[libc::EMFILE, libc::ENOMEM, libc::EACCES, libc::EINTR]),
    (libc::SYS_read, &[libc::EINTR, libc::EIO]),
    (libc::SYS_pread64, &[libc::EINTR, libc::EIO]),
    (libc::SYS_write, &[libc::ENOSPC, libc::EINTR]),
    (libc::SYS_pwrite64, &[libc::ENOSPC, libc::EINTR]),
    (libc::SYS_ftruncate, &[libc::ENOSPC, libc::EINTR]),
    (libc::SYS_fallocate, &[libc::ENOSPC, libc::EOPNOTSUPP]),
    (libc::SYS_ioctl, &[libc::ENOMEM, libc::EPERM]),
    (libc::SYS_fcntl, &[libc::EMFILE]),
    (libc::SYS_pipe2, &[libc::EMFILE]),
    (libc::SYS_socketpair, &[libc::EMFILE]),
    (libc::SYS_memfd_create, &[libc::EMFILE]),
    (libc::SYS_mkdir, &[libc::ENOSPC, libc::EACCES]),
    (libc::SYS_mkdirat, &[libc::ENOSPC, libc::EACCES]),
    (libc::SYS_rename, &[libc::EACCES]),
    (libc::SYS_renameat2, &[libc::EACCES]),
    (libc::SYS_sched_setaffinity, &[libc::EPERM, libc::EINVAL]),
    (libc::SYS_clone, &[libc::EAGAIN]),
    (libc::SYS_clone3, &[libc::EAGAIN]),
    (libc::SYS_fork, &[libc::EAGAIN]),
    (libc::SYS_vfork, &[libc::EAGAIN]),
    (libc::SYS_shmget, &[libc::ENOMEM, libc::ENOSPC]),
    (libc::SYS_shmat, &[libc::ENOMEM]),
    (libc::SYS_ptrace, &[libc::EPERM]),
    (libc::SYS_pidfd_open, &[libc::EMFILE]),
    (libc::SYS_timer_create, &[libc::EAGAIN]),
    (libc::SYS_rt_sigaction, &[libc::EINVAL]),
    (libc::SYS_rt_sigprocmask, &[libc::EPERM]),
    (libc::SYS_rt_sigtimedwait, &[libc::EAGAIN, libc::EINTR]),
    (libc::SYS_prlimit64, &[libc::EPERM]),
    // The processor clock of a thread; the others need no call.
    (libc::SYS_clock_gettime, &[libc::EPERM, libc::EINVAL]),
];

const MODULES: &[&str] = &[
    "/pacman-pmu",
    "/pacman-train",
    "/libpacman_omp.so",
    "/libpacman_omp_engine.so",
    "/libpacman.so",
];

/// The file that the command writes to.
pub(crate) const OUTPUT: &str = "output.json";

/// A run as seen from outside.
pub(crate) struct Seen {
    pub(crate) hung: bool,
    pub(crate) status: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) printed: String,
    pub(crate) complained: String,
    /// The content of the file that `-o` names.
    pub(crate) written: Option<Vec<u8>>,
    pub(crate) calls: Vec<Call>,
}

/// The folder of a test, and the program that the command runs.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) program: Vec<OsString>,
}

impl Place {
    /// With a program that is compiled from `source`, a file beside this one.
    pub(crate) fn with(source: &str) -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("program");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults").join(source);
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-fopenmp", "-o"]).arg(&program).arg(source);
        // A program that does not use the C library is not linked with it.
        for name in ["libpacman.so", "libpacman.so.0"] {
            symlink(beside_test("libpacman.so"), folder.path().join(name)).expect("a link");
        }
        let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pacman-ffi/include");
        compiler.arg("-I").arg(header).arg("-L").arg(folder.path());
        compiler.args(["-Wl,--as-needed", "-lpacman", "-Wl,-rpath,$ORIGIN"]);
        assert!(compiler.status().expect("there is a C compiler").success());
        Place { folder, program: vec![program.into()] }
    }

    /// The command with the n-th of its calls failing; `None` where no call can.
    pub(crate) fn run(&self, arguments: &[&str], fault: Option<Fault>) -> Option<Seen> {
        let path = |name: &str| self.folder.path().join(name);
        let (out, err, written) = (path("stdout"), path("stderr"), path(OUTPUT));
        let _ = fs::remove_file(&written);
        let mut command = Command::new(crate::PROGRAM);
        command.args(arguments).arg("--").args(&self.program);
        command
            .env("PACMAN_OMP_LIBRARY", beside_test("libpacman_omp.so"))
            .env("PACMAN_OMP_MEMORY", path("memory"))
            .env("TMPDIR", self.folder.path());
        command.env("OMP_WAIT_POLICY", "passive").current_dir(self.folder.path());
        let file = |path: &Path| File::create(path).expect("a file for output");
        command.stdin(Stdio::null()).stdout(file(&out)).stderr(file(&err));
        let numbers: Vec<i64> = KINDS.iter().map(|(number, _)| *number).collect();
        let (mut child, calls) = match watch(command, &numbers, MODULES, may_fail, fault) {
            Ok((child, calls)) => (Some(child), calls),
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
                skipped(format_args!("no seccomp listener: {error}"));
                return None;
            }
            Err(error) if error.kind() == std::io::ErrorKind::TimedOut => (None, Vec::new()),
            Err(error) => panic!("{fault:?}: {error}"),
        };
        let status = child.as_mut().map(|child| child.wait().expect("it ended"));
        let text = |path: &Path| {
            String::from_utf8_lossy(&fs::read(path).expect("the file was made")).into_owned()
        };
        Some(Seen {
            hung: status.is_none(),
            status: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
            printed: text(&out),
            complained: text(&err),
            written: fs::read(&written).ok(),
            calls,
        })
    }
}

/// A descriptor's flags can always be read and set, another descriptor may be one too many.
fn may_fail(call: &Call) -> bool {
    let duplicates = [libc::F_DUPFD, libc::F_DUPFD_CLOEXEC].map(|it| it as u64);
    match call.number {
        libc::SYS_fcntl => duplicates.contains(&call.arguments[1]),
        _ => true,
    }
}

/// A library as cargo built it for this test.
pub(crate) fn beside_test(library: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.with_file_name(library)
}

/// Has each call of an undisturbed run fail, and says what was not as it must be.
pub(crate) fn everywhere(
    place: &Place,
    arguments: &[&str],
    fault_of: impl Fn(&Seen, &Seen) -> Option<String>,
) {
    let Some(alone) = place.run(arguments, None) else { return };
    assert_eq!(fault_of(&alone, &alone), None, "undisturbed: {}", alone.complained);
    let mut by_kind: BTreeMap<(usize, i64), usize> = BTreeMap::new();
    for call in &alone.calls {
        *by_kind.entry((call.module, call.number)).or_default() += 1;
    }
    println!("{arguments:?}: {} calls, {by_kind:?}", alone.calls.len());
    assert!(by_kind.len() > 10, "few kinds of calls have a known caller: {by_kind:?}");
    let all = std::env::var_os("PACMAN_FAULTS").is_some_and(|which| which == "all");
    let (mut wrong, mut runs) = (Vec::new(), 0);
    let mut met: BTreeMap<(usize, i64), usize> = BTreeMap::new();
    for (which, call) in alone.calls.iter().enumerate() {
        let nth = met.entry((call.module, call.number)).or_default();
        *nth += 1;
        let left = by_kind[&(call.module, call.number)] - *nth;
        // The many in the middle are of loops, and alike.
        if !(all || *nth <= 8 || left < 2 || nth.is_power_of_two()) {
            continue;
        }
        let errors =
            KINDS.iter().find(|(number, _)| *number == call.number).expect("one of them").1;
        let errors = if all { errors } else { &[errors[which % errors.len()]] };
        for &errno in errors {
            let (module, number) = (call.module, call.number);
            let fails = Fault { module, number, nth: *nth, errno };
            let seen = place.run(arguments, Some(fails)).expect("as before");
            runs += 1;
            if let Some(fault) = fault_of(&alone, &seen) {
                let error = std::io::Error::from_raw_os_error(errno);
                let (module, said) = (MODULES[module], seen.complained.trim());
                wrong.push(format!(
                    "call {nth} of number {number} by {module}: {error}: {fault}\n    {said}"
                ));
            }
        }
    }
    println!("{arguments:?}: {runs} runs");
    assert!(wrong.is_empty(), "{} of {runs} runs:\n{}", wrong.len(), wrong.join("\n"));
}

/// Whether the command did not end by itself; the rest is asked of one that did.
pub(crate) fn ended(seen: &Seen, rest: impl Fn() -> Option<String>) -> Option<String> {
    if seen.hung {
        return Some("hung".to_owned());
    }
    let Some(signal) = seen.signal else { return rest() };
    // Rust's standard library does so before main: it sets SIGPIPE and a stack for signals.
    let before_main = seen.printed.is_empty() && seen.complained.contains("fatal runtime error");
    (!before_main).then(|| format!("signal {signal}"))
}
