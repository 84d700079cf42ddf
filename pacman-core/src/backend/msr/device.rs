//! Linux itself: `/dev/cpu/N/msr`, RDPMC, and where the calling thread runs.

use std::fs;
use std::os::fd::RawFd;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

use parking_lot::Mutex;

use crate::arch::{self, Register};
use crate::backend::perf::PerfPermissions;
use crate::seam::{Errno, MsrIo};
use pacman_topology::cancel;
use pacman_topology::current_cpu;

/// The registers of the machine that the program runs on, through Linux's `msr` module.
///
/// A device stays open until the process ends, once it was used. Its record locks tell other PACMAN
/// processes which registers are in use. They would end with the first descriptor of the device
/// that the process closes.
#[derive(Clone, Copy, Debug)]
pub struct DevMsr {
    /// The offset from the thread pointer where the kernel keeps each thread's CPU number. `None`
    /// if the C library registered no such area.
    // Only x86-64 has the device.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    area: Option<isize>,
}

impl DevMsr {
    /// The devices of this machine; none is opened yet.
    pub fn new() -> DevMsr {
        DevMsr { area: restartable_area() }
    }

    /// Lets every program of this machine execute RDPMC, by writing 2 to the kernel's
    /// `rdpmc` file.
    ///
    /// The library never does this unasked, and never undoes it: a program that reads with RDPMC
    /// would be killed.
    ///
    /// # Errors
    /// The kernel's errno: `EACCES` without root, `ENOENT` without a PMU driver.
    pub fn allow_user_rdpmc(&self) -> Result<(), Errno> {
        fs::write(RDPMC, "2\n").map_err(|error| Errno(error.raw_os_error().unwrap_or(libc::EIO)))
    }
}

impl Default for DevMsr {
    fn default() -> DevMsr {
        DevMsr::new()
    }
}

impl MsrIo for DevMsr {
    #[inline(always)]
    fn is_real(&self) -> bool {
        true
    }

    fn read(&self, cpu: u32, msr: u32) -> Result<u64, Errno> {
        let fd = device(cpu)?;
        let mut value = 0u64;
        let (into, at) = (&raw mut value, i64::from(msr));
        // Not `pread`, at which a cancelled thread would be unwound.
        // SAFETY: the buffer is valid for the 8 bytes that the call may write.
        let bytes = unsafe { libc::syscall(libc::SYS_pread64, fd, into, 8usize, at) };
        whole(bytes).map(|()| value)
    }

    fn write(&self, cpu: u32, msr: u32, value: u64) -> Result<(), Errno> {
        let fd = device(cpu)?;
        // The program may have closed it, and opened a file of its own under the number.
        if !is_device(fd) {
            return Err(Errno(libc::EBADF));
        }
        let (from, at) = (&raw const value, i64::from(msr));
        // Not `pwrite`, as in `read`.
        // SAFETY: the buffer is valid for the 8 bytes that the call reads.
        let bytes = unsafe { libc::syscall(libc::SYS_pwrite64, fd, from, 8usize, at) };
        whole(bytes)
    }

    #[inline(always)]
    unsafe fn rdpmc(&self, index: u32) -> (u64, u64) {
        // SAFETY: the caller keeps the contract of `MsrIo::rdpmc`.
        unsafe { arch::read_counter(Register::simulated(index)).halves() }
    }

