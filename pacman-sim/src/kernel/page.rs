//! Counter pages: what a thread reads instead of calling.

use std::ptr::NonNull;
use std::sync::atomic::{Ordering, compiler_fence};

use perf_event_open_sys::bindings::perf_event_mmap_page;

use super::file::{File, Whose};
use super::state::State;
use pacman_core::backend::perf::{Errno, PAGE};

/// `cap_bit0_is_deprecated` and `cap_user_rdpmc`.
const CAPABILITIES: u64 = 0b110;

impl State {
    /// Writes what has changed into the pages of the calling thread's events.
    ///
    /// Nobody else reads them, and the thread is here: so nobody reads now.
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
        // The counter's raw value, sign-extended, plus the offset is the count.
        Some(location) => {
            (location.index + 1, file.count.wrapping_sub(extend(location.seen, width)))
        }
        None => (0, file.count),
    };
    // SAFETY: the page was mapped writable by `map`, is kept until `release` takes it out of
    // every file, and is read by the calling thread alone.
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

/// A raw value of `width` bits as a signed number.
fn extend(raw: u64, width: u8) -> u64 {
    let unused = 64 - u32::from(width);
    ((raw << unused) as i64 >> unused) as u64
}

/// Gives a reserved page memory of its own.
pub(super) fn back(page: NonNull<u8>) -> Result<(), Errno> {
    // SAFETY: the page is within a reservation that nothing points into yet.
    let done =
        unsafe { libc::mprotect(page.as_ptr().cast(), PAGE, libc::PROT_READ | libc::PROT_WRITE) };
    if done == 0 { Ok(()) } else { Err(Errno(libc::ENOMEM)) }
}
