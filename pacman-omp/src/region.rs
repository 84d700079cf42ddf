//! The regions of the program, by the compiler's function for each body.
//!
//! A region is of the file of a module, and at an offset in it. Entries know the address of its body only, so
//! the table by address has the regions of modules that are loaded now. A region whose module is unloaded
//! leaves the table. If its file is loaded again, perhaps elsewhere, the region goes on.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use crate::adapted::Adapted;
use crate::function::Function;
use crate::heap;
use crate::lock::Lock;
use crate::module::{File, Module};
use crate::notes;
use crate::process;
use crate::recording::{self, RegionFacts};
use crate::runtime::Runtime;
use crate::seen::Seen;

/// A parallel region. The library makes it at its first execution and never frees it.
///
/// The fields that every member reads are together at its start. The fields that the primary thread
/// writes at every execution begin on their own cache line.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Region {
    /// Its [`key`]; [`ENDED`] while its module is not loaded.
    key: AtomicU64,
    /// See [`body`](Region::body).
    body: AtomicU64,
    pub(crate) runtime: &'static Runtime,
    /// Its index in [`all`].
    pub(crate) number: u32,
    pub(crate) seen: Seen,
    /// The entry that started it first.
    pub(crate) entry: Function,
    pub(crate) module: &'static File,
    /// The address of its body in the symbol table of `module`.
    pub(crate) offset: u64,
    /// The label of the kernels that it is within; 0 outside of kernels.
    pub(crate) label: u32,
    /// LLVM's description of the call's place in the source.
    pub(crate) source: Option<String>,
    pub(crate) adapted: Adapted,
}

/// The size of the table: a power of two, several times the regions of large programs.
const PLACES: usize = 1 << 14;

/// The most regions that are observed. The rest of the table stays empty: `find` stops at an empty
/// place.
pub(crate) const MOST: usize = PLACES / 2;

/// The key of no region.
const ENDED: u64 = 0;

/// A hash table by key, with linear probing.
static TABLE: [AtomicPtr<Region>; PLACES] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; PLACES];
/// The same regions by number, for [`known`].
static BY_NUMBER: [AtomicPtr<Region>; MOST] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST];
/// See [`are_enough`].
static ENOUGH: AtomicBool = AtomicBool::new(false);
/// The regions whose modules are not loaded. Changed under [`ALL`].
static UNLOADED: AtomicUsize = AtomicUsize::new(0);
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
    if first.key.load(Ordering::Relaxed) == body { Some(first) } else { find(body) }
}

/// The key of the region with that body within kernels of that label; the body's address if `label` is 0.
///
/// A label is below 2^16 and user space below 2^48, so keys differ. Regions of one body with many labels
/// spread over the table.
///
/// With an overhead budget no key is an address: the entries run regions by their countdowns. Without a budget
/// they need not ask for one.
pub(crate) fn key(body: u64, label: u32) -> u64 {
    let label = u64::from(label);
    let body = if process::plan().samples() { body ^ SAMPLED } else { body };
    body ^ label << 48 ^ (label.wrapping_mul(0x9e37) & 0xffff) << 4
}

impl Region {
    /// The address of its body, while its module is loaded; afterwards the last one.
    #[inline]
    pub(crate) fn body(&self) -> u64 {
        self.body.load(Ordering::Relaxed)
    }

    /// Whether its module is loaded, as far as is known.
    pub(crate) fn is_loaded(&self) -> bool {
        self.key.load(Ordering::Relaxed) != ENDED
    }
}

/// On x86-64 no address of user space has the upper bit; on AArch64 libraries and most programs have it, and nothing is
/// at their addresses without it. The lower one moves the place of a key, so that the place of its body is usually
/// empty.
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
        Some(region) if region.key.load(Ordering::Relaxed) == key => Some(region),
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
        if region.key.load(Ordering::Relaxed) == key {
            return Some(region);
        }
        place += 1;
    }
}

/// Whether the table is full, so that no new region is observed.
pub(crate) fn are_enough() -> bool {
    ENOUGH.load(Ordering::Relaxed)
}