    fn cpu(&self) -> u32 {
        current_cpu().unwrap_or(u32::MAX)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn runs_on(&self, cpu: u32) -> bool {
        match self.area {
            // SAFETY: `restartable_area` found the C library's own offset of this.
            Some(offset) => unsafe { cpu_of_area(offset) == cpu },
            None => false,
        }
    }

    fn user_rdpmc(&self) -> bool {
        cfg!(target_arch = "x86_64")
            && fs::read_to_string(RDPMC).is_ok_and(|setting| setting.trim() == "2")
    }

    fn watchdog(&self) -> bool {
        PerfPermissions::read().watchdog
    }

    fn machine(&self) -> u64 {
        0
    }

    fn descriptor(&self, cpu: u32) -> Option<RawFd> {
        device(cpu).ok()
    }

    fn claim(&self, cpu: u32, msr: u32) -> Result<(), i32> {
        // Without the device no register is programmed either, so that error comes later.
        let Ok(fd) = device(cpu) else { return Ok(()) };
        let mut lock = record_lock(libc::F_WRLCK, msr);
        // SAFETY: the structure is live and describes one byte of the device.
        if unsafe { libc::fcntl(fd, libc::F_SETLK, &raw const lock) } == 0 {
            return Ok(());
        }
        // SAFETY: as above; the kernel fills in who holds the byte.
        let asked = unsafe { libc::fcntl(fd, libc::F_GETLK, &raw mut lock) };
        // A file system without locks, or a holder that has just ended: the register is free.
        let held = asked == 0 && i32::from(lock.l_type) != libc::F_UNLCK;
        if held { Err(lock.l_pid) } else { Ok(()) }
    }

    fn release(&self, cpu: u32, msr: u32) {
        if let Ok(fd) = device(cpu) {
            let lock = record_lock(libc::F_UNLCK, msr);
            // SAFETY: as in `claim`.
            unsafe { libc::fcntl(fd, libc::F_SETLK, &raw const lock) };
        }
    }
}

/// The byte at a register's number stands for the register.
fn record_lock(kind: i32, msr: u32) -> libc::flock {
    // SAFETY: all zeros is a valid lock description.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = i64::from(msr);
    lock.l_len = 1;
    lock
}

/// The open device of `cpu`.
fn device(cpu: u32) -> Result<RawFd, Errno> {
    let slot = OPEN.get(cpu as usize).ok_or(Errno(libc::ENXIO))?;
    // ATOMICS: a descriptor is a number that is valid for all threads immediately; no other data is
    // published with it.
    match slot.load(Ordering::Relaxed) {
        0 => cancel::put_off_during(|| open(cpu, slot)),
        kept => Ok(kept - 1),
    }
}

#[cold]
fn open(cpu: u32, slot: &AtomicI32) -> Result<RawFd, Errno> {
    static OPENING: Mutex<()> = Mutex::new(());
    // One thread at a time: closing a second descriptor would end the locks of the first.
    let _one = OPENING.lock();
    let kept = slot.load(Ordering::Relaxed);
    if kept != 0 {
        return Ok(kept - 1);
    }
    let path = format!("/dev/cpu/{cpu}/msr\0");
    // SAFETY: the path ends in a zero byte.
    let fd = unsafe { libc::open(path.as_ptr().cast(), libc::O_RDWR | libc::O_CLOEXEC) };
    if fd >= 0 {
        slot.store(fd + 1, Ordering::Relaxed);
        return Ok(fd);
    }
    let errno = Errno::last();
    // The node of an offline context is missing, but the other nodes exist.
    let others = || (0..OPEN.len()).any(|n| Path::new(&format!("/dev/cpu/{n}/msr")).exists());
    if errno.0 == libc::ENOENT && Path::new("/dev/cpu").exists() && others() {
        return Err(Errno(libc::ENXIO));
    }
    Err(errno)
}

/// Whether the descriptor is one of `/dev/cpu/N/msr`.
fn is_device(fd: RawFd) -> bool {
    /// Linux's major number of them.
    const MSR: libc::c_uint = 202;
    // SAFETY: all zeros is a valid description, which the call fills in.
    let mut found: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    let known = unsafe { libc::fstat(fd, &raw mut found) } == 0;
    known && found.st_mode & libc::S_IFMT == libc::S_IFCHR && libc::major(found.st_rdev) == MSR
}

/// Whether a register was transferred: the device transfers only whole ones.
fn whole(bytes: libc::c_long) -> Result<(), Errno> {
    match bytes {
        8 => Ok(()),
        ..0 => Err(Errno::last()),
        _ => Err(Errno(libc::EIO)),
    }
}

/// The offset from the thread pointer of the `rseq(2)` area, in which the kernel keeps each
/// thread's CPU number up to date. glibc registers the area since 2.35.
///
/// RDTSCP and RDPID return the CPU as well, but no Pentium 4 has them.
#[cfg(target_arch = "x86_64")]
fn restartable_area() -> Option<isize> {
    // SAFETY: the names end in zero bytes; the symbols, where the C library has them,
    // are constants of these types.
    let (offset, size) = unsafe {
        let offset = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr());
        let size = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr());
        (offset.cast::<isize>().as_ref()?, size.cast::<u32>().as_ref()?)
    };
    // Size 0: the kernel lacks the area, or a tunable has switched it off. Three tries, because the
    // thread may move between the two reads.
    // SAFETY: a registered area lies at this offset of every thread.
    let agrees = |_| Some(unsafe { cpu_of_area(*offset) }) == current_cpu();
    (*size > 0 && (0..3).any(agrees)).then_some(*offset)
}

#[cfg(not(target_arch = "x86_64"))]
fn restartable_area() -> Option<isize> {
    None
}

/// # Safety
/// `offset` must be glibc's `__rseq_offset`, with the area registered.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn cpu_of_area(offset: isize) -> u32 {
    let cpu;
    // `cpu_id` is the second word of `struct rseq`.
    // SAFETY: the area belongs to the calling thread until the thread ends. The options lack
    // `pure` because the kernel changes the area when it moves the thread.
    unsafe {
        std::arch::asm!("mov {cpu:e}, fs:[{offset} + 4]", offset = in(reg) offset,
            cpu = lateout(reg) cpu, options(readonly, nostack, preserves_flags));
    }
    cpu
}

const RDPMC: &str = "/sys/bus/event_source/devices/cpu/rdpmc";

/// Descriptors by CPU, each plus 1; 0 for a device that was not opened yet.
static OPEN: [AtomicI32; 4096] = [const { AtomicI32::new(0) }; 4096];
