//! Work that the program's thread does for this library, apart from the program.
//!
//! The program has sized its threads' stacks for its own code, some to the smallest that the system
//! allows; it looks at `errno` and at its floating-point flags; and it may cancel any of its threads,
//! which would end in the midst of a function that cannot be unwound. Whatever is done seldom and
//! takes more than a few hundred bytes of stack, or system calls, is done in here.

use std::arch::global_asm;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::floating;

// rdi: the stack's end, rsi: the argument, rdx: the function. The frame pointer is kept, so that
// debuggers and profilers see the program's frames behind it.
global_asm!(
    ".pushsection .text.pacman_omp_on_stack, \"ax\", @progbits",
    ".hidden pacman_omp_on_stack",
    ".globl pacman_omp_on_stack",
    ".type pacman_omp_on_stack, @function",
    "pacman_omp_on_stack:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "mov rsp, rdi",
    "mov rdi, rsi",
    "call rdx",
    "mov rsp, rbp",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size pacman_omp_on_stack, . - pacman_omp_on_stack",
    ".popsection",
);

unsafe extern "C" {
    fn pacman_omp_on_stack(
        end: *mut c_void,
        argument: *mut c_void,
        act: unsafe extern "C" fn(*mut c_void),
    );
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

/// Several times what is used by a build without optimisation; what is not used is address space
/// only.
const SIZE: usize = 512 << 10;
/// Below it, where nothing may be.
const GUARD: usize = 4096;

/// A stack that nobody is on.
static SPARE: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// Does `act` on a stack of the library's own, in the usual floating-point state, without being
/// cancelled, and leaves `errno` as it was.
///
/// `act` is not to unwind.
#[cold]
#[inline(never)]
pub(crate) fn isolated<R>(act: impl FnOnce() -> R) -> R {
    /// What is done, and then what came of it.
    struct Work<F, R>(Option<F>, Option<R>);

    unsafe extern "C" fn within<F: FnOnce() -> R, R>(work: *mut c_void) {
        // SAFETY: passed below, and not used there meanwhile.
        let work = unsafe { &mut *work.cast::<Work<F, R>>() };
        work.1 = work.0.take().map(|act| floating::isolated(act));
    }

    fn on_a_stack<F: FnOnce() -> R, R>(work: &mut Work<F, R>) {
        let argument = (&raw mut *work).cast();
        match taken() {
            Some(stack) => {
                // SAFETY: a stack that nobody else is on, whose end is aligned as the ABI has it; the
                // function returns, and does not unwind: an `extern "C"` function would abort.
                unsafe {
                    let end = stack.cast::<u8>().add(GUARD + SIZE).cast();
                    pacman_omp_on_stack(end, argument, within::<F, R>);
                }
                give_back(stack);
            }
            // No address space is left: the thread's own stack may be large enough.
            // SAFETY: as above.
            None => unsafe { within::<F, R>(argument) },
        }
    }

    const DISABLED: c_int = 1;
    let (mut before, mut work) = (0, Work(Some(act), None));
    // SAFETY: a state that there is, and words of this thread's.
    let errno = unsafe {
        pthread_setcancelstate(DISABLED, &raw mut before);
        *libc::__errno_location()
    };
    on_a_stack(&mut work);
    // SAFETY: as above, the state that there was.
    unsafe {
        *libc::__errno_location() = errno;
        pthread_setcancelstate(before, null_mut());
    }
    work.1.expect("it was done")
}

/// A stack: the spare one, or a new one; `None` where there is no room for it.
fn taken() -> Option<*mut c_void> {
    // ATOMICS: pairs with the release in `give_back`: who had it before is off it.
    let spare = SPARE.swap(null_mut(), Ordering::Acquire);
    if !spare.is_null() {
        return Some(spare);
    }
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    // SAFETY: a new mapping at an address of the kernel's choice, whose lowest page becomes the guard.
    unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let stack = libc::mmap(null_mut(), GUARD + SIZE, access, flags, -1, 0);
        if stack == libc::MAP_FAILED {
            return None;
        }
        libc::mprotect(stack, GUARD, libc::PROT_NONE);
        Some(stack)
    }
}

/// Nobody is on it any more.
fn give_back(stack: *mut c_void) {
    let kept = SPARE.compare_exchange(null_mut(), stack, Ordering::Release, Ordering::Relaxed);
    if kept.is_err() {
        // SAFETY: mapped by `taken`, and nobody is on it.
        unsafe { libc::munmap(stack, GUARD + SIZE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_done_elsewhere_and_leaves_no_trace() {
        let here = 0u8;
        // SAFETY: this thread's own word.
        unsafe { *libc::__errno_location() = 77 };
        let at = isolated(|| {
            let there = 0u8;
            // SAFETY: closes nothing, and sets the thread's error.
            unsafe { libc::close(-1) };
            // What a small stack would not have.
            let large = std::hint::black_box([1u8; SIZE / 8]);
            assert_eq!(large.iter().map(|&one| usize::from(one)).sum::<usize>(), SIZE / 8);
            assert_eq!(isolated(|| 5), 5, "inside of another");
            (&raw const there).addr()
        });
        assert!(at.abs_diff((&raw const here).addr()) > SIZE / 2, "another stack");
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(77));
    }

    #[test]
    fn threads_at_the_same_time_have_each_their_own() {
        let barrier = std::sync::Barrier::new(8);
        let place = || {
            isolated(|| {
                barrier.wait();
                let there = 0u8;
                (&raw const there).addr() / (SIZE / 2)
            })
        };
        let mut places: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(place)).collect();
            threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
        });
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 8);
    }
}
