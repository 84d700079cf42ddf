//! [`Kernel`]: the system calls of Linux below the perf backend.

use std::os::fd::RawFd;
use std::ptr::NonNull;

use perf_event_open_sys::bindings::perf_event_attr;

use crate::arch::{self, RawCount, Register};
use crate::seam::{Errno, PAGE, PerfSys, SysResult, Target};
use crate::{descriptor, system_calls};

/// Linux itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kernel;

/// An error if the process filters its system calls.
#[inline]
fn permitted() -> Result<(), Errno> {
    if system_calls::are_forbidden() { Err(Errno(libc::EPERM)) } else { Ok(()) }
}

/// As [`PerfSys::id`]: one `ioctl(2)`, which is also allowed between fork and exec.
#[inline]
pub(super) fn id_of(fd: RawFd) -> Result<u64, Errno> {
    permitted()?;
    let mut id = 0;
    // SAFETY: the ioctl is perf's own and writes one word; other files refuse it.
    let answer = unsafe { perf_event_open_sys::ioctls::ID(fd, &raw mut id) };
    if answer < 0 { Err(Errno::last()) } else { Ok(id) }
}

impl PerfSys for Kernel {
    #[inline(always)]
    fn is_real(&self) -> bool {
        true
    }

    fn open(&self, attr: &mut perf_event_attr, target: Target, group: RawFd) -> SysResult<RawFd> {
        permitted()?;
        let (tid, cpu) = match target {
            Target::Caller => (0, -1),
            // 0 and -1 would mean the caller and everybody.
            Target::Thread(tid) | Target::Tree(tid) if tid <= 0 => return Err(Errno(libc::ESRCH)),
            Target::Thread(tid) | Target::Tree(tid) => (tid, -1),
            Target::Context(cpu) => (-1, i32::try_from(cpu).map_err(|_| Errno(libc::ENODEV))?),
        };
        attr.set_inherit(u64::from(matches!(target, Target::Tree(_))));
        let flags = perf_event_open_sys::bindings::PERF_FLAG_FD_CLOEXEC;
        // SAFETY: `attr` is a live, initialised structure that states its own size.
        let fd =
            unsafe { perf_event_open_sys::perf_event_open(attr, tid, cpu, group, flags.into()) };
        if fd < 0 {
            return Err(Errno::last());
        }
        descriptor::out_of_the_way(fd)
            .map_err(|error| Errno(error.raw_os_error().unwrap_or(libc::EMFILE)))
    }

    #[inline]
    fn id(&self, fd: RawFd) -> Result<u64, Errno> {
        id_of(fd)
    }

    fn close(&self, fd: RawFd) {
        // A descriptor that stays open costs less than the end of the program.
        if permitted().is_ok() {
            // SAFETY: the descriptor is owned by the group that closes it, once.
            unsafe { libc::close(fd) };
        }
    }

    fn enable_group(&self, leader: RawFd) -> Result<(), Errno> {
        permitted()?;
        // SAFETY: the ioctl takes a flag word and accesses no memory of ours. It does not use the
        // group's flag: members are opened enabled and count only while their leader does, and each
        // member named costs a pass.
        let answer = unsafe { perf_event_open_sys::ioctls::ENABLE(leader, 0) };
        if answer < 0 { Err(Errno::last()) } else { Ok(()) }
    }

    fn disable_group(&self, leader: RawFd) -> Result<(), Errno> {
        permitted()?;
        // SAFETY: as for `enable_group`, and without the flag for the same reason.
        let answer = unsafe { perf_event_open_sys::ioctls::DISABLE(leader, 0) };
        if answer < 0 { Err(Errno::last()) } else { Ok(()) }
    }

    #[inline]
    fn read(&self, leader: RawFd, into: &mut [u64]) -> Result<usize, Errno> {
        permitted()?;
        // Not `libc::read`: that is a cancellation point. It costs locked instructions in a threaded
        // program, and may end the thread inside a phase.
        let bytes = arch::read_call(leader, into);
        if bytes < 0 { Err(Errno(-bytes as i32)) } else { Ok(bytes as usize / size_of::<u64>()) }
    }

    fn reserve(&self, pages: usize) -> Result<NonNull<u8>, Errno> {
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                pages * PAGE,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        NonNull::new(base.cast()).ok_or(Errno(libc::ENOMEM))
    }

    unsafe fn map(&self, fd: RawFd, base: NonNull<u8>, slot: usize) -> Result<(), Errno> {
        // SAFETY: the caller guarantees the reservation, so MAP_FIXED replaces only address space
        // that is ours: a kernel's page has at most PAGE bytes. More than one page of a kernel's would
        // ask for samples, in a power of two of pages.
        let page = unsafe {
            libc::mmap(
                base.as_ptr().add(slot * PAGE).cast(),
                libc::sysconf(libc::_SC_PAGESIZE) as usize,
                libc::PROT_READ,
                libc::MAP_SHARED | libc::MAP_FIXED,
                fd,
                0,
            )
        };
        if page == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(()) }
    }

    unsafe fn release(&self, base: NonNull<u8>, pages: usize) {
        // SAFETY: the caller guarantees that this is one reservation, no longer used.
        unsafe { libc::munmap(base.as_ptr().cast(), pages * PAGE) };
    }

    #[inline(always)]
    unsafe fn read_counter(&self, register: Register) -> RawCount {
        // SAFETY: the caller guarantees that the counter may be read.
        unsafe { arch::read_counter(register) }
    }

    #[inline(always)]
    fn followed_by(&self, register: Register, others: usize) -> Register {
        register.followed_by(others)
    }

    #[inline(always)]
    unsafe fn read_counters<const N: usize>(&self, registers: [Register; N]) -> [RawCount; N] {
        // SAFETY: the caller guarantees that the counters may be read.
        unsafe { arch::read_counters(registers) }
    }
}
