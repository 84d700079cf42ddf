//! The regions of the program, by the compiler's function for each body.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use pacman_core::fork::Lock;

use crate::adapt::Adapted;
use crate::function::Function;
use crate::heap;
use crate::module::Module;
use crate::notes;
use crate::process;
use crate::recording::{self, RegionFacts};
use crate::runtime::Runtime;
use crate::seen::Seen;
use crate::worksharing::Loops;

/// A parallel region. The library makes it at its first execution and never frees it.
///
/// The fields that every member reads are together at its start. The fields that the primary thread
/// writes at every execution begin on their own cache line.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Region {
    /// Its [`key`].
    key: u64,
    /// The address of its body.
    pub(crate) body: u64,
    pub(crate) runtime: &'static Runtime,
    /// Its index in [`all`].
    pub(crate) number: u32,
    /// Its place in the table, for [`at`].
    pub(crate) place: u16,
    pub(crate) seen: Seen,
    /// The entry that started it first.
    pub(crate) entry: Function,
    pub(crate) module: Module,
    /// LLVM's description of the call's place in the source.
    pub(crate) source: Option<String>,
    pub(crate) adapted: Adapted,
    pub(crate) loops: Loops,
}

/// The size of the table: a power of two, several times the regions of large programs.
pub(crate) const PLACES: usize = 1 << 14;

/// The most regions that are observed. The rest of the table stays empty: `find` stops at an empty
/// place.
const MOST: usize = PLACES / 2;

/// A hash table by key, with linear probing.
static TABLE: [AtomicPtr<Region>; PLACES] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; PLACES];
/// See [`are_enough`].
static ENOUGH: AtomicBool = AtomicBool::new(false);
/// All regions in order of their first execution.
pub(crate) static ALL: Lock<Vec<&'static Region>> = Lock::new(Vec::new());

/// The table in which entries look up a region by its body. With an overhead budget it is a single empty place:
/// a look-up in [`TABLE`] would find nothing, and fetch a cache line that the program has displaced.
static BY_BODY: ByBody = ByBody {
    table: AtomicPtr::new((&raw const TABLE).cast_mut().cast()),
    mask: AtomicUsize::new(PLACES - 1),
};
static EMPTY: AtomicPtr<Region> = AtomicPtr::new(std::ptr::null_mut());

struct ByBody {
    table: AtomicPtr<AtomicPtr<Region>>,
    mask: AtomicUsize,
}

/// No region is found by its body alone from now on. The program has not begun yet.
pub(crate) fn hide_bodies() {
    // First the mask: place 0 is in both tables.
    BY_BODY.mask.store(0, Ordering::Relaxed);
    BY_BODY.table.store((&raw const EMPTY).cast_mut(), Ordering::Relaxed);
}

/// The first candidate for the region with that body, for [`confirmed`].
#[inline(always)]
pub(crate) fn candidate(body: u64) -> Option<&'static Region> {
    let place = (body >> 4) as usize & BY_BODY.mask.load(Ordering::Relaxed);
    // ATOMICS: as in `find_from`.
    // SAFETY: the place is in the table, and regions are never freed.
    unsafe {
        let table = BY_BODY.table.load(Ordering::Relaxed);
        (*table.add(place)).load(Ordering::Acquire).as_ref()
    }
}

/// The region of which `first` is the first candidate.
#[inline(always)]
pub(crate) fn confirmed(first: &'static Region, body: u64) -> Option<&'static Region> {
    if first.key == body { Some(first) } else { find(body) }
}

/// The key of the region with that body within kernels of that label; the body's address if `label` is 0.
///
/// A label is below 2^16 and user space below 2^47, so keys differ. Regions of one body with many labels
/// spread over the table.
///
/// With an overhead budget no key is an address: the entries run regions by their countdowns. Without a budget
/// they need not ask for one.
pub(crate) fn key(body: u64, label: u32) -> u64 {
    let label = u64::from(label);
    let body = if process::is_sampled() { body ^ SAMPLED } else { body };
    body ^ label << 48 ^ (label.wrapping_mul(0x9e37) & 0xffff) << 4
}

impl Region {
    /// The label of the kernels that it is within; 0 outside of kernels.
    pub(crate) fn label(&self) -> u32 {
        // The lower bits of the key have the label too; user space ends below bit 47,
        // where an overhead budget has a bit.
        ((self.key ^ self.body) >> 48) as u32
    }
}

/// No address of user space has the upper bit. The lower one moves the place of a key, so that the place
/// of its body is usually empty.
const SAMPLED: u64 = 1 << 47 | 1 << 17;

/// The region of that key; `None` before its first execution.
#[inline]
pub(crate) fn find(key: u64) -> Option<&'static Region> {
    // Compilers align functions to 16 bytes.
    let place = (key >> 4) as usize;
    // ATOMICS: as in `find_from`.
    let first = TABLE[place % PLACES].load(Ordering::Acquire);
    // SAFETY: regions are never freed.
    match unsafe { first.as_ref() } {
        Some(region) if region.key == key => Some(region),
        Some(_) => find_from(place + 1, key),
        None => None,
    }
}

