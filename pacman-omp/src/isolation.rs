//! Rare work of the library on a thread of the program, isolated from the program's state.
//!
//! The program sizes its threads' stacks for its own code, some to the least that the system allows. It
//! reads `errno` and its floating-point flags. It may cancel a thread, which must not end inside a
//! function that cannot unwind. Its signal handlers may call its runtime, and would wait for a lock that the
//! interrupted work holds. So all rare work that takes more than a few hundred bytes of stack, makes system calls,
//! or takes locks runs in [`isolated`].
//!
//! A handler may also fork, and fork handlers take all locks of the library. So no thread holds one of them with its
//! signals unblocked: a [`Lock`](crate::lock::Lock) and the heap have signals wait by themselves ([`Quiet`]), unless
//! `isolated` does. Thus a forgotten `isolated` costs two system calls, and hangs nothing.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use pacman_core::system_calls;

use crate::arch::{client_request, pacman_omp_on_stack};
use crate::defect::Unknown;
use crate::floating;

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

/// Several times the need of a build without optimisation. Unused pages take only address space.
const SIZE: usize = 512 << 10;
/// The guard page below the stack.
const GUARD: usize = 4096;

/// Bytes above the frames; they keep the alignment of the ABI.
const RESERVED: usize = 16;

/// Stacks that no thread uses. Threads that start together are in [`isolated`] together, and would each map a stack and
/// unmap it. Other threads wait for that when their memory is touched first, and a thread that waits loses its
/// place beside threads that spin.
struct Spare([AtomicPtr<c_void>; 16]);

static SPARE: Spare = Spare::new();

/// Runs `act` on a stack of the library, in the default floating-point state, with signals blocked and cancellation
/// disabled. Restores `errno`.
///
/// A panic in `act` ends observing, and gives an unknown result.
#[cold]
#[inline(never)]
pub(crate) fn isolated<R: Unknown>(act: impl FnOnce() -> R) -> R {
    let (mut act, mut result) = (Some(act), None);
    isolate(true, &mut || result = act.take().map(|act| act()));
    result.unwrap_or_else(R::unknown)
}

/// As [`isolated`], for work that only takes memory and so cannot panic.
#[cold]
#[inline(never)]
pub(crate) fn isolated_memory<R>(act: impl FnOnce() -> R) -> R {
    let (mut act, mut result) = (Some(act), None);
    isolate(false, &mut || result = act.take().map(|act| act()));
    result.expect("the work has run")
}

/// As [`isolated`], once in the library instead of once for each kind of work.
fn isolate(is_contained: bool, mut work: &mut dyn FnMut()) {
    unsafe extern "C" fn contained(work: *mut c_void) {
        // SAFETY: the reference below, which no other code uses meanwhile.
        let work = unsafe { &mut *work.cast::<&mut dyn FnMut()>() };
        floating::within(work);
    }
    unsafe extern "C" fn plain(work: *mut c_void) {
        // SAFETY: as above.
        let work = unsafe { &mut *work.cast::<&mut dyn FnMut()>() };
        work();
    }
    let within = if is_contained { contained } else { plain };

    const DISABLED: c_int = 1;
    let mut before = 0;
    // SAFETY: a valid state, and words of this thread.
    let errno = unsafe {
        pthread_setcancelstate(DISABLED, &raw mut before);
        *libc::__errno_location()
    };
    let argument = (&raw mut work).cast();
    let signals = Quiet::begin();
    match SPARE.take() {
        Some(stack) => {
            // SAFETY: no other thread uses the stack, and its end is aligned for the ABI. The function
            // returns and does not unwind: an `extern "C"` function aborts instead.
            unsafe {
                let end = last_word(stack).cast();
                replace_in_use(0, stack.addr());
                pacman_omp_on_stack(end, argument, within);
                replace_in_use(stack.addr(), 0);
            }
            SPARE.give_back(stack);
        }
        // Without address space for a stack, the thread's own may be large enough.
        // SAFETY: as above.
        None => unsafe { within(argument) },
    }
    drop(signals);
    // SAFETY: as above, with the state before.
    unsafe {
        *libc::__errno_location() = errno;
        pthread_setcancelstate(before, null_mut());
    }
}

/// Signals of a thread's own instructions. The kernel ends a process that blocks one, even if it has a handler: this
/// library's for recordings that were cut short, or another tool's.
const FAULTS: [c_int; 6] =
    [libc::SIGBUS, libc::SIGSEGV, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS];

/// The signals of the calling thread wait while it lives, but for faults.
#[derive(Debug)]
pub(crate) struct Quiet {
    /// The mask before; `None` if signals waited already, or the program filters its system calls.
    before: Option<libc::sigset_t>,
    /// A mask is the thread's own.
    _of_thread: PhantomData<*const ()>,
}

impl Quiet {
    /// Has signals wait, unless the thread is in [`isolated`].
    #[cold]
    #[inline(never)]
    pub(crate) fn begin() -> Quiet {
        let is_needed = !is_on_own_stack() && !system_calls::are_forbidden();
        let before = if is_needed { block_signals() } else { None };
        Quiet { before, _of_thread: PhantomData }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: the mask lives during the call.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, null_mut()) };
        }
    }
}

