//! Writing to descriptors of the calling program, which a closed pipe must not kill.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::path::Path;

use pacman_core::atomic_write;

/// Writes all of `bytes`. Waits if the descriptor is non-blocking and full.
pub(crate) fn write_all(fd: RawFd, bytes: &[u8]) -> io::Result<()> {
    let quiet = Quiet::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        // SAFETY: the bytes are borrowed during the call.
        let written = unsafe { libc::write(fd, rest.as_ptr().cast(), rest.len()) };
        if written >= 0 {
            rest = &rest[written as usize..];
            continue;
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EAGAIN) => wait(fd)?,
            Some(libc::EPIPE) => {
                quiet.swallow();
                return Err(error);
            }
            _ => return Err(error),
        }
    }
    Ok(())
}

/// Replaces a file by a complete new one. After a failure the old file is unchanged. A device or a
/// pipe is written in place, and a link stays a link.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let quiet = Quiet::new();
    atomic_write::write(path, bytes).inspect_err(|error| {
        if error.kind() == io::ErrorKind::BrokenPipe {
            quiet.swallow();
        }
    })
}

/// The columns of the terminal behind a descriptor; 0 if they are unknown, and `None` if it is not a
/// terminal.
pub(crate) fn terminal_width(fd: RawFd) -> Option<usize> {
    // SAFETY: isatty takes any number.
    if unsafe { libc::isatty(fd) } != 1 {
        return None;
    }
    let mut size = MaybeUninit::<libc::winsize>::zeroed();
    // SAFETY: the ioctl fills in our own struct, and zeros are a valid value of it.
    let size = unsafe {
        libc::ioctl(fd, libc::TIOCGWINSZ, size.as_mut_ptr());
        size.assume_init()
    };
    Some(usize::from(size.ws_col))
}

fn wait(fd: RawFd) -> io::Result<()> {
    let mut ready = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
    // SAFETY: the pointer is to one pollfd of ours.
    if unsafe { libc::poll(&mut ready, 1, -1) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(())
}

/// Blocks SIGPIPE for this thread until it is dropped.
struct Quiet {
    before: libc::sigset_t,
    /// Whether SIGPIPE could be blocked.
    held: bool,
    /// Whether a SIGPIPE was pending before. This library must not take that one away.
    pending: bool,
}

impl Quiet {
    fn new() -> Quiet {
        let pipe = only_sigpipe();
        let mut before = MaybeUninit::zeroed();
        // SAFETY: sigpending and pthread_sigmask fill in our own sets.
        unsafe {
            let mut waiting = MaybeUninit::zeroed();
            libc::sigpending(waiting.as_mut_ptr());
            let pending = libc::sigismember(waiting.as_ptr(), libc::SIGPIPE) == 1;
            // A seccomp filter may refuse the call. Then the mask does not change.
            let held = libc::pthread_sigmask(libc::SIG_BLOCK, &pipe, before.as_mut_ptr()) == 0;
            Quiet { before: before.assume_init(), held, pending }
        }
    }

    /// Takes away the pending SIGPIPE of a failed write.
    fn swallow(&self) {
        if self.pending || !self.held {
            return;
        }
        let (pipe, now) = (only_sigpipe(), libc::timespec { tv_sec: 0, tv_nsec: 0 });
        // SAFETY: the set and the time are our own, and a null pointer asks for no details.
        while unsafe { libc::sigtimedwait(&pipe, std::ptr::null_mut(), &now) } < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if self.held {
            // SAFETY: the call restores the mask that this thread had before.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut()) };
        }
    }
}

fn only_sigpipe() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset makes a valid set of any memory.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGPIPE);
        set.assume_init()
    }
}
