//! Files that are cut short while they are mapped.
//!
//! A store to a page that its file does not have any more ends the program by SIGBUS. A file in a directory that
//! the user names cannot be protected from that: its owner may do with it as they like. So a handler, which only
//! processes with such a file have, replaces the page's piece by memory of the process alone. The recording is
//! lost, and the program goes on.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The address and the bytes of each piece of the file.
static PIECES: [(AtomicUsize, AtomicUsize); 8] =
    [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; 8];

/// Has the piece of that number replaced once its file is cut short. False if the handler cannot be installed.
pub(super) fn guard(number: usize, words: &'static [AtomicU64]) -> bool {
    let Some((address, bytes)) = PIECES.get(number) else { return false };
    bytes.store(size_of_val(words), Ordering::Relaxed);
    // ATOMICS: a handler that sees the address sees the size.
    address.store(words.as_ptr().expose_provenance(), Ordering::Release);
    number > 0 || install()
}

/// Whether the file was cut short.
static CUT: AtomicBool = AtomicBool::new(false);

fn install() -> bool {
    // SAFETY: the handler makes only calls that handlers may make. The structures are filled before they are used.
    unsafe {
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        if libc::sigaction(libc::SIGBUS, ptr::null(), before.as_mut_ptr()) != 0 {
            return false;
        }
        // An action that the process already has is kept: it would not be called in its place.
        if before.assume_init_ref().sa_sigaction != libc::SIG_DFL {
            return true;
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as extern "C" fn(_, _, _) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) == 0
    }
}

extern "C" fn handler(signal: i32, about: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: a word of this thread.
    let errno = unsafe { *libc::__errno_location() };
    handle(signal, about);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

fn handle(signal: i32, about: *mut libc::siginfo_t) {
    // SAFETY: the kernel passes the description of the signal.
    let at = unsafe { (*about).si_addr() }.addr();
    let piece = PIECES.iter().find_map(|(address, bytes)| {
        let (begin, bytes) = (address.load(Ordering::Acquire), bytes.load(Ordering::Relaxed));
        (begin..begin + bytes).contains(&at).then_some((begin, bytes))
    });
    let replaced = piece.is_some_and(|(begin, bytes)| {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
        let begin = ptr::with_exposed_provenance_mut(begin);
        // SAFETY: the library's own mapping, whose words are atomic and may have any value.
        unsafe { libc::mmap(begin, bytes, access, flags, -1, 0) != libc::MAP_FAILED }
    });
    if !replaced {
        // As without this handler: the fault or the signal comes again, with the default action.
        // SAFETY: these calls are allowed in handlers.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            if (*about).si_code <= 0 {
                libc::raise(signal);
            }
        }
        return;
    }
    if !CUT.swap(true, Ordering::Relaxed) {
        let line = b"libpacman_omp.so: the file of this process's recording was cut short; the recording is lost\n";
        // SAFETY: the bytes are readable.
        unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
    }
}
