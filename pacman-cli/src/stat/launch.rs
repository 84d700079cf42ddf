//! Starting the command, held back until its counters are there.

use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use pacman_events::shown::shown_path;
use pacman_topology::process_files;

use super::ptrace;
use crate::error::{CliError, CliResult};
use crate::signals::Signals;
use crate::trusted_driver;

/// A child that waits to become the command.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) pid: libc::pid_t,
    /// A byte lets the child go on; closed unwritten, it ends.
    go: File,
    /// The pipe on which the child reports why it could not become the command.
    word: File,
    command: OsString,
}

impl Held {
    /// Forks the child that will become `command`.
    pub(super) fn start(command: &[OsString], signals: &Signals) -> CliResult<Held> {
        let name = command[0].clone();
        let failed = |error: io::Error| CliError::not_run(&name, &error);
        let arguments: Vec<CString> = command
            .iter()
            .map(|argument| CString::new(argument.as_bytes()))
            .collect::<Result<_, _>>()
            .map_err(|error| failed(error.into()))?;
        let variables = variables();
        let lists = [pointers(&arguments), pointers(&variables)];
        let (read_go, go) = pipe().map_err(failed)?;
        let (word, write_word) = pipe().map_err(failed)?;
        let limit = raise_descriptor_limit();
        // SAFETY: this process has one thread; the child makes system calls only and
        // then becomes another program or ends.
        match unsafe { libc::fork() } {
            -1 => Err(failed(io::Error::last_os_error())),
            0 => become_command(&lists, signals, limit, raw(&read_go), raw(&write_word), &go),
            pid => Ok(Held { pid, go: go.into(), word: word.into(), command: name }),
        }
    }

    /// Follows the child and all threads and processes that it makes.
    pub(super) fn follow(&self) -> CliResult<()> {
        let refused = |problem| Err(CliError::Refused(problem));
        if let Some(why) = privileged(&self.command) {
            return refused(format!(
                "cannot follow {}: {why}, and a program that is traced does not get its rights; \
                 run as root, or count with -a",
                shown_path(&self.command)
            ));
        }
        match ptrace::seize(self.pid) {
            Ok(()) => Ok(()),
            Err(error) => refused(format!(
                "cannot follow {}: ptrace says {error}: {}, or count with -a",
                shown_path(&self.command),
                forbidden_by(self.pid)
            )),
        }
    }

    /// Lets the child become the command.
    pub(super) fn release(&mut self) -> CliResult<()> {
        self.go.write_all(&[1]).map_err(|error| CliError::not_run(&self.command, &error))
    }

    /// The reason why an ended child did not become the command; `None` if it did.
    pub(super) fn not_begun(&mut self) -> Option<CliError> {
        let mut errno = [0; 4];
        self.word.read_exact(&mut errno).ok()?;
        let error = io::Error::from_raw_os_error(i32::from_ne_bytes(errno));
        Some(CliError::not_run(&self.command, &error))
    }

    /// Why the child ended without becoming the command.
    pub(super) fn problem(&mut self) -> CliError {
        self.not_begun().unwrap_or_else(|| {
            CliError::NotRunnable(format!(
                "cannot run {}: it was ended before it began",
                shown_path(&self.command)
            ))
        })
    }
}

/// The environment of the command, as `NAME=value`.
fn variables() -> Vec<CString> {
    let own = trusted_driver::variable().map(|(name, value)| (name.into(), value.into()));
    let is_replaced = |name: &OsString| own.as_ref().is_some_and(|(own, _)| own == name);
    let inherited = std::env::vars_os().filter(|(name, _)| !is_replaced(name));
    let all: Vec<(OsString, OsString)> = inherited.chain(own.clone()).collect();
    let line = |(mut line, value): (OsString, OsString)| {
        line.push("=");
        line.push(value);
        CString::new(line.into_vec()).ok()
    };
    all.into_iter().filter_map(line).collect()
}

/// The addresses of strings that outlive the list, with a null behind them.
fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
}

