//! The real function behind an interposed call.
//!
//! The dynamic linker searches the global scope first, and then the calling module's own dependencies.
//! Calls are bound to this library, which searches in the same order on behalf of the calling module.
//! A function that it finds among a module's own dependencies stays bound, as with the linker. A
//! runtime that comes into the global scope later knows no teams of the module's own runtime.

use std::ffi::c_void;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use crate::function::{CallKind, Function};
use crate::isolation::isolated;
use crate::listed;
use crate::lock::Lock;
use crate::module::{self, File, Module};
use crate::process;
use crate::runtime::Runtime;
use crate::scope::{self, Scope};
use crate::spin;
use crate::stub;
use crate::users;

pub(crate) type ByFunction = [AtomicPtr<c_void>; Function::COUNT];

/// The functions after this library in the global scope, once known. The scope may have a runtime of
/// each family, with functions in common.
pub(crate) static NEXT: ByFunction = [const { AtomicPtr::new(null_mut()) }; Function::COUNT];

/// The answers of [`real_for`] for all callers, while no module has a private runtime.
pub(crate) static SHARED: ByFunction = [const { AtomicPtr::new(null_mut()) }; Function::COUNT];

/// The modules with a private runtime. The lock also protects changes of [`SHARED`].
pub(crate) static PRIVATE_RUNTIMES: Lock<Vec<PrivateRuntime>> = Lock::new(Vec::new());

/// Whether any module has a private runtime.
static HAS_PRIVATE_RUNTIMES: AtomicBool = AtomicBool::new(false);

/// A module whose runtime is among its own dependencies.
#[derive(Debug)]
pub(crate) struct PrivateRuntime {
    file: &'static File,
    /// An address in the module.
    at: u64,
}

impl PrivateRuntime {
    /// The function in that file or in those that it needs. The global scope has those of the program.
    fn look_up(file: &'static File, function: Function) -> Option<*mut c_void> {
        if file.is_program || file.name.is_empty() {
            return None;
        }
        Scope::Module(file).function(function.symbol())?
    }
}

/// Whether any call of the program to a runtime came here.
static INTERPOSED: AtomicBool = AtomicBool::new(false);

/// Notes that a call of the program to a runtime came here.
#[inline]
pub(crate) fn note_interposed() {
    if !INTERPOSED.load(Ordering::Relaxed) {
        INTERPOSED.store(true, Ordering::Relaxed);
        spin::forget();
    }
}

/// Whether any call of the program to a runtime came here.
pub(crate) fn has_interposed() -> bool {
    INTERPOSED.load(Ordering::Relaxed)
}

/// The real function for a call that returns to `caller`.
#[inline]
pub(crate) fn real_for(caller: u64, function: Function) -> Option<*mut c_void> {
    shared_real(function).or_else(|| real_at_site(caller, function))
}

/// The real function, if all modules have the same.
#[inline]
pub(crate) fn shared_real(function: Function) -> Option<*mut c_void> {
    let real = SHARED[function as usize].load(Ordering::Relaxed);
    (!real.is_null()).then_some(real)
}

/// The real function for a call when modules have different runtimes.
#[cold]
fn real_at_site(caller: u64, function: Function) -> Option<*mut c_void> {
    if is_own(caller) {
        let next = if HAS_PRIVATE_RUNTIMES.load(Ordering::Relaxed) { None } else { next(function) };
        let real = next.map(|real| share(function, real));
        return real.or_else(|| of_team(function)).or_else(|| of_private(function));
    }
    if let Some(real) = SITES.find(caller, function) {
        return Some(real);
    }
    let is_runtime_s = !matches!(function.kind(), CallKind::Mpi | CallKind::Marks);
    let is_first = is_runtime_s && !has_interposed();
    if is_first {
        note_interposed();
    }
    let found = isolated(|| resolved(caller, function));
    // After an error of this library the call still has to reach its function.
    let found = found.or_else(|| process::has_failed().then(|| resolved(caller, function))?);
    let Some(real) = found else {
        // Code outside of all modules has no dependencies to search.
        return of_team(function);
    };
    if is_first {
        // The program may call it for other things than regions.
        isolated(|| _ = Runtime::entered(real));
    }
    SITES.keep(caller, function, real);
    Some(real)
}

