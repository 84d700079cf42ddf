//! The ways of others, written out plainly, to measure against.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::atomic::{Ordering, compiler_fence};

use pacman_core::Event;
use perf_event_open_sys::bindings as abi;

use crate::registers::{ASK, counter};

/// A group of the calling thread with nothing around it.
pub(crate) struct BareGroup {
    files: Vec<File>,
    pub(crate) words: usize,
}

impl BareGroup {
    pub(crate) fn open(events: &[Event]) -> BareGroup {
        BareGroup::of(events.iter().map(code))
    }

    /// Opens and enables a group; panics when the machine does not have the events.
    pub(crate) fn of(codes: impl Iterator<Item = (u32, u64)>) -> BareGroup {
        let mut files: Vec<File> = Vec::new();
        for (kind, config) in codes {
            let mut attr = abi::perf_event_attr {
                size: size_of::<abi::perf_event_attr>() as u32,
                type_: kind,
                config,
                read_format: u64::from(
                    abi::PERF_FORMAT_GROUP
                        | abi::PERF_FORMAT_TOTAL_TIME_ENABLED
                        | abi::PERF_FORMAT_TOTAL_TIME_RUNNING,
                ),
                ..Default::default()
            };
            attr.set_exclude_hv(1);
            attr.set_exclude_kernel(u64::from(kind != abi::PERF_TYPE_SOFTWARE));
            let leader = files.first().map_or(-1, |file| file.as_raw_fd());
            let mut open = |reads: u64| {
                attr.__bindgen_anon_3.config1 = reads;
                // SAFETY: a live attr that states its size.
                unsafe { perf_event_open_sys::perf_event_open(&mut attr, 0, -1, leader, 0) }
            };
            let asks = if kind == abi::PERF_TYPE_SOFTWARE { &[0] } else { ASK };
            let fd = asks.iter().map(|reads| open(*reads)).find(|fd| *fd >= 0).unwrap_or(-1);
            assert!(
                fd >= 0,
                "cannot open event {kind}/{config}: {}",
                std::io::Error::last_os_error()
            );
            // SAFETY: a fresh descriptor that nobody else owns.
            files.push(unsafe { File::from_raw_fd(fd) });
        }
        let words = 3 + files.len();
        BareGroup { files, words }
    }

    /// One `read(2)`.
    pub(crate) fn read(&self) -> [u64; 16] {
        let mut words = [0u64; 16];
        // SAFETY: any bytes are valid words.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), self.words * 8)
        };
        let got = (&self.files[0]).read(bytes).expect("a group can be read");
        assert_eq!(got, self.words * 8);
        words
    }
}

/// The generic hardware or software code behind a name, as the kernel numbers them.
fn code(event: &Event) -> (u32, u64) {
    let hardware = |id: abi::perf_hw_id| (abi::PERF_TYPE_HARDWARE, u64::from(id));
    let software = |id: abi::perf_sw_ids| (abi::PERF_TYPE_SOFTWARE, u64::from(id));
    match event.name() {
        "CYCLES" => hardware(abi::PERF_COUNT_HW_CPU_CYCLES),
        "INSTRUCTIONS" => hardware(abi::PERF_COUNT_HW_INSTRUCTIONS),
        "REF_CYCLES" => hardware(abi::PERF_COUNT_HW_REF_CPU_CYCLES),
        "BRANCHES" => hardware(abi::PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
        "task-clock" => software(abi::PERF_COUNT_SW_TASK_CLOCK),
        "page-faults" => software(abi::PERF_COUNT_SW_PAGE_FAULTS),
        "context-switches" => software(abi::PERF_COUNT_SW_CONTEXT_SWITCHES),
        "cpu-migrations" => software(abi::PERF_COUNT_SW_CPU_MIGRATIONS),
        "r1b" => (abi::PERF_TYPE_RAW, 0x1b),
        "r21" => (abi::PERF_TYPE_RAW, 0x21),
        other => panic!("no baseline for {other}"),
    }
}

/// The read loop of the manual page, one event after the other.
pub(crate) struct Textbook {
    pages: [*mut abi::perf_event_mmap_page; 4],
}

impl Textbook {
    pub(crate) fn map(group: &BareGroup) -> Textbook {
        let map = |slot: usize| {
            let file = &group.files[slot];
            // SAFETY: a fresh mapping of the event's page.
            let page = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    4096,
                    libc::PROT_READ,
                    libc::MAP_SHARED,
                    file.as_raw_fd(),
                    0,
                )
            };
            assert_ne!(page, libc::MAP_FAILED);
            page.cast()
        };
        Textbook { pages: std::array::from_fn(map) }
    }

    /// The counter index of each event.
    pub(crate) fn indices(&self) -> [u32; 4] {
        // SAFETY: the pages are mapped.
        self.pages.map(|page| unsafe { (*page).index } - 1)
    }

    #[inline(always)]
    pub(crate) fn read(&self) -> [u64; 4] {
        self.pages.map(read_page)
    }
}

impl Drop for Textbook {
    fn drop(&mut self) {
        for page in &self.pages {
            // SAFETY: mapped above, not used later.
            unsafe { libc::munmap((*page).cast(), 4096) };
        }
    }
}

#[inline(always)]
fn read_page(page: *mut abi::perf_event_mmap_page) -> u64 {
    // SAFETY: a mapped page; the kernel changes it, hence volatile.
    unsafe {
        loop {
            let lock = (&raw const (*page).lock).read_volatile();
            compiler_fence(Ordering::SeqCst);
            let index = (&raw const (*page).index).read_volatile();
            let mut count = (&raw const (*page).offset).read_volatile() as u64;
            let capabilities = (&raw const (*page).__bindgen_anon_1.capabilities).read_volatile();
            if capabilities & 4 != 0 && index != 0 {
                let width = u32::from((&raw const (*page).pmc_width).read_volatile());
                let counter = (counter(index - 1) << (64 - width)) as i64 >> (64 - width);
                count = count.wrapping_add(counter as u64);
            }
            compiler_fence(Ordering::SeqCst);
            if (&raw const (*page).lock).read_volatile() == lock {
                return count;
            }
        }
    }
}

/// The counter of each index, and nothing else.
#[inline(always)]
pub(crate) fn bare_counters(indices: &[u32; 4]) -> [u64; 4] {
    // SAFETY: the indices were read from pages of live events.
    indices.map(|index| unsafe { counter(index) })
}