/// Has the signals of the calling thread wait; the mask before, if that was another one.
fn block_signals() -> Option<libc::sigset_t> {
    // SAFETY: both sets live during the calls.
    unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        FAULTS.iter().for_each(|&fault| _ = libc::sigdelset(&raw mut all, fault));
        let blocked = libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
        (blocked == 0).then_some(before)
    }
}

/// The stacks on which threads are now; 0 for none. A thread whose stack finds no place seems to be on its own.
static IN_USE: [AtomicUsize; 32] = [const { AtomicUsize::new(0) }; 32];

/// Replaces a number in that list by another one, if it is there.
fn replace_in_use(old: usize, new: usize) {
    // ATOMICS: only the thread on a stack asks for that stack.
    let replaced = |place: &AtomicUsize| {
        place.compare_exchange(old, new, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    };
    IN_USE.iter().any(replaced);
}

/// Whether the calling thread is on one of the library's stacks, and so in [`isolated`].
fn is_on_own_stack() -> bool {
    let here = 0u8;
    let here = (&raw const here).addr();
    let has = |stack: usize| stack != 0 && (stack..stack + GUARD + SIZE).contains(&here);
    IN_USE.iter().any(|stack| has(stack.load(Ordering::Relaxed)))
}

impl Spare {
    const fn new() -> Spare {
        Spare([const { AtomicPtr::new(null_mut()) }; 16])
    }

    /// A spare stack, or a new one; `None` without address space.
    fn take(&self) -> Option<*mut c_void> {
        // ATOMICS: pairs with the release in `give_back`: the thread before has left the stack.
        let mut spare = self.0.iter().map(|place| place.swap(null_mut(), Ordering::Acquire));
        spare.find(|stack| !stack.is_null()).or_else(mapped)
    }

    /// Gives back a stack that the thread has left.
    fn give_back(&self, stack: *mut c_void) {
        let keep = |place: &AtomicPtr<c_void>| {
            place.compare_exchange(null_mut(), stack, Ordering::Release, Ordering::Relaxed).is_ok()
        };
        if !self.0.iter().any(keep) {
            // SAFETY: mapped by `mapped`, and no thread uses it.
            unsafe {
                client_request([STACK_DEREGISTER, last_word(stack).read(), 0]);
                libc::munmap(stack, GUARD + SIZE);
            }
        }
    }
}

/// A new stack; `None` without address space.
fn mapped() -> Option<*mut c_void> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    // SAFETY: a new mapping at an address that the kernel chooses. Its lowest page becomes the guard.
    unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let stack = libc::mmap(null_mut(), GUARD + SIZE, access, flags, -1, 0);
        if stack == libc::MAP_FAILED {
            return None;
        }
        libc::mprotect(stack, GUARD, libc::PROT_NONE);
        let (first, end) = (stack.addr() + GUARD, stack.addr() + GUARD + SIZE);
        last_word(stack).write(client_request([STACK_REGISTER, first, end - 1]));
        Some(stack)
    }
}

/// The word above a stack's frames. It has valgrind's number of the stack.
fn last_word(stack: *mut c_void) -> *mut usize {
    stack.wrapping_byte_add(GUARD + SIZE - RESERVED).cast()
}

/// Requests of valgrind, which takes a stack that it does not know for a large frame of the thread's own.
const STACK_REGISTER: usize = 0x1501;
const STACK_DEREGISTER: usize = 0x1502;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isolated_work_leaves_the_state_of_the_thread() {
        let here = 0u8;
        // SAFETY: a word of this thread.
        unsafe { *libc::__errno_location() = 77 };
        let at = isolated(|| {
            let there = 0u8;
            // SAFETY: closes nothing, and sets `errno`.
            unsafe { libc::close(-1) };
            // More than a small stack has.
            let large = std::hint::black_box([1u8; SIZE / 8]);
            assert_eq!(large.iter().map(|&one| usize::from(one)).sum::<usize>(), SIZE / 8);
            assert_eq!(isolated(|| 5), 5, "nested");
            (&raw const there).addr()
        });
        assert!(at.abs_diff((&raw const here).addr()) > SIZE / 2, "another stack");
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(77));
    }

    #[test]
    fn stacks_of_threads_that_worked_together_are_kept() {
        let spare = Spare::new();
        let taken = |count: usize| -> Vec<*mut c_void> {
            let mut stacks: Vec<_> = (0..count).filter_map(|_| spare.take()).collect();
            stacks.sort_unstable();
            stacks
        };
        let stacks = taken(spare.0.len());
        stacks.iter().for_each(|&stack| spare.give_back(stack));
        assert_eq!(taken(spare.0.len()), stacks, "none is unmapped, and none is new");
        let more = spare.take().expect("address space");
        stacks.iter().for_each(|&stack| spare.give_back(stack));
        spare.give_back(more);
        assert!(spare.0.iter().all(|place| place.load(Ordering::Relaxed) != more), "one too many");
    }

    #[test]
    fn concurrent_threads_have_stacks_of_their_own() {
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