/// The function of that name in the module that has `caller`, which is not necessarily the one that its
/// calls reach.
pub(crate) fn own_of(caller: u64, function: Function) -> Option<*mut c_void> {
    if let Some(real) = SITES.find(caller, function) {
        return Some(real);
    }
    let real = isolated(|| {
        let file = Module::of(caller).file;
        let real = PrivateRuntime::look_up(file, function)?;
        std::ptr::eq(Module::of(real as u64).file, file).then_some(real)
    })?;
    SITES.keep(caller, function, real);
    Some(real)
}

/// Whether a call returns to this library: the last call of a body, which the compiler made a jump.
pub(crate) fn is_own(caller: u64) -> bool {
    unsafe extern "C" {
        static __ehdr_start: u8;
        static etext: u8;
    }
    // The linker's symbols for the start of this file and the end of its code.
    ((&raw const __ehdr_start) as u64..(&raw const etext) as u64).contains(&caller)
}

/// The function of the runtime that has the calling thread in a team; without a team, of the first
/// runtime that has the function.
pub(crate) fn of_team(function: Function) -> Option<*mut c_void> {
    let has_team = |runtime: &&Runtime| runtime.ask(Function::omp_get_level).unwrap_or(0) > 0;
    let real = |runtime: &'static Runtime| runtime.real(function);
    let of_team = Runtime::met().filter(has_team).find_map(real);
    of_team.or_else(|| Runtime::met().find_map(real))
}

/// The function of the first module with private libraries that has it.
fn of_private(function: Function) -> Option<*mut c_void> {
    let private: Vec<_> = PRIVATE_RUNTIMES.lock().iter().map(|private| private.file).collect();
    private.into_iter().find_map(|file| PrivateRuntime::look_up(file, function))
}

/// The runtime that a call from `caller`, an address in the calling module, would reach without this
/// library; `None` if there is none.
#[cold]
pub(crate) fn runtime_for(caller: u64, function: Function) -> Option<&'static Runtime> {
    resolved(caller, function).map(Runtime::entered)
}

/// As [`runtime_for`], with a cache for repeated calls.
pub(crate) fn known_runtime_for(caller: u64, function: Function) -> Option<&'static Runtime> {
    let shared = SHARED[function as usize].load(Ordering::Relaxed);
    let known = if shared.is_null() { SITES.find(caller, function) } else { Some(shared) };
    let real = match known {
        Some(real) => real,
        None => {
            note_interposed();
            let real = isolated(|| resolved(caller, function))?;
            SITES.keep(caller, function, real);
            real
        }
    };
    Some(Runtime::that_has(real, function))
}

/// The function that a call from `caller` would reach without this library.
fn resolved(caller: u64, function: Function) -> Option<*mut c_void> {
    let module = Module::of(caller);
    // A runtime's calls to itself ignore the global scope, because its symbols have versions.
    let itself = Runtime::met().find(|runtime| std::ptr::eq(runtime.file, module.file));
    if let Some(real) = itself.and_then(|runtime| runtime.real(function)) {
        return Some(real);
    }
    let own = PrivateRuntime::look_up(module.file, function);
    let known = |private: &PrivateRuntime| std::ptr::eq(private.file, module.file);
    if own.is_some() && PRIVATE_RUNTIMES.lock().iter().any(known) {
        return own;
    }
    // Then it makes no difference whether the global scope has it as well, and the loader is not asked: a thread that
    // holds its lock may wait for this one.
    let is_only = own.is_some_and(|own| listed::is_only_late_runtime(own as u64));
    let next = |function| if is_only { None } else { next(function) };
    if let Some(real) = next(function) {
        if !module::stays(real as u64) && own != Some(real) {
            users::uses(&module, caller, &Module::of(real as u64));
        }
        return Some(share(function, real));
    }
    let real = own?;
    if function.kind() == CallKind::Marks {
        return Some(real);
    }
    // A runtime in the global scope that lacks this function serves the module's other calls.
    if next(Function::omp_get_thread_num).is_some() {
        return Some(real);
    }
    let mut private = PRIVATE_RUNTIMES.lock();
    HAS_PRIVATE_RUNTIMES.store(true, Ordering::Relaxed);
    // ATOMICS: a thread that read an old value calls the right function: the value was right for it.
    for (number, real) in SHARED.iter().enumerate() {
        real.store(null_mut(), Ordering::Relaxed);
        take_back(Function::numbered(number as u32));
    }
    private.push(PrivateRuntime { file: module.file, at: caller });
    Some(real)
}