/// The child's part: nothing but system calls.
fn become_command(
    [arguments, variables]: &[Vec<*const libc::c_char>; 2],
    signals: &Signals,
    limit: Option<libc::rlimit>,
    go: RawFd,
    word: RawFd,
    parents_end: &OwnedFd,
) -> ! {
    // SAFETY: all pointers are to values made before the fork, and the descriptors are the child's
    // own copies. The child closes the parent's end, so that the parent can see the child's end
    // closed.
    unsafe {
        libc::close(raw(parents_end));
        if let Some(limit) = &limit {
            libc::setrlimit(libc::RLIMIT_NOFILE, limit);
        }
        signals.inherited().restore_for_another();
        let mut byte = 0u8;
        let told = loop {
            let told = libc::read(go, (&raw mut byte).cast(), 1);
            if told >= 0 || *libc::__errno_location() != libc::EINTR {
                break told;
            }
        };
        if told == 1 {
            libc::execvpe(arguments[0], arguments.as_ptr(), variables.as_ptr());
            let errno = *libc::__errno_location();
            libc::write(word, (&raw const errno).cast(), size_of_val(&errno));
        }
        libc::_exit(NOT_FOUND.into())
    }
}

/// Each event of each thread takes a descriptor: as many as may be, for this process
/// alone. The answer is the limit that the command shall have.
fn raise_descriptor_limit() -> Option<libc::rlimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get a pointer to a live rlimit.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) != 0 {
            return None;
        }
        let raised = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
        (libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) == 0).then_some(limit)
    }
}

/// The attribute that gives the command more rights than its user has, if there is one.
fn privileged(command: &OsStr) -> Option<&'static str> {
    // SAFETY: geteuid takes nothing and cannot fail.
    let is_root = unsafe { libc::geteuid() } == 0;
    found(command).filter(|_| !is_root).and_then(|file| raises_rights(&file))
}

/// The attribute that gives a program other rights than its user has: the kernel then starts it in
/// secure mode.
pub(crate) fn raises_rights(file: &Path) -> Option<&'static str> {
    // SAFETY: both calls take nothing and cannot fail.
    let (user, group) = unsafe { (libc::getuid(), libc::getgid()) };
    let about = fs::metadata(file).ok()?;
    let sets = |bits| about.mode() & bits == bits;
    if sets(libc::S_ISUID) && about.uid() != user {
        Some("it is set-user-ID")
    } else if sets(libc::S_ISGID | libc::S_IXGRP) && about.gid() != group {
        Some("it is set-group-ID")
    } else if user != 0 && has_capabilities(file) {
        Some("its file has capabilities")
    } else {
        None
    }
}

fn has_capabilities(file: &Path) -> bool {
    let Ok(file) = CString::new(file.as_os_str().as_bytes()) else { return false };
    let name = c"security.capability";
    // SAFETY: both names are closed by a zero; nothing is written where the size is 0.
    unsafe { libc::getxattr(file.as_ptr(), name.as_ptr(), std::ptr::null_mut(), 0) > 0 }
}

/// The file that execvp(3) takes for a command.
pub(crate) fn found(command: &OsStr) -> Option<PathBuf> {
    if command.as_bytes().contains(&b'/') {
        return Some(command.into());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(command))
        .find(|file| file.is_file())
}

/// The part of the system that keeps a process from following its own child, and the remedy.
fn forbidden_by(child: libc::pid_t) -> String {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let scope = text("/proc/sys/kernel/yama/ptrace_scope");
    let folder = process_files::of_process(child.unsigned_abs());
    let status = folder.map(|folder| text(&(folder + "/status"))).unwrap_or_default();
    let field = |name: &str| -> u32 {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
    };
    match (scope.trim(), field("TracerPid:"), field("Seccomp:")) {
        (_, tracer @ 1.., _) => format!("process {tracer} traces it already; end that one"),
        ("3", ..) => "kernel.yama.ptrace_scope is 3, which holds until the next boot; boot with \
                      less"
            .into(),
        ("2", ..) => "kernel.yama.ptrace_scope is 2; run as root, or lower it".into(),
        (_, _, 2) => "a seccomp filter forbids it; allow ptrace in the container's profile".into(),
        _ => "a security module may forbid it; allow ptrace there".into(),
    }
}

/// The reading and the writing end of a pipe that no other program inherits.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the call fills two descriptors into a live array of two.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both descriptors are new and have no other owner.
    let [read, write] = ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    Ok((read, write))
}

fn raw(fd: &OwnedFd) -> RawFd {
    std::os::fd::AsRawFd::as_raw_fd(fd)
}

/// As shells have it.
const NOT_FOUND: u8 = 127;