/// The region of that number, without a lock.
pub(crate) fn known(number: usize) -> Option<&'static Region> {
    // ATOMICS: as in `find_from`.
    // SAFETY: regions are never freed.
    unsafe { BY_NUMBER.get(number)?.load(Ordering::Acquire).as_ref() }
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
    if is_runtime_s && std::ptr::eq(module.file, runtime.file) {
        return None;
    }
    let offset = body.wrapping_sub(module.bias);
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
    let is_it = |region: &&&Region| {
        std::ptr::eq(region.module, module.file)
            && std::ptr::eq(region.runtime, runtime)
            && (region.offset, region.label) == (offset, label)
            && !region.is_loaded()
    };
    let unloaded = UNLOADED.load(Ordering::Relaxed);
    if let Some(region) = all.iter().filter(|_| unloaded > 0).find(is_it) {
        UNLOADED.store(unloaded - 1, Ordering::Relaxed);
        region.body.store(body, Ordering::Relaxed);
        region.key.store(key, Ordering::Relaxed);
        put(region);
        return Some(region);
    }
    if all.len() >= MOST {
        ENOUGH.store(true, Ordering::Relaxed);
        drop(all);
        notes::note(format!("there are more than {MOST} regions: the others are not observed"));
        return None;
    }
    let number = all.len() as u32;
    let (seen, adapted) = (Seen::default(), Adapted::default());
    let region = Box::new(Region {
        number,
        key: AtomicU64::new(key),
        body: AtomicU64::new(body),
        entry,
        runtime,
        module: module.file,
        offset,
        label,
        source,
        seen,
        adapted,
    });
    let region: &'static Region = Box::leak(region);
    // A thread can have a row of the region only after this record.
    recording::region(&RegionFacts {
        number,
        runtime: at_runtime,
        address: offset,
        module: (&region.module.path, region.module.identity.as_ref()),
        source: region.source.as_deref(),
        entry: entry.name(),
        label,
    });
    // ATOMICS: pairs with the acquire in `known`.
    BY_NUMBER[number as usize].store(std::ptr::from_ref(region).cast_mut(), Ordering::Release);
    put(region);
    all.push(region);
    Some(region)
}

/// Puts a region into the table. The caller holds [`ALL`].
fn put(region: &'static Region) {
    let mut place = (region.key.load(Ordering::Relaxed) >> 4) as usize % PLACES;
    while !TABLE[place].load(Ordering::Relaxed).is_null() {
        place = (place + 1) % PLACES;
    }
    // ATOMICS: pairs with the acquire in `find_from`.
    TABLE[place].store(std::ptr::from_ref(region).cast_mut(), Ordering::Release);
}

/// Ends the regions with bodies at `addresses`, whose module is not there any more, or is about to go.
pub(crate) fn end(addresses: &Range<u64>) {
    let all = ALL.lock();
    let is_there = |region: &&&Region| region.is_loaded() && addresses.contains(&region.body());
    for region in all.iter().filter(is_there) {
        take(region);
        region.key.store(ENDED, Ordering::Relaxed);
        UNLOADED.fetch_add(1, Ordering::Relaxed);
    }
}

/// Takes a region out of the table. The caller holds [`ALL`].
///
/// The regions behind it move up, so that no empty place is before one of them. Each is at its new place before
/// it leaves its old one, and a thread that misses one all the same comes to [`enter`].
fn take(region: &Region) {
    let at = |place: usize| TABLE[place % PLACES].load(Ordering::Relaxed);
    // The first place for its key.
    let home = |entry: *mut Region| {
        // SAFETY: regions are never freed.
        (unsafe { (*entry).key.load(Ordering::Relaxed) } >> 4) as usize % PLACES
    };
    let mut free = (region.key.load(Ordering::Relaxed) >> 4) as usize % PLACES;
    while !std::ptr::eq(at(free), region) {
        if at(free).is_null() {
            return;
        }
        free = (free + 1) % PLACES;
    }
    let mut place = free;
    loop {
        place = (place + 1) % PLACES;
        let entry = at(place);
        if entry.is_null() {
            break;
        }
        // It may move up unless its own place is behind the free one.
        let is_before = (place + PLACES - home(entry)) % PLACES >= (place + PLACES - free) % PLACES;
        if is_before {
            TABLE[free].store(entry, Ordering::Release);
            free = place;
        }
    }
    TABLE[free].store(std::ptr::null_mut(), Ordering::Release);
}

/// The region of that number.
pub(crate) fn numbered(number: u32) -> Option<&'static Region> {
    ALL.lock().get(number as usize).copied()
}

/// All regions in order of their first execution.
pub(crate) fn all() -> Vec<&'static Region> {
    ALL.lock().clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bodies outside of modules, of which many have one place in the table, or places beside it.
    fn body(number: u64) -> u64 {
        0x5000_0000_0000 + (number % 8) * PLACES as u64 * 16 + (number / 8) * 16
    }

    #[test]
    fn a_region_that_ends_hides_no_other_and_goes_on_under_its_number() {
        let runtime = Runtime::out_of_reach(body as fn(u64) -> u64 as usize as u64);
        let begin =
            |at: u64| enter(at, Function::GOMP_parallel, runtime, None, 0).expect("a place");
        let numbers: Vec<u32> = (0..40).map(|number| begin(body(number)).number).collect();
        let mut there = [true; 40];
        let mut draw = 1u64;
        for _ in 0..2_000 {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let chosen = draw >> 33;
            let number = (chosen % 40) as usize;
            let at = body(number as u64);
            if there[number] {
                end(&(at..at + 1));
            } else {
                assert_eq!(begin(at).number, numbers[number], "it is the same region");
            }
            there[number] = !there[number];
            for (number, &is_there) in there.iter().enumerate() {
                let found = find(body(number as u64)).map(|region| region.number);
                assert_eq!(found, is_there.then_some(numbers[number]));
                let known = known(numbers[number] as usize).expect("it stays known by its number");
                assert_eq!((known.number, known.is_loaded()), (numbers[number], is_there));
            }
        }
        end(&(body(0)..u64::MAX));
        assert!((0..40).all(|number| find(body(number)).is_none()));
    }
}