#[cold]
fn find_from(mut place: usize, key: u64) -> Option<&'static Region> {
    loop {
        // ATOMICS: pairs with the release in `enter`: a reader of the pointer sees the whole region.
        let region = TABLE[place % PLACES].load(Ordering::Acquire);
        if region.is_null() {
            return None;
        }
        // SAFETY: regions are never freed.
        let region = unsafe { &*region };
        if region.key == key {
            return Some(region);
        }
        place += 1;
    }
}

/// Whether the table is full, so that no new region is observed.
pub(crate) fn are_enough() -> bool {
    ENOUGH.load(Ordering::Relaxed)
}

/// The region at a place of the table.
pub(crate) fn at(place: usize) -> Option<&'static Region> {
    // ATOMICS: as in `find_from`.
    // SAFETY: regions are never freed.
    unsafe { TABLE.get(place)?.load(Ordering::Acquire).as_ref() }
}

/// Makes the region at its first execution, within kernels of that label or outside of kernels (0).
/// `None` if the table is nearly full.
#[cold]
pub(crate) fn enter(
    body: u64,
    entry: Function,
    runtime: &'static Runtime,
    source: Option<String>,
    label: u32,
) -> Option<&'static Region> {
    if are_enough() {
        return None;
    }
    let module = Module::of(body);
    // A body of the runtime's own, without a place in a source: libomp's hidden helper threads wait there for work.
    let is_runtime_s = entry == Function::__kmpc_fork_call && source.is_none();
    if is_runtime_s && module.path == runtime.path {
        return None;
    }
    if heap::is_short() {
        if !ENOUGH.swap(true, Ordering::Relaxed) {
            notes::note(
                "there was no memory left: regions that began later are not observed".to_owned(),
            );
        }
        return None;
    }
    let at_runtime = runtime.index();
    let mut all = ALL.lock();
    let key = key(body, label);
    if let Some(region) = find(key) {
        return Some(region);
    }
    if all.len() >= MOST {
        ENOUGH.store(true, Ordering::Relaxed);
        drop(all);
        notes::note(format!("there are more than {MOST} regions: the others are not observed"));
        return None;
    }
    let number = all.len() as u32;
    let (seen, adapted, loops) = (Seen::default(), Adapted::default(), Loops::default());
    let mut place = (key >> 4) as usize % PLACES;
    while !TABLE[place].load(Ordering::Relaxed).is_null() {
        place = (place + 1) % PLACES;
    }
    let region = Box::new(Region {
        number,
        place: place as u16,
        key,
        body,
        entry,
        runtime,
        module,
        source,
        seen,
        adapted,
        loops,
    });
    let region: &'static Region = Box::leak(region);
    // A thread can have a row of the region only after this record.
    recording::region(&RegionFacts {
        number,
        runtime: at_runtime,
        address: body.wrapping_sub(region.module.bias),
        module: &region.module.path,
        source: region.source.as_deref(),
        entry: entry.name(),
        label,
    });
    TABLE[place].store(std::ptr::from_ref(region).cast_mut(), Ordering::Release);
    all.push(region);
    Some(region)
}

/// The region of that number.
pub(crate) fn numbered(number: u32) -> Option<&'static Region> {
    ALL.lock().get(number as usize).copied()
}

/// All regions in order of their first execution.
pub(crate) fn all() -> Vec<&'static Region> {
    ALL.lock().clone()
}