/// Makes a function of the global scope the answer for all callers, unless a module has a private runtime, or
/// the function may be unloaded: then the modules that use it are known one by one. Answers the function.
fn share(function: Function, real: *mut c_void) -> *mut c_void {
    let stays = module::stays(real as u64);
    let apart = PRIVATE_RUNTIMES.lock();
    if stays && apart.is_empty() {
        SHARED[function as usize].store(real, Ordering::Relaxed);
        pass(function, real);
    }
    real
}

/// Whether calls of `function` need not come here, once its real function is that of all callers.
fn passes(function: Function) -> bool {
    let plan = process::plan();
    !function.matters(plan.times_waits() || plan.narrows())
}

/// Has calls of `function` go on to `real` by themselves, if nothing here needs them. Changes of [`SHARED`] and
/// of slots are under the lock of [`PRIVATE_RUNTIMES`].
fn pass(function: Function, real: *mut c_void) {
    if passes(function) {
        stub::pass(function, real);
    }
}

fn take_back(function: Function) {
    if passes(function) {
        stub::take_back(function);
    }
}

/// As [`pass`], for all functions that are known.
pub(crate) fn pass_on() {
    let _lock = PRIVATE_RUNTIMES.lock();
    for (number, real) in SHARED.iter().enumerate() {
        let real = real.load(Ordering::Relaxed);
        if !real.is_null() {
            pass(Function::numbered(number as u32), real);
        }
    }
}

/// The function after this library in the global scope: of a runtime, or of the C library.
pub(crate) fn next(function: Function) -> Option<*mut c_void> {
    let next = &NEXT[function as usize];
    let known = next.load(Ordering::Relaxed);
    if !known.is_null() {
        return Some(known);
    }
    let real = scope::next(function.symbol())?;
    next.store(real, Ordering::Relaxed);
    Some(real)
}

/// Forgets the functions at `addresses`, and those of calls from there: their module is not there any more, or
/// is about to go.
pub(crate) fn forget(addresses: &Range<u64>) {
    let mut private = PRIVATE_RUNTIMES.lock();
    private.retain(|private| !addresses.contains(&private.at));
    HAS_PRIVATE_RUNTIMES.store(!private.is_empty(), Ordering::Relaxed);
    for (number, (next, shared)) in NEXT.iter().zip(&SHARED).enumerate() {
        // ATOMICS: no thread calls a function that is gone.
        let ends = |real: &AtomicPtr<c_void>| {
            let is_gone = addresses.contains(&(real.load(Ordering::Relaxed) as u64));
            is_gone.then(|| real.store(null_mut(), Ordering::Relaxed)).is_some()
        };
        ends(next);
        if ends(shared) {
            take_back(Function::numbered(number as u32));
        }
    }
    drop(private);
    SITES.forget(addresses);
}

/// Call sites whose function is known. Programs whose modules bring private runtimes, as Python's
/// do, make all of their calls through this table.
static SITES: CallSites<4096> = CallSites([const { CallSite::free() }; 4096]);

/// Up to `N` return addresses. `N` is a power of two.
struct CallSites<const N: usize>([CallSite; N]);

struct CallSite {
    /// The return address, and above it the function's number; 0 if the place is free.
    call: AtomicU64,
    /// Null until it is known.
    real: AtomicPtr<c_void>,
}

/// The places to try for one call.
const TRIES: usize = 16;

impl CallSite {
    const fn free() -> CallSite {
        CallSite { call: AtomicU64::new(0), real: AtomicPtr::new(null_mut()) }
    }
}

