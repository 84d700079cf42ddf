//! libomp's block time: the milliseconds that an idle thread spins before it sleeps.
//!
//! A thread has a block time of its own, which the teams that it starts inherit. [`pack`] and [`unpack`] are for the
//! thread whose teams are packed. A program that asks for its block time, or sets it, has its own from then on.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};

use pacman_regions::RuntimeFamily;

use crate::function::Function;
use crate::runtime::Runtime;

/// Why a block time stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// A variable of the user says how threads wait.
    OfUser,
    /// The program asks for it, or sets it.
    OfProgram,
    /// libomp answers 0. Either the program has set that, or there are more threads than processors. Then threads spin
    /// as long as ever, but yield; and 0, once set, would not be taken back by setting the answer again.
    IsZero,
    /// The runtime has no such call.
    NoCall,
}

static IS_OF_PROGRAM: AtomicBool = AtomicBool::new(false);
/// The runtime whose threads sleep at once because their team is packed, and the milliseconds that they spun before.
static PACKED: AtomicPtr<Runtime> = AtomicPtr::new(null_mut());
static BEFORE: AtomicI32 = AtomicI32::new(0);

/// Has idle threads of teams that the calling thread starts sleep at once. Returns the milliseconds that they spun before, for
/// [`set`].
pub(crate) fn end(runtime: &Runtime) -> Result<i32, Kept> {
    if runtime.family == RuntimeFamily::Libgomp {
        return Err(Kept::NoCall);
    }
    if is_of_program() {
        return Err(Kept::OfProgram);
    }
    if ["KMP_BLOCKTIME", "OMP_WAIT_POLICY"].iter().any(|name| std::env::var_os(name).is_some()) {
        return Err(Kept::OfUser);
    }
    let before = runtime.question(Function::kmp_get_blocktime).ok_or(Kept::NoCall)?();
    match before {
        0 => Err(Kept::IsZero),
        _ if set(runtime, 0) => Ok(before),
        _ => Err(Kept::NoCall),
    }
}

/// Has idle threads of the calling thread's teams spin for `milliseconds`; false if the runtime cannot.
pub(crate) fn set(runtime: &Runtime, milliseconds: i32) -> bool {
    let Some(real) = runtime.real(Function::kmp_set_blocktime) else { return false };
    // SAFETY: libomp's function of that name takes milliseconds as an int.
    let real: extern "C" fn(i32) = unsafe { std::mem::transmute(real) };
    real(milliseconds);
    true
}

/// Whether the program asks for block times, or sets them.
pub(crate) fn is_of_program() -> bool {
    IS_OF_PROGRAM.load(Ordering::Relaxed)
}

/// [`end`], until [`unpack`].
pub(crate) fn pack(runtime: &'static Runtime) {
    if PACKED.load(Ordering::Relaxed).is_null() {
        if let Ok(before) = end(runtime) {
            BEFORE.store(before, Ordering::Relaxed);
            // ATOMICS: whoever sees the runtime sees the time before.
            PACKED.store(std::ptr::from_ref(runtime).cast_mut(), Ordering::Release);
        }
    }
}

/// Threads spin again as before [`pack`].
pub(crate) fn unpack() {
    if let Some(runtime) = runtime(PACKED.swap(null_mut(), Ordering::Acquire)) {
        set(runtime, BEFORE.load(Ordering::Relaxed));
    }
}

/// The program asks for the calling thread's block time, or sets it. It sees its own, and keeps it. `starts_teams` says whether
/// the thread is that of [`pack`]. Another one has inherited the time.
#[cold]
pub(crate) fn is_asked_for(starts_teams: bool) {
    IS_OF_PROGRAM.store(true, Ordering::Relaxed);
    if starts_teams {
        unpack();
    } else if let Some(runtime) = runtime(PACKED.load(Ordering::Acquire)) {
        set(runtime, BEFORE.load(Ordering::Relaxed));
    }
}

fn runtime(packed: *mut Runtime) -> Option<&'static Runtime> {
    // SAFETY: null, or a runtime that lives as long as the process.
    unsafe { packed.as_ref() }
}
