//! System calls that a filter forbids, as containers' filters do.

use std::os::unix::process::CommandExt;
use std::process::Command;

use super::text;

/// Makes a system call answer EPERM, as containers' filters do.
pub(super) fn forbid(call: libc::c_long) -> std::io::Result<()> {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut filter = [
        // The number of the system call stands first.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, call as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program =
        libc::sock_fprog { len: filter.len() as libc::c_ushort, filter: filter.as_mut_ptr() };
    // SAFETY: numbers, and a pointer to a live program that the kernel copies.
    let answer = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
    };
    if answer == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// A command that cannot begin without signals says which call is forbidden.
pub(super) fn is_named_where_forbidden(command: impl Fn() -> Command) {
    for (call, name, what) in [
        (libc::SYS_rt_sigprocmask, "rt_sigprocmask", "hold signals back"),
        (libc::SYS_rt_sigtimedwait, "rt_sigtimedwait", "wait for signals"),
    ] {
        let mut command = command();
        // SAFETY: the closure makes system calls only.
        let answer = unsafe { command.pre_exec(move || forbid(call)) }.output().expect("it runs");
        let (status, said) = (answer.status.code(), text(&answer.stderr));
        assert_eq!((status, text(&answer.stdout)), (Some(1), ""), "{command:?}: {said}");
        let line = format!(
            "pacman-pmu: cannot {what}: {name} says Operation not permitted (os error 1): a \
             seccomp filter forbids it; allow {name} in the container's profile\n"
        );
        assert_eq!(said, line, "{command:?}");
    }
}
