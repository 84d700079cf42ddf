//! The calling thread's affinity mask for any number of CPUs, and its mask before it was bound.
//!
//! The topology reads the mask to find the contexts that the thread may use; a binding sets it.

use std::cell::RefCell;
use std::io;
use std::mem::{self, ManuallyDrop};

use libc::c_ulong;

use crate::cpu_set::CpuSet;
use pacman_events::{Error, ErrorKind, Result};

type GetAffinity =
    unsafe extern "C" fn(libc::pid_t, libc::size_t, *mut libc::cpu_set_t) -> libc::c_int;
type SetAffinity =
    unsafe extern "C" fn(libc::pid_t, libc::size_t, *const libc::cpu_set_t) -> libc::c_int;

/// Returns a function of the C library so that the compiler cannot inline its call.
///
/// The engine of `libpacman_omp.so` contains this code and has entries of the same names. These need the
/// return address of a call.
fn looked_up<F>(function: F) -> F {
    std::hint::black_box(function)
}

/// The calling thread's mask.
pub(crate) fn current() -> io::Result<CpuSet> {
    let mut words = 1024 / WORD_BITS;
    loop {
        let mut mask: Vec<c_ulong> = vec![0; words];
        // SAFETY: the pointer is valid for writes of the `size_of_val` bytes passed as the size.
        // The kernel treats a buffer of any length as a plain bit array.
        let status = unsafe {
            looked_up(libc::sched_getaffinity as GetAffinity)(
                0,
                size_of_val(mask.as_slice()),
                mask.as_mut_ptr().cast::<libc::cpu_set_t>(),
            )
        };
        if status == 0 {
            return Ok(members(&mask));
        }
        let error = io::Error::last_os_error();
        // EINVAL: the kernel supports more CPUs than the buffer has bits.
        if error.raw_os_error() != Some(libc::EINVAL) || words * WORD_BITS >= LARGEST_MASK_BITS {
            return Err(error);
        }
        words *= 2;
    }
}

/// Replaces the calling thread's mask.
pub(crate) fn set(cpus: &CpuSet) -> io::Result<()> {
    set_of(0, cpus)
}

/// Replaces the mask of a thread of any process; 0 is the caller.
pub(crate) fn set_of(tid: i32, cpus: &CpuSet) -> io::Result<()> {
    let mask = bits(cpus);
    // SAFETY: the pointer is valid for reads of the `size_of_val` bytes passed as the size; the
    // kernel copies them and keeps no pointer.
    let status = unsafe {
        looked_up(libc::sched_setaffinity as SetAffinity)(
            tid,
            size_of_val(mask.as_slice()),
            mask.as_ptr().cast::<libc::cpu_set_t>(),
        )
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The CPU that the calling thread runs on now; `None` if the kernel does not report it.
///
/// A thread that is not bound may run elsewhere the next moment. On x86-64 and AArch64 the C
/// library reads the CPU without a system call.
///
/// ```
/// use pacman_topology::{Binding, Topology, current_cpu};
/// let here = Topology::detect()?;
/// let place = here.place(here.allowed().first().unwrap())?;
/// let _binding = Binding::bind(&here, &place)?;
/// assert_eq!(current_cpu(), Some(place.cpu()));
/// # Ok::<(), pacman_topology::Error>(())
/// ```
pub fn current_cpu() -> Option<u32> {
    // SAFETY: `sched_getcpu` takes no argument and has no precondition.
    let cpu = unsafe { libc::sched_getcpu() };
    u32::try_from(cpu).ok()
}

/// Like [`current`], with an error for the user.
pub(crate) fn current_mask() -> Result<CpuSet> {
    current().map_err(|error| {
        let errno = error.raw_os_error().unwrap_or(0);
        Error::from_errno(
            ErrorKind::System,
            errno,
            format!(
                "cannot read the thread's affinity mask: sched_getaffinity says {error}; a seccomp filter may \
                 forbid it"
            ),
        )
    })
}

/// The calling thread's mask; while it is bound, the mask that its outermost binding will restore.
pub(crate) fn unbound_mask() -> Result<CpuSet> {
    match remembered(|outermost| outermost.as_ref().map(|(_, mask)| mask.clone())) {
        Some(mask) => Ok(mask),
        None => current_mask(),
    }
}

/// Whether the calling thread holds a binding.
pub(crate) fn bound() -> bool {
    remembered(|outermost| outermost.as_ref().map(drop)).is_some()
}

/// The number of bindings that a thread holds, and its mask before the first one.
type Outermost = Option<(usize, CpuSet)>;

thread_local! {
    /// It has no destructor, so exit handlers and destructors of other thread-locals can use it.
    /// The end of the last binding frees the mask.
    static OUTERMOST: RefCell<ManuallyDrop<Outermost>> =
        const { RefCell::new(ManuallyDrop::new(None)) };
}

#[allow(clippy::disallowed_methods, reason = "has no destructor, so it is always there")]
fn remembered<R>(act: impl FnOnce(&mut Outermost) -> R) -> R {
    OUTERMOST.with_borrow_mut(|outermost| act(outermost))
}

/// Notes a binding of the calling thread and the mask that the binding replaced.
pub(crate) fn remember(before: &CpuSet) {
    remembered(|outermost| match outermost {
        Some((held, _)) => *held += 1,
        None => *outermost = Some((1, before.clone())),
    });
}

/// Notes the end of a binding of the calling thread.
pub(crate) fn forget() {
    remembered(|outermost| match outermost {
        Some((held, _)) if *held > 1 => *held -= 1,
        _ => drop(mem::take(outermost)),
    });
}

fn members(mask: &[c_ulong]) -> CpuSet {
    let is_set = |cpu: &usize| mask[cpu / WORD_BITS] >> (cpu % WORD_BITS) & 1 == 1;
    (0..mask.len() * WORD_BITS).filter(is_set).map(|cpu| cpu as u32).collect()
}

fn bits(cpus: &CpuSet) -> Vec<c_ulong> {
    let last = cpus.last().unwrap_or(0) as usize;
    let mut mask: Vec<c_ulong> = vec![0; (last + 1).div_ceil(WORD_BITS)];
    for cpu in cpus.iter() {
        mask[cpu as usize / WORD_BITS] |= 1 << (cpu as usize % WORD_BITS);
    }
    mask
}

const WORD_BITS: usize = c_ulong::BITS as usize;

/// Far above the CPU limit of any kernel; ends the search if EINVAL has another cause.
const LARGEST_MASK_BITS: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_hold_cpus_beyond_1023() {
        for text in ["0", "63,64", "0,1023,1024", "5000"] {
            let set = CpuSet::from_list(text).unwrap();
            assert_eq!(members(&bits(&set)), set, "{text}");
        }
        assert_eq!(bits(&CpuSet::from_list("1024").unwrap()).len(), 1024 / WORD_BITS + 1);
    }

    #[test]
    fn the_kernel_reads_long_masks() {
        let before = current().unwrap();
        let with_a_cpu_nobody_has: CpuSet = before.iter().chain([20_000]).collect();
        set(&with_a_cpu_nobody_has).unwrap();
        assert_eq!(current().unwrap(), before);
        let error = set(&[20_000].into_iter().collect()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
        assert_eq!(current().unwrap(), before);
    }
}