impl<const N: usize> CallSites<N> {
    /// The key of a call, and the places where it may be.
    fn places(&self, caller: u64, function: Function) -> (u64, impl Iterator<Item = &CallSite>) {
        // Code has addresses of 48 bits at most.
        let call = caller | (function as u64) << 48;
        // Fibonacci hashing spreads the calls of one function, which are close to each other.
        let first = (call.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        (call, (first..first + TRIES).map(|place| &self.0[place % N]))
    }

    fn find(&self, caller: u64, function: Function) -> Option<*mut c_void> {
        let (call, mut places) = self.places(caller, function);
        // ATOMICS: the address of a function does not depend on other memory. Pairs with the release in `forget`:
        // no function of the call that had the place before is seen.
        let site = places.find(|site| site.call.load(Ordering::Acquire) == call)?;
        let real = site.real.load(Ordering::Relaxed);
        (!real.is_null()).then_some(real)
    }

    /// Frees the places of calls from `addresses`, and of calls of functions there.
    fn forget(&self, addresses: &Range<u64>) {
        for site in &self.0 {
            let caller = site.call.load(Ordering::Relaxed) & ((1 << 48) - 1);
            let real = site.real.load(Ordering::Relaxed) as u64;
            if addresses.contains(&caller) || addresses.contains(&real) {
                // ATOMICS: no thread makes these calls now. First the function: the place may get
                // another call at once.
                site.real.store(null_mut(), Ordering::Relaxed);
                site.call.store(0, Ordering::Release);
            }
        }
    }

    /// Keeps the function of a call, if a place is free. Otherwise each call looks it up again.
    fn keep(&self, caller: u64, function: Function, real: *mut c_void) {
        let (call, mut places) = self.places(caller, function);
        let is_own = |site: &&CallSite| {
            // ATOMICS: as in `find`, so that `forget` cannot take this function for the one before.
            let own = site.call.compare_exchange(0, call, Ordering::Acquire, Ordering::Relaxed);
            own.map_or_else(|taken| taken == call, |_| true)
        };
        if let Some(site) = places.find(is_own) {
            site.real.store(real, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_known_by_its_return_address_and_its_function() {
        let sites = CallSites([const { CallSite::free() }; 64]);
        let number = Function::omp_get_thread_num;
        let of = |caller: u64| std::ptr::without_provenance_mut::<c_void>(caller as usize + 7);
        assert_eq!(sites.find(0x5000, number), None);
        for caller in (0x5000..0x5000 + 32 * 5).step_by(5) {
            sites.keep(caller, number, of(caller));
        }
        for caller in (0x5000..0x5000 + 32 * 5).step_by(5) {
            assert_eq!(sites.find(caller, number), Some(of(caller)), "{caller:x}");
            assert_eq!(sites.find(caller, Function::omp_get_num_threads), None);
            assert_eq!(sites.find(caller + 1, number), None);
        }
        sites.keep(0x5000, number, of(1));
        assert_eq!(sites.find(0x5000, number), Some(of(1)), "kept once, not twice");
    }

    #[test]
    fn calls_and_functions_of_a_module_are_forgotten_with_it() {
        let sites = CallSites([const { CallSite::free() }; 64]);
        let number = Function::omp_get_thread_num;
        let at = |address: u64| std::ptr::without_provenance_mut::<c_void>(address as usize);
        for caller in (0x5000..0x5050).step_by(5) {
            sites.keep(caller, number, at(if caller % 2 == 0 { 0x7000 } else { 0x9000 }));
        }
        sites.forget(&(0x7000..0x8000));
        sites.forget(&(0x5000..0x5014));
        let known =
            (0x5000..0x5050).filter_map(|caller| Some((caller, sites.find(caller, number)?)));
        let expected: Vec<_> =
            (0x5019..0x5050).step_by(10).map(|caller| (caller, at(0x9000))).collect();
        assert_eq!(known.collect::<Vec<_>>(), expected);
        sites.keep(0x5000, number, at(0xa000));
        assert_eq!(sites.find(0x5000, number), Some(at(0xa000)), "another module is there");
    }

    #[test]
    fn a_full_table_keeps_its_entries() {
        let sites = CallSites([const { CallSite::free() }; 16]);
        let number = Function::omp_get_thread_num;
        let of = |caller: u64| std::ptr::without_provenance_mut::<c_void>(caller as usize + 7);
        (1..=20).for_each(|caller| sites.keep(caller, number, of(caller)));
        let known = (1..=20).filter(|&caller| sites.find(caller, number) == Some(of(caller)));
        assert_eq!(known.count(), 16);
    }

    #[test]
    fn the_global_scope_comes_first() {
        let libc = libc::getpid as *const () as u64;
        let exit = resolved(libc, Function::_exit).unwrap();
        assert!(Module::of(exit as u64).path.to_string_lossy().contains("libc"));
        assert_eq!(resolved(libc, Function::GOMP_parallel), None, "this test has no runtime");
        assert_eq!(
            resolved(8, Function::GOMP_parallel),
            None,
            "code outside of modules is not the program"
        );
    }

    #[test]
    fn the_library_knows_its_own_code() {
        assert!(is_own(is_own as fn(u64) -> bool as usize as u64));
        assert!(!is_own(libc::getpid as *const () as u64));
        assert!(!is_own(8));
    }
}
