//! The doctor in processes that lack something: rights, descriptors, `/proc`.
//!
//! The lack is real, made between fork and exec; only what the machine itself
//! has (its PMU, its paranoia level) is taken as it comes.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use pacman_suite::skipped;
use serde_json::Value;

use super::scratch::Scratch;
use super::{finding, pacman_pmu, text};

/// The user nobody.
const NOBODY: u32 = 65534;

fn is_root() -> bool {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Runs the doctor after `cripple`; the answer is its exit status and its JSON.
fn doctor_after(
    mut command: Command,
    cripple: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) -> (Option<i32>, Value) {
    // SAFETY: every closure passed here makes system calls only: it allocates
    // nothing and takes no lock between fork and exec.
    unsafe { command.pre_exec(cripple) };
    let answer = command.output().expect("the command runs");
    let said = text(&answer.stdout);
    let diagnosis = serde_json::from_str(said)
        .unwrap_or_else(|e| panic!("{e}: {said}{}", text(&answer.stderr)));
    (answer.status.code(), diagnosis)
}

fn check(answer: libc::c_int) -> io::Result<()> {
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

pub(super) fn become_nobody() -> io::Result<()> {
    // SAFETY: an empty list of groups is never looked at.
    check(unsafe { libc::setgroups(0, std::ptr::null()) })?;
    // SAFETY: takes a number.
    check(unsafe { libc::setgid(NOBODY) })?;
    // SAFETY: takes a number.
    check(unsafe { libc::setuid(NOBODY) })
}

/// A copy of the command, installed alone in a place that nobody may reach, too.
pub(super) struct Copy(Scratch);

impl Copy {
    pub(super) fn new() -> Copy {
        let copy = Copy(Scratch::new());
        fs::create_dir(copy.0.path("bin")).expect("a directory for the copy");
        for place in ["", "bin"] {
            let open = fs::Permissions::from_mode(0o755);
            fs::set_permissions(copy.0.path(place), open).expect("a directory of this test's own");
        }
        // Copied by another process: a descriptor open for writing here would be
        // inherited by what other tests spawn meanwhile, and a file that anybody may
        // write cannot be run ("text file busy").
        let mut cp = Command::new("cp");
        cp.arg(env!("CARGO_BIN_EXE_pacman-pmu")).arg(copy.program());
        assert!(cp.status().expect("there is a cp").success());
        copy
    }

    pub(super) fn program(&self) -> PathBuf {
        self.path("bin/pacman-pmu")
    }

    /// A file where it is installed.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }
}

/// The machine's `perf_event_paranoid`.
fn paranoid() -> i32 {
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").expect("perf events");
    level.trim().parse().unwrap()
}

fn in_container() -> bool {
    ["/.dockerenv", "/run/.containerenv", "/run/systemd/container"]
        .iter()
        .any(|mark| Path::new(mark).exists())
}

#[test]
fn an_unprivileged_user_learns_what_the_paranoia_level_forbids() {
    if !is_root() {
        skipped("only root can become nobody");
        return;
    }
    let copy = Copy::new();
    let mut command = Command::new(copy.program());
    command.args(["doctor", "--json"]);
    let (status, diagnosis) = doctor_after(command, become_nobody);
    let level = paranoid();
    let software = finding(&diagnosis, "software-events");
    let words = software["text"].as_str().unwrap();
    assert_eq!(software["outcome"], "works", "ledgers count at every level: {software:#}");
    assert!(matches!(status, Some(0 | 3)), "{diagnosis:#}");
    if level < 2 {
        assert_eq!(software["cause"], Value::Null);
        return;
    }
    let cause = if in_container() { "capability" } else { "paranoid" };
    assert_eq!(software["cause"], cause, "{software:#}");
    assert!(words.contains(&format!("perf_event_paranoid is {level}")), "{words}");
    assert!(words.contains("not cgroup-switches"), "{words}");
    let commands = software["help"].to_string();
    assert!(commands.contains("sudo sysctl kernel.perf_event_paranoid="), "{commands}");
}

#[test]
fn a_capability_in_a_user_namespace_does_not_count() {
    let copy = Copy::new();
    let root_inside = |program: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", program]);
        command
    };
    let possible = root_inside("true").output();
    if !possible.is_ok_and(|answer| answer.status.success()) {
        skipped("this machine allows no user namespaces, or lacks unshare");
        return;
    }
    if paranoid() < 2 {
        skipped("at this perf_event_paranoid no capability is needed");
        return;
    }
    let mut command = root_inside(copy.program().to_str().unwrap());
    command.args(["doctor", "--json"]);
    let (_, diagnosis) = doctor_after(command, || if is_root() { become_nobody() } else { Ok(()) });
    let software = finding(&diagnosis, "software-events");
    assert_eq!(software["cause"], "user-namespace", "{software:#}");
    assert_eq!(software["outcome"], "works", "the ledgers still count: {software:#}");
}

/// Makes `perf_event_open` answer `errno`, as container engines do.
fn filter(errno: i32) -> io::Result<()> {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut program = [
        // The number of the system call is the first word of what a filter sees.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_perf_event_open as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | errno as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: takes numbers.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    // SAFETY: the program and its steps live until the call returns.
    check(unsafe {
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
    })
}

#[test]
fn a_seccomp_filter_is_recognised_by_what_it_does() {
    for errno in [libc::EPERM, libc::ENOSYS] {
        let (status, diagnosis) =
            doctor_after(pacman_pmu(&["doctor", "--json"]), move || filter(errno));
        for subject in ["system-call", "hardware-events", "software-events"] {
            let found = finding(&diagnosis, subject);
            assert_eq!(found["cause"], "seccomp", "{found:#}");
            let help = found["help"].to_string();
            assert!(help.contains("run --cap-add=PERFMON"), "{help}");
        }
        // The ledgers need no system call that the filter knows.
        assert_eq!(diagnosis["verdict"], "software-only");
        assert_eq!(status, Some(3));
        assert_eq!(diagnosis["cause"], "seccomp");
    }
}

#[test]
fn a_small_limit_on_open_files_is_named() {
    let (status, diagnosis) = doctor_after(pacman_pmu(&["doctor", "--json"]), || {
        // Files that the test runner left open must not take the one number that is left.
        for fd in 3..1024 {
            // SAFETY: takes numbers; a descriptor that is not open is an error
            // that does not matter.
            unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
        let limit = libc::rlimit { rlim_cur: 4, rlim_max: 4 };
        // SAFETY: the pointer is to a live rlimit.
        check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) })
    });
    let descriptors = finding(&diagnosis, "descriptors");
    assert_eq!(
        (descriptors["outcome"].as_str(), descriptors["cause"].as_str()),
        (Some("in-the-way"), Some("descriptor-limit"))
    );
    let software = finding(&diagnosis, "software-events");
    assert_eq!(software["cause"], "descriptor-limit", "{software:#}");
    let words = software["text"].as_str().unwrap();
    assert!(words.contains("this process is at its limit of 4 open files"), "{words}");
    // One descriptor is left, for the file or for a session's own group; events
    // that need none are counted by getrusage for an unprivileged user.
    let expected = if is_root() { Some(1) } else { Some(3) };
    assert_eq!(status, expected, "{diagnosis:#}");
}

