//! Counter pages, which a thread reads without a system call.

use std::ptr::NonNull;
use std::sync::atomic::{Ordering, compiler_fence};

use perf_event_open_sys::bindings::perf_event_mmap_page;

use super::file::{File, Whose};
use super::state::State;
use pacman_core::backend::perf::{Errno, PAGE};

/// `cap_bit0_is_deprecated` and `cap_user_rdpmc`.
const CAPABILITIES: u64 = 0b110;

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
            (location.index + 1, file.count.wrapping_sub(extend(location.seen, width)))
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
        (&raw mut (*page).pmc_width).write_volatile(u16::from(width));
        (&raw mut (*page).__bindgen_anon_1.capabilities).write_volatile(CAPABILITIES);
        (&raw mut (*page).time_enabled).write_volatile(file.times[0]);
        (&raw mut (*page).time_running).write_volatile(file.times[1]);
        compiler_fence(Ordering::SeqCst);
        (&raw mut (*page).lock).write_volatile(lock.wrapping_add(2));
    }
}

/// Extends the sign of a raw value of `width` bits.
fn extend(raw: u64, width: u8) -> u64 {
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
