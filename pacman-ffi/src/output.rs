//! Writing to descriptors of the calling program, which a closed pipe must not kill.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::path::Path;

use pacman_core::atomic_write;

/// Writes all of `bytes`, and waits where the descriptor does not block.
pub(crate) fn write_all(fd: RawFd, bytes: &[u8]) -> io::Result<()> {
    let quiet = Quiet::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        // SAFETY: the bytes are ours for the length of the call.
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

/// Writes a file whole or not at all: what stood there stays until then. A device or a pipe is
/// written to, and a link stays one.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let quiet = Quiet::new();
    atomic_write::write(path, bytes).inspect_err(|error| {
        if error.kind() == io::ErrorKind::BrokenPipe {
            quiet.swallow();
        }
    })
}

/// The columns of the terminal behind a descriptor, 0 if it does not tell, or
/// `None` if it is no terminal.
pub(crate) fn terminal_width(fd: RawFd) -> Option<usize> {
    // SAFETY: isatty takes any number.
    if unsafe { libc::isatty(fd) } != 1 {
        return None;
    }
    let mut size = MaybeUninit::<libc::winsize>::zeroed();
    // SAFETY: the ioctl fills in a struct of ours, which zeros have made valid.
    let size = unsafe {
        libc::ioctl(fd, libc::TIOCGWINSZ, size.as_mut_ptr());
        size.assume_init()
    };
    Some(usize::from(size.ws_col))
}

fn wait(fd: RawFd) -> io::Result<()> {
    let mut ready = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one pollfd of ours.
    if unsafe { libc::poll(&mut ready, 1, -1) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(())
}

/// Holds SIGPIPE back from this thread while it lives.
struct Quiet {
    before: libc::sigset_t,
    /// It could be held back.
    held: bool,
    /// One was waiting already: not ours to swallow.
    pending: bool,
}

impl Quiet {
    fn new() -> Quiet {
        let pipe = only_sigpipe();
        let mut before = MaybeUninit::zeroed();
        // SAFETY: sets of ours; sigpending and pthread_sigmask fill them in.
        unsafe {
            let mut waiting = MaybeUninit::zeroed();
            libc::sigpending(waiting.as_mut_ptr());
            let pending = libc::sigismember(waiting.as_ptr(), libc::SIGPIPE) == 1;
            // A seccomp filter may refuse it: then the mask is as it was, and stays so.
            let held = libc::pthread_sigmask(libc::SIG_BLOCK, &pipe, before.as_mut_ptr()) == 0;
            Quiet { before: before.assume_init(), held, pending }
        }
    }

    /// Takes away the SIGPIPE that a failed write has left for this thread.
    fn swallow(&self) {
        if self.pending || !self.held {
            return;
        }
        let (pipe, now) = (only_sigpipe(), libc::timespec { tv_sec: 0, tv_nsec: 0 });
        // SAFETY: a set and a time of ours; nothing is asked about the signal.
        while unsafe { libc::sigtimedwait(&pipe, std::ptr::null_mut(), &now) } < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if self.held {
            // SAFETY: the mask that this thread had before.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut()) };
        }
    }
}

fn only_sigpipe() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset makes it a set, whatever it held.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGPIPE);
        set.assume_init()
    }
}