#[test]
fn without_proc_the_verdict_still_comes_from_trying() {
    if !is_root() {
        skipped("only root can hide /proc");
        return;
    }
    let usual = super::run(&["doctor", "--json"]);
    let usual: Value = serde_json::from_slice(&usual.stdout).unwrap();
    let (_, diagnosis) = doctor_after(pacman_pmu(&["doctor", "--json"]), || {
        // SAFETY: takes a number.
        check(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
        let (none, root, proc, tmpfs) = (c"none", c"/", c"/proc", c"tmpfs");
        let private = libc::MS_REC | libc::MS_PRIVATE;
        let no_data: *const libc::c_void = std::ptr::null();
        // SAFETY: the strings are static; no data is passed.
        check(unsafe {
            libc::mount(none.as_ptr(), root.as_ptr(), no_data.cast(), private, no_data)
        })?;
        // SAFETY: as above.
        check(unsafe { libc::mount(none.as_ptr(), proc.as_ptr(), tmpfs.as_ptr(), 0, no_data) })
    });
    assert_eq!(diagnosis["verdict"], usual["verdict"], "{diagnosis:#}");
    let ledgers = finding(&diagnosis, "ledgers");
    assert_eq!(ledgers["cause"], "no-ledger");
    assert_eq!(
        ledgers["text"],
        "context switches and faults are known, migrations not: /proc/thread-self/sched is not there (CONFIG_SCHED_DEBUG)"
    );
}
