//! Counter pages, which a thread reads without a system call.

use std::ptr::NonNull;
use std::sync::atomic::{Ordering, compiler_fence};

use perf_event_open_sys::bindings::perf_event_mmap_page;

use super::file::{File, Whose};
use super::state::State;
use pacman_core::backend::perf::{Errno, PAGE};

/// `cap_bit0_is_deprecated`, and `cap_user_rdpmc` with it.
const CLOSED: u64 = 0b010;
const OPEN: u64 = 0b110;

/// How the kernel permits reads of counters in user mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    /// Every page has it, as on x86.
    ByPage,
    /// An event asks for it, as on AArch64; counters have 64 bits or 32.
    OnRequest { long: bool },
}

/// Bits of `config1` in Linux's driver for Arm: counters of 64 bits, and user reads.
const LONG: u64 = 1;
const USER_ACCESS: u64 = 2;

impl Leave {
    /// The bits of a counter that its page offers, 0 for none, by `config1`; and the rest of `config1`.
    pub(super) fn of(self, config1: u64, whose: Whose, width: u8) -> Result<(u8, u64), Errno> {
        let Leave::OnRequest { long } = self else { return Ok((width, config1)) };
        let (asked, rest) = (config1 & (LONG | USER_ACCESS), config1 & !(LONG | USER_ACCESS));
        match (asked & USER_ACCESS != 0, asked & LONG != 0) {
            (false, _) => Ok((0, rest)),
            (true, _) if !matches!(whose, Whose::Task(_)) => Err(Errno(libc::EINVAL)),
            (true, true) if !long => Err(Errno(libc::EOPNOTSUPP)),
            (true, true) => Ok((64, rest)),
            (true, false) => Ok((32, rest)),
        }
    }
}

impl State {
    /// Writes changes into the pages of the calling thread's events.
    ///
    /// Only the calling thread reads these pages, so no thread reads them now.
    pub(super) fn publish(&mut self, tid: i32) {
        let width = self.cores[0].width();
        let own = |file: &&mut File| file.whose == Whose::Task(tid) && file.stale;
        for file in self.files.values_mut().filter(own) {
            file.stale = false;
            let Some(address) = file.page else { continue };
            write(address as *mut perf_event_mmap_page, file, width);
        }
    }
}

fn write(page: *mut perf_event_mmap_page, file: &File, width: u8) {
    let (index, offset) = match file.location {
        // Linux keeps no earlier value of these, so that the offset is the whole count.
        Some(location) if file.topdown => (location.index + 1, file.count),
        // The count is the offset plus the counter's sign-extended raw value.
        Some(location) => {
            let seen = extend(location.seen, width.min(file.page_width.max(1)));
            (location.index + 1, file.count.wrapping_sub(seen))
        }
        None => (0, file.count),
    };
    // SAFETY: `map` mapped the page writable, and it exists until `release` takes it out of every
    // file. Only the calling thread reads it.
    unsafe {
        let lock = (&raw const (*page).lock).read_volatile();
        (&raw mut (*page).lock).write_volatile(lock.wrapping_add(1));
        compiler_fence(Ordering::SeqCst);
        (&raw mut (*page).index).write_volatile(index);
        (&raw mut (*page).offset).write_volatile(offset as i64);
        (&raw mut (*page).pmc_width).write_volatile(u16::from(file.page_width));
        let capabilities = if file.page_width > 0 { OPEN } else { CLOSED };
        (&raw mut (*page).__bindgen_anon_1.capabilities).write_volatile(capabilities);
        (&raw mut (*page).time_enabled).write_volatile(file.times[0]);
        (&raw mut (*page).time_running).write_volatile(file.times[1]);
        compiler_fence(Ordering::SeqCst);
        (&raw mut (*page).lock).write_volatile(lock.wrapping_add(2));
    }
}

/// Extends the sign of a raw value of `width` bits.
pub(super) fn extend(raw: u64, width: u8) -> u64 {
    let unused = 64 - u32::from(width);
    ((raw << unused) as i64 >> unused) as u64
}

/// Backs a reserved page with memory.
pub(super) fn back(page: NonNull<u8>) -> Result<(), Errno> {
    // SAFETY: the page is within a reservation, and nothing points to it yet.
    let done =
        unsafe { libc::mprotect(page.as_ptr().cast(), PAGE, libc::PROT_READ | libc::PROT_WRITE) };
    if done == 0 { Ok(()) } else { Err(Errno(libc::ENOMEM)) }
}
