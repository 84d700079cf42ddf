//! libomp's block time: the milliseconds that an idle thread spins before it sleeps.

use pacman_regions::RuntimeFamily;

use crate::function::Function;
use crate::runtime::Runtime;

/// Why a block time stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// A variable of the user says how threads wait.
    OfUser,
    /// libomp answers 0. Either the program has set that, or there are more threads than processors. Then threads spin
    /// as long as ever, but yield; and 0, once set, would not be taken back by setting the answer again.
    IsZero,
    /// The runtime has no such call.
    NoCall,
}

/// Has idle threads of teams that the calling thread starts sleep at once. Returns the milliseconds that they spun before, for
/// [`set`].
pub(crate) fn end(runtime: &Runtime) -> Result<i32, Kept> {
    if runtime.family == RuntimeFamily::Libgomp {
        return Err(Kept::NoCall);
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
