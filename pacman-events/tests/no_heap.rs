//! A look-up of a table's name or of a single-event preset touches no heap.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use pacman_events::{CpuModel, resolve};

/// The system's allocator, counting.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

// One test alone in this program, because the count is the process's.
#[test]
fn a_look_up_touches_no_heap() {
    for (table, name) in [
        ("skl", "MEM_LOAD_RETIRED.L1_MISS"),
        ("skl", "mem_load_retired:l1_miss:u:k"),
        ("snb", "UOPS_ISSUED.ANY:c=1:i:u"),
        ("snb", "STALL_CYCLES"),
        ("skl", "CYCLES:u"),
        ("gnr", "STALL_CYCLES"),
        ("clx", "OCR.ALL_READS.L3_MISS.ANY_SNOOP"),
        ("zen4", "RETIRED_INSTRUCTIONS"),
        ("p4", "instr_retired:NBOGUSNTAG:NBOGUSTAG:u"),
        ("p4", "packed_DP_retired:NBOGUS1"),
        ("p4", "L2_MISSES"),
        ("niagara2", "Br_completed:u"),
        ("linux", "task-clock"),
    ] {
        let cpu = CpuModel::named(table).unwrap_or_else(|| panic!("no table {table}"));
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        let resolved = black_box(resolve(black_box(cpu), black_box(name)));
        let allocated = ALLOCATIONS.load(Ordering::Relaxed) - before;
        assert!(resolved.is_ok(), "{name} on {table}");
        assert_eq!(allocated, 0, "{name} on {table}");
    }
}
